"""Reading the features of a table whose kinds are not known beforehand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from puforest._kinds import MAX_CATEGORIES
from puforest._named_table import NamedTable
from puforest.cli.tables._arrow import arrow
from puforest.cli.tables._features import (
    ColumnChoice,
    Features,
    LeftOut,
    remark_on_categories,
    text_kinds,
    why_numbers_left_out,
    why_values_left_out,
)
from puforest.cli.tables._kinds import BOOLEAN, CATEGORY, DATETIME, DURATION
from puforest.cli.tables._number_columns import NumberColumns, look_like_identifiers
from puforest.cli.tables._source import CELLS, Source, rows_at_a_time
from puforest.cli.tables._values import ValueColumn, booleans, number_codes, with_distinct

# Returns the positions of the rows to keep, given the number of the first row and of all rows.
Select = Callable[[int, int], NDArray[np.intp]]


class FeatureColumns:
    """Columns of a table that may be features.

    The types of a file tell the kinds of its columns. Columns of text files are read as numbers
    first; those that turn out to hold something else are read once more.

    Parameters
    ----------
    source : Source
        The table.
    wanted : list of str
        The columns.
    choice : ColumnChoice
        Columns that the user chose.
    """

    def __init__(self, source: Source, wanted: list[str], choice: ColumnChoice) -> None:
        self._source = source
        self._wanted = wanted
        self._choice = choice
        self._remarks: list[str] = []
        self._select: Select | None = None
        self._codes: dict[str, NDArray[Any]] = {}  # categories of columns of numbers
        types = source.column_types(wanted)
        self._left_out = {
            name: f"its type is {found.name}" for name, found in types.items() if not found.kind
        }
        self._kinds = {name: found.kind for name, found in types.items() if found.kind}
        for name in choice.categorical:
            if self._kinds.get(name) in (DATETIME, DURATION):
                raise ValueError(
                    f"--categorical {name}: the column holds {types[name].name}, which has an order"
                )
        self._values = {
            name: ValueColumn(kind, source.missing, from_text=False)
            for name, kind in self._kinds.items()
            if kind != BOOLEAN
        }
        apart = {*self._values, *self._left_out}
        self._numbers = NumberColumns([name for name in wanted if name not in apart])

    def read(self, label: str, select: Select | None = None) -> list[Any]:
        """Read all rows, and return the batches of the label column.

        With `select`, only the rows that it selects become part of the features. Columns are
        chosen, and kinds and categories found, by all rows.
        """
        labels, first = [], 0
        self._select = select
        n_rows = rows_at_a_time(len(self._wanted), 8 * CELLS)  # many batches are kept anyway
        for batch in self._source.batches(self._numbers.names, [label, *self._values], n_rows):
            rows = None if select is None else select(first, len(batch.numbers.X))
            self._numbers.add(batch.numbers, rows)
            if select is None:
                labels.append(batch.others.column(0))
            else:
                self._add_codes(batch.numbers.X)
            self._add_values(self._values, batch.others.columns[1:], rows)
            first += len(batch.numbers.X)
        return labels

    def _add_codes(self, X: NDArray[Any]) -> None:
        """Collect the categories of columns of numbers."""
        for name in self._choice.categorical:
            if name in self._numbers.names:
                cells = X[:, self._numbers.names.index(name)]
                found = np.union1d(self._codes.get(name, cells[:0]), cells[~np.isnan(cells)])
                self._codes[name] = found[: MAX_CATEGORIES + 1]

    def _read_words(self) -> None:
        """Read the columns of a text file again that hold something other than numbers."""
        found, self._remarks = text_kinds(self._source, self._numbers, self._choice.categorical)
        self._kinds |= found
        words = {
            name: ValueColumn(kind, self._source.missing, from_text=True)
            for name, kind in found.items()
            if kind != BOOLEAN
        }
        first = 0
        if words:
            for batch in self._source.batches([], list(words), rows_at_a_time(len(words))):
                n = batch.others.num_rows
                rows = None if self._select is None else self._select(first, n)
                self._add_values(words, batch.others.columns, rows)
                first += n
        self._values |= words

    @staticmethod
    def _add_values(
        columns: dict[str, ValueColumn], cells: Sequence[Any], rows: NDArray[np.intp] | None
    ) -> None:
        for column, part in zip(columns.values(), cells, strict=True):
            column.add(part, rows)

    def features(self) -> Features:
        """Return the features, and the columns that are left out."""
        self._read_words()
        required = self._choice.required
        values, distinct = {}, {}
        for name, column in self._values.items():
            cells = None if column.has_too_many else column.values()
            reason = why_values_left_out(column, cells, is_required=name in required)
            if reason:
                self._left_out[name] = reason
            else:
                values[name], distinct[name] = cells, column.distinct(cells)
                self._remarks += remarks_on(name, column, cells, required)
        numbers = self._numbers
        out = why_numbers_left_out(self._source, numbers, self._kinds, required)
        self._left_out |= {numbers.names[i]: reason for i, reason in out.items()}
        text = {i for i, name in enumerate(numbers.names) if name in self._values}
        places = [i for i in range(len(numbers.names)) if i not in out and i not in text]
        names = [numbers.names[i] for i in places]
        gaps = numbers.n_rows - numbers.n_present[places]
        infinite = numbers.n_present[places] - numbers.n_finite[places]
        kinds = {n: CATEGORY for n in self._choice.categorical if n not in self._left_out}
        kinds = {n: k for n, k in self._kinds.items() if n not in self._left_out} | kinds
        codes = {name: found for name, found in self._codes.items() if name in names}
        n_more = 0
        if self._select is not None:  # rows that are not used, with all categories
            n_more = max(map(len, (*distinct.values(), *codes.values())), default=0)
        order: Literal["C", "F"] = "F" if kinds else "C"
        X = numbers.matrix(places, order, n_more) if places else np.empty((0, 0))
        is_identifier = look_like_identifiers(X[: len(X) - n_more])
        for name, found in codes.items():
            X[len(X) - n_more :, names.index(name)][: len(found)] = found
        values = {name: with_distinct(v, distinct[name], n_more) for name, v in values.items()}
        n_missing = {name: self._values[name].n_missing for name in values}
        return Features(
            X=self._table(X, names, values, kinds) if kinds else NamedTable(X, names),
            names=[name for name in self._wanted if name not in self._left_out],
            kinds=kinds,
            missing={names[i]: int(gaps[i]) for i in np.flatnonzero(gaps)}
            | {name: n for name, n in n_missing.items() if n},
            infinite={names[i]: int(infinite[i]) for i in np.flatnonzero(infinite)},
            left_out=[LeftOut(n, self._left_out[n]) for n in self._wanted if n in self._left_out],
            identifiers=[names[i] for i in np.flatnonzero(is_identifier) if names[i] not in kinds],
            remarks=self._remarks,
        )

    def _table(
        self, X: Any, names: list[str], values: dict[str, Any], kinds: dict[str, str]
    ) -> Any:
        """Make an Arrow table of numbers and other values, in the order of the file."""
        pa = arrow()
        convert = {BOOLEAN: booleans, CATEGORY: number_codes}
        columns = dict(values)
        for i, name in enumerate(names):
            columns[name] = convert.get(kinds.get(name, ""), pa.array)(X[:, i])
        return pa.table({name: columns[name] for name in self._wanted if name in columns})


def remarks_on(name: str, column: ValueColumn, cells: Any, required: set[str]) -> list[str]:
    """Return warnings about a column, unless the user chose it."""
    if column.kind != CATEGORY or name in required:
        return []
    found = remark_on_categories(name, column, cells)
    return [] if found is None else [found]
