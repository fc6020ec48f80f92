"""What every kind of file is read as: columns with names, by batches."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from puforest.cli.tables._arrow import arrow


class Rows(NamedTuple):
    """Some rows of a table, as two record batches: of numbers, and of columns as they are."""

    numbers: Any
    others: Any


class Source(ABC):
    """A table in a file.

    Attributes
    ----------
    path : Path
        The file.
    names : list of str
        Its columns, in order; twice where they stand twice.
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
    progress : float
        Share of the file that `batches` has read.
    """

    path: Path
    names: list[str]
    kind: str
    n_rows: int | None = None
    label: str | None = None
    absent_is_zero: bool = False
    decimal: str | None = None
    progress: float = 0.0

    @abstractmethod
    def batches(self, numbers: Sequence[str], others: Sequence[str], n_rows: int) -> Iterator[Rows]:
        """The columns `numbers` as float64 and `others` as they are; a column may be in both.

        No batch has more than `n_rows` rows, and none is kept.
        """

    @abstractmethod
    def read(self, columns: Sequence[str], as_text: Sequence[str]) -> Any:
        """A whole table of these columns, in their own types.

        Where the file has no types but only text, they are found out, and columns of `as_text`
        stay text.
        """

    @abstractmethod
    def types(self, numbers: Sequence[str], others: Sequence[str]) -> list[Any]:
        """Types of the columns `others`, as `batches` has them."""

    def require(self, columns: Iterable[str], option: str) -> None:
        """Refuse names that are not in the file, or more than once."""
        times = Counter(self.names)
        for name in columns:
            if times[name] == 0:
                raise ValueError(
                    f"{option} {name}: {self.path} has no such column; it has {shown(self.names)}"
                )
            if times[name] > 1:
                raise ValueError(
                    f"{option} {name}: {self.path} has {times[name]} columns of this name: "
                    "rename them"
                )


def shown(names: Sequence[str], most: int = 10) -> str:
    """The first names, for messages."""
    some = ", ".join(names[:most])
    return some if len(names) <= most else f"{some} and {len(names) - most:,} more"


def sliced(batch: Any, n_rows: int) -> Iterator[Any]:
    """Parts of a batch, without copies."""
    for start in range(0, batch.num_rows, n_rows):
        yield batch.slice(start, n_rows)


def typed_rows(batch: Any, numbers: Sequence[str], others: Sequence[str], path: Path) -> Rows:
    """The `numbers` of a batch as float64, and `others` without dictionaries."""
    pa, compute = arrow(), arrow("compute")
    columns = []
    for name in numbers:
        column = batch.column(name)
        if not is_number(column.type):
            raise ValueError(
                f"{path}: the column {name} is a feature of the model but holds {column.type}, "
                "no numbers"
            )
        columns.append(compute.cast(plain(column), pa.float64(), safe=False))
    kept = [batch.column(name) for name in others]
    plain_kept = [c.dictionary_decode() if is_dictionary(c.type) else c for c in kept]
    return Rows(
        pa.record_batch(columns, names=list(numbers)),
        pa.record_batch(plain_kept, names=list(others)),
    )


def plain(column: Any) -> Any:
    """Truth values as whole numbers, which pyarrow casts on; all else as it is."""
    pa, compute = arrow(), arrow("compute")
    return compute.cast(column, pa.uint8()) if pa.types.is_boolean(column.type) else column


def is_dictionary(kind: Any) -> bool:
    return bool(arrow().types.is_dictionary(kind))


def is_number(kind: Any) -> bool:
    """Whether values of this type are numbers, truth values among them."""
    types = arrow().types
    return bool(
        types.is_integer(kind)
        or types.is_floating(kind)
        or types.is_boolean(kind)
        or types.is_decimal(kind)
    )
