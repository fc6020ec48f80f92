"""The class prior of metrics: a number, or an estimate with its interval."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from puforest._rounding import decimals
from puforest._sample import PUSample
from puforest.prior import PriorEstimate


@dataclass(frozen=True)
class MetricPrior:
    """Class prior and the range that it may be in.

    Attributes
    ----------
    value : float
        Prior that values of metrics are computed for.
    interval : tuple of two floats or None
        Interval of the prior; None if the value is exact.
    bound : float or None
        Upper limit of the prior if the data only bounds it.
    reason : str
        Reason why there is only a bound.
    """

    value: float
    interval: tuple[float, float] | None = None
    bound: float | None = None
    reason: str = ""

    @classmethod
    def of_estimate(
        cls, sample: PUSample, estimate: PriorEstimate, value: float | None = None
    ) -> MetricPrior:
        """Take the interval from an estimate; a value outside the interval is taken as exact.

        `value` is the prior of a model, by default that of the estimate.
        """
        known = sample.class_prior(estimate.value if value is None else value)
        interval = sample.prior_interval(estimate.interval, known)
        if interval is None or not estimate.is_bound:
            return cls(known, interval)
        return cls(known, interval, estimate.upper, estimate.reason)

    @classmethod
    def read(
        cls, sample: PUSample, prior: Any, interval: tuple[float, float] | None
    ) -> MetricPrior:
        """Read the parameters `prior` and `prior_interval` of a metric."""
        if isinstance(prior, PriorEstimate):
            if interval is not None:
                raise TypeError(
                    "prior_interval is that of the estimate passed as prior: omit it, or pass "
                    "prior as a number"
                )
            return cls.of_estimate(sample, prior)
        return cls(sample.class_prior(prior), interval)


def at_most(bound: float) -> str:
    """Write an upper limit of the prior, rounded up."""
    digits = decimals(0, bound)
    scale = 10**digits
    return f"at most {math.ceil(round(bound * scale, 6)) / scale:.{digits}f}"


def depends_text(bound: float) -> str:
    """Say why a metric is a range."""
    return f"depends on the prior, which is only bounded: {at_most(bound)}"
