"""Columns of Python objects: their kind follows from the types of the cells."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from decimal import Decimal
from functools import lru_cache
from itertools import repeat
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from puforest import _validation as check
from puforest._columns._column import Column, missing_column, nested_error
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
    among numbers count as 0 and 1. No step runs Python code for each cell.
    """
    types = set(map(type, cells))
    kinds = {_kind(cell_type) for cell_type in types}
    if "other" in kinds:
        _refuse_other_types(cells, place)
    kinds.discard("missing")
    if kinds <= {"number", "boolean"} and kinds != {"boolean"}:
        return _numbers(cells, types, place) if kinds else missing_column(len(cells))
    missing = {cell: None for cell in dict.fromkeys(cells) if is_missing(cell)}
    if "number" in kinds and not _has_numbers(cells, types, missing):
        kinds.discard("number")
    if not kinds:
        return missing_column(len(cells))
    if len(kinds) > 1:
        _refuse_mixed(cells, place)
    kind = kinds.pop()
    if kind == "category":
        return read_text(cells, missing)
    if kind == "boolean":
        number = {True: 1.0, False: 0.0}
        values = np.fromiter(map(number.get, cells, repeat(np.nan)), np.float32, len(cells))
        return Column(kind, values)
    present = map(missing.get, cells, cells)  # None for missing cells
    with check.data_errors(place):
        return Column(kind, _days_of_objects(kind, list(present), types))


def read_text(cells: Iterable[Any], missing: Iterable[Any] = (None,)) -> Column:
    """Read strings as categories."""
    cells = list(cells)
    code: dict[Any, int] = dict.fromkeys(cells)  # type: ignore[arg-type]
    for cell in missing:
        code.pop(cell, None)
    labels = list(map(str, code))
    code.update(zip(code, range(len(code)), strict=True))
    codes = np.fromiter(map(code.get, cells, repeat(-1)), np.int32, len(cells))
    return Column("category", codes, labels, is_text=True)


@lru_cache(maxsize=1000)
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
    if _kind(type(cell)) == "missing":
        return True
    return isinstance(cell, Real | Decimal | np.datetime64) and cell != cell


def _has_numbers(cells: list[Any], types: set[type], missing: dict[Any, None]) -> bool:
    """Return whether there are numbers other than NaN."""
    numbers = tuple(t for t in types if _kind(t) == "number")
    return any(isinstance(cell, numbers) and cell not in missing for cell in dict.fromkeys(cells))


def _numbers(cells: list[Any], types: set[type], place: str) -> Column:
    if any(_kind(t) == "missing" and t is not type(None) for t in types):
        missing = {cell: None for cell in dict.fromkeys(cells) if _kind(type(cell)) == "missing"}
        cells = list(map(missing.get, cells, cells))
    with check.data_errors(place):
        return Column("number", np.array(cells, dtype=np.float64))


def _days_of_objects(kind: str, cells: list[Any], types: set[type]) -> NDArray[np.float64]:
    if kind == "datetime":
        return days(np.array(list(map(in_utc, cells)), dtype="M8[us]"))
    if any(issubclass(cell_type, datetime.time) for cell_type in types):
        cells = [time_of_day(c) if isinstance(c, datetime.time) else c for c in cells]
    return days(np.array(cells, dtype="m8[us]"))


def _refuse_other_types(cells: list[Any], place: str) -> None:
    """Refuse the first cell that is not a single value."""
    cell = next(cell for cell in cells if _kind(type(cell)) == "other")
    if isinstance(cell, bytes):
        raise TypeError(f"{place} has bytes, such as {cell[:40]!r}: decode them to strings")
    if isinstance(cell, complex | np.complexfloating):
        raise TypeError(f"{place} has complex numbers, such as {cell!r}: Complex data not supported")
    raise nested_error(place, f"{type(cell).__name__}, such as {cell!r:.40}")


def _refuse_mixed(cells: list[Any], place: str) -> None:
    """Refuse a column of several kinds, with the first value that differs from those before."""
    present = (cell for cell in cells if not is_missing(cell))
    first = next(present)
    other = next(cell for cell in present if _kind(type(cell)) != _kind(type(first)))
    raise TypeError(
        f"{place} mixes types: {first!r:.40} is {WORDS[_kind(type(first))]}, but {other!r:.40} is "
        f"{WORDS[_kind(type(other))]}. Convert the column to one type, for example with "
        f"{place}.astype(str) for categories."
    )
