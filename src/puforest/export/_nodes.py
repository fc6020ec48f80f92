"""Formatted nodes of a tree, shared by text and DOT."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from puforest import _validation as check
from puforest._base import PUClassifier
from puforest._conditions import Condition, condition, number_text
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
    answer: str  # the same as an answer to the test of the parent
    test: str  # condition to go left; empty if the children are not shown
    w_p: str
    w_u: str
    probability: float  # the posterior as a number
    posterior: str
    labeled: str
    unlabeled: str
    outcome: str  # class that a leaf votes for, or its value; empty for other nodes
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
        self._schema = model._record.schema
        n = model._forest.n_trees
        self.title = type(model).__name__ + (f", tree {tree} of 0 to {n - 1}" if n > 1 else "")
        self._names = check.feature_names(model, given=feature_names)
        self._classes = [printable(str(label)) for label in model.classes_]
        self._deepest = check.optional_integer("max_depth", max_depth, 0, check.MAX_UINT32)
        given = check.optional_integer("digits", digits, 1, ALL_DIGITS + 1)
        self._digits = None if given > ALL_DIGITS else given
        self.outcome = "vote" if model.voting in check.VOTINGS else "value"
        is_vote = self.outcome == "vote"
        self._outcomes = self._tree.votes() if is_vote else self._tree.values(model.voting)

    def nodes(self) -> Iterator[Node]:
        """Iterate over the nodes, parents before children, left before right."""
        tree = self._tree
        probability = posterior(tree.w_p, tree.w_u)
        sizes = self._sizes()
        waiting: list[tuple[int, int | None, int, str, str]] = [(0, None, 0, "all rows", "")]
        while waiting:
            node, parent, depth, reached_by, answer = waiting.pop()
            is_leaf = tree.feature[node] == LEAF
            cut = not is_leaf and depth >= self._deepest
            test = ""
            if not is_leaf and not cut:
                split = self._condition(node)
                left, test = int(tree.left[node]), split.left
                missing_right = split.mentions_missing and not split.missing_left
                no = "no or missing" if missing_right else "no"
                waiting.append((left + 1, node, depth + 1, split.right, no))
                waiting.append((left, node, depth + 1, split.left, "yes"))
            yield Node(
                number=node,
                parent=parent,
                depth=depth,
                condition=reached_by,
                answer=answer,
                test=test,
                w_p=self._number(tree.w_p[node]),
                w_u=self._number(tree.w_u[node]),
                probability=float(probability[node]),
                posterior=self._number(probability[node]),
                labeled=str(tree.n_labeled[node]),
                unlabeled=str(tree.n_unlabeled[node]),
                outcome=self._outcome(node) if is_leaf else "",
                n_below=int(sizes[node]) - 1 if cut else 0,
            )

    def _condition(self, node: int) -> Condition:
        return condition(
            self._schema,
            self._tree,
            node,
            name=self._names[self._tree.feature[node]],
            digits=self._digits,
            full=self._digits is None,
        )

    def _outcome(self, leaf: int) -> str:
        value = self._outcomes[leaf]
        return self._classes[int(value)] if self.outcome == "vote" else self._number(value)

    def _sizes(self) -> Any:
        """Return the number of nodes in the subtree of each node."""
        size = np.ones(len(self._tree.feature), dtype=np.int64)
        for inner in reversed(list(self._tree.levels())):
            left = self._tree.left[inner]
            size[inner] += size[left] + size[left + 1]
        return size

    def _number(self, value: np.float64) -> str:
        return number_text(float(value), self._digits)
