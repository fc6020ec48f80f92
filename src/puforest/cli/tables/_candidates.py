"""Detection of feature columns while a table is read."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from puforest.cli.tables._names import cut, name_list
from puforest.cli.tables._numbers import NotNumbers, Numbers
from puforest.cli.tables._source import CELLS

# With fewer rows, integers may all differ by chance.
MANY_ROWS = 50

DECIMAL_COMMA = "If these are numbers with a decimal comma, use --decimal ,"


@dataclass(frozen=True)
class LeftOut:
    """A column that is not used as a feature.

    Attributes
    ----------
    name : str
        Name of the column.
    reason : str
        Why it is left out.
    suspicious : bool
        Whether it was probably meant as a feature.
    decimal_comma : bool
        Whether most values would be numbers if the comma were the decimal point.
    """

    name: str
    reason: str
    suspicious: bool = False
    decimal_comma: bool = False


class CandidateColumns:
    """Columns that may be features, collected batch by batch.

    Parameters
    ----------
    names : list of str
        Names of the columns.
    """

    def __init__(self, names: list[str]) -> None:
        self.names = names
        self._n_rows = 0
        self._n_numbers = np.zeros(len(names), np.int64)
        self._n_finite = np.zeros(len(names), np.int64)
        self._not_numbers: dict[int, NotNumbers] = {}
        self._parts: list[tuple[NDArray[np.intp], NDArray[Any]]] = []

    def add(self, batch: Numbers) -> None:
        """Add a batch; only columns that hold nothing but numbers so far are kept."""
        for i, found in batch.not_numbers.items():
            before = self._not_numbers.get(i)
            self._not_numbers[i] = found if before is None else before + found
        n = len(batch.X)
        self._n_rows += n
        self._n_numbers += n - np.count_nonzero(np.isnan(batch.X), axis=0)
        self._n_finite += np.count_nonzero(np.isfinite(batch.X), axis=0)
        kept = np.delete(np.arange(len(self.names)), list(self._not_numbers))
        self._parts.append((kept, batch.X if len(kept) == len(self.names) else batch.X[:, kept]))

    def _places(self) -> NDArray[np.intp]:
        """Return the positions of the features."""
        is_feature = self._n_numbers > 0
        is_feature[list(self._not_numbers)] = False
        return np.flatnonzero(is_feature)

    def features(self) -> list[str]:
        """Return the names of the columns that hold numbers and nothing else."""
        return [self.names[i] for i in self._places().tolist()]

    def left_out(self, decimal: str | None) -> list[LeftOut]:
        """Return the other columns.

        `decimal` is the decimal point of text files, None for other formats.
        """
        is_empty = self._n_numbers == 0
        is_empty[list(self._not_numbers)] = False
        found = {i: LeftOut(self.names[i], "empty") for i in np.flatnonzero(is_empty).tolist()}
        for i, cells in self._not_numbers.items():
            given = int(self._n_numbers[i]) + cells.count
            found[i] = _why_left_out(self.names[i], cells, given, decimal)
        return [found[i] for i in sorted(found)]

    def gaps(self) -> dict[str, int]:
        """Count the missing and infinite values of each feature that has any."""
        places = self._places()
        missing = self._n_rows - self._n_finite[places]
        gaps = np.flatnonzero(missing)
        return {self.names[places[i]]: int(missing[i]) for i in gaps}

    def matrix(self) -> NDArray[Any]:
        """Return the feature matrix; batches are freed as they are copied."""
        places = self._places()
        dtype = np.result_type(*(part.dtype for _, part in self._parts))
        X = np.empty((self._n_rows, len(places)), dtype)
        end = self._n_rows
        while self._parts:
            kept, part = self._parts.pop()
            start = end - len(part)
            is_all = len(kept) == len(places)
            X[start:end] = part if is_all else part[:, np.searchsorted(kept, places)]
            end = start
        return X


def _why_left_out(name: str, cells: NotNumbers, given: int, decimal: str | None) -> LeftOut:
    if given == 0:
        return LeftOut(name, "empty")
    if cells.count == 0:
        return LeftOut(name, "numbers stored as text", suspicious=True)
    example = f"such as {cells.example[:20]!r}"
    if decimal == "." and 2 * cells.with_comma > cells.count:
        return LeftOut(name, f"text, {example}", suspicious=True, decimal_comma=True)
    if 2 * cells.count < given:
        some = f"{cells.count:,} of {given:,} values are not numbers"
        return LeftOut(name, f"{some}, {example}", suspicious=True)
    return LeftOut(name, f"text, {example}")


def look_like_identifiers(X: NDArray[Any]) -> NDArray[np.bool_]:
    """Find columns of integers that differ in every row, if there are many rows."""
    n, width = X.shape
    if n < MANY_ROWS:
        return np.zeros(width, bool)
    found = np.zeros(width, bool)
    for some in np.array_split(np.arange(width), 1 + width * n // CELLS):
        integers = some[(np.rint(X[:, some]) == X[:, some]).all(axis=0)]
        ordered = np.sort(X[:, integers], axis=0)
        found[integers] = (ordered[1:] != ordered[:-1]).all(axis=0)
    return found


def refuse_gaps(gaps: dict[str, int], n_rows: int, where: str) -> None:
    """Raise an error that names the columns with missing or infinite values, if any."""
    if not gaps:
        return
    counts = name_list([f"{cut(name)} ({count:,})" for name, count in gaps.items()])
    drop = " ".join(f"--drop {shlex.quote(name)}" for name in list(gaps)[:3])
    more = " and so on" if len(gaps) > 3 else ""
    raise ValueError(
        f"{where}: missing or infinite values in {counts}; in parentheses, how many of "
        f"{n_rows:,} rows. Impute them first, or fit without these columns: {drop}{more}"
    )
