"""Bags of all labeled rows against some of the unlabeled ones."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray
from sklearn.tree import BaseDecisionTree, DecisionTreeClassifier
from sklearn.utils.validation import has_fit_parameter

from puforest import _validation as check
from puforest._atomic_fit import atomic_fit
from puforest.baselines._base import (
    MAX_SEED,
    Array,
    PUBaseline,
    moved_to_half,
    positive_share,
    prior_threshold,
    require_method,
    seeded,
    unlabeled_prior,
)

__all__ = ["PUBaggingClassifier"]


class PUBaggingClassifier(PUBaseline):
    """Bagging for positive and unlabeled data (Mordelet and Vert, 2014).

    Each member is fitted to all labeled rows against a bootstrap sample of the unlabeled ones,
    taken as negatives. The positives among them differ from member to member, so that their
    average is more stable than any one.

    Parameters
    ----------
    estimator : classifier, default=None
        A member; None is a decision tree. Probabilities are averaged, or votes where members have
        no ``predict_proba``. Rows drawn several times are given once, with a weight, to members
        that take ``sample_weight``, and are repeated for others; trees that are to see most rows
        are given all of them, with weights that may be zero.
    n_estimators : int, default=100
        Number of members.
    sample_size : int, float or None, default=None
        Unlabeled rows that a member draws, with replacement: a number, a share of them, or (None)
        as many as there are labeled rows. The paper's PUBaggingET is
        ``PUBaggingClassifier(ExtraTreeClassifier(), sample_size=1.0)``.
    prior : float or None, default=None
        Share of positives in the population. With it, the threshold is the one that calls as many
        of the unlabeled rows positive as there are positives among them, by their out-of-bag
        scores. None leaves the threshold at one half.
    oob_score : bool, default=False
        Whether to score unlabeled rows by the members that did not draw them, which takes longer
        than the fits where `sample_size` is small. Done in any case with a `prior`, which needs it.
    scenario : {"case-control", "single-training-set"}, default="case-control"
        How the rows came about.
    n_jobs : int or None, default=None
        Threads to fit and predict with; -1 is all cores. The result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of all that is random.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The two values of ``y``; the second one is the positive class.
    estimators_ : list of classifiers
        The members.
    oob_score_of_unlabeled_ : ndarray of shape (n_samples,)
        Mean score of each unlabeled row by the members that did not draw it; nan for those that
        all drew, and for labeled rows, which all see. Only with ``oob_score=True`` or a prior.
    threshold_ : float
        Mean score above which rows are called positive. ``predict_proba`` divides odds by those of
        the threshold, so that one half is where the answer changes.
    prior_ : float
        The class prior, if there is one.
    n_features_in_ : int
        Number of features seen by ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where ``X`` has names that are all strings.

    Notes
    -----
    Unlabeled rows that stand among the labeled ones too are never out of bag: their scores are
    too high, and the threshold with them.

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
        prior: float | None = None,
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
    def fit(self, X: check.MatrixLike, y: ArrayLike) -> Self:
        """Fit the members.

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
            """A member, the unlabeled rows that it has to score, and its scores of them."""
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
                # Trees pass over rows without weight: no need to copy most of the rows for them.
                if isinstance(member, BaseDecisionTree) and len(rows) > len(sample) / 2:
                    rows = slice(None)
                weights["sample_weight"] = weight[rows]
            else:
                rows = np.append(labeled, unlabeled[drawn])
            target = sample.labeled[rows].astype(int)
            model = seeded(member, rng).fit(X[rows], target, **weights)
            if not len(left_out):
                return model, left_out, np.empty(0)
            return model, left_out, positive_share(model, X[unlabeled[left_out]])

        seeds = check.random_state(self.random_state).randint(MAX_SEED, size=n_members)
        total, count = np.zeros(len(unlabeled)), np.zeros(len(unlabeled))
        self.estimators_ = []
        # One at a time and in order, so that sums round alike on any number of threads.
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
                    f"prior={prior:g} needs out-of-bag scores, but every member drew every "
                    f"unlabeled row: give a smaller sample_size than {self.sample_size!r}"
                )
            share = unlabeled_prior(sample, prior)
            self.threshold_ = prior_threshold(out_of_bag[count > 0], share)
        return self

    def _wrapped(self) -> Any:
        return DecisionTreeClassifier() if self.estimator is None else self.estimator

    def _positive_probability(self, X: check.MatrixLike) -> Array:
        jobs = Parallel(n_jobs=check.threads(self.n_jobs), prefer="threads", return_as="generator")
        total = np.zeros(X.shape[0])
        for share in jobs(delayed(positive_share)(model, X) for model in self.estimators_):
            total += share
        return moved_to_half(total / len(self.estimators_), self.threshold_)
