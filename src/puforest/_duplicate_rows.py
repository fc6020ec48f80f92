"""Rows that stand in the data more than once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from puforest import _validation as check
from puforest._matrix import matrix


def duplicate_groups(X: check.MatrixLike) -> NDArray[np.intp]:
    """A number for each row; equal rows have equal numbers, in the order of appearance.

    Rows are compared by hashes of 64 bits of their bytes. No row is kept and none is moved, which
    on MNIST is ten times as fast as to sort them.
    """
    table = matrix(X, dtype=[np.float64, np.float32], ensure_all_finite="allow-nan")
    number: dict[int, int] = {}
    # As bytes 0.0 and -0.0 would differ.
    hashes = (hash((row + 0.0).tobytes()) for row in table)
    groups = (number.setdefault(value, len(number)) for value in hashes)
    return np.fromiter(groups, dtype=np.intp, count=len(table))


def labeled_duplicates(X: check.MatrixLike, labeled: NDArray[np.bool_]) -> int:
    """How many labeled rows stand among the unlabeled ones again."""
    group = duplicate_groups(X)
    return int(np.isin(group[labeled], group[~labeled]).sum())
