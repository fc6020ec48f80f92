"""Class priors in words and as JSON: "at most" where the data only bounds them."""

from __future__ import annotations

from typing import Any

from puforest._rounding import fraction_text, range_text
from puforest.metrics._prior import at_most
from puforest.prior import PriorEstimate

# Method of estimates from checked rows.
CHECKS = "checks"

HOW_TO_KNOW = "If you know the prior, pass it with --prior; puforest check helps to find it"


def estimate_text(estimate: PriorEstimate) -> str:
    """Describe an estimate and its interval."""
    level = f"{100 * estimate.confidence:g}%"
    if estimate.is_bound:
        return f"{at_most(estimate.upper)} ({level} limit by {estimate.method})"
    low, high = estimate.interval
    value = fraction_text(estimate.value, low, high)
    source = "from checked rows" if estimate.method == CHECKS else f"by {estimate.method}"
    return f"{value}, estimated {source}; {level} interval {range_text(low, high)}"


def prior_text(prior: float, estimate: PriorEstimate | None) -> str:
    """Describe the class prior of a model."""
    if estimate is None:
        return f"{prior:.3g}, as given"
    if estimate.is_bound:
        return f"{estimate_text(estimate)}; the model uses {prior:.3g}"
    return estimate_text(estimate)


def estimate_json(estimate: PriorEstimate) -> dict[str, Any]:
    """Convert an estimate to JSON."""
    return {
        "value": estimate.value,
        "interval": estimate.interval,
        "upper": estimate.upper,
        "kind": estimate.kind,
        "reason": estimate.reason,
        "method": estimate.method,
        "confidence": estimate.confidence,
        "label_frequency": estimate.label_frequency,
        "least_label_frequency": estimate.least_label_frequency,
        "unlabeled_prior": estimate.unlabeled_prior,
    }


def prior_json(prior: float, estimate: PriorEstimate | None) -> dict[str, Any]:
    """Return the prior of a model and its estimate for the JSON output."""
    return {
        "prior": prior,
        "prior_interval": None if estimate is None else estimate.interval,
        "prior_kind": "given" if estimate is None else estimate.kind,
        "prior_upper": None if estimate is None else estimate.upper,
    }
