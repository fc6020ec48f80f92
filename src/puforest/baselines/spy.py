"""Reliable negatives found with spies, then an ordinary classifier."""

from __future__ import annotations

import math
from typing import Any, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import has_fit_parameter

from puforest import _validation as check
from puforest._atomic_fit import atomic_fit
from puforest.baselines._base import (
    Array,
    PUBaseline,
    positive_share,
    require_method,
    seeded,
)

__all__ = ["SpyTwoStepClassifier"]


class SpyTwoStepClassifier(PUBaseline):
    """The spy technique (Liu, Lee, Yu and Li, 2002), then a classifier of two classes.

    First some labeled rows, the spies, go among the unlabeled ones, and a classifier tells the
    other labeled rows from those. Unlabeled rows that score below nearly all spies are reliable
    negatives. Then a second classifier tells the labeled rows from the reliable negatives.

    Parameters
    ----------
    estimator : classifier
        What to fit in both steps. It must not fit training rows exactly, or spies and negatives
        score alike: limit the growth of trees.
    spy_share : float, default=0.15
        Share of the labeled rows that are sent as spies.
    noise_share : float, default=0.05
        Share of the spies that may score below the threshold for reliable negatives.
    max_iter : int, default=1
        Fits of the second step. After each one, further unlabeled rows that it calls negative join
        the reliable negatives; it ends early when none do.
    prior : float or None, default=None
        Share of positives in the population. With it, positives and reliable negatives are weighted
        to make up shares ``prior`` and ``1 - prior``; the estimator has to take weights. With None
        their numbers are what they are. Either way the threshold is one half.
    scenario : {"case-control", "single-training-set"}, default="case-control"
        How the rows came about; it decides which priors are possible.
    random_state : int, RandomState instance or None, default=None
        Seed of the choice of spies, and for an estimator without one.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The two values of ``y``; the second one is the positive class.
    estimator_ : classifier
        The classifier of the second step.
    reliable_negatives_ : ndarray of shape (n_samples,)
        Whether each training row was taken as a negative in the last fit.
    n_iter_ : int
        Number of fits of the second step.
    prior_ : float
        The class prior, if there is one.
    n_features_in_ : int
        Number of features seen by ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where ``X`` has names that are all strings.

    References
    ----------
    Liu, Lee, Yu and Li: Partially supervised classification of text documents. ICML 2002.

    Examples
    --------
    >>> from sklearn.naive_bayes import BernoulliNB
    >>> from puforest.baselines import SpyTwoStepClassifier
    >>> from puforest.datasets import load_mushrooms, make_pu
    >>> X, y = load_mushrooms(return_X_y=True)
    >>> X_pu, labeled = make_pu(X[::2], y[::2], n_labeled=500, random_state=0)
    >>> model = SpyTwoStepClassifier(BernoulliNB(), random_state=0).fit(X_pu, labeled)
    >>> bool(model.score(X[1::2], y[1::2]) > 0.9)
    True
    """

    def __init__(
        self,
        estimator: Any,
        *,
        spy_share: float = 0.15,
        noise_share: float = 0.05,
        max_iter: int = 1,
        prior: float | None = None,
        scenario: str = "case-control",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.spy_share = spy_share
        self.noise_share = noise_share
        self.max_iter = max_iter
        self.prior = prior
        self.scenario = scenario
        self.random_state = random_state

    @atomic_fit
    def fit(self, X: check.MatrixLike, y: ArrayLike) -> Self:
        """Find reliable negatives, and fit the classifier.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Two values: the larger marks labeled positives, the smaller unlabeled rows.

        Returns
        -------
        self
        """
        require_method(self.estimator, "predict_proba", "decision_function")
        max_iter = check.integer("max_iter", self.max_iter, 1)
        X, sample, prior = self._read(X, y)
        if prior is not None and not has_fit_parameter(self.estimator, "sample_weight"):
            raise TypeError(
                f"estimator={self.estimator!r} takes no sample_weight, which prior={prior:g} "
                "needs: give another one, or prior=None"
            )
        rng = check.random_state(self.random_state)
        labeled = sample.labeled
        negative = self._reliable(X, labeled, rng)
        self.n_iter_ = 0
        while True:
            self.estimator_ = self._fitted(X, labeled, negative, prior, rng)
            self.reliable_negatives_ = negative
            self.n_iter_ += 1
            rest = np.flatnonzero(~labeled & ~negative)
            if self.n_iter_ == max_iter or not len(rest):
                return self
            joining = rest[self.estimator_.predict(X[rest]) == 0]
            if not len(joining):
                return self
            negative = negative.copy()
            negative[joining] = True

    def _reliable(
        self, X: Any, labeled: NDArray[np.bool_], rng: np.random.RandomState
    ) -> NDArray[np.bool_]:
        """Unlabeled rows that score below nearly all spies."""
        spy_share = check.fraction("spy_share", self.spy_share)
        noise_share = check.fraction("noise_share", self.noise_share)
        known = np.flatnonzero(labeled)
        n_spies = math.ceil(spy_share * len(known))
        if n_spies >= len(known):
            raise ValueError(
                f"spy_share={spy_share:g} of {len(known)} labeled rows are {n_spies} spies, which "
                "leaves none to learn from: give a smaller share, or more labeled rows"
            )
        spies = rng.choice(known, n_spies, replace=False)
        openly = labeled.copy()
        openly[spies] = False
        score = _score(seeded(self.estimator, rng).fit(X, openly.astype(int)), X)
        threshold = np.quantile(score[spies], noise_share, method="lower")
        negative: NDArray[np.bool_] = ~labeled & (score < threshold)
        if not negative.any():
            raise ValueError(
                f"no unlabeled row scores below the spies with noise_share={noise_share:g}: give "
                "a larger one, or an estimator that does not fit its training rows exactly"
            )
        return negative

    def _fitted(
        self,
        X: Any,
        labeled: NDArray[np.bool_],
        negative: NDArray[np.bool_],
        prior: float | None,
        rng: np.random.RandomState,
    ) -> Any:
        """The second classifier: labeled rows against negatives."""
        rows = np.concatenate([np.flatnonzero(labeled), np.flatnonzero(negative)])
        target = labeled[rows].astype(int)
        weights = {}
        if prior is not None:
            share = target.mean()
            weights["sample_weight"] = np.where(target, prior / share, (1 - prior) / (1 - share))
        return seeded(self.estimator, rng).fit(X[rows], target, **weights)

    def _wrapped(self) -> Any:
        return self.estimator

    def _positive_probability(self, X: check.MatrixLike) -> Array:
        return positive_share(self.estimator_, X)


def _score(estimator: Any, X: Any) -> Array:
    if hasattr(estimator, "predict_proba"):
        return cast(Array, estimator.predict_proba(X)[:, 1])
    return cast(Array, estimator.decision_function(X))
