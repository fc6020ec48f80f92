"""Tree induction for label frequency estimation: the box with most labels."""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from puforest import _validation as check
from puforest.prior._base import Array, Rows, Share, within_one
from puforest.prior._intervals import half_width
from puforest.prior._scores import ScoredPriorEstimator, smoothed_logit

__all__ = ["TIcE"]

FEWEST = 30  # rows of a box
PSEUDO_ROWS = 5  # against boxes of a few rows

# Chance of a bound to be wrong, at least. The authors' 0.025 and boxes of 10 rows are made for
# label frequencies near one half; with ten times as many unlabeled rows the bound is then as
# wide as the frequency, and priors come out by 0.16 too high on the sets of benchmarks/prior.py.
LEAST_DELTA = 0.1


class TIcE(ScoredPriorEstimator):
    """Tree induction for c estimation (Bekker and Davis, AAAI 2018).

    In a box of the feature space that holds only positives, the share of labeled rows is the
    label frequency, and in no box can it be larger. A tree looks for boxes with many labeled
    rows in one part of the data; a lower bound for their label frequency is counted on the rest.
    Boxes of many features are poor at finding positives, so the scores of a classifier that
    tells labeled from unlabeled rows are two more features, unless told otherwise.

    Parameters
    ----------
    scenario : {"case-control", "single-training-set"}, default="case-control"
        How the rows came about.
    scores : bool, default=True
        Whether to add held-out scores and their ranks as features.
    estimator : classifier, default=None
        What gives the scores; with ``predict_proba``. None is a forest.
    cv : int, default=5
        Number of folds of the scores.
    n_folds : int, default=5
        Parts of the data; each of them grows a tree, and the estimates are averaged.
    max_splits : int, default=500
        Splits of a tree.
    max_features : int, default=100
        Features to cut boxes by, drawn at random where there are more; time grows with them.
    confidence : float, default=0.9
        Level of the interval, from the spread over the parts.
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
        All about it. Its evidence holds the label frequency of each part (``frequencies``),
        among the rows looked at.

    Examples
    --------
    >>> from puforest.datasets import load_mushrooms, make_pu
    >>> from puforest.prior import TIcE
    >>> X, y = load_mushrooms(return_X_y=True)
    >>> X_pu, labeled = make_pu(X, y, n_labeled=1000, random_state=0)
    >>> bool(abs(TIcE(random_state=0).fit(X_pu, labeled).prior_ - y.mean()) < 0.1)
    True
    """

    _method = "tice"

    def __init__(
        self,
        *,
        scenario: str = "case-control",
        scores: bool = True,
        estimator: Any = None,
        cv: int = 5,
        n_folds: int = 5,
        max_splits: int = 500,
        max_features: int = 100,
        confidence: float = 0.9,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.scenario = scenario
        self.scores = scores
        self.estimator = estimator
        self.cv = cv
        self.n_folds = n_folds
        self.max_splits = max_splits
        self.max_features = max_features
        self.confidence = confidence
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _share(self, rows: Rows) -> Share:
        n_folds = min(check.integer("n_folds", self.n_folds, 2), len(rows.labeled))
        max_splits = check.integer("max_splits", self.max_splits, 1)
        rng = check.random_state(self.random_state)
        most = check.integer("max_features", self.max_features, 1)
        features = np.arange(rows.X.shape[1])
        if len(features) > most:
            features = rng.choice(features, most, replace=False)
        quarter = quarters(rows.X[:, features])
        if check.boolean("scores", self.scores):
            scores = self._scores(rows)
            two = np.column_stack([smoothed_logit(scores), rankdata(scores)])
            quarter = np.column_stack([quarter, quarters(two)])
        fold = rng.permutation(np.arange(len(rows.labeled)) % n_folds)
        boxes = [
            boxes_of_a_tree(quarter, rows, np.flatnonzero(fold == k), max_splits)
            for k in range(n_folds)
        ]
        c = 0.5
        for _ in range(2):  # the bound needs the frequency itself: first a guess, then the result
            frequencies = np.array([best_bound(counts, c) for counts in boxes])
            c = float(frequencies.mean())
        # Student's t for the spread over the parts, which share most of their rows: too narrow
        # if anything.
        half = half_width(frequencies, self.confidence)

        def share(frequency: float) -> float:
            return rows.odds * (1 - frequency) / frequency if frequency > 0 else 1.0

        evidence = {"frequencies": frequencies}
        return Share(share(c), share(min(1.0, c + half)), share(max(0.0, c - half)), evidence)


def quarters(X: NDArray[Any]) -> NDArray[np.uint8]:
    """In which quarter of its feature's range each value lies, from 0 to 3."""
    X = within_one(X)
    low = X.min(axis=0)
    width = X.max(axis=0) - low
    width[width == 0] = 1
    result: NDArray[np.uint8] = np.minimum(4 * ((X - low) / width), 3).astype(np.uint8)
    return result


def boxes_of_a_tree(
    quarter: NDArray[np.uint8], rows: Rows, grow: NDArray[np.intp], max_splits: int
) -> Array:
    """Rows and labeled rows in each box, counted on the rows that the tree was not grown on.

    A box is split at the feature and the quarter that make the best half; the box whose best
    half is best of all comes next.
    """
    judge = np.setdiff1d(np.arange(len(quarter)), grow, assume_unique=True)
    counts = []
    heap: list[tuple[float, int, Any]] = []

    def add(here: NDArray[np.intp], there: NDArray[np.intp], used: NDArray[np.bool_]) -> None:
        weight = rows.weight[there]
        counts.append((weight.sum(), weight @ rows.labeled[there]))
        split = best_half(quarter, rows, here, used)
        if split is not None:
            worth, feature, cut = split
            heapq.heappush(heap, (-worth, len(counts), (here, there, used, feature, cut)))

    add(grow, judge, np.zeros(quarter.shape[1], dtype=bool))
    for _ in range(max_splits):
        if not heap:
            break
        here, there, used, feature, cut = heapq.heappop(heap)[2]
        used = used.copy()
        used[feature] = True
        above_here = quarter[here, feature] >= cut
        above_there = quarter[there, feature] >= cut
        add(here[above_here], there[above_there], used)
        add(here[~above_here], there[~above_there], used)
    return np.array(counts)


def best_half(
    quarter: NDArray[np.uint8], rows: Rows, here: NDArray[np.intp], used: NDArray[np.bool_]
) -> tuple[float, int, int] | None:
    """Worth, feature and cut of the split one half of which has most labeled rows."""
    if len(here) < FEWEST or used.all():
        return None
    codes = quarter[here]
    weight = rows.weight[here]
    positive = weight * rows.labeled[here]
    # Sums of both weights in each quarter of each feature, then above each of the three cuts.
    both = np.stack([weight, positive])
    above = np.stack([both @ (codes >= cut) for cut in (1, 2, 3)])  # cut, weight, feature
    total = both.sum(axis=1)[:, None]
    halves = np.stack([above, total - above])
    if not (inner := (halves[:, :, 0] > 0).all(axis=0) & ~used).any():
        return None
    worth = (halves[:, :, 1] / (halves[:, :, 0] + PSEUDO_ROWS)).max(axis=0)
    worth[~inner] = -1
    cut, feature = np.unravel_index(np.argmax(worth), worth.shape)
    return float(worth[cut, feature]), int(feature), int(cut) + 1


def best_bound(counts: Array, c: float) -> float:
    """The largest lower bound of the label frequency over the boxes, the first of which is all."""
    n, labeled = counts[counts[:, 0] >= FEWEST].T
    if len(n) == 0:
        n, labeled = counts[:1].T  # all rows: few, but all there are
    delta = max(LEAST_DELTA, 1 / (1 + 0.004 * counts[0, 0]))
    bound = labeled / n - np.sqrt(c * (1 - c) * (1 - delta) / (delta * n))
    return float(max(bound.max(), 0.0))
