"""Base class of the estimators: fitting, predicting, and the attributes of a fit."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from puforest import _core
from puforest import _validation as check
from puforest._atomic_fit import atomic_fit
from puforest._encoded import EncodedTable
from puforest._fit_record import FitRecord, OutOfBag, RecordedFitMixin
from puforest._masses import GroupMasses, group_masses, refuse_impossible_prior
from puforest._model import Forest
from puforest._monotone import monotone_features
from puforest._out_of_bag import out_of_bag_risk
from puforest._prior_estimate import PRIOR_SHIFT, PriorEstimate, given_estimate
from puforest._progress import Progress
from puforest._row_digest import digest_of_fit
from puforest._row_weights import growth
from puforest._schema import FeatureSchema
from puforest._score_curve import score_curve
from puforest._threshold import checked_threshold, is_rule, score_threshold
from puforest._training import draw_seed, grow, set_masses, train_params
from puforest._training_rows import TrainingRows, training_rows, warn_if_swapped
from puforest._warnings import warn
from puforest.prior._estimate import missing_prior
from puforest.risk import RISKS
from puforest.scenario import SCENARIOS

# Threshold that even rows without a positive vote are above.
BELOW_ZERO = float(np.nextafter(0, -1))


class PUClassifier(RecordedFitMixin[FitRecord], ClassifierMixin, BaseEstimator):
    """Base of all estimators. A single tree is a forest of one."""

    # How thresholds are proposed; set by each class.
    _thresholds: _core.Thresholds

    _forest: Forest

    prior: float | PriorEstimate | None
    scenario: str
    risk: str
    loss: str
    voting: str
    threshold: Any
    categorical_features: Any
    monotonic_cst: Any
    random_state: int | np.random.RandomState | None

    def _set_parameters(self, arguments: dict[str, Any]) -> None:
        """Set the parameters, given the `locals()` of ``__init__``."""
        self.__dict__.update({name: v for name, v in arguments.items() if name != "self"})

    def _parameters(self) -> dict[str, Any]:
        """Return all parameters.

        Not get_params, which leaves out those that a subclass fixes in its ``__init__``.
        """
        return {name: v for name, v in vars(self).items() if not name.startswith("_")}

    @atomic_fit
    def fit(
        self,
        X: check.MatrixLike,
        y: check.MatrixLike,
        sample_weight: ArrayLike | None = None,
        *,
        propensity: ArrayLike | None = None,
        checked: ArrayLike | None = None,
        check_probability: ArrayLike | None = None,
        progress: Callable[[float], object] | None = None,
    ) -> Self:
        """Fit to labeled positives and unlabeled rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training data: an array, a sparse matrix, or a pandas, polars or Arrow table. Columns
            can be numbers, text or categories (see ``categorical_features``), booleans, dates and
            durations (converted to days). NaN, None and nulls are missing values. Infinite values
            raise an error.
        y : array-like of shape (n_samples,)
            Labels with two values, such as 1 and 0, 1 and -1, or True and False: the larger marks
            labeled positives, the smaller unlabeled rows (with ``risk="pn"``: negatives). Missing
            labels (NaN or None) mark unlabeled rows; ``classes_`` is then [0, 1].
        sample_weight : array-like of shape (n_samples,), optional
            Sample weights. A row with weight 2 is equivalent to two copies of the row, and a row
            with weight 0 is ignored. Limits such as ``min_samples_leaf`` count rows regardless of
            their weight, and so does the bootstrap. Only ratios of weights matter; they must be
            within the range of floats.
        propensity : array-like of shape (n_samples,), optional
            Probability that each labeled row is labeled given that it is positive, if it differs
            between rows. Values of unlabeled rows are ignored. Without a ``prior``, the prior
            follows from the propensities; a given ``prior`` rescales the masses they imply.
        checked : array-like of shape (n_samples,), optional
            Verdicts on unlabeled rows that were looked at: 1 or True for rows found positive, 0 or
            False for rows found negative, NaN or None for all others. Rows that were labeled
            because they were checked must be unlabeled in `y`. Without a ``prior``, the prior is
            estimated from the verdicts, unless some rows could not be checked. Not available with
            ``risk="pn"``.
        check_probability : float or array-like of shape (n_samples,), optional
            Probability with which a row with these features was selected for checking, above 0 for
            checked rows. Labeled rows need it too: the probability that they would have had as
            unlabeled rows. If the top k unlabeled rows were checked, it is 1 for all rows, labeled
            or not, that score as high, and else 0. By default, the checked rows are a simple
            random sample of the unlabeled rows.
        progress : callable, optional
            Called with the fraction of trees grown so far, from 0 to 1. It replaces the messages
            of ``verbose``.

        Returns
        -------
        self
        """
        self._check_parameters()
        earlier = self._record if self._adds_trees() else None
        schema, table, y = self._training_data(X, y, earlier)
        rows = training_rows(
            y,
            sample_weight,
            propensity,
            risk=self.risk,
            checked=checked,
            check_probability=check_probability,
        )
        estimates = (y, sample_weight, checked, check_probability)
        self._fit_to_rows(
            schema,
            table,
            rows,
            earlier=earlier,
            estimate_prior=lambda: self._estimate_prior(table, *estimates),
            progress=progress,
        )
        return self

    def _check_parameters(self) -> None:
        check.one_of("risk", self.risk, RISKS)
        check.one_of("scenario", self.scenario, SCENARIOS)
        check.one_of("voting", self.voting, check.VOTINGS)
        self._check_threshold()
        check.class_prior(self.prior)

    def _fit_to_rows(
        self,
        schema: FeatureSchema,
        table: EncodedTable,
        rows: TrainingRows,
        *,
        earlier: FitRecord | None = None,
        estimate_prior: Callable[[], PriorEstimate] | None = None,
        seed: int | None = None,
        progress: Callable[[float], object] | None,
    ) -> None:
        """Grow the trees, and evaluate them if ``oob_score`` is set."""
        parameters = self._parameters()
        params = train_params(parameters, thresholds=self._thresholds, rows=rows, table=table)
        increasing, decreasing = monotone_features(self.monotonic_cst, schema)
        params.increasing_features, params.decreasing_features = increasing, decreasing

        prior, estimate = check.class_prior(self.prior), given_estimate(self.prior)
        if prior is None and rows.propensity is None and self.risk != "pn":
            if earlier is None:
                assert estimate_prior is not None
                estimate = estimate_prior()
                prior = estimate.value
            else:
                estimate, prior = earlier.prior_estimate, earlier.prior
        elif self.risk != "pn":
            warn_if_swapped(rows)  # as the estimation of the prior does
        masses = self._masses(rows, prior)
        weighted, root_masses = growth(rows, masses)
        set_masses(params, root_masses)
        if earlier is not None:
            params.seed = earlier.seed
        else:
            params.seed = draw_seed(self.random_state) if seed is None else seed
        record = FitRecord(
            classes=rows.classes,
            schema=schema,
            parameters=parameters,
            masses=masses,
            prior_estimate=estimate,
            n_labeled=rows.n_labeled,
            n_unlabeled=rows.totals.n_unlabeled,
            n_confirmed=rows.n_confirmed,
            n_refuted=rows.n_refuted,
            digest=None if rows.whole is not None else digest_of_fit(table, rows),
            seed=params.seed,
        )
        forest = self._grow(table, weighted, params, record, earlier, progress)
        if parameters.get("oob_score", False):
            votes = self._out_of_bag_votes(forest, table, rows, params)
            record = replace(
                record,
                out_of_bag=self._evaluate(votes, rows, record),
                curve=score_curve(votes[rows.order], rows, masses),
            )
        self._record, self._forest = record, forest

    def _masses(self, rows: TrainingRows, prior: float | None) -> GroupMasses:
        """Compute the masses of the two groups of rows."""
        return group_masses(
            risk=self.risk,
            scenario=self.scenario,
            prior=prior,
            labeled=rows.labeled_weight,
            unlabeled=rows.totals.unlabeled,
            propensity=rows.propensity,
        )

    def _adds_trees(self) -> bool:
        """Return True if this fit adds trees to an earlier one."""
        warm_start = check.boolean("warm_start", getattr(self, "warm_start", False))
        return warm_start and self.__sklearn_is_fitted__()

    def _training_data(
        self, X: check.MatrixLike, y: check.MatrixLike, earlier: FitRecord | None
    ) -> tuple[FeatureSchema, EncodedTable, NDArray[Any]]:
        if self.risk == "pn":
            check.refuse_missing_labels(y)
        name = type(self).__name__
        if earlier is None:
            return FeatureSchema.of_training_data(
                X, y, estimator=name, categorical_features=self.categorical_features
            )
        unknown: dict[int, int] = {}
        table = earlier.schema.table(X, estimator=name, unknown=unknown)
        if unknown:
            places = ", ".join(map(earlier.schema.place, sorted(unknown)))
            warn(
                f"warm_start=True: categories of {places} that the first fit did not see are "
                "treated as missing values"
            )
        return earlier.schema, table, check.training_labels(y, len(table), name)

    def _estimate_prior(
        self,
        X: EncodedTable,
        y: NDArray[Any],
        sample_weight: ArrayLike | None,
        checked: ArrayLike | None,
        check_probability: ArrayLike | None,
    ) -> PriorEstimate:
        return missing_prior(
            X,
            y,
            scenario=self.scenario,
            sample_weight=sample_weight,
            checked=checked,
            check_probability=check_probability,
            n_jobs=self._n_threads(),
            random_state=self.random_state,
        )

    def _grow(
        self,
        X: EncodedTable,
        rows: TrainingRows,
        params: _core.TrainParams,
        record: FitRecord,
        earlier: FitRecord | None,
        callback: Callable[[float], object] | None,
    ) -> Forest:
        """Grow the trees, or those that are missing in an earlier fit."""
        verbose = check.verbosity(getattr(self, "verbose", 0))
        progress = Progress(callback) if verbose or callback is not None else None
        if earlier is None:
            return grow(X, rows, params, progress)
        earlier.refuse_other_target(record)
        grown = self._forest.n_trees
        if params.n_trees < grown:
            raise ValueError(
                f"n_estimators={params.n_trees} is less than the {grown} trees of the forest, and "
                "warm_start=True only adds trees"
            )
        if getattr(self, "oob_score", False) and not earlier.samples_like(record):
            raise ValueError(
                "oob_score=True and warm_start=True: the rows and their sampling must be the same "
                "as in the first fit"
            )
        params.first_tree = grown
        params.n_trees -= grown
        if params.n_trees == 0:
            warn(f"warm_start=True: the forest has n_estimators={grown} trees, so none is added")
            return self._forest
        return Forest.joined([self._forest, grow(X, rows, params, progress)])

    def _check_threshold(self) -> None:
        rule = checked_threshold(self.threshold)
        if is_rule(rule) and not getattr(self, "oob_score", False):
            raise ValueError(
                f"threshold={self.threshold!r} is set from out-of-bag predictions: fit a forest "
                "with oob_score=True, or pass a number as threshold"
            )

    def _out_of_bag_votes(
        self, forest: Forest, X: EncodedTable, rows: TrainingRows, params: _core.TrainParams
    ) -> NDArray[np.float64]:
        """Mean vote of the trees that were not grown on a training row, nan if there is none."""
        predictor = forest.predictor(self._leaf_values(), X.dtype)
        return predictor.mean_held_out(X.native(), rows.native(), params)

    def _evaluate(
        self, votes: NDArray[np.float64], rows: TrainingRows, record: FitRecord
    ) -> OutOfBag:
        """Evaluate each training row with the trees that were not grown on it."""
        decision = 2 * votes - 1
        risk = out_of_bag_risk(decision, rows, record.masses, record.risk)
        n_in_bag = np.count_nonzero(np.isnan(votes[rows.order]))
        if np.isnan(risk):
            warn(
                "oob_risk_ is nan: no tree leaves out rows of both groups. Set bootstrap=True, or "
                "both max_labeled and max_unlabeled."
            )
        elif n_in_bag:
            rows_are = "1 row is" if n_in_bag == 1 else f"{n_in_bag} rows are"
            warn(
                f"oob_score=True: {rows_are} in the sample of every tree and without out-of-bag "
                "prediction. Grow more trees."
            )
        return OutOfBag(decision, risk)

    def _n_threads(self) -> int:
        return check.threads(getattr(self, "n_jobs", 1))

    # Predictions

    def _validated(self, X: check.MatrixLike) -> EncodedTable:
        if "_record" not in self.__dict__:  # check_is_fitted takes longer than predicting a row
            check_is_fitted(self)
        return self._record.schema.table(X, estimator=type(self).__name__)

    def _positive_votes(self, X: check.MatrixLike) -> NDArray[np.float64]:
        """Mean vote of the trees for the positive class, between 0 and 1, calibrated if it is."""
        table = self._validated(X)
        predictor = self._forest.predictor(self._leaf_values(), table.dtype)
        return self._calibrated(predictor.mean(table.native(), self._n_threads()))

    def _leaf_values(self) -> str:
        """Return the kind of leaf values, as `Forest.values` takes it."""
        return check.one_of("voting", self.voting, check.VOTINGS)

    def _calibrated(self, votes: NDArray[np.float64]) -> NDArray[np.float64]:
        calibrator = self._record.calibrator
        return votes if calibrator is None else calibrator.predict(votes)

    def predict(self, X: check.MatrixLike) -> NDArray[Any]:
        """Predict the class of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to predict, with the same columns as in ``fit``. Values may be missing; unknown
            categories are treated as missing values.

        Returns
        -------
        ndarray of shape (n_samples,)
            ``classes_[1]`` where ``predict_proba`` is above ``threshold_``, else ``classes_[0]``.
        """
        positive = self._positive_votes(X) > self.threshold_
        return self.classes_[positive.astype(np.intp)]

    def predict_proba(self, X: check.MatrixLike) -> NDArray[np.float64]:
        """Predict class scores: the mean vote of the trees for each class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to predict, with the same columns as in ``fit``. Values may be missing; unknown
            categories are treated as missing values.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Columns as in ``classes_``. Those of `PUForestClassifier` are calibrated probabilities.
            Those of the other estimators with hard voting are fractions of the trees, which rank
            rows well but are not calibrated; see `PUCalibratedClassifier`.
        """
        positive = self._positive_votes(X)
        return np.column_stack([1 - positive, positive])

    def decision_function(self, X: check.MatrixLike) -> NDArray[np.float64]:
        """Compute the distance of ``predict_proba`` from the threshold.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to predict, with the same columns as in ``fit``. Values may be missing; unknown
            categories are treated as missing values.

        Returns
        -------
        ndarray of shape (n_samples,)
            Twice the difference, above 0 for rows that ``predict`` classifies as positive.
        """
        return 2 * (self._positive_votes(X) - self.threshold_)

    def score(
        self,
        X: check.MatrixLike,
        y: check.MatrixLike,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Compute the accuracy with respect to the true classes.

        With PU labels in place of the true classes, unlabeled positives count as negatives. Don't
        tune with `score` on PU labels; use the scorers of `puforest.metrics`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to predict, with the same columns as in ``fit``. Values may be missing; unknown
            categories are treated as missing values.
        y : array-like of shape (n_samples,)
            True classes, coded as in ``fit``.
        sample_weight : array-like of shape (n_samples,), optional
            Sample weights.

        Returns
        -------
        float
            Fraction of correctly classified rows.
        """
        return float(super().score(X, y, sample_weight))

    def _leaves(self, X: check.MatrixLike) -> NDArray[np.int32]:
        table = self._validated(X)
        predictor = self._forest.predictor("hard", table.dtype)
        return predictor.leaves(table.native(), self._n_threads())

    def _decision_path(self, X: check.MatrixLike) -> sp.csr_array:
        leaves = self._leaves(X)
        return self._forest.decision_path(leaves)

    def with_prior(self, prior: float | PriorEstimate) -> Self:
        """Adapt the model to another class prior without refitting.

        The splits stay the same, and leaf values are recomputed from the masses of the leaves under
        the new prior. This only has an effect on leaves that hold both classes, so limit the growth
        of the trees with ``min_samples_leaf``, ``max_leaf_nodes`` or ``max_depth``. Refitting may
        choose other splits. The scores of a `PUForestClassifier` stay the same; its calibration and
        its threshold change.

        Parameters
        ----------
        prior : float or PriorEstimate
            Class prior, between 0 and 1.

        Returns
        -------
        estimator
            Fitted copy that shares its trees with this model.

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
        new = self._checked_new_prior(prior)
        estimate = given_estimate(prior)
        if estimate is not None and estimate.method == PRIOR_SHIFT:
            raise ValueError(
                "prior is an estimate for new data, but with_prior changes the prior of the "
                "training population: use with_shifted_prior"
            )
        evaluation = self._evaluation_with_prior(new)
        record, masses = self._record, GroupMasses(new, new, 1 - new)
        if not record.is_supervised:
            refuse_impossible_prior(new, record.masses.labeled_u)
            masses = replace(record.masses, labeled_p=new)
        forest = self._forest.with_prior(record.risk, record.prior, new)
        return self._changed(prior, masses, forest, evaluation)

    def with_shifted_prior(self, prior: float | PriorEstimate) -> Self:
        """Adapt the model to new data in which only the class prior differs.

        Positives and negatives are assumed to look as in the training data, and only their
        proportions to differ, so the odds of the positive class are multiplied by the ratio of the
        prior odds. In contrast, `with_prior` is for another prior of the training population. If
        the new prior is not known, estimate it with `puforest.diagnostics.adapt_prior`.

        Parameters
        ----------
        prior : float or PriorEstimate
            Class prior of the new data, between 0 and 1.

        Returns
        -------
        estimator
            Fitted copy. The thresholds of a `PUForestClassifier` are those for the new data.

        Examples
        --------
        >>> import numpy as np
        >>> from puforest import PUForestClassifier
        >>> X = np.random.default_rng(0).normal(size=(600, 2))
        >>> X[:300] += 3  # positives
        >>> forest = PUForestClassifier(0.4, random_state=0).fit(X, np.arange(600) < 100)
        >>> rare = forest.with_shifted_prior(0.01)
        >>> odds = [p[:, 1] / p[:, 0] for p in (forest.predict_proba(X), rare.predict_proba(X))]
        >>> bool(np.allclose(odds[0] / odds[1], (0.4 / 0.6) / (0.01 / 0.99)))
        True
        """
        check_is_fitted(self)
        new = self._checked_new_prior(prior)
        record = self._record
        evaluation = self._evaluation_with_shifted_prior(new)
        masses = replace(record.masses, labeled_p=new)
        if record.is_supervised:
            masses = GroupMasses(new, new, 1 - new)
        # Calibrated scores do not depend on the prior.
        forest = (
            self._forest.with_shifted_prior(record.prior, new)
            if record.calibrator is None
            else self._forest.with_prior(record.risk, record.prior, new)
        )
        return self._changed(prior, masses, forest, evaluation)

    @staticmethod
    def _checked_new_prior(prior: Any) -> float:
        new = check.class_prior(prior)
        if new is None:
            raise TypeError("prior must be a number between 0 and 1, got None")
        return new

    def _changed(
        self, prior: Any, masses: GroupMasses, forest: Forest, evaluation: dict[str, Any]
    ) -> Self:
        """Return a copy with another prior."""
        estimate = given_estimate(prior)
        other = copy.copy(self)
        other.prior = masses.labeled_p if estimate is None else estimate
        other._forest = forest
        other._record = replace(
            self._record,
            masses=masses,
            parameters=self._record.parameters | {"prior": other.prior},
            prior_estimate=estimate,
            **evaluation,
        )
        return other

    def _evaluation_with_shifted_prior(self, prior: float) -> dict[str, Any]:
        return self._evaluation_with_prior(prior)

    def _evaluation_with_prior(self, prior: float) -> dict[str, Any]:
        """Return the changes to the evaluation in the record if the prior changes."""
        if is_rule(checked_threshold(self.threshold)):
            raise ValueError(
                f"threshold={self.threshold!r} is set from out-of-bag votes for the prior "
                f"{self.prior_:.4g}, which are not known for another prior: set threshold to a "
                "number first"
            )
        return {"out_of_bag": None, "curve": None}

    # Attributes of the fit, all of which are in the record

    @property
    def threshold_(self) -> float:
        """Threshold on the predicted probability, from the present value of ``threshold``."""
        record = self._recorded("threshold_")
        rule = checked_threshold(self.threshold)
        if isinstance(rule, float):
            return rule
        if record.curve is None:
            raise ValueError(
                f"threshold={self.threshold!r} is set from out-of-bag predictions, and this model "
                "has none, or was adapted to another prior: fit a forest with oob_score=True, or "
                "pass a number as threshold"
            )
        threshold = score_threshold(rule, record.curve, record.prior)
        if record.calibrator is not None:
            return record.calibrator.at(threshold)
        return max(threshold, BELOW_ZERO)

    def _fraction_above(self, threshold: float) -> float | None:
        """Estimate the fraction of the population with a larger probability, if it is known."""
        curve = self._record.curve
        if curve is None:
            return None
        return float(curve.population @ (self._calibrated(curve.score) > threshold))

    @property
    def classes_(self) -> NDArray[Any]:
        """Values of ``y``; the second one is the positive class."""
        return self._recorded("classes_").classes

    @property
    def prior_(self) -> float:
        """Class prior."""
        return self._recorded("prior_").prior

    @property
    def prior_estimate_(self) -> PriorEstimate:
        """Estimate of the class prior, if it was estimated or given as an estimate."""
        estimate = self._recorded("prior_estimate_").prior_estimate
        if estimate is None:
            raise AttributeError(
                "prior_estimate_ is only available after a fit with prior=None, or with an estimate"
            )
        return estimate

    @property
    def prior_interval_(self) -> tuple[float, float]:
        """Confidence interval of the class prior, if it was estimated or given as an estimate."""
        return self.prior_estimate_.interval

    @property
    def n_features_in_(self) -> int:
        """Number of features seen by ``fit``."""
        return self._recorded("n_features_in_").schema.n_features

    @property
    def feature_names_in_(self) -> NDArray[np.object_]:
        """Names of the features, if ``X`` had string column names."""
        names = self._recorded("feature_names_in_").schema.names
        if names is None:
            raise AttributeError("feature_names_in_ is only available if X has string column names")
        return np.array(names, dtype=object)

    # Shape and importances

    def get_depth(self) -> int:
        """Return the depth of the deepest tree."""
        check_is_fitted(self)
        return self._forest.depth()

    def get_n_leaves(self) -> int:
        """Return the number of leaves of all trees."""
        check_is_fitted(self)
        return self._forest.n_leaves()

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Risk reduction of the splits on each feature, averaged over the trees."""
        check_is_fitted(self)
        return self._forest.importances(self._record.risk, self._record.loss, normalized=False)

    @property
    def normalized_feature_importances_(self) -> NDArray[np.float64]:
        """Feature importances with each risk reduction divided by the mass of its node."""
        check_is_fitted(self)
        return self._forest.importances(self._record.risk, self._record.loss, normalized=True)

    @property
    def infinite_reductions_(self) -> NDArray[np.int64]:
        """Number of splits on each feature with an infinite risk reduction."""
        check_is_fitted(self)
        return self._forest.infinite_reductions(self._record.risk, self._record.loss)

    # scikit-learn's protocol

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        # Not `categorical`, as in HistGradientBoostingClassifier: in scikit-learn it means that all
        # features are categories, and its checks round them to integers.
        return tags
