"""Parameter `categorical_features`: which columns are categorical."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

FROM_DTYPE = "from_dtype"


def requested_columns(
    value: Any, names: Sequence[str] | None, n_features: int
) -> frozenset[int] | None:
    """Return the columns that are to be categorical; None if their types decide."""
    if value is None:
        return frozenset()
    if isinstance(value, str):
        if value != FROM_DTYPE:
            raise ValueError(
                f"categorical_features must be {FROM_DTYPE!r}, None, or a list of columns, got "
                f"{value!r}"
            )
        return None
    try:
        array = np.asarray(value)
    except ValueError:
        array = np.empty((0, 0))
    if array.ndim != 1:
        raise _not_columns(value)
    if array.size == 0:
        return frozenset()
    if array.dtype.kind == "b":
        if len(array) != n_features:
            raise ValueError(
                f"categorical_features, as a mask, must have one entry for each of the "
                f"{n_features} features of X, got {len(array)}"
            )
        return frozenset(np.flatnonzero(array).tolist())
    if array.dtype.kind in "iu":
        return frozenset(_index(j, n_features) for j in array.tolist())
    if all(isinstance(name, str) for name in array.tolist()):
        return frozenset(_position(name, names) for name in array.tolist())
    raise _not_columns(value)


def _not_columns(value: Any) -> TypeError:
    return TypeError(
        "categorical_features must be a list of names or indices of columns, or a mask, got "
        f"{value!r:.80}"
    )


def _index(j: int, n_features: int) -> int:
    if not 0 <= j < n_features:
        raise ValueError(
            f"categorical_features has the index {j}, but X has the columns 0 to {n_features - 1}"
        )
    return j


def _position(name: str, names: Sequence[str] | None) -> int:
    if names is None:
        raise ValueError(
            f"categorical_features has the name {name!r}, but X has no column names: pass indices, "
            "or a data frame"
        )
    if name not in names:
        raise ValueError(f"categorical_features has the name {name!r}, which is no column of X")
    return list(names).index(name)
