"""Best bin estimation: the purest top of the scores."""

from __future__ import annotations

from typing import Any

import numpy as np

from puforest import _validation as check
from puforest.prior._base import Array, Rows, Share
from puforest.prior._scores import ScoredPriorEstimator

__all__ = ["BBE"]

SLACK = 0.01  # gamma of the paper
MOST_POINTS = 1000  # of the curve that is kept as evidence


class BBE(ScoredPriorEstimator):
    """Best bin estimation (Garg, Wu, Smola, Balakrishnan and Lipton, NeurIPS 2021).

    Takes the rows whose score is above a threshold, and divides their share of the unlabeled
    rows by their share of the labeled ones. The threshold is the one with the least upper
    confidence bound for the quotient: high enough for few negatives to be above it, low enough
    for both shares to be known well.

    Parameters
    ----------
    scenario : {"case-control", "single-training-set"}, default="case-control"
        How the rows came about.
    estimator : classifier, default=None
        What tells labeled from unlabeled rows; with ``predict_proba``. None is a forest.
    cv : int, default=5
        Number of folds: each row is scored by a classifier that has not seen it.
    confidence : float, default=0.9
        Level of the interval, and of the bound that chooses the threshold.
    n_jobs : int or None, default=None
        Threads of the forest.
    random_state : int, RandomState instance or None, default=None
        Seed of all that is random.

    Attributes
    ----------
    prior_ : float
        The estimate.
    interval_ : tuple of float
        Where it lies; holds whatever the distribution of the scores, so it is wide.
    estimate_ : PriorEstimate
        All about it. Its evidence holds the ``thresholds``, the ``quotient`` at each, its
        ``upper`` and ``lower`` bounds, and the ``chosen`` threshold.

    Examples
    --------
    >>> from puforest.datasets import load_mushrooms, make_pu
    >>> from puforest.prior import BBE
    >>> X, y = load_mushrooms(return_X_y=True)
    >>> X_pu, labeled = make_pu(X, y, n_labeled=1000, random_state=0)
    >>> bool(abs(BBE(random_state=0).fit(X_pu, labeled).prior_ - y.mean()) < 0.03)
    True
    """

    _method = "bbe"

    def __init__(
        self,
        *,
        scenario: str = "case-control",
        estimator: Any = None,
        cv: int = 5,
        confidence: float = 0.9,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.scenario = scenario
        self.estimator = estimator
        self.cv = cv
        self.confidence = confidence
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _share(self, rows: Rows) -> Share:
        scores = self._scores(rows)
        labeled, unlabeled = rows.labeled, ~rows.labeled
        return best_bin(
            scores[labeled],
            scores[unlabeled],
            rows.weight[labeled],
            rows.weight[unlabeled],
            confidence=self.confidence,
        )


def best_bin(
    positive: Array, unlabeled: Array, w_p: Array, w_u: Array, *, confidence: float
) -> Share:
    """Quotient of the shares above the threshold with the least upper bound."""
    threshold = np.unique(np.concatenate([positive, unlabeled]))
    q_p, q_u = share_above(positive, w_p, threshold), share_above(unlabeled, w_u, threshold)
    # Uniform bounds on the two distribution functions (Dvoretzky, Kiefer and Wolfowitz).
    e_p, e_u = (np.sqrt(np.log(4 / (1 - confidence)) / (2 * effective_size(w))) for w in (w_p, w_u))
    with np.errstate(divide="ignore", invalid="ignore"):
        quotient = q_u / q_p
        bound = quotient + (1 + SLACK) / q_p * (e_u + e_p)
        lower = np.maximum(0, q_u - e_u) / np.minimum(1, q_p + e_p)
        upper = np.where(q_p > e_p, (q_u + e_u) / (q_p - e_p), np.inf)
    bound[q_p == 0] = np.inf
    best = int(np.argmin(bound))
    some = np.append(np.arange(0, len(threshold), 1 + len(threshold) // MOST_POINTS), best)
    kept = np.unique(some)
    evidence = {
        "thresholds": threshold[kept],
        "quotient": quotient[kept],
        "lower": lower[kept],
        "upper": upper[kept],
        "labeled_above": q_p[kept],
        "unlabeled_above": q_u[kept],
        "chosen": float(threshold[best]),
    }
    return Share(float(quotient[best]), float(lower[best]), float(upper[best]), evidence)


def share_above(scores: Array, weight: Array, threshold: Array) -> Array:
    """Share of the weight whose score is at least each of the thresholds, which ascend."""
    order = np.argsort(scores)
    below = np.concatenate([[0.0], np.cumsum(weight[order])])
    share: Array = 1 - below[np.searchsorted(scores[order], threshold)] / below[-1]
    return share


def effective_size(weight: Array) -> float:
    """Number of rows of equal weight that would be as informative."""
    weight = check.at_most_one(weight)
    return float(weight.sum() ** 2 / (weight @ weight))
