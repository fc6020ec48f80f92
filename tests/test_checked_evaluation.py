"""Metrics, cross-validation, calibration, out-of-bag evaluation and files with checked rows."""

import numpy as np
import oracle
import pytest
import sklearn
import sklearn.metrics
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import GridSearchCV
from test_checked import blob_checks

from benchmarks import checked as benchmark
from benchmarks.records import read_lines
from puforest import PUExtraTreesClassifier, PUForestClassifier, PURandomForestClassifier, load
from puforest._sample import pu_sample
from puforest.calibration import PUCalibratedClassifier
from puforest.metrics import (
    pu_accuracy_score,
    pu_classification_report,
    pu_interval,
    pu_precision_score,
    pu_recall_score,
    pu_roc_auc_score,
    pu_scorer,
)
from puforest.metrics._metric import EvaluationSet
from puforest.metrics._registry import METRICS
from puforest.model_selection import (
    PUShuffleSplit,
    PUStratifiedKFold,
    cross_validate,
    oob_risk,
    prior_sensitivity,
    pu_train_test_split,
)
from puforest.scenario import SCENARIOS

PRIOR = 0.4


def draw(rng, scenario, n=400, n_labeled=100, design="random"):
    """Draw PU data, of which some rows are checked: y, truth, score, checked, e."""
    truth = rng.random(n) < PRIOR
    y = np.zeros(n, dtype=int)
    if scenario == "case-control":
        truth = np.append(np.ones(n_labeled, dtype=bool), truth)
        y = np.append(np.ones(n_labeled, dtype=int), y)
    else:
        y[truth & (rng.random(n) < 0.4)] = 1
    score = rng.normal(size=len(y)) + 1.5 * truth
    e = np.full(len(y), 0.3) if design == "random" else (score > 1.2).astype(float)
    is_checked = (y == 0) & (rng.random(len(y)) < e)
    checked = np.where(is_checked, truth, np.nan)
    return y, truth, score, checked, e


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("sar", [False, True])
def test_means_are_those_of_the_row_weights(scenario, sar):
    rng = np.random.default_rng(0)
    y, _, score, checked, e = draw(rng, scenario)
    e[y == 1] = rng.random(np.sum(y))
    weight = rng.uniform(0.1, 2, len(y))
    propensity = rng.uniform(0.2, 1, len(y)) if sar else None
    sample = pu_sample(
        y, scenario=scenario, sample_weight=weight, propensity=propensity, checked=checked,
        check_probability=e,
    )  # fmt: skip
    for prior in (0.3, 0.7):
        w_p, w_u = oracle.row_weights(
            y == 1, weight, risk="nnpu", scenario=scenario, prior=prior, propensity=propensity,
            verdict=checked, e=e,
        )  # fmt: skip
        at = sample.at(prior)
        assert_allclose(prior * at.of_positives(score), w_p @ score)
        assert_allclose(at.of_population(score), w_u @ score)
        assert_allclose(sample.at(0.2).at(prior).positive, at.positive)
    assert_allclose(sample.positive.sum(), 1)  # at the prior that the checks imply


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("design", ["random", "top"])
def test_estimates_are_unbiased_with_the_right_standard_error(scenario, design):
    rng = np.random.default_rng(1)
    names = ["pu_precision", "pu_recall", "pu_accuracy", "pu_roc_auc", "pu_brier"]
    values, errors, without = [], [], []
    for _ in range(500):
        y, _, score, checked, e = draw(rng, scenario, design=design)
        for found, given in ((values, (checked, e)), (without, (None, None))):
            sample = pu_sample(y, scenario=scenario, checked=given[0], check_probability=given[1])
            row, row_errors = [], []
            for name in names:
                metric = METRICS[name]
                output = {
                    "prediction": (score > 1).astype(float),
                    "probability": 1 / (1 + np.exp(1 - score)),
                }.get(metric.reads, score)
                data = EvaluationSet(sample, output, PRIOR).for_metric(metric)
                estimate = metric.estimate(data.sample, output, PRIOR)
                row.append(estimate.value)
                row_errors.append(
                    data.sample.standard_error(estimate.on_positives, estimate.on_population)
                )
            found.append(row)
            if given[0] is not None:
                errors.append(row_errors)
    spread = np.std(values, axis=0)
    noise = np.hypot(spread, np.std(without, axis=0)) / np.sqrt(500)
    assert (np.abs(np.mean(values, axis=0) - np.mean(without, axis=0)) < 4 * noise).all()
    assert_allclose(np.mean(errors, axis=0), spread, rtol=0.15)
    assert (spread < 1.001 * np.std(without, axis=0)).all()


