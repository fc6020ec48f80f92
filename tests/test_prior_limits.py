"""Limits of the class prior, and evidence of a purely positive region."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from puforest.prior import PriorEstimate, contradiction
from puforest.prior._limits import (
    DISPERSION,
    LEVELS,
    Counts,
    counted,
    mean_posterior_of_labeled,
    upper_limit,
)
from puforest.prior.bbe import best_bin


def ones(*groups):
    return [np.ones(len(group)) for group in groups]


def drawn(rng, prior, n_p, n_u, positives, negatives):
    """Scores of labeled and of unlabeled rows; each of the latter is positive by chance."""
    n_positive = rng.binomial(n_u, prior)
    return positives(n_p), np.concatenate([positives(n_positive), negatives(n_u - n_positive)])


def test_limits_by_simulation():
    """At the upper limit, as few unlabeled rows as counted are improbable, and at the lower many.

    200,000 simulated counts have a standard error below 0.0005 at these probabilities.
    """
    counts = Counts(np.array([40.0]), np.array([55.0]), 100.0, 300.0)
    rng = np.random.default_rng(0)
    for limit, fraction, is_beyond in (
        (counts.upper(0.02)[0], rng.beta(40, 61, 200_000), lambda k: k <= 55),
        (counts.lower(0.02)[0], rng.beta(41, 60, 200_000), lambda k: k >= 55),
    ):
        simulated = is_beyond(rng.binomial(300, limit * fraction)).mean()
        assert_allclose(simulated, 0.02, atol=0.0015)


def test_limits_of_extreme_counts():
    counts = Counts(np.array([50.0, 50, 100, 100]), np.array([0.0, 200, 0, 200]), 100.0, 200.0)
    upper, lower = counts.upper(0.01), counts.lower(0.01)
    assert (lower >= 0).all()
    assert (upper <= 1).all()
    assert (lower[[0, 2]] < 1e-6).all()
    assert (upper[[1, 3]] == 1).all()
    assert upper[0] < 0.1
    assert lower[3] > 0.95


def test_rows_are_counted_at_fractions_of_the_labeled_rows():
    positive, unlabeled = np.arange(100.0), np.arange(0, 100, 0.5)
    counts = counted(positive, unlabeled, *ones(positive, unlabeled), LEVELS)
    assert_allclose(counts.n_labeled * DISPERSION, 100)
    assert_allclose(np.sort(counts.labeled * DISPERSION), 100 * LEVELS)
    assert_allclose(counts.unlabeled / counts.labeled, 2, rtol=0.03)
    assert_allclose(counts.ratio, 1, rtol=0.03)


def test_weights_are_repeated_rows_for_the_limits():
    rng = np.random.default_rng(0)
    p, u = rng.normal(1, size=300), rng.normal(size=500)
    doubled = upper_limit(p, u, np.full(300, 2.0), np.full(500, 2.0), confidence=0.95)
    assert_allclose(doubled, upper_limit(p, u, *ones(p, u), confidence=0.95))
    # Rows of little weight hardly count.
    weight = np.where(np.arange(500) < 400, 1.0, 1e-9)
    found = upper_limit(p, u, np.ones(300), weight, confidence=0.95)
    expected = upper_limit(p, u[:400], *ones(p, u[:400]), confidence=0.95)
    assert_allclose(found, expected, rtol=1e-6)


# Simulations. Of 100 limits with a confidence of 95%, more than 11 fail with a probability of 0.4%.
# The limits are conservative, so they fail less often.
DRAWS, MOST_FAILURES = 100, 11


@pytest.mark.parametrize("prior", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("gap", [0.0, 1.0, 8.0])
def test_upper_limit_holds_whether_or_not_a_region_is_pure(prior, gap):
    rng = np.random.default_rng(int(10 * prior + gap))
    failures = 0
    for _ in range(DRAWS):
        p, u = drawn(
            rng, prior, 200, 400, lambda n: rng.normal(gap, size=n), lambda n: rng.normal(size=n)
        )
        failures += upper_limit(p, u, *ones(p, u), confidence=0.95) < prior
    assert failures <= MOST_FAILURES


def test_upper_limit_holds_with_weights():
    """Rows are drawn with twice the probability where they have half the weight."""
    rng = np.random.default_rng(0)
    failures = 0
    for _ in range(DRAWS):
        p, u = drawn(rng, 0.4, 300, 600, lambda n: 4 + rng.random(n), lambda n: rng.random(n))
        w_p, w_u = (rng.choice([0.5, 1, 2], len(x)) for x in (p, u))
        failures += upper_limit(p, u, w_p, w_u, confidence=0.95) < 0.4
    assert failures <= MOST_FAILURES


@pytest.mark.parametrize("prior", [0.1, 0.4, 0.7])
def test_interval_covers_where_a_region_is_pure(prior):
    """Few positives score as low as negatives; most draws are called estimates."""
    rng = np.random.default_rng(int(10 * prior))
    claims = misses = 0
    for _ in range(DRAWS):
        p, u = drawn(
            rng, prior, 300, 900, lambda n: rng.normal(4, size=n), lambda n: rng.normal(size=n)
        )
        found = best_bin(p, u, *ones(p, u), confidence=0.95)
        claims += found.kind == "estimate"
        misses += not found.low <= prior <= found.upper
    assert claims >= 0.8 * DRAWS
    assert misses <= MOST_FAILURES


@pytest.mark.parametrize("prior", [0.1, 0.3, 0.5])
def test_no_estimate_where_no_region_is_pure(prior):
    """A fifth of the negatives cannot be told from positives, the others overlap with them."""
    rng = np.random.default_rng(int(10 * prior))
    claims = misses = 0

    def negatives(n):
        return rng.normal(np.where(rng.random(n) < 0.2, 1.5, 0.0))

    for _ in range(DRAWS):
        p, u = drawn(rng, prior, 300, 900, lambda n: rng.normal(1.5, size=n), negatives)
        found = best_bin(p, u, *ones(p, u), confidence=0.95)
        claims += found.kind == "estimate"
        misses += not found.low <= prior <= found.upper
    assert claims == 0
    assert misses == 0


def test_interval_of_an_estimate_allows_for_a_few_negatives_like_positives():
    """Few positives are unlabeled, as in a single training set; 2% of the negatives look alike."""
    rng = np.random.default_rng(0)
    prior, claims, misses = 0.05, 0, 0

    def negatives(n):
        return rng.normal(np.where(rng.random(n) < 0.02, 3.0, 0.0))

    for _ in range(DRAWS):
        p, u = drawn(rng, prior, 85, 1600, lambda n: rng.normal(4, size=n), negatives)
        found = best_bin(p, u, *ones(p, u), confidence=0.95)
        claims += found.kind == "estimate"
        misses += not found.low <= prior <= found.upper
    assert claims >= 0.8 * DRAWS
    assert misses <= 0.1 * claims


def test_mean_posterior_of_labeled_rows():
    """Half of the labeled rows score 1, as a quarter of the others do; the rest has no score."""
    p, u = np.repeat([1.0, 0], [50, 50]), np.repeat([1.0, 0], [25, 75])
    assert_allclose(mean_posterior_of_labeled(p, u, *ones(p, u), prior=0.5), (1 + 1 / 3) / 2)
    assert_allclose(mean_posterior_of_labeled(p, u, *ones(p, u), prior=0.25), (0.5 + 1 / 6) / 2)
    constant = np.zeros(100)
    found = mean_posterior_of_labeled(constant, constant, *ones(p, u), prior=0.3)
    assert_allclose(found, 0.3)  # uninformative scores
    apart = mean_posterior_of_labeled(p + 2, u, *ones(p, u), prior=0.3)
    assert_allclose(apart, 1)


def estimate(kind, interval=(0.2, 0.4)):
    return PriorEstimate(
        value=0.3,
        interval=interval,
        upper=0.4,
        kind=kind,
        reason="Because.",
        confidence=0.95,
        method="bbe",
        scenario="case-control",
        unlabeled_prior=0.3,
        label_frequency=0.1,
    )


def test_the_limit_of_a_contradiction_is_the_end_of_the_interval_that_is_shown():
    """The one-sided limit of an estimate is below the end of its two-sided interval."""
    found = replace(estimate("estimate"), upper=0.37)
    assert contradiction(0.39, found) is None
    assert "above 0.4, the largest that the data supports (95% interval" in contradiction(
        0.45, found
    )


def test_contradictions():
    bound, both = estimate("upper bound", (0.001, 0.4)), estimate("estimate")
    for found in (bound, both):
        assert contradiction(0.39, found) is None
        assert "0.45 is above 0.4, the largest that the data supports" in contradiction(0.45, found)
    assert contradiction(0.01, bound) is None
    assert "below the 95% interval of the estimate, 0.2 to 0.4" in contradiction(0.1, both)
