"""The fitted forest: flat, immutable arrays over the nodes of all trees."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from puforest import _core
from puforest.risk import minimum_risk, posterior

FORMAT_VERSION = 1

LEAF = -1

Predictor: TypeAlias = _core.Predictor32 | _core.Predictor64


@dataclass(frozen=True)
class Forest:
    """Trees, one after another; the nodes of tree ``t`` are ``offset[t]`` to ``offset[t + 1]``.

    Child indices count from the root of their tree, so that a part of the arrays is a forest
    too. Masses are kept for every node: votes, posteriors, importances and the answers for
    another class prior all follow from them.
    """

    n_features: int
    offset: NDArray[np.int64]
    feature: NDArray[np.int32]  # LEAF in leaves
    threshold: NDArray[np.float64]  # x <= threshold goes left
    left: NDArray[np.int32]  # the right child is left + 1; LEAF in leaves
    w_p: NDArray[np.float64]
    w_u: NDArray[np.float64]
    n_labeled: NDArray[np.int32]
    n_unlabeled: NDArray[np.int32]
    _predictors: dict[tuple[str, bool], Predictor] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        for array in self._arrays().values():
            array.flags.writeable = False

    def _arrays(self) -> dict[str, NDArray[Any]]:
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        return {name: value for name, value in values.items() if isinstance(value, np.ndarray)}

    def __getstate__(self) -> dict[str, Any]:
        return {"version": FORMAT_VERSION, "n_features": self.n_features, **self._arrays()}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        values = dict(state)
        version = values.pop("version")
        if version != FORMAT_VERSION:
            raise ValueError(
                f"the model has format version {version}, but this puforest reads version "
                f"{FORMAT_VERSION}: load it with the puforest that saved it, or fit it again"
            )
        for name, value in values.items():
            object.__setattr__(self, name, value)
        object.__setattr__(self, "_predictors", {})
        self.__post_init__()

    @property
    def n_trees(self) -> int:
        return len(self.offset) - 1

    @property
    def is_leaf(self) -> NDArray[np.bool_]:
        leaf: NDArray[np.bool_] = self.feature == LEAF
        return leaf

    def tree(self, t: int) -> Forest:
        """Tree `t` as a forest of its own, without copying its nodes."""
        part = slice(self.offset[t], self.offset[t + 1])
        nodes = {name: array[part] for name, array in self._arrays().items() if name != "offset"}
        size = self.offset[t + 1] - self.offset[t]
        return Forest(n_features=self.n_features, offset=np.array([0, size]), **nodes)

    def followed_by(self, other: Forest) -> Forest:
        """The trees of this forest and then those of `other`."""
        others = other._arrays()
        joined = {
            name: np.concatenate([array, others[name]])
            for name, array in self._arrays().items()
            if name != "offset"
        }
        offset = np.concatenate([self.offset, self.offset[-1] + other.offset[1:]])
        return Forest(n_features=self.n_features, offset=offset, **joined)

    def with_prior(self, risk: str, old: float, new: float) -> Forest:
        """The same trees, their masses those of another class prior."""
        w_p = self.w_p * (new / old)
        if risk != "pn":
            return replace(self, w_p=w_p)
        w_n = (self.w_u - self.w_p) * ((1 - new) / (1 - old))
        return replace(self, w_p=w_p, w_u=w_p + w_n)

    # Answers

    def votes(self) -> NDArray[np.bool_]:
        """Whether each node would vote for the positive class; a tie is negative."""
        vote: NDArray[np.bool_] = 2 * self.w_p > self.w_u
        return vote

    def answers(self, voting: str) -> NDArray[np.float64]:
        """What each node would answer as a leaf: its vote, 0 or 1, or its posterior."""
        if voting == "hard":
            return self.votes().astype(np.float64)
        return posterior(self.w_p, self.w_u)

    def predictor(self, voting: str, dtype: np.dtype[Any]) -> Predictor:
        """The forest packed for predictions on an X of this type; packed once."""
        single = dtype == np.float32
        if (voting, single) not in self._predictors:
            pack = _core.Predictor32 if single else _core.Predictor64
            self._predictors[voting, single] = pack(
                self.offset,
                self.feature,
                self.threshold,
                self.left,
                self.answers(voting),
                self.n_features,
            )
        return self._predictors[voting, single]

    def decision_path(self, leaves: NDArray[np.int32]) -> sp.csr_array:
        """Indicator of the nodes on the way to `leaves`, of shape (rows, all nodes)."""
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

    # Shape

    def _children(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Inner nodes and their left children, as indices into the arrays of all trees."""
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
        """Left child of each node as an index into the arrays of all trees; LEAF for leaves."""
        inner, left = self._children()
        child = np.full(len(self.feature), LEAF, dtype=np.int64)
        child[inner] = left
        return child

    def levels(self) -> Iterator[NDArray[np.int64]]:
        """The inner nodes of all trees, one depth after another from the roots down."""
        left = self.left_children()
        level = self.offset[:-1]
        while len(inner := level[left[level] != LEAF]):
            yield inner
            level = np.concatenate([left[inner], left[inner] + 1])

    def depth(self) -> int:
        """Number of edges between the root and the deepest leaf of all trees."""
        return sum(1 for _ in self.levels())

    def n_leaves(self) -> int:
        return int(np.count_nonzero(self.is_leaf))

    # Importances

    def reductions(self, risk: str, loss: str) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The inner nodes and how much the split of each reduces the risk."""
        inner, left = self._children()
        r = minimum_risk(self.w_p, self.w_u, risk=risk, loss=loss)
        # Under another prior than that of the fit, a node and its child may both be at -inf.
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
        """Finite risk reductions added up by feature, averaged over the trees."""
        inner, reduction = self._finite_reductions(risk, loss, normalized=normalized)
        total = np.bincount(self.feature[inner], weights=reduction, minlength=self.n_features)
        return total / self.n_trees

    def importances_by_tree(
        self, risk: str, loss: str, features: NDArray[np.intp], *, normalized: bool
    ) -> NDArray[np.float64]:
        """Finite risk reductions added up by tree and by some features, a column for each."""
        inner, reduction = self._finite_reductions(risk, loss, normalized=normalized)
        column_of = np.full(self.n_features, -1)
        column_of[features] = np.arange(len(features))
        column = column_of[self.feature[inner]]
        asked = column >= 0
        tree = np.searchsorted(self.offset, inner[asked], side="right") - 1
        cell = tree * len(features) + column[asked]
        size = self.n_trees * len(features)
        total = np.bincount(cell, weights=reduction[asked], minlength=size)
        # NumPy's types know only the whole numbers of a count without weights.
        return np.asarray(total, dtype=np.float64).reshape(self.n_trees, len(features))

    def infinite_reductions(self, risk: str, loss: str) -> NDArray[np.int64]:
        """How many splits on each feature made the risk minus infinity."""
        inner, reduction = self.reductions(risk, loss)
        infinite = self.feature[inner[~np.isfinite(reduction)]]
        return np.bincount(infinite, minlength=self.n_features)
