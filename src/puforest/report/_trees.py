"""The trees in a report."""

from __future__ import annotations

from typing import Any

import numpy as np

from puforest._base import PUClassifier
from puforest._conditions import condition
from puforest._model import LEAF, Forest
from puforest._schema import FeatureSchema
from puforest.risk import posterior

MAX_NODES = 6000
MAX_NODES_PER_TREE = 1500
MAX_TREES = 50


def tree_part(model: PUClassifier, names: list[str], missing: set[int]) -> dict[str, Any]:
    """Nodes of the first trees, from the roots down, within a budget.

    `missing` has the features with missing values in the rows of the report. For them, and for
    those whose splits depend on missing values, the page shows where missing values go.
    """
    forest, schema, values = model._forest, model._record.schema, model._leaf_values()
    trees: list[dict[str, Any]] = []
    budget = MAX_NODES
    for t in range(min(forest.n_trees, MAX_TREES)):
        if budget <= 0:
            break
        tree = _nodes(forest.tree(t), schema, values, min(budget, MAX_NODES_PER_TREE))
        budget -= len(tree["feature"])
        trees.append(tree)
    used = np.unique([i for tree in trees for i in tree["feature"] if i != LEAF]).astype(int)
    return {
        "trees": trees,
        "n_trees": forest.n_trees,
        "values": values,
        "names": {int(i): names[i] for i in used},
        "missing": sorted((missing | _features_with_missing(forest)) & set(used.tolist())),
    }


def _features_with_missing(forest: Forest) -> set[int]:
    """Return the features with a split at which missing values do not go to the larger child."""
    unusual = forest.missing_left.astype(bool) != forest.larger_is_left
    of_numbers = ~forest.is_leaf & (forest.n_categories == 0)
    splits = of_numbers & (unusual | np.isinf(forest.threshold))
    return set(np.unique(forest.feature[splits]).tolist())


def _nodes(tree: Forest, schema: FeatureSchema, values: str, most: int) -> dict[str, Any]:
    """First nodes in level order; `left` refers to this order, LEAF if the child is not kept."""
    kept = [0]
    left = []
    for node in kept:  # grows during the loop
        child = int(tree.left[node])
        if child == LEAF or len(kept) + 2 > most:
            left.append(LEAF)
        else:
            left.append(len(kept))
            kept += [child, child + 1]
    nodes = np.array(kept)
    missing_left = tree.missing_left[nodes]
    # Categorical splits ask for the listed categories, which missing values are not among.
    yes_left = np.where(tree.n_categories[nodes] > 0, 1 - missing_left, 1)
    return {
        "feature": tree.feature[nodes],
        "split": [
            _split(tree, schema, node, bool(yes)) for node, yes in zip(kept, yes_left, strict=True)
        ],
        "yes_left": yes_left,
        "missing_yes": (yes_left == missing_left).astype(int),
        "left": left,
        "w_p": tree.w_p[nodes],
        "w_u": tree.w_u[nodes],
        "value": tree.values(values)[nodes],
        "posterior": posterior(tree.w_p[nodes], tree.w_u[nodes]),
        "labeled": tree.n_labeled[nodes],
        "unlabeled": tree.n_unlabeled[nodes],
        "n_nodes": len(tree.feature),
        "depth": tree.depth(),
    }


def _split(tree: Forest, schema: FeatureSchema, node: int, yes_left: bool) -> str:
    """Condition to go left or right, without the name of the feature; empty for a leaf."""
    if tree.feature[node] == LEAF:
        return ""
    found = condition(schema, tree, node, name="")
    text = (found.left if yes_left else found.right).strip()
    return f"≤{text[2:]}" if text.startswith("<=") else text
