"""Reading the features of a table whose kinds are not known beforehand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

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
from puforest.cli.tables._values import ValueColumn, booleans, number_codes


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

    def read(self, label: str) -> list[Any]:
        """Read all rows, and return the batches of the label column."""
        labels = []
        n_rows = rows_at_a_time(len(self._wanted), 8 * CELLS)  # all batches are kept anyway
        for batch in self._source.batches(self._numbers.names, [label, *self._values], n_rows):
            self._numbers.add(batch.numbers)
            labels.append(batch.others.column(0))
            self._add_values(self._values, batch.others.columns[1:])
        return labels

    def _read_words(self) -> None:
        """Read the columns of a text file again that hold something other than numbers."""
        found, self._remarks = text_kinds(self._source, self._numbers, self._choice.categorical)
        self._kinds |= found
        words = {
            name: ValueColumn(kind, self._source.missing, from_text=True)
            for name, kind in found.items()
            if kind != BOOLEAN
        }
        if words:
            for batch in self._source.batches([], list(words), rows_at_a_time(len(words))):
                self._add_values(words, batch.others.columns)
        self._values |= words

    @staticmethod
    def _add_values(columns: dict[str, ValueColumn], cells: Sequence[Any]) -> None:
        for column, part in zip(columns.values(), cells, strict=True):
            column.add(part)

    def features(self) -> Features:
        """Return the features, and the columns that are left out."""
        self._read_words()
        required = self._choice.required
        values = {}
        for name, column in self._values.items():
            cells = column.values()
            reason = why_values_left_out(column.kind, cells, is_required=name in required)
            if reason:
                self._left_out[name] = reason
            else:
                values[name] = cells
                self._remarks += remarks_on(name, column.kind, cells, required)
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
        X = numbers.matrix(places, "F" if kinds else "C") if places else np.empty((0, 0))
        is_identifier = look_like_identifiers(X)
        return Features(
            X=self._table(X, names, values, kinds) if kinds else NamedTable(X, names),
            names=[name for name in self._wanted if name not in self._left_out],
            kinds=kinds,
            missing={names[i]: int(gaps[i]) for i in np.flatnonzero(gaps)}
            | {name: cells.null_count for name, cells in values.items() if cells.null_count},
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


def remarks_on(name: str, kind: str, cells: Any, required: set[str]) -> list[str]:
    """Return warnings about a column, unless the user chose it."""
    if kind != CATEGORY or name in required:
        return []
    found = remark_on_categories(name, cells)
    return [] if found is None else [found]
