"""Test of labels completely at random (SCAR)."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits

from puforest.datasets import group_propensity, linear_propensity, load_mushrooms, make_pu
from puforest.diagnostics import scar_test
from puforest.diagnostics._scar import _drawn_prior, _drawn_rows, _excess, _random_labels
from puforest.prior import PriorEstimate

ONE = "single-training-set"


def clouds(seed, n=1200):
    """Two classes that differ in x0 to x2; x4 is random and binary."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.4).astype(int)
    X = rng.normal(size=(n, 6)) + 1.5 * y[:, None] * (np.arange(6) < 3)
    X[:, 4] = X[:, 4] > 0
    return X, y


def labeled_by(X, y, e, seed=0, **options):
    X, labeled = make_pu(X, y, propensity=e, scenario=ONE, random_state=seed)
    return scar_test(
        X, labeled, prior=y.mean(), scenario=ONE, n_simulations=19, random_state=seed, **options
    )


def test_labels_at_random_are_not_rejected():
    """The p-values for random labels spread over the unit interval."""
    p = [labeled_by(*clouds(seed), np.full(1200, 0.4), seed).p_value for seed in range(4)]
    assert np.mean(p) > 0.25
    assert np.count_nonzero(np.array(p) <= 0.05) <= 2


@pytest.mark.parametrize("kind", ["by group", "linear"])
def test_labels_that_depend_on_a_feature_are_detected(kind):
    X, y = clouds(1)
    if kind == "by group":
        e, feature = group_propensity(X[:, 4], {0: 0.1, 1: 0.6}), "x4"
    else:
        e, feature = linear_propensity(X, np.eye(6)[5], y=y, frequency=0.4), "x5"
    test = labeled_by(X, y, e)
    assert test.p_value == 0.05
    assert test.features[0] == feature
    assert test.region_frequency > test.allowed_frequency == pytest.approx(0.4, abs=0.06)
    assert test.significant
    assert "not consistent with" in str(test)
    assert feature in test.explanation


@pytest.mark.parametrize("data", ["digits", "mushrooms"])
def test_real_data(data):
    if data == "digits":
        X, y = load_digits(return_X_y=True)
        y, group = (y % 2 == 0).astype(int), X[:, 20] > 8
    else:
        X, y = (a[::4] for a in load_mushrooms(return_X_y=True))
        group = X[:, 21] > 0
    at_random = labeled_by(X, y, np.full(len(y), 0.4))
    assert at_random.p_value > 0.05
    assert not at_random.significant
    assert "is consistent with" in at_random.explanation
    assert labeled_by(X, y, group_propensity(group, {True: 0.65, False: 0.15})).p_value == 0.05


def case_control(X, y, e, seed):
    """Take labeled rows from the first half and unlabeled rows from the second."""
    half = len(X) // 2
    drawn, labeled = make_pu(
        X[:half], y[:half], propensity=e[:half], scenario=ONE, random_state=seed
    )
    drawn = drawn[labeled == 1]
    return np.concatenate([drawn, X[half:]]), np.repeat([1, 0], [len(drawn), half])


def test_case_control():
    p = {}
    for kind, frequencies in (("random", {0: 0.4, 1: 0.4}), ("group", {0: 0.05, 1: 0.9})):
        p[kind] = []
        for seed in range(3):
            X, y = clouds(seed, 2400)
            X, labeled = case_control(X, y, group_propensity(X[:, 4], frequencies), seed)
            test = scar_test(X, labeled, prior=0.4, n_simulations=19, random_state=seed)
            p[kind].append(test.p_value)
            n_p, n_u = labeled.sum(), (labeled == 0).sum()
            assert test.allowed_frequency == pytest.approx(n_p / (n_p + 0.4 * n_u))
    assert np.mean(p["random"]) > 0.25
    assert np.median(p["group"]) == 0.05


