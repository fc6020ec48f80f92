"""Means over the positives and over the population."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from puforest._sample import pu_sample

Y = np.array([1, 0, 1, 0, 0])
VALUES = np.array([1.0, 2, 3, 4, 9])


@pytest.mark.parametrize(
    ("scenario", "population"), [("case-control", 5.0), ("single-training-set", 3.8)]
)
def test_means(scenario, population):
    sample = pu_sample(Y, scenario=scenario)
    assert_allclose(sample.of_positives(VALUES), 2.0)
    assert_allclose(sample.of_population(VALUES), population)
    assert_array_equal(sample.labeled, Y == 1)


@pytest.mark.parametrize("scenario", ["case-control", "single-training-set"])
def test_weights_equal_repeated_rows(scenario):
    weight = np.array([2, 1, 0, 3, 1])
    weighted = pu_sample(Y, scenario=scenario, sample_weight=weight)
    repeated = pu_sample(Y.repeat(weight), scenario=scenario)
    for name in ("of_positives", "of_population"):
        assert_allclose(
            getattr(weighted, name)(VALUES), getattr(repeated, name)(VALUES.repeat(weight))
        )


def test_propensities_weight_labeled_rows():
    sample = pu_sample(Y, propensity=[0.2, np.nan, 0.8, np.nan, np.nan])
    assert_allclose(sample.of_positives(VALUES), (1 / 0.2 + 3 / 0.8) / (1 / 0.2 + 1 / 0.8))


@pytest.mark.parametrize("scenario", ["case-control", "single-training-set"])
def test_standard_error_is_the_spread_over_samples(scenario):
    rng = np.random.default_rng(0)

    def draw(n=400):
        x = rng.normal(size=n)
        labeled = rng.random(n) < 1 / (1 + np.exp(-x))
        sample = pu_sample(labeled, scenario=scenario)
        statistic = 3 * sample.of_positives(x) - 2 * sample.of_population(x)
        return statistic, sample.standard_error(3 * x, -2 * x)

    statistics, errors = np.transpose([draw() for _ in range(2000)])
    assert_allclose(errors.mean(), statistics.std(), rtol=0.06)


@pytest.mark.parametrize("n", range(3, 60))
def test_all_positives_may_be_labeled(n):
    """The fraction of labeled rows then equals the prior, up to rounding."""
    y = np.arange(n) % 3 == 0
    sample = pu_sample(y, scenario="single-training-set", sample_weight=np.full(n, 0.3))
    assert sample.class_prior(y.mean()) == y.mean()


@pytest.mark.parametrize("scenario", ["case-control", "single-training-set"])
def test_pseudo_rows_have_the_mean_weight(scenario):
    sample = pu_sample(Y, scenario=scenario, sample_weight=[2, 2, 2, 2, 0]).with_pseudo_rows()
    assert_allclose([sample.positive.sum(), sample.population.sum()], 1)
    assert_allclose(sample.positive, np.array([1, 0, 1, 0, 0, 1, 1, 0, 0]) / 4)
    u = [0, 1, 0, 1, 0] if scenario == "case-control" else [1, 1, 1, 1, 0]
    assert_allclose(sample.population, np.array([*u, 0, 0, 1, 1]) / (sum(u) + 2))


def test_refuses():
    with pytest.raises(ValueError, match="scenario must be one of"):
        pu_sample(Y, scenario="both")
    with pytest.raises(ValueError, match="zero for all labeled rows"):
        pu_sample(Y, sample_weight=[0, 1, 0, 1, 1])
    with pytest.raises(ValueError, match="only one class"):
        pu_sample([0, 0, 0])
    sample = pu_sample(Y, scenario="single-training-set")
    with pytest.raises(ValueError, match=r"prior=0\.3 is impossible"):
        sample.class_prior(0.3)
    with pytest.raises(TypeError, match="estimate_prior"):
        sample.class_prior(None)
    assert sample.class_prior(0.5) == 0.5
