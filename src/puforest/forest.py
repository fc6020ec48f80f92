"""Forests for positive and unlabeled data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from puforest import _core
from puforest import _validation as check
from puforest._atomic_fit import atomic_fit
from puforest._base import PUClassifier
from puforest._encoded import EncodedTable
from puforest._estimator_docs import documented_estimator
from puforest._file_fit import Evaluated, fit_to_files
from puforest._fit_record import OutOfBag
from puforest._model_methods import ModelMethodsMixin
from puforest._needed_rows import NeededRows, needed_by_trees, part_of
from puforest._part_of_table import WholeLabels
from puforest._prior_estimate import PriorEstimate
from puforest._schema import FeatureSchema
from puforest._table_files import Paths
from puforest._threshold import checked_threshold, is_rule
from puforest._training_rows import TrainingRows
from puforest.tree import PUDecisionTreeClassifier, PUExtraTreeClassifier

__all__ = ["PUExtraTreesClassifier", "PURandomForestClassifier"]


class BaseForest(PUClassifier):
    """Base of the forests: sampling of rows, threads, out-of-bag evaluation, warm starts."""

    _tree_class: type[PUDecisionTreeClassifier] | type[PUExtraTreeClassifier]

    @atomic_fit
    def fit_files(
        self,
        paths: Paths,
        label: str,
        *,
        columns: Sequence[str] | None = None,
        sample_weight: str | None = None,
        propensity: str | None = None,
        progress: Callable[[float], object] | None = None,
    ) -> Self:
        """Fit to files, which may be larger than memory.

        The labels are read first, and then all columns batch by batch. Only the labeled rows and
        the unlabeled rows that some tree or the evaluation draws are kept. The forest is the same
        as that of ``fit`` on all rows. ``PUForestClassifier`` always draws a part of the unlabeled
        rows; other forests require ``max_unlabeled`` and a ``prior``.

        Parameters
        ----------
        paths : str, path-like, or list of them
            Parquet, Arrow (Feather) or CSV files, folders, or patterns such as
            ``"data/*.parquet"``. The files of a folder are read in alphabetical order, which is the
            order of the rows. Types of CSV columns are those of the first 16 MiB of each file.
        label : str
            Column of the labels, as ``y`` in ``fit``.
        columns : list of str, optional
            Feature columns. By default, all columns except those of the other parameters.
        sample_weight : str, optional
            Column of the sample weights.
        propensity : str, optional
            Column of the propensities.
        progress : callable, optional
            Called with the fraction of the fit that is done, from 0 to 1; reading is the first
            half.

        Returns
        -------
        self

        Notes
        -----
        In memory are, at any time, one byte per row for its label (and eight for its weight), the
        rows that the fit needs, and a few batches. Attributes that have a value for each training
        row, such as ``oob_decision_function_``, are not available.

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> import numpy as np
        >>> import pandas as pd
        >>> from puforest import PUForestClassifier
        >>> rng = np.random.default_rng(0)
        >>> table = pd.DataFrame({"x": rng.normal(size=500)})
        >>> table["label"] = (table["x"] > 1).astype(int)
        >>> forest = PUForestClassifier(0.2, n_estimators=10, candidates="fast", random_state=0)
        >>> with TemporaryDirectory() as folder:
        ...     table.to_parquet(Path(folder) / "part-0.parquet")
        ...     forest = forest.fit_files(folder, "label")
        >>> forest.predict(pd.DataFrame({"x": [-2.0, 2.0]})).tolist()
        [0, 1]
        """
        self._check_parameters()
        fit_to_files(
            self,
            paths,
            label,
            columns=columns,
            sample_weight=sample_weight,
            propensity=propensity,
            n_threads=self._n_threads(),
            progress=progress,
        )
        return self

    def _needed_rows(self, labels: WholeLabels, seed: int, largest_fold: float) -> NeededRows:
        """Return the unlabeled rows that a fit needs, of a table with these labels."""
        parameters = self._parameters()
        if parameters["max_unlabeled"] is None:
            raise ValueError(
                "max_unlabeled=None: fit_files needs a limit of the unlabeled rows that each tree "
                "is grown on, for example max_unlabeled=100_000. PUForestClassifier has its own "
                "limit."
            )
        for name in ("oob_score", "warm_start"):
            if check.boolean(name, parameters[name]):
                raise ValueError(
                    f"{name}=True is not available with fit_files, which keeps only "
                    "the rows that trees are grown on: use fit, or "
                    f"{name}=False"
                )
        if self.prior is None and labels.propensity is None and self.risk != "pn":
            raise ValueError(
                "prior=None: fit_files estimates the prior with PUForestClassifier only. Pass "
                "prior, for example prior=0.3, or that of a PUForestClassifier."
            )
        n = labels.totals.n_unlabeled
        draws = check.number_of("max_unlabeled", parameters["max_unlabeled"], n, "unlabeled rows")
        n_trees = check.integer("n_estimators", parameters["n_estimators"], 1)
        return needed_by_trees(n_trees, draws, n_unlabeled=n, seed=seed)

    def _fit_to_part(
        self,
        schema: FeatureSchema,
        table: EncodedTable,
        rows: TrainingRows,
        needed: NeededRows,
        progress: Callable[[float], object] | None,
    ) -> Evaluated | None:
        """Fit to the labeled rows and the needed ones of a table."""
        self._fit_to_rows(schema, table, part_of(rows, needed), seed=needed.seed, progress=progress)
        return None

    @property
    def oob_decision_function_(self) -> NDArray[np.float64]:
        """Mean vote for each training row, over the trees that were not grown on it."""
        return self._out_of_bag("oob_decision_function_").decision_function

    @property
    def oob_risk_(self) -> float:
        """Out-of-bag estimate of the zero-one risk."""
        return self._out_of_bag("oob_risk_").risk

    @property
    def oob_score_(self) -> float:
        """Out-of-bag estimate of the accuracy, 1 - ``oob_risk_``."""
        return 1 - self._out_of_bag("oob_score_").risk

    def _out_of_bag(self, attribute: str) -> OutOfBag:
        found = self._recorded(attribute).out_of_bag
        if found is None:
            raise AttributeError(
                f"{attribute} is only available if {type(self).__name__} was fitted with "
                "oob_score=True"
            )
        return found

    @property
    def estimators_(self) -> list[PUDecisionTreeClassifier | PUExtraTreeClassifier]:
        """Fitted trees as estimators; the list is created on each access."""
        check_is_fitted(self)
        names = set(self._tree_class().get_params())
        params = {k: v for k, v in self.get_params(deep=False).items() if k in names}
        if is_rule(checked_threshold(self.threshold)):  # for the out-of-bag predictions of a forest
            del params["threshold"]
        return [self._tree(t, params) for t in range(self._forest.n_trees)]

    def _tree(
        self, t: int, params: dict[str, Any]
    ) -> PUDecisionTreeClassifier | PUExtraTreeClassifier:
        return self._single_tree(t, self._tree_class, params)

    def _single_tree(
        self,
        t: int,
        kind: type[PUDecisionTreeClassifier] | type[PUExtraTreeClassifier],
        params: dict[str, Any],
    ) -> PUDecisionTreeClassifier | PUExtraTreeClassifier:
        """Return tree `t` as an estimator of a class with these parameters."""
        tree = kind(**params)
        tree._forest = self._forest.tree(t)
        tree._record = replace(
            self._record,
            n_labeled=int(tree._forest.n_labeled[0]),
            n_unlabeled=int(tree._forest.n_unlabeled[0]),
            parameters=tree.get_params()
            | {k: v for k, v in self._record.parameters.items() if k in params},
            out_of_bag=None,
            curve=None,
            calibrator=None,
            comparison=None,
        )
        return tree

    def apply(self, X: check.MatrixLike) -> NDArray[np.int32]:
        """Return the leaf that each row falls into in each tree.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to pass through the trees.

        Returns
        -------
        ndarray of shape (n_samples, n_estimators)
            Node indices, counted from the root of each tree.
        """
        return self._leaves(X)

    def decision_path(self, X: check.MatrixLike) -> tuple[sp.csr_array, NDArray[np.int64]]:
        """Return the path of each row through each tree.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to pass through the trees.

        Returns
        -------
        indicator : csr_array of shape (n_samples, n_nodes)
            1 for the nodes on the path of a row; the nodes of all trees are concatenated.
        n_nodes_ptr : ndarray of shape (n_estimators + 1,)
            The nodes of tree ``t`` are the columns ``n_nodes_ptr[t]:n_nodes_ptr[t + 1]``.
        """
        return self._decision_path(X), self._forest.offset


@documented_estimator
class PURandomForestClassifier(ModelMethodsMixin, BaseForest):
    """Random forest for positive and unlabeled data.

    Each tree is grown on a bootstrap sample of the labeled and the unlabeled rows. At each node the
    best split over a random subset of the features is chosen.

    Parameters
    ----------
    %parameters%

    Attributes
    ----------
    %attributes%
    %forest_attributes%

    See Also
    --------
    PUExtraTreesClassifier : Forest with random thresholds, grown on all rows.

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
        prior: float | PriorEstimate | None = None,
        *,
        n_estimators: int = 100,
        scenario: str = "case-control",
        risk: str = "nnpu",
        loss: str = "quadratic",
        voting: str = "hard",
        threshold: Any = 0.5,
        max_features: str | int | float | None = "sqrt",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_risk_reduction: float | None = None,
        max_leaf_nodes: int | None = None,
        categorical_features: Any = "from_dtype",
        monotonic_cst: Any = None,
        bootstrap: bool = True,
        max_labeled: int | float | None = None,
        max_unlabeled: int | float | None = None,
        oob_score: bool = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self._set_parameters(locals())


