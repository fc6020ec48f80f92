"""The fitted forest: flat, immutable arrays over the nodes of all trees."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from puforest import _core
from puforest.risk import minimum_risk, posterior

FORMAT_VERSION = 2

LEAF = _core.LEAF

# Name, dtype, value in leaves and meaning of each array over the nodes. A field is added in
# core/include/puforest/node_fields.hpp.
NODE_FIELDS = tuple(_core.node_fields())

Predictor: TypeAlias = _core.Predictor32 | _core.Predictor64


class Forest(_core.NodeArrays):
    """Trees stored one after another; tree ``t`` has the nodes ``offset[t]`` to ``offset[t + 1]``.

    Each node field (see `NODE_FIELDS`) is an attribute, an array over the nodes of all trees.
    Child indices are relative to the root of their tree, so that a slice of the arrays is also a
    forest. Every node keeps its masses: votes, posteriors, importances and the predictions for
    another class prior follow from them.

    ``categories`` has the categories listed for the nodes, one node after another in ascending
    order; the number of a node's is in its field ``n_categories``.
    """

    def __init__(
        self,
        *,
        n_features: int,
        offset: NDArray[np.int64],
        categories: NDArray[np.uint16],
        **nodes: NDArray[Any],
    ) -> None:
        super().__init__(nodes)
        self.n_features: Final = n_features
        self.offset: Final = offset
        self.categories: Final = categories
        self._predictors: Final[dict[tuple[str, bool], Predictor]] = {}
        for array in self._arrays().values():
            array.flags.writeable = False

    def _nodes(self) -> dict[str, NDArray[Any]]:
        return {field.name: getattr(self, field.name) for field in NODE_FIELDS}

    def _arrays(self) -> dict[str, NDArray[Any]]:
        return {"offset": self.offset, "categories": self.categories, **self._nodes()}

    # For skops: the default does not support classes with a native base.
    def __reduce__(self) -> tuple[Any, ...]:
        return _new_forest, (), self.__getstate__()

    def __getstate__(self) -> dict[str, Any]:
        return {"version": FORMAT_VERSION, "n_features": self.n_features, **self._arrays()}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        values = dict(state)
        version = values.pop("version")
        if version == 1:
            values = with_missing_sides(values)
        elif version != FORMAT_VERSION:
            raise ValueError(
                f"the model has format version {version}, but this version of puforest reads "
                f"format version {FORMAT_VERSION}: load it with the version that saved it, or fit "
                "it again"
            )
        Forest.__init__(self, **values)

    @property
    def n_trees(self) -> int:
        return len(self.offset) - 1

    @property
    def is_leaf(self) -> NDArray[np.bool_]:
        leaf: NDArray[np.bool_] = self.feature == LEAF
        return leaf

    @cached_property
    def category_ends(self) -> NDArray[np.int64]:
        """End of the list of each node in `categories`."""
        return np.cumsum(self.n_categories, dtype=np.int64)

    def node_categories(self, k: int) -> NDArray[np.uint16]:
        """Return the categories listed for a node, an index into the arrays."""
        end = self.category_ends[k]
        return self.categories[end - self.n_categories[k] : end]

    @cached_property
    def larger_is_left(self) -> NDArray[np.bool_]:
        """True for inner nodes whose left child has the larger mass W_u, or both the same.

        In training, missing values go to that child at nodes that they do not reach, or where they
        are not informative.
        """
        inner, left = self._children()
        larger = np.zeros(len(self.feature), dtype=bool)
        larger[inner] = self.w_u[left] >= self.w_u[left + 1]
        return larger

    def tree(self, t: int) -> Forest:
        """Return tree `t` as a forest of one tree, without copying its nodes."""
        return self.part(t, t + 1)

    def part(self, first: int, last: int) -> Forest:
        """Return the trees from `first` to before `last`, without copying their nodes."""
        start, stop = int(self.offset[first]), int(self.offset[last])
        nodes = {name: array[start:stop] for name, array in self._nodes().items()}
        end = int(self.category_ends[stop - 1])
        listed = slice(end - int(nodes["n_categories"].sum()), end)
        return Forest(
            n_features=self.n_features,
            offset=self.offset[first : last + 1] - start,
            categories=self.categories[listed],
            **nodes,
        )

    @staticmethod
    def joined(forests: Sequence[Forest]) -> Forest:
        """Return the trees of all forests, one forest after another."""
        first = forests[0]
        if len(forests) == 1:
            return first
        nodes = {
            field.name: np.concatenate([getattr(forest, field.name) for forest in forests])
            for field in NODE_FIELDS
        }
        sizes = np.concatenate([np.diff(forest.offset) for forest in forests])
        return Forest(
            n_features=first.n_features,
            offset=np.append(0, np.cumsum(sizes)),
            categories=np.concatenate([forest.categories for forest in forests]),
            **nodes,
        )

    def with_prior(self, risk: str, old: float, new: float) -> Forest:
        """Return the same trees with the masses of another class prior."""
        w_p, w_u = self.w_p * (new / old), self.w_u
        if risk == "pn":
            w_u = w_p + (self.w_u - self.w_p) * ((1 - new) / (1 - old))
        return self.with_masses(w_p, w_u)

    def with_shifted_prior(self, old: float, new: float) -> Forest:
        """Return the same trees with the masses of data in which only the class prior differs."""
        w_p, w_n = self.w_p * (new / old), np.maximum(0, self.w_u - self.w_p)
        return self.with_masses(w_p, w_p + w_n * ((1 - new) / (1 - old)))

    def with_masses(self, w_p: NDArray[np.float64], w_u: NDArray[np.float64]) -> Forest:
        """Return the same trees with other masses."""
        return Forest(n_features=self.n_features, **self._arrays() | {"w_p": w_p, "w_u": w_u})

    # Predictions

    def votes(self) -> NDArray[np.bool_]:
        """Return whether each node votes for the positive class; ties are negative."""
        vote: NDArray[np.bool_] = 2 * self.w_p > self.w_u
        return vote

    def values(self, voting: str) -> NDArray[np.float64]:
        """Return the prediction of each node as a leaf.

        "hard": its vote, 0 or 1; "soft": its posterior; "ratio": a / (a + b), where a and b are the
        fractions of the positives and of the population at the node.
        """
        if voting == "hard":
            return self.votes().astype(np.float64)
        if voting == "soft":
            return posterior(self.w_p, self.w_u)
        a = self.w_p / np.repeat(self.w_p[self.offset[:-1]], np.diff(self.offset))
        total = a + self.w_u
        # Masses of extreme weights can vanish.
        ratio: NDArray[np.float64] = np.full(len(a), 0.5)
        np.divide(a, total, out=ratio, where=total > 0)
        return ratio

    def predictor(self, voting: str, dtype: np.dtype[Any]) -> Predictor:
        """Return the forest packed for predictions on X of this dtype; it is packed once."""
        single = dtype == np.float32
        if (voting, single) not in self._predictors:
            pack = _core.Predictor32 if single else _core.Predictor64
            value = self.values(voting)
            self._predictors[voting, single] = pack(
                self.offset, self.categories, self, value, self.n_features
            )
        return self._predictors[voting, single]

    def decision_path(self, leaves: NDArray[np.int32]) -> sp.csr_array:
        """Return the indicator of nodes on the paths to `leaves`, of shape (rows, all nodes)."""
        n_rows = len(leaves)
        parent = self._parents()
        node = (leaves + self.offset[:-1]).ravel()
        row = np.repeat(np.arange(n_rows), self.n_trees)
        rows, nodes = [row], [node]
        while len(node):
            node = parent[node]
            row, node = row[node >= 0], node[node >= 0]
            rows.append(row)
            nodes.append(node)
        index = (np.concatenate(rows), np.concatenate(nodes))
        ones = np.ones(len(index[0]), dtype=np.int64)
        return sp.csr_array((ones, index), shape=(n_rows, len(self.feature)))

    # Structure

    def _children(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return internal nodes and their left children, as indices into the arrays."""
        inner = np.flatnonzero(~self.is_leaf)
        tree = np.searchsorted(self.offset, inner, side="right") - 1
        return inner, self.left[inner] + self.offset[tree]

    def _parents(self) -> NDArray[np.int64]:
        inner, left = self._children()
        parent = np.full(len(self.feature), -1, dtype=np.int64)
        parent[left] = inner
        parent[left + 1] = inner
        return parent

    def left_children(self) -> NDArray[np.int64]:
        """Return the left child of each node, as an index into the arrays; LEAF for leaves."""
        inner, left = self._children()
        child = np.full(len(self.feature), LEAF, dtype=np.int64)
        child[inner] = left
        return child

    def levels(self) -> Iterator[NDArray[np.int64]]:
        """Iterate over the internal nodes of all trees, level by level from the roots."""
        left = self.left_children()
        level = self.offset[:-1]
        while len(inner := level[left[level] != LEAF]):
            yield inner
            level = np.concatenate([left[inner], left[inner] + 1])

    def depth(self) -> int:
        """Return the largest number of edges from a root to a leaf."""
        return sum(1 for _ in self.levels())

    def n_leaves(self) -> int:
        return int(np.count_nonzero(self.is_leaf))

    # Importances

    def reductions(self, risk: str, loss: str) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the internal nodes and the risk reduction of each split."""
        inner, left = self._children()
        r = minimum_risk(self.w_p, self.w_u, risk=risk, loss=loss)
        # With a prior other than that of the fit, a node and its child can both be -inf.
        with np.errstate(invalid="ignore"):
            return inner, r[inner] - (r[left] + r[left + 1])

    def _finite_reductions(
        self, risk: str, loss: str, *, normalized: bool
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        inner, reduction = self.reductions(risk, loss)
        if normalized:
            reduction = reduction / self.w_u[inner]
        finite = np.isfinite(reduction)
        return inner[finite], reduction[finite]

    def importances(self, risk: str, loss: str, *, normalized: bool) -> NDArray[np.float64]:
        """Return the sum of finite risk reductions of each feature, averaged over the trees."""
        inner, reduction = self._finite_reductions(risk, loss, normalized=normalized)
        total = np.bincount(self.feature[inner], weights=reduction, minlength=self.n_features)
        return total / self.n_trees

    def importances_by_tree(
        self, risk: str, loss: str, features: NDArray[np.intp], *, normalized: bool
    ) -> NDArray[np.float64]:
        """Return the sum of finite risk reductions by tree (row) and requested feature (column)."""
        inner, reduction = self._finite_reductions(risk, loss, normalized=normalized)
        column_of = np.full(self.n_features, -1)
        column_of[features] = np.arange(len(features))
        column = column_of[self.feature[inner]]
        requested = column >= 0
        tree = np.searchsorted(self.offset, inner[requested], side="right") - 1
        cell = tree * len(features) + column[requested]
        size = self.n_trees * len(features)
        total = np.bincount(cell, weights=reduction[requested], minlength=size)
        # NumPy's type hints know only the integers that bincount returns without weights.
        return np.asarray(total, dtype=np.float64).reshape(self.n_trees, len(features))

    def infinite_reductions(self, risk: str, loss: str) -> NDArray[np.int64]:
        """Count the splits on each feature that reduce the risk to minus infinity."""
        inner, reduction = self.reductions(risk, loss)
        infinite = self.feature[inner[~np.isfinite(reduction)]]
        return np.bincount(infinite, minlength=self.n_features)


def with_missing_sides(arrays: Mapping[str, Any]) -> dict[str, Any]:
    """Add the fields of format version 2 to the arrays of a forest of version 1.

    Such a forest was trained without missing values and categories. As in all nodes that no
    missing value reached in training, missing values go to the child with the larger mass.
    """
    is_inner = arrays["feature"] != LEAF
    tree = np.repeat(np.arange(len(arrays["offset"]) - 1), np.diff(arrays["offset"]))[is_inner]
    left = arrays["left"][is_inner] + arrays["offset"][tree]
    missing_left = np.zeros(len(is_inner), dtype=np.uint8)
    missing_left[is_inner] = arrays["w_u"][left] >= arrays["w_u"][left + 1]
    return {
        **arrays,
        "missing_left": missing_left,
        "n_categories": np.zeros(len(is_inner), dtype=np.int32),
        "categories": np.empty(0, dtype=np.uint16),
    }


def _new_forest() -> Forest:
    """Return a forest without arrays, to be filled by `Forest.__setstate__`."""
    return Forest.__new__(Forest)
