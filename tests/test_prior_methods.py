"""Steps of each method of prior estimation, compared with results by hand."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from pu_clouds import clouds
from sklearn.dummy import DummyClassifier

from puforest._encoded import EncodedTable
from puforest.prior import ElkanNoto, KernelMean, TIcE
from puforest.prior._base import PriorSample
from puforest.prior._intervals import bootstrapped
from puforest.prior.bbe import best_bin
from puforest.prior.dedpul import density_ratio, explaining_prior
from puforest.prior.kernel_mean import on_simplex, standard_error
from puforest.prior.tice import best_bound, quarters


def test_best_bin_by_hand():
    """At 0.6, all labeled and 3/10 of the unlabeled rows; at 0.9, 1/2 and 2/10 of them."""
    p = np.repeat([0.9, 0.6], 500)
    u = np.repeat([0.9, 0.6, 0.1], [200, 100, 700])
    found = best_bin(p, u, np.ones(1000), np.ones(1000), confidence=0.9)
    assert_allclose(found.value, 0.3)
    assert_allclose(found.evidence["quotient"], [1, 0.3, 0.4])
    assert found.evidence["chosen"] == 0.6
    assert found.kind == "estimate"
    assert found.low < 0.3 < found.upper
    narrow = best_bin(p, u, np.ones(1000), np.ones(1000), confidence=0.5)
    assert found.low < narrow.low < narrow.upper < found.upper


def test_estimate_of_bbe_does_not_depend_on_the_level_of_its_interval():
    rng = np.random.default_rng(0)
    p, u = rng.normal(1, size=100), np.concatenate([rng.normal(1, size=100), rng.normal(size=200)])
    found = [best_bin(p, u, np.ones(100), np.ones(300), confidence=c) for c in (0.5, 0.9, 0.999)]
    assert len({one.value for one in found}) == 1
    assert [one.kind for one in found] == ["upper bound"] * 3  # the classes overlap
    limits = [one.upper for one in found]
    assert limits == sorted(set(limits))


@pytest.mark.parametrize("function", [best_bin, lambda *a, confidence: density_ratio(*a)])
def test_weights_are_equivalent_to_repeated_rows(function):
    rng = np.random.default_rng(1)
    p, u = rng.normal(1, size=40), rng.normal(size=80)
    w_p, w_u = rng.integers(1, 4, size=40), rng.integers(1, 4, size=80)
    weighted = function(p, u, w_p.astype(float), w_u.astype(float), confidence=0.9)
    repeated = function(
        p.repeat(w_p), u.repeat(w_u), np.ones(w_p.sum()), np.ones(w_u.sum()), confidence=0.9
    )
    if function is best_bin:
        assert_allclose(weighted.evidence["quotient"], repeated.evidence["quotient"])
    else:
        assert_allclose(weighted[2], repeated[2])


@pytest.mark.parametrize("prior", [0.1, 0.5, 0.9])
def test_dedpul_from_known_densities(prior):
    """The density ratio is 1/prior where there are positives, and 0 elsewhere."""
    ratio, mass = np.array([0, 1 / prior]), np.array([1 - prior, prior])
    assert_allclose(explaining_prior(ratio, mass), prior, atol=0.011)


def test_dedpul_is_robust_to_noise_in_the_tail():
    """Without the guard, a far too large ratio of 0.1% of the rows drags the prior to zero."""
    ratio = np.array([0, 2.0 - 0.05 * 0.001 / 0.499, 50])
    mass = np.array([0.5, 0.499, 0.001])
    assert_allclose(explaining_prior(ratio, mass), 0.5, atol=0.02)


def test_tice_bound_by_hand():
    counts = np.array([[1000.0, 200], [100, 60], [10, 10]])
    delta = 1 / 5
    bound = 0.6 - np.sqrt(0.25 * (1 - delta) / (delta * 100))
    assert_allclose(best_bound(counts, 0.5), bound)  # the box of 10 rows is too small


def test_tice_quarters():
    X = np.array([[0.0, 7], [1, 7], [2, 7], [3, 7], [4, 7]])
    assert_array_equal(quarters(X).T, [[0, 1, 2, 3, 3], [0, 0, 0, 0, 0]])


def test_scores_help_tice_where_boxes_do_not():
    """Positives lie along a diagonal of many features, so no box contains many of them."""
    rng = np.random.default_rng(0)
    truth = np.repeat([True, False], [900, 1100])
    X = rng.normal(size=(2000, 12)) + 0.9 * truth[:, None]
    y = (np.arange(2000) < 300).astype(int)
    errors = [
        abs(TIcE(scores=scores, random_state=0).fit(X, y).prior_ - 600 / 1700)
        for scores in (False, True)
    ]
    assert errors[1] < errors[0]


def test_tice_draws_features():
    """Only one of 50 features is informative; a small random subset misses it."""
    X, y = clouds(0.4, scenario="case-control", n_p=300, n_u=600)
    X = np.column_stack([X[:, :1], np.random.default_rng(0).normal(size=(900, 49))])
    few, all_features = (
        TIcE(scores=False, max_features=n, random_state=0).fit(X, y).prior_ for n in (2, 50)
    )
    assert abs(all_features - 0.4) < 0.2 < few - 0.4


def test_km2_is_an_estimate_only_if_the_scores_support_it():
    """Its own lower limit is part of the interval."""
    X, labeled = clouds(0.5, scenario="case-control", n_p=400, n_u=800, distance=8.0)
    found = KernelMean(random_state=0).fit(X, labeled).estimate_
    assert found.kind == "estimate"
    low, high = found.interval
    assert low <= 0.5 <= high
    sure = KernelMean(random_state=0, confidence=0.5).fit(X, labeled).estimate_
    assert low < sure.interval[0]
    bound = KernelMean(random_state=0).fit(np.zeros((8, 1)), np.repeat([1, 0], 4)).estimate_
    assert bound.is_bound
    assert bound.upper > 0.9


def test_km2_with_categories_only():
    """Half of the unlabeled rows are of the category of the labeled rows, half of another."""
    X = pd.DataFrame({"kind": pd.Categorical(np.repeat(["a", "b"], [150, 50]))})
    found = KernelMean(random_state=0).fit(X, np.arange(200) < 100)
    assert abs(found.prior_ - 0.5) < 0.15


def test_error_of_km2_by_hand():
    halves = np.array([[0.4, 0.6], [0.5, 0.5]])  # V = 0.01, so 0.005 for a draw
    whole = standard_error(np.array([0.5, 0.5]), halves, 1.0, 10**6)
    assert_allclose(whole, np.sqrt(0.005))
    assert_allclose(standard_error(np.array([0.5, 0.5]), halves, 0.0, 10**6), np.sqrt(0.0025))
    assert_allclose(standard_error(np.array([0.4, 0.4]), halves, 1.0, 10**6), np.sqrt(0.015))
    assert_allclose(standard_error(np.array([0.5, 0.5]), halves, 1.0, 10), np.sqrt(0.025))


def test_nearest_point_of_the_simplex():
    assert_allclose(on_simplex(np.array([0.5, 0.5])), [0.5, 0.5])
    assert_allclose(on_simplex(np.array([2.0, 0.0])), [1, 0])
    assert_allclose(on_simplex(np.array([0.6, 0.6, -5.0])), [0.5, 0.5, 0])


def test_variants_of_elkan_noto():
    X, y = clouds(0.4, scenario="case-control", distance=8.0)
    found = {
        v: ElkanNoto(variant=v, n_resamples=10, random_state=0).fit(X, y).prior_
        for v in ("e1", "e2", "e3")
    }
    assert len(set(found.values())) == 3
    assert abs(found["e2"] - 0.4) < 0.1


def test_elkan_noto_where_classes_overlap():
    """It assumes that they do not, so its value is larger than the scores support."""
    X, y = clouds(0.4, scenario="case-control", distance=2.0)
    found = ElkanNoto(random_state=0).fit(X, y).estimate_
    assert found.is_bound
    assert found.value == found.upper
    assert "larger prior than the scores support" in found.reason


@pytest.mark.parametrize("variant", ["e1", "e2", "e3"])
def test_elkan_noto_with_zero_scores(variant):
    X, y = clouds(0.4, scenario="case-control", n_p=20, n_u=60)
    never = DummyClassifier(strategy="most_frequent")
    assert ElkanNoto(variant=variant, estimator=never).fit(X, y).prior_ > 0.9


def prior_sample(X, labeled):
    weight = np.ones(len(X))
    totals = (labeled.sum(), (~labeled).sum())
    return PriorSample(labeled, weight, *totals, EncodedTable(X), X, np.arange(len(X)))


def test_bootstrap_draws_rows():
    """Rows and their weights are drawn together, and group sizes stay the same."""
    sizes = []

    def statistic(positive, unlabeled, w_p, w_u):
        sizes.append((len(positive), len(unlabeled), len(w_p), len(w_u)))
        assert_array_equal(w_p, 2 * positive)
        assert_array_equal(w_u, 3 * unlabeled)
        return positive.mean()

    p, u = np.arange(50.0), np.arange(70.0)
    value, low = bootstrapped(
        statistic, p, u, 2 * p, 3 * u, confidence=0.95, n_resamples=400, random_state=0
    )
    assert set(sizes) == {(50, 70, 50, 70)}
    assert value == 24.5
    error = 1.96 * p.std() / np.sqrt(50)
    assert_allclose(low, 24.5 - error, atol=1)
