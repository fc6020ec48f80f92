"""Probabilities of the class, calibrated on labeled and unlabeled rows alone.

Shares of votes rank rows well, but are no probabilities. A calibrator maps scores to them. With
negatives it would minimize the Brier score or the log-loss; both can be written as means over the
positives and over the population, up to a constant:

* Brier: ``mean_U p² - 2 π mean_P p``, minimized over monotone maps by pooling neighbors
  ("isotonic");
* log-loss: ``mean_U softplus(a s + b) - π mean_P (a s + b)``, minimized over ``a`` and ``b``
  ("sigmoid").
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Protocol, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize
from scipy.special import expit, logit
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.isotonic import IsotonicRegression
from sklearn.model_selection import cross_val_predict
from sklearn.utils import Tags, column_or_1d, get_tags
from sklearn.utils.validation import check_is_fitted

from puforest import _validation as check
from puforest._atomic_fit import atomic_fit
from puforest._model_methods import ModelMethodsMixin
from puforest._out_of_bag import out_of_bag_sample
from puforest._sample import PUSample, pu_sample
from puforest._unwrap import known_prior, known_scenario
from puforest.forest import BaseForest
from puforest.model_selection._cross_validation import requesting
from puforest.model_selection._split import pu_cv

__all__ = ["PUCalibratedClassifier"]

Array = NDArray[np.float64]

# Standard deviation of the slope before any data, in units of the spread of the scores. So wide
# that it is felt only where labeled and unlabeled rows separate and the slope would be infinite.
SLOPE_SCALE = 10.0


class Calibrator(Protocol):
    """A monotone map from scores to probabilities."""

    def predict(self, score: Array) -> Array:
        """Probabilities of scores."""


@dataclass(frozen=True)
class Sigmoid:
    """Platt's map."""

    slope: float
    intercept: float

    def predict(self, score: Array) -> Array:
        """Probabilities of scores."""
        return cast(Array, expit(self.slope * score + self.intercept))


def fit_isotonic(score: Array, sample: PUSample, prior: float) -> Calibrator:
    """The monotone map of least PU Brier score.

    With masses u and w of the population and of the positives at each score, it minimizes
    ``sum u p² - 2 sum w p = sum u (p - w/u)² + const``: isotonic regression of ``w / u`` with
    weights ``u``. Labeled rows of case-control data have no u. Alone at their score they would
    raise p without bound, so that in the optimum they are pooled with the next higher u; those
    above all of U are pooled with the highest.
    """
    seen = sample.population > 0
    at, place = np.unique(score[seen], return_inverse=True)
    u = np.bincount(place, weights=sample.population[seen])
    above = np.minimum(np.searchsorted(at, score[sample.labeled]), len(at) - 1)
    w = prior * np.bincount(above, weights=sample.positive[sample.labeled], minlength=len(at))
    regression = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip")
    return cast(Calibrator, regression.fit(at, w / u, sample_weight=u))


def fit_sigmoid(score: Array, sample: PUSample, prior: float) -> Calibrator:
    """The sigmoid of least PU log-loss; convex, and finite by a wide normal prior on its slope."""
    center = sample.of_population(score)
    spread = np.sqrt(sample.of_population((score - center) ** 2)) or 1.0
    z = (score - center) / spread
    z_positive = prior * sample.of_positives(z)
    penalty = 1 / (SLOPE_SCALE**2 * np.count_nonzero(sample.positive))

    def objective(ab: Array) -> tuple[float, Array]:
        a, b = ab
        t = a * z + b
        p = expit(t)
        value = sample.of_population(np.logaddexp(0, t)) - a * z_positive - b * prior
        slope = sample.of_population(p * z) - z_positive + penalty * a
        return value + penalty * a * a / 2, np.array([slope, sample.of_population(p) - prior])

    best = minimize(
        objective,
        x0=[1.0, logit(prior)],
        jac=True,
        method="L-BFGS-B",
        bounds=[(0, None), (None, None)],
        options={"ftol": 1e-12, "gtol": 1e-8},
    )
    a, b = best.x
    return Sigmoid(float(a / spread), float(b - a * center / spread))


METHODS = {"isotonic": fit_isotonic, "sigmoid": fit_sigmoid}


