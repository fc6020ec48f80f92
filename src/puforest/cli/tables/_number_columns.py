"""Columns that may be numbers, collected while a table is read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from puforest.cli.tables._numbers import Numbers, Words
from puforest.cli.tables._source import CELLS

# With fewer rows, integers or words may all differ by chance.
MANY_ROWS = 50


class NumberColumns:
    """Columns converted to numbers, batch by batch.

    Parameters
    ----------
    names : list of str
        Names of the columns.

    Attributes
    ----------
    names : list of str
        Names of the columns.
    words : dict of int to Words
        Cells that are not plain numbers, by column position.
    n_rows : int
        Number of rows so far.
    n_present, n_finite : ndarray of shape (n_columns,)
        Number of cells of each column that are numbers, and finite numbers.
    is_constant : ndarray of shape (n_columns,)
        Whether all cells of a column are the same number.
    """

    def __init__(self, names: list[str]) -> None:
        self.names = names
        self.words: dict[int, Words] = {}
        self.n_rows = 0
        self._n_kept = 0
        self.n_present = np.zeros(len(names), np.int64)
        self.n_finite = np.zeros(len(names), np.int64)
        self.is_constant = np.ones(len(names), bool)
        self._first: NDArray[Any] = np.empty(0)
        self._parts: list[tuple[NDArray[np.intp], NDArray[Any]]] = []

    def add(self, batch: Numbers, rows: NDArray[np.intp] | None = None) -> None:
        """Add a batch; only columns that hold nothing but numbers so far are kept.

        If `rows` are given, only these rows are kept. The other attributes are of all rows.
        """
        for i, found in batch.words.items():
            before = self.words.get(i)
            self.words[i] = found if before is None else before + found
        X = batch.X
        if not self.n_rows and len(X):
            self._first = X[0].copy()
        self.n_rows += len(X)
        self.n_present += len(X) - np.count_nonzero(np.isnan(X), axis=0)
        self.n_finite += np.count_nonzero(np.isfinite(X), axis=0)
        if len(X):
            self.is_constant &= np.equal(X, self._first).all(axis=0)
        text = [i for i, found in self.words.items() if found.others]
        kept = np.delete(np.arange(len(self.names)), text)
        X = X if rows is None else X[rows]
        self._n_kept += len(X)
        self._parts.append((kept, X[:, kept] if text else X))

    def first(self, place: int) -> float:
        """Return the first cell of a column."""
        return float(self._first[place])

    def matrix(
        self, places: Sequence[int], order: Literal["C", "F"], n_more: int = 0
    ) -> NDArray[Any]:
        """Return a matrix of some columns, with more rows of nan at the end.

        Batches are freed as they are copied.
        """
        chosen = np.asarray(places, np.intp)
        dtype = np.result_type(*(part.dtype for _, part in self._parts))
        X = np.empty((self._n_kept + n_more, len(chosen)), dtype, order)
        end = self._n_kept
        X[end:] = np.nan
        while self._parts:
            kept, part = self._parts.pop()
            start = end - len(part)
            is_all = len(kept) == len(chosen)
            X[start:end] = part if is_all else part[:, np.searchsorted(kept, chosen)]
            end = start
        return X


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
