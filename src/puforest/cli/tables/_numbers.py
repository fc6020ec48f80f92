"""Conversion of columns to numbers, the same for all commands and formats."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from puforest._matrix import smallest_float
from puforest.cli.tables._arrow import arrow

# Missing values in text, in lower case; the second set is how other programs print nan.
MISSING = {"", "?", "na", "n/a", "nan", "null", "none"}
MISSING |= {"-nan", "#n/a", "#na", "#n/a n/a", "1.#ind", "-1.#ind", "1.#qnan", "-1.#qnan"}
BOOLEANS = {"true": "1", "false": "0"}

NUMBER = r"^[+-]?((\d+POINT?\d*|POINT\d+)(e[+-]?\d+)?|inf|infinity)$"
WITH_COMMA = r"^\s*[+-]?\d*,\d+([eE][+-]?\d+)?\s*$"


@dataclass(frozen=True)
class NotNumbers:
    """Cells of a column that are not numbers.

    Attributes
    ----------
    count : int
        Number of such cells.
    example : str
        The first of them.
    with_comma : int
        How many of them would be numbers if the comma were the decimal point.
    stored_as_text : bool
        Whether the type of the column is text, even if every cell holds a number.
    """

    count: int
    example: str
    with_comma: int
    stored_as_text: bool = False

    def __add__(self, later: NotNumbers) -> NotNumbers:
        return NotNumbers(
            self.count + later.count,
            self.example if self.count else later.example,
            self.with_comma + later.with_comma,
            self.stored_as_text,
        )


@dataclass(frozen=True)
class Numbers:
    """Columns converted to numbers.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_columns)
        The numbers; nan for cells that are empty or not numbers.
    not_numbers : dict of int to NotNumbers
        Cells that are not numbers, by column position.
    """

    X: NDArray[Any]
    not_numbers: dict[int, NotNumbers]


def text_as_numbers(columns: Sequence[Any], n_rows: int, decimal: str) -> Numbers:
    """Convert text columns: numbers, true and false, and missing values.

    All columns are cast together, since one call per column takes 2 s for 60,000 columns. If that
    fails, halves are tried, down to single columns, which are then read cell by cell.
    """
    stacked = np.empty((len(columns), n_rows))
    not_numbers = {}

    def read(first: int, end: int) -> None:
        values = _plain_numbers(columns[first:end], decimal)
        if values is not None:
            stacked[first:end] = values.reshape(end - first, n_rows)
        elif end - first == 1:
            stacked[first], found = _cell_by_cell(columns[first], decimal)
            if found.count:
                not_numbers[first] = found
        else:
            middle = (first + end) // 2
            read(first, middle)
            read(middle, end)

    if columns:
        read(0, len(columns))
    return Numbers(stacked.T, not_numbers)


def _plain_numbers(columns: Sequence[Any], decimal: str) -> NDArray[np.float64] | None:
    """Cast all columns, one after the other; return None if a cell is not a plain number."""
    pa, compute = arrow(), arrow("compute")
    cells = pa.concat_arrays(columns)
    if decimal != ".":
        if compute.any(compute.match_substring(cells, ".")).as_py():
            return None
        cells = compute.replace_substring(cells, decimal, ".")
    try:
        return _floats(compute.cast(cells, pa.float64()))
    except pa.ArrowInvalid:
        return None


def _cell_by_cell(column: Any, decimal: str) -> tuple[NDArray[np.float64], NotNumbers]:
    pa, compute = arrow(), arrow("compute")
    words = compute.utf8_lower(compute.utf8_trim_whitespace(column))
    words = compute.if_else(compute.is_in(words, pa.array(sorted(MISSING))), None, words)
    for word, number in BOOLEANS.items():
        words = compute.if_else(compute.equal(words, word), number, words)
    point = re.escape(decimal)
    is_number = compute.match_substring_regex(words, NUMBER.replace("POINT", point))
    numbers = compute.replace_substring(compute.if_else(is_number, words, None), decimal, ".")
    odd = compute.filter(column, compute.invert(is_number))
    commas = compute.sum(compute.match_substring_regex(odd, WITH_COMMA)).as_py() or 0
    found = NotNumbers(len(odd), odd[0].as_py() if len(odd) else "", commas)
    return _floats(compute.cast(numbers, pa.float64())), found


def typed_as_numbers(columns: Sequence[Any], n_rows: int) -> Numbers:
    """Convert columns with types, see `is_number`; columns of the same type together.

    Text is never read as a number, even if it looks like one.
    """
    pa, compute = arrow(), arrow("compute")
    columns = [decoded(column) for column in columns]
    dtype = matrix_dtype(column.type for column in columns)
    stacked = np.empty((len(columns), n_rows), dtype)
    not_numbers = {}
    done = 0
    for kind, group in groupby(columns, key=lambda column: column.type):
        together = list(group)
        if is_string(kind):
            for i, column in enumerate(together, done):
                stacked[i], found = _cell_by_cell(compute.cast(column, pa.string()), ".")
                not_numbers[i] = replace(found, stored_as_text=True)
        else:
            cells = pa.concat_arrays(together)
            if pa.types.is_boolean(kind):
                cells = compute.cast(cells, pa.uint8())
            values = _floats(compute.cast(cells, pa.from_numpy_dtype(dtype), safe=False))
            stacked[done : done + len(together)] = values.reshape(len(together), n_rows)
        done += len(together)
    return Numbers(stacked.T, not_numbers)


def matrix_dtype(kinds: Iterable[Any]) -> np.dtype[Any]:
    """Choose the smallest float type that holds all values of these Arrow types."""
    is_null = arrow().types.is_null
    return smallest_float(*(kind.to_pandas_dtype() for kind in {*kinds} if not is_null(kind)))


def _floats(values: Any) -> NDArray[Any]:
    """Convert an Arrow array of floats; nulls become nan."""
    return np.asarray(values.to_numpy(zero_copy_only=False))


def decoded(column: Any) -> Any:
    """Decode dictionaries, run-end encoding and string views."""
    types, compute = arrow().types, arrow("compute")
    if types.is_dictionary(column.type):
        column = column.dictionary_decode()
    elif types.is_run_end_encoded(column.type):
        column = compute.run_end_decode(column)
    kind = decoded_type(column.type)
    return column if kind == column.type else compute.cast(column, kind)


def decoded_type(kind: Any) -> Any:
    """Return the Arrow type of the result of `decoded`."""
    types = arrow().types
    if types.is_dictionary(kind) or types.is_run_end_encoded(kind):
        kind = kind.value_type
    return arrow().string() if str(kind) == "string_view" else kind  # as polars writes text


def is_number(kind: Any) -> bool:
    """Tell whether an Arrow type is numeric; booleans are."""
    types, kind = arrow().types, decoded_type(kind)
    return bool(
        types.is_integer(kind)
        or types.is_floating(kind)
        or types.is_boolean(kind)
        or types.is_decimal(kind)
    )


def is_string(kind: Any) -> bool:
    """Tell whether an Arrow type is text."""
    types, kind = arrow().types, decoded_type(kind)
    return bool(types.is_string(kind) or types.is_large_string(kind))
