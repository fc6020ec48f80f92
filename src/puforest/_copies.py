"""Rows that stand in the data more than once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_array

from puforest import _validation as check


def _as_table(X: check.MatrixLike) -> NDArray[np.float32] | NDArray[np.float64]:
    with check.data_errors("X"):
        table: NDArray[np.float64] = check_array(
            X, dtype=[np.float64, np.float32], ensure_all_finite="allow-nan"
        )
    return table


def copy_groups(X: check.MatrixLike) -> NDArray[np.intp]:
    """A number for each row; equal rows have equal numbers."""
    # Rows are compared as bytes, in which 0.0 and -0.0 would differ.
    table = np.ascontiguousarray(_as_table(X) + 0.0)
    whole = table.view(np.dtype((np.void, table.dtype.itemsize * table.shape[1]))).ravel()
    return np.unique(whole, return_inverse=True)[1].ravel()


def labelled_groups(X: check.MatrixLike, labelled: NDArray[np.bool_]) -> NDArray[np.intp]:
    """A number for each row; equal rows have equal numbers, and those unlike any labelled one -1.

    It keeps the labelled rows only, and sorts nothing, which is ten times as fast as looking for
    all copies where few rows are labelled.
    """
    table = _as_table(X)
    number: dict[bytes, int] = {}
    group = np.empty(len(table), dtype=np.intp)
    for i in np.flatnonzero(labelled):
        group[i] = number.setdefault((table[i] + 0.0).tobytes(), len(number))
    for i in np.flatnonzero(~labelled):
        group[i] = number.get((table[i] + 0.0).tobytes(), -1)
    return group


def labelled_copies(X: check.MatrixLike, labelled: NDArray[np.bool_]) -> int:
    """How many labelled rows stand among the unlabelled ones again."""
    group = labelled_groups(X, labelled)
    return int(np.isin(group[labelled], group[~labelled]).sum())
