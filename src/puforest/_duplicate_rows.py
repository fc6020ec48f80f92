"""Detection of duplicate rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from puforest import _core
from puforest import _validation as check
from puforest._columns import TableColumns
from puforest._encoded import EncodedTable
from puforest._matrix import column_place, opened, stacked


def row_contents(table: EncodedTable) -> NDArray[np.uint64]:
    """Return a hash of the contents of each row. Missing values are equal to each other."""
    hashes: NDArray[np.uint64] = _core.row_hashes(table.native())
    return hashes


def duplicate_groups(X: check.MatrixLike) -> NDArray[np.intp]:
    """Number the distinct rows in order of appearance; return the number of each row.

    Rows are compared by 64-bit hashes.
    """
    hashes = row_contents(_numbers(X))
    _, first, group = np.unique(hashes, return_index=True, return_inverse=True)
    number = np.empty_like(first)
    number[np.argsort(first)] = np.arange(len(first))
    return number[group]


def labeled_duplicates(X: check.MatrixLike, labeled: NDArray[np.bool_]) -> int:
    """Count the labeled rows that also appear in the unlabeled set."""
    group = duplicate_groups(X)
    return int(np.isin(group[labeled], group[~labeled]).sum())


def _numbers(X: check.MatrixLike) -> EncodedTable:
    """Represent each cell by a number, such that equal cells of a column are equal numbers."""
    if isinstance(X, EncodedTable):
        return X
    found = opened(X)
    if not isinstance(found, TableColumns):
        return EncodedTable(found)

    def place(j: int) -> str:
        return column_place(j, found.names)

    encoded = {j: found.read(j, place(j)).values for j in found.to_read(())}
    return EncodedTable(stacked(found, encoded, place))
