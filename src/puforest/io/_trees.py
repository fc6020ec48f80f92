"""Checks of the tree arrays of a file: whatever predictions rely on.

All checks are vectorized: a forest of 10 million nodes takes about a second.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from puforest._model import LEAF, NODE_FIELDS, Forest
from puforest.io._fields import ensure

# Name and dtype of each array.
ARRAYS = {"offset": np.dtype(np.int64)} | {f.name: np.dtype(f.dtype) for f in NODE_FIELDS}

# One row of this many features takes 128 MB. Importances are such rows, so that without a limit a
# single number in a file could request any amount of memory.
MOST_FEATURES = 2**24

# Masses are sums of row weights, as fractions of a population of mass 1, and the order of
# summation differs between nodes.
ROUNDING = 1e-6


def checked_forest(arrays: dict[str, NDArray[Any]], n_features: int, prior: float) -> Forest:
    """Return the forest of these arrays if they are valid."""
    n = len(arrays["feature"])
    for name, dtype in ARRAYS.items():
        ensure(arrays[name].dtype == dtype, f"array {name!r} is not of dtype {dtype}")
        if name != "offset":
            ensure(len(arrays[name]) == n, f"arrays {name!r} and 'feature' differ in length")
    offset = arrays["offset"]
    ensure(len(offset) > 1, "it has no tree")
    ensure(offset[0] == 0 and offset[-1] == n, "offset does not go from 0 to the number of nodes")
    # Differences of arbitrary numbers could overflow; those of ascending neighbors cannot.
    ensure(bool((offset[:-1] < offset[1:]).all()), "offset is not ascending: a tree has no nodes")
    size = np.diff(offset)
    ensure(size.max() <= np.iinfo(np.int32).max, "a tree has more than 2^31 - 1 nodes")

    feature = arrays["feature"]
    ensure(feature.min() >= LEAF, f"feature has a value below {LEAF}")
    ensure(feature.max() < n_features, f"a split is on a feature beyond the {n_features} of X")
    ensure(bool(np.isfinite(arrays["threshold"]).all()), "a threshold is not finite")
    is_leaf = feature == LEAF
    for field in NODE_FIELDS:
        if field.in_leaves is not None:
            fixed = bool((arrays[field.name][is_leaf] == field.in_leaves).all())
            ensure(fixed, f"{field.name} of a leaf is not {field.in_leaves:g}")
    inner, children = _checked_children(offset, size, arrays["left"], ~is_leaf)
    for name, whole in (("w_p", prior), ("w_u", 1.0)):
        at_root = np.abs(arrays[name][offset[:-1]] - whole).max() <= ROUNDING
        ensure(bool(at_root), f"{name} of a root is not {whole:g}")
    for field in NODE_FIELDS:
        if field.in_leaves is None:
            _check_sum(field.name, arrays[field.name], inner, children)
    return Forest(n_features=n_features, **{name: arrays[name] for name in ARRAYS})


def _checked_children(
    offset: NDArray[np.int64],
    size: NDArray[np.int64],
    left: NDArray[np.int32],
    is_inner: NDArray[np.bool_],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return internal nodes and their left children; every node but the roots has one parent."""
    inner = np.flatnonzero(is_inner)
    tree = np.repeat(np.arange(len(size)), size)[inner]
    children = left[inner] + offset[tree]
    # After their parents, so that no path returns to a node.
    ensure(bool((children > inner).all()), "children do not come after their parents")
    ensure(bool((children + 1 < offset[tree + 1]).all()), "children are outside their tree")
    # There are as many children and roots as nodes, and every node is one of them: once, then.
    ensure(2 * len(inner) + len(size) == int(offset[-1]), "nodes and their children do not add up")
    reached = np.zeros(int(offset[-1]), dtype=bool)
    reached[offset[:-1]] = True
    reached[children] = True
    reached[children + 1] = True
    ensure(bool(reached.all()), "a node has no parent, and another one has two")
    return inner, children


def _check_sum(
    name: str, value: NDArray[Any], inner: NDArray[np.int64], children: NDArray[np.int64]
) -> None:
    """Check a nonnegative field whose value at a node is the sum of its children's."""
    ensure(bool(value.min() >= 0), f"{name} is negative or not a number")
    left, right = value[children], value[children + 1]
    if value.dtype.kind == "f":
        # Sums of weights are never negative, and 0 <= w_p < w_u keeps w_p / w_u between 0 and 1.
        ensure(bool(value.max() <= 1 + ROUNDING), f"{name} is not between 0 and 1")
        adds_up = np.abs(value[inner] - (left + right)) <= ROUNDING
    else:
        adds_up = value[inner] == left.astype(np.int64) + right
    ensure(bool(adds_up.all()), f"{name} of children does not add up")
