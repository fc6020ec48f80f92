"""Detection of duplicate rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from puforest import _validation as check
from puforest._columns import TableColumns
from puforest._encoded import EncodedTable
from puforest._matrix import column_place, opened, stacked

CELLS_AT_A_TIME = 1 << 16  # whose hashes fit into the cache


def duplicate_groups(X: check.MatrixLike) -> NDArray[np.intp]:
    """Number the distinct rows in order of appearance; return the number of each row.

    Missing values are equal to each other. Rows are compared by 64-bit hashes, which is several
    times as fast as sorting them.
    """
    table = _numbers(X)
    hashes = _sparse_hashes(table) if isinstance(table, sp.csr_array) else _dense_hashes(table)
    _, first, inverse = np.unique(hashes, return_index=True, return_inverse=True)
    number = np.empty(len(first), dtype=np.intp)
    number[np.argsort(first)] = np.arange(len(first))
    groups: NDArray[np.intp] = number[inverse]
    return groups


def labeled_duplicates(X: check.MatrixLike, labeled: NDArray[np.bool_]) -> int:
    """Count the labeled rows that also appear in the unlabeled set."""
    group = duplicate_groups(X)
    return int(np.isin(group[labeled], group[~labeled]).sum())


def _numbers(X: check.MatrixLike) -> NDArray[Any] | sp.csr_array:
    """Represent each cell by a number, such that equal cells of a column are equal numbers."""
    if isinstance(X, EncodedTable):
        return X.values
    found = opened(X)
    if not isinstance(found, TableColumns):
        return found

    def place(j: int) -> str:
        return column_place(j, found.names)

    encoded = {j: found.read(j, place(j)).values for j in found.to_read(())}
    return stacked(found, encoded, place)


def _dense_hashes(table: NDArray[Any]) -> NDArray[np.uint64]:
    """Add up hashes of the cells, which depend on the column."""
    n_rows, n_columns = table.shape
    salt = _mixed(np.arange(n_columns, dtype=np.uint64))
    has_missing = bool(np.isnan(np.min(table)))
    hashes = np.empty(n_rows, dtype=np.uint64)
    step = max(1, CELLS_AT_A_TIME // n_columns)
    for start in range(0, n_rows, step):
        cells = table[start : start + step] + 0.0  # turns -0.0 into 0.0, whose bytes differ
        if has_missing:
            cells[np.isnan(cells)] = np.nan  # which may have several patterns of bytes
        bits = np.ascontiguousarray(cells).view(f"u{cells.itemsize}").astype(np.uint64)
        hashes[start : start + step] = _mixed(bits ^ salt).sum(axis=1)
    return hashes


def _mixed(bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Map integers to integers that look random: the output function of SplitMix64."""
    bits = bits + np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


def _sparse_hashes(table: sp.csr_array) -> NDArray[np.int64]:
    filled = table.data != 0  # explicit zeros are equal to those that are not stored
    data = np.where(np.isnan(table.data), np.nan, table.data)
    indices = table.indices.astype(np.int64)

    def hashes() -> Iterator[int]:
        for start, stop in zip(table.indptr[:-1], table.indptr[1:], strict=True):
            kept = filled[start:stop]
            yield hash((indices[start:stop][kept].tobytes(), data[start:stop][kept].tobytes()))

    return np.fromiter(hashes(), dtype=np.int64, count=table.shape[0])
