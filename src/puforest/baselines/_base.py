"""What all baselines share: reading PU labels, answers from a score, thresholds from a prior."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import check_is_fitted

from puforest import _validation as check
from puforest._matrix import validated
from puforest._sample import PUSample, pu_sample

Array = NDArray[np.float64]

MAX_SEED = np.iinfo(np.int32).max

# Odds of thresholds stay within these probabilities, so that dividing by them keeps every order.
LEAST_THRESHOLD = 1e-6


class PUBaseline(ClassifierMixin, BaseEstimator):
    """A classifier whose answers follow from one number a row."""

    prior: float | None
    scenario: str
    classes_: NDArray[Any]

    def _positive_probability(self, X: check.MatrixLike) -> Array:
        raise NotImplementedError

    def _wrapped(self) -> Any:
        """The classifier within, which says what X may be; None for those that have none."""
        return None

    def _input_tags(self) -> Any:
        wrapped = self._wrapped()
        return None if wrapped is None else get_tags(wrapped).input_tags

    def _validated(self, X: check.MatrixLike, **more: Any) -> Any:
        tags = self._input_tags()
        sparse = "csr" if tags is not None and tags.sparse else False
        finite = "allow-nan" if tags is not None and tags.allow_nan else True
        return validated(self, X, accept_sparse=sparse, ensure_all_finite=finite, **more)

    def _read(self, X: check.MatrixLike, y: ArrayLike) -> tuple[Any, PUSample, float | None]:
        """Checked rows, their labels, and the prior if there is one."""
        X, y = self._validated(X, y=y)
        sample = pu_sample(y, scenario=self.scenario)
        self.classes_ = np.unique(y)
        prior = None if self.prior is None else sample.class_prior(self.prior)
        self.__dict__.pop("prior_", None)
        if prior is not None:
            self.prior_ = prior
        return X, sample, prior

    def predict_proba(self, X: check.MatrixLike) -> Array:
        """Probability of each class, or what the method has for it.

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
        positive = self._positive_probability(self._validated(X, reset=False))
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
            ``classes_[1]`` where the second column of ``predict_proba`` is above one half, else
            ``classes_[0]``.
        """
        positive = self.predict_proba(X)[:, 1] > 0.5
        return self.classes_[positive.astype(np.intp)]

    def score(
        self, X: check.MatrixLike, y: check.MatrixLike, sample_weight: ArrayLike | None = None
    ) -> float:
        """Accuracy against the true classes; against PU labels it is no measure of quality.

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

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        within = self._input_tags()
        if within is not None:
            tags.input_tags.sparse = within.sparse
            tags.input_tags.allow_nan = within.allow_nan
        return tags


# Priors


def unlabeled_prior(sample: PUSample, prior: float) -> float:
    """Share of positives among the unlabeled rows."""
    known = sample.least_prior
    return (prior - known) / (1 - known)


def label_frequency(sample: PUSample, prior: float) -> float:
    """Share of the positives of all rows of the data that are labeled."""
    n_labeled = np.count_nonzero(sample.labeled)
    hidden = unlabeled_prior(sample, prior) * (len(sample) - n_labeled)
    return float(n_labeled / (n_labeled + hidden))


def prior_threshold(score: Array, share: float) -> float:
    """Halfway between two scores, such that about this share of the rows is above."""
    values, count = np.unique(score, return_counts=True)
    if len(values) == 1:
        return float(values[0])
    above = 1 - np.cumsum(count[:-1]) / len(score)
    best = int(np.argmin(abs(above - share)))
    return float((values[best] + values[best + 1]) / 2)


def moved_to_half(probability: Array, threshold: float) -> Array:
    """Probabilities whose odds are divided by those of the threshold, which becomes one half."""
    t = float(np.clip(threshold, LEAST_THRESHOLD, 1 - LEAST_THRESHOLD))
    positive = probability * (1 - t)
    return positive / (positive + (1 - probability) * t)


# Classifiers within


def require_method(estimator: Any, *names: str) -> None:
    """Refuse what is no classifier that can do what is needed."""
    if not hasattr(estimator, "fit") or not any(hasattr(estimator, name) for name in names):
        either = " or ".join(repr(name) for name in names)
        raise TypeError(f"estimator must be a classifier with a method {either}, got {estimator!r}")


def seeded(estimator: Any, rng: np.random.RandomState) -> Any:
    """A copy with its own seeds wherever it, or what it holds, takes one and has none yet."""
    copy = clone(estimator)
    names = [
        name
        for name, value in sorted(copy.get_params(deep=True).items())
        if name.split("__")[-1] == "random_state" and value is None
    ]
    return copy.set_params(**{name: rng.randint(MAX_SEED) for name in names})


def positive_share(estimator: Any, X: Any) -> Array:
    """Probability of the larger class, or 0 and 1 from classifiers that know none."""
    if hasattr(estimator, "predict_proba"):
        return cast(Array, estimator.predict_proba(X)[:, 1])
    return np.asarray(estimator.predict(X) == estimator.classes_[1], dtype=float)
