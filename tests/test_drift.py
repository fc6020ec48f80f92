"""Comparison of new rows with the training population."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import ks_2samp
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from puforest import PUExtraTreesClassifier, PUForestClassifier, PURandomForestClassifier
from puforest._unwrap import unwrapped
from puforest.calibration import PUCalibratedClassifier
from puforest.diagnostics import drift_report
from puforest.diagnostics._drift import difference_interval, ks_p_value, proportion_p_value
from puforest.diagnostics._new_rows import population_size, votes_like_out_of_bag
from puforest.plots import plot_drift

ONE = "single-training-set"


def draw(n, prior, seed, shift=1.5):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < prior
    return rng.normal(size=(n, 4)) + shift * y[:, None] * [1, 1, 0, 0], y


def fitted(make, seed=0, scenario="case-control", **params):
    X, y = draw(1500, 0.3, seed)
    labeled = np.zeros(1500, dtype=int)
    labeled[np.flatnonzero(y)[:200]] = 1
    if scenario == "case-control":
        P = draw(200, 1.0, seed + 1000)[0]
        X, labeled = np.concatenate([P, X]), np.repeat([1, 0], [200, 1500])
    return make(0.3, scenario=scenario, random_state=0, **params).fit(X, labeled)


def quick(prior, **params):
    return PUForestClassifier(prior, candidates="fast", n_estimators=50, **params)


def bagged(prior, **params):
    return PURandomForestClassifier(
        prior, n_estimators=60, oob_score=True, voting="soft", min_samples_leaf=5, **params
    )


def subsampled(prior, **params):
    return PUExtraTreesClassifier(
        prior, n_estimators=60, oob_score=True, max_labeled=0.5, max_unlabeled=0.3, **params
    )


@pytest.mark.parametrize("make", [quick, bagged, subsampled])
@pytest.mark.parametrize("scenario", ["case-control", ONE])
def test_false_alarms_are_rare(make, scenario):
    p = []
    for seed in range(12):
        model = fitted(make, seed, scenario)
        p.append(drift_report(model, draw(1000, 0.3, 500 + seed)[0]).p_value)
    assert np.count_nonzero(np.array(p) <= 0.05) <= 3  # probability of more: 0.2%
    assert np.mean(p) > 0.3


@pytest.mark.parametrize("make", [quick, bagged, subsampled])
def test_drift_is_detected(make):
    model = fitted(make)
    report = drift_report(model, draw(1000, 0.5, 1)[0])
    low, high = report.difference_interval
    assert report.significant
    assert 0.05 < low < report.positive_fraction - report.training_fraction < high < 0.35
    assert "differ from those of the training population by more than chance" in str(report)
    assert "adapt_prior" in report.explanation
    other = drift_report(model, draw(1000, 0.3, 1, shift=-1.5)[0])
    assert other.significant
    assert "do not differ" in str(drift_report(model, draw(1000, 0.3, 2)[0]))


def test_new_rows_are_scored_by_the_trees_of_one_fold():
    model = fitted(quick)
    X, _ = draw(200, 0.3, 1)
    found = unwrapped(model)
    votes = votes_like_out_of_bag(found, found.rows(X), np.random.RandomState(0))
    forest = model._forest
    by_tree = [forest.tree(t).predictor("ratio", X.dtype).mean(X, 1) for t in range(forest.n_trees)]
    by_fold = np.stack([np.mean(by_tree[fold::5], axis=0) for fold in range(5)])
    is_same = np.isclose(by_fold, votes)
    assert (is_same.sum(axis=0) >= 1).all()
    assert_array_equal(is_same.sum(axis=1), 40)


def test_report_describes_the_model():
    model = fitted(quick, scenario=ONE)
    report = drift_report(model, draw(300, 0.3, 1)[0])
    assert report.threshold == model.threshold_
    assert report.training_fraction == pytest.approx(0.3, abs=0.01)
    assert report.n_training == pytest.approx(1500)
    assert report.n_rows == 300
    assert population_size(fitted(quick)._record) == pytest.approx(1500)
    again, other = (drift_report(model, draw(300, 0.3, 1)[0], random_state=s) for s in (0, 1))
    assert again.p_value == report.p_value
    assert other.ks_statistic != report.ks_statistic


def test_statistic_is_that_of_scipy():
    """If the curve has all scores, the test is the one of SciPy."""
    model = fitted(quick)
    curve, rng = model._record.curve, np.random.default_rng(0)
    scores = np.repeat(curve.score, np.rint(1500 * curve.population).astype(int))
    assert len(scores) == 1500
    votes = rng.choice(curve.score, 400)
    statistic, p_value = ks_p_value(curve, votes, 1500)
    expected = ks_2samp(votes, scores, method="asymp")
    assert statistic == pytest.approx(expected.statistic)
    assert p_value == pytest.approx(expected.pvalue, rel=0.02)


def test_proportions():
    assert proportion_p_value(0.3, 100, 0.3, 200) == 1
    assert proportion_p_value(0.0, 100, 0.0, 200) == 1
    assert proportion_p_value(0.5, 100, 0.3, 200) == pytest.approx(0.000702, rel=0.01)
    # Newcombe (1998), method 10, 56/70 against 48/80
    assert_allclose(difference_interval(56 / 70, 70, 48 / 80, 80), (0.0524, 0.3339), atol=1e-4)


def test_columns_that_differ():
    rng = np.random.default_rng(0)

    def table(n, prior, seed):
        X, y = draw(n, prior, seed)
        found = pd.DataFrame(X, columns=list("abcd"))
        found["word"] = pd.Categorical(
            np.random.default_rng(seed).choice(list("xyz"), n), list("xyz")
        )
        return found, y

    X, y = table(1200, 0.3, 0)
    labeled = y & (rng.random(1200) < 0.4)
    model = quick(0.3, scenario=ONE, random_state=0).fit(X, labeled)
    same, _ = table(600, 0.3, 2)
    assert drift_report(model, same, reference=X).columns == []
    assert drift_report(model, same).columns == []
    new = same.copy()
    new["d"] += 5
    new.loc[:200, "c"] = np.nan
    new["word"] = np.where(np.arange(600) < 30, "new", "x")
    found = drift_report(model, new, reference=X).columns
    assert {change.name for change in found} == {"c", "d", "word"}
    text = "\n".join(map(str, found))
    assert "word: 30 rows have categories that are unknown to the model" in text
    assert "of the values are outside the range" in text
    assert "c: 33.5% of the values are missing, compared with 0.0% in the reference" in text
    assert "the frequencies of the categories differ" in text
    assert all(change.p_value <= 0.05 for change in found)
    unknown = drift_report(model, new).columns
    assert [change.name for change in unknown] == ["word"]
    assert "Columns that differ:\n- word" in drift_report(model, new).explanation


def test_wrapped_models():
    X, y = draw(1500, 0.3, 0)
    labeled = y & (np.arange(1500) < 800)
    new, _ = draw(800, 0.6, 1)
    calibrated = PUCalibratedClassifier(bagged(0.3, scenario=ONE, random_state=0), cv="oob")
    for model in (calibrated, make_pipeline(StandardScaler(), bagged(0.3, scenario=ONE))):
        report = drift_report(model.fit(X, labeled), new)
        predicted = np.mean(model.predict(new) == model.classes_[1])
        assert report.significant
        assert report.positive_fraction == pytest.approx(predicted, abs=0.03)


def test_invalid_input():
    model = fitted(quick)
    with pytest.raises(ValueError, match="10 rows are too few"):
        drift_report(model, draw(10, 0.3, 0)[0])
    plain = PUExtraTreesClassifier(0.3, n_estimators=5).fit([[0], [1]] * 20, [0, 1] * 20)
    with pytest.raises(ValueError, match="has no out-of-bag scores, which drift_report needs"):
        drift_report(plain, [[0]] * 30)
    with pytest.raises(TypeError, match="model must be a puforest forest"):
        drift_report(StandardScaler(), [[0]] * 30)
    with pytest.raises(ValueError, match="2 features"):
        drift_report(model, np.zeros((30, 2)))


def test_plot():
    mpl.use("agg")
    report = drift_report(fitted(quick), draw(500, 0.5, 1)[0])
    ax = plot_drift(report)
    assert_array_equal(ax.lines[1].get_ydata(), report.new_above)
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts[1] == f"new rows: {report.positive_fraction:.1%} predicted positive"
    # The curves cross the threshold at the fractions predicted positive.
    at = np.searchsorted(report.probability, report.threshold) - 1
    assert report.new_above[at] == pytest.approx(report.positive_fraction, abs=0.01)
    assert report.training_above[at] == pytest.approx(report.training_fraction, abs=0.01)
    mpl.pyplot.close(ax.figure)