@pytest.mark.parametrize("scenario", ["case-control", ONE])
def test_few_labeled_rows_among_many(scenario):
    """Unlabeled rows are dropped first, so a larger fraction of the others is labeled."""
    p = {}
    for kind, frequencies in (("random", {0: 0.04, 1: 0.04}), ("group", {0: 0.002, 1: 0.08})):
        X, y = clouds(2, 24000)
        e = group_propensity(X[:, 4], frequencies)
        if scenario == ONE:
            X, labeled = make_pu(X, y, propensity=e, scenario=ONE, random_state=2)
            pi_u = (0.4 - labeled.mean()) / (1 - labeled.mean())
        else:
            X, labeled = case_control(X, y, e, 2)
            pi_u = 0.4
        options = {"n_simulations": 19, "max_samples": 1200, "random_state": 2}
        test = scar_test(X, labeled, prior=0.4, scenario=scenario, **options)
        p[kind], n_p = test.p_value, labeled.sum()
        assert test.allowed_frequency == pytest.approx(n_p / (n_p + pi_u * (1200 - n_p)))
        assert test.region.max() > 1200
    assert p["group"] == 0.05 < p["random"]


def test_drawn_rows():
    labeled = np.arange(100) < 30
    for most, n_labeled in ((10, 5), (80, 30), (100, 30), (200, 30)):
        rows = _drawn_rows(labeled, most, np.random.RandomState(0))
        assert len(set(rows)) == min(most, 100)
        assert labeled[rows].sum() == n_labeled
    assert labeled[_drawn_rows(~labeled, 50, np.random.RandomState(0))].sum() == 25
    assert labeled[_drawn_rows(~labeled, 80, np.random.RandomState(0))].sum() == 30


def test_few_simulations_are_inconclusive():
    X, y = clouds(1)
    e = group_propensity(X[:, 4], {0: 0.1, 1: 0.6})
    X, labeled = make_pu(X, y, propensity=e, scenario=ONE, random_state=0)
    test = scar_test(X, labeled, prior=0.4, scenario=ONE, n_simulations=2, random_state=0)
    assert test.p_value == pytest.approx(1 / 3)
    assert "2 simulations are too few to decide" in str(test)
    assert "n_simulations=19" in test.explanation


def test_prior_that_is_too_large_is_rejected():
    X, y = clouds(3)
    X, labeled = make_pu(X, y, n_labeled=0.5, scenario=ONE, random_state=0)
    arguments = {"scenario": ONE, "n_simulations": 19, "random_state": 0}
    assert scar_test(X, labeled, prior=0.7, **arguments).p_value == 0.05


def test_duplicates_in_the_unlabeled_set_raise_a_warning():
    X, y = clouds(4, 400)
    X, labeled = make_pu(X, y, random_state=0)
    with pytest.warns(UserWarning, match="labeled rows of X also appear in the unlabeled set") as w:
        scar_test(X, labeled, prior=0.4, n_simulations=1, n_estimators=40)
    assert w[0].filename == __file__


def test_options_change_the_result():
    X, y = clouds(5)
    X, labeled = make_pu(X, y, n_labeled=0.5, scenario=ONE, random_state=0)
    table = pd.DataFrame(X, columns=list("abcdef"))

    def run(**options):
        given = {"n_simulations": 9, "random_state": 0} | options
        return scar_test(table, labeled, prior=y.mean(), scenario=ONE, **given)

    first = run()
    assert first.statistic == run().statistic == run(n_jobs=2).statistic
    assert first.statistic != run(random_state=1).statistic
    assert first.statistic != run(n_estimators=60).statistic
    assert len(run(n_simulations=4).simulated) == 4
    few = run(max_samples=300)
    assert few.statistic != first.statistic
    assert len(few.region) <= 300
    assert few.region.max() > 300
    assert_array_equal(run(max_samples=None).simulated, first.simulated)
    assert len(first.feature_excess) == 6


