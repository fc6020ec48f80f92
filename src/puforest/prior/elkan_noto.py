"""Elkan and Noto's estimators of the label frequency."""

from __future__ import annotations

from typing import Any

import numpy as np

from puforest import _validation as check
from puforest.prior._base import Array, Rows, Share
from puforest.prior._intervals import bootstrap_interval
from puforest.prior._scores import ScoredPriorEstimator

__all__ = ["ElkanNoto"]

VARIANTS = ("e1", "e2", "e3")


class ElkanNoto(ScoredPriorEstimator):
    """Label frequency from the probability of being labeled (Elkan and Noto, KDD 2008).

    A classifier estimates g(x), the probability of a row to be labeled. Where a row is surely
    positive, that is the label frequency. The estimators assume that this holds for all
    labeled rows, and are too high on the prior where classes overlap: they are here to be
    compared with.

    Parameters
    ----------
    variant : {"e1", "e2", "e3"}, default="e1"
        The mean of g over the labeled rows; that sum divided by the sum over all rows; or the
        maximum of g.
    scenario : {"case-control", "single-training-set"}, default="case-control"
        How the rows came about.
    estimator : classifier, default=None
        What estimates g; with ``predict_proba``. None is a forest.
    cv : int, default=5
        Number of folds: each row is scored by a classifier that has not seen it.
    confidence : float, default=0.9
        Level of the interval, which comes from resampled scores.
    n_resamples : int, default=200
        Number of resamples.
    n_jobs : int or None, default=None
        Threads of the forest.
    random_state : int, RandomState instance or None, default=None
        Seed of all that is random.

    Attributes
    ----------
    prior_ : float
        The estimate.
    interval_ : tuple of float
        Where it lies.
    estimate_ : PriorEstimate
        All about it. Its evidence holds the ``scores`` of both groups, and the label frequency
        among the rows looked at (``frequencies``, one number).
    """

    _method = "elkan-noto"

    def __init__(
        self,
        *,
        variant: str = "e1",
        scenario: str = "case-control",
        estimator: Any = None,
        cv: int = 5,
        confidence: float = 0.9,
        n_resamples: int = 200,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.variant = variant
        self.scenario = scenario
        self.estimator = estimator
        self.cv = cv
        self.confidence = confidence
        self.n_resamples = n_resamples
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _share(self, rows: Rows) -> Share:
        check.one_of("variant", self.variant, VARIANTS)
        scores = self._scores(rows)
        if self.estimator is None:
            scores = unbalanced(scores, rows.odds)

        def share(positive: Array, unlabeled: Array, w_p: Array, w_u: Array) -> float:
            total = float(w_p @ positive)
            if total == 0:
                return 1.0  # no label is likely anywhere, so all may be positive
            if self.variant == "e1":
                c = total / w_p.sum()
            elif self.variant == "e2":
                c = total / (total + w_u @ unlabeled)
            else:
                c = max(positive.max(), unlabeled.max())
            return float(w_p.sum() / w_u.sum() * (1 - c) / c)

        labeled = rows.labeled
        groups = (scores[labeled], scores[~labeled], rows.weight[labeled])
        value, low, high = bootstrap_interval(
            share,
            *groups,
            rows.weight[~labeled],
            confidence=self.confidence,
            n_resamples=self.n_resamples,
            random_state=self.random_state,
        )
        evidence = {
            "scores": (scores[labeled], scores[~labeled]),
            "frequencies": np.array([rows.odds / (rows.odds + value)]),
            "variant": self.variant,
        }
        return Share(value, low, high, evidence)


def unbalanced(scores: Array, odds: float) -> Array:
    """Probabilities of being labeled, from those in a world with as many rows of each group."""
    probability: Array = scores * odds / (scores * odds + 1 - scores)
    return probability
