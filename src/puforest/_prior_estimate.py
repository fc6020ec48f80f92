"""Estimates of the class prior, as values of the parameter `prior` and as results."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

ESTIMATE, UPPER_BOUND = KINDS = ("estimate", "upper bound")

# Method of estimates for new data, whose class prior may differ from that of the training data.
PRIOR_SHIFT = "prior shift"


@dataclass(frozen=True)
class PriorEstimate:
    """Class prior with its interval and the evidence for it.

    PU data alone bounds the class prior from above: any part of the negatives may be positives that
    were never labeled. The bound is close to the prior if some region of the data is nearly purely
    positive, so an estimate is called one only if there is evidence of such a region.

    It can be passed as ``prior`` to all estimators, which then use its `value`.

    Attributes
    ----------
    value : float
        Fraction of positives in the population: the point estimate that fits use.
    interval : tuple of float
        Confidence interval of the class prior. If `kind` is "upper bound", it extends from the
        smallest prior that is possible to `upper`. The smallest prior is the fraction of labeled
        rows in a single training set, and 0 in case-control data.
    upper : float
        One-sided upper confidence limit of the class prior. It is valid if the labeled rows are a
        random sample of the positives, whether or not a region is purely positive.
    kind : {"estimate", "upper bound"}
        What the data says about the prior.
    reason : str
        One sentence on why it is an estimate, or only an upper bound.
    confidence : float
        Confidence level of `interval` and of `upper`.
    method : str
        Name of the method.
    scenario : str
        Sampling scenario of the data.
    unlabeled_prior : float
        Fraction of positives among the unlabeled rows.
    label_frequency : float
        Fraction of the positives, over all rows of the data, that are labeled.
    evidence : dict
        Intermediate results of the method, drawn by `puforest.plots.plot_prior_evidence`.
    """

    value: float
    interval: tuple[float, float]
    upper: float
    kind: str
    reason: str
    confidence: float
    method: str
    scenario: str
    unlabeled_prior: float
    label_frequency: float
    evidence: dict[str, Any] = field(repr=False, compare=False, default_factory=dict)

    @property
    def is_bound(self) -> bool:
        """True if only an upper bound of the prior is known."""
        return self.kind == UPPER_BOUND

    @property
    def least_label_frequency(self) -> float:
        """Label frequency if the prior were `upper`."""
        if self.label_frequency == 0:
            return 0.0
        ratio = self.upper / self.value
        if self.scenario == "single-training-set":
            return self.label_frequency / ratio
        unlabeled = ratio * (1 - self.label_frequency)  # for each labeled row, times the frequency
        return self.label_frequency / (self.label_frequency + unlabeled)

    def __str__(self) -> str:
        level, source = f"{100 * self.confidence:g}%", f"{self.method}, {self.scenario}"
        if self.is_bound:
            return f"at most {self.upper:.3f} ({level}, {source}; point estimate {self.value:.3f})"
        low, high = self.interval
        return f"{self.value:.3f} ({level} interval {low:.3f} to {high:.3f}, {source})"


def given_estimate(prior: object) -> PriorEstimate | None:
    """Return the estimate that was given as a prior; None if it is a number or None."""
    return prior if isinstance(prior, PriorEstimate) else None


def contradiction(prior: float, estimate: PriorEstimate) -> str | None:
    """Explain how a prior contradicts an estimate; None if it does not.

    A prior below an upper bound does not contradict it: the data cannot tell positives that look
    like negatives from negatives.
    """
    level = f"{100 * estimate.confidence:g}%"
    low, high = estimate.interval
    limit, kind = (estimate.upper, "upper limit") if estimate.is_bound else (high, "interval")
    if prior > limit:
        return (
            f"the prior {prior:.3g} is above {limit:.3g}, the largest that the data supports "
            f"({level} {kind} by {estimate.method}): unless labeled rows differ from other "
            "positives, it is too large"
        )
    if not estimate.is_bound and prior < low:
        return (
            f"the prior {prior:.3g} is below the {level} interval of the estimate, {low:.3g} to "
            f"{high:.3g} by {estimate.method}: either it is too small, or some "
            "negatives cannot be told from positives"
        )
    return None
