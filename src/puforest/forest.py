"""Forests."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from puforest import _core
from puforest import _validation as check
from puforest._base import PUClassifier
from puforest._docs import documented
from puforest._progress import Progress
from puforest.risk import classification_risk
from puforest.scenario import GroupMasses
from puforest.tree import PUDecisionTreeClassifier, PUExtraTreeClassifier

__all__ = ["PUExtraTreesClassifier", "PURandomForestClassifier"]


# What a tree of a forest shares with it.
FITTED = (
    "classes_",
    "prior_",
    "prior_estimate_",
    "n_features_in_",
    "feature_names_in_",
    "_grown_for",
    "_masses",
)


class BaseForest(PUClassifier):
    """What many trees need beyond one: samples, threads, out-of-bag answers, warm starts."""

    _tree_class: type[PUDecisionTreeClassifier] | type[PUExtraTreeClassifier]
    _seed: int
    _sample: tuple[Any, ...]
    _held_out: tuple[NDArray[np.float64], float] | None = None

    def __init__(
        self,
        prior: float | None,
        *,
        n_estimators: int,
        bootstrap: bool,
        max_labeled: int | float | None,
        max_unlabeled: int | float | None,
        oob_score: bool,
        warm_start: bool,
        n_jobs: int | None,
        verbose: int,
        **shared: Any,
    ) -> None:
        super().__init__(prior, **shared)
        self.n_estimators = n_estimators
        self.bootstrap = bootstrap
        self.max_labeled = max_labeled
        self.max_unlabeled = max_unlabeled
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _train_params(self, rows: check.Rows, n_features: int) -> _core.TrainParams:
        params = super()._train_params(rows, n_features)
        params.n_threads = self._n_threads()
        replace = check.boolean("bootstrap", self.bootstrap)
        labeled = check.number_of("max_labeled", self.max_labeled, rows.n_labeled, "labeled rows")
        unlabeled = check.number_of(
            "max_unlabeled", self.max_unlabeled, rows.n_unlabeled, "unlabeled rows"
        )
        every = self.max_labeled is None and self.max_unlabeled is None
        together = replace and every and self.scenario == "single-training-set"
        params.sampling = _core.Sampling(replace, together, labeled, unlabeled)
        held_out = replace or labeled < rows.n_labeled or unlabeled < rows.n_unlabeled
        if check.boolean("oob_score", self.oob_score) and not held_out:
            raise ValueError(
                "oob_score=True needs trees that do not see every row: set bootstrap=True, "
                "max_labeled or max_unlabeled"
            )
        return params

    def _continues(self) -> bool:
        return check.boolean("warm_start", self.warm_start) and hasattr(self, "_forest")

    def _grow(
        self,
        X: NDArray[Any],
        rows: check.Rows,
        masses: GroupMasses,
        params: _core.TrainParams,
        progress: Callable[[float], object] | None,
    ) -> None:
        n_trees = check.integer("n_estimators", self.n_estimators, 1)
        grown = self._forest.n_trees if self._continues() else 0
        if n_trees < grown:
            raise ValueError(
                f"n_estimators={n_trees} is less than the {grown} trees there are, and "
                "warm_start=True only adds trees"
            )
        seed = self._seed if grown else self._draw_seed()
        params.seed = seed
        params.first_tree = grown
        params.n_trees = n_trees - grown
        sample = self._sample_sizes(rows)
        if grown and self.oob_score and sample != self._sample:
            raise ValueError(
                "oob_score=True and warm_start=True: rows and their sampling must be those of the "
                "first fit"
            )
        if params.n_trees > 0:
            verbose = check.verbosity(self.verbose)
            reported = Progress(progress) if verbose or progress is not None else None
            new = self._train(X, rows, params, reported)
            if reported is not None:
                reported.finish(params.n_trees)
            self._forest = self._forest.followed_by(new) if grown else new
        else:
            warnings.warn(
                f"warm_start=True: there are n_estimators={n_trees} trees already, none is added",
                stacklevel=4,
            )
        self._seed = seed
        self._sample = sample
        self._held_out = self._judge_held_out(X, rows, params, masses) if self.oob_score else None

    def _sample_sizes(self, rows: check.Rows) -> tuple[Any, ...]:
        """What decides which rows a tree sees, the seed aside."""
        asked = (self.scenario, self.bootstrap, self.max_labeled, self.max_unlabeled)
        return (*asked, rows.n_labeled, rows.n_unlabeled)

    def _judge_held_out(
        self, X: NDArray[Any], rows: check.Rows, params: _core.TrainParams, masses: GroupMasses
    ) -> tuple[NDArray[np.float64], float]:
        """Out-of-bag decisions and their zero-one risk."""
        share = self._forest.predictor(self.voting, X.dtype).mean_held_out(X, rows.native(), params)
        judged, positive = np.isfinite(share[rows.order]), share[rows.order] > 0.5
        n = rows.n_labeled

        def positive_share(weight: NDArray[np.float64], part: slice) -> float:
            among = weight * judged[part]
            return float((among * positive[part]).sum() / among.sum())

        decision = 2 * share - 1
        if not (judged[:n].any() and judged[n:].any()):
            warnings.warn(
                "oob_risk_ is nan: no tree leaves out rows of both groups. Set bootstrap=True, or "
                "max_labeled and max_unlabeled, to have one.",
                stacklevel=5,
            )
            return decision, np.nan
        if not judged.all():
            warnings.warn(
                f"oob_score=True: {np.count_nonzero(~judged)} rows were seen by every tree and "
                "have no out-of-bag answer; more trees leave out more rows",
                stacklevel=5,
            )
        labeled, unlabeled = slice(None, n), slice(n, None)
        w_p = masses.labeled_p * positive_share(rows.positive_weight, labeled)
        w_u = masses.labeled_u * positive_share(rows.labeled_weight, labeled)
        w_u += masses.unlabeled_u * positive_share(rows.unlabeled_weight, unlabeled)
        risk = classification_risk(w_p, w_u, prior=masses.labeled_p, risk=self.risk)
        return decision, float(risk)

    def with_prior(self, prior: float) -> Self:
        other = super().with_prior(prior)
        other._held_out = None
        return other

    @property
    def oob_decision_function_(self) -> NDArray[np.float64]:
        return self._out_of_bag()[0]

    @property
    def oob_risk_(self) -> float:
        return self._out_of_bag()[1]

    def _out_of_bag(self) -> tuple[NDArray[np.float64], float]:
        if self._held_out is None:
            raise AttributeError(
                f"out-of-bag answers are there after a fit of {type(self).__name__} with "
                "oob_score=True"
            )
        return self._held_out

    @property
    def estimators_(self) -> list[PUDecisionTreeClassifier | PUExtraTreeClassifier]:
        """The trees as estimators; they are views, made anew at each access."""
        check_is_fitted(self)
        names = set(self._tree_class().get_params())
        params = {k: v for k, v in self.get_params(deep=False).items() if k in names}
        trees = []
        for t in range(self._forest.n_trees):
            tree = self._tree_class(**params)
            for name in FITTED:
                if hasattr(self, name):
                    setattr(tree, name, getattr(self, name))
            tree._forest = self._forest.tree(t)
            trees.append(tree)
        return trees

    def apply(self, X: check.MatrixLike) -> NDArray[np.int32]:
        """Index of the leaf of each tree that each row falls into.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_estimators)
        """
        return self._leaves(X)

    def decision_path(self, X: check.MatrixLike) -> tuple[sp.csr_array, NDArray[np.int64]]:
        """Nodes that each row passes in each tree.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        indicator : csr_array of shape (n_samples, n_nodes)
            1 where the row passes the node; the nodes of all trees side by side.
        n_nodes_ptr : ndarray of shape (n_estimators + 1,)
            The nodes of tree ``t`` are the columns ``n_nodes_ptr[t]`` to ``n_nodes_ptr[t + 1]``.
        """
        return self._decision_path(X), self._forest.offset

    def _n_threads(self) -> int:
        return check.threads(self.n_jobs)


@documented
class PURandomForestClassifier(BaseForest):
    """A random forest for positive and unlabeled data.

    Each tree sees a bootstrap sample of the labeled and of the unlabeled rows, and takes the
    best of all splits on a random choice of features at each node.

    Parameters
    ----------
    %parameters%

    Attributes
    ----------
    %attributes%
    %forest_attributes%

    See Also
    --------
    PUExtraTreesClassifier : Random thresholds on all rows.

    Examples
    --------
    >>> from puforest import PURandomForestClassifier
    >>> from puforest.datasets import load_mushrooms, make_pu
    >>> X, y = load_mushrooms(return_X_y=True)
    >>> X_pu, labeled = make_pu(X, y, n_labeled=1000, random_state=0)
    >>> forest = PURandomForestClassifier(prior=y.mean(), random_state=0).fit(X_pu, labeled)
    >>> bool(forest.score(X, y) > 0.98)
    True
    """

    _thresholds = _core.Thresholds.optimal
    _tree_class = PUDecisionTreeClassifier

    def __init__(
        self,
        prior: float | None = None,
        *,
        n_estimators: int = 100,
        scenario: str = "case-control",
        risk: str = "nnpu",
        loss: str = "quadratic",
        voting: str = "hard",
        max_features: str | int | float | None = "sqrt",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_risk_reduction: float | None = None,
        max_leaf_nodes: int | None = None,
        bootstrap: bool = True,
        max_labeled: int | float | None = None,
        max_unlabeled: int | float | None = None,
        oob_score: bool = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        super().__init__(
            prior,
            n_estimators=n_estimators,
            scenario=scenario,
            risk=risk,
            loss=loss,
            voting=voting,
            max_features=max_features,
            max_depth=max_depth,
            min_samples_split=min_samples_split,
            min_samples_leaf=min_samples_leaf,
            min_risk_reduction=min_risk_reduction,
            max_leaf_nodes=max_leaf_nodes,
            bootstrap=bootstrap,
            max_labeled=max_labeled,
            max_unlabeled=max_unlabeled,
            oob_score=oob_score,
            warm_start=warm_start,
            n_jobs=n_jobs,
            verbose=verbose,
            random_state=random_state,
        )


@documented
class PUExtraTreesClassifier(BaseForest):
    """Extra trees for positive and unlabeled data: PU ET of the paper.

    Each tree sees all rows (unless told otherwise), and takes the best of random splits on a
    random choice of features at each node.

    Parameters
    ----------
    %parameters%

    Attributes
    ----------
    %attributes%
    %forest_attributes%

    See Also
    --------
    PURandomForestClassifier : Optimal thresholds on bootstrap samples.

    References
    ----------
    Wilton, Koay, Ko, Xu and Ye: Positive-Unlabeled Learning using Random Forests via Recursive
    Greedy Risk Minimization. NeurIPS 2022.

    Examples
    --------
    >>> from puforest import PUExtraTreesClassifier
    >>> from puforest.datasets import load_mushrooms, make_pu
    >>> X, y = load_mushrooms(return_X_y=True)
    >>> X_pu, labeled = make_pu(X, y, n_labeled=1000, random_state=0)
    >>> forest = PUExtraTreesClassifier(prior=y.mean(), random_state=0).fit(X_pu, labeled)
    >>> bool(forest.score(X, y) > 0.98)
    True
    """

    _thresholds = _core.Thresholds.random
    _tree_class = PUExtraTreeClassifier

    def __init__(
        self,
        prior: float | None = None,
        *,
        n_estimators: int = 100,
        scenario: str = "case-control",
        risk: str = "nnpu",
        loss: str = "quadratic",
        voting: str = "hard",
        max_features: str | int | float | None = "sqrt",
        n_thresholds: int = 1,
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_risk_reduction: float | None = None,
        max_leaf_nodes: int | None = None,
        bootstrap: bool = False,
        max_labeled: int | float | None = None,
        max_unlabeled: int | float | None = None,
        oob_score: bool = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        super().__init__(
            prior,
            n_estimators=n_estimators,
            scenario=scenario,
            risk=risk,
            loss=loss,
            voting=voting,
            max_features=max_features,
            max_depth=max_depth,
            min_samples_split=min_samples_split,
            min_samples_leaf=min_samples_leaf,
            min_risk_reduction=min_risk_reduction,
            max_leaf_nodes=max_leaf_nodes,
            bootstrap=bootstrap,
            max_labeled=max_labeled,
            max_unlabeled=max_unlabeled,
            oob_score=oob_score,
            warm_start=warm_start,
            n_jobs=n_jobs,
            verbose=verbose,
            random_state=random_state,
        )
        self.n_thresholds = n_thresholds
