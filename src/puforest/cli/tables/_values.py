"""Columns whose values are not plain numbers: categories, dates and durations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from puforest._kinds import MAX_CATEGORIES
from puforest._text import reads_as_number
from puforest.cli.tables._arrow import arrow
from puforest.cli.tables._kinds import CATEGORY, decoded, is_string
from puforest.cli.tables._labels import as_text
from puforest.cli.tables._missing import DEFAULT_WORDS, MissingMarkers
from puforest.cli.tables._names import cut
from puforest.cli.tables._times import text_as_times

# Labels of all batches, with duplicates, above which a column is checked for too many categories.
MANY_LABELS = 16 * MAX_CATEGORIES


class ValueColumn:
    """A feature that is not a plain number, collected batch by batch.

    Parameters
    ----------
    kind : str
        Kind of the column: category, datetime or duration.
    missing : MissingMarkers
        Values that mark missing cells.
    from_text : bool
        Whether the cells come from a text file, in which spaces around values are ignored.

    Attributes
    ----------
    n_rows, n_missing : int
        Number of all cells, and of missing ones.
    has_too_many : bool
        Whether there are so many categories that the cells are not kept.
    differs : bool
        Whether all categories of a batch were different so far.
    """

    def __init__(self, kind: str, missing: MissingMarkers, *, from_text: bool) -> None:
        self.kind = kind
        self.n_rows = 0
        self.n_missing = 0
        self.has_too_many = False
        self.differs = True
        self._missing = missing
        self._from_text = from_text
        self._parts: list[Any] = []
        self._two: Any = None  # two different times, if not all cells are kept

    def add(self, column: Any, rows: NDArray[np.intp] | None = None) -> None:
        """Add the cells of a batch; if `rows` are given, keep only these cells."""
        column = decoded(column)
        if self.kind == CATEGORY:
            column = categories(column, self._missing, trim=self._from_text)
        elif is_string(column.type):
            column = text_as_times(column, self.kind, self._missing)
        self.n_rows += len(column)
        self.n_missing += column.null_count
        if rows is not None:
            self._see_all(column)
            column = column.take(arrow().array(rows))
        if not self.has_too_many:
            self._parts.append(column)

    def _see_all(self, column: Any) -> None:
        """Note what the fit must know of the cells that are not kept."""
        if self.kind != CATEGORY:
            if self._two is None or len(self._two) < 2:
                before = [] if self._two is None else [self._two]
                present = arrow().concat_arrays([*before, column.drop_null()])
                self._two = arrow("compute").unique(present)[:2]
            return
        self.differs &= len(column.dictionary) == len(column) - column.null_count
        if not self.has_too_many and sum(len(p.dictionary) for p in self._parts) > MANY_LABELS:
            self._parts = [self._kept()]
            self.has_too_many = len(self._parts[0].dictionary) > MAX_CATEGORIES
            if self.has_too_many:
                self._parts = []

    def _kept(self) -> Any:
        return arrow().chunked_array(self._parts).unify_dictionaries().combine_chunks()

    def values(self) -> Any:
        """Return the kept cells as one Arrow array; its dictionary has the categories of all."""
        return self._kept()

    def distinct(self, values: Any) -> Any:
        """Return the distinct values of all cells; two are enough if they are times."""
        if self.kind == CATEGORY:
            return values.dictionary
        return arrow("compute").unique(values.drop_null()) if self._two is None else self._two


def with_distinct(values: Any, distinct: Any, n_more: int) -> Any:
    """Append distinct values to a column, and then nulls, `n_more` cells in all."""
    pa = arrow()
    if not n_more:
        return values
    if pa.types.is_dictionary(values.type):
        codes = pa.array(np.arange(len(distinct)), values.type.index_type)
        more = pa.DictionaryArray.from_arrays(codes, values.dictionary)
    else:
        more = distinct
    nulls = pa.nulls(n_more - len(more), values.type)
    return pa.chunked_array([values, more, nulls]).unify_dictionaries().combine_chunks()


def categories(column: Any, missing: MissingMarkers, *, trim: bool) -> Any:
    """Encode a column of text or numbers as a dictionary of the values that occur."""
    pa, compute = arrow(), arrow("compute")
    if pa.types.is_large_string(column.type):
        column = column.cast(pa.string())
    elif not is_string(column.type) and not pa.types.is_integer(column.type):
        column = column.cast(pa.float64())
    coded = compute.dictionary_encode(column)
    values = coded.dictionary
    if is_string(values.type):
        trimmed = compute.utf8_trim_whitespace(values)
        values = compute.if_else(missing.among(trimmed), None, trimmed if trim else values)
    else:
        numbers = np.asarray(values.to_numpy(zero_copy_only=False), np.float64)
        is_missing = np.isnan(numbers) | np.isin(numbers, [*missing.numbers])
        values = compute.if_else(pa.array(is_missing), None, values)
    distinct = compute.dictionary_encode(values)
    codes = distinct.indices.take(coded.indices)
    return pa.DictionaryArray.from_arrays(codes, distinct.dictionary)


def number_codes(numbers: Any) -> Any:
    """Encode an array of floats as a dictionary of numbers, integers if all of them are."""
    pa, compute = arrow(), arrow("compute")
    present = numbers[~np.isnan(numbers)]
    column = pa.array(numbers, from_pandas=True)
    if (present == np.rint(present)).all() and (np.abs(present) < 2**53).all():
        column = column.cast(pa.int64())
    return compute.dictionary_encode(column)


def booleans(numbers: Any) -> Any:
    """Convert an array of the floats 0, 1 and nan to booleans."""
    return arrow().array(numbers == 1, mask=np.isnan(numbers))


class Matched(NamedTuple):
    """Categories of a model in a column.

    Attributes
    ----------
    column : pyarrow.DictionaryArray
        The categories; null for missing and unknown cells.
    n_missing, n_unknown : int
        Number of missing and of unknown cells.
    example : object
        The first unknown value.
    """

    column: Any
    n_missing: int
    n_unknown: int
    example: Any


class KnownCategories:
    """Categories of a model, to be found in columns of text or numbers.

    The usual words for missing values may be categories of a model that was fitted in Python.

    Parameters
    ----------
    labels : sequence of str, int or float
        Categories of the model.
    missing : MissingMarkers
        Values that mark missing cells.
    decimal : str
        Decimal point of numbers in text.
    """

    def __init__(self, labels: Sequence[Any], missing: MissingMarkers, decimal: str) -> None:
        self._labels = arrow().array(labels, None if labels else arrow().string())
        self._codes = {label: code for code, label in enumerate(labels)}
        self._is_text = is_string(self._labels.type)
        self._missing = missing
        self._explicit = missing.words - DEFAULT_WORDS
        self._decimal = decimal

    def match(self, column: Any) -> Matched:
        """Find the category of each cell."""
        pa = arrow()
        coded = arrow("compute").dictionary_encode(decoded(column))
        values = coded.dictionary.to_pylist()
        found = [self._code(value) for value in values]
        unmatched = [i for i, code in enumerate(found) if code is None]
        unknown = [i for i in unmatched if not self._is_missing(values[i])]
        times = np.bincount(coded.indices.drop_null().to_numpy(), minlength=len(values))
        codes = pa.array(found, pa.int32()).take(coded.indices)
        n_unknown = int(times[unknown].sum())
        return Matched(
            column=pa.DictionaryArray.from_arrays(codes, self._labels),
            n_missing=codes.null_count - n_unknown,
            n_unknown=n_unknown,
            example=_trimmed(values[unknown[0]]) if unknown else None,
        )

    def _code(self, value: Any) -> int | None:
        """Return the number of a category, None if the value is missing or unknown."""
        if isinstance(value, str):
            trimmed = value.strip()
            if trimmed in self._explicit:
                return None
            if self._is_text:
                return self._codes.get(value, self._codes.get(trimmed))
            text = trimmed.replace(self._decimal, ".")
            value = float(text) if reads_as_number(text) else None
        if value in self._missing.numbers:
            return None
        return self._codes.get(as_text(value) if self._is_text else value)

    def _is_missing(self, value: Any) -> bool:
        if isinstance(value, str):
            return value.strip() in self._missing.words
        return value is None or math.isnan(value) or value in self._missing.numbers


def _trimmed(value: Any) -> Any:
    return cut(value.strip()) if isinstance(value, str) else value
