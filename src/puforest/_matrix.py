"""Conversion of X to numbers, or to columns of any kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_array

from puforest import _validation as check
from puforest._columns import ArrayColumns, TableColumns, columns_of, is_data_frame
from puforest._rows import array_of_rows
from puforest._sparse import canonical

# Types that the core reads, and the number of cells up to which scikit-learn's checks dominate.
REAL_DTYPES = (np.dtype(np.float32), np.dtype(np.float64))
SMALL_SIZE = 2**16


def opened(X: check.MatrixLike, estimator: str = "") -> NDArray[Any] | sp.csr_array | TableColumns:
    """Convert X to a matrix if all its cells are numbers, or to columns that can be read.

    Matrices are of type float32 or float64, dense or sparse, and contain no infinity. `estimator`
    is the class name that error messages mention.
    """
    if is_data_frame(X):
        columns = columns_of(X)
        sparse = columns.sparse()
        if sparse is None and not (columns.plain.all() and columns.shape[1]):
            return columns
        X = X if sparse is None else sparse
    elif not sp.issparse(X):
        X = as_array(X)
        if isinstance(X, np.ndarray) and X.dtype.kind not in "biufc":
            return ArrayColumns(checked(X, estimator, dtype=None, ensure_all_finite=False))
    found = checked(X, estimator, dtype=real_dtype(X), accept_sparse="csr")
    return canonical(found) if sp.issparse(found) else in_steps(found)


def stacked(
    columns: TableColumns, encoded: Mapping[int, NDArray[Any]], place: Callable[[int], str]
) -> NDArray[Any]:
    """Combine encoded columns and plain numbers into a matrix without infinity."""
    dtype = smallest_float(*columns.plain_types, *(values.dtype for values in encoded.values()))
    matrix = np.empty(columns.shape, dtype, order="F")
    with np.errstate(over="ignore"):
        columns.fill(matrix)
        for j, values in encoded.items():
            matrix[:, j] = values
    for j in range(columns.shape[1]):
        if np.isinf(matrix[:, j]).any():
            raise ValueError(
                f"X contains infinity or a value too large for {dtype!r} in {place(j)}: replace "
                "it, by NaN if the value is missing"
            )
    return checked(matrix, "", ensure_all_finite=False)  # type: ignore[no-any-return]


def checked(X: Any, estimator: str, **options: Any) -> Any:
    """Convert X with scikit-learn's checks, whose options these are."""
    options = {"ensure_all_finite": "allow-nan", "input_name": "X"} | options
    with check.data_errors("X"):
        return check_array(X, estimator=estimator or None, **options)


def as_array(X: check.MatrixLike) -> Any:
    """Convert lists, masked arrays and other array-likes; masked entries are missing values."""
    if isinstance(X, Mapping) or (isinstance(X, list) and X and isinstance(X[0], Mapping)):
        what = "a dict" if isinstance(X, Mapping) else "a list of dicts"
        raise TypeError(f"X is {what}: convert it to a table, for example with pandas.DataFrame")
    if isinstance(X, list | tuple):
        if any(isinstance(row, np.ma.MaskedArray) for row in X):
            X = np.ma.stack(X)
        else:
            return array_of_rows(X)
    if isinstance(X, np.ma.MaskedArray):
        return _filled(X)
    if type(X).__name__ == "LazyFrame":
        raise TypeError("X is a polars LazyFrame: pass X.collect()")
    if type(X).__name__ == "Series":
        raise ValueError(
            "Expected 2D array, got 1D array instead: X is a Series. Select a row of a data frame "
            "with X.iloc[[0]] or X[0:1], and a column with X[['name']]"
        )
    if not isinstance(X, np.ndarray) and hasattr(X, "__array__"):
        X = np.asarray(X)
    if isinstance(getattr(X, "dtype", None), np.dtype) and X.dtype.names:
        raise TypeError(
            "X is a structured array: convert it with "
            "numpy.lib.recfunctions.structured_to_unstructured(X)"
        )
    return X


def _filled(X: Any) -> Any:
    """Replace masked entries by NaN, or by None in arrays of objects."""
    if not np.ma.getmaskarray(X).any():
        return np.asarray(X)
    if X.dtype.kind in "biuf":
        return X.astype(smallest_float(X.dtype)).filled(np.nan)
    if X.dtype.kind in "Mm":
        return X.filled(np.array("NaT", dtype=X.dtype))
    return np.where(np.ma.getmaskarray(X), None, X.data.astype(object))


def smallest_float(*dtypes: Any) -> np.dtype[Any]:
    """Choose float32 if it holds every value of the given types, else float64."""
    fits = all(np.can_cast(dtype, np.float32) for dtype in dtypes)
    return np.dtype(np.float32 if fits else np.float64)


def real_dtype(X: Any) -> Any:
    """Choose the `dtype` argument of `check_array`: float32 if it holds every value of X."""
    dtype = getattr(X, "dtype", None)
    if isinstance(dtype, np.dtype) and smallest_float(dtype) == np.float32:
        return np.float32
    return [np.float64, np.float32]


def is_small_and_clean(X: Any, n_features: int) -> bool:
    """Return whether X is a small array that `opened` would return unchanged."""
    return (
        type(X) is np.ndarray
        and X.dtype in REAL_DTYPES
        and X.ndim == 2
        and X.shape[1] == n_features
        and 0 < X.size <= SMALL_SIZE
        and is_in_steps(X)
        and not np.isinf(X).any()
    )


def is_in_steps(X: NDArray[Any]) -> bool:
    """Return whether strides are multiples of the cell size, as the core requires."""
    return X.flags.aligned and all(stride % X.itemsize == 0 for stride in X.strides)


def in_steps(X: NDArray[Any]) -> NDArray[Any]:
    """Return X, or a copy if its strides are not multiples of the cell size."""
    return X if is_in_steps(X) else X.copy()
