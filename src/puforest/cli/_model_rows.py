"""Rows of a table as a model reads them, batch by batch."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from puforest._kinds import ColumnKind
from puforest._named_table import NamedTable
from puforest.cli._model_columns import Columns
from puforest.cli.tables._arrow import arrow
from puforest.cli.tables._features import DECIMAL_COMMA, Features, missing_option, refuse_infinite
from puforest.cli.tables._kinds import (
    BOOLEAN,
    CATEGORY,
    DATETIME,
    DURATION,
    NUMBER,
    ColumnType,
    column_type,
    decoded,
    is_string,
)
from puforest.cli.tables._labels import read_labels
from puforest.cli.tables._names import cut
from puforest.cli.tables._numbers import WITH_COMMA, Numbers
from puforest.cli.tables._pu_table import NO_ROWS, PUTable, label_column, require_matrix
from puforest.cli.tables._source import Source, rows_at_a_time
from puforest.cli.tables._times import text_as_times
from puforest.cli.tables._values import KnownCategories, booleans

# Kinds of columns that a feature of some kind can be read from.
READABLE = {
    NUMBER: {NUMBER, BOOLEAN, CATEGORY},
    BOOLEAN: {NUMBER, BOOLEAN, CATEGORY},
    CATEGORY: {NUMBER, BOOLEAN, CATEGORY},
    DATETIME: {DATETIME, CATEGORY},
    DURATION: {DURATION, CATEGORY},
}
PLURAL = {
    NUMBER: "numbers",
    BOOLEAN: "booleans",
    CATEGORY: "categories",
    DATETIME: "dates",
    DURATION: "durations",
}
NOUN = {BOOLEAN: "true or false", DATETIME: "a date", DURATION: "a duration"}


@dataclass
class Gaps:
    """Numbers of missing cells and of unknown categories, by column.

    Attributes
    ----------
    n_rows : int
        Number of rows.
    missing, unknown : Counter
        Numbers of cells, by column.
    examples : dict of str to object
        The first unknown category of each column that has any.
    """

    n_rows: int = 0
    missing: Counter[str] = field(default_factory=Counter)
    unknown: Counter[str] = field(default_factory=Counter)
    examples: dict[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, dict[str, int]]:
        """Return the numbers of columns that have such cells."""
        return {"missing": dict(+self.missing), "unknown": dict(+self.unknown)}


@dataclass(frozen=True)
class Rows:
    """A batch of rows.

    Attributes
    ----------
    X : NamedTable or pyarrow.Table
        Features of the model.
    others : pyarrow.RecordBatch
        Other columns, unchanged.
    """

    X: Any
    others: Any


class ModelRows:
    """Rows of a table, read as the kinds of the features of a model require.

    Parameters
    ----------
    source : Source
        The table.
    columns : Columns
        Its columns, matched to the features of the model.

    Attributes
    ----------
    source : Source
        The table.
    numbers : list of str
        Features that are read as numbers.
    gaps : Gaps
        Numbers of missing and unknown cells of the rows read so far.
    """

    def __init__(self, source: Source, columns: Columns) -> None:
        self.source = source
        self._columns = columns
        self.gaps = Gaps()
        is_number = {name: self._kind(name) in (NUMBER, BOOLEAN) for name in columns.features}
        self.numbers = [name for name, yes in is_number.items() if yes]
        self._values = [name for name, yes in is_number.items() if not yes]
        self._readers = {name: self._reader(name, columns.kinds[name]) for name in self._values}
        types = source.column_types(columns.features)
        for name, found in types.items():
            self._refuse_type(name, found)

    def _kind(self, name: str) -> str:
        kind = self._columns.kinds.get(name)
        return NUMBER if kind is None else kind.kind

    def _refuse_type(self, name: str, found: ColumnType) -> None:
        kind = self._kind(name)
        if found.kind not in READABLE[kind]:
            raise ValueError(
                f"{self.source.path}: the column {name} holds {found.name}, but the model was "
                f"fitted to {PLURAL[kind]} in this column: convert it"
            )

    def batches(self, others: Sequence[str], n_rows: int | None = None) -> Iterator[Rows]:
        """Read rows, and some columns unchanged."""
        size = n_rows or rows_at_a_time(len(self._columns.names))
        unchanged = list(dict.fromkeys([*others, *self._values]))
        first = 0
        for batch in self.source.batches(self.numbers, unchanged, size):
            X = self._checked(batch.numbers, first)
            if not len(X):  # blank lines and comments of LIBSVM files
                continue
            first += len(X)
            self.gaps.n_rows = first
            kept = batch.others.select(list(others))
            if self._columns.kinds:
                yield Rows(self._table(X, batch.others), kept)
            else:
                yield Rows(self._matrix(X), kept)

    def read(self, label: str | None, positive: str | None) -> PUTable:
        """Read all rows, and their labels."""
        source, columns = self.source, self._columns
        name = label_column(source, label)
        require_matrix(source, len(columns.names), source.item_size)
        batches = list(self.batches([name]))
        if not batches:
            raise ValueError(f"{source.path} {NO_ROWS}")
        labels = arrow().chunked_array([batch.others.column(0) for batch in batches])
        rule, labeled = read_labels(source, name, labels, positive)
        parts = [batch.X for batch in batches]
        del batches
        features = Features(
            X=joined(parts),
            names=columns.names,
            kinds={name: kind.kind for name, kind in columns.kinds.items()},
            missing=self.gaps.as_json()["missing"],
        )
        return PUTable(features, labeled, rule)

    def _checked(self, numbers: Numbers, first: int) -> NDArray[Any]:
        """Return the numbers of a batch; raise an error if cells hold something else."""
        source, X = self.source, numbers.X
        for i, words in sorted(numbers.words.items()):
            if words.others:
                self._refuse_cell(self.numbers[i], words.example)
        is_present = ~np.isnan(X)
        n_missing = len(X) - np.count_nonzero(is_present, axis=0)
        for i in np.flatnonzero(n_missing).tolist():
            self.gaps.missing[self.numbers[i]] += int(n_missing[i])
        n_infinite = np.count_nonzero(np.isinf(X), axis=0)
        infinite = {self.numbers[i]: int(n_infinite[i]) for i in np.flatnonzero(n_infinite)}
        refuse_infinite(
            infinite, len(X), f"{source.path}, rows {first + 1:,} to {first + len(X):,}"
        )
        return X

    def _refuse_cell(self, name: str, cell: str) -> None:
        source, kind = self.source, self._kind(name)
        noun = NOUN.get(kind, "a number")
        if source.decimal == "." and kind == NUMBER and re.match(WITH_COMMA, cell):
            way_out = DECIMAL_COMMA
        else:
            way_out = (
                f"Use {missing_option(cell)} if this marks missing values; otherwise correct it, "
                f"or fit a model without the column: --drop {shlex.quote(name)}"
            )
        raise ValueError(
            f"{source.path}, {source.line_of(name, cell)}the column {name} holds {cut(cell)!r}, "
            f"which is not {noun}. {way_out}"
        )

    def _matrix(self, X: NDArray[Any]) -> NamedTable:
        """Complete the matched columns to the features of the model; absent ones are 0."""
        columns = self._columns
        if columns.absent:
            matched = X
            X = np.zeros((len(X), len(columns.names)), X.dtype)
            X[:, columns.places] = matched
        return NamedTable(X, columns.names)

    def _table(self, X: NDArray[Any], others: Any) -> Any:
        """Make an Arrow table of the features."""
        pa = arrow()
        found = {name: self._readers[name](others.column(name)) for name in self._values}
        for i, name in enumerate(self.numbers):
            is_boolean = self._kind(name) == BOOLEAN
            found[name] = self._booleans(name, X[:, i]) if is_boolean else pa.array(X[:, i])
        return pa.table({name: found[name] for name in self._columns.names})

    def _booleans(self, name: str, numbers: NDArray[Any]) -> Any:
        odd = numbers[~np.isin(numbers, (0, 1)) & ~np.isnan(numbers)]
        if len(odd):
            self._refuse_cell(name, f"{odd[0]:g}")
        return booleans(numbers)

    def _reader(self, name: str, kind: ColumnKind) -> Callable[[Any], Any]:
        """Return a function that converts the cells of a column."""
        gaps, missing = self.gaps, self.source.missing
        if kind.kind == CATEGORY:
            known = KnownCategories(kind.categories or (), missing, self.source.decimal or ".")

            def categories(column: Any) -> Any:
                found = known.match(column)
                gaps.missing[name] += found.n_missing
                gaps.unknown[name] += found.n_unknown
                if found.n_unknown:
                    gaps.examples.setdefault(name, found.example)
                return found.column

            return categories

        def values(column: Any) -> Any:
            column = decoded(column)
            if not arrow().types.is_null(column.type):
                self._refuse_type(name, column_type(column.type))
            if is_string(column.type):
                column = self._times(name, column)
            gaps.missing[name] += column.null_count
            return column

        return values

    def _times(self, name: str, column: Any) -> Any:
        """Convert dates or durations in text."""
        compute = arrow("compute")
        cells = column.cast(arrow().string())
        found = text_as_times(cells, self._kind(name), self.source.missing)
        is_missing = self.source.missing.among(compute.utf8_trim_whitespace(cells))
        odd = compute.and_not(compute.and_(cells.is_valid(), found.is_null()), is_missing)
        if compute.any(odd).as_py():
            self._refuse_cell(name, cells.filter(odd)[0].as_py())
        return found


def joined(parts: list[Any]) -> Any:
    """Join tables or arrays; each array is freed as it is copied."""
    if not isinstance(parts[0], NamedTable):
        return arrow().concat_tables(parts)
    names = parts[0].columns
    dtype = np.result_type(*(part.values.dtype for part in parts))
    end = sum(map(len, parts))
    X = np.empty((end, len(names)), dtype)
    while parts:
        part = parts.pop()
        X[end - len(part) : end] = part.values
        end -= len(part)
    return NamedTable(X, names)