def test_what_was_checked_does_not_depend_on_the_prior():
    y, truth, score, checked, e = draw(np.random.default_rng(2), "case-control", design="top")
    top = (score > 1.2).astype(int)
    unlabeled = y == 0
    expected = sklearn.metrics.precision_score(truth[unlabeled], top[unlabeled])
    for prior in (0.3, 0.5):
        found = pu_precision_score(y, top, prior=prior, checked=checked, check_probability=e)
        assert found == pytest.approx(expected)
    everything = np.where(unlabeled, truth, np.nan)
    auc = pu_roc_auc_score(
        y, score, prior=truth[unlabeled].mean(), checked=everything, check_probability=1.0
    )
    assert auc == pytest.approx(sklearn.metrics.roc_auc_score(truth[unlabeled], score[unlabeled]))


def test_recall_without_a_prior():
    y, truth, score, checked, e = draw(np.random.default_rng(3), "case-control")
    pred = (score > 1).astype(int)
    found = pu_recall_score(y, pred, checked=checked, check_probability=e)
    assert found != pu_recall_score(y, pred)
    assert found == pytest.approx(pred[truth].mean(), abs=0.1)
    assert pu_recall_score(y, np.ones_like(y), checked=checked, check_probability=e) == 1
    nothing = np.where(checked == 1, np.nan, checked)
    assert pu_recall_score(y, np.ones_like(y), checked=nothing, check_probability=e) == 1


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_intervals(scenario):
    y, _, score, checked, e = draw(np.random.default_rng(4), scenario)
    pred = (score > 1).astype(int)
    given = {"scenario": scenario, "checked": checked, "check_probability": e}
    for metric, output in (("accuracy", pred), ("roc_auc", score)):
        delta = pu_interval(metric, y, output, prior=PRIOR, **given)
        drawn = pu_interval(metric, y, output, prior=PRIOR, method="bootstrap", random_state=0,
                            **given)  # fmt: skip
        assert drawn.value == delta.value
        assert_allclose([drawn.low, drawn.high], [delta.low, delta.high], atol=0.02)
        wide = pu_interval(metric, y, output, prior=PRIOR, prior_interval=(0.35, 0.45), **given)
        assert wide.low < delta.low or wide.high > delta.high
    recall = pu_interval("recall", y, pred, **given)
    drawn = pu_interval("recall", y, pred, method="bootstrap", random_state=0, **given)
    assert_allclose([drawn.low, drawn.high], [recall.low, recall.high], atol=0.02)
    report = pu_classification_report(y, pred, score, prior=PRIOR, **given)
    assert report.metrics["pu_recall"] == recall
    assert report.metrics["pu_accuracy"].value == pu_accuracy_score(y, pred, prior=PRIOR, **given)


def test_weights_are_refused_like_those_of_a_fit():
    with pytest.raises(ValueError, match="row 0 was found negative"):
        pu_recall_score([1, 0, 0], [1, 0, 0], checked=[0, np.nan, np.nan])


# Cross-validation


@pytest.mark.parametrize("group_duplicates", [False, True])
def test_folds_are_stratified_by_verdict(group_duplicates, blobs):
    X, labeled, _, checked = blob_checks(blobs)
    folds = PUStratifiedKFold(4, random_state=0, group_duplicates=group_duplicates)
    parts = [test for _, test in folds.split(X, labeled, checked=checked)]
    for group in (checked == 1, checked == 0, labeled == 1):
        sizes = [group[part].sum() for part in parts]
        assert max(sizes) - min(sizes) <= 1
    few = np.full(len(X), np.nan)
    few[np.flatnonzero(checked >= 0)[:3]] = [1, 0, 0]
    assert len(list(folds.split(X, labeled, checked=few))) == 4
    assert len(list(PUShuffleSplit(3, random_state=0).split(X, labeled, checked=few))) == 3
    parts = pu_train_test_split(X, labeled, checked, checked=checked, random_state=0)
    expected = np.count_nonzero(checked == 1) / 4
    assert abs(np.count_nonzero(parts[-1] == 1) - expected) <= 1


