"""Joining trees with subtrees that were grown elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from puforest._model import LEAF, NODE_FIELDS, Forest

Arrays = dict[str, NDArray[Any]]


def graft(trees: Forest, nodes: NDArray[np.int64], subtrees: Sequence[Arrays]) -> Forest:
    """Replace leaves by subtrees, and store the nodes in the order of a fit on one machine.

    That order is depth-first: both children of a node, then what is below the left one, then what
    is below the right one.

    Parameters
    ----------
    trees : Forest
        Trees whose nodes come after their parents.
    nodes : ndarray of shape (n_subtrees,)
        Leaves to replace, as indices into the arrays of `trees`.
    subtrees : sequence of dict
        Arrays of forests in depth-first order; all their trees together are the subtrees, in the
        order of `nodes`.

    Returns
    -------
    Forest
    """
    sizes = np.concatenate([np.diff(s["offset"]) for s in subtrees] or [np.empty(0, np.int64)])
    below = np.zeros(len(trees.feature), dtype=np.int64)  # nodes below each node
    below[nodes] = sizes - 1
    left = trees.left_children()
    levels = list(trees.levels())
    for inner in reversed(levels):
        below[inner] = 2 + below[left[inner]] + below[left[inner] + 1]
    roots = trees.offset[:-1]
    offset = np.append(0, np.cumsum(1 + below[roots]))
    # By node: its position within the tree, and that of the first node below it.
    place, first_below = np.zeros_like(below), np.ones_like(below)
    for inner in levels:
        child, first = left[inner], first_below[inner]
        place[child], place[child + 1] = first, first + 1
        first_below[child], first_below[child + 1] = first + 2, first + 2 + below[child]
    start = np.repeat(offset[:-1], np.diff(trees.offset))

    # Nodes of the subtrees: `inside` counts from the root of each.
    inside = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    shift = np.repeat(first_below[nodes] - 1, sizes)
    grafted = np.where(inside == 0, np.repeat(place[nodes], sizes), inside + shift)
    kept = np.ones(len(below), dtype=bool)
    kept[nodes] = False
    position = np.concatenate([(start + place)[kept], grafted + np.repeat(start[nodes], sizes)])

    def joined(name: str) -> NDArray[Any]:
        return np.concatenate([getattr(trees, name)[kept], *(s[name] for s in subtrees)])

    fields = {field.name: joined(field.name) for field in NODE_FIELDS}
    is_inner = fields["feature"] != LEAF
    n_kept = np.count_nonzero(kept)
    fields["left"][:n_kept] = np.where(is_inner[:n_kept], first_below[kept], LEAF)
    fields["left"][n_kept:] += np.where(is_inner[n_kept:], shift, 0).astype(np.int32)
    listed = np.concatenate([trees.categories, *(s["categories"] for s in subtrees)])
    return Forest(
        n_features=trees.n_features,
        offset=offset,
        categories=_reordered(listed, fields["n_categories"], position),
        **{name: _placed(values, position) for name, values in fields.items()},
    )


def _placed(values: NDArray[Any], position: NDArray[np.int64]) -> NDArray[Any]:
    result = np.empty_like(values)
    result[position] = values
    return result


def _reordered(
    lists: NDArray[Any], lengths: NDArray[np.int32], position: NDArray[np.int64]
) -> NDArray[Any]:
    """Store lists, one after another, in the order of other positions."""
    n = lengths.astype(np.int64)
    new = _placed(n, position)
    move = (np.cumsum(new) - new)[position] - (np.cumsum(n) - n)
    result = np.empty_like(lists)
    result[np.arange(len(lists)) + np.repeat(move, n)] = lists
    return result