class PUCalibratedClassifier(ModelMethodsMixin, ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Probabilities of being positive, from labeled and unlabeled rows.

    scikit-learn's ``CalibratedClassifierCV`` on PU labels gives the probability of being
    *labeled*. This class gives that of the class, by minimizing PU estimates of the Brier score or
    the log-loss on rows that the estimator has not been fitted to.

    Parameters
    ----------
    estimator : estimator
        Any classifier with ``decision_function`` or ``predict_proba``. For forests
        ``voting="soft"`` with some ``min_samples_leaf`` gives the finest scores.
    method : {"sigmoid", "isotonic"}, default="sigmoid"
        "sigmoid" is a map with two parameters, "isotonic" any increasing one, which also follows
        chance. On MNIST and Covertype with 1,000 labeled rows and soft votes the first was better
        throughout: calibration errors of 0.017 to 0.023, against 0.018 to 0.036, and 0.026 to 0.111
        without calibration (``benchmarks/results/calibration.md``). Try the second where many rows
        are labeled, or where the scores are far from a sigmoid.
    cv : int, splitter, "oob" or "prefit", default=5
        Where scores of unseen rows come from. "oob": the out-of-bag decisions of a forest with
        ``oob_score=True``; one fit is enough, so this is the way for forests. A number or a
        splitter of folds: from fits to the other folds (a number is `PUStratifiedKFold` with a
        fixed seed); the final estimator is fitted to all rows. "prefit": from the estimator as it
        was fitted before, which must not have been to the rows given here.
    prior : float or None, default=None
        Share of positives in the population; None is that of the fitted estimator.
    scenario : {"case-control", "single-training-set"} or None, default=None
        How the rows came about; None is that of the estimator.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The two values of ``y``; the second one is the positive class.
    prior_ : float
        The class prior in use.
    scenario_ : str
        The scenario in use.
    estimator_ : estimator
        The fitted estimator.
    calibrator_ : object
        The fitted map; its ``predict`` takes scores to probabilities.
    n_features_in_ : int
        Number of features seen by the estimator, if it says so.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, likewise.

    Notes
    -----
    Labeled rows that stand among the unlabeled ones again must not be learned from while their
    copies are scored: use ``cv=PUStratifiedKFold(group_copies=True)`` for such data, not "oob".

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
        prior: float | None = None,
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
    ) -> Self:
        """Fit the estimator, and the map from its scores to probabilities.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Two values: the larger marks labeled positives, the smaller unlabeled rows.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows, for the estimator and the map.
        propensity : array-like of shape (n_samples,), optional
            Probability of each labeled row to be labeled, given that it is positive, for both.

        Returns
        -------
        self
        """
        check.one_of("method", self.method, METHODS)
        check.refuse_masked(y, "y")
        with check.data_errors("y"):
            y = column_or_1d(y, warn=True)
        given = {"sample_weight": sample_weight, "propensity": propensity}
        params = {name: value for name, value in given.items() if value is not None}
        estimator, score = self._fitted_and_scores(X, y, params)
        scenario = self._scenario_of(estimator)
        sample = pu_sample(y, scenario=scenario, **given)
        prior = sample.class_prior(self._prior_of(estimator))
        judged = np.isfinite(score)
        if not judged.all():
            sample, score = out_of_bag_sample(sample, judged), score[judged]
        if sample.of_positives(score) <= sample.of_population(score):
            warnings.warn(
                "labeled rows score no higher than others: the estimator has learned nothing, and "
                f"all probabilities come out near the prior, {prior:g}",
                stacklevel=3,  # the caller of fit
            )
        self.calibrator_ = METHODS[self.method](score, sample, prior)
        self.estimator_ = estimator
        self.classes_ = estimator.classes_
        self.prior_ = prior
        self.scenario_ = scenario
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
            if hasattr(estimator, name):
                setattr(self, name, getattr(estimator, name))
        return self

    def _fitted_and_scores(
        self, X: check.MatrixLike, y: check.MatrixLike, params: dict[str, Any]
    ) -> tuple[Any, Array]:
        """The estimator and a score for each row, nan where there is none."""
        if isinstance(self.cv, str):
            check.one_of("cv", self.cv, ("oob", "prefit"))
        if self.cv == "prefit":
            check_is_fitted(self.estimator)
            if not np.array_equal(self.estimator.classes_, np.unique(y)):
                raise ValueError(
                    f"cv='prefit': y has the classes {np.unique(y).tolist()}, but the estimator "
                    f"was fitted to {self.estimator.classes_.tolist()}: code both the same way"
                )
            return self.estimator, _scores(self.estimator, X)
        fitted = clone(self.estimator).fit(X, y, **params)
        if self.cv == "oob":
            _require_out_of_bag(fitted)
            return fitted, fitted.oob_decision_function_
        answers = cross_val_predict(
            requesting(self.estimator, params),
            X,
            y,
            cv=pu_cv(self.cv),
            method=_method(fitted),
            params=params,
        )
        return fitted, _as_score(answers)

    def _scenario_of(self, estimator: Any) -> str:
        scenario = known_scenario(estimator) if self.scenario is None else self.scenario
        if scenario is None:
            raise ValueError(
                f"scenario=None: {type(estimator).__name__} does not know one. Give "
                "scenario='case-control' or scenario='single-training-set'."
            )
        return scenario

    def _prior_of(self, estimator: Any) -> Any:
        prior = known_prior(estimator) if self.prior is None else self.prior
        if prior is None:
            raise ValueError(
                f"prior=None: {type(estimator).__name__} takes unlabeled rows for negatives, and "
                "knows no share of positives among them. Give the prior, for example prior=0.3."
            )
        return prior

    def predict_proba(self, X: check.MatrixLike) -> Array:
        """Calibrated probability of each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Columns as in ``classes_``.
        """
        check_is_fitted(self)
        positive = self.calibrator_.predict(_scores(self.estimator_, X))
        return np.column_stack([1 - positive, positive])

    def predict(self, X: check.MatrixLike) -> NDArray[Any]:
        """Class of each row, in the coding of the `y` of the fit.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            ``classes_[1]`` where the probability is above one half, else ``classes_[0]``.
        """
        positive = self.predict_proba(X)[:, 1] > 0.5
        return cast(NDArray[Any], self.classes_[positive.astype(np.intp)])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags = get_tags(self.estimator).input_tags
        return tags


def _method(estimator: Any) -> str:
    return "decision_function" if hasattr(estimator, "decision_function") else "predict_proba"


def _as_score(answers: Array) -> Array:
    return answers if answers.ndim == 1 else answers[:, 1]


def _scores(estimator: Any, X: check.MatrixLike) -> Array:
    return _as_score(getattr(estimator, _method(estimator))(X))


def _require_out_of_bag(estimator: Any) -> None:
    if not isinstance(estimator, BaseForest):
        raise TypeError(
            f"cv='oob' needs a forest of puforest, got {type(estimator).__name__}: give a number "
            "of folds, for example cv=5"
        )
    if not estimator.oob_score:
        raise ValueError(
            "cv='oob' needs a forest with oob_score=True (and bootstrap=True, or max_labeled and "
            "max_unlabeled), got oob_score=False"
        )
