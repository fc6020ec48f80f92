"""Estimates of the class prior: results, options, and use in the classifiers."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from pu_clouds import clouds
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from puforest import PUDecisionTreeClassifier, PUExtraTreesClassifier
from puforest._prior_estimate import PriorEstimate
from puforest.prior import BBE, DEDPUL, PriorEstimatedWarning, estimate_prior
from puforest.prior._base import MAX_ROWS
from puforest.prior._estimate import METHODS

SCENARIOS = ("case-control", "single-training-set")


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("prior", [0.3, 0.6])
@pytest.mark.parametrize(
    ("method", "options", "error"),
    [
        ("bbe", {}, 0.06),
        ("dedpul", {"n_resamples": 20}, 0.06),
        ("tice", {}, 0.15),
        ("elkan-noto", {"variant": "e2", "n_resamples": 20}, 0.12),
        ("km2", {"max_rows": 150, "n_repeats": 2}, 0.2),
    ],
)
def test_methods_find_the_prior(method, options, error, prior, scenario):
    X, y = clouds(prior, scenario=scenario)
    found = estimate_prior(X, y, method=method, scenario=scenario, random_state=0, **options)
    assert abs(found.value - prior) < error
    low, high = found.interval
    assert 0 < low <= found.value <= high == found.upper < 1
    assert found.upper >= prior
    assert found.method == method
    assert found.scenario == scenario
    n_p = y.sum()
    positives = n_p + found.unlabeled_prior * (len(y) - n_p)
    assert_allclose(found.label_frequency, n_p / positives)
    if scenario == "single-training-set":
        assert_allclose(found.value, positives / len(y))
    else:
        assert_allclose(found.value, found.unlabeled_prior)


def test_prior_depends_on_the_scenario():
    """The same rows represent a different population in each scenario."""
    X, y = clouds(0.4, scenario="case-control")
    one, other = (estimate_prior(X, y, scenario=s, random_state=0) for s in SCENARIOS)
    assert_allclose(one.unlabeled_prior, other.unlabeled_prior)
    assert other.value > one.value + 0.05


@pytest.mark.parametrize("method", METHODS)
def test_huge_and_tiny_values(method):
    X, labeled = clouds(0.5, scenario="case-control", n_p=60, n_u=90)
    expected = estimate_prior(X, labeled, method=method, random_state=0)
    for exponent in (1020, -1000):
        scaled = estimate_prior(np.ldexp(X, exponent), labeled, method=method, random_state=0)
        assert scaled == expected
    ends = np.where(X[:, :1] > 2, 1.7e308, -1.7e308)  # their difference is infinite
    assert 0.2 < estimate_prior(ends, labeled, method=method, random_state=8).value < 0.8
    mixed = X * [1e307, 1, 1, 1e-300]
    value = estimate_prior(mixed, labeled, method=method, random_state=0).value
    assert_allclose(value, expected.value, rtol=1e-6)


def test_features_of_few_values():
    """Many labeled and unlabeled rows are equal by nature, which must not bias the estimate."""
    rng = np.random.default_rng(0)
    truth = np.arange(2500) < 500 + 800
    X = np.floor(np.clip(rng.normal(size=(2500, 3)) + 1.3 * truth[:, None] + 3, 0, 6))
    found = estimate_prior(X, np.arange(2500) < 500, random_state=0)
    assert abs(found.value - 0.4) < 0.12


def test_custom_estimator():
    X, y = clouds(0.4, scenario="case-control")
    found = BBE(estimator=LogisticRegression(), random_state=0).fit(X, y)
    assert abs(found.prior_ - 0.4) < 0.05
    assert_array_equal(found.interval_, found.estimate_.interval)


def test_refuses_an_estimator_without_probabilities():
    X, y = clouds(0.4, scenario="case-control", n_p=20, n_u=60)
    with pytest.raises(TypeError, match=r"with a method 'predict_proba', got LinearSVC\(\)"):
        BBE(estimator=LinearSVC()).fit(X, y)


def test_in_a_pipeline():
    X, y = clouds(0.4, scenario="case-control")
    pipe = make_pipeline(StandardScaler(), DEDPUL(n_resamples=10, random_state=0)).fit(X, y)
    assert abs(pipe[-1].prior_ - 0.4) < 0.06


@pytest.mark.parametrize("method", METHODS)
def test_reproducible(method):
    X, y = clouds(0.4, scenario="case-control", n_p=60, n_u=150)
    one, two = (estimate_prior(X, y, method=method, random_state=3) for _ in range(2))
    assert one.value == two.value
    assert one.interval == two.interval


@pytest.mark.parametrize("method", METHODS)
def test_few_rows(method):
    """Two labeled and two unlabeled rows are enough."""
    X = np.array([[0.0], [0.1], [0.9], [1.0]])
    found = estimate_prior(X, [0, 0, 1, 1], method=method, random_state=0)
    assert 0 < found.value < 1


@pytest.mark.parametrize("method", METHODS)
def test_constant_features(method):
    """If all rows are equal, all of them may be positive."""
    X = np.zeros((100, 3))
    found = estimate_prior(X, np.arange(100) < 30, method=method, random_state=0)
    assert found.value > 0.9


def test_rows_of_zero_weight_are_ignored():
    X, y = clouds(0.4, scenario="case-control", n_p=100, n_u=300)
    more = np.concatenate([X, np.full((50, 4), 99.0)])
    weight = np.repeat([1.0, 0], [len(X), 50])
    found = estimate_prior(more, np.append(y, [1] * 50), sample_weight=weight, random_state=0)
    assert found.value == estimate_prior(X, y, random_state=0).value


@pytest.mark.parametrize("method", METHODS)
def test_equal_weights_change_nothing(method):
    """Their scale does not matter either, although TIcE counts rows."""
    X, y = clouds(0.4, scenario="case-control", n_p=100, n_u=300)
    X, y = X[::2], y[::2]
    plain = estimate_prior(X, y, method=method, random_state=0)
    for weight in (np.ones(200), np.full(200, 0.3)):
        found = estimate_prior(X, y, method=method, sample_weight=weight, random_state=0)
        assert_allclose((found.value, *found.interval), (plain.value, *plain.interval))


def test_subsampled_labeled_rows(monkeypatch):
    """Rows that are not drawn count for the label frequency and the population prior."""
    monkeypatch.setattr("puforest.prior._base.MAX_ROWS", 200)
    X, y = clouds(0.4, scenario="single-training-set", n_p=400, n_u=1000, distance=8.0)
    for method in ("bbe", "tice", "elkan-noto"):
        found = estimate_prior(X, y, method=method, scenario="single-training-set", random_state=0)
        assert abs(found.value - 0.4) < 0.15
        assert_allclose(found.label_frequency, 400 / (1400 * found.value))
    assert [len(scores) for scores in found.evidence["scores"]] == [200, 200]


def test_subsampled_unlabeled_rows():
    class Watched(BBE):
        def _unlabeled_prior(self, sample):
            self.used = (sample.n_labeled, sample.n_unlabeled)
            return super()._unlabeled_prior(sample)

    rng = np.random.default_rng(0)
    n = MAX_ROWS + 20_000
    X = rng.normal(size=(n + 200, 1)) + 6.0 * (np.arange(n + 200) < 200 + n // 4)[:, None]
    y = (np.arange(n + 200) < 200).astype(int)
    method = Watched(random_state=0).fit(X, y)
    found = method.estimate_
    assert abs(found.value - 0.25) < 0.03
    assert method.used == (200, MAX_ROWS)
    assert len(found.evidence["quotient"]) <= 1002  # a curve, not all the scores
    assert found.evidence["chosen"] in found.evidence["thresholds"]
    assert_allclose(found.label_frequency, 200 / (200 + found.value * n))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"method": "best"}, "method must be one of"),
        ({"scenario": "one-sample"}, "scenario must be one of"),
        ({"confidence": 1.5}, "confidence must be between 0 and 1"),
        ({"cv": 1}, "cv must be at least 2"),
        ({"y": [1] + [0] * 9}, "cannot be estimated from 1 labeled row"),
        ({"y": [0] * 10}, "only one class"),
        ({"method": "elkan-noto", "variant": "e4"}, "variant must be one of"),
        ({"method": "km2", "max_rows": 1}, "max_rows must be at least 2"),
        ({"method": "tice", "max_splits": 0}, "max_splits must be at least 1"),
        ({"method": "tice", "max_features": 0}, "max_features must be at least 1"),
        ({"method": "dedpul", "n_resamples": 1}, "n_resamples must be at least 10"),
        ({"X": [[np.inf]] * 10}, "infinity"),
    ],
)
def test_invalid_parameters(change, message):
    given = {"X": np.arange(10.0)[:, None], "y": [1, 1, 1, 0, 0, 0, 0, 0, 0, 0]} | change
    with pytest.raises(ValueError, match=message):
        estimate_prior(given.pop("X"), given.pop("y"), **given)


def test_text_of_an_estimate_and_of_an_upper_bound():
    X, y = clouds(0.4, scenario="case-control", n_p=300, n_u=900, distance=8.0)
    found = estimate_prior(X, y, random_state=0)
    assert found == estimate_prior(X, y, random_state=0)
    assert not found.is_bound
    low, high = found.interval
    expected = f"{found.value:.3f} (95% interval {low:.3f} to {high:.3f}, bbe, case-control)"
    assert str(found) == expected
    bound = replace(found, kind="upper bound", upper=0.5)
    assert bound.is_bound
    value = f"{found.value:.3f}"
    assert str(bound) == f"at most 0.500 (95%, bbe, case-control; point estimate {value})"


@pytest.mark.parametrize("method", METHODS)
def test_overlapping_classes_yield_an_upper_bound(method):
    """One feature in which the classes are one standard deviation apart."""
    X, y = clouds(0.3, scenario="single-training-set", n_p=300, n_u=1200, distance=1.0)
    options = {"scenario": "single-training-set", "random_state": 0}
    found = estimate_prior(X[:, :1], y, method=method, **options)
    assert found.kind == "upper bound"
    assert found.interval == (y.mean(), found.upper)
    assert found.upper >= 0.3
    assert found.reason.endswith(".")


# In the classifiers


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("cls", [PUDecisionTreeClassifier, PUExtraTreesClassifier])
def test_fit_without_prior_estimates_it_and_warns(cls, scenario):
    X, y = clouds(0.5, scenario=scenario)
    with pytest.warns(PriorEstimatedWarning, match=r"prior=None: the class prior is") as caught:
        model = cls(scenario=scenario, random_state=0).fit(X, y)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert model.prior_ == estimate_prior(X, y, scenario=scenario, random_state=0).value
    assert model.prior_interval_ == model.prior_estimate_.interval
    other = model.with_prior(0.6)
    assert not hasattr(other, "prior_interval_")
    given = cls(prior=model.prior_, scenario=scenario, random_state=0).fit(X, y)
    assert not hasattr(given, "prior_interval_")
    assert_array_equal(given.predict(X), model.predict(X))


def test_fit_with_prior_discards_the_estimate():
    X, y = clouds(0.5, scenario="case-control", n_p=100, n_u=200)
    model = PUDecisionTreeClassifier(random_state=0)
    with pytest.warns(PriorEstimatedWarning):
        model.fit(X, y)
    model.set_params(prior=0.5).fit(X, y)
    assert not hasattr(model, "prior_interval_")


def test_warm_start_keeps_the_estimate():
    X, y = clouds(0.5, scenario="case-control", n_p=100, n_u=200)
    model = PUExtraTreesClassifier(n_estimators=3, warm_start=True, random_state=0)
    with pytest.warns(PriorEstimatedWarning):
        model.fit(X, y)
    before = model.prior_estimate_
    model.set_params(n_estimators=5).fit(X, y)  # no second warning
    assert model.prior_estimate_ is before
    assert len(model.estimators_) == 5


def test_parameters_are_checked_before_the_estimate():
    X, y = clouds(0.5, scenario="case-control", n_p=20, n_u=20)
    with pytest.raises(ValueError, match="max_depth"):
        PUExtraTreesClassifier(max_depth=0).fit(X, y)  # without a PriorEstimatedWarning


@pytest.mark.parametrize(
    ("scenario", "unlabeled", "of_upper"),
    [("case-control", 0.2, 100 / (100 + 0.4 * 900)), ("single-training-set", 1 / 9, 100 / 400)],
)
def test_label_frequency_at_the_upper_limit(scenario, unlabeled, of_upper):
    positives = 100 + unlabeled * 900
    estimate = PriorEstimate(
        value=0.2, interval=(0.0, 0.4), upper=0.4, kind="upper bound", reason="", confidence=0.95,
        method="dedpul", scenario=scenario, unlabeled_prior=unlabeled,
        label_frequency=100 / positives,
    )  # fmt: skip
    assert_allclose(estimate.least_label_frequency, of_upper)
