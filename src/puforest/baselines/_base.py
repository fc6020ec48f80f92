"""Base class of the baselines: input validation, predictions, and thresholds from a prior."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_regressor
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from puforest import _validation as check
from puforest._columns import as_table, is_data_frame
from puforest._matrix import as_array, checked, real_dtype, refuse_complex
from puforest._prior_estimate import PriorEstimate, given_estimate
from puforest._sample import PUSample, pu_sample
from puforest._schema import naming_text

Array = NDArray[np.float64]
Method = TypeVar("Method", bound=Callable[..., Any])

MAX_SEED = np.iinfo(np.int32).max

# Bound of thresholds, so that dividing by their odds preserves every order.
LEAST_THRESHOLD = 1e-6


def names_text(method: Method) -> Method:
    """Decorate a method to name the column if the wrapped classifier cannot read text."""

    @wraps(method)
    def named(self: Any, X: check.MatrixLike, *args: Any, **kwargs: Any) -> Any:
        with naming_text(X, type(self._wrapped()).__name__):
            return method(self, X, *args, **kwargs)

    return cast(Method, named)


class PUBaseline(ClassifierMixin, BaseEstimator):
    """A classifier whose predictions follow from one probability per sample."""

    prior: float | PriorEstimate | None
    scenario: str
    scenario_: str
    classes_: NDArray[Any]

    def _positive_probability(self, X: check.MatrixLike) -> Array:
        raise NotImplementedError

    def _wrapped(self) -> Any:
        """Wrapped classifier, which determines the input that is accepted, or None."""
        return getattr(self, "estimator", None)

    def _input_tags(self) -> Any:
        wrapped = self._wrapped()
        return None if wrapped is None else get_tags(wrapped).input_tags

    def _validated(self, X: check.MatrixLike) -> Any:
        """Validate X as in the fit."""
        return self._table(X, reset=False)

    def _table(self, X: check.MatrixLike, *, reset: bool) -> Any:
        """Remember or compare the columns of X, and convert arrays of numbers.

        Tables, and arrays of other types, are left to the wrapped classifier.
        """
        table = as_table(X)
        if not is_data_frame(table):
            table = self._array(table)
        validate_data(self, table, reset=reset, skip_check_array=True)
        return table

    def _array(self, X: check.MatrixLike) -> Any:
        array, tags, name = as_array(X), self._input_tags(), type(self).__name__
        refuse_complex(array)
        if tags is not None and array.dtype.kind not in "biuf":
            return checked(array, name, dtype=None, ensure_all_finite=False)
        return checked(
            array,
            name,
            dtype=real_dtype(array),
            accept_sparse="csr" if tags is not None and tags.sparse else False,
            ensure_all_finite="allow-nan" if tags is not None and tags.allow_nan else True,
        )

    def _read(self, X: check.MatrixLike, y: ArrayLike) -> tuple[Any, PUSample, float | None]:
        """Validate the training data; returns X, the labels, and the prior if it is given."""
        X = self._table(X, reset=True)
        y = check.training_labels(y, X.shape[0], type(self).__name__)
        sample = pu_sample(y, scenario=self.scenario)
        self.classes_ = np.unique(y)
        self.scenario_ = sample.scenario
        prior = None if self.prior is None else sample.class_prior(self.prior)
        for name in ("prior_", "prior_estimate_"):
            self.__dict__.pop(name, None)
        if prior is not None:
            self.prior_ = prior
        estimate = given_estimate(self.prior)
        if estimate is not None:
            self.prior_estimate_ = estimate
        return X, sample, prior

    @names_text
    def predict_proba(self, X: check.MatrixLike) -> Array:
        """Predict class probabilities, or the score that the method uses instead.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Columns as in ``classes_``.
        """
        check_is_fitted(self)
        positive = self._positive_probability(self._validated(X))
        return np.column_stack([1 - positive, positive])

    def predict(self, X: check.MatrixLike) -> NDArray[Any]:
        """Predict the class of each sample.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            ``classes_[1]`` where the second column of ``predict_proba`` is above one half, and
            ``classes_[0]`` elsewhere.
        """
        positive = self.predict_proba(X)[:, 1] > 0.5
        return self.classes_[positive.astype(np.intp)]

    def score(
        self, X: check.MatrixLike, y: check.MatrixLike, sample_weight: ArrayLike | None = None
    ) -> float:
        """Accuracy with respect to the true classes; meaningless for PU labels.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            True classes, encoded as in ``fit``.
        sample_weight : array-like of shape (n_samples,), optional
            Sample weights.

        Returns
        -------
        float
            Fraction of samples predicted correctly.
        """
        return float(super().score(X, y, sample_weight))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        wrapped = self._input_tags()
        if wrapped is not None:
            tags.input_tags.sparse = wrapped.sparse
            tags.input_tags.allow_nan = wrapped.allow_nan
            tags.input_tags.categorical = wrapped.categorical
            tags.input_tags.string = wrapped.string
        return tags


# Priors


def unlabeled_prior(sample: PUSample, prior: float) -> float:
    """Fraction of positives among the unlabeled samples."""
    known = sample.labeled_fraction
    return (prior - known) / (1 - known)


def label_frequency(sample: PUSample, prior: float) -> float:
    """Fraction of all positives in the data that are labeled."""
    n_labeled = np.count_nonzero(sample.labeled)
    hidden = unlabeled_prior(sample, prior) * (len(sample) - n_labeled)
    return float(n_labeled / (n_labeled + hidden))


def prior_threshold(score: Array, fraction: float) -> float:
    """Threshold halfway between two scores with about this fraction of the samples above it."""
    values, count = np.unique(score, return_counts=True)
    if len(values) == 1:
        return float(values[0])
    above = 1 - np.cumsum(count[:-1]) / len(score)
    best = int(np.argmin(abs(above - fraction)))
    return float((values[best] + values[best + 1]) / 2)


def moved_to_half(probability: Array, threshold: float) -> Array:
    """Divide the odds of probabilities by those of the threshold, which becomes one half."""
    t = float(np.clip(threshold, LEAST_THRESHOLD, 1 - LEAST_THRESHOLD))
    positive = probability * (1 - t)
    return positive / (positive + (1 - probability) * t)


# Wrapped classifiers


def require_method(estimator: Any, *names: str) -> None:
    """Raise an error unless the estimator is a classifier with one of these methods."""
    usable = hasattr(estimator, "fit") and any(hasattr(estimator, name) for name in names)
    if not usable or is_regressor(estimator):
        either = " or ".join(repr(name) for name in names)
        raise TypeError(f"estimator must be a classifier with a method {either}, got {estimator!r}")


def seeded(estimator: Any, rng: np.random.RandomState) -> Any:
    """Clone an estimator, and set every nested `random_state` that is None."""
    copy = clone(estimator)
    names = [
        name
        for name, value in sorted(copy.get_params(deep=True).items())
        if name.split("__")[-1] == "random_state" and value is None
    ]
    return copy.set_params(**{name: rng.randint(MAX_SEED) for name in names})


def positive_scores(estimator: Any, X: Any) -> Array:
    """Probability of the larger class, or votes of classifiers without probabilities."""
    if hasattr(estimator, "predict_proba"):
        return cast(Array, estimator.predict_proba(X)[:, 1])
    return np.asarray(estimator.predict(X) == estimator.classes_[1], dtype=float)
