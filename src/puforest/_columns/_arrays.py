"""Columns of NumPy arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from puforest._columns._column import Column, complex_error, nested_error
from puforest._columns._objects import read_objects, read_text
from puforest._columns._times import days


def read_array(values: NDArray[Any], place: str) -> Column:
    """Read a one-dimensional array of any type."""
    kind = values.dtype.kind
    if kind in "iuf":
        return Column("number", values)
    if kind == "b":
        return Column("boolean", values)
    if kind in "Mm":
        return Column("datetime" if kind == "M" else "duration", _as_days(values, place))
    if kind == "U":
        return read_text(values.tolist())
    if kind in "OTS":
        return read_objects(values.tolist(), place)
    if kind == "c":
        raise complex_error(place)
    raise nested_error(place, str(values.dtype))


def _as_days(values: NDArray[Any], place: str) -> NDArray[np.float64]:
    if values.dtype.kind == "m" and np.datetime_data(values.dtype)[0] in ("Y", "M", "generic"):
        raise TypeError(
            f"{place} has durations of type {values.dtype}, which are no fixed number of days: "
            "convert them to numbers"
        )
    return days(values)
