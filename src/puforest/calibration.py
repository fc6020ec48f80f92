"""Calibration of class probabilities with labeled and unlabeled rows.

Fractions of votes rank rows well, but are not probabilities. A calibrator (`_calibrators.py`) maps
scores to probabilities.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import Any, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.model_selection import cross_val_predict
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import check_is_fitted

from puforest import _validation as check
from puforest._atomic_fit import atomic_fit
from puforest._base import PUClassifier
from puforest._calibrators import Calibrator, fit_isotonic, fit_sigmoid, shifted
from puforest._candidates import VOTING
from puforest._columns import as_table
from puforest._fit_record import RecordedFitMixin
from puforest._model_methods import ModelMethodsMixin
from puforest._out_of_bag import out_of_bag_sample
from puforest._prior_estimate import PriorEstimate, given_estimate
from puforest._sample import pu_sample
from puforest._threshold import checked_threshold
from puforest._unwrap import (
    fit_params,
    known_prior,
    known_prior_estimate,
    known_scenario,
    parameter_layers,
    unwrapped,
    with_prior_given,
)
from puforest._warnings import warn
from puforest.model_selection._cross_validation import requesting
from puforest.model_selection._split import pu_cv

__all__ = ["PUCalibratedClassifier"]

Array = NDArray[np.float64]

METHODS = {"isotonic": fit_isotonic, "sigmoid": fit_sigmoid}


@dataclass(frozen=True)
class CalibrationRecord:
    """Result of the fit of a `PUCalibratedClassifier`."""

    estimator: Any
    calibrator: Calibrator
    method: str
    prior: float
    prior_estimate: PriorEstimate | None  # that the prior comes from, if it was estimated
    scenario: str


class PUCalibratedClassifier(
    ModelMethodsMixin,
    RecordedFitMixin[CalibrationRecord],
    ClassifierMixin,
    MetaEstimatorMixin,
    BaseEstimator,
):
    """Calibrated probabilities of the positive class, from labeled and unlabeled rows.

    With PU labels, scikit-learn's ``CalibratedClassifierCV`` predicts the probability of being
    *labeled*. This class predicts the probability of being positive, by minimizing PU estimates of
    the Brier score or the log-loss on rows that the estimator was not fitted to.

    Parameters
    ----------
    estimator : estimator
        Classifier with ``decision_function`` or ``predict_proba``. For forests, ``voting="soft"``
        with ``min_samples_leaf`` above 1 gives the most fine-grained scores. The ``threshold`` of
        forests and trees must be 0.5. `PUForestClassifier` is calibrated already.
    method : {"sigmoid", "isotonic"}, default="sigmoid"
        "sigmoid" fits a sigmoid with two parameters, "isotonic" any increasing function, which can
        overfit.
        On MNIST and Covertype with 1,000 labeled rows and soft voting, "sigmoid" was better
        throughout: calibration errors of 0.017 to 0.023, against 0.018 to 0.036, and 0.026 to 0.111
        without calibration (``benchmarks/results/calibration.md``). Try "isotonic" if many rows are
        labeled, or if the calibration curve is far from a sigmoid.
    cv : int, splitter, "oob" or "prefit", default=5
        Source of held-out scores. "oob": the out-of-bag decision function of a forest with
        ``oob_score=True``, alone or at the end of a pipeline, which requires a single fit and is
        recommended for forests. An integer
        or a splitter: cross-validation (an integer means `PUStratifiedKFold` with a fixed seed);
        the final estimator is fitted to all rows. "prefit": the estimator is already fitted, to
        rows other than those passed to ``fit``.
    prior : float, PriorEstimate or None, default=None
        Class prior; None means that of the fitted estimator. If the estimator estimates its prior,
        it does so once, on all rows.
    scenario : {"case-control", "single-training-set"} or None, default=None
        Sampling scenario of the data; None means that of the estimator.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        Values of ``y``; the second one is the positive class.
    prior_ : float
        Class prior.
    scenario_ : str
        Sampling scenario.
    estimator_ : estimator
        Fitted estimator.
    calibrator_ : object
        Fitted map; its ``predict`` maps scores to probabilities.
    n_features_in_ : int
        Number of features seen by the estimator. Only available if the estimator has it.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features. Only available if the estimator has them.

    Notes
    -----
    If labeled rows also appear in the unlabeled set, use ``cv=PUStratifiedKFold(
    group_duplicates=True)`` instead of "oob", so that no row is scored by a model that has seen its
    duplicate.

    Examples
    --------
    >>> import numpy as np
    >>> from puforest import PURandomForestClassifier
    >>> from puforest.calibration import PUCalibratedClassifier
    >>> X, X_new = np.random.default_rng(0).normal(size=(2, 4000, 2))
    >>> X[:1000] += 1  # positives, of whom the first 500 are labeled
    >>> y = np.repeat([1, 0], [500, 3500])
    >>> forest = PURandomForestClassifier(
    ...     prior=1 / 7, voting="soft", min_samples_leaf=20, oob_score=True, random_state=0
    ... )
    >>> model = PUCalibratedClassifier(forest, cv="oob").fit(X, y)
    >>> truth = 1 / (1 + 6 * np.exp(1 - X_new.sum(axis=1)))
    >>> for estimator in (model.estimator_, model):
    ...     print(round(float(abs(estimator.predict_proba(X_new)[:, 1] - truth).mean()), 2))
    0.06
    0.05
    """

    def __init__(
        self,
        estimator: Any,
        *,
        method: str = "sigmoid",
        cv: Any = 5,
        prior: float | PriorEstimate | None = None,
        scenario: str | None = None,
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.cv = cv
        self.prior = prior
        self.scenario = scenario

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
    ) -> Self:
        """Fit the estimator and the calibrator.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows, of any type that the estimator takes.
        y : array-like of shape (n_samples,)
            Labels with two values: the larger marks labeled positives, the smaller unlabeled rows.
        sample_weight : array-like of shape (n_samples,), optional
            Sample weights, for the estimator and the calibrator.
        propensity : array-like of shape (n_samples,), optional
            Probability that each labeled row is labeled given that it is positive, for the
            estimator and the calibrator.
        checked : array-like of shape (n_samples,), optional
            Verdicts on unlabeled rows, for the estimator and the calibrator: 1 or True for rows
            found positive, 0 or False for rows found negative, NaN or None for all others.
        check_probability : float or array-like of shape (n_samples,), optional
            Probability with which a row with these features, labeled or not, was selected for
            checking. By default, the checked rows are a simple random sample of the unlabeled rows.

        Returns
        -------
        self
        """
        check.one_of("method", self.method, METHODS)
        require_scores(self.estimator)
        X, y = as_table(X), check.label_vector(y)
        given = {
            "sample_weight": sample_weight,
            "propensity": propensity,
            "checked": checked,
            "check_probability": check_probability,
        }
        params = {name: value for name, value in given.items() if value is not None}
        estimator, score = self._fitted_and_scores(X, y, params)
        scenario = self._scenario_of(estimator)
        sample = pu_sample(y, scenario=scenario, **given)
        prior = sample.class_prior(self._prior_of(estimator))
        sample = sample.at(prior)
        scored = np.isfinite(score)
        if not scored.all():
            sample, score = out_of_bag_sample(sample, scored), score[scored]
        if sample.of_positives(score) <= sample.of_population(score):
            warn(
                "labeled rows do not score higher than unlabeled rows: the estimator is no better "
                f"than chance, and all probabilities are close to the prior, {prior:g}"
            )
        self._record = CalibrationRecord(
            estimator=estimator,
            calibrator=METHODS[self.method](score, sample, prior),
            method=self.method,
            prior=prior,
            prior_estimate=known_prior_estimate(estimator)
            if self.prior is None
            else given_estimate(self.prior),
            scenario=scenario,
        )
        return self

    def _fitted_and_scores(
        self, X: check.MatrixLike, y: check.MatrixLike, params: dict[str, Any]
    ) -> tuple[Any, Array]:
        """Return the fitted estimator and the scores of all rows, nan for rows without one."""
        if isinstance(self.cv, str):
            check.one_of("cv", self.cv, ("oob", "prefit"))
        if self.cv == "prefit":
            check_is_fitted(self.estimator)
            if not np.array_equal(self.estimator.classes_, np.unique(y)):
                raise ValueError(
                    f"cv='prefit': y has the classes {np.unique(y).tolist()}, but the estimator "
                    f"was fitted to {self.estimator.classes_.tolist()}: use the same labels"
                )
            return self.estimator, _scores(self.estimator, X)
        params = fit_params(self.estimator, params)
        fitted = clone(self.estimator).fit(X, y, **params)
        if self.cv == "oob":
            return fitted, _out_of_bag_scores(fitted)
        prior = known_prior(fitted)
        estimator = clone(self.estimator)
        if prior is not None:
            estimator = with_prior_given(estimator, prior)
        predictions = cross_val_predict(
            requesting(estimator, params),
            X,
            y,
            cv=pu_cv(self.cv, X, y, params.get("checked")),
            method=_method(fitted),
            params=params,
        )
        return fitted, _as_score(predictions)

    def _scenario_of(self, estimator: Any) -> str:
        scenario = known_scenario(estimator) if self.scenario is None else self.scenario
        if scenario is None:
            raise ValueError(
                f"scenario=None: {type(estimator).__name__} does not have a scenario. Pass "
                "scenario='case-control' or scenario='single-training-set'."
            )
        return scenario

    def _prior_of(self, estimator: Any) -> Any:
        prior = known_prior(estimator) if self.prior is None else self.prior
        if prior is None:
            raise ValueError(
                f"prior=None: {type(estimator).__name__} treats unlabeled rows as negatives and "
                "has no class prior. Pass the prior, for example prior=0.3."
            )
        return prior

    def predict_proba(self, X: check.MatrixLike) -> Array:
        """Predict calibrated class probabilities.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Columns as in ``classes_``.
        """
        check_is_fitted(self)
        require_scores(self.estimator_)
        positive = self.calibrator_.predict(_scores(self.estimator_, X))
        return np.column_stack([1 - positive, positive])

    def predict(self, X: check.MatrixLike) -> NDArray[Any]:
        """Predict the class of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n_samples,)
            ``classes_[1]`` if the probability is above one half, else ``classes_[0]``.
        """
        positive = self.predict_proba(X)[:, 1] > 0.5
        return self.classes_[positive.astype(np.intp)]

    def with_shifted_prior(self, prior: float | PriorEstimate) -> Self:
        """Adapt the model to new data in which only the class prior differs.

        Positives and negatives are assumed to look as in the training data, and only their
        proportions to differ, so the odds of the positive class are multiplied by the ratio of the
        prior odds. `puforest.diagnostics.adapt_prior` estimates the new prior.

        Parameters
        ----------
        prior : float or PriorEstimate
            Class prior of the new data, between 0 and 1.

        Returns
        -------
        PUCalibratedClassifier
            Fitted copy.
        """
        check_is_fitted(self)
        new = check.class_prior(prior)
        if new is None:
            raise TypeError("prior must be a number between 0 and 1, got None")
        record, other = self._record, copy.copy(self)
        other.prior = prior
        other._record = replace(
            record,
            calibrator=shifted(record.calibrator, record.prior, new),
            prior=new,
            prior_estimate=given_estimate(prior),
        )
        return other

    # Attributes of the fit

    @property
    def estimator_(self) -> Any:
        """Fitted estimator."""
        return self._recorded("estimator_").estimator

    @property
    def calibrator_(self) -> Calibrator:
        """Fitted map from scores to probabilities."""
        return self._recorded("calibrator_").calibrator

    @property
    def prior_(self) -> float:
        """Class prior."""
        return self._recorded("prior_").prior

    @property
    def scenario_(self) -> str:
        """Sampling scenario."""
        return self._recorded("scenario_").scenario

    @property
    def classes_(self) -> NDArray[Any]:
        """Values of ``y``; the second one is the positive class."""
        return cast(NDArray[Any], self._recorded("classes_").estimator.classes_)

    @property
    def n_features_in_(self) -> int:
        """Number of features seen by the estimator."""
        return int(self._recorded("n_features_in_").estimator.n_features_in_)

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """Names of the features."""
        return cast(NDArray[Any], self._recorded("feature_names_in_").estimator.feature_names_in_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags = get_tags(self.estimator).input_tags
        return tags


def require_scores(estimator: Any) -> None:
    """Refuse forests that are calibrated already, or whose scores depend on a threshold."""
    for layer in parameter_layers(estimator):
        if not isinstance(layer, PUClassifier):
            continue
        name = type(layer).__name__
        if layer.voting == VOTING:
            raise ValueError(
                f"estimator: the probabilities of {name} are calibrated already. Use it without "
                "PUCalibratedClassifier."
            )
        if checked_threshold(layer.threshold) != 0.5:
            raise ValueError(
                f"estimator: {name} has threshold={layer.threshold!r}, by which its scores would "
                "be shifted. Leave it at 0.5: the threshold on calibrated probabilities is 0.5."
            )


def _method(estimator: Any) -> str:
    return "decision_function" if hasattr(estimator, "decision_function") else "predict_proba"


def _as_score(predictions: Array) -> Array:
    return predictions if predictions.ndim == 1 else predictions[:, 1]


def _scores(estimator: Any, X: check.MatrixLike) -> Array:
    return _as_score(getattr(estimator, _method(estimator))(X))


def _out_of_bag_scores(estimator: Any) -> Array:
    """Return the out-of-bag decision function of a forest, which may end a pipeline."""
    found = unwrapped(estimator)
    if found is None or found.is_calibrated:
        raise TypeError(
            "cv='oob' requires a forest of puforest, or a pipeline that ends in one, got "
            f"{type(estimator).__name__}: pass a number of folds, for example cv=5"
        )
    out_of_bag = found.trees._record.out_of_bag
    if out_of_bag is None:
        raise ValueError(
            "cv='oob' requires a forest with oob_score=True (and bootstrap=True, or max_labeled "
            "and max_unlabeled)"
        )
    return cast(Array, out_of_bag.decision_function)
