"""Parameter `categorical_features`: which columns are categorical."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from puforest import _validation as check

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
    array = np.asarray(value, dtype=object)
    if array.ndim != 1:
        raise _not_columns(value)
    cells = array.tolist()
    if all(isinstance(cell, str) for cell in cells):
        return frozenset(_position(name, names) for name in cells)
    if all(isinstance(cell, bool | np.bool_) for cell in cells):
        if len(cells) != n_features:
            raise ValueError(
                "categorical_features, as a mask, must have one entry for each of the "
                f"{n_features} features of X, got {len(cells)}"
            )
        return frozenset(np.flatnonzero(cells).tolist())
    if all(check.is_integer(cell) for cell in cells):
        return frozenset(_index(int(cell), n_features) for cell in cells)
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
        raise ValueError(f"categorical_features has the name {name!r}, which is not a column of X")
    return list(names).index(name)
