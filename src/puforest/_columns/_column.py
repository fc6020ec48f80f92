"""One column of a table, as read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Column:
    """Values of a column and their kind.

    Attributes
    ----------
    kind : {"number", "category", "boolean", "datetime", "duration", "missing"}
        Kind of the values; "missing" if there are none and their type is unknown.
    values : ndarray of shape (n_samples,)
        Numbers of any type, with NaN for missing values; 0 and 1 for booleans, and days for dates
        and durations. For categories, the position of each label in `labels`, and -1 for missing
        values.
    labels : sequence or None
        Distinct labels of categories, in any order. Some may not occur.
    is_text : bool
        Whether the categories are strings without a categorical type.
    """

    kind: str
    values: NDArray[Any]
    labels: Sequence[Any] | None = None
    is_text: bool = False


def missing_column(n: int) -> Column:
    """Return a column of missing values."""
    return Column("missing", np.broadcast_to(np.float32(np.nan), n))


def nested_error(place: str, found: str) -> TypeError:
    """Make the error for a column whose cells are not single values."""
    return TypeError(
        f"{place} has cells of type {found}, but the argument must be a table of strings, numbers, "
        "booleans, dates or durations: unpack the column into several columns, or drop it"
    )


def complex_error(place: str) -> ValueError:
    """Make the error for complex numbers."""
    return ValueError(
        f"{place} has complex numbers: Complex data not supported. Pass the real and the imaginary "
        "parts as separate columns."
    )


def as_categories(column: Column) -> Column:
    """Turn numbers into categories; integers become labels of type int."""
    values = column.values
    present = ~np.isnan(values) if values.dtype.kind == "f" else np.ones(len(values), dtype=bool)
    found, inverse = np.unique(values[present], return_inverse=True)
    codes = np.full(len(values), -1)
    codes[present] = inverse.ravel()
    return Column("category", codes, [tidy_number(value) for value in found.tolist()])


def tidy_number(value: Any) -> Any:
    """Return an integer if the value is equal to one, so that 3.0 and 3 are the same label."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


class TableColumns:
    """Columns of a table, by position.

    Attributes
    ----------
    names : list
        Names of the columns, of any type.
    shape : tuple of int
        Number of rows and columns.
    plain : ndarray of bool
        Mask of the columns of plain numbers, which `fill` reads many at a time.
    plain_types : list of dtype
        Types of these columns.
    """

    def __init__(self, names: list[Any], shape: tuple[int, int]) -> None:
        self.names = names
        self.shape = shape
        self.plain = np.zeros(shape[1], dtype=bool)
        self.plain_types: list[np.dtype[Any]] = []

    def sparse(self) -> Any:
        """Return the table as a sparse matrix if all columns are sparse, else None."""
        return None

    def to_read(self, others: Iterable[int]) -> list[int]:
        """Return the columns that are not plain numbers, and the given ones."""
        return sorted({*np.flatnonzero(~self.plain).tolist(), *others})

    def fill(self, matrix: NDArray[Any]) -> None:
        """Write the columns of plain numbers into a matrix."""

    def read(self, j: int, place: str) -> Column:
        """Read a column; `place` is its name in error messages."""
        raise NotImplementedError
