"""The result of the loaders, and the split of data sets that have no official one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Bunch

from puforest import _validation as check

Rows: TypeAlias = tuple[NDArray[np.float32], NDArray[np.int64]]
Loaded: TypeAlias = Bunch | Rows
Part: TypeAlias = tuple[NDArray[np.float32], NDArray[Any]]

SUBSETS = ("train", "test", "all")

# Seed of the split of data sets that have no official one.
SPLIT_SEED = 0


def parts_of(subset: str) -> tuple[str, ...]:
    """Parts that make up a subset."""
    check.one_of("subset", subset, SUBSETS)
    return ("train", "test") if subset == "all" else (subset,)


def read_parts(subset: str, read: Callable[[str], Part]) -> Part:
    """Read the rows and classes of a subset, the training part first."""
    parts = [read(part) for part in parts_of(subset)]
    if len(parts) == 1:
        return parts[0]
    rows, classes = zip(*parts, strict=True)
    return np.concatenate(rows), np.concatenate(classes)


def in_subset(classes: ArrayLike, subset: str) -> NDArray[np.bool_]:
    """Mask of the rows of a subset; the test part is a fixed random fifth of each class."""
    parts = parts_of(subset)
    kinds, kind_of = np.unique(classes, return_inverse=True)
    rng = np.random.default_rng(SPLIT_SEED)
    test = np.zeros(len(kind_of), dtype=bool)
    for kind in range(len(kinds)):
        rows = rng.permutation(np.flatnonzero(kind_of == kind))
        test[rows[: round(len(rows) / 5)]] = True
    return (test & ("test" in parts)) | (~test & ("train" in parts))


def assemble(
    data: NDArray[np.float32],
    positive: NDArray[np.bool_],
    *,
    original_target: NDArray[Any],
    feature_names: Sequence[str],
    target_names: Sequence[str],
    description: str,
    return_X_y: bool,
    differs: str = "",
) -> Loaded:
    """Build the result of a loader."""
    target = positive.astype(np.int64)
    if check.boolean("return_X_y", return_X_y):
        return data, target
    return Bunch(
        data=data,
        target=target,
        original_target=original_target,
        feature_names=list(feature_names),
        target_names=list(target_names),
        DESCR=description
        + (f"\nDifferences from the paper's data: {differs}\n" if differs else ""),
        differs=differs,
    )
