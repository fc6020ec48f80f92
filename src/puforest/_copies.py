"""Rows that stand in the data more than once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_array

from puforest import _validation as check


def copy_groups(X: check.MatrixLike) -> NDArray[np.intp]:
    """A number for each row; equal rows have equal numbers."""
    with check.data_errors("X"):
        table = check_array(X, dtype=[np.float64, np.float32], ensure_all_finite="allow-nan")
    # Rows are compared as bytes, in which 0.0 and -0.0 would differ.
    table = np.ascontiguousarray(table + 0.0)
    whole = table.view(np.dtype((np.void, table.dtype.itemsize * table.shape[1]))).ravel()
    return np.unique(whole, return_inverse=True)[1].ravel()


def labelled_copies(X: check.MatrixLike, labelled: NDArray[np.bool_]) -> int:
    """How many labelled rows stand among the unlabelled ones again."""
    group = copy_groups(X)
    return int(np.isin(group[labelled], group[~labelled]).sum())
