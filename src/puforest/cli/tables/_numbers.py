"""Conversion of columns to numbers, the same for all commands and formats."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from puforest._matrix import smallest_float
from puforest.cli.tables._arrow import arrow
from puforest.cli.tables._kinds import DATETIME, DURATION, decoded, is_string
from puforest.cli.tables._missing import MissingMarkers
from puforest.cli.tables._times import READERS

BOOLEANS = {"true": "1", "false": "0"}

# Cells of a column by which to tell whether it is likely to hold numbers.
SAMPLE = 100

NUMBER = r"^[+-]?((\d+POINT?\d*|POINT\d+)(e[+-]?\d+)?|inf|infinity|nan)$"
WITH_COMMA = r"^\s*[+-]?\d*,\d+([eE][+-]?\d+)?\s*$"


@dataclass(frozen=True)
class Times:
    """Cells of a column of text that are dates, or durations.

    Attributes
    ----------
    n : int
        Number of such cells.
    other : str or None
        The first cell that is neither such a time nor a number.
    """

    n: int = 0
    other: str | None = None

    def __add__(self, later: Times) -> Times:
        return Times(self.n + later.n, later.other if self.other is None else self.other)


@dataclass(frozen=True)
class Words:
    """Cells of a column of text that are not plain numbers.

    Attributes
    ----------
    booleans : int
        Number of cells that hold true or false; they are converted to 1 and 0.
    others : int
        Number of cells that are neither numbers nor booleans nor missing.
    example : str
        The first of the other cells.
    with_comma : int
        How many of the others would be numbers if the comma were the decimal point.
    dates, durations : Times
        How many of the others are dates, and durations.
    """

    booleans: int
    others: int
    example: str
    with_comma: int
    dates: Times
    durations: Times

    def __add__(self, later: Words) -> Words:
        return Words(
            self.booleans + later.booleans,
            self.others + later.others,
            self.example if self.others else later.example,
            self.with_comma + later.with_comma,
            self.dates + later.dates,
            self.durations + later.durations,
        )


@dataclass(frozen=True)
class Numbers:
    """Columns converted to numbers.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_columns)
        The numbers; nan for cells that are missing or not numbers.
    words : dict of int to Words
        Cells that are not plain numbers, by column position.
    """

    X: NDArray[Any]
    words: dict[int, Words]


def text_as_numbers(
    columns: Sequence[Any], n_rows: int, decimal: str, missing: MissingMarkers
) -> Numbers:
    """Convert text columns: numbers, true and false, and missing values.

    Columns whose first cells are numbers are cast together, since one call per column takes 2 s for
    60,000 columns. If that fails, halves are tried. Other columns are read cell by cell: a cast
    that fails in every cell takes 20 times as long.
    """
    stacked = np.empty((len(columns), n_rows))
    words = {}

    def cast(places: Sequence[int], n: int) -> Iterator[tuple[Sequence[int], Any]]:
        """Yield groups of columns and the numbers in the first cells, None if there are others."""
        cells = arrow().concat_arrays([columns[i].slice(0, n) for i in places])
        values = _plain_numbers(cells, decimal)
        if values is None:
            values = _plain_numbers(missing.as_null(cells), decimal)
        if values is not None or len(places) == 1:
            yield places, values
        else:
            middle = len(places) // 2
            yield from cast(places[:middle], n)
            yield from cast(places[middle:], n)

    left = {*range(len(columns))}
    first = [*cast(range(len(columns)), min(SAMPLE, n_rows))] if columns else []
    likely = [i for places, values in first if values is not None for i in places]
    for places, values in cast(likely, n_rows) if likely else ():
        if values is not None:
            stacked[places] = values.reshape(len(places), n_rows)
            left.difference_update(places)
    for i in sorted(left):
        stacked[i], found = _cell_by_cell(columns[i], decimal, missing)
        if found.booleans or found.others:
            words[i] = found
    missing.clear(stacked)
    return Numbers(stacked.T, words)


def _plain_numbers(cells: Any, decimal: str) -> NDArray[np.float64] | None:
    """Cast text to numbers; return None if a cell is not a plain number."""
    pa, compute = arrow(), arrow("compute")
    if decimal != ".":
        if compute.any(compute.match_substring(cells, ".")).as_py():
            return None
        cells = compute.replace_substring(cells, decimal, ".")
    try:
        return _floats(compute.cast(cells, pa.float64()))
    except pa.ArrowInvalid:
        return None


def _cell_by_cell(
    column: Any, decimal: str, missing: MissingMarkers
) -> tuple[NDArray[np.float64], Words]:
    """Convert a column by way of its distinct cells."""
    pa, compute = arrow(), arrow("compute")
    coded = compute.dictionary_encode(column)
    cells, codes = coded.dictionary, coded.indices
    times = np.bincount(codes.drop_null().to_numpy(), minlength=len(cells))
    trimmed = missing.as_null(compute.utf8_trim_whitespace(cells))
    lower = compute.utf8_lower(trimmed)
    is_boolean = _mask(compute.is_in(lower, pa.array(sorted(BOOLEANS))))
    for word, number in BOOLEANS.items():
        lower = compute.if_else(compute.equal(lower, word), number, lower)
    point = re.escape(decimal)
    is_number = compute.match_substring_regex(lower, NUMBER.replace("POINT", point))
    numbers = compute.replace_substring(compute.if_else(is_number, lower, None), decimal, ".")
    values = compute.cast(numbers, pa.float64()).take(codes)
    is_other = _mask(compute.invert(is_number))

    def times_of(kind: str) -> Times:
        is_time = _mask(READERS[kind](trimmed).is_valid()) & is_other
        rest = np.flatnonzero(is_other & ~is_time)
        return Times(int(times[is_time].sum()), cells[int(rest[0])].as_py() if len(rest) else None)

    found = Words(
        booleans=int(times[is_boolean].sum()),
        others=int(times[is_other].sum()),
        example=cells[int(np.argmax(is_other))].as_py() if is_other.any() else "",
        with_comma=int(times[_mask(compute.match_substring_regex(cells, WITH_COMMA))].sum()),
        dates=times_of(DATETIME),
        durations=times_of(DURATION),
    )
    return _floats(values), found


def typed_as_numbers(columns: Sequence[Any], n_rows: int, missing: MissingMarkers) -> Numbers:
    """Convert columns with types: numbers, booleans and text; columns of the same type together."""
    pa, compute = arrow(), arrow("compute")
    columns = [decoded(column) for column in columns]
    dtype = matrix_dtype(column.type for column in columns)
    stacked = np.empty((len(columns), n_rows), dtype)
    words = {}
    done = 0
    for kind, group in groupby(columns, key=lambda column: column.type):
        together = list(group)
        if is_string(kind):
            for i, column in enumerate(together, done):
                found = text_as_numbers([column.cast(pa.string())], n_rows, ".", missing)
                stacked[i] = found.X[:, 0]
                if found.words:
                    words[i] = found.words[0]
        else:
            cells = pa.concat_arrays(together)
            if pa.types.is_boolean(kind):
                cells = compute.cast(cells, pa.uint8())
            values = _floats(compute.cast(cells, pa.from_numpy_dtype(dtype), safe=False))
            stacked[done : done + len(together)] = values.reshape(len(together), n_rows)
        done += len(together)
    missing.clear(stacked)
    return Numbers(stacked.T, words)


def matrix_dtype(kinds: Iterable[Any]) -> np.dtype[Any]:
    """Choose the smallest float type that holds all values of these Arrow types."""
    is_null = arrow().types.is_null
    return smallest_float(*(kind.to_pandas_dtype() for kind in {*kinds} if not is_null(kind)))


def _floats(values: Any) -> NDArray[Any]:
    """Convert an Arrow array of floats; nulls become nan."""
    return np.asarray(values.to_numpy(zero_copy_only=False))


def _mask(found: Any) -> NDArray[np.bool_]:
    """Convert an Arrow array of booleans; nulls become False."""
    return np.asarray(found.fill_null(False).to_numpy(zero_copy_only=False))
