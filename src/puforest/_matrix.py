"""Conversion of X to an array that the core can read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_array, validate_data

from puforest import _validation as check
from puforest._text import reads_as_number

# Types that the core reads, and the number of cells up to which scikit-learn's checks dominate.
REAL_DTYPES = (np.dtype(np.float32), np.dtype(np.float64))
SMALL_SIZE = 2**16


def matrix(X: check.MatrixLike, name: str = "X", **options: Any) -> NDArray[Any]:
    """Convert a table to an array of float32 or float64; options are those of `check_array`."""
    refuse_unreadable(X, name)
    with check.data_errors(name):
        table: NDArray[Any] = check_array(X, **{"dtype": real_dtype(X)} | options)
    return in_steps(table)  # type: ignore[no-any-return]


def validated(estimator: Any, X: check.MatrixLike, **options: Any) -> Any:
    """Convert like `matrix`, and have the estimator remember or compare the columns.

    Options are those of `validate_data`. With labels `y` among them, return both.
    """
    refuse_unreadable(X, "X")
    if options.get("y") is not None:
        options["y"] = check.label_vector(options["y"])
    with check.data_errors("X"):
        found = validate_data(estimator, X, dtype=real_dtype(X), **options)
    return (in_steps(found[0]), found[1]) if "y" in options else in_steps(found)


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
    """Return whether X is a small array that `validated` would return unchanged."""
    return (
        type(X) is np.ndarray
        and X.dtype in REAL_DTYPES
        and X.ndim == 2
        and X.shape[1] == n_features
        and 0 < X.size <= SMALL_SIZE
        and is_in_steps(X)
        and bool(np.isfinite(X).all())
    )


def is_in_steps(X: NDArray[Any]) -> bool:
    """Return whether strides are multiples of the cell size, as the core requires."""
    return X.flags.aligned and all(stride % X.itemsize == 0 for stride in X.strides)


def in_steps(X: Any) -> Any:
    """Return X, or a copy if its strides are not multiples of the cell size."""
    return X.copy() if isinstance(X, np.ndarray) and not is_in_steps(X) else X


def refuse_unreadable(X: check.MatrixLike, name: str) -> None:
    """Refuse values that are not numbers: masked entries, dates and text."""
    check.refuse_masked(X, name)
    if isinstance(getattr(X, "dtype", None), np.dtype) and X.dtype.names:
        raise TypeError(
            f"{name} is a structured array: convert it with "
            f"numpy.lib.recfunctions.structured_to_unstructured({name})"
        )
    found = _dates(X, name)
    if found is not None:
        place, dtype = found
        since = "" if getattr(dtype, "kind", "M") == "m" else " - np.datetime64('2000-01-01')"
        raise TypeError(
            f"{place} has dates or times ({dtype}), whose numbers depend on the unit: convert them "
            f"to numbers first, for example to days, ({place}{since}) / np.timedelta64(1, 'D')"
        )
    _refuse_text(X, name)


def _refuse_text(X: check.MatrixLike, name: str) -> None:
    """Refuse text and categories, naming the first column that has them."""
    for place, values in _columns_of_objects(X, name):
        text = next((v for v in values if isinstance(v, str) and not reads_as_number(v)), None)
        if text is not None:
            raise ValueError(
                f"{place} has text or categories, such as {text[:40]!r}: encode the column as "
                "numbers, for example with sklearn.preprocessing.OrdinalEncoder or OneHotEncoder"
            )


def _columns_of_objects(X: check.MatrixLike, name: str) -> Iterator[tuple[str, Any]]:
    """Yield the columns that may hold strings, with a name for messages."""
    dtypes, columns = getattr(X, "dtypes", None), getattr(X, "columns", None)
    if dtypes is not None and columns is not None:
        numeric = {dtype for dtype in set(dtypes) if _is_numeric(dtype)}
        for j, (column, dtype) in enumerate(zip(columns, dtypes, strict=True)):
            if dtype not in numeric:
                yield f"{name}[{column!r}]", X.iloc[:, j] if hasattr(X, "iloc") else X[column]
        return
    array = X if hasattr(X, "dtype") else _as_array(X)
    if getattr(array, "ndim", 0) == 2 and array.dtype.kind in "OUST":
        for j in range(array.shape[1]):
            yield f"{name}[:, {j}]", array[:, j].tolist()


def _is_numeric(dtype: Any) -> bool:
    of_polars = getattr(dtype, "is_numeric", None)
    return getattr(dtype, "kind", None) in set("biufc") or bool(
        of_polars is not None and of_polars()
    )


def _dates(X: check.MatrixLike, name: str) -> tuple[str, Any] | None:
    """Find the array or column with dates or times, and its type."""
    dtypes, columns = getattr(X, "dtypes", None), getattr(X, "columns", None)
    if dtypes is None or columns is None:
        return _dates_of_array(X if hasattr(X, "dtype") else _as_array(X), name)
    temporal = {dtype for dtype in set(dtypes) if _is_temporal(dtype)}
    if not temporal:  # fast, since tables can have very many columns
        return None
    places = ((f"{name}[{column!r}]", dtype) for column, dtype in zip(columns, dtypes, strict=True))
    return next(place for place in places if place[1] in temporal)


def _as_array(X: check.MatrixLike) -> Any:
    """Convert lists and tables of other libraries as NumPy does."""
    try:
        return np.asarray(X)
    except ValueError:  # rows of different lengths, which scikit-learn's checks explain
        return None


def _dates_of_array(array: Any, name: str) -> tuple[str, Any] | None:
    dtype = getattr(array, "dtype", None)
    if getattr(dtype, "kind", "") == "O":
        scalars = (np.datetime64, np.timedelta64)
        dtype = next((cell.dtype for cell in np.ravel(array) if isinstance(cell, scalars)), None)
    return (name, dtype) if _is_temporal(dtype) else None


def _is_temporal(dtype: Any) -> bool:
    of_polars = getattr(dtype, "is_temporal", None)
    return getattr(dtype, "kind", "") in ("M", "m") or bool(of_polars is not None and of_polars())
