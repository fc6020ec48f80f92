"""Verdicts on rows that were checked by hand."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from puforest import _validation as check

Array = NDArray[np.float64]


def verdicts(checked: Any, n: int, labeled: NDArray[np.bool_] | None = None) -> Array:
    """Read verdicts: 1 for positive, 0 for negative, nan for rows without one.

    A labeled row must not have a negative verdict.
    """
    check.refuse_masked(checked, "checked")
    # The items of a Series, whatever its index and data type.
    values = list(checked)
    if len(values) != n:
        raise ValueError(
            f"checked must have {n} verdicts, one per row, got {len(values)}: pass NaN or None for "
            "rows that were not checked"
        )
    found = np.array([_verdict(i, value) for i, value in enumerate(values)], dtype=np.float64)
    if labeled is not None:
        wrong = np.flatnonzero(labeled & (found == 0))
        if len(wrong):
            raise ValueError(
                f"checked: row {wrong[0]} is labeled positive, but its verdict is negative"
                f"{_others(len(wrong) - 1)}. Correct the verdict, or remove the label"
            )
    return found


def _verdict(row: int, value: Any) -> float:
    if check.is_missing(value):
        return np.nan
    if isinstance(value, Real | np.bool_) and value in (0, 1):
        return float(value)
    raise ValueError(
        f"checked must have 1 (or True) for positives, 0 (or False) for negatives, and NaN or None "
        f"for rows that were not checked, got {value!r} in row {row}"
    )


def _others(n: int) -> str:
    return f", and so for {n} more" if n else ""
