"""Intervals, the classification report, and trivial classifiers."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit
from sklearn import metrics as supervised
from sklearn.exceptions import UndefinedMetricWarning

from puforest.metrics import (
    PriorMismatchWarning,
    detect_trivial,
    get_scorer_names,
    pu_classification_report,
    pu_f1_score,
    pu_interval,
    pu_roc_auc_score,
)

SCENARIOS = ["case-control", "single-training-set"]
PRIOR = 0.35


def rows(rng, n, scenario):
    y = rng.random(n) < PRIOR
    x = rng.normal(size=n) + 1.5 * y
    if scenario == "single-training-set":
        return x, (y & (rng.random(n) < 0.4)).astype(int)
    return np.append(rng.normal(size=n // 3) + 1.5, x), np.repeat([1, 0], [n // 3, n])


def outputs(x):
    """Predictions, scores, probabilities (not calibrated) and decision values."""
    called, decision = (x > 0.9).astype(int), np.tanh(x - 0.8)
    return {
        **dict.fromkeys(get_scorer_names(), called),
        **dict.fromkeys(["pu_roc_auc", "pu_average_precision"], x),
        **dict.fromkeys(["pu_brier", "pu_log_loss", "pu_calibration_error"], expit(4 * x)),
        "pu_risk": decision,
    }


@pytest.fixture(scope="module")
def truth():
    rng = np.random.default_rng(0)
    y = rng.random(400_000) < PRIOR
    x = rng.normal(size=len(y)) + 1.5 * y
    output = outputs(x)
    called, prob, decision = output["pu_f1"], output["pu_brier"], output["pu_risk"]
    bins = np.searchsorted(np.quantile(prob, np.arange(1, 10) / 10), prob)
    return {
        "pu_precision": supervised.precision_score(y, called),
        "pu_recall": supervised.recall_score(y, called),
        "pu_f1": supervised.f1_score(y, called),
        "pu_false_positive_rate": called[~y].mean(),
        "pu_accuracy": supervised.accuracy_score(y, called),
        "pu_balanced_accuracy": supervised.balanced_accuracy_score(y, called),
        "lee_liu": called[y].mean() ** 2 / called.mean(),
        "pu_roc_auc": supervised.roc_auc_score(y, x),
        "pu_average_precision": supervised.average_precision_score(y, x),
        "pu_brier": supervised.brier_score_loss(y, prob),
        "pu_log_loss": supervised.log_loss(y, prob),
        "pu_calibration_error": np.abs(np.bincount(bins, y - prob)).sum() / len(y),
        "pu_risk": np.mean((1 - np.where(y, decision, -decision)) ** 2),
    }


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_delta_method_covers(scenario, truth):
    rng = np.random.default_rng(1)
    hits = dict.fromkeys(truth, 0)
    for _ in range(150):
        x, y = rows(rng, 600, scenario)
        for name, output in outputs(x).items():
            found = pu_interval(name, y, output, prior=PRIOR, scenario=scenario)
            hits[name] += found.low <= truth[name] <= found.high
    # At 95%, chance alone gives 137 to 148 of 150; the average precision is skewed and biased.
    low = {"pu_average_precision": 128}
    for name, n in hits.items():
        assert n >= low.get(name, 134), (name, n)


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("name", ["pu_precision", "pu_roc_auc"])
def test_bootstrap_covers(scenario, name, truth):
    rng = np.random.default_rng(2)
    settings = {"method": "bootstrap", "n_resamples": 79, "random_state": 0}
    hits = 0
    for _ in range(50):
        x, y = rows(rng, 400, scenario)
        found = pu_interval(
            name, y, outputs(x)[name], prior=PRIOR, scenario=scenario, confidence=0.9, **settings
        )
        hits += found.low <= truth[name] <= found.high
    assert 38 <= hits <= 49


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_delta_method_and_bootstrap_agree(scenario):
    x, y = rows(np.random.default_rng(3), 3000, scenario)
    weight = np.random.default_rng(4).random(len(x)) + 0.5
    known = {"prior": PRIOR, "scenario": scenario, "sample_weight": weight}
    for name, output in outputs(x).items():
        delta = pu_interval(name, y, output, **known)
        drawn = pu_interval(
            name, y, output, **known, method="bootstrap", n_resamples=200, random_state=0
        )
        assert drawn.value == delta.value
        assert_allclose(drawn.standard_error, delta.standard_error, rtol=0.2, err_msg=name)
        assert (delta.method, drawn.method) == ("delta", "bootstrap")


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_covers_near_the_bounds_with_thirty_labeled_rows(scenario):
    """All labeled rows are predicted positive in nearly half of the draws."""
    rng = np.random.default_rng(13)
    prior, recall, fpr = 0.3, 0.97, 0.02
    called = prior * recall + (1 - prior) * fpr
    truth = {
        "recall": recall,
        "precision": prior * recall / called,
        "f1": 2 * prior * recall / (prior + called),
        "false_positive_rate": fpr,
        "accuracy": 1 - prior - called + 2 * prior * recall,
    }
    hits = dict.fromkeys(truth, 0)
    for _ in range(200):
        y = np.append(np.ones(30, dtype=bool), rng.random(570) < (171 - 30) / 570)
        labeled = np.arange(600) < 30
        if scenario == "case-control":
            y[30:] = rng.random(570) < prior
        pred = rng.random(600) < np.where(y, recall, fpr)
        for name, value in truth.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", PriorMismatchWarning)
                found = pu_interval(name, labeled, pred, prior=prior, scenario=scenario)
            hits[name] += found.low <= value <= found.high
    for name, n in hits.items():
        assert n >= 178, (name, n)


@pytest.mark.parametrize("method", ["delta", "bootstrap"])
def test_a_perfect_recall_has_an_interval(method):
    y, pred = np.repeat([1, 0], [50, 200]), np.repeat([1, 0], [110, 140])
    found = pu_interval("recall", y, pred, method=method, random_state=0)
    assert found.value == found.high == 1
    assert 0.9 < found.low < 0.96  # Wilson's interval begins at 0.929
    none = pu_interval("recall", y, 1 - pred, method=method, random_state=0)
    assert_allclose([none.value, none.low], 0)
    assert 0.04 < none.high < 0.1


def test_bootstrap_is_reproducible_and_survives_few_labels():
    y, x = np.repeat([1, 0], [1, 20]), np.append(13, np.arange(20))
    settings = {"prior": 0.3, "scenario": "single-training-set", "method": "bootstrap"}
    one, same, other = (
        pu_interval("roc_auc", y, x, **settings, n_resamples=50, random_state=s) for s in (0, 0, 1)
    )
    assert one == same
    assert one.standard_error != other.standard_error


def test_prior_interval_widens_the_interval():
    x, y = rows(np.random.default_rng(5), 500, "case-control")
    output = outputs(x)["pu_accuracy"]
    narrow = pu_interval("accuracy", y, output, prior=0.35)
    wide = pu_interval("accuracy", y, output, prior=0.35, prior_interval=(0.25, 0.4))
    ends = [pu_interval("accuracy", y, output, prior=p) for p in (0.25, 0.4)]
    assert wide.low == min(e.low for e in (*ends, narrow)) < narrow.low
    assert wide.high == max(e.high for e in (*ends, narrow)) > narrow.high
    assert (wide.value, wide.standard_error) == (narrow.value, narrow.standard_error)
    with pytest.raises(ValueError, match=r"prior_interval must contain prior=0\.35"):
        pu_interval("accuracy", y, output, prior=0.35, prior_interval=(0.4, 0.5))


def test_higher_confidence_is_wider():
    x, y = rows(np.random.default_rng(6), 500, "case-control")
    widths = [
        (i.high - i.low) / i.standard_error
        for i in (pu_interval("recall", y, x > 0.9, confidence=c) for c in (0.6827, 0.9545))
    ]
    assert_allclose(widths, [2, 4], rtol=1e-3)


def test_options_reach_the_metric():
    x, y = rows(np.random.default_rng(7), 500, "case-control")
    values = {
        loss: pu_interval("risk", y, x, prior=PRIOR, loss=loss).value
        for loss in ("zero-one", "hinge")
    }
    assert values["zero-one"] < values["hinge"]
    with pytest.raises(TypeError, match="'n_bins' is not an option of pu_risk"):
        pu_interval("risk", y, x, prior=PRIOR, n_bins=3)


def test_refuses():
    y, pred = [1, 1, 0, 0, 0], [1, 0, 1, 0, 0]
    with pytest.raises(ValueError, match=r"metric must be one of.*got 'kappa'"):
        pu_interval("kappa", y, pred, prior=0.3)
    with pytest.raises(TypeError, match="estimate_prior"):
        pu_interval("f1", y, pred)
    with pytest.raises(ValueError, match="confidence must be"):
        pu_interval("f1", y, pred, prior=0.3, confidence=95)
    with pytest.raises(ValueError, match="method must be one of"):
        pu_interval("f1", y, pred, prior=0.3, method="exact")
    for ends in (0.3, (0.2, 0.3, 0.4)):
        with pytest.raises(ValueError, match="prior_interval must be a tuple of the smallest"):
            pu_interval("f1", y, pred, prior=0.3, prior_interval=ends)
    with pytest.raises(ValueError, match="n_resamples must be at least 2"):
        pu_interval("f1", y, pred, prior=0.3, n_resamples=1)


def test_clipped_and_undefined_values():
    y, pred = np.repeat([1, 0], [50, 100]), np.repeat([1, 0], [60, 90])
    with pytest.warns(PriorMismatchWarning, match="pu_precision was estimated as 3"):
        found = pu_interval("precision", y, pred, prior=0.3)
    assert (found.value, found.high) == (1, 1)
    with pytest.warns(UndefinedMetricWarning):
        found = pu_interval("precision", y, np.zeros(150, dtype=int), prior=0.3)
    assert (found.value, found.low, found.high) == (0, 0, 1)


# Classification report


def test_report_holds_all_metrics():
    x, y = rows(np.random.default_rng(8), 800, "single-training-set")
    output = outputs(x)
    known = {"prior": PRIOR, "scenario": "single-training-set"}
    report = pu_classification_report(y, output["pu_f1"], output["pu_brier"], **known)
    assert set(report.metrics) == set(get_scorer_names()) - {"pu_risk"}
    assert report.metrics["pu_f1"].value == pu_f1_score(y, output["pu_f1"], **known)
    assert report.metrics["pu_roc_auc"].value == pu_roc_auc_score(y, output["pu_brier"], **known)
    assert report.metrics["pu_f1"] == pu_interval("f1", y, output["pu_f1"], **known)
    assert report.as_dict()["metrics"]["pu_f1"]["value"] == report.metrics["pu_f1"].value
    assert (report.n_labeled, report.n_unlabeled) == (y.sum(), len(y) - y.sum())
    table = str(report).splitlines()[2:]
    assert len({len(line) for line in table}) == 1
    assert "!" not in str(report)


def test_report_without_probabilities():
    x, y = rows(np.random.default_rng(9), 800, "case-control")
    named = set(pu_classification_report(y, (x > 0.9).astype(int), x, prior=PRIOR).metrics)
    assert "pu_roc_auc" in named
    assert not named & {"pu_brier", "pu_log_loss", "pu_calibration_error"}
    named = set(pu_classification_report(y, (x > 0.9).astype(int), prior=PRIOR).metrics)
    assert "pu_roc_auc" not in named


def test_report_warns():
    x, y = rows(np.random.default_rng(10), 800, "case-control")
    report = pu_classification_report(y, np.ones_like(y), prior=PRIOR)
    assert "! (nearly) every row is predicted positive" in str(report)
    with pytest.warns(PriorMismatchWarning, match="pu_false_positive_rate") as caught:
        report = pu_classification_report(y, (x > 0.9).astype(int), prior=0.8)
    assert len(caught) == 1
    assert any("! pu_precision was estimated as" in line for line in str(report).splitlines())


# Trivial classifiers


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_trivial_classifiers(scenario):
    rng = np.random.default_rng(11)
    x, y = rows(rng, 1000, scenario)
    for kind, pred in (
        ("all-positive", np.ones(len(x))),
        ("none-positive", np.zeros(len(x))),
        ("all-positive", rng.random(len(x)) > 0.002),
        ("chance", rng.random(len(x)) > 0.5),
        ("chance", x < 0.5),
        (None, x > 0.9),
    ):
        found = detect_trivial(y, pred.astype(int), scenario=scenario)
        assert found.kind == kind
        assert bool(found) == (kind is not None)


def test_rare_positives_found_are_not_trivial():
    y = np.repeat([1, 0], [100, 5000])
    pred = np.repeat([1, 0, 1, 0], [90, 10, 20, 4980])
    assert not detect_trivial(y, pred)


def test_chance_is_detected_at_the_confidence_level():
    rng = np.random.default_rng(12)
    y = np.repeat([1, 0], [100, 300])
    missed = sum(not detect_trivial(y, (rng.random(400) < 0.4).astype(int)) for _ in range(400))
    assert 5 <= missed <= 36


def test_few_rows_have_a_large_standard_error():
    assert detect_trivial([1, 0, 0, 0], [1, 0, 0, 0]).standard_error > 0.2


def test_trivial_refuses():
    with pytest.raises(ValueError, match="margin must be"):
        detect_trivial([1, 0], [1, 0], margin=2)
