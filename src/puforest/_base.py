"""What the four estimators share: a fit from data to forest, and the answers of the forest."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, Self, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from puforest import _core
from puforest import _validation as check
from puforest._atomic_fit import atomic_fit
from puforest._matrix import is_small_and_clean, validated
from puforest._model import Forest
from puforest._model_methods import ModelMethodsMixin
from puforest._progress import Progress
from puforest.prior import PriorEstimate
from puforest.prior._estimate import missing_prior
from puforest.risk import LOSSES, RISKS
from puforest.scenario import SCENARIOS, GroupMasses, group_masses, require_possible

VOTINGS = ("hard", "soft")


@dataclass(frozen=True)
class GrownFor:
    """What the trees of a fit were grown for; parameters may be set to something else later."""

    risk: str
    loss: str
    scenario: str
    prior: float

    def require_same(self, other: GrownFor) -> None:
        """Refuse to add trees grown for something else."""
        for f in fields(self):
            old, new = getattr(self, f.name), getattr(other, f.name)
            if old != new:
                raise ValueError(
                    f"warm_start=True adds to trees grown with {f.name}={old!r}, which "
                    f"{f.name}={new!r} does not go with: fit a new forest"
                )


class PUClassifier(ModelMethodsMixin, ClassifierMixin, BaseEstimator):
    """Base of all estimators. A single tree is a forest of one."""

    # Which thresholds a feature proposes; set by each class.
    _thresholds: _core.Thresholds

    classes_: NDArray[Any]
    prior_: float
    prior_estimate_: PriorEstimate
    _forest: Forest
    _grown_for: GrownFor
    _masses: GroupMasses

    def __init__(
        self,
        prior: float | None,
        *,
        scenario: str,
        risk: str,
        loss: str,
        voting: str,
        max_features: str | int | float | None,
        max_depth: int | None,
        min_samples_split: int | float,
        min_samples_leaf: int | float,
        min_risk_reduction: float | None,
        max_leaf_nodes: int | None,
        random_state: int | np.random.RandomState | None,
    ) -> None:
        self.prior = prior
        self.scenario = scenario
        self.risk = risk
        self.loss = loss
        self.voting = voting
        self.max_features = max_features
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_risk_reduction = min_risk_reduction
        self.max_leaf_nodes = max_leaf_nodes
        self.random_state = random_state

    @atomic_fit
    def fit(
        self,
        X: check.MatrixLike,
        y: check.MatrixLike,
        sample_weight: ArrayLike | None = None,
        *,
        propensity: ArrayLike | None = None,
        progress: Callable[[float], object] | None = None,
    ) -> Self:
        """Learn from labeled positives and unlabeled rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows; finite numbers. Dates, and masked entries of a masked array, are refused.
        y : array-like of shape (n_samples,)
            Two values: the larger marks labeled positives, the smaller unlabeled rows (with
            ``risk="pn"``: negatives). 1 and 0, 1 and -1, True and False all do.
        sample_weight : array-like of shape (n_samples,), optional
            A row of weight 2 is the same as the row twice, and one of weight 0 is not there.
            Limits such as ``min_samples_leaf`` count rows, whatever they weigh, and a bootstrap
            draws rows. Weights count by their ratios, which floats must be able to hold.
        propensity : array-like of shape (n_samples,), optional
            Probability of each labeled row to be labeled given that it is positive, where
            this differs between rows. Values of unlabeled rows are not used. Without a
            ``prior`` they imply one; a given ``prior`` scales the masses that they imply.
        progress : callable, optional
            Called now and then with the fraction of trees that are finished, from 0 to 1, in
            place of the lines that ``verbose`` prints.

        Returns
        -------
        self
        """
        check.one_of("risk", self.risk, RISKS)
        check.one_of("scenario", self.scenario, SCENARIOS)
        check.one_of("voting", self.voting, VOTINGS)
        prior = check.class_prior(self.prior)
        X, y = validated(self, X, y=y, reset=not self._continues())
        rows = check.training_rows(y, sample_weight, propensity, risk=self.risk)
        params = self._train_params(rows, n_features=X.shape[1])
        if prior is None and propensity is None and self.risk != "pn":
            prior = self._estimated_prior(X, y, sample_weight)
        elif not self._continues():
            self.__dict__.pop("prior_estimate_", None)
        masses = group_masses(
            risk=self.risk,
            scenario=self.scenario,
            prior=prior,
            labeled=rows.labeled_weight,
            unlabeled=rows.unlabeled_weight,
            propensity=rows.propensity,
        )
        params.masses = _core.GroupMasses(masses.labeled_p, masses.labeled_u, masses.unlabeled_u)
        grown_for = GrownFor(self.risk, self.loss, self.scenario, masses.labeled_p)
        if self._continues():
            self._grown_for.require_same(grown_for)
            if not np.array_equal(self.classes_, rows.classes):
                raise ValueError(
                    f"warm_start=True adds to trees for the classes {self.classes_.tolist()} of y, "
                    f"got {rows.classes.tolist()}: fit a new forest"
                )
        self._grow(X, rows, masses, params, progress)
        self.classes_ = rows.classes
        self.prior_ = masses.labeled_p
        self._grown_for = grown_for
        self._masses = masses
        return self

    def _estimated_prior(
        self, X: NDArray[Any], y: NDArray[Any], sample_weight: ArrayLike | None
    ) -> float:
        """The prior from the data; trees that are added keep that of the first ones."""
        if self._continues():
            return self._grown_for.prior
        self.prior_estimate_ = missing_prior(
            X,
            y,
            scenario=self.scenario,
            sample_weight=sample_weight,
            n_jobs=self._n_threads(),
            random_state=self.random_state,
            stacklevel=5,  # the caller of fit
        )
        return self.prior_estimate_.value

    def _train_params(self, rows: check.Rows, n_features: int) -> _core.TrainParams:
        n = len(rows.order)
        params = _core.TrainParams()
        params.risk = _core.Risk[self.risk]
        params.loss = _core.Loss[check.one_of("loss", self.loss, LOSSES).replace("-", "_")]
        params.thresholds = self._thresholds
        params.max_features = check.features_to_draw(self.max_features, n_features)
        params.n_thresholds = check.integer("n_thresholds", getattr(self, "n_thresholds", 1), 1)
        params.max_depth = check.optional_integer("max_depth", self.max_depth, 1, check.MAX_UINT32)
        params.min_samples_split = check.count_or_share(
            "min_samples_split", self.min_samples_split, n, 2
        )
        params.min_samples_leaf = check.count_or_share(
            "min_samples_leaf", self.min_samples_leaf, n, 1
        )
        params.max_leaf_nodes = check.optional_integer("max_leaf_nodes", self.max_leaf_nodes, 2, 0)
        params.min_risk_reduction = check.least_reduction(self.min_risk_reduction)
        params.sampling = _core.Sampling(False, False, rows.n_labeled, rows.n_unlabeled)
        return params

    def _continues(self) -> bool:
        """Whether this fit adds to an earlier one."""
        return False

    def _grow(
        self,
        X: NDArray[Any],
        rows: check.Rows,
        masses: GroupMasses,
        params: _core.TrainParams,
        progress: Callable[[float], object] | None,
    ) -> None:
        params.seed = self._draw_seed()
        self._forest = self._train(X, rows, params)

    def _draw_seed(self) -> int:
        return int(check.random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def _train(
        self,
        X: NDArray[Any],
        rows: check.Rows,
        params: _core.TrainParams,
        progress: Progress | None = None,
    ) -> Forest:
        arrays = _core.train(X, rows.native(), params, progress)
        return Forest(n_features=X.shape[1], **arrays)

    def _n_threads(self) -> int:
        return 1

    # Answers

    def _validated(self, X: check.MatrixLike) -> NDArray[Any]:
        if self._needs_no_validation(X):
            return cast(NDArray[Any], X)
        check_is_fitted(self)
        return cast(NDArray[Any], validated(self, X, reset=False))

    def _needs_no_validation(self, X: check.MatrixLike) -> bool:
        """Whether X is few rows as the core wants them.

        For them scikit-learn's checks would take longer than the answer.
        """
        fitted = self.__dict__
        return (
            "_forest" in fitted
            and "feature_names_in_" not in fitted
            and is_small_and_clean(X, self._forest.n_features)
        )

    def _positive_share(self, X: check.MatrixLike) -> NDArray[np.float64]:
        """Mean answer of the trees, between 0 and 1."""
        X = self._validated(X)
        check.one_of("voting", self.voting, VOTINGS)
        return self._forest.predictor(self.voting, X.dtype).mean(X, self._n_threads())

    def predict(self, X: check.MatrixLike) -> NDArray[Any]:
        """Class of each row, in the coding of the `y` of the fit.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            ``classes_[1]`` where the positive votes are more than half, else ``classes_[0]``.
        """
        positive = self._positive_share(X) > 0.5
        return self.classes_[positive.astype(np.intp)]

    def predict_proba(self, X: check.MatrixLike) -> NDArray[np.float64]:
        """Mean answer of the trees for each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Columns as in ``classes_``. With hard voting these are shares of votes; they rank
            rows well but are not calibrated probabilities.
        """
        positive = self._positive_share(X)
        return np.column_stack([1 - positive, positive])

    def decision_function(self, X: check.MatrixLike) -> NDArray[np.float64]:
        """Mean vote of the trees, from -1 to 1.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Above 0 where ``predict`` says positive.
        """
        return 2 * self._positive_share(X) - 1

    def score(
        self,
        X: check.MatrixLike,
        y: check.MatrixLike,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Accuracy against the true classes.

        Given labels instead, with unlabeled positives counted as negatives, it is no measure of
        quality: do not choose parameters by it, nor by a search that uses it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their true classes, in the coding of the fit.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.

        Returns
        -------
        float
            Share of rows predicted right.
        """
        return float(super().score(X, y, sample_weight))

    def _leaves(self, X: check.MatrixLike) -> NDArray[np.int32]:
        X = self._validated(X)
        return self._forest.predictor("hard", X.dtype).leaves(X, self._n_threads())

    def _decision_path(self, X: check.MatrixLike) -> sp.csr_array:
        leaves = self._leaves(X)
        return self._forest.decision_path(leaves)

    def with_prior(self, prior: float) -> Self:
        """Answer for another class prior with the same trees, without a new fit.

        The splits stay; what each leaf says follows from its masses under the new prior. This
        needs leaves that hold both classes: fully grown leaves are pure and say the same for
        most priors, so grow the forest with ``min_samples_leaf``, ``max_leaf_nodes`` or
        ``max_depth`` to ask it for other priors. A new fit may choose other splits.

        Parameters
        ----------
        prior : float
            Share of positives in the population, between 0 and 1.

        Returns
        -------
        estimator
            A fitted copy that shares its trees with this one.

        Examples
        --------
        >>> from puforest import PUExtraTreesClassifier
        >>> X = [[0.1], [0.2], [0.3], [0.6], [0.7], [0.9]]
        >>> forest = PUExtraTreesClassifier(prior=0.5, random_state=0)
        >>> forest = forest.fit(X, [0, 0, 0, 0, 1, 1])
        >>> forest.with_prior(0.2).prior_
        0.2
        """
        check_is_fitted(self)
        new = check.class_prior(prior)
        if new is None:
            raise TypeError("prior must be a number between 0 and 1, got None")
        risk = self._grown_for.risk
        if risk != "pn":
            require_possible(new, self._masses.labeled_u)
        other = copy.copy(self)
        other.__dict__.pop("prior_estimate_", None)
        other.prior = other.prior_ = new
        other._forest = self._forest.with_prior(risk, self.prior_, new)
        other._grown_for = replace(self._grown_for, prior=new)
        other._masses = GroupMasses(new, self._masses.labeled_u, self._masses.unlabeled_u)
        return other

    # Shape and importances

    def get_depth(self) -> int:
        """Count the splits on the longest path of the deepest tree."""
        check_is_fitted(self)
        return self._forest.depth()

    def get_n_leaves(self) -> int:
        """Count the leaves of all trees."""
        check_is_fitted(self)
        return self._forest.n_leaves()

    @property
    def prior_interval_(self) -> tuple[float, float]:
        """Where the prior lies, if it was estimated."""
        if "prior_estimate_" not in self.__dict__:
            raise AttributeError("prior_interval_ is there after a fit with prior=None")
        return self.prior_estimate_.interval

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Risk reductions of the splits on each feature; they do not add up to 1."""
        check_is_fitted(self)
        grown = self._grown_for
        return self._forest.importances(grown.risk, grown.loss, normalized=False)

    @property
    def normalized_feature_importances_(self) -> NDArray[np.float64]:
        """Risk reductions, each divided by the mass of its node."""
        check_is_fitted(self)
        grown = self._grown_for
        return self._forest.importances(grown.risk, grown.loss, normalized=True)

    @property
    def infinite_reductions_(self) -> NDArray[np.int64]:
        """Number of splits on each feature that made the risk minus infinity."""
        check_is_fitted(self)
        return self._forest.infinite_reductions(self._grown_for.risk, self._grown_for.loss)

    # scikit-learn's protocol

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_forest")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
