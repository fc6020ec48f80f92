"""How sure a metric is: intervals by the delta method or the bootstrap."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import norm
from sklearn.exceptions import UndefinedMetricWarning

from puforest import _validation as check
from puforest._sample import PUSample
from puforest.metrics._docs import documented
from puforest.metrics._metric import Estimate, Judged, Metric, judged
from puforest.metrics._registry import find_metric

__all__ = ["Interval", "pu_interval"]

METHODS = ("delta", "bootstrap")


@dataclass(frozen=True)
class Interval:
    """A value and the interval around it.

    Attributes
    ----------
    value : float
        The metric.
    low, high : float
        Ends of the interval.
    standard_error : float
        Standard error of the value, with the prior taken as known.
    confidence : float
        Probability with which such intervals cover the truth.
    method : {"delta", "bootstrap"}
        How it was found.
    unclipped : float
        What the metric came out as, before it was clipped to what is possible.
    """

    value: float
    low: float
    high: float
    standard_error: float
    confidence: float
    method: str
    unclipped: float

    @property
    def clipped(self) -> bool:
        """Whether the metric came out as something impossible, such as a precision above 1."""
        return self.value != self.unclipped


@dataclass(frozen=True)
class IntervalSettings:
    """How to find intervals; one of these serves many metrics."""

    confidence: float
    method: str
    prior_interval: tuple[float, float] | None
    n_resamples: int
    random_state: Any

    def __post_init__(self) -> None:
        check.one_of("method", self.method, METHODS)
        check.integer("n_resamples", self.n_resamples, 2)
        check.fraction("confidence", self.confidence)

    def priors(self, rows: Judged) -> list[float]:
        """The prior, and the ends of its own interval."""
        if self.prior_interval is None:
            return [rows.prior]
        ends = np.asarray(self.prior_interval)
        if ends.shape != (2,):
            raise ValueError(
                "prior_interval must be a lowest and a highest prior, such as (0.2, 0.4), "
                f"got {self.prior_interval!r}"
            )
        low, high = (rows.sample.class_prior(end) for end in ends.tolist())
        if not low <= rows.prior <= high:
            raise ValueError(
                f"prior_interval must hold prior={rows.prior:g}, got {self.prior_interval!r}"
            )
        return [rows.prior, low, high]


def resamples(sample: PUSample, n_resamples: int, random_state: Any) -> Iterator[PUSample]:
    """Samples drawn with replacement, as other weights of the same rows.

    The rows of a single training set are drawn together; draws without a labeled row, from
    which nothing could be estimated, are drawn again.
    """
    rng = check.random_state(random_state)
    there = (sample.positive > 0) | (sample.population > 0)
    if sample.scenario == "single-training-set":
        groups = [np.flatnonzero(there)]
    else:
        groups = [np.flatnonzero(there & part) for part in (sample.labeled, ~sample.labeled)]
    drawn = 0
    while drawn < n_resamples:
        rows = np.concatenate([g[rng.randint(len(g), size=len(g))] for g in groups])
        count = np.bincount(rows, minlength=len(sample))
        positive, population = sample.positive * count, sample.population * count
        if positive.any():
            drawn += 1
            yield replace(
                sample,
                positive=positive / positive.sum(),
                population=population / population.sum(),
            )


def estimate_interval(
    metric: Metric, rows: Judged, settings: IntervalSettings, **options: Any
) -> tuple[Estimate, Interval]:
    """The estimate for the prior of `rows`, and the interval that covers those of all priors."""
    priors = settings.priors(rows) if metric.needs_prior else [rows.prior]
    found = rows.estimate(metric, **options)
    centers, errors = np.transpose(
        [replace(rows, prior=prior).spread(metric, **options) for prior in priors]
    )
    if settings.method == "delta":
        reach = norm.ppf((1 + settings.confidence) / 2) * errors
        lows, highs = centers - reach, centers + reach
    else:
        of_shares = metric.reads == "prediction"
        soft = rows.softened() if of_shares else rows
        drawn = np.array(
            [
                [metric.estimate(sample, soft.values, prior, **options).value for prior in priors]
                for sample in resamples(soft.sample, settings.n_resamples, settings.random_state)
            ]
        )
        errors = drawn.std(axis=0, ddof=1)
        tails = [(1 + settings.confidence) / 2, (1 - settings.confidence) / 2]
        upper, lower = np.quantile(drawn, tails, axis=0)
        if of_shares:
            # Next to a bound draws reach away from it, and so must the interval: percentiles.
            lows, highs = lower, upper
        else:
            # The basic bootstrap: errors of draws against the estimate stand for its own against
            # the truth, biases included, before anything is clipped.
            lows, highs = 2 * centers - upper, 2 * centers - lower
    # Where shares are 0 or 1, the center is off the value.
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
    )
    return found, interval


@documented
def pu_interval(
    metric: str,
    y_true: ArrayLike,
    y_judged: ArrayLike,
    *,
    prior: float | None = None,
    scenario: str = "case-control",
    sample_weight: ArrayLike | None = None,
    propensity: ArrayLike | None = None,
    confidence: float = 0.95,
    method: str = "delta",
    prior_interval: tuple[float, float] | None = None,
    n_resamples: int = 999,
    random_state: int | np.random.RandomState | None = None,
    **options: Any,
) -> Interval:
    """A metric with an interval.

    The interval is about the rows drawn, and takes the prior as known. Often the prior is what is
    least sure: give `prior_interval` too where that is so.

    Parameters
    ----------
    metric : str
        A name of `get_scorer_names`, such as "pu_f1"; "f1" will do. Losses are not negated here.
    %y_true%
    y_judged : array-like of shape (n_samples,)
        Predicted classes, scores, probabilities or decision values: what the metric takes.
    prior : float, optional
        Share of positives in the population. Only "pu_recall" and "lee_liu" do without.
    %scenario, sample_weight, propensity, confidence, method, prior_interval, n_resamples%
    %random_state%
    **options
        Further arguments of the metric, such as ``n_bins`` or ``loss``.

    Returns
    -------
    Interval

    Notes
    -----
    Predicted classes are judged by shares of rows. To keep intervals honest where these are next
    to 0 or 1, such as a recall of 1 on few labeled rows, both methods work on the rows with four
    more: one predicted positive and one negative, in the sample of the positives and in that of
    the population (Agresti and Caffo, 2000). So the value need not be in the middle.

    For scores and probabilities both methods are right for many rows, and too short with a
    handful of labeled ones. The calibration error has no honest interval near 0, nor has the
    average precision near 1.

    Examples
    --------
    >>> import numpy as np
    >>> from puforest.metrics import pu_interval
    >>> y_true = np.repeat([1, 0], [100, 400])
    >>> y_pred = np.concatenate([np.repeat([1, 0], [80, 20]), np.repeat([1, 0], [120, 280])])
    >>> found = pu_interval("accuracy", y_true, y_pred, prior=0.3)
    >>> round(found.value, 3), round(found.low, 3), round(found.high, 3)
    (0.88, 0.81, 0.94)
    """
    known = find_metric(metric)
    known.require_options(options)
    settings = IntervalSettings(confidence, method, prior_interval, n_resamples, random_state)
    rows = judged(
        known,
        y_true,
        y_judged,
        prior=prior,
        scenario=scenario,
        sample_weight=sample_weight,
        propensity=propensity,
    )
    found, interval = estimate_interval(known, rows, settings, **options)
    if found.warning is not None:
        warnings.warn(found.warning, stacklevel=2)
    return interval
