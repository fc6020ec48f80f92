"""What a metric is: an estimate with the share of each row in it, and the range it must keep.

A metric is written once, as a function from a sample to an `Estimate`. The value, the warning
where it leaves its range, the interval and the scorer all follow from that.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import column_or_1d

from puforest import _validation as check
from puforest._sample import ROUNDING, PUSample, pu_sample

Array = NDArray[np.float64]

# Excesses of so many standard errors are no chance, even as the largest along a whole curve.
CLEAR_EXCESS = 4.0


class PriorMismatchWarning(UserWarning):
    """An estimate left the range that it must keep: prior, scenario and labels do not agree."""


@dataclass(frozen=True)
class Estimate:
    """A value, and what each row adds to it to first order.

    Attributes
    ----------
    value : float
        The estimate, not yet clipped.
    on_positives, on_population : ndarray
        Derivatives of the value by the means over the positives and over the population that it
        is made of, times the row's own contribution to each: what `PUSample.standard_error` takes.
    warning : Warning, optional
        What the user should know about the value.
    """

    value: float
    on_positives: Array
    on_population: Array
    warning: Warning | None = None


@dataclass(frozen=True)
class Metric:
    """A metric, by name.

    Attributes
    ----------
    name : str
        Name for scorers, intervals and messages.
    reads : {"prediction", "score", "probability", "decision"}
        What it judges.
    estimate : callable
        From a `PUSample`, the values judged, the prior and the options to an `Estimate`.
    low, high : float
        Range that the true value cannot leave.
    greater_is_better : bool
        Whether it is a merit, or else a loss.
    needs_prior : bool
        Whether the prior matters.
    options : tuple of str
        Names of further arguments of `estimate`.
    """

    name: str
    reads: str
    estimate: Callable[..., Estimate]
    low: float = 0.0
    high: float = 1.0
    greater_is_better: bool = True
    needs_prior: bool = True
    options: tuple[str, ...] = ()

    def clip(self, value: float) -> float:
        return float(np.clip(value, self.low, self.high))

    def require_options(self, options: Mapping[str, Any]) -> None:
        for name in options:
            if name not in self.options:
                known = ", ".join(self.options) or "none"
                raise TypeError(f"{name!r} is no option of {self.name}, which has: {known}")


@dataclass(frozen=True)
class Judged:
    """Rows to judge by, and what a classifier says about them."""

    sample: PUSample
    values: Array
    prior: float

    def estimate(self, metric: Metric, **options: Any) -> Estimate:
        """Estimate a metric, with a warning where it leaves its range."""
        found = metric.estimate(self.sample, self.values, self.prior, **options)
        bound = metric.clip(found.value)
        if np.isnan(bound) or abs(found.value - bound) <= ROUNDING:
            return found
        error = self.spread(metric, **options)[1]
        distance = abs(found.value - bound) / error if error > 0 else np.inf
        cause = "So little may be chance." if distance < 2 else _cause(self.prior)
        message = (
            f"{metric.name} came out as {found.value:.4g} and was clipped to {bound:g}, "
            f"{distance:.1f} standard errors away. {cause}"
        )
        return replace(found, warning=PriorMismatchWarning(message))

    def spread(self, metric: Metric, **options: Any) -> tuple[float, float]:
        """Center and standard error of what the metric may be."""
        rows = self.softened() if metric.reads == "prediction" else self
        found = metric.estimate(rows.sample, rows.values, rows.prior, **options)
        return found.value, rows.sample.standard_error(found.on_positives, found.on_population)

    def softened(self) -> Judged:
        """Predictions, with one more row of each answer in both samples.

        A share of k out of n rows thus becomes (k + 1) / (n + 2), and has a standard error above 0
        even where all answers are the same. Agresti and Caffo (2000) found intervals around
        such shares, and differences of two, to cover as they should for as few as ten rows.
        """
        return replace(
            self,
            sample=self.sample.with_pseudo_rows(),
            values=np.append(self.values, [1.0, 0.0, 1.0, 0.0]),
        )


def _cause(prior: float) -> str:
    # With U = π P + (1 - π) N, only a π too large makes a share of N leave [0, 1].
    return (
        f"prior={prior:g} is too large for these rows, or the labeled rows are no random sample "
        "of the positives (give propensity), or scenario is not how the rows came about."
    )


def excess_warning(
    sample: PUSample, prior: float, r: Array, q: Array, where: Callable[[int], str]
) -> PriorMismatchWarning | None:
    """Warn of regions that hold clearly more positives than rows.

    `r` and `q` are the shares of the positives and of the population in each region. The variance
    is that of ``prior * r - q`` where q is just ``prior * r``; rows in both samples only lower it.
    """
    mass = prior * r
    variance = prior**2 * r * (1 - r) * (sample.positive @ sample.positive)
    variance += mass * (1 - mass) * (sample.population @ sample.population)
    excess = np.divide(mass - q, np.sqrt(variance), out=np.zeros(len(r)), where=variance > 0)
    worst = int(np.argmax(excess))
    if excess[worst] < CLEAR_EXCESS:
        return None
    return PriorMismatchWarning(
        f"{where(worst)} there should be {mass[worst]:.4g} of the population as positives, but "
        f"only {q[worst]:.4g} of it is there, {excess[worst]:.1f} standard errors less. "
        f"{_cause(prior)}"
    )


# From what users give to what a metric reads


def judged(
    metric: Metric,
    y_true: ArrayLike,
    y: ArrayLike,
    *,
    prior: Any,
    scenario: str,
    sample_weight: ArrayLike | None,
    propensity: ArrayLike | None,
) -> Judged:
    sample = pu_sample(
        y_true, scenario=scenario, sample_weight=sample_weight, propensity=propensity
    )
    known = sample.class_prior(prior) if metric.needs_prior else np.nan
    return Judged(sample, read_values(metric.reads, y_true, y), known)


def read_values(reads: str, y_true: ArrayLike, y: ArrayLike) -> Array:
    if reads == "prediction":
        return called_positive(y_true, y)
    n = len(column_or_1d(y_true))
    if reads != "probability":
        return check.vector("y_score", y, n, finite=True)
    prob = check.vector("y_prob", y, n, finite=True)
    for bad in prob[(prob < 0) | (prob > 1)][:1]:
        raise ValueError(
            f"y_prob must hold probabilities between 0 and 1, got {bad:g}: give the second column "
            "of predict_proba, or calibrate scores first"
        )
    return prob


def called_positive(y_true: ArrayLike, y_pred: ArrayLike) -> Array:
    """1 where the prediction is the larger class of `y_true`, 0 where it is the smaller."""
    unlabeled, labeled = np.unique(column_or_1d(y_true))
    check.refuse_masked(y_pred, "y_pred")
    pred = np.asarray(y_pred)
    n = len(column_or_1d(y_true))
    if pred.shape != (n,):
        raise ValueError(f"y_pred must have the shape ({n},), got {pred.shape}")
    positive = np.asarray(pred == labeled)
    for bad in pred[~(positive | np.asarray(pred == unlabeled))][:1].tolist():
        raise ValueError(
            f"y_pred must hold the classes of y_true, {unlabeled.item()!r} and "
            f"{labeled.item()!r}, got {bad!r}: compare scores with a threshold first"
        )
    return positive.astype(float)


def score(
    metric: Metric,
    y_true: ArrayLike,
    y: ArrayLike,
    *,
    prior: Any,
    scenario: str,
    sample_weight: ArrayLike | None,
    propensity: ArrayLike | None,
    **options: Any,
) -> float:
    """The value of a metric within its range; warns in the name of the caller's caller."""
    rows = judged(
        metric,
        y_true,
        y,
        prior=prior,
        scenario=scenario,
        sample_weight=sample_weight,
        propensity=propensity,
    )
    found = rows.estimate(metric, **options)
    if found.warning is not None:
        warnings.warn(found.warning, stacklevel=3)
    return metric.clip(found.value)
