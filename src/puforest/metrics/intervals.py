"""How sure a metric is: intervals by the delta method or the bootstrap."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import norm

from puforest import _validation as check
from puforest._sample import PUSample
from puforest.metrics._docs import documented
from puforest.metrics._metric import Estimate, Judged, Metric, judged
from puforest.metrics._registry import find_metric

__all__ = ["Interval", "pu_interval"]

METHODS = ("formula", "bootstrap")


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
    method : {"formula", "bootstrap"}
        How it was found.
    """

    value: float
    low: float
    high: float
    standard_error: float
    confidence: float
    method: str


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
        if not check.is_real(self.confidence) or not 0 < self.confidence < 1:
            raise ValueError(
                f"confidence must be a number between 0 and 1, such as 0.95, "
                f"got {self.confidence!r}"
            )

    def priors(self, rows: Judged) -> list[float]:
        """The prior, and the ends of its own interval."""
        if self.prior_interval is None:
            return [rows.prior]
        low, high = (rows.with_prior(end).prior for end in self.prior_interval)
        if not low <= rows.prior <= high:
            raise ValueError(
                f"prior_interval must hold prior={rows.prior:g}, got {self.prior_interval!r}"
            )
        return [rows.prior, low, high]


def resamples(sample: PUSample, n_resamples: int, random_state: Any) -> Iterator[PUSample]:
    """Samples drawn with replacement, as other weights of the same rows.

    The rows of a single training set are drawn together; draws without a labelled row, from
    which nothing could be estimated, are drawn again.
    """
    rng = check.random_state(random_state)
    there = (sample.positive > 0) | (sample.population > 0)
    if sample.scenario == "single-training-set":
        groups = [np.flatnonzero(there)]
    else:
        groups = [np.flatnonzero(there & part) for part in (sample.labelled, ~sample.labelled)]
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
    found = [replace(rows, prior=prior).estimate(metric, **options) for prior in priors]
    if settings.method == "formula":
        reach = norm.ppf((1 + settings.confidence) / 2)
        errors = [rows.standard_error(estimate) for estimate in found]
        lows = [e.value - reach * error for e, error in zip(found, errors, strict=True)]
        highs = [e.value + reach * error for e, error in zip(found, errors, strict=True)]
    else:
        drawn = np.array(
            [
                [metric.estimate(sample, rows.values, prior, **options).value for prior in priors]
                for sample in resamples(rows.sample, settings.n_resamples, settings.random_state)
            ]
        )
        errors = drawn.std(axis=0, ddof=1).tolist()
        # The basic bootstrap: errors of draws against the estimate stand for its own against the
        # truth, biases included, before anything is clipped.
        tails = [(1 + settings.confidence) / 2, (1 - settings.confidence) / 2]
        upper, lower = np.quantile(drawn, tails, axis=0)
        values = np.array([estimate.value for estimate in found])
        lows, highs = (2 * values - upper).tolist(), (2 * values - lower).tolist()
    low, high = min(lows), max(highs)
    interval = Interval(
        value=metric.clip(found[0].value),
        low=metric.low if np.isnan(low) else metric.clip(low),
        high=metric.high if np.isnan(high) else metric.clip(high),
        standard_error=float(errors[0]),
        confidence=float(settings.confidence),
        method=settings.method,
    )
    return found[0], interval


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
    method: str = "formula",
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
    Both methods are right for many rows. Where a rate is 0 or 1 on all rows, both give an interval
    without width, and with a handful of labelled rows both are too short. The calibration error
    has no honest interval near 0.

    Examples
    --------
    >>> import numpy as np
    >>> from puforest.metrics import pu_interval
    >>> y_true = np.repeat([1, 0], [100, 400])
    >>> y_pred = np.concatenate([np.repeat([1, 0], [80, 20]), np.repeat([1, 0], [120, 280])])
    >>> found = pu_interval("accuracy", y_true, y_pred, prior=0.3)
    >>> round(found.value, 3), round(found.low, 3), round(found.high, 3)
    (0.88, 0.815, 0.945)
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
