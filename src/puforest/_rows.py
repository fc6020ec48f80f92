"""Rows of tables of any library."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from puforest._encoded import EncodedTable
from puforest._named_table import NamedTable


def take_rows(X: Any, rows: NDArray[Any] | slice) -> Any:
    """Return rows by index or slice, as a table of the same type.

    Sparse matrices become CSR, and lists become arrays.
    """
    if isinstance(X, NamedTable):
        return NamedTable(X.values[rows], X.columns)
    if hasattr(X, "iloc"):  # pandas
        return X.iloc[rows]
    if sp.issparse(X):
        return X.tocsr()[rows]
    if hasattr(X, "column_names"):  # Arrow
        return X.take(np.arange(X.num_rows)[rows] if isinstance(rows, slice) else rows)
    if isinstance(X, np.ndarray | EncodedTable) or hasattr(X, "to_series"):  # polars
        return X[rows]
    return np.asarray(sliceable(X))[rows]


def sliceable(X: Any) -> Any:
    """Return X, or an array if it is a list of rows; cells keep their types unless all are numbers.

    NumPy would turn numbers next to text into text, and booleans next to numbers into numbers; a
    table of booleans would count as numbers. Rows of different lengths are kept as they are.
    """
    if not isinstance(X, list | tuple):
        return X
    try:
        array = np.asarray(X)
    except ValueError:
        array = np.empty(len(X), dtype=object)
        array[:] = X
        return array
    if array.dtype.kind in "cMm" or array.ndim > 2:
        return array
    cells = X if array.ndim == 1 or not len(X) else X[0]
    is_boolean = array.ndim == 2 and any(isinstance(cell, bool | np.bool_) for cell in cells)
    if array.dtype.kind in "biuf" and not is_boolean:
        return array
    if array.ndim == 1 and all(isinstance(cell, str) for cell in cells):
        return array
    return np.array(X, dtype=object)
