"""Common interface of all file formats: named columns, read in batches."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from puforest.cli.tables._arrow import arrow
from puforest.cli.tables._kinds import ColumnType, decoded
from puforest.cli.tables._missing import MissingMarkers
from puforest.cli.tables._names import Names, alternatives
from puforest.cli.tables._numbers import Numbers

# Default number of values in a batch: 16 MB of float64.
CELLS = 2**21
MOST_ROWS = 2**16


class Batch(NamedTuple):
    """Rows of a table: columns converted to numbers, and a record batch of unchanged columns."""

    numbers: Numbers
    others: Any


class Source(ABC):
    """A table in a file.

    Attributes
    ----------
    path : Path
        The file, as named by the user.
    names : Names
        Column names in order, duplicates included.
    present : Names
        Columns that occur in the file: all of them, except in LIBSVM files.
    kind : str
        Format of the file, for messages.
    n_rows : int or None
        Number of rows, if known before reading.
    label : str or None
        The label column, if the format has one.
    absent_is_zero : bool
        Whether columns that do not occur are zero, as in LIBSVM files.
    delimiter, decimal : str or None
        Delimiter and decimal point of text files.
    is_matrix : bool
        Whether the file holds a matrix of numbers, as LIBSVM and NPZ files do.
    missing : MissingMarkers
        Values that mark missing cells.
    item_size : int
        Minimum number of bytes of a value in memory.
    progress : float
        Fraction of the file that `batches` has read.
    spooled : object
        Temporary file to keep while the table is read.
    """

    path: Path
    names: Names
    kind: str
    n_rows: int | None = None
    label: str | None = None
    absent_is_zero: bool = False
    delimiter: str | None = None
    decimal: str | None = None
    is_matrix: bool = False
    missing: MissingMarkers = MissingMarkers()
    item_size: int = 4
    progress: float = 0.0
    spooled: Any = None

    @property
    def present(self) -> Names:
        return self.names

    @abstractmethod
    def batches(
        self, numbers: Sequence[str], others: Sequence[str], n_rows: int
    ) -> Iterator[Batch]:
        """Read `numbers` as numbers and `others` unchanged; a column may be in both.

        A batch has at most `n_rows` rows, and only one is held at a time.
        """

    @abstractmethod
    def types(self, numbers: Sequence[str], others: Sequence[str]) -> list[Any]:
        """Return the Arrow types of `others` in the batches."""

    def column_types(self, columns: Sequence[str]) -> dict[str, ColumnType]:
        """Return the types of columns that are not numbers; those of text files are unknown."""
        return {}

    def line_of(self, name: str, cell: str) -> str:
        """Locate the first such cell, as the beginning of a message; "" if unknown."""
        return ""

    def require_columns(self, columns: Iterable[str], option: str) -> None:
        """Raise an error for names that do not exist, or are not unique."""
        for name in columns:
            times = self.names.times(name)
            if times == 0:
                raise ValueError(
                    f"{option} {name}: no such column in {self.path}, which has "
                    f"{alternatives(name, self.names)}"
                )
            if times > 1:
                raise ValueError(
                    f"{option} {name}: {self.path} has {times} columns of this name: rename them"
                )


def rows_at_a_time(n_columns: int, cells: int = CELLS) -> int:
    """Return the number of rows of a batch of about this many cells."""
    return max(1, min(MOST_ROWS, cells // max(1, n_columns)))


def sliced(batch: Any, n_rows: int) -> Iterator[Any]:
    """Slice a batch, without copies."""
    for start in range(0, batch.num_rows, n_rows):
        yield batch.slice(start, n_rows)


def columns_of(batch: Any) -> dict[str, Any]:
    """Return the columns of a batch by name; looking up each takes three times as long."""
    return dict(zip(batch.schema.names, batch.columns, strict=True))


def batch_of(columns: Sequence[Any], names: Sequence[str]) -> Any:
    """Make a record batch of decoded columns."""
    return arrow().record_batch([decoded(c) for c in columns], names=list(names))
