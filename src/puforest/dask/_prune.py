"""Parts of trees that lead to certain nodes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from puforest._model import LEAF, NODE_FIELDS, Forest


def pruned(trees: Forest, nodes: NDArray[np.int64]) -> tuple[Forest, NDArray[np.int64]]:
    """Cut off everything that does not lead to the given leaves.

    Parameters
    ----------
    trees : Forest
        Trees whose nodes come after their parents.
    nodes : ndarray
        Leaves to keep, as indices into the arrays.

    Returns
    -------
    trees : Forest
        The trees that have such leaves, with other leaves where something was cut off.
    nodes : ndarray
        The same leaves, as indices into the arrays of these trees.
    """
    left = trees.left_children()
    leads = np.zeros(len(left), dtype=bool)
    leads[nodes] = True
    levels = list(trees.levels())
    for inner in reversed(levels):
        leads[inner] = leads[left[inner]] | leads[left[inner] + 1]
    keep = np.zeros(len(left), dtype=bool)
    roots = trees.offset[:-1]
    keep[roots] = leads[roots]
    for inner in levels:
        child = left[inner[leads[inner]]]
        keep[child] = keep[child + 1] = True
    n_before = np.append(0, np.cumsum(keep))
    offset = n_before[trees.offset]
    is_inner = (leads & (left != LEAF))[keep]
    fields = {field.name: getattr(trees, field.name)[keep] for field in NODE_FIELDS}
    for field in NODE_FIELDS:
        if field.in_leaves is not None:
            fields[field.name][~is_inner] = field.in_leaves
    start = np.repeat(offset[:-1], np.diff(offset))
    fields["left"][is_inner] = (n_before[left[keep]] - start)[is_inner]
    n_listed = np.where(leads, trees.n_categories, 0)
    is_kept = np.repeat(n_listed > 0, trees.n_categories)
    forest = Forest(
        n_features=trees.n_features,
        offset=np.unique(offset),
        categories=trees.categories[is_kept],
        **fields,
    )
    return forest, n_before[nodes]
