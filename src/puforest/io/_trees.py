"""The arrays of the trees, checked for everything that answers rely on.

All checks go over whole arrays, so that a forest of 10 million nodes is a matter of a second.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from puforest._model import LEAF, Forest

ARRAYS = {
    "offset": np.int64,
    "feature": np.int32,
    "threshold": np.float64,
    "left": np.int32,
    "w_p": np.float64,
    "w_u": np.float64,
    "n_labeled": np.int32,
    "n_unlabeled": np.int32,
}

# One row of so many features takes 128 MB. Importances are such rows, so that a file could else
# ask for any amount of memory with a single number.
MOST_FEATURES = 2**24

# Masses are sums of row weights, added up in another order for each node, as shares of a
# population of mass 1.
ROUNDING = 1e-6


def checked_forest(arrays: dict[str, NDArray[Any]], n_features: int, prior: float) -> Forest:
    """The forest of these arrays, if they are one."""
    n = len(arrays["feature"])
    for name, dtype in ARRAYS.items():
        require(arrays[name].dtype == dtype, f"array {name!r} is not of type {np.dtype(dtype)}")
        if name != "offset":
            require(len(arrays[name]) == n, f"arrays {name!r} and 'feature' differ in length")
    offset = arrays["offset"]
    require(len(offset) > 1, "it has no tree")
    require(offset[0] == 0 and offset[-1] == n, "offset does not go from 0 to the number of nodes")
    # Differences of any two numbers might overflow; of neighbors in order they cannot.
    require(bool((offset[:-1] < offset[1:]).all()), "offset does not ascend: a tree has no nodes")
    size = np.diff(offset)
    require(size.max() <= np.iinfo(np.int32).max, "a tree has more than 2^31 - 1 nodes")

    feature, left = arrays["feature"], arrays["left"]
    require(feature.min() >= LEAF, f"feature has a number below {LEAF}")
    require(feature.max() < n_features, f"a split is on a feature beyond the {n_features} of X")
    is_leaf = feature == LEAF
    require(bool((left[is_leaf] == LEAF).all()), "a leaf has children")
    threshold = arrays["threshold"]
    require(bool((threshold[is_leaf] == 0).all()), "a leaf has a threshold")
    require(bool(np.isfinite(threshold).all()), "a threshold is not finite")
    inner, children = _checked_children(offset, size, left, ~is_leaf)
    _check_counts(arrays, inner, children)
    _check_masses(arrays, inner, children, prior)
    return Forest(n_features=n_features, **{name: arrays[name] for name in ARRAYS})


def _checked_children(
    offset: NDArray[np.int64],
    size: NDArray[np.int64],
    left: NDArray[np.int32],
    is_inner: NDArray[np.bool_],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Inner nodes and their left children; each node but the roots is the child of one node."""
    inner = np.flatnonzero(is_inner)
    tree = np.repeat(np.arange(len(size)), size)[inner]
    children = left[inner] + offset[tree]
    # Behind their parents, so that no walk returns to where it was.
    require(bool((children > inner).all()), "children do not stand behind their parents")
    require(bool((children + 1 < offset[tree + 1]).all()), "children are outside their tree")
    # As many children and roots as nodes, and no node is neither: each is one of them, once.
    require(2 * len(inner) + len(size) == int(offset[-1]), "nodes and their children do not add up")
    reached = np.zeros(int(offset[-1]), dtype=bool)
    reached[offset[:-1]] = True
    reached[children] = True
    reached[children + 1] = True
    require(bool(reached.all()), "a node has no parent, and another one two")
    return inner, children


def _check_counts(
    arrays: dict[str, NDArray[Any]], inner: NDArray[np.int64], children: NDArray[np.int64]
) -> None:
    for name in ("n_labeled", "n_unlabeled"):
        count = arrays[name]
        require(count.min() >= 0, f"{name} is negative")
        total = count[children].astype(np.int64) + count[children + 1]
        require(bool((count[inner] == total).all()), f"{name} of children does not add up")


def _check_masses(
    arrays: dict[str, NDArray[Any]],
    inner: NDArray[np.int64],
    children: NDArray[np.int64],
    prior: float,
) -> None:
    roots = arrays["offset"][:-1]
    for name, whole in (("w_p", prior), ("w_u", 1.0)):
        mass = arrays[name]
        # Not-a-number fails these, too. Sums of weights are never below zero, and 0 <= w_p < w_u
        # keeps w_p / w_u between 0 and 1.
        within = mass.min() >= 0 and mass.max() <= 1 + ROUNDING
        require(bool(within), f"{name} is not a share of the population, between 0 and 1")
        at_root = np.abs(mass[roots] - whole).max() <= ROUNDING
        require(bool(at_root), f"{name} of a root is not {whole:g}")
        total = mass[children] + mass[children + 1]
        adds_up = (np.abs(mass[inner] - total) <= ROUNDING).all()
        require(bool(adds_up), f"{name} of children does not add up")


def require(holds: bool, what: str) -> None:
    """Refuse a file for what is wrong with it."""
    if not holds:
        raise ValueError(what)
