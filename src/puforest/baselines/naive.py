"""Unlabeled samples as negatives."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.model_selection import cross_val_predict

from puforest import _validation as check
from puforest._atomic_fit import atomic_fit
from puforest.baselines._base import (
    Array,
    PUBaseline,
    moved_to_half,
    positive_scores,
    prior_threshold,
    require_method,
    seeded,
    unlabeled_prior,
)
from puforest.model_selection._split import pu_cv

__all__ = ["NaivePUClassifier"]


class NaivePUClassifier(PUBaseline):
    """Any classifier, with unlabeled samples taken as negatives.

    It learns the probability of being labeled, which ranks samples like the probability of being
    positive, but is smaller: without a prior, few samples or none are predicted as positive.

    Parameters
    ----------
    estimator : classifier
        Classifier that is fitted to labeled against unlabeled samples.
    prior : float or None, default=None
        Class prior. If given, the threshold is chosen on cross-validated scores so that the
        fraction of unlabeled samples predicted as positive is the fraction of positives among
        them. None leaves the threshold at one half.
    scenario : {"case-control", "single-training-set"}, default="case-control"
        Sampling scenario of the data.
    cv : int or splitter, default=5
        Cross-validation used to choose the threshold for a prior. A number is the number of folds
        of `PUStratifiedKFold` with a fixed seed.
    random_state : int, RandomState instance or None, default=None
        Seed of the estimator, unless it has its own ``random_state``.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The two values of ``y``; the second one is the positive class.
    estimator_ : classifier
        The fitted classifier.
    threshold_ : float
        Probability of the classifier above which samples are predicted as positive.
        ``predict_proba`` divides odds by those of the threshold, which moves it to one half.
    prior_ : float
        Class prior used by the fit, if any.
    scenario_ : str
        Scenario of the fitted data.
    n_features_in_ : int
        Number of features seen by ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if all column names of ``X`` are strings.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from puforest.baselines import NaivePUClassifier
    >>> from puforest.datasets import load_mushrooms, make_pu
    >>> X, y = load_mushrooms(return_X_y=True)
    >>> X_pu, labeled = make_pu(X[::2], y[::2], n_labeled=500, random_state=0)
    >>> forest = RandomForestClassifier(20, min_samples_leaf=5, random_state=0)
    >>> for prior in (None, y.mean()):
    ...     model = NaivePUClassifier(forest, prior=prior).fit(X_pu, labeled)
    ...     print(f"{model.score(X[1::2], y[1::2]):.1f}")
    0.5
    1.0
    """

    def __init__(
        self,
        estimator: Any,
        *,
        prior: float | None = None,
        scenario: str = "case-control",
        cv: Any = 5,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.prior = prior
        self.scenario = scenario
        self.cv = cv
        self.random_state = random_state

    @atomic_fit
    def fit(self, X: check.MatrixLike, y: ArrayLike) -> Self:
        """Fit the classifier, and choose the threshold if there is a prior.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Two values: the larger for labeled positives, the smaller for unlabeled samples.

        Returns
        -------
        self
        """
        require_method(self.estimator, "predict_proba", "predict")
        X, sample, prior = self._read(X, y)
        labeled = sample.labeled.astype(int)
        estimator = seeded(self.estimator, check.random_state(self.random_state))
        self.threshold_ = 0.5
        if prior is not None:
            require_method(self.estimator, "predict_proba")
            score = cross_val_predict(
                estimator, X, labeled, cv=pu_cv(self.cv), method="predict_proba"
            )
            fraction = unlabeled_prior(sample, prior)
            self.threshold_ = prior_threshold(score[~sample.labeled, 1], fraction)
        self.estimator_ = estimator.fit(X, labeled)
        return self

    def _wrapped(self) -> Any:
        return self.estimator

    def _positive_probability(self, X: check.MatrixLike) -> Array:
        return moved_to_half(positive_scores(self.estimator_, X), self.threshold_)
