"""Columns of tables of any type: arrays, sparse matrices, pandas, polars and Arrow."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from puforest._encoded import EncodedTable
from puforest._named_table import NamedTable

Indices = NDArray[np.intp]


def take_columns(X: Any, columns: Indices) -> Any:
    """Return the columns with these indices, as a table of the same type."""
    if hasattr(X, "iloc"):
        return X.iloc[:, columns]
    if _is_arrow(X):
        return X.select(columns.tolist())
    if isinstance(X, NamedTable):
        return NamedTable(X.values[:, columns], [X.columns[j] for j in columns])
    return (X.tocsr() if sp.issparse(X) else X)[:, columns]


def column_of(X: Any, j: int) -> Any:
    """Return a column as the table stores it."""
    if hasattr(X, "iloc"):
        return X.iloc[:, j]
    if _is_arrow(X):
        return X.column(j)
    if isinstance(X, NamedTable | EncodedTable):
        return column_of(X.values, j)
    return X.tocsr()[:, [j]].toarray().ravel() if sp.issparse(X) else X[:, j]


def take_cells(column: Any, rows: Indices) -> Any:
    """Return the cells of a column in these rows."""
    if hasattr(column, "iloc"):
        return column.iloc[rows]
    return column.take(rows) if _is_arrow(column) else column[rows]


def with_column(X: Any, j: int, column: Any) -> Any:
    """Return a table with another column: cells of the same column, or an array of numbers."""
    if hasattr(X, "iloc"):
        changed = X.copy(deep=False)
        changed.isetitem(j, getattr(column, "array", column))  # not aligned by its index
        return changed
    if _is_arrow(X):
        chunks = [column] if isinstance(column, np.ndarray) else column
        return X.set_column(j, X.column_names[j], chunks)
    if hasattr(X, "with_columns"):  # polars
        return X.with_columns(**{X.columns[j]: column})
    if isinstance(X, NamedTable):
        return NamedTable(with_column(X.values, j, column), X.columns)
    if isinstance(X, EncodedTable):
        return EncodedTable(with_column(X.values, j, column), X.categorical)
    if sp.issparse(X):
        return _with_sparse_column(X.tocoo(), j, np.asarray(column))
    changed = X.astype(np.result_type(X, column))  # a copy; numbers may lie between integers
    changed[:, j] = column
    return changed


def _with_sparse_column(X: sp.coo_array, j: int, column: NDArray[Any]) -> sp.csr_array:
    others, rows = X.col != j, np.flatnonzero(column)
    data = np.concatenate([X.data[others], column[rows].astype(X.dtype)])
    index = (
        np.concatenate([X.row[others], rows]),
        np.concatenate([X.col[others], np.full(len(rows), j)]),
    )
    changed = sp.csr_array((data, index), shape=X.shape)
    changed.sort_indices()
    return changed


def _is_arrow(X: Any) -> bool:
    return type(X).__module__.partition(".")[0] == "pyarrow"
