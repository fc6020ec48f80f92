"""Two-step learning: reliable negatives found with spies, then an ordinary classifier."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import has_fit_parameter

from puforest import _validation as check
from puforest._atomic_fit import atomic_fit
from puforest._prior_estimate import PriorEstimate
from puforest._rows import take_rows
from puforest.baselines._base import (
    Array,
    PUBaseline,
    names_text,
    positive_scores,
    require_method,
    seeded,
)
from puforest.baselines._docs import documented

__all__ = ["SpyTwoStepClassifier"]


@documented
class SpyTwoStepClassifier(PUBaseline):
    """Two-step classifier with the spy technique (Liu, Lee, Yu and Li, 2002).

    In the first step some labeled samples, the spies, are added to the unlabeled samples, and a
    classifier separates these from the other labeled samples. Unlabeled samples that score below
    nearly all spies are reliable negatives. In the second step a classifier separates the labeled
    samples from the reliable negatives.

    Parameters
    ----------
    estimator : classifier
        Classifier for both steps. It must not fit the training samples exactly, because then
        spies and negatives have the same scores: limit the growth of trees.
    spy_fraction : float, default=0.15
        Fraction of the labeled samples used as spies.
    noise_fraction : float, default=0.05
        Fraction of the spies that may score below the threshold for reliable negatives.
    max_iter : int, default=1
        Maximum number of fits in the second step. After each fit, unlabeled samples that are
        predicted as negative are added to the reliable negatives, until there are none.
    prior : float, PriorEstimate or None, default=None
        Class prior. If given, positives and reliable negatives are weighted to the fractions
        ``prior`` and ``1 - prior``, and the estimator must support ``sample_weight``. None uses
        them without weights. The threshold is one half in both cases.
    %scenario%
        It determines the possible priors.
    random_state : int, RandomState instance or None, default=None
        Seed of the choice of spies, and of an estimator without its own ``random_state``.

    Attributes
    ----------
    %attributes%
        Only available if given.
    estimator_ : classifier
        The fitted classifier of the second step.
    reliable_negatives_ : ndarray of shape (n_samples,)
        Mask of the training samples that were used as negatives in the last fit.
    n_iter_ : int
        Number of fits in the second step.

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
        spy_fraction: float = 0.15,
        noise_fraction: float = 0.05,
        max_iter: int = 1,
        prior: float | PriorEstimate | None = None,
        scenario: str = "case-control",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.spy_fraction = spy_fraction
        self.noise_fraction = noise_fraction
        self.max_iter = max_iter
        self.prior = prior
        self.scenario = scenario
        self.random_state = random_state

    @atomic_fit
    @names_text
    @documented
    def fit(self, X: check.MatrixLike, y: ArrayLike) -> Self:
        """Find reliable negatives and fit the classifier.

        %fit%
        """
        require_method(self.estimator, "predict_proba", "decision_function")
        max_iter = check.integer("max_iter", self.max_iter, 1)
        X, sample, prior = self._read(X, y)
        if prior is not None and not has_fit_parameter(self.estimator, "sample_weight"):
            raise TypeError(
                f"estimator={self.estimator!r} does not support sample_weight, which "
                f"prior={prior:g} requires: use another estimator, or prior=None"
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
            joining = rest[self.estimator_.predict(take_rows(X, rest)) == 0]
            if not len(joining):
                return self
            negative = negative.copy()
            negative[joining] = True

    def _reliable(
        self, X: Any, labeled: NDArray[np.bool_], rng: np.random.RandomState
    ) -> NDArray[np.bool_]:
        """Find unlabeled samples that score below nearly all spies."""
        spy_fraction = check.fraction("spy_fraction", self.spy_fraction)
        noise_fraction = check.fraction("noise_fraction", self.noise_fraction)
        known = np.flatnonzero(labeled)
        n_spies = math.ceil(spy_fraction * len(known))
        if n_spies >= len(known):
            raise ValueError(
                f"spy_fraction={spy_fraction:g} of {len(known)} labeled samples is {n_spies} spies "
                "and leaves none to learn from: use a smaller fraction, or more labeled samples"
            )
        spies = rng.choice(known, n_spies, replace=False)
        remaining = labeled.copy()
        remaining[spies] = False
        model = seeded(self.estimator, rng).fit(X, remaining.astype(int))
        if hasattr(model, "predict_proba"):
            score = model.predict_proba(X)[:, 1]
        else:
            score = model.decision_function(X)
        threshold = np.quantile(score[spies], noise_fraction, method="lower")
        negative: NDArray[np.bool_] = ~labeled & (score < threshold)
        if not negative.any():
            raise ValueError(
                "no unlabeled sample scores below the spies with "
                f"noise_fraction={noise_fraction:g}: use a larger one, or an estimator that does "
                "not fit the training samples exactly"
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
        """Fit the second classifier: labeled samples against negatives."""
        rows = np.concatenate([np.flatnonzero(labeled), np.flatnonzero(negative)])
        target = labeled[rows].astype(int)
        weights = {}
        if prior is not None:
            mean = target.mean()
            weights["sample_weight"] = np.where(target, prior / mean, (1 - prior) / (1 - mean))
        return seeded(self.estimator, rng).fit(take_rows(X, rows), target, **weights)

    def _positive_probability(self, X: check.MatrixLike) -> Array:
        return positive_scores(self.estimator_, X)
