"""Columns of Python objects: their kind follows from the types of the cells."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from decimal import Decimal
from itertools import repeat
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from puforest import _validation as check
from puforest._columns._column import Column, complex_error, missing_column, nested_error
from puforest._columns._times import days, in_utc, time_of_day

WORDS = {
    "category": "text",
    "boolean": "a boolean",
    "number": "a number",
    "datetime": "a date",
    "duration": "a duration",
}


def read_objects(cells: list[Any], place: str) -> Column:
    """Read a column of objects.

    All cells must be of one kind, apart from missing ones: None, NaN, ``pd.NA`` or NaT. Booleans
    among numbers count as 0 and 1. Except for dates and times, no Python code runs for each cell.
    """
    types = set(map(type, cells))
    kinds = {_kind(cell_type) for cell_type in types}
    if "other" in kinds:
        _refuse_other_types(cells, place)
    missing: dict[Any, None] = {}
    if not kinds <= {"number", "category"} or len(kinds) > 1:
        distinct = dict.fromkeys(cells)
        missing = {cell: None for cell in distinct if type(cell) is not str and is_missing(cell)}
        kinds = {_kind(t) for t in {type(cell) for cell in distinct if cell not in missing}}
    if not kinds:
        return missing_column(len(cells))
    if kinds == {"category"}:
        return read_text(cells, missing)
    if kinds == {"boolean"}:
        number = {True: 1.0, False: 0.0}
        values = np.fromiter(map(number.get, cells, repeat(np.nan)), np.float32, len(cells))
        return Column("boolean", values)
    if len(kinds) > 1 and kinds != {"number", "boolean"}:
        _refuse_mixed(cells, place)
    present = list(map(missing.get, cells, cells))  # None for missing cells
    with check.data_errors(place):
        if "number" in kinds:
            return Column("number", np.array(present, dtype=np.float64))
        kind = kinds.pop()
        return Column(kind, _days_of_objects(kind, present, types))


def read_text(cells: Iterable[Any], missing: Iterable[Any] = (None,)) -> Column:
    """Read strings as categories."""
    cells = list(cells)
    distinct = dict.fromkeys(cells)
    for cell in missing:
        distinct.pop(cell, None)
    labels = list(map(str, distinct))
    code = dict(zip(distinct, range(len(distinct)), strict=True))
    codes = np.fromiter(map(code.get, cells, repeat(-1)), np.int32, len(cells))
    return Column("category", codes, labels, is_text=True)


def _kind_of(cell: Any) -> str:
    return _kind(type(cell))


def _kind(cell_type: type) -> str:
    if cell_type.__name__ in ("NoneType", "NAType", "NaTType", "MaskedConstant"):
        return "missing"
    for kind, types in (
        ("category", (str,)),
        ("boolean", (bool, np.bool_)),
        ("datetime", (datetime.date, np.datetime64)),
        ("duration", (datetime.timedelta, datetime.time, np.timedelta64)),
        ("number", (Real, Decimal)),  # np.timedelta64 is a Real, too
    ):
        if issubclass(cell_type, types):
            return kind
    return "other"


def is_missing(cell: Any) -> bool:
    """Return whether a cell is None, NaN, NaT or ``pd.NA``."""
    if _kind_of(cell) == "missing":
        return True
    return isinstance(cell, Real | Decimal | np.datetime64) and cell != cell


def _days_of_objects(kind: str, cells: list[Any], types: set[type]) -> NDArray[np.float64]:
    if kind == "datetime":
        return days(np.array(list(map(in_utc, cells)), dtype="M8[us]"))
    if any(issubclass(cell_type, datetime.time) for cell_type in types):
        cells = [time_of_day(c) if isinstance(c, datetime.time) else c for c in cells]
    return days(np.array(cells, dtype="m8[us]"))


def _refuse_other_types(cells: list[Any], place: str) -> None:
    """Refuse the first cell that is not a single value."""
    cell = next(cell for cell in cells if _kind_of(cell) == "other")
    if isinstance(cell, bytes):
        raise TypeError(f"{place} has bytes, such as {cell[:40]!r}: decode them to strings")
    if isinstance(cell, complex | np.complexfloating):
        raise complex_error(place)
    raise nested_error(place, f"{type(cell).__name__}, such as {cell!r:.40}")


def _refuse_mixed(cells: list[Any], place: str) -> None:
    """Refuse a column of several kinds, with the first value that differs from those before."""
    present = (cell for cell in cells if not is_missing(cell))
    first = next(present)
    other = next(cell for cell in present if _kind_of(cell) != _kind_of(first))
    raise TypeError(
        f"{place} mixes types: {first!r:.40} is {WORDS[_kind_of(first)]}, but {other!r:.40} is "
        f"{WORDS[_kind_of(other)]}. Convert the column to one type, for example with "
        f"{place}.astype(str) for categories."
    )
