"""The report: its numbers equal those of the library."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from two_clouds import SCENARIOS, draw, forest

from puforest import PUDecisionTreeClassifier, PUForestClassifier
from puforest._duplicate_rows import duplicate_groups
from puforest._encoded import EncodedTable
from puforest._model import LEAF
from puforest._sample import pu_sample
from puforest.calibration import PUCalibratedClassifier
from puforest.inspection import importances, partial_dependence
from puforest.metrics import (
    PriorMismatchWarning,
    pu_classification_report,
    pu_false_positive_rate,
    pu_interval,
    pu_recall_score,
    pu_reliability_curve,
)
from puforest.model_selection import prior_sensitivity
from puforest.prior import PriorEstimatedWarning, estimate_prior
from puforest.report import _prior, _trees
from puforest.report._rows import (
    LabeledRows,
    held_out_scores,
    labeled_rows,
    out_of_bag_scores,
)
from puforest.report._subject import subject_of


@pytest.fixture(scope="module", params=SCENARIOS)
def held_out(request):
    """A model, held-out rows and their scores."""
    X, labeled, _ = draw(800, request.param)
    model = forest(request.param, voting="soft", min_samples_leaf=30).fit(X, labeled)
    X_new, y_new, _ = draw(700, request.param, seed=1)
    return model, X_new, y_new, model.predict_proba(X_new)[:, 1]


def test_metrics_are_those_of_the_library(held_out, written):
    model, X, y, scores = held_out
    data = written(model, X, y, held_out=True)
    shared = {"prior": model.prior_, "scenario": model.scenario}
    expected = pu_classification_report(y, model.predict(X), scores, **shared)
    for shown in data["quality"]:
        metric = expected.metrics[shown["key"]]
        for part in ("value", "low", "high"):
            assert_allclose(shown[part], getattr(metric, part), rtol=1e-5, atol=1e-9)
    assert data["rows"] | {"labeled": int(y.sum()), "n": len(y)} == data["rows"]
    predicted = data["reliability"]["predicted"]
    curve = pu_reliability_curve(y, scores, **shared)
    assert_allclose([data["reliability"]["observed"], predicted], curve, rtol=1e-5)


def test_threshold_metrics_are_those_of_the_library(held_out, written):
    model, X, y, scores = held_out
    table = written(model, X, y, held_out=True)["thresholds"]
    shared = {"prior": model.prior_, "scenario": model.scenario}
    assert table["threshold"] == sorted(set(table["threshold"]))
    assert len(table["threshold"]) < 200
    for t in (0.5, 0.2, 0.81):
        i = table["threshold"].index(t)
        called = (scores > t).astype(int)
        for name in ("precision", "recall", "f1"):
            found = pu_interval(name, y, called, **shared)
            shown = [table[name][i], table[f"{name}_low"][i], table[f"{name}_high"][i]]
            assert_allclose(shown, [found.value, found.low, found.high], rtol=1e-5)
        false_alarms = (1 - model.prior_) * pu_false_positive_rate(y, called, **shared)
        missed = model.prior_ * (1 - pu_recall_score(y, called, scenario=model.scenario))
        assert_allclose(
            [table["false_alarms"][i], table["missed"][i]], [false_alarms, missed], rtol=1e-5
        )
        assert table["flagged_unlabeled"][i] == called[y == 0].sum()
    nothing = written(model, X[scores < 0.9], y[scores < 0.9], held_out=True)["thresholds"]
    assert nothing["precision"][-1] is None
    assert nothing["flagged"][-1] == 0


def test_score_histograms(held_out, written):
    model, X, y, scores = held_out
    shown = written(model, X, y, held_out=True)["histogram"]
    edges = np.linspace(0, 1, 41)
    assert_allclose(shown["edges"], edges, rtol=1e-5)
    for group, name in ((y == 1, "labeled"), (y == 0, "unlabeled")):
        expected = np.histogram(scores[group], edges)[0] / group.sum()
        assert_allclose(shown[name], expected, atol=1e-6)
    assert_allclose(np.sum(shown["positives"]), model.prior_, rtol=1e-4)
    assert_allclose(np.sum(shown["population"]), 1, rtol=1e-4)


def test_sensitivity_and_dependence_are_those_of_the_library(held_out, written):
    model, X, y, _ = held_out
    data = written(model, X, y, held_out=True)
    shown = data["sensitivity"]
    assert any(abs(prior - model.prior_) < 1e-6 for prior in shown["priors"])
    assert shown["priors"][0] < 0.2
    assert shown["priors"][-1] > 0.7
    expected = prior_sensitivity(model, X, y, priors=shown["priors"])
    for name in ("positive_fraction", "flipped_fraction", "precision", "recall", "f1"):
        values = np.array(shown[name], dtype=float)  # nan where there is none
        assert_allclose(values, getattr(expected, name), atol=2e-3)
    few = np.arange(200)
    curves = written(model, X[few], y[few], held_out=True)["dependence"]["curves"]
    order = importances(model).order
    assert [curve["name"] for curve in curves] == [f"x{i}" for i in order]
    expected = partial_dependence(model, X[few], int(order[0]), y=y[few], grid_resolution=30)
    assert_allclose(curves[0]["x"], expected.grid[0], rtol=1e-5)
    assert_allclose(curves[0]["y"], expected.average, rtol=1e-5)


@pytest.mark.parametrize("weighted", [False, True])
def test_sensitivity_subsamples_many_rows(held_out, written, monkeypatch, weighted):
    model, X, y, _ = held_out
    weight = np.random.default_rng(0).random(len(y)) + 0.5 if weighted else None
    options = {"held_out": True, "sample_weight": weight}
    exact = written(model, X, y, **options)["sensitivity"]
    monkeypatch.setattr(_prior, "MAX_ROWS", 250)
    some = written(model, X, y, **options)["sensitivity"]
    assert some["positive_fraction"] != exact["positive_fraction"]
    n = len(some["priors"])  # the smallest prior may be impossible for a subsample
    assert some["priors"] == exact["priors"][-n:]
    for name in ("positive_fraction", "recall", "f1"):
        assert_allclose(some[name], exact[name][-n:], atol=0.1)


def test_weights_and_propensities_are_used(held_out, written):
    model, X, y, scores = held_out
    rng = np.random.default_rng(0)
    given = {"sample_weight": rng.random(len(y)) + 0.5, "propensity": rng.random(len(y)) / 2 + 0.4}
    data = written(model, X, y, held_out=True, **given)
    expected = pu_classification_report(
        y, model.predict(X), scores, prior=model.prior_, scenario=model.scenario, **given
    )
    for shown in data["quality"]:
        assert_allclose(shown["value"], expected.metrics[shown["key"]].value, rtol=1e-5, atol=1e-9)
    assert data["rows"]["weighted"]
    assert data["rows"]["propensity"]


def test_training_rows_are_cross_fitted(written):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1500, 3)), (rng.random(1500) < 0.3).astype(int)
    model = forest(n_estimators=5).fit(X, y)  # memorizes noise
    area = {
        cross_fitted: next(
            m["value"]
            for m in written(model, X, y, held_out=not cross_fitted)["quality"]
            if m["key"] == "pu_balanced_accuracy"
        )
        for cross_fitted in (True, False)
    }
    assert area[False] > 0.9
    assert abs(area[True] - 0.5) < 0.12


def test_duplicate_rows_share_a_fold():
    X, y, _ = draw(150, "case-control")
    X, y = np.concatenate([X, X[y == 1]]), np.concatenate([y, np.zeros(y.sum(), dtype=int)])
    model = forest(n_estimators=3).fit(X, y)
    given = {"scenario": "case-control", "sample_weight": None, "propensity": None}
    rows = labeled_rows(EncodedTable(X), X, y, **given)
    rng = np.random.RandomState(0)
    scores = held_out_scores(subject_of(model), rows, held_out=False, cv=3, n_jobs=None, rng=rng)
    group = duplicate_groups(X)
    tests = [test for _, test in scores.parts]
    assert_array_equal(np.sort(np.concatenate(tests)), np.arange(len(X)))
    assert len(tests) == 3
    for i in range(3):
        assert not set(group[tests[i]]) & set(group[tests[i - 1]])
        assert scores.parts[i][0].prior_ == model.prior_


def test_estimated_priors_are_shown_and_given_ones_checked(written):
    X, y, _ = draw(400, "single-training-set")
    with pytest.warns(PriorEstimatedWarning):
        model = forest("single-training-set", prior=None).fit(X, y)
    shown = written(model)["prior"]
    estimate = model.prior_estimate_
    assert (shown["source"], shown["estimate"]["method"]) == ("fit", "bbe")
    assert_allclose(
        [shown["estimate"]["low"], shown["estimate"]["high"]], estimate.interval, rtol=1e-5
    )
    given = forest("single-training-set", prior=0.8).fit(X, y)
    assert "estimate" not in written(given)["prior"]
    data = written(given, X, y)
    assert data["prior"]["source"] == "check"
    assert data["prior"]["estimate"]["high"] < 0.8
    worst = [caveat["text"] for caveat in data["caveats"] if caveat["level"] == "serious"]
    assert worst[0].startswith("The prior contradicts the data: the prior 0.8 is above")
    assert data["caveats"][0]["level"] == "serious"


@pytest.mark.filterwarnings("ignore::puforest.metrics.PriorMismatchWarning")
@pytest.mark.parametrize("method", ["bbe", "dedpul", "tice", "elkan-noto", "km2"])
def test_evidence_of_each_method(method, written):
    X, y, _ = draw(300, "case-control")
    estimate = estimate_prior(X, y, method=method, random_state=0)
    model = forest(prior=estimate.value, n_estimators=5).fit(X, y)
    data = written(model, X, y, held_out=True, prior_estimate=estimate)
    shown = data["prior"]["estimate"]
    assert shown["method"] == method
    for line in shown["evidence"]["series"]:
        assert 2 <= len(line["x"]) == len(line["y"]) <= 600
        assert line["x"] == sorted(line["x"])
    by_prior = pu_interval(
        "precision", y, model.predict(X), prior=estimate.value, prior_interval=estimate.interval
    )
    assert_allclose(data["quality"][0]["low"], by_prior.low, rtol=1e-5)


def test_trees_are_those_of_the_model(written):
    X, y, _ = draw(600, "case-control")
    model = forest(n_estimators=3).fit(X, y)
    shown = written(model)["trees"]
    assert len(shown["trees"]) == shown["n_trees"] == 3
    for t, tree in enumerate(shown["trees"]):
        grown = model._forest.tree(t)
        assert tree["n_nodes"] == len(tree["feature"]) == len(grown.feature)
        pairs = [(0, 0)]  # a node here and there
        for here, there in pairs:
            leaf = grown.feature[there] == LEAF
            assert tree["split"][here] == ("" if leaf else f"≤ {grown.threshold[there]:.4g}")
            assert_allclose(tree["w_p"][here], grown.w_p[there], rtol=1e-5)
            assert tree["labeled"][here] == grown.n_labeled[there]
            left = tree["left"][here], int(grown.left[there])
            assert (left[0] == -1) == (left[1] == -1)
            if left[0] != -1:
                pairs += [left, (left[0] + 1, left[1] + 1)]
        assert len(pairs) == tree["n_nodes"]
    assert shown["names"] == {str(i): f"x{i}" for i in range(3)}


def test_large_forests_are_cut_to_a_budget(written, monkeypatch):
    monkeypatch.setattr(_trees, "MAX_NODES", 45)
    monkeypatch.setattr(_trees, "MAX_NODES_PER_TREE", 20)
    X, y, _ = draw(600, "case-control")
    shown = written(forest(n_estimators=9).fit(X, y))["trees"]
    sizes = [len(tree["feature"]) for tree in shown["trees"]]
    assert sum(sizes) <= 45
    assert len(sizes) < shown["n_trees"] == 9
    first = shown["trees"][0]
    assert sizes[0] == 19 < first["n_nodes"]
    assert all(left < sizes[0] - 1 for left in first["left"])
    assert sum(f >= 0 and left < 0 for f, left in zip(first["feature"], first["left"], strict=True))


def test_importances_and_names(written):
    X, y, _ = draw(300, "case-control")
    model = forest(n_estimators=5)
    names = ["a", "b", "c"]
    table = pd.DataFrame(X, columns=names)
    shown = written(model.fit(table, y), table, y)["importances"]
    order = importances(model).order
    assert shown["names"] == [names[i] for i in order]
    assert_allclose(shown["mean"], model.feature_importances_[order], rtol=1e-5)
    assert written(model, pl.DataFrame(X, schema=names))["importances"]["names"] == shown["names"]
    plain = forest(n_estimators=5).fit(X, y)
    with pytest.warns(UserWarning, match="fitted without feature names"):
        assert set(written(plain, table)["importances"]["names"]) == set(names)
    assert "u" in written(plain, feature_names=list("uvw"))["importances"]["names"]


def test_features_that_hardly_vary(written):
    X, y, _ = draw(300, "case-control")
    rng = np.random.default_rng(0)
    X[:, 1] = np.where(rng.random(len(X)) < 0.97, 0, X[:, 1] * 100)  # most are alike
    X[:, 2] *= 1e-12
    data = written(forest(n_estimators=5).fit(X, y), X)
    for curve in data["dependence"]["curves"]:
        column = X[:, int(curve["name"][1])]
        assert len(curve["x"]) > 10
        assert column.min() <= curve["x"][0] < curve["x"][-1] <= column.max()


def test_report_without_rows(written):
    X, y, _ = draw(300, "case-control")
    model = forest(oob_score=True).fit(X, y)
    data = written(model)
    assert not {"quality", "thresholds", "histogram", "sensitivity", "dependence", "rows"} & set(
        data
    )
    assert_allclose(data["model"]["oob_risk"], model.oob_risk_, rtol=1e-5)
    changed = {p["name"] for p in data["parameters"][0]["parameters"] if p["changed"]}
    assert changed == {"prior", "n_estimators", "random_state", "oob_score"}
    assert dict(data["versions"]).keys() >= {"puforest", "Python", "NumPy", "scikit-learn"}
    tree = written(PUDecisionTreeClassifier(prior=0.4).fit(X, y))
    assert "oob_risk" not in tree["model"]
    supervised = written(forest(prior=None, risk="pn").fit(X, y), X)
    assert supervised["dependence"]["curves"]


def test_calibrated_models(written):
    X, y, _ = draw(500, "case-control")
    inner = forest(voting="soft", min_samples_leaf=10, n_estimators=10)
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    model = PUCalibratedClassifier(inner, cv=2).fit(table, y)
    data = written(model, table, y, held_out=True)
    scores = model.predict_proba(table)[:, 1]
    expected = pu_interval("brier", y, scores, prior=model.prior_)
    shown = next(m for m in data["quality"] if m["key"] == "pu_brier")
    assert_allclose(shown["value"], expected.value, rtol=1e-5)
    assert [layer["class"] for layer in data["parameters"]] == [
        "PUCalibratedClassifier",
        "PURandomForestClassifier",
    ]
    assert "sensitivity" not in data
    assert written(model, table, y, cv=2)["rows"]["folds"] == 2
    other = PUCalibratedClassifier(inner, cv=2, prior=model.prior_ / 2).fit(table, y)
    anew = subject_of(other).unfitted(1, np.random.RandomState(0))
    assert (anew.prior, anew.estimator.prior) == (model.prior_ / 2, model.prior_)
    fitted = PUCalibratedClassifier(model.estimator_, cv="prefit").fit(table, y)
    with pytest.raises(ValueError, match="held_out=True"):
        written(fitted, table, y)


def test_labels_in_any_coding(written):
    X, y, _ = draw(300, "case-control")
    model = forest(n_estimators=5).fit(X, y)
    first, second = (written(model, X, labels) for labels in (y, 2 * y - 1))
    assert first["quality"] == second["quality"]


def test_scar_test_is_told(written):
    X, y, _ = draw(400, "single-training-set")
    y[X[:, 0] < 1.5] = 0  # only positives of one kind are labeled
    model = forest("single-training-set", prior=0.4, n_estimators=5).fit(X, y)
    options = {"held_out": True, "feature_names": ["size", "b", "c"]}
    data = written(model, X, y, n_simulations=19, **options)
    assert data["scar"]["p_value"] <= 0.05
    assert "size" in data["scar"]["features"]
    assert data["scar"]["explanation"] in [caveat["text"] for caveat in data["caveats"]]
    assert "p_value" not in written(model, X, y, n_simulations=0, **options)["scar"]


def test_serious_caveats(written):
    X, y, _ = draw(300, "case-control")
    model = forest(prior=0.01, n_estimators=5, max_depth=1).fit(X, y)
    data = written(model, X, y, held_out=True)
    assert "trivial" in data["caveats"][0]["text"]
    few = np.concatenate([np.flatnonzero(y)[:30], np.flatnonzero(y == 0)])
    data = written(forest(n_estimators=5).fit(X, y), X[few], y[few], held_out=True)
    assert any("only 30 labeled rows" in caveat["text"] for caveat in data["caveats"])
    sure = forest(prior=0.9, voting="soft", min_samples_leaf=20).fit(X, y)
    texts = [caveat["text"] for caveat in written(sure, X, y)["caveats"]]
    assert texts[0].startswith("The prior contradicts the data: the prior 0.9 is above")


@pytest.fixture(scope="module", params=SCENARIOS)
def compared(request):
    """A forest with candidates, and its training rows."""
    X, y, _ = draw(700, request.param)
    model = PUForestClassifier(0.4, scenario=request.param, n_estimators=20, random_state=0)
    return model.fit(X, y), X, y


def test_training_rows_are_scored_out_of_bag(compared, written):
    model, X, y = compared
    data = written(model, X, y)
    assert data["rows"]["scored_by"] == "out-of-bag"
    scores = model.oob_decision_function_ / 2 + model.threshold_
    positive = (model.oob_decision_function_ > 0).astype(int)
    shared = {"prior": model.prior_, "scenario": model.scenario}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PriorMismatchWarning)
        expected = pu_classification_report(y, positive, scores, **shared)
    for shown in data["quality"]:
        assert_allclose(shown["value"], expected.metrics[shown["key"]].value, rtol=1e-5, atol=1e-9)
    assert "out of bag" in data["caveats"][-1]["text"]
    by_prior = data["sensitivity"]
    assert_allclose(by_prior["positive_fraction"], by_prior["priors"], atol=0.02)
    at = np.argmin(np.abs(np.array(by_prior["priors"]) - 0.4))
    assert by_prior["flipped_fraction"][at] == 0
    assert_allclose(by_prior["recall"][at], expected.metrics["pu_recall"].value, rtol=1e-5)


def test_out_of_bag_scores_are_only_those_of_the_training_rows(compared):
    model, X, y = compared
    rng = np.random.default_rng(0)
    weight = rng.integers(0, 3, size=len(y)).astype(float)
    weighted = clone(model).set_params(candidates="fast").fit(X, y, sample_weight=weight)
    order = rng.permutation(len(y))
    for fitted, rows, w, expected in (
        (model, slice(None), None, True),
        (model, order, None, False),
        (model, slice(1, None), None, False),
        (weighted, slice(None), weight, True),
        (weighted, slice(None), None, False),
    ):
        sample = pu_sample(y[rows], scenario=model.scenario, sample_weight=w)
        given = LabeledRows(EncodedTable(X[rows]), X[rows], sample, w, None)
        found = out_of_bag_scores(subject_of(fitted), given)
        assert (found is not None) == expected
    pipeline = make_pipeline("passthrough", StandardScaler(), model)
    given = LabeledRows(EncodedTable(X), X, pu_sample(y), None, None)
    assert out_of_bag_scores(subject_of(pipeline), given) is None


def test_candidates_and_threshold(compared, written):
    model, X, y = compared
    data = written(model, X, y, held_out=True)
    assert data["rows"]["threshold"] in data["thresholds"]["threshold"]
    assert_allclose(data["rows"]["threshold"], model.threshold_, rtol=1e-5)
    assert data["threshold"]["rule"] == "so that the fraction predicted positive is the class prior"
    assert [c["n_trees"] for c in data["candidates"]] == [
        row.n_trees for row in sorted(model.comparison_, key=lambda row: row.behind)
    ]
    assert data["model"]["calibrated"]
    leaves = model._forest.tree(0)
    shown = data["trees"]["trees"][0]
    assert data["trees"]["values"] == "ratio"
    assert_allclose(shown["value"][0], leaves.values("ratio")[0], rtol=1e-5)
    positive = model.predict(X)
    recall = next(m["value"] for m in data["quality"] if m["key"] == "pu_recall")
    assert_allclose(recall, positive[y == 1].mean(), rtol=1e-5)


def test_thresholds_of_other_forests(written):
    X, y, _ = draw(300, "case-control")
    model = forest(oob_score=True, threshold="f1").fit(X, y)
    data = written(model, X, y, cv=2)
    assert_allclose(data["rows"]["threshold"], model.threshold_, rtol=1e-5)
    assert "candidates" not in data
    assert data["rows"]["scored_by"] == "folds"
