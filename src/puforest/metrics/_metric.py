"""Metrics as estimates with an influence function and a valid range.

A metric is written once, as a function from a sample to an `Estimate`. Its value, the warning when
it leaves its range, its interval and its scorer all follow from that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from puforest import _validation as check
from puforest._masses import ROUNDING
from puforest._sample import PUSample, pu_sample
from puforest._warnings import warn

Array = NDArray[np.float64]

# An excess of this many standard errors is not chance, even as the largest along a whole curve.
CLEAR_EXCESS = 4.0


class PriorMismatchWarning(UserWarning):
    """Warning that an estimate is outside its valid range, for example due to a wrong prior."""


@dataclass(frozen=True)
class Estimate:
    """A value and the first-order contribution of each row to it.

    Attributes
    ----------
    value : float
        The estimate, not yet clipped.
    on_positives, on_population : ndarray
        Derivatives of the value with respect to its means over the positives and over the
        population, times each row's own contribution: the input of `PUSample.standard_error`.
    warning : Warning, optional
        Warning to show with the value.
    """

    value: float
    on_positives: Array
    on_population: Array
    warning: Warning | None = None


@dataclass(frozen=True)
class Metric:
    """A metric and its description.

    Attributes
    ----------
    name : str
        Name for scorers, intervals and messages.
    label : str
        Name for tables and charts.
    description : str
        The metric in a few words, for tables.
    reads : {"prediction", "score", "probability", "decision"}
        Model output that it evaluates.
    estimate : callable
        Function from a `PUSample`, the model output, the prior and the options to an `Estimate`.
    low, high : float
        Range of the true value.
    greater_is_better : bool
        False for losses.
    needs_prior : bool
        Whether the value depends on the class prior.
    monotone_in_prior : bool
        Whether it only rises or only falls with the prior, so that it is extreme at the ends of an
        interval.
    options : tuple of str
        Names of further arguments of `estimate`.
    """

    name: str
    label: str
    description: str
    reads: str
    estimate: Callable[..., Estimate]
    low: float = 0.0
    high: float = 1.0
    greater_is_better: bool = True
    needs_prior: bool = True
    monotone_in_prior: bool = True
    options: tuple[str, ...] = ()

    def clip(self, value: float) -> float:
        return float(np.clip(value, self.low, self.high))

    def require_options(self, options: Mapping[str, Any]) -> None:
        for name in options:
            if name not in self.options:
                known = ", ".join(self.options) or "none"
                raise TypeError(f"{name!r} is not an option of {self.name}; its options: {known}")


@dataclass(frozen=True)
class EvaluationSet:
    """PU data with the output of a classifier for each row, and the class prior.

    The weights of the sample are those for the prior.
    """

    sample: PUSample
    values: Array
    prior: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "sample", self.sample.at(self.prior))

    def estimate(self, metric: Metric, **options: Any) -> Estimate:
        """Estimate a metric, with a warning if it leaves its range."""
        data = self.for_metric(metric)
        found = metric.estimate(data.sample, data.values, data.prior, **options)
        bound = metric.clip(found.value)
        if np.isnan(bound) or abs(found.value - bound) <= ROUNDING:
            return found
        error = self.center_and_error(metric, **options)[1]
        distance = abs(found.value - bound) / error if error > 0 else np.inf
        cause = "This may be chance." if distance < 2 else _cause(self.prior)
        message = (
            f"{metric.name} was estimated as {found.value:.4g} and clipped to {bound:g}, "
            f"{distance:.1f} standard errors away. {cause}"
        )
        return replace(found, warning=PriorMismatchWarning(message))

    def center_and_error(self, metric: Metric, **options: Any) -> tuple[float, float]:
        """Center and standard error of the sampling distribution of a metric."""
        return self.for_metric(metric).padded_for(metric).value_and_error(metric, **options)

    def value_and_error(self, metric: Metric, **options: Any) -> tuple[float, float]:
        """Value of a metric, not clipped, and its standard error."""
        found = metric.estimate(self.sample, self.values, self.prior, **options)
        return found.value, self.sample.standard_error(found.on_positives, found.on_population)

    def padded_for(self, metric: Metric) -> EvaluationSet:
        """Add pseudo-rows if the metric depends on fractions of predicted classes."""
        return self.with_pseudo_rows() if metric.reads == "prediction" else self

    def for_metric(self, metric: Metric) -> EvaluationSet:
        """Return the data without the prior if the metric does not depend on it.

        The weights of checked rows would; they are then those for the prior that checks imply.
        """
        if metric.needs_prior or self.sample.checks is None:
            return self
        return replace(self, sample=self.sample.at_implied_prior(), prior=np.nan)

    def with_pseudo_rows(self) -> EvaluationSet:
        """Add one positive and one negative prediction to both samples.

        A fraction of k out of n rows becomes (k + 1) / (n + 2), and has a standard error above 0
        even if all predictions are equal. Agresti and Caffo (2000) found that intervals for such
        proportions, and for differences of two, have the right coverage for as few as ten rows.
        """
        return replace(
            self,
            sample=self.sample.with_pseudo_rows(),
            values=np.append(self.values, [1.0, 0.0, 1.0, 0.0]),
        )


def _cause(prior: float) -> str:
    # With U = π P + (1 - π) N, only a π that is too large moves a fraction of N out of [0, 1].
    return (
        f"prior={prior:g} is too large for this data, or the labeled rows are not a random sample "
        "of the positives (pass propensity), or scenario does not match how the data was "
        "collected, or the model was fitted to these rows."
    )


def excess_warning(
    sample: PUSample, prior: float, r: Array, q: Array, where: Callable[[int], str]
) -> PriorMismatchWarning | None:
    """Warn of regions that hold significantly more positives than rows.

    `r` and `q` are the fractions of the positives and of the population in each region. The
    variance is that of ``prior * r - q`` for q equal to ``prior * r``; rows that are in both
    samples only lower it.
    """
    mass = prior * r
    variance = prior**2 * r * (1 - r) * (sample.positive @ sample.positive)
    variance += mass * (1 - mass) * (sample.population @ sample.population)
    excess = np.divide(mass - q, np.sqrt(variance), out=np.zeros(len(r)), where=variance > 0)
    worst = int(np.argmax(excess))
    if excess[worst] < CLEAR_EXCESS:
        return None
    return PriorMismatchWarning(
        f"{where(worst)}, positives should make up {mass[worst]:.4g} of the population, but all "
        f"rows together make up only {q[worst]:.4g}, {excess[worst]:.1f} standard errors less. "
        f"{_cause(prior)}"
    )


# From user input to the input of a metric


def evaluation_set(
    metric: Metric,
    y_true: ArrayLike,
    y: ArrayLike,
    *,
    prior: Any,
    scenario: str,
    sample_weight: ArrayLike | None,
    propensity: ArrayLike | None,
    checked: ArrayLike | None,
    check_probability: ArrayLike | None,
) -> EvaluationSet:
    sample = pu_sample(
        y_true,
        scenario=scenario,
        sample_weight=sample_weight,
        propensity=propensity,
        checked=checked,
        check_probability=check_probability,
    )
    known = sample.class_prior(prior) if metric.needs_prior else np.nan
    return EvaluationSet(sample, read_values(metric.reads, y_true, y), known)


def read_values(reads: str, y_true: ArrayLike, y: ArrayLike) -> Array:
    if reads == "prediction":
        return predicted_positive(y_true, y)
    n = len(check.label_vector(y_true))
    if reads != "probability":
        return check.vector("y_score", y, n, finite=True)
    prob = check.vector("y_prob", y, n, finite=True)
    for bad in prob[(prob < 0) | (prob > 1)][:1]:
        raise ValueError(
            f"y_prob must hold probabilities between 0 and 1, got {bad:g}: pass the second column "
            "of predict_proba, or calibrate the scores first"
        )
    return prob


def predicted_positive(y_true: ArrayLike, y_pred: ArrayLike) -> Array:
    """Encode predictions: 1 for the larger class of `y_true`, 0 for the smaller."""
    unlabeled, labeled = np.unique(check.label_vector(y_true))
    check.refuse_masked(y_pred, "y_pred")
    pred = np.asarray(y_pred)
    n = len(check.label_vector(y_true))
    if pred.shape != (n,):
        raise ValueError(f"y_pred must have the shape ({n},), got {pred.shape}")
    positive = np.asarray(pred == labeled)
    for bad in pred[~(positive | np.asarray(pred == unlabeled))][:1].tolist():
        raise ValueError(
            f"y_pred must hold the classes of y_true, {unlabeled.item()!r} and "
            f"{labeled.item()!r}, got {bad!r}: apply a threshold to scores first"
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
    checked: ArrayLike | None,
    check_probability: ArrayLike | None,
    **options: Any,
) -> float:
    """Compute a metric, clipped to its range; warnings point at the caller's caller."""
    data = evaluation_set(
        metric,
        y_true,
        y,
        prior=prior,
        scenario=scenario,
        sample_weight=sample_weight,
        propensity=propensity,
        checked=checked,
        check_probability=check_probability,
    )
    found = data.estimate(metric, **options)
    if found.warning is not None:
        warn(found.warning)
    return metric.clip(found.value)
