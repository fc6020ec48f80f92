"""Calibration metrics: predicted probabilities against fractions of positives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from puforest import _validation as check
from puforest._sample import PUSample
from puforest._warnings import warn
from puforest.metrics._docs import documented
from puforest.metrics._metric import (
    Array,
    Estimate,
    Metric,
    PriorMismatchWarning,
    evaluation_set,
    excess_warning,
    score,
)

__all__ = ["pu_calibration_error", "pu_reliability_curve"]

STRATEGIES = ("quantile", "uniform")


@dataclass(frozen=True)
class Bins:
    """Bins of predicted probabilities and their masses.

    Attributes
    ----------
    of_row : ndarray of int
        Bin of each row.
    population : ndarray
        Fraction of the population in each bin.
    positives : ndarray
        Estimated mass of the positives in each bin, not yet clipped to `population`.
    predicted : ndarray
        Mass of the positives according to the predicted probabilities.
    prior : float
        Class prior.
    """

    of_row: NDArray[np.intp]
    population: Array
    positives: Array
    predicted: Array
    prior: float

    def mismatch(self, sample: PUSample) -> PriorMismatchWarning | None:
        fraction = np.minimum(self.positives / self.prior, 1.0)
        return excess_warning(
            sample,
            self.prior,
            fraction,
            self.population,
            lambda k: f"In probability bin {k + 1} of {len(fraction)}",
        )


def probability_bins(
    sample: PUSample, prob: Array, prior: float, *, n_bins: int = 10, strategy: str = "quantile"
) -> Bins:
    check.integer("n_bins", n_bins, 1)
    check.one_of("strategy", strategy, STRATEGIES)
    inner = np.arange(1, n_bins) / n_bins
    if strategy == "quantile":
        order = np.argsort(prob)
        fraction = np.cumsum(sample.population[order])
        # Quantiles that are missed by rounding only count as reached.
        inner = np.unique(prob[order][np.searchsorted(fraction, inner - 1e-9)])
    index = np.searchsorted(inner, prob)

    def mass(weight: Array) -> Array:
        return np.bincount(index, weights=weight, minlength=len(inner) + 1).astype(float)

    return Bins(
        index,
        mass(sample.population),
        prior * mass(sample.positive),
        mass(sample.population * prob),
        prior,
    )


def _calibration_error(sample: PUSample, prob: Array, prior: float, **binning: Any) -> Estimate:
    """Sum over bins of |positives - predicted|, with positives clipped to the rows of the bin.

    To first order, the signs of the differences and the set of clipped bins do not change.
    """
    bins = probability_bins(sample, prob, prior, **binning)
    full = bins.positives > bins.population
    difference = np.minimum(bins.positives, bins.population) - bins.predicted
    sign, full_there = np.sign(difference)[bins.of_row], full[bins.of_row]
    return Estimate(
        float(np.abs(difference).sum()),
        np.where(full_there, 0.0, sign * prior),
        sign * (full_there - prob),
        bins.mismatch(sample),
    )


CALIBRATION_ERROR = Metric(
    "pu_calibration_error",
    "Calibration error",
    "Mean gap between predicted probabilities and fractions of positives.",
    "probability",
    _calibration_error,
    greater_is_better=False,
    monotone_in_prior=False,
    options=("n_bins", "strategy"),
)


@documented
def pu_calibration_error(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    prior: float,
    scenario: str = "case-control",
    sample_weight: ArrayLike | None = None,
    propensity: ArrayLike | None = None,
    checked: ArrayLike | None = None,
    check_probability: ArrayLike | None = None,
    n_bins: int = 10,
    strategy: str = "quantile",
) -> float:
    """Expected calibration error: mean gap between probabilities and fractions of positives.

    Both are averaged within bins, which are weighted by their fraction of the population. Sampling
    noise increases every gap, so even perfectly calibrated probabilities have an error above 0,
    which grows with the number of bins and shrinks with the number of labeled rows.

    Parameters
    ----------
    %y_true, y_prob, prior, scenario, sample_weight, propensity, n_bins, strategy%

    Returns
    -------
    float
        Between 0 and 1; lower is better.

    Examples
    --------
    >>> from puforest.metrics import pu_calibration_error
    >>> y_true, y_prob = [1, 1, 0, 0, 0, 0], [0.9, 0.6, 0.8, 0.3, 0.2, 0.1]
    >>> round(pu_calibration_error(y_true, y_prob, prior=0.3, n_bins=2), 3)
    0.1
    """
    return score(
        CALIBRATION_ERROR,
        y_true,
        y_prob,
        prior=prior,
        scenario=scenario,
        sample_weight=sample_weight,
        propensity=propensity,
        checked=checked,
        check_probability=check_probability,
        n_bins=n_bins,
        strategy=strategy,
    )


@documented
def pu_reliability_curve(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    prior: float,
    scenario: str = "case-control",
    sample_weight: ArrayLike | None = None,
    propensity: ArrayLike | None = None,
    checked: ArrayLike | None = None,
    check_probability: ArrayLike | None = None,
    n_bins: int = 10,
    strategy: str = "quantile",
) -> tuple[Array, Array]:
    """Reliability curve: fractions of positives in bins of probabilities, π P_P(bin) / P_U(bin).

    Fractions are clipped to 1. A `PriorMismatchWarning` is issued if one significantly exceeds
    1. Bins without rows of the population are omitted.

    Parameters
    ----------
    %y_true, y_prob, prior, scenario, sample_weight, propensity, n_bins, strategy%

    Returns
    -------
    prob_true : ndarray
        Estimated fraction of positives in each bin.
    prob_pred : ndarray
        Mean predicted probability in each bin.

    Examples
    --------
    >>> from puforest.metrics import pu_reliability_curve
    >>> y_true, y_prob = [1, 1, 0, 0, 0, 0], [0.9, 0.6, 0.8, 0.4, 0.2, 0.2]
    >>> prob_true, prob_pred = pu_reliability_curve(y_true, y_prob, prior=0.4, n_bins=2)
    >>> prob_true.round(2).tolist(), prob_pred.round(2).tolist()
    ([0.0, 0.8], [0.2, 0.6])
    """
    data = evaluation_set(
        CALIBRATION_ERROR,
        y_true,
        y_prob,
        prior=prior,
        scenario=scenario,
        sample_weight=sample_weight,
        propensity=propensity,
        checked=checked,
        check_probability=check_probability,
    )
    bins = probability_bins(data.sample, data.values, data.prior, n_bins=n_bins, strategy=strategy)
    mismatch = bins.mismatch(data.sample)
    if mismatch is not None:
        warn(mismatch)
    filled = bins.population > 0
    population = bins.population[filled]
    observed = np.minimum(bins.positives[filled] / population, 1)
    return observed, bins.predicted[filled] / population
