"""Values of the metrics compared with supervised metrics, in both scenarios."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.special import expit
from sklearn import metrics as supervised
from sklearn.calibration import calibration_curve
from sklearn.exceptions import UndefinedMetricWarning

from puforest import metrics as pu

SCENARIOS = ["case-control", "single-training-set"]
PRIOR = 0.35


def _false_positive_rate(y, pred):
    return pred[y == 0].mean()


def _lee_liu(y, pred):
    return pred[y == 1].mean() ** 2 / pred.mean()


def _calibration_error(y, prob):
    edges = np.quantile(prob, np.arange(1, 10) / 10, method="inverted_cdf")
    bins = np.searchsorted(np.unique(edges), prob)
    return sum(abs((y - prob)[bins == b].sum()) for b in np.unique(bins)) / len(y)


def _squared_loss(y, decision):
    return np.mean((1 - np.where(y == 1, 1, -1) * decision) ** 2)


# Each metric, grouped by the model output it reads, and its supervised counterpart.
PREDICTIONS = {
    pu.pu_precision_score: supervised.precision_score,
    pu.pu_recall_score: supervised.recall_score,
    pu.pu_f1_score: supervised.f1_score,
    pu.pu_false_positive_rate: _false_positive_rate,
    pu.pu_accuracy_score: supervised.accuracy_score,
    pu.pu_balanced_accuracy_score: supervised.balanced_accuracy_score,
    pu.lee_liu_score: _lee_liu,
}
SCORES = {
    pu.pu_roc_auc_score: supervised.roc_auc_score,
    pu.pu_average_precision_score: supervised.average_precision_score,
    pu.pu_risk_score: _squared_loss,
}
PROBABILITIES = {
    pu.pu_brier_score: supervised.brier_score_loss,
    pu.pu_log_loss: supervised.log_loss,
    pu.pu_calibration_error: _calibration_error,
}
ALL = {**PREDICTIONS, **SCORES, **PROBABILITIES}
WITHOUT_PRIOR = (pu.pu_recall_score, pu.lee_liu_score)


def evaluate(metric, y, output, prior=PRIOR, **others):
    known = {} if metric in WITHOUT_PRIOR else {"prior": prior}
    return metric(y, output, **known, **others)


def outputs(metric, x):
    """Output of a mediocre classifier for feature x; overconfident in positives."""
    if metric in PREDICTIONS:
        return (x > 0.9).astype(int)
    return np.tanh(x - 0.8) if metric in SCORES else expit(2 * x)


def rows(rng, n):
    y = (rng.random(n) < PRIOR).astype(int)
    return rng.normal(size=n) + 1.5 * y, y


def pu_rows(rng, n, scenario, propensity=lambda x: np.full(len(x), 0.4)):
    """Feature, PU labels and propensities; case-control data has the labeled rows in addition."""
    x, y = rows(rng, n)
    if scenario == "case-control":
        extra = rng.normal(size=n) + 1.5
        x = np.append(extra, x)
        labeled = np.append(rng.random(n) < propensity(extra), np.zeros(n, dtype=bool))
        kept = labeled | (np.arange(2 * n) >= n)
        return x[kept], labeled[kept].astype(int), propensity(x[kept])
    labeled = (y == 1) & (rng.random(n) < propensity(x))
    return x, labeled.astype(int), propensity(x)


@pytest.fixture(scope="module")
def truth():
    x, y = rows(np.random.default_rng(0), 200_000)
    return {metric: known(y, outputs(metric, x)) for metric, known in ALL.items()}


# Census: if all positives are labeled, PU metrics equal supervised ones up to rounding.
# Sums of 1/64 are exact, so rounding does not move the prior below the labeled fraction.


def census(y, output, scenario):
    if scenario == "single-training-set":
        return y, output
    return np.append(np.ones(y.sum(), dtype=int), np.zeros_like(y)), np.append(
        output[y == 1], output
    )


@pytest.mark.parametrize("scenario", SCENARIOS)
@settings(max_examples=20)
@given(data=st.data())
def test_census_gives_supervised_values(scenario, data):
    y = np.array([*data.draw(st.lists(st.integers(0, 1), min_size=62, max_size=62)), 0, 1])
    values = st.sampled_from(np.linspace(0.02, 0.98, 13))
    prob = np.array([*data.draw(st.lists(values, min_size=63, max_size=63)), 0.98])
    for metric, known in ALL.items():
        output = (prob > 0.5).astype(int) if metric in PREDICTIONS else prob
        found = evaluate(metric, *census(y, output, scenario), prior=y.mean(), scenario=scenario)
        assert_allclose(found, known(y, output), atol=1e-12, err_msg=metric.__name__)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_census_gives_supervised_curves(scenario):
    rng = np.random.default_rng(1)
    y = (rng.random(128) < 0.4).astype(int)
    prob = np.round(expit(rng.normal(size=128) + 2 * y - 1), 1)
    known = {"prior": y.mean(), "scenario": scenario}
    labels, scores = census(y, prob, scenario)
    for ours, theirs in (
        (
            pu.pu_roc_curve(labels, scores, **known),
            supervised.roc_curve(y, prob, drop_intermediate=False),
        ),
        (
            pu.pu_precision_recall_curve(labels, scores, **known),
            supervised.precision_recall_curve(y, prob),
        ),
        (
            pu.pu_reliability_curve(labels, scores, **known, strategy="uniform", n_bins=5),
            calibration_curve(y, prob, n_bins=5),
        ),
    ):
        for a, b in zip(ours, theirs, strict=True):
            assert_allclose(a, b, atol=1e-12)


# Samples: errors decrease with the square root of the number of rows


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_errors_decrease_with_the_square_root_of_the_number_of_rows(scenario, truth):
    rng = np.random.default_rng(2)
    sizes = [500, 2000, 8000]
    errors = {metric: [] for metric in ALL}
    for n in sizes:
        draws = [pu_rows(rng, n, scenario) for _ in range(30)]
        for metric in ALL:
            found = [
                evaluate(metric, labels, outputs(metric, x), scenario=scenario)
                for x, labels, _ in draws
            ]
            errors[metric].append(np.sqrt(np.mean((np.array(found) - truth[metric]) ** 2)))
    for metric, found in errors.items():
        slope = np.polyfit(np.log(sizes), np.log(found), 1)[0]
        assert -0.75 < slope < -0.35, (metric.__name__, found)


def _biased_labels(x):
    return 0.1 + 0.8 * expit(2 * x - 3)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_propensities_recover_the_truth(scenario, truth):
    x, labels, propensity = pu_rows(np.random.default_rng(3), 20_000, scenario, _biased_labels)
    for metric, value in truth.items():
        output, known = outputs(metric, x), {"scenario": scenario}
        error = abs(evaluate(metric, labels, output, propensity=propensity, **known) - value)
        assert error < 0.03 * max(1, value), metric.__name__
    with_them = pu.pu_recall_score(labels, outputs(pu.pu_recall_score, x), propensity=propensity)
    without = pu.pu_recall_score(labels, outputs(pu.pu_recall_score, x))
    assert without > with_them + 0.08


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("metric", ALL)
def test_weights_equal_repeated_rows(metric, scenario):
    rng = np.random.default_rng(4)
    x, labels, _ = pu_rows(rng, 200, scenario)
    weight = rng.integers(0, 4, size=len(x))
    output = outputs(metric, x)
    weighted = evaluate(metric, labels, output, sample_weight=weight, scenario=scenario)
    repeated = evaluate(metric, labels.repeat(weight), output.repeat(weight), scenario=scenario)
    assert_allclose(weighted, repeated, rtol=1e-9)
    assert weighted != evaluate(metric, labels, output, scenario=scenario)


def test_scenario_matters_for_every_metric_but_recall():
    x, labels, _ = pu_rows(np.random.default_rng(5), 500, "single-training-set")
    for metric in ALL:
        one, other = (evaluate(metric, labels, outputs(metric, x), scenario=s) for s in SCENARIOS)
        assert (one == other) == (metric is pu.pu_recall_score), metric.__name__


def test_risks_and_losses():
    y, s = [1, 1, 0, 0], [3.0, 1.0, -2.0, -1.0]

    def risk(**options):
        return pu.pu_risk_score(y, s, prior=0.5, **options)

    # l(m) = (1 - m)²: over P l(s) = 4, 0 and l(-s) = 16, 4; over U l(-s) = 1, 0.
    assert_allclose(risk(risk="upu"), 0.5 * 2 + 0.5 - 0.5 * 10)
    assert_allclose(risk(risk="nnpu"), 0.5 * 2)
    assert_allclose(risk(risk="upu", loss="zero-one"), 0.5 * 0 + 0 - 0.5 * 1)
    with pytest.raises(ValueError, match="risk must be one of"):
        risk(risk="pn")
    with pytest.raises(ValueError, match="loss must be one of"):
        risk(loss="unknown")


# User input


@pytest.mark.parametrize("coding", [(-1, 1), (False, True), ("no", "yes"), (2.0, 7.0)])
def test_codings(coding):
    x, labels, _ = pu_rows(np.random.default_rng(6), 200, "case-control")
    coded = np.array(coding)[labels]
    for metric in ALL:
        output = outputs(metric, x)
        coded_output = np.array(coding)[output] if metric in PREDICTIONS else output
        assert evaluate(metric, coded, coded_output) == evaluate(metric, labels, output)


Y = [1, 1, 0, 0, 0]


@pytest.mark.parametrize("metric", ALL)
def test_refuses_bad_data(metric):
    good = [1, 0, 1, 0, 0]
    with pytest.raises(ValueError, match="only one class"):
        evaluate(metric, [0] * 5, good)
    with pytest.raises(ValueError, match=r"must have the shape \(5,\)"):
        evaluate(metric, Y, good[:4])
    with pytest.raises(ValueError, match=r"y_pred|y_score|y_prob"):
        evaluate(metric, Y, [1, 0, np.nan, 0, 0])
    with pytest.raises(ValueError, match=r"y_pred|y_score|y_prob"):
        evaluate(metric, Y, np.ones((5, 2)))
    with pytest.raises(ValueError, match="scenario must be one of"):
        evaluate(metric, Y, good, scenario="survey")
    with pytest.raises(ValueError, match="sample_weight"):
        evaluate(metric, Y, good, sample_weight=[1, 1, -1, 1, 1])
    if metric not in WITHOUT_PRIOR:
        with pytest.raises(ValueError, match=r"prior=0\.3 is impossible"):
            evaluate(metric, Y, good, prior=0.3, scenario="single-training-set")
        with pytest.raises(TypeError, match="estimate_prior"):
            evaluate(metric, Y, good, prior=None)
        with pytest.raises(ValueError, match="prior must be"):
            evaluate(metric, Y, good, prior=1.5)


def test_refuses_output_of_the_wrong_kind():
    with pytest.raises(ValueError, match=r"y_true, 0 and 1, got 0\.5: apply a threshold"):
        pu.pu_f1_score(Y, [0.5, 1, 0, 0, 0], prior=0.3)
    with pytest.raises(ValueError, match=r"between 0 and 1, got 1\.5"):
        pu.pu_brier_score(Y, [0.5, 1.5, 0, 0, 0], prior=0.3)
    with pytest.raises(ValueError, match="strategy must be one of"):
        pu.pu_calibration_error(Y, [0.5, 1, 0, 0, 0], prior=0.3, strategy="other")
    with pytest.raises(ValueError, match="n_bins must be at least 1"):
        pu.pu_calibration_error(Y, [0.5, 1, 0, 0, 0], prior=0.3, n_bins=0)


# Values outside the range


@pytest.mark.parametrize(
    ("metric", "bound"),
    [
        (pu.pu_precision_score, 1),
        (pu.pu_false_positive_rate, 0),
        (pu.pu_roc_auc_score, 1),
        (pu.pu_brier_score, 0),
        (pu.pu_log_loss, 0),
    ],
)
def test_warns_of_a_prior_that_is_too_large(metric, bound):
    rng = np.random.default_rng(7)
    y = np.repeat([1, 0], [300, 1000])
    positive = np.append(np.ones(300), rng.random(1000) < 0.1)
    output = positive if metric in PREDICTIONS else 0.05 + 0.9 * positive
    with pytest.warns(pu.PriorMismatchWarning, match=r"prior=0\.7 is too large") as caught:
        assert metric(y, output, prior=0.7) == bound
    assert caught[0].filename == __file__


def test_slightly_outside_the_range_may_be_chance():
    y, pred = np.repeat([1, 0], [20, 100]), np.repeat([1, 0, 1, 0], [19, 1, 28, 72])
    with pytest.warns(pu.PriorMismatchWarning, match="may be chance"):
        assert pu.pu_precision_score(y, pred, prior=0.3) == 1


@pytest.mark.parametrize(
    "curve",
    [
        pu.pu_roc_curve,
        pu.pu_precision_recall_curve,
        pu.pu_reliability_curve,
        pu.pu_average_precision_score,
        pu.pu_calibration_error,
    ],
)
def test_curves_warn_of_a_significant_excess_only(curve):
    rng = np.random.default_rng(8)
    x, labels, _ = pu_rows(rng, 2000, "case-control")
    prob = expit(3 * x - 3)
    curve(labels, prob, prior=PRIOR)
    with pytest.warns(pu.PriorMismatchWarning, match=r"standard errors less.*prior=0\.8"):
        curve(labels, prob, prior=0.8)


def test_no_predicted_positives():
    y = [1, 1, 0, 0, 0]
    for metric in (pu.pu_precision_score, pu.lee_liu_score):
        with pytest.warns(UndefinedMetricWarning, match="no row is predicted positive"):
            assert evaluate(metric, y, [0] * 5) == 0
        with pytest.warns(UndefinedMetricWarning, match="no row of the population"):
            assert np.isnan(evaluate(metric, y, [1, 0, 0, 0, 0]))
    assert pu.pu_f1_score(y, [0] * 5, prior=0.3) == 0


def test_roc_curve_is_monotonic():
    x, labels, _ = pu_rows(np.random.default_rng(9), 300, "single-training-set")
    fpr, tpr, thresholds = pu.pu_roc_curve(labels, x, prior=PRIOR, scenario="single-training-set")
    assert (np.diff(fpr) >= 0).all()
    assert (np.diff(tpr) >= 0).all()
    assert (np.diff(thresholds) < 0).all()
    assert (fpr[0], tpr[0]) == (0, 0)
    assert_allclose((fpr[-1], tpr[-1]), (1, 1))
    area = pu.pu_roc_auc_score(labels, x, prior=PRIOR, scenario="single-training-set")
    assert_allclose(supervised.auc(fpr, tpr), area, atol=0.02)


NEEDS_NO_PRIOR = ("detect_trivial", "lee_liu_score", "pu_recall_score")
ENDINGS = ("_score", "_curve", "_rate", "_error", "_loss", "_report", "trivial")


@pytest.mark.parametrize("name", [name for name in pu.__all__ if name.endswith(ENDINGS)])
def test_refuses_empty_data(name):
    prior = {} if name in NEEDS_NO_PRIOR else {"prior": 0.4}
    with pytest.raises(ValueError, match="y is empty, but must have two classes"):
        getattr(pu, name)([], [], **prior)


def test_refuses_an_interval_of_empty_data():
    with pytest.raises(ValueError, match="y is empty, but must have two classes"):
        pu.pu_interval("pu_f1", [], [], prior=0.4)
