"""Formatted nodes of a tree, shared by text and DOT."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from puforest import _validation as check
from puforest._base import PUClassifier
from puforest._model import LEAF
from puforest._text import printable
from puforest.export._trees import single_tree
from puforest.risk import posterior

# Enough digits to restore any float64 exactly.
ALL_DIGITS = 17


@dataclass(frozen=True)
class Node:
    """A node as formatted strings."""

    number: int
    parent: int | None
    depth: int
    condition: str  # branch of the parent that leads here
    test: str  # condition to go left; empty if the children are not shown
    w_p: str
    w_u: str
    probability: float  # the posterior as a number
    posterior: str
    labeled: str
    unlabeled: str
    vote: str  # class that a leaf votes for; empty for other nodes
    n_below: int  # descendants that are not shown


class Reader:
    """Reader of the nodes of one tree; validates its parameters."""

    def __init__(
        self,
        model: PUClassifier,
        tree: Any,
        max_depth: Any,
        feature_names: Iterable[str] | None,
        digits: Any,
    ) -> None:
        self._tree = single_tree(model, tree)
        n = model._forest.n_trees
        self.title = type(model).__name__ + (f", tree {tree} of 0 to {n - 1}" if n > 1 else "")
        self._names = [printable(name) for name in check.feature_names(model, given=feature_names)]
        self._classes = [printable(str(label)) for label in model.classes_]
        self._deepest = check.optional_integer("max_depth", max_depth, 0, check.MAX_UINT32)
        self._digits = check.optional_integer("digits", digits, 1, ALL_DIGITS + 1)

    def nodes(self) -> Iterator[Node]:
        """Iterate over the nodes, parents before children, left before right."""
        tree = self._tree
        probability = posterior(tree.w_p, tree.w_u)
        vote = tree.votes()
        sizes = self._sizes()
        waiting: list[tuple[int, int | None, int, str]] = [(0, None, 0, "all rows")]
        while waiting:
            node, parent, depth, condition = waiting.pop()
            is_leaf = tree.feature[node] == LEAF
            cut = not is_leaf and depth >= self._deepest
            test = ""
            if not is_leaf and not cut:
                name = self._names[tree.feature[node]]
                threshold = self._number(tree.threshold[node])
                left = int(tree.left[node])
                test = f"{name} <= {threshold}"
                waiting.append((left + 1, node, depth + 1, f"{name} > {threshold}"))
                waiting.append((left, node, depth + 1, test))
            yield Node(
                number=node,
                parent=parent,
                depth=depth,
                condition=condition,
                test=test,
                w_p=self._number(tree.w_p[node]),
                w_u=self._number(tree.w_u[node]),
                probability=float(probability[node]),
                posterior=self._number(probability[node]),
                labeled=str(tree.n_labeled[node]),
                unlabeled=str(tree.n_unlabeled[node]),
                vote=self._classes[int(vote[node])] if is_leaf else "",
                n_below=int(sizes[node]) - 1 if cut else 0,
            )

    def _sizes(self) -> Any:
        """Return the number of nodes in the subtree of each node."""
        size = np.ones(len(self._tree.feature), dtype=np.int64)
        for inner in reversed(list(self._tree.levels())):
            left = self._tree.left[inner]
            size[inner] += size[left] + size[left + 1]
        return size

    def _number(self, value: np.float64) -> str:
        if self._digits > ALL_DIGITS:
            return repr(float(value))
        return f"{value:.{self._digits}g}"
