"""Confidence intervals of metrics, by the delta method or the bootstrap."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import norm
from sklearn.exceptions import UndefinedMetricWarning

from puforest import _validation as check
from puforest._confidence import CONFIDENCE
from puforest._rounding import fraction_text, range_text
from puforest._sample import PUSample, pu_sample
from puforest._warnings import warn
from puforest.metrics._docs import documented
from puforest.metrics._metric import Estimate, EvaluationSet, Metric, read_values
from puforest.metrics._prior import MetricPrior, depends_text
from puforest.metrics._registry import find_metric
from puforest.prior import PriorEstimate

__all__ = ["Interval", "pu_interval"]

METHODS = ("delta", "bootstrap")

# Priors in an interval that are tried for metrics that are not monotone in the prior.
N_STEPS = 11

# Stands for a prior of 0, at which some formulas divide by 0.
NEARLY_ZERO = 1e-6


@dataclass(frozen=True)
class Interval:
    """A metric with its confidence interval.

    Attributes
    ----------
    value : float
        Value of the metric.
    low, high : float
        Ends of the interval.
    standard_error : float
        Standard error of the value for a known prior.
    confidence : float
        Confidence level.
    method : {"delta", "bootstrap"}
        Method of the interval.
    unclipped : float
        Estimate before it was clipped to the range of the metric.
    prior_bound : float or None
        Upper limit of the prior if the data only bounds it and the metric depends on it. Then
        `low` and `high` are the range over all possible priors, and `value` is only the value for
        one of them.
    """

    value: float
    low: float
    high: float
    standard_error: float
    confidence: float
    method: str
    unclipped: float
    prior_bound: float | None = None

    @property
    def clipped(self) -> bool:
        """True if the estimate was outside the range of the metric, such as a precision above 1."""
        return self.value != self.unclipped

    @property
    def is_range(self) -> bool:
        """True if the metric depends on a prior that the data only bounds."""
        return self.prior_bound is not None

    @property
    def value_text(self) -> str:
        """The value, with the digits that the interval supports; "range" if there is only one."""
        return "range" if self.is_range else fraction_text(self.value, self.low, self.high)

    @property
    def range_text(self) -> str:
        """The interval, with the digits that it supports."""
        return range_text(self.low, self.high)

    def __str__(self) -> str:
        if self.prior_bound is not None:
            return f"{self.range_text} ({depends_text(self.prior_bound)})"
        return f"{self.value_text} ({100 * self.confidence:g}% interval {self.range_text})"


@dataclass(frozen=True)
class IntervalSettings:
    """Settings of the intervals, shared by many metrics."""

    confidence: float
    method: str
    prior_interval: tuple[float, float] | None
    n_resamples: int
    random_state: Any
    prior_bound: float | None = None

    @classmethod
    def for_prior(
        cls,
        prior: MetricPrior,
        confidence: float = CONFIDENCE,
        method: str = "delta",
        n_resamples: int = 999,
        random_state: Any = None,
    ) -> IntervalSettings:
        """Settings for unions over the interval of a prior."""
        return cls(confidence, method, prior.interval, n_resamples, random_state, prior.bound)

    def __post_init__(self) -> None:
        check.one_of("method", self.method, METHODS)
        check.integer("n_resamples", self.n_resamples, 2)
        check.fraction("confidence", self.confidence)

    def priors(self, metric: Metric, data: EvaluationSet) -> list[float]:
        """The prior, and those of its interval at which the metric may be extreme."""
        if self.prior_interval is None or not metric.needs_prior:
            return [data.prior]
        ends = np.asarray(self.prior_interval)
        if ends.shape != (2,):
            raise ValueError(
                "prior_interval must be a tuple of the smallest and the largest prior, such as "
                f"(0.2, 0.4), got {self.prior_interval!r}"
            )
        low, high = ends.tolist()
        if low == 0:  # the lower end of an upper bound in case-control data
            low = NEARLY_ZERO
        low, high = (data.sample.class_prior(end) for end in (low, high))
        if not low <= data.prior <= high:
            raise ValueError(
                f"prior_interval must contain prior={data.prior:g}, got {self.prior_interval!r}"
            )
        if metric.monotone_in_prior:
            return [data.prior, low, high]
        return [data.prior, *np.linspace(low, high, N_STEPS).tolist()]


def resamples(sample: PUSample, n_resamples: int, random_state: Any) -> Iterator[PUSample]:
    """Draw bootstrap samples, as new weights of the same rows.

    The rows of a single training set are drawn together. Draws without a labeled row are repeated.
    """
    rng = check.random_state(random_state)
    labeled_weight = sample.labeled_weight
    counted = (labeled_weight > 0) | (sample.population > 0)
    if sample.scenario == "single-training-set":
        groups = [np.flatnonzero(counted)]
    else:
        groups = [np.flatnonzero(counted & part) for part in (sample.labeled, ~sample.labeled)]
    drawn = 0
    while drawn < n_resamples:
        rows = np.concatenate([g[rng.randint(len(g), size=len(g))] for g in groups])
        count = np.bincount(rows, minlength=len(sample))
        positive, population = labeled_weight * count, sample.population * count
        if positive.any():
            drawn += 1
            yield sample.reweighted(positive, population)


def estimate_interval(
    metric: Metric, data: EvaluationSet, settings: IntervalSettings, **options: Any
) -> tuple[Estimate, Interval]:
    """Estimate a metric, with an interval that covers those for all plausible priors."""
    priors = settings.priors(metric, data)
    found = data.estimate(metric, **options)
    padded = data.padded_for(metric)
    centers, errors = np.transpose(
        [replace(padded, prior=prior).value_and_error(metric, **options) for prior in priors]
    )
    if settings.method == "delta":
        reach = norm.ppf((1 + settings.confidence) / 2) * errors
        lows, highs = centers - reach, centers + reach
    else:
        drawn = np.array(
            [
                [
                    metric.estimate(sample.at(prior), padded.values, prior, **options).value
                    for prior in priors
                ]
                for sample in resamples(padded.sample, settings.n_resamples, settings.random_state)
            ]
        )
        errors = drawn.std(axis=0, ddof=1)
        tails = [(1 + settings.confidence) / 2, (1 - settings.confidence) / 2]
        upper, lower = np.quantile(drawn, tails, axis=0)
        if padded is not data:
            # Percentiles: near a bound, the draws extend away from it, and so must the interval.
            lows, highs = lower, upper
        else:
            # The basic bootstrap: errors of the draws relative to the estimate stand for its own
            # error, bias included, before anything is clipped.
            lows, highs = 2 * centers - upper, 2 * centers - lower
    # With fractions of 0 or 1, the center differs from the value.
    low, high = np.append(lows, found.value).min(), np.append(highs, found.value).max()
    if isinstance(found.warning, UndefinedMetricWarning):
        low, high = metric.low, metric.high
    interval = Interval(
        value=metric.clip(found.value),
        low=metric.low if np.isnan(low) else metric.clip(low),
        high=metric.high if np.isnan(high) else metric.clip(high),
        standard_error=float(errors[0]),
        confidence=float(settings.confidence),
        method=settings.method,
        unclipped=float(found.value),
        prior_bound=settings.prior_bound if metric.needs_prior else None,
    )
    return found, interval


@documented
def pu_interval(
    metric: str,
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    prior: float | PriorEstimate | None = None,
    scenario: str = "case-control",
    sample_weight: ArrayLike | None = None,
    propensity: ArrayLike | None = None,
    checked: ArrayLike | None = None,
    check_probability: ArrayLike | None = None,
    confidence: float = CONFIDENCE,
    method: str = "delta",
    prior_interval: tuple[float, float] | None = None,
    n_resamples: int = 999,
    random_state: int | np.random.RandomState | None = None,
    **options: Any,
) -> Interval:
    """Compute a metric with a confidence interval.

    The interval reflects the sampling of the rows for a known prior. The prior is often the largest
    source of uncertainty. To include it, pass a `PriorEstimate` as `prior`: the interval is then
    the union of those for all priors in the interval of the estimate.

    Parameters
    ----------
    metric : str
        One of `get_scorer_names`, such as "pu_f1", or "f1" for short. Losses are not negated.
    %y_true%
    y_pred : array-like of shape (n_samples,)
        Predicted classes, scores, probabilities or decision values, depending on the metric.
    prior : float or PriorEstimate, optional
        Class prior, required by all metrics except "pu_recall" and "lee_liu".
    %scenario, sample_weight, propensity, checked, check_probability%
    %confidence, method, prior_interval, n_resamples%
    %random_state%
    **options
        Further arguments of the metric, such as ``n_bins`` or ``loss``.

    Returns
    -------
    Interval

    Notes
    -----
    Metrics of predicted classes depend on fractions of rows. For correct coverage near 0 and 1,
    such as a recall of 1 on few labeled rows, both methods add four pseudo-rows: one predicted
    positive and one predicted negative, in the sample of the positives and in that of the
    population (Agresti and Caffo, 2000). The value is therefore not always at the center of the
    interval.

    For scores and probabilities, both methods are asymptotic: their intervals are too short if
    there are only a few labeled rows. Intervals are unreliable for a calibration error near 0 and
    for an average precision near 1.

    Examples
    --------
    >>> import numpy as np
    >>> from puforest.metrics import pu_interval
    >>> y_true = np.repeat([1, 0], [100, 400])
    >>> y_pred = np.concatenate([np.repeat([1, 0], [80, 20]), np.repeat([1, 0], [120, 280])])
    >>> found = pu_interval("accuracy", y_true, y_pred, prior=0.3)
    >>> round(found.value, 3), round(found.low, 3), round(found.high, 3)
    (0.88, 0.81, 0.94)
    >>> print(found)
    0.88 (95% interval 0.81 to 0.94)
    """
    known = find_metric(metric)
    known.require_options(options)
    sample = pu_sample(
        y_true,
        scenario=scenario,
        sample_weight=sample_weight,
        propensity=propensity,
        checked=checked,
        check_probability=check_probability,
    )
    assumed = MetricPrior(np.nan)
    if known.needs_prior:
        assumed = MetricPrior.read(sample, prior, prior_interval)
    settings = IntervalSettings.for_prior(assumed, confidence, method, n_resamples, random_state)
    data = EvaluationSet(sample, read_values(known.reads, y_true, y_pred), assumed.value)
    found, interval = estimate_interval(known, data, settings, **options)
    if found.warning is not None:
        warn(found.warning)
    return interval
