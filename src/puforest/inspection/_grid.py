"""Values of a feature at which partial dependence is evaluated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats.mstats import mquantiles

from puforest._text import rounded
from puforest.inspection._table import InspectedColumn

Array = NDArray[np.float64]

DAY = 86_400_000_000  # microseconds


@dataclass(frozen=True)
class Axis:
    """Grid of one feature; a missing value comes last, if there is one.

    Attributes
    ----------
    kind : {"number", "category", "boolean", "datetime", "duration"}
        Kind of the feature.
    codes : ndarray of shape (n_values,)
        Grid values as numbers: the encoded values, with NaN for a missing value.
    values : ndarray of shape (n_values,)
        Grid values as users know them: numbers, labels, dates or durations.
    """

    kind: str
    codes: Array
    values: NDArray[Any]


def axis_of(
    column: InspectedColumn,
    weight: Array | None,
    resolution: int,
    percentiles: tuple[float, float],
) -> Axis:
    """Choose the grid of a feature from its values in the population.

    All values if there are few; otherwise the most frequent categories, or evenly spaced numbers
    between two percentiles. Dates and durations are rounded to values of the column.
    """
    kind, missing = column.kind, np.isnan(column.codes)
    present = column.codes[~missing]
    codes = np.unique(present)
    if kind == "category" and len(codes) > resolution:
        codes = _most_frequent(present, None if weight is None else weight[~missing], resolution)
    elif kind != "category" and len(codes) >= resolution:
        even = _evenly_spaced(present, codes, resolution, percentiles)
        codes = even if kind == "number" else codes[np.unique(_nearest(codes, even))]
    if missing.any():
        codes = np.append(codes, np.nan)
    return Axis(kind, codes, shown_values(codes, kind, column.categories))


def _most_frequent(numbers: Array, weight: Array | None, n: int) -> Array:
    mass = np.bincount(numbers.astype(np.intp), weights=weight)
    return np.sort(np.argsort(-mass, kind="stable")[:n]).astype(np.float64)


def _evenly_spaced(
    present: Array, distinct: Array, n: int, percentiles: tuple[float, float]
) -> Array:
    low, high = mquantiles(present, prob=percentiles)
    if not low < high:  # most values are the same
        low, high = distinct[[0, -1]]
    return np.linspace(low, high, n)


def _nearest(sorted_values: Array, wanted: Array) -> NDArray[np.intp]:
    """Return the index of the value that is nearest to each wanted one."""
    above = np.clip(np.searchsorted(sorted_values, wanted), 1, len(sorted_values) - 1)
    below = above - 1
    is_below = wanted - sorted_values[below] <= sorted_values[above] - wanted
    return np.where(is_below, below, above)


def shown_values(codes: Array, kind: str, categories: tuple[Any, ...] | None) -> NDArray[Any]:
    """Convert encoded values to what users know: labels, dates or durations; None if missing."""
    if kind in ("category", "boolean"):
        labels = categories or ()
        shown = [None if np.isnan(code) else labels[int(code)] for code in codes]
        return np.array(shown, dtype=object)
    if kind in ("datetime", "duration"):
        unit = "datetime64[us]" if kind == "datetime" else "timedelta64[us]"
        missing = np.isnan(codes)
        micros = np.rint(np.where(missing, 0, codes) * DAY).astype(np.int64)
        times: NDArray[Any] = micros.astype(unit)
        times[missing] = np.array("NaT", dtype=unit)
        return times
    return codes


def is_missing(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Return a mask of the missing values of a grid: NaN, None or NaT."""
    if values.dtype.kind == "O":
        return np.array([value is None for value in values], dtype=bool)
    return np.asarray(np.isnat(values) if values.dtype.kind in "Mm" else np.isnan(values))


def shown_value(value: Any) -> str:
    """Return a grid value as text: a number with four digits, a label, a date, or "missing"."""
    if value is None or value != value:
        return "missing"
    if isinstance(value, np.datetime64):
        date, _, time = str(value.astype("datetime64[s]")).partition("T")
        return date if time == "00:00:00" else f"{date} {time}"
    if isinstance(value, np.timedelta64):
        return f"{value / np.timedelta64(1, 'D'):.4g} days"
    # Labels that are numbers are Python's, and shown with all digits.
    return rounded(float(value)) if isinstance(value, np.floating) else str(value)