def test_excess_is_the_largest_over_all_thresholds():
    rng = np.random.default_rng(0)
    labeled, score = rng.random(200) < 0.3, rng.random(200).round(2)
    found, region = _excess(score, labeled, 0.6)
    c = labeled.mean() / 0.6
    tops = [np.flatnonzero(score >= t) for t in np.unique(score)]
    tops = [top for top in tops if len(top) >= 20]
    z = [(labeled[t].sum() - c * len(t)) / np.sqrt(c * (1 - c) * len(t)) for t in tops]
    assert found == pytest.approx(max(z))
    assert_array_equal(region, tops[int(np.argmax(z))])


def test_simulated_labels():
    """Labels are drawn among the top rows, whose number varies as in a sample."""
    rng = np.random.RandomState(0)
    ranking = rng.random_sample(500).round(2)
    lowest = []
    for _ in range(200):
        labels = _random_labels(ranking, 60, 0.25, rng)
        assert labels.sum() == 60
        lowest.append(np.mean(ranking > ranking[labels].min()))
    # At most 60 + 440 * 0.25 = 170 rows, with a standard deviation of 9, are positive.
    assert 0.3 < np.mean(lowest) <= 0.345
    assert 0.005 < np.std(lowest) < 0.03


def estimate(value, low, high):
    return PriorEstimate(value, (low, high), high, "estimate", "", 0.95, "bbe", ONE, value, 0.5)


def test_drawn_priors_have_the_interval_of_the_estimate():
    rng = np.random.RandomState(0)
    assert _drawn_prior(0.3, rng) == 0.3
    drawn = np.array([_drawn_prior(estimate(0.3, 0.2, 0.35), rng) for _ in range(4000)])
    assert_allclose(np.quantile(drawn, [0.025, 0.5, 0.975]), [0.2, 0.3, 0.35], atol=0.01)


def test_uncertainty_of_the_prior():
    """A prior that is too large is rejected only if it is known exactly."""
    X, y = clouds(3)
    X, labeled = make_pu(X, y, n_labeled=0.5, scenario=ONE, random_state=0)
    arguments = {"scenario": ONE, "n_simulations": 39, "random_state": 0}
    assert scar_test(X, labeled, prior=0.6, **arguments).p_value <= 0.05
    unsure = scar_test(X, labeled, prior=estimate(0.6, labeled.mean(), 0.7), **arguments)
    assert unsure.p_value > 0.1


def test_test_stops_early():
    X, y = clouds(4)
    X, labeled = make_pu(X, y, n_labeled=0.4, scenario=ONE, random_state=4)
    test = scar_test(X, labeled, prior=y.mean(), scenario=ONE, random_state=0)
    assert len(test.simulated) < 199
    assert np.count_nonzero(test.simulated >= test.statistic) == 20
    assert test.simulated[-1] >= test.statistic
    assert test.p_value == 20 / len(test.simulated)


def test_smallest_p_value():
    X, y = clouds(1)
    e = group_propensity(X[:, 4], {0: 0.1, 1: 0.6})
    X, labeled = make_pu(X, y, propensity=e, scenario=ONE, random_state=0)
    test = scar_test(X, labeled, prior=0.4, scenario=ONE, random_state=0)
    assert test.p_value == 0.005
    assert len(test.simulated) == 199


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"prior": None}, "prior must be the fraction of positives"),
        ({"prior": 0.1}, "prior=0.1 is impossible"),
        ({"prior": 0.25}, "leaves no unlabeled positives"),
        ({"max_samples": 30}, "too few for a test"),
        ({"n_estimators": 5}, "n_estimators must be at least 40"),
        ({"n_simulations": 0}, "n_simulations must be at least 1"),
        ({"scenario": "both"}, "scenario must be one of"),
        ({"X": np.zeros((50, 2))}, "inconsistent numbers of samples"),
    ],
)
def test_invalid_parameters(change, message):
    given = {"X": np.zeros((200, 2)), "y": np.repeat([0, 1], [150, 50]), "prior": 0.4}
    with pytest.raises((TypeError, ValueError), match=message):
        scar_test(**given | {"scenario": ONE, "random_state": 0} | change)