@documented_estimator
class PUExtraTreesClassifier(ModelMethodsMixin, BaseForest):
    """Extra-trees for positive and unlabeled data: PU ET of the paper [1]_.

    Each tree is grown on all rows by default. At each node the best of random thresholds over a
    random subset of the features is chosen.

    Parameters
    ----------
    %parameters%

    Attributes
    ----------
    %attributes%
    %forest_attributes%

    See Also
    --------
    PURandomForestClassifier : Forest with optimal thresholds, grown on bootstrap samples.

    References
    ----------
    .. [1] Wilton, Koay, Ko, Xu and Ye. Positive-Unlabeled Learning using Random Forests via
       Recursive Greedy Risk Minimization. NeurIPS 2022.

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
        prior: float | PriorEstimate | None = None,
        *,
        n_estimators: int = 100,
        scenario: str = "case-control",
        risk: str = "nnpu",
        loss: str = "quadratic",
        voting: str = "hard",
        threshold: Any = 0.5,
        max_features: str | int | float | None = "sqrt",
        n_thresholds: int = 1,
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_risk_reduction: float | None = None,
        max_leaf_nodes: int | None = None,
        categorical_features: Any = "from_dtype",
        monotonic_cst: Any = None,
        bootstrap: bool = False,
        max_labeled: int | float | None = None,
        max_unlabeled: int | float | None = None,
        oob_score: bool = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self._set_parameters(locals())
