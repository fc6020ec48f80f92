"""Checks of the tree arrays of a file: whatever predictions rely on.

All checks are vectorized: a forest of 10 million nodes takes about a second.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from puforest._model import LEAF, NODE_FIELDS, Forest, with_missing_sides
from puforest._schema import FeatureSchema
from puforest.io._fields import ensure

NODE_ARRAYS = {field.name: np.dtype(field.dtype) for field in NODE_FIELDS}

# Name and dtype of each array.
ARRAYS = {"offset": np.dtype(np.int64), "categories": np.dtype(np.uint16)} | NODE_ARRAYS

# Arrays that version 1 of the format does not have.
SINCE_VERSION_2 = ("missing_left", "n_categories", "categories")

Arrays = dict[str, NDArray[Any]]

# One row of this many features takes 128 MB. Importances are such rows, so that without a limit a
# single number in a file could request any amount of memory.
MOST_FEATURES = 2**24

# Masses are sums of row weights, as fractions of a population of mass 1, and the order of
# summation differs between nodes.
ROUNDING = 1e-6


def taken_arrays(arrays: Arrays, version: int) -> Arrays:
    """Take the arrays of a forest out of `arrays`, those that a file of this version has."""
    names = [name for name in ARRAYS if version > 1 or name not in SINCE_VERSION_2]
    for name in names:
        ensure(name in arrays, f"it has no array {name!r}")
    return {name: arrays.pop(name) for name in names}


def checked_forest(arrays: Arrays, schema: FeatureSchema, prior: float | None) -> Forest:
    """Return the forest of these arrays if they are valid.

    `prior` is the mass W_p of the roots; None if it also depends on checked rows.
    """
    if "missing_left" in arrays:
        return _checked(arrays, schema, prior)
    n = len(arrays["feature"])
    without = {name: np.zeros(n, dtype) for name, dtype in NODE_ARRAYS.items()}
    without["categories"] = np.empty(0, dtype=np.uint16)
    ensure(bool(np.isfinite(arrays["threshold"]).all()), "a threshold is not finite")
    _checked(without | arrays, schema, prior)
    return Forest(n_features=schema.n_features, **with_missing_sides(arrays))


def _checked(arrays: Arrays, schema: FeatureSchema, prior: float | None) -> Forest:
    n, n_features = len(arrays["feature"]), schema.n_features
    for name, dtype in ARRAYS.items():
        ensure(arrays[name].dtype == dtype, f"array {name!r} is not of dtype {dtype}")
        if name in NODE_ARRAYS:
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
    is_leaf = feature == LEAF
    for field in NODE_FIELDS:
        if field.in_leaves is not None:
            fixed = bool((arrays[field.name][is_leaf] == field.in_leaves).all())
            ensure(fixed, f"{field.name} of a leaf is not {field.in_leaves:g}")
    _check_splits(arrays, np.flatnonzero(~is_leaf), schema)
    inner, children = _checked_children(offset, size, arrays["left"], ~is_leaf)
    for name, whole in (("w_p", prior), ("w_u", 1.0)):
        if whole is None:
            continue
        at_root = np.abs(arrays[name][offset[:-1]] - whole).max() <= ROUNDING * whole
        ensure(bool(at_root), f"{name} of a root is not {whole:g}")
    for field in NODE_FIELDS:
        if field.in_leaves is None:
            _check_sum(field.name, arrays[field.name], inner, children)
    return Forest(n_features=n_features, **{name: arrays[name] for name in ARRAYS})


def _check_splits(arrays: Arrays, inner: NDArray[np.int64], schema: FeatureSchema) -> None:
    """Check thresholds, sides of missing values and lists of categories."""
    missing_left, n_listed = arrays["missing_left"][inner], arrays["n_categories"][inner]
    ensure(bool((missing_left <= 1).all()), "missing_left is not 0 or 1")
    n_known = np.full(schema.n_features, -1, dtype=np.int32)  # -1 unless categorical
    for j in schema.categorical:
        n_known[j] = len(schema.categories(j) or ())
    known = n_known[arrays["feature"][inner]]
    ensure(bool((n_listed >= 0).all()), "n_categories is negative")
    matches = (n_listed > 0) == (known >= 0)
    ensure(bool(matches.all()), "n_categories does not match the kind of the feature")

    threshold = arrays["threshold"][inner]
    is_zero = bool((threshold[n_listed > 0] == 0).all())
    ensure(is_zero, "threshold of a split on a categorical feature is not 0")
    # Infinity separates missing values, which must go right then.
    is_valid = np.isfinite(threshold) | ((threshold == np.inf) & (missing_left == 0))
    ensure(bool(is_valid.all()), "a threshold is not finite")

    categories = arrays["categories"]
    ends = np.cumsum(n_listed, dtype=np.int64)
    total = int(ends[-1]) if len(ends) else 0
    ensure(len(categories) == total, "categories and n_categories differ in length")
    within = categories < np.repeat(known, n_listed)
    ensure(bool(within.all()), "a listed category is not one of its column")
    ascends = categories[:-1] < categories[1:]
    ascends[ends[:-1][(ends[:-1] > 0) & (ends[:-1] < total)] - 1] = True
    ensure(bool(ascends.all()), "the categories listed for a node are not ascending")


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
