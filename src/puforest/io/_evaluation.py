"""Out-of-bag predictions, their distribution and their calibration in model files."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from puforest import _validation as check
from puforest._calibrators import Sigmoid
from puforest._fit_record import OutOfBag
from puforest._score_curve import ScoreCurve
from puforest.io._fields import Fields, ensure

Arrays = dict[str, NDArray[Any]]

OUT_OF_BAG = "oob_decision_function"

CURVE = ("score", "positive", "population")
PREFIX = "curve."  # of the array names

# The fractions of a curve are normalized by their sum.
ROUNDING = 1e-6

# Scores are at most 1, so that the argument of the sigmoid is finite.
LARGEST = sys.float_info.max / 2


def stored_out_of_bag(found: OutOfBag | None, arrays: Arrays) -> dict[str, Any] | None:
    """Convert the evaluation to JSON, and add its array to `arrays`."""
    if found is None:
        return None
    arrays[OUT_OF_BAG] = found.decision_function
    return {"risk": None if math.isnan(found.risk) else float(found.risk)}


def restored_out_of_bag(stored: Fields | None, arrays: Arrays) -> OutOfBag | None:
    """Invert `stored_out_of_bag`; takes its array out of `arrays`."""
    if stored is None:
        return None
    risk = stored.optional_number("risk")
    stored.finish()
    ensure(OUT_OF_BAG in arrays, f"it has no array {OUT_OF_BAG!r}")
    decision = arrays.pop(OUT_OF_BAG)
    ensure(decision.dtype == np.float64, f"array {OUT_OF_BAG!r} is not of type float64")
    scored = decision[~np.isnan(decision)]
    ensure(bool((np.abs(scored) <= 1).all()), f"{OUT_OF_BAG} is not between -1 and 1, or nan")
    return OutOfBag(decision, math.nan if risk is None else risk)


def stored_curve(curve: ScoreCurve | None) -> Arrays:
    """Return the arrays of a curve; none if there is none."""
    return {} if curve is None else {PREFIX + name: getattr(curve, name) for name in CURVE}


def restored_curve(arrays: Arrays) -> ScoreCurve | None:
    """Take a curve out of `arrays`, or return None if there is none."""
    found = {name: arrays.pop(PREFIX + name) for name in CURVE if PREFIX + name in arrays}
    if not found:
        return None
    ensure(len(found) == len(CURVE), f"it does not have all of the arrays {PREFIX}*")
    for name, array in found.items():
        ensure(array.dtype == np.float64, f"array '{PREFIX}{name}' is not of type float64")
        within = bool(((array >= 0) & (array <= 1)).all())
        ensure(within, f"{PREFIX}{name} is not between 0 and 1")
    score, *fractions = (found[name] for name in CURVE)
    ensure(bool((score[:-1] < score[1:]).all()), f"{PREFIX}score is not ascending")
    for name, array in zip(CURVE[1:], fractions, strict=True):
        ensure(len(array) == len(score), f"the arrays {PREFIX}* differ in length")
        ensure(abs(array.sum() - 1) <= ROUNDING, f"{PREFIX}{name} does not add up to 1")
    return ScoreCurve(**found)


def stored_sigmoid(calibrator: Sigmoid | None) -> dict[str, float] | None:
    """Convert a calibrator to JSON."""
    if calibrator is None:
        return None
    return {"slope": calibrator.slope, "intercept": calibrator.intercept}


def restored_sigmoid(stored: Fields | None) -> Sigmoid | None:
    """Invert `stored_sigmoid`; the sigmoid increases."""
    if stored is None:
        return None
    slope = stored.number("slope", check.TINY, LARGEST)
    intercept = stored.number("intercept", -LARGEST, LARGEST)
    stored.finish()
    return Sigmoid(slope, intercept)
