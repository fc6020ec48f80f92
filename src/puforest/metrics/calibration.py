"""Judge whether probabilities are what they say: the shares of positives among rows alike."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from puforest import _validation as check
from puforest._sample import PUSample
from puforest.metrics._docs import documented
from puforest.metrics._metric import (
    Array,
    Estimate,
    Metric,
    PriorMismatchWarning,
    excess_warning,
    judged,
    score,
)

__all__ = ["pu_calibration_error", "pu_reliability_curve"]

STRATEGIES = ("quantile", "uniform")


@dataclass(frozen=True)
class Bins:
    """Bins of predicted probabilities, and what they hold.

    Attributes
    ----------
    of_row : ndarray of int
        Bin of each row.
    population : ndarray
        Share of the population in each bin.
    positives : ndarray
        The same of those that are positive, not yet held against `population`.
    predicted : ndarray
        The same according to the probabilities.
    prior : float
        The class prior in use.
    """

    of_row: NDArray[np.intp]
    population: Array
    positives: Array
    predicted: Array
    prior: float

    def mismatch(self, sample: PUSample) -> PriorMismatchWarning | None:
        share = np.minimum(self.positives / self.prior, 1.0)
        return excess_warning(
            sample,
            self.prior,
            share,
            self.population,
            lambda k: f"In bin {k + 1} of {len(share)} probabilities",
        )


def probability_bins(
    sample: PUSample, prob: Array, prior: float, *, n_bins: int = 10, strategy: str = "quantile"
) -> Bins:
    check.integer("n_bins", n_bins, 1)
    check.one_of("strategy", strategy, STRATEGIES)
    inner = np.arange(1, n_bins) / n_bins
    if strategy == "quantile":
        order = np.argsort(prob)
        share = np.cumsum(sample.population[order])
        # A share reached but for rounding is reached.
        inner = np.unique(prob[order][np.searchsorted(share, inner - 1e-9)])
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
    """Sum over bins of |positives - predicted|, where bins hold no more positives than rows.

    To first order the signs of the differences stay, and so does which bins are full of positives.
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
    "probability",
    _calibration_error,
    greater_is_better=False,
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
    n_bins: int = 10,
    strategy: str = "quantile",
) -> float:
    """Expected calibration error: the mean distance of probabilities and shares of positives.

    Both are means over bins of probabilities, weighted by the share of the population in each.
    Chance makes every distance larger, so even a perfect calibration has an error above 0, and
    the more so the more bins and the fewer labeled rows there are.

    Parameters
    ----------
    %y_true, y_prob, prior, scenario, sample_weight, propensity, n_bins, strategy%

    Returns
    -------
    float
        A number between 0 and 1; less is better.

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
    n_bins: int = 10,
    strategy: str = "quantile",
) -> tuple[Array, Array]:
    """Shares of positives in bins of probabilities: π P_P(bin) / P_U(bin).

    Shares are clipped to 1. A `PriorMismatchWarning` comes where one is above 1 by more than chance
    explains. Bins that hold no row of the population are left out.

    Parameters
    ----------
    %y_true, y_prob, prior, scenario, sample_weight, propensity, n_bins, strategy%

    Returns
    -------
    prob_true : ndarray
        Estimated share of positives in each bin.
    prob_pred : ndarray
        Mean probability of the population there.

    Examples
    --------
    >>> from puforest.metrics import pu_reliability_curve
    >>> y_true, y_prob = [1, 1, 0, 0, 0, 0], [0.9, 0.6, 0.8, 0.4, 0.2, 0.2]
    >>> prob_true, prob_pred = pu_reliability_curve(y_true, y_prob, prior=0.4, n_bins=2)
    >>> prob_true.round(2).tolist(), prob_pred.round(2).tolist()
    ([0.0, 0.8], [0.2, 0.6])
    """
    rows = judged(
        CALIBRATION_ERROR,
        y_true,
        y_prob,
        prior=prior,
        scenario=scenario,
        sample_weight=sample_weight,
        propensity=propensity,
    )
    bins = probability_bins(rows.sample, rows.values, rows.prior, n_bins=n_bins, strategy=strategy)
    mismatch = bins.mismatch(rows.sample)
    if mismatch is not None:
        warnings.warn(mismatch, stacklevel=2)
    there = bins.population > 0
    population = bins.population[there]
    observed = np.minimum(bins.positives[there] / population, 1)
    return observed, bins.predicted[there] / population
