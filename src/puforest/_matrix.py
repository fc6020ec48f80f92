"""Conversion of X to numbers, or to columns of any kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import assert_all_finite
from sklearn.utils.validation import check_array

from puforest import _validation as check
from puforest._columns import (
    ArrayColumns,
    TableColumns,
    columns_of,
    complex_error,
    is_data_frame,
)
from puforest._named_table import NamedTable
from puforest._rows import sliceable
from puforest._sparse import canonical

# Types that the core reads, and the number of cells up to which scikit-learn's checks dominate.
REAL_DTYPES = (np.dtype(np.float32), np.dtype(np.float64))
SMALL_SIZE = 2**16


def opened(X: check.MatrixLike, estimator: str = "") -> NDArray[Any] | sp.csr_array | TableColumns:
    """Convert X to a matrix if all its cells are numbers, or to columns that can be read.

    Matrices are of type float32 or float64, dense or sparse, and contain no infinity. `estimator`
    is the class name that error messages mention.
    """
    names = X.columns if isinstance(X, NamedTable) else None
    if is_data_frame(X):
        columns = columns_of(X)
        sparse = columns.sparse()
        if sparse is None and not (columns.plain.all() and columns.shape[1]):
            return columns
        X, names = X if sparse is None else sparse, columns.names
    else:
        X = as_array(X)
        if X.dtype.kind not in "biufc":
            return ArrayColumns(checked(X, estimator, dtype=None, ensure_all_finite=False))
    refuse_complex(X)
    found = checked(X, estimator, dtype=real_dtype(X), accept_sparse="csr", ensure_all_finite=False)
    refuse_infinity(found, lambda j: column_place(j, names))
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
    refuse_infinity(matrix, place)
    return checked(matrix, "", ensure_all_finite=False)  # type: ignore[no-any-return]


def column_place(j: int, names: Sequence[Any] | None) -> str:
    """Return the name of a column in messages."""
    return f"X[:, {j}]" if names is None else f"X[{names[j]!r}]"


def refuse_complex(X: Any) -> None:
    """Refuse matrices of complex numbers."""
    if getattr(getattr(X, "dtype", None), "kind", "") == "c":
        raise complex_error("X")


def refuse_infinity(matrix: Any, place: Callable[[int], str]) -> None:
    """Refuse infinite values of a matrix; the error names the first column that has some."""
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # the sum of all cells may overflow
            assert_all_finite(matrix, allow_nan=True)
    except ValueError:
        if sp.issparse(matrix):
            j = matrix.indices[np.isinf(matrix.data)].min()
        else:
            j = next(j for j in range(matrix.shape[1]) if np.isinf(matrix[:, j]).any())
        raise ValueError(
            f"X contains infinity or a value too large for {matrix.dtype!r} in {place(int(j))}: "
            "replace it, by NaN if the value is missing"
        ) from None


def checked(X: Any, estimator: str, **options: Any) -> Any:
    """Convert X with scikit-learn's checks, whose options these are."""
    with check.data_errors("X"):
        return check_array(X, estimator=estimator or None, input_name="X", **options)


def as_array(X: check.MatrixLike) -> Any:
    """Convert lists, masked arrays and other array-likes to arrays with rows and columns.

    Masked entries are missing values. Sparse matrices are returned as they are.
    """
    X = X.values if isinstance(X, NamedTable) else X
    if sp.issparse(X):
        return X
    if type(X).__name__ == "LazyFrame":
        raise TypeError("X is a polars LazyFrame: pass X.collect()")
    if isinstance(X, list | tuple) and any(isinstance(row, np.ma.MaskedArray) for row in X):
        X = np.ma.stack(X)
    array = _filled(X) if isinstance(X, np.ma.MaskedArray) else np.asarray(sliceable(X))
    if array.dtype.names:
        raise TypeError(
            "X is a structured array: convert it with "
            "numpy.lib.recfunctions.structured_to_unstructured(X)"
        )
    if array.ndim != 2:
        raise _not_a_table(array, X)
    return array


def _not_a_table(array: NDArray[Any], X: Any) -> TypeError | ValueError:
    """Make the error for an array without rows or without columns."""
    kind = type(X).__name__
    if array.ndim == 0 and array.dtype.kind == "O":
        return TypeError(
            "X must be a table: an array, a sparse matrix, a list of rows, or a pandas, polars or "
            f"Arrow table, got {kind}"
        )
    if array.ndim == 1 and array.dtype.kind == "O" and len(array):
        if isinstance(array[0], Mapping):
            return TypeError(f"X is a {kind} of dicts: pass pandas.DataFrame(X)")
        lengths = [len(row) if hasattr(row, "__len__") else 1 for row in array]
        other = next((i for i, length in enumerate(lengths) if length != lengths[0]), None)
        if other is not None and not isinstance(array[0], str):
            return ValueError(
                f"X has rows of different lengths: X[0] has {lengths[0]} cells, but X[{other}] has "
                f"{lengths[other]}"
            )
    if array.ndim > 2:
        return ValueError(f"X: Found array with dim {array.ndim}, while dim <= 2 is required.")
    return ValueError(
        f"X: Expected 2D array, got {array.ndim}D array instead ({kind}). Reshape your data: use "
        "X.reshape(-1, 1) or X.to_frame() if it is a single feature, and X.reshape(1, -1) or "
        "X.iloc[[i]] if it is a single row."
    )


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
