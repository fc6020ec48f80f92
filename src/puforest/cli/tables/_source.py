"""What every kind of file is read as: columns with names, by batches."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from puforest.cli.tables._arrow import arrow
from puforest.cli.tables._names import Names, shown
from puforest.cli.tables._numbers import Numbers, decoded

# Values of a batch, if nothing else is asked for: 16 MB of float64.
CELLS = 2**21
MOST_ROWS = 2**16


class Rows(NamedTuple):
    """Some rows of a table: columns read as numbers, and a record batch of others as they are."""

    numbers: Numbers
    others: Any


class Source(ABC):
    """A table in a file.

    Attributes
    ----------
    path : Path
        The file, as the user named it.
    names : Names
        Its columns, in order; twice where they stand twice.
    present : Names
        The columns that the file says something about: all of them, but in LIBSVM files.
    kind : str
        What the file was taken for.
    n_rows : int or None
        Number of rows, where the file says it before it is read.
    label : str or None
        The column of labels, where the format has one.
    absent_is_zero : bool
        Whether columns that are not there hold zeros, as in LIBSVM files.
    decimal : str or None
        The decimal point, where numbers are text.
    item_size : int
        Bytes that a number takes in memory, at least.
    progress : float
        Share of the file that `batches` has read.
    spooled : object
        What must live as long as the table is read.
    """

    path: Path
    names: Names
    kind: str
    n_rows: int | None = None
    label: str | None = None
    absent_is_zero: bool = False
    decimal: str | None = None
    item_size: int = 4
    progress: float = 0.0
    spooled: Any = None

    @property
    def present(self) -> Names:
        return self.names

    @abstractmethod
    def batches(self, numbers: Sequence[str], others: Sequence[str], n_rows: int) -> Iterator[Rows]:
        """The columns `numbers` as numbers, and `others` as they are; a column may be in both.

        No batch has more than `n_rows` rows, and none is kept.
        """

    @abstractmethod
    def types(self, numbers: Sequence[str], others: Sequence[str]) -> list[Any]:
        """Arrow types of the columns `others`, as `batches` has them."""

    def unreadable(self, columns: Sequence[str]) -> dict[str, str]:
        """Columns that cannot be read as numbers, whatever they hold, and their types."""
        return {}

    def line_of(self, name: str, cell: str) -> str:
        """Where a column first holds a cell, as the beginning of a message; nothing if unknown."""
        return ""

    def require(self, columns: Iterable[str], option: str) -> None:
        """Refuse names that are not in the file, or more than once."""
        for name in columns:
            times = self.names.times(name)
            if times == 0:
                raise ValueError(
                    f"{option} {name}: {self.path} has no such column; it has {shown(self.names)}"
                )
            if times > 1:
                raise ValueError(
                    f"{option} {name}: {self.path} has {times} columns of this name: rename them"
                )


def rows_at_a_time(n_columns: int, cells: int = CELLS) -> int:
    """A good number of rows to read at a time, of about so many cells."""
    return max(1, min(MOST_ROWS, cells // max(1, n_columns)))


def sliced(batch: Any, n_rows: int) -> Iterator[Any]:
    """Parts of a batch, without copies."""
    for start in range(0, batch.num_rows, n_rows):
        yield batch.slice(start, n_rows)


def columns_of(batch: Any) -> dict[str, Any]:
    """The columns of a batch by name; looking each of them up takes three times as long."""
    return dict(zip(batch.schema.names, batch.columns, strict=True))


def batch_of(columns: Sequence[Any], names: Sequence[str]) -> Any:
    """A record batch of these columns, without dictionaries."""
    return arrow().record_batch([decoded(c) for c in columns], names=list(names))