@pytest.mark.parametrize("routing", [False, True])
def test_cross_validation_passes_verdicts_to_fit_and_scorer(routing, blobs):
    X, labeled, _, checked = blob_checks(blobs)
    e = np.where(X[:, 0] > 0, 0.3, 0.1)
    forest = PUExtraTreesClassifier(
        PRIOR, scenario="single-training-set", n_estimators=5, random_state=0
    )
    scorer = pu_scorer("accuracy")
    with sklearn.config_context(enable_metadata_routing=routing):
        if routing:
            forest.set_fit_request(checked=True, check_probability=True)
            scorer.set_score_request(checked=True, check_probability=True)
        found = cross_validate(
            forest, X, labeled, scoring=scorer, cv=3,
            params={"checked": checked, "check_probability": e},
        )  # fmt: skip
    folds = PUStratifiedKFold(3, random_state=0).split(X, labeled, checked=checked)
    expected = []
    for train, test in folds:
        model = PUExtraTreesClassifier(
            PRIOR, scenario="single-training-set", n_estimators=5, random_state=0
        )
        model.fit(X[train], labeled[train], checked=checked[train], check_probability=e[train])
        expected.append(
            pu_accuracy_score(
                labeled[test], model.predict(X[test]), prior=PRIOR, checked=checked[test],
                check_probability=e[test], scenario="single-training-set",
            )
        )  # fmt: skip
    assert_allclose(found["test_score"], expected)


def test_searches_pass_verdicts(blobs):
    X, labeled, _, checked = blob_checks(blobs)
    with sklearn.config_context(enable_metadata_routing=True):
        forest = PUExtraTreesClassifier(PRIOR, n_estimators=5, random_state=0)
        forest.set_fit_request(checked=True)
        scorer = pu_scorer("accuracy").set_score_request(checked=True)
        folds = PUStratifiedKFold(3, random_state=0).set_split_request(checked=True)
        search = GridSearchCV(forest, {"max_depth": [1, 5]}, scoring=scorer, cv=folds)
        search.fit(X, labeled, checked=checked)
    assert search.best_estimator_._record.n_confirmed == np.nansum(checked)


# Calibration and out-of-bag evaluation


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
@pytest.mark.parametrize("cv", [3, "oob"])
def test_calibration(method, cv, blobs):
    X, labeled, truth, checked = blob_checks(blobs, n=300)
    forest = PURandomForestClassifier(
        PRIOR, scenario="single-training-set", n_estimators=30, voting="soft", min_samples_leaf=5,
        oob_score=True, random_state=0,
    )  # fmt: skip
    plain = PUCalibratedClassifier(forest, method=method, cv=cv).fit(X, labeled)
    model = PUCalibratedClassifier(forest, method=method, cv=cv)
    model.fit(X, labeled, checked=checked)
    assert model.estimator_._record.n_confirmed == np.nansum(checked)
    probability = model.predict_proba(X)[:, 1]
    assert (probability != plain.predict_proba(X)[:, 1]).any()
    assert abs(probability.mean() - truth.mean()) < 0.06


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_out_of_bag_risk(scenario, blobs):
    X, labeled, truth, checked = blob_checks(blobs, n=250)
    population = labeled == 0 if scenario == "case-control" else np.ones(len(X), dtype=bool)
    forest = PURandomForestClassifier(
        truth[population].mean(),
        scenario=scenario,
        n_estimators=60,
        oob_score=True,
        random_state=0,
    ).fit(X, labeled, checked=checked)
    found = oob_risk(forest, labeled, checked=checked)
    assert found.value == forest.oob_risk_
    assert found.value != oob_risk(forest, labeled).value
    predicted = forest.oob_decision_function_ > 0
    error = np.mean((predicted != truth)[population])
    assert abs(found.value - error) < 4 * found.standard_error


