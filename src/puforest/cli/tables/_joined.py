"""Tables in several files: a folder, or files that match a pattern."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from puforest.cli.tables._kinds import ColumnType
from puforest.cli.tables._missing import MissingMarkers
from puforest.cli.tables._source import Batch, Source


class JoinedSource(Source):
    """The rows of several tables with the same columns, one after the other.

    Parameters
    ----------
    path : Path
        Folder or pattern, as named by the user.
    parts : list of Source
        The tables.
    """

    def __init__(self, path: Path, parts: list[Source]) -> None:
        self._parts = parts
        self.path = path
        first = parts[0]
        for part in parts[1:]:
            _require_alike(first, part)
        self.names = first.names
        self.kind = f"{len(parts):,} files, {first.kind}"
        known = [part.n_rows for part in parts if part.n_rows is not None]
        self.n_rows = sum(known) if len(known) == len(parts) else None
        self.label = first.label
        self.delimiter, self.decimal = first.delimiter, first.decimal
        self.item_size = first.item_size

    @property
    def missing(self) -> MissingMarkers:
        return self._parts[0].missing

    @missing.setter
    def missing(self, markers: MissingMarkers) -> None:
        self._parts = [copy.copy(part) for part in self._parts]
        for part in self._parts:
            part.missing = markers

    def batches(
        self, numbers: Sequence[str], others: Sequence[str], n_rows: int
    ) -> Iterator[Batch]:
        for i, part in enumerate(self._parts):
            for batch in part.batches(numbers, others, n_rows):
                self.progress = (i + part.progress) / len(self._parts)
                yield batch

    def types(self, numbers: Sequence[str], others: Sequence[str]) -> list[Any]:
        return self._parts[0].types(numbers, others)

    def column_types(self, columns: Sequence[str]) -> dict[str, ColumnType]:
        return self._parts[0].column_types(columns)

    def line_of(self, name: str, cell: str) -> str:
        for part in self._parts:
            line = part.line_of(name, cell)
            if line:
                return f"{part.path.name}, {line}"
        return ""


def _require_alike(first: Source, part: Source) -> None:
    """Raise an error if two tables do not have the same columns, of the same types."""
    if part.is_matrix or first.is_matrix:
        raise ValueError(
            f"{part.path}: only text, Parquet and Arrow files can be parts of a table in several "
            "files"
        )
    if list(part.names) != list(first.names):
        differs = sorted({*part.names} ^ {*first.names})
        example = f", such as {differs[0]}" if differs else ", in another order"
        raise ValueError(f"{part.path} has other columns than {first.path}{example}")
    names = list(dict.fromkeys(first.names))
    for name, one, other in zip(names, first.types([], names), part.types([], names), strict=True):
        if one != other:
            raise ValueError(
                f"{part.path}: the column {name} has the type {other}, but {one} in {first.path}: "
                "write both with the same type"
            )
