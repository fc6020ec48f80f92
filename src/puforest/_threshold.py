"""Thresholds on the predicted probability: numbers, or rules applied to out-of-bag scores."""

from __future__ import annotations

import sys
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from puforest import _validation as check
from puforest._rates import f1
from puforest._score_curve import ScoreCurve

Array = NDArray[np.float64]

# Fractions that differ by less are equal.
ROUNDING = 1e-9

# A number, "prior", "f1", or "cost" and the cost of a missed positive in false positives.
Threshold: TypeAlias = float | str | tuple[str, float]


def checked_threshold(value: Any) -> Threshold:
    """Check the parameter ``threshold``; a pair may be a list."""
    if check.is_real(value):
        if not 0 <= value <= 1:
            raise ValueError(f"threshold must be between 0 and 1, got {value!r}")
        return float(value)
    if isinstance(value, str) and value in ("prior", "f1"):
        return value
    if isinstance(value, tuple | list) and len(value) == 2 and value[0] == "cost":
        ratio = value[1]
        if check.is_real(ratio) and 0 < ratio <= sys.float_info.max:
            return "cost", float(ratio)
        raise ValueError(
            "threshold=('cost', ratio): the ratio is the cost of a missed positive divided by that "
            f"of a false positive, a positive number, got {ratio!r}"
        )
    raise ValueError(
        "threshold must be a number between 0 and 1, 'prior', 'f1', or ('cost', ratio) with the "
        "cost of a missed positive divided by that of a false positive, for example ('cost', 10); "
        f"got {value!r}"
    )


def threshold_of(model: Any) -> float:
    """Return the threshold of a fitted model on ``predict_proba``; calibrated ones have 0.5."""
    return float(getattr(model, "threshold_", 0.5))


def threshold_text(model: Any) -> str:
    """Describe the threshold of a fitted model, and how it was set if it was not given."""
    rule = rule_text(getattr(model, "threshold", 0.5))
    return f"{threshold_of(model):.3g}{', ' if rule else ''}{rule}"


def rule_text(threshold: Any) -> str:
    """Describe how a threshold is set; empty for numbers."""
    rule = checked_threshold(threshold)
    if rule == "prior":
        return "so that the fraction predicted positive is the class prior"
    if rule == "f1":
        return "where F1 is largest"
    if isinstance(rule, tuple):
        return f"where the cost is least if a missed positive costs {rule[1]:g} false ones"
    return ""


def is_rule(threshold: Threshold) -> bool:
    """Return True if the threshold depends on out-of-bag scores."""
    return not isinstance(threshold, float)


def score_threshold(rule: Threshold, curve: ScoreCurve, prior: float) -> float:
    """Apply a rule to the curve of out-of-bag scores; rows with larger scores are positive.

    Minus infinity means that all rows are.
    """
    r, q = (np.append(1.0, fraction) for fraction in curve.above())
    ratio = rule[1] if isinstance(rule, tuple) else 1.0
    # Costs of the missed positives, and of the other rows that are predicted positive
    cost = ratio * prior * (1 - r) + np.maximum(0, q - prior * r)
    if rule == "prior":
        # Ties can leave out the prior. Of the next larger and the next smaller fraction, the one
        # with fewer errors is taken.
        larger, smaller = q[q >= prior - ROUNDING].min(), q[q <= prior + ROUNDING].max()
        best = np.argmin(np.where((q == larger) | (q == smaller), cost, np.inf))
    elif rule == "f1":
        best = np.argmax(f1(r, q, np.full(len(q), prior)))
    else:
        best = np.argmin(cost)
    return float(np.append(-np.inf, curve.middles())[best])