def test_all_rows_checked_gives_the_supervised_out_of_bag_risk(blobs):
    X, labeled, truth = blobs
    forest = PURandomForestClassifier(
        truth.mean(), scenario="single-training-set", n_estimators=60, oob_score=True,
        random_state=0,
    ).fit(X, labeled, checked=np.where(labeled, np.nan, truth))  # fmt: skip
    predicted = forest.oob_decision_function_ > 0
    assert forest.oob_risk_ == pytest.approx(np.mean(predicted != truth))


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_recommended_forest_is_evaluated_with_checks(scenario, blobs):
    X, labeled, truth, checked = blob_checks(blobs, n=300)
    population = labeled == 0 if scenario == "case-control" else np.ones(len(X), dtype=bool)
    prior = truth[population].mean()
    model = PUForestClassifier(prior, scenario=scenario, n_estimators=30, random_state=0)
    plain = model.fit(X, labeled)
    plain_curve = plain._record.curve
    model.fit(X, labeled, checked=checked)
    curve = model._record.curve
    assert_allclose([curve.positive.sum(), curve.population.sum()], 1)
    assert not np.array_equal(curve.positive, plain_curve.positive)
    assert np.isfinite(model.oob_decision_function_).all()
    error = np.mean(((model.oob_decision_function_ > 0) != truth)[population])
    assert abs(model.oob_risk_ - error) < 0.1
    other = model.with_prior(0.6)
    assert other.prior_ == 0.6
    assert other.predict(X).mean() > model.predict(X).mean()


def test_sensitivity_to_the_prior(blobs):
    X, labeled, _, checked = blob_checks(blobs, n=200)
    scenario = "single-training-set"
    forest = PUExtraTreesClassifier(
        PRIOR, scenario=scenario, n_estimators=10, min_samples_leaf=30, random_state=0
    )
    forest.fit(X, labeled, checked=checked)
    found = prior_sensitivity(forest, X, labeled, priors=[0.38, 0.42], checked=checked)
    for i, prior in enumerate(found.priors):
        expected = pu_precision_score(
            labeled, found.predictions[i], prior=prior, checked=checked, scenario=scenario
        )
        assert found.precision[i] == pytest.approx(expected)
    with pytest.raises(ValueError, match="checked is only used with y"):
        prior_sensitivity(forest, X, checked=checked)


@pytest.mark.parametrize(
    "model",
    [
        PUForestClassifier(PRIOR, n_estimators=10, random_state=0),
        PUExtraTreesClassifier(PRIOR, n_estimators=3, random_state=0),
    ],
    ids=["recommended", "extra trees"],
)
def test_files_and_descriptions(model, blobs, tmp_path):
    X, labeled, _, checked = blob_checks(blobs)
    model.fit(X, labeled, checked=checked)
    model.save(tmp_path / "model.puf")
    loaded = load(tmp_path / "model.puf")
    assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    n = int(np.nansum(checked))
    assert (loaded._record.n_confirmed, loaded._record.n_refuted) == (n, 60 - n)
    for fitted in (model, loaded):
        assert f"60 unlabeled rows, of which {n} positive" in str(fitted.describe())
    assert "checked rows" not in str(model.fit(X, labeled).describe())


def test_benchmark(tmp_path, monkeypatch):
    monkeypatch.setattr(benchmark, "CHECKS", (50, 200))
    benchmark.main(
        ["--workloads", "digits", "--draws", "1", "--rows", "800", "--out", str(tmp_path)]
    )
    records = read_lines(tmp_path / "checked.jsonl")
    cases = [(r["design"], r["checks"]) for r in records]
    expected = [("none", 0), *((d, n) for d in ("random", "top") for n in (50, 200))]
    assert cases == [case for case in expected for _ in benchmark.MODELS]
    at_top = [r["found"] / r["checks"] for r in records if r["design"] == "top"]
    at_random = [r["found"] / r["checks"] for r in records if r["design"] == "random"]
    assert min(at_top) > max(at_random)
    assert "| digits | 800 |" in (tmp_path / "checked.md").read_text()


def test_priors_below_what_labels_and_verdicts_prove_are_refused():
    y = np.repeat([1, 0], [20, 80])
    checked = np.full(100, np.nan)
    checked[20:40] = np.repeat([1, 0], 10)
    sample = pu_sample(y, scenario="single-training-set", checked=checked)
    assert sample.labeled_fraction == pytest.approx(0.2)
    assert sample.least_prior == pytest.approx(0.3)
    assert sample.class_prior(0.3) == 0.3
    for prior, reason in [(0.25, "0.1 of the population was checked"), (0.15, "are labeled")]:
        with pytest.raises(ValueError, match=f"prior={prior} is impossible.*{reason}"):
            sample.class_prior(prior)
