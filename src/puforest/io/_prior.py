"""Conversion of estimates of the class prior to JSON and arrays, and back."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from puforest import _validation as check
from puforest._prior_estimate import KINDS, UPPER_BOUND, PriorEstimate, given_estimate
from puforest.io._fields import Fields, ensure
from puforest.io._values import restored_value, stored_value
from puforest.scenario import SCENARIOS

Arrays = dict[str, NDArray[Any]]

# Evidence is kept of best bin estimation, the method by which fits estimate the prior: points of a
# curve, and the threshold at which the estimate was made.
BEST_BIN = "bbe"
CURVE = ("thresholds", "quotient", "lower", "upper", "labeled_above", "unlabeled_above")
CHOSEN = "chosen"
PREFIX = "evidence."  # of the array names

NOT_ASSESSED = (
    "The model file was written by an earlier version of puforest, which did not look for a purely "
    "positive region."
)


def stored_prior(prior: Any) -> Any:
    """Convert the parameter `prior` to JSON; an estimate without its evidence."""
    estimate = given_estimate(prior)
    return stored_value("prior", prior) if estimate is None else {"estimate": stored_numbers(prior)}


def restored_prior(stored: Any) -> Any:
    """Restore the parameter `prior`."""
    if isinstance(stored, dict) and "estimate" in stored:
        fields = Fields("prior", stored)
        estimate = restored_numbers(fields.fields("estimate"))
        fields.finish()
        return estimate
    value = restored_value(stored)
    try:
        check.class_prior(value)
    except TypeError as error:
        raise ValueError(str(error)) from error
    return value


def stored_estimate(estimate: PriorEstimate | None, arrays: Arrays) -> dict[str, Any] | None:
    """Convert an estimate to JSON, and add its evidence to `arrays`."""
    if estimate is None:
        return None
    if estimate.method != BEST_BIN or not estimate.evidence:
        return _fields(estimate) | {"evidence": None}
    arrays |= {PREFIX + name: estimate.evidence[name] for name in CURVE}
    return _fields(estimate) | {"evidence": {CHOSEN: float(estimate.evidence[CHOSEN])}}


def with_evidence(prior: Any, estimate: PriorEstimate | None) -> Any:
    """Return the estimate, which has its evidence, if it is the given prior."""
    return estimate if given_estimate(prior) is not None and prior == estimate else prior


def _fields(estimate: PriorEstimate) -> dict[str, Any]:
    low, high = estimate.interval
    return {
        "value": float(estimate.value),
        "low": float(low),
        "high": float(high),
        "upper": float(estimate.upper),
        "kind": estimate.kind,
        "reason": estimate.reason,
        "confidence": float(estimate.confidence),
        "method": estimate.method,
        "scenario": estimate.scenario,
        "unlabeled_prior": float(estimate.unlabeled_prior),
        "label_frequency": float(estimate.label_frequency),
    }


def stored_numbers(estimate: PriorEstimate | None) -> dict[str, Any] | None:
    """Convert an estimate to JSON, without its evidence."""
    return None if estimate is None else _fields(estimate)


def restored_numbers(stored: Fields | None) -> PriorEstimate | None:
    """Restore an estimate without evidence."""
    if stored is None:
        return None
    estimate = _estimate(stored, {})
    stored.finish()
    return estimate


def restored_estimate(stored: Fields | None, arrays: Arrays, version: int) -> PriorEstimate | None:
    """Restore an estimate; takes its evidence out of `arrays`."""
    if stored is None:
        return None
    fields = stored.optional_fields("evidence")
    evidence = {} if fields is None else _restored_evidence(fields, arrays)
    estimate = _earlier_estimate(stored, evidence) if version < 3 else _estimate(stored, evidence)
    stored.finish()
    ensure(not evidence or estimate.method == BEST_BIN, f"evidence is not that of {BEST_BIN!r}")
    return estimate


def _estimate(stored: Fields, evidence: dict[str, Any]) -> PriorEstimate:
    low, high = stored.number("low", 0, 1), stored.number("high", 0, 1)
    return PriorEstimate(
        value=stored.number("value", max(low, check.TINY), high),
        interval=(low, high),
        upper=stored.number("upper", low, 1),
        kind=stored.choice("kind", KINDS),
        reason=stored.text("reason"),
        method=stored.text("method"),
        **_common(stored),
        evidence=evidence,
    )


def _earlier_estimate(stored: Fields, evidence: dict[str, Any]) -> PriorEstimate:
    """Restore an estimate from before version 3: its upper limit is valid, its lower one is not."""
    low, high = stored.number("low", 0, 1), stored.number("high", 0, 1)
    return PriorEstimate(
        value=stored.number("value", max(low, check.TINY), high),
        interval=(0.0, high),
        upper=high,
        kind=UPPER_BOUND,
        reason=NOT_ASSESSED,
        method=stored.choice("method", (BEST_BIN,)),
        **_common(stored),
        evidence=evidence,
    )


def _common(stored: Fields) -> dict[str, Any]:
    shares = ("confidence", "unlabeled_prior", "label_frequency")
    return {"scenario": stored.choice("scenario", SCENARIOS)} | {
        name: stored.number(name, 0, 1) for name in shares
    }


def _restored_evidence(stored: Fields, arrays: Arrays) -> dict[str, Any]:
    numbers = stored.numbers()
    ensure(set(numbers) == {CHOSEN}, f"evidence is not the number {CHOSEN!r}")
    curve: Arrays = {}
    for name in CURVE:
        key = PREFIX + name
        ensure(key in arrays, f"it has no array {key!r}")
        curve[name] = arrays.pop(key)
        ensure(curve[name].dtype == np.float64, f"array {key!r} is not of type float64")
    at = curve["thresholds"]
    same_length = all(len(part) == len(at) for part in curve.values())
    ensure(same_length, "the arrays of the evidence differ in length")
    ensure(bool((at[:-1] < at[1:]).all()), "thresholds of the evidence are not increasing")
    ensure(bool((at == numbers[CHOSEN]).any()), f"{CHOSEN!r} is not a threshold of the evidence")
    return curve | numbers
