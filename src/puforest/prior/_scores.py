"""Scores of a P-against-U classifier on rows that it has not seen.

Cross-fitted forests, not out-of-bag answers: there a labeled row would be scored by fewer trees
than an unlabeled one, and its noisier score would look like another distribution. Over eight
data sets this cost BBE a quarter of its accuracy, and made DEDPUL slide to zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit
from sklearn.base import ClassifierMixin, clone

from puforest import _validation as check
from puforest._cross_fitting import cross_fitted_scores
from puforest._duplicate_rows import duplicate_groups
from puforest.prior._base import Array, PriorEstimator, Rows

# Found by trial on the sets of benchmarks/prior.py: trees see few unlabeled rows, other ones each
# time, take both groups as equally large, and stop at leaves that can be impure.
TREES = 100
LEAF = 5
UNLABELED_PER_TREE = 4  # times the labeled rows
UNLABELED_PER_FOLD = 10


class ScoredPriorEstimator(PriorEstimator):
    """Base of the methods that look at scores."""

    estimator: Any
    cv: int
    n_jobs: int | None

    def _scores(self, rows: Rows) -> Array:
        """Held-out scores in the order of the rows; larger is more like the labeled ones."""
        n_folds = check.integer("cv", self.cv, 2)
        n_folds = min(n_folds, rows.n_labeled, rows.n_unlabeled)
        rng = check.random_state(self.random_state)
        fold = folds(rows, n_folds, rng)
        splits = ((np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(n_folds))
        return cross_fitted_scores(lambda train: self._fitted(rows, train, rng), rows.X, splits)

    def _fitted(
        self, rows: Rows, train: NDArray[np.intp], rng: np.random.RandomState
    ) -> ClassifierMixin:
        """Fit the classifier to the training rows of a fold."""
        model = self._classifier(rows, train, rng)
        if self.estimator is None:
            train = thinned(train, rows.labeled, rng)
        weight = rows.weight[train]
        weights = {} if (weight == weight[0]).all() else {"sample_weight": weight}
        return model.fit(rows.X[train], rows.labeled[train].astype(int), **weights)

    def _classifier(
        self, rows: Rows, train: NDArray[np.intp], rng: np.random.RandomState
    ) -> ClassifierMixin:
        if self.estimator is not None:
            if not hasattr(self.estimator, "predict_proba"):
                raise TypeError(
                    "estimator must be a classifier with a method 'predict_proba', got "
                    f"{self.estimator!r}"
                )
            return clone(self.estimator)
        from puforest.forest import PUExtraTreesClassifier  # which estimates priors with this

        n_labeled = int(np.count_nonzero(rows.labeled[train]))
        n_unlabeled = len(train) - n_labeled
        return PUExtraTreesClassifier(
            prior=0.5,
            risk="pn",
            voting="soft",
            n_estimators=TREES,
            min_samples_leaf=min(LEAF, max(1, n_labeled // 10)),
            max_unlabeled=min(n_unlabeled, UNLABELED_PER_TREE * n_labeled),
            n_jobs=self.n_jobs,
            random_state=rng.randint(np.iinfo(np.int32).max),
        )


def thinned(
    train: NDArray[np.intp], labeled: NDArray[np.bool_], rng: np.random.RandomState
) -> NDArray[np.intp]:
    """The training rows without the unlabeled ones that trees would hardly look at."""
    is_labeled = labeled[train]
    unlabeled = train[~is_labeled]
    most = UNLABELED_PER_FOLD * int(np.count_nonzero(is_labeled))
    if len(unlabeled) <= most:
        return train
    chosen = rng.choice(unlabeled, most, replace=False)
    return np.concatenate([train[is_labeled], chosen])


def folds(rows: Rows, n_folds: int, rng: np.random.RandomState) -> NDArray[np.intp]:
    """Number of the fold of each row, each group spread evenly.

    All copies of a row go to one fold: else the one would be scored by a classifier that has seen
    the other. This must hold for unlabeled rows without a labeled copy too, or else only their
    scores would be pulled down by their copies; on UNSW-NB15, where four rows in ten have copies,
    that makes priors by 0.05 too low.
    """
    fold = np.empty(len(rows.labeled), dtype=np.intp)
    for part in (rows.labeled, ~rows.labeled):
        n = np.count_nonzero(part)
        fold[part] = rng.permutation(np.arange(n) % n_folds)
    group = duplicate_groups(rows.X)
    home = np.empty(group.max() + 1, dtype=np.intp)
    for part in (~rows.labeled, rows.labeled):
        home[group[part]] = fold[part]
    together = home[group]
    # Data of a few distinct rows may not spread: then copies have to part.
    most = max(0.5, 1.5 / n_folds)
    parts = (together[rows.labeled], together[~rows.labeled])
    spread = [np.bincount(part, minlength=n_folds) for part in parts]
    return together if all(n.min() > 0 and n.max() <= most * n.sum() for n in spread) else fold


def smoothed_logit(scores: Array) -> Array:
    """Logits of shares of trees, half a vote added to each side."""
    result: Array = logit((scores * TREES + 0.5) / (TREES + 1))
    return result
