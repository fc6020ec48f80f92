"""Bagging: all labeled samples against bootstrap samples of the unlabeled ones."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray
from sklearn.tree import BaseDecisionTree, DecisionTreeClassifier
from sklearn.utils.validation import has_fit_parameter

from puforest import _validation as check
from puforest._atomic_fit import atomic_fit
from puforest._prior_estimate import PriorEstimate
from puforest._rows import take_rows
from puforest.baselines._base import (
    MAX_SEED,
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

__all__ = ["PUBaggingClassifier"]


@documented
class PUBaggingClassifier(PUBaseline):
    """Bagging for positive and unlabeled data (Mordelet and Vert, 2014).

    Each member is fitted to all labeled samples against a bootstrap sample of the unlabeled
    samples, taken as negatives. The hidden positives differ between the members, so that their
    average is more stable than any single one.

    Parameters
    ----------
    estimator : classifier, default=None
        Member of the ensemble; None uses a decision tree. Probabilities are averaged, or votes if
        members have no ``predict_proba``. Samples that are drawn repeatedly get a larger weight
        if the estimator supports ``sample_weight``, and are repeated otherwise. Trees that draw
        most of the samples are given all of them, some with weight zero.
    n_estimators : int, default=100
        Number of members.
    sample_size : int, float or None, default=None
        Number or fraction of the unlabeled samples that each member draws with replacement; None
        draws as many as there are labeled samples. The paper's PUBaggingET is
        ``PUBaggingClassifier(ExtraTreeClassifier(), sample_size=1.0)``.
    %prior%
    oob_score : bool, default=False
        Whether to compute out-of-bag scores of the unlabeled samples, which takes longer than the
        fits if `sample_size` is small. They are always computed with a `prior`.
    %scenario%
    n_jobs : int or None, default=None
        Number of threads; -1 uses all cores. It does not change the result.
    random_state : int, RandomState instance or None, default=None
        Seed of the bootstrap samples and of the members.

    Attributes
    ----------
    %attributes%
        Only available if given.
    estimators_ : list of classifiers
        The fitted members.
    oob_score_of_unlabeled_ : ndarray of shape (n_samples,)
        Mean score of each unlabeled sample over the members that did not draw it; nan for samples
        that all members drew, and for labeled samples. Only with ``oob_score=True`` or a prior.
    %threshold_%

    Notes
    -----
    Unlabeled samples that duplicate labeled ones are never truly out of bag: their scores are too
    high, and so is the threshold.

    References
    ----------
    Mordelet and Vert: A bagging SVM to learn from positive and unlabeled examples. Pattern
    Recognition Letters, 2014.

    Examples
    --------
    >>> from puforest.baselines import PUBaggingClassifier
    >>> from puforest.datasets import load_mushrooms, make_pu
    >>> X, y = load_mushrooms(return_X_y=True)
    >>> X_pu, labeled = make_pu(X[::2], y[::2], n_labeled=500, random_state=0)
    >>> model = PUBaggingClassifier(prior=y.mean(), n_estimators=30, random_state=0)
    >>> model = model.fit(X_pu, labeled)
    >>> bool(model.score(X[1::2], y[1::2]) > 0.95)
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 100,
        sample_size: int | float | None = None,
        prior: float | PriorEstimate | None = None,
        oob_score: bool = False,
        scenario: str = "case-control",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.sample_size = sample_size
        self.prior = prior
        self.oob_score = oob_score
        self.scenario = scenario
        self.n_jobs = n_jobs
        self.random_state = random_state

    @atomic_fit
    @names_text
    @documented
    def fit(self, X: check.MatrixLike, y: ArrayLike) -> Self:
        """Fit the members.

        %fit%
        """
        member = self._wrapped()
        require_method(member, "predict_proba", "predict")
        weighs = has_fit_parameter(member, "sample_weight")
        n_members = check.integer("n_estimators", self.n_estimators, 1)
        oob_score = check.boolean("oob_score", self.oob_score)
        X, sample, prior = self._read(X, y)
        scores_left_out = oob_score or prior is not None
        labeled, unlabeled = np.flatnonzero(sample.labeled), np.flatnonzero(~sample.labeled)
        n_draws = len(labeled)
        if self.sample_size is not None:
            n_draws = check.count_or_fraction("sample_size", self.sample_size, len(unlabeled), 1)

        def fitted(seed: int) -> tuple[Any, NDArray[np.intp], Array]:
            """Fit a member; returns it, the unlabeled samples it left out, and their scores."""
            rng = np.random.RandomState(seed)
            drawn = rng.randint(len(unlabeled), size=n_draws)
            times = np.bincount(drawn, minlength=len(unlabeled))
            left_out = np.flatnonzero(times == 0) if scores_left_out else np.empty(0, np.intp)
            rows: Any
            weights = {}
            if weighs:
                weight = np.ones(len(sample))
                weight[unlabeled] = times
                rows = np.flatnonzero(weight)
                # Trees skip samples without weight, so there is no need to copy most of them.
                if isinstance(member, BaseDecisionTree) and len(rows) > len(sample) / 2:
                    rows = slice(None)
                weights["sample_weight"] = weight[rows]
            else:
                rows = np.append(labeled, unlabeled[drawn])
            target = sample.labeled[rows].astype(int)
            model = seeded(member, rng).fit(take_rows(X, rows), target, **weights)
            if not len(left_out):
                return model, left_out, np.empty(0)
            return model, left_out, positive_scores(model, take_rows(X, unlabeled[left_out]))

        seeds = check.random_state(self.random_state).randint(MAX_SEED, size=n_members)
        total, count = np.zeros(len(unlabeled)), np.zeros(len(unlabeled))
        self.estimators_ = []
        # In order, so that sums are rounded the same way with any number of threads.
        jobs = Parallel(n_jobs=check.threads(self.n_jobs), prefer="threads", return_as="generator")
        for model, left_out, score in jobs(delayed(fitted)(seed) for seed in seeds):
            self.estimators_.append(model)
            total[left_out] += score
            count[left_out] += 1
        self.__dict__.pop("oob_score_of_unlabeled_", None)
        self.threshold_ = 0.5
        if scores_left_out:
            out_of_bag = np.full(len(unlabeled), np.nan)
            np.divide(total, count, out=out_of_bag, where=count > 0)
            self.oob_score_of_unlabeled_ = np.full(len(sample), np.nan)
            self.oob_score_of_unlabeled_[unlabeled] = out_of_bag
        if prior is not None:
            if not count.any():
                raise ValueError(
                    f"prior={prior:g} requires out-of-bag scores, but every member drew every "
                    f"unlabeled sample: use a smaller sample_size than {self.sample_size!r}"
                )
            fraction = unlabeled_prior(sample, prior)
            self.threshold_ = prior_threshold(out_of_bag[count > 0], fraction)
        return self

    def _wrapped(self) -> Any:
        return DecisionTreeClassifier() if self.estimator is None else self.estimator

    def _positive_probability(self, X: check.MatrixLike) -> Array:
        jobs = Parallel(n_jobs=check.threads(self.n_jobs), prefer="threads", return_as="generator")
        total = np.zeros(X.shape[0])
        for score in jobs(delayed(positive_scores)(model, X) for model in self.estimators_):
            total += score
        return moved_to_half(total / len(self.estimators_), self.threshold_)
