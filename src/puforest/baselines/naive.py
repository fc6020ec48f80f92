"""Unlabeled samples as negatives."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.model_selection import cross_val_predict

from puforest import _validation as check
from puforest._atomic_fit import atomic_fit
from puforest._prior_estimate import PriorEstimate
from puforest.baselines._base import (
    Array,
    PUBaseline,
    moved_to_half,
    names_text,
    positive_scores,
    prior_threshold,
    require_method,
    seeded,
    unlabeled_prior,
)
from puforest.baselines._docs import documented
from puforest.model_selection._split import pu_cv

__all__ = ["NaivePUClassifier"]


@documented
class NaivePUClassifier(PUBaseline):
    """Any classifier, with unlabeled samples taken as negatives.

    It learns the probability of being labeled, which ranks samples like the probability of being
    positive, but is smaller: without a prior, few samples or none are predicted as positive.

    Parameters
    ----------
    estimator : classifier
        Classifier that is fitted to labeled against unlabeled samples.
    %prior, scenario, cv%
        Only used with a prior.
    %random_state%

    Attributes
    ----------
    %attributes%
        Only available if given.
    estimator_ : classifier
        The fitted classifier.
    %threshold_%

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
        prior: float | PriorEstimate | None = None,
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
    @names_text
    @documented
    def fit(self, X: check.MatrixLike, y: ArrayLike) -> Self:
        """Fit the classifier, and choose the threshold if there is a prior.

        %fit%
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

    def _positive_probability(self, X: check.MatrixLike) -> Array:
        return moved_to_half(positive_scores(self.estimator_, X), self.threshold_)
