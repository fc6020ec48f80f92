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
    return (array_of_rows(X) if isinstance(X, list | tuple) else np.asarray(X))[rows]


def array_of_rows(X: Any) -> Any:
    """Convert lists of rows; cells keep their types unless all of them are numbers.

    NumPy would turn numbers next to text into text, and booleans next to numbers into numbers; an
    array of booleans would count as numbers.
    """
    try:
        array = np.asarray(X)
    except ValueError:  # rows of different lengths, which scikit-learn's checks explain
        return X
    if array.ndim != 2 or array.dtype.kind in "cMm":
        return array
    is_boolean = len(X) and any(isinstance(cell, bool | np.bool_) for cell in X[0])
    if array.dtype.kind in "iuf" and not is_boolean:
        return array
    return np.array(X, dtype=object)
