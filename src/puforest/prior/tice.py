"""Tree induction for label frequency estimation (TIcE), from the boxes with most labels."""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from puforest import _validation as check
from puforest._confidence import CONFIDENCE
from puforest._indicators import numbers_and_indicators
from puforest.prior._base import Array, PriorSample, UnlabeledPrior, within_one
from puforest.prior._docs import documented
from puforest.prior._intervals import half_width
from puforest.prior._limits import identified
from puforest.prior._scores import ScoredPriorEstimator, smoothed_logit

__all__ = ["TIcE"]

MIN_ROWS = 30  # in a box
PSEUDO_ROWS = 5  # added to each box, so that boxes of a few rows do not win by chance

# Lower limit of the probability that a bound does not hold. The authors' 0.025 and boxes of 10
# rows are meant for label frequencies near one half. With ten times as many unlabeled as labeled
# rows their bound is as wide as the frequency itself, and priors are 0.16 too high on the data
# sets of benchmarks/prior.py.
MIN_DELTA = 0.1


@documented
class TIcE(ScoredPriorEstimator):
    """Tree induction for c estimation (Bekker and Davis, AAAI 2018).

    In a box of the feature space that contains only positives, the fraction of labeled rows is the
    label frequency; in no box can it be larger. A tree searches one fold of the data for boxes
    with many labeled rows, and the remaining folds yield a lower bound of their label frequency.
    Because boxes separate positives poorly when there are many features, the scores of a
    classifier that separates labeled from unlabeled rows are added as two more features. A box may
    also consist of one category of a feature, or of its missing values.

    Parameters
    ----------
    %scenario%
    scores : bool, default=True
        Whether to add held-out scores and their ranks as features.
    %estimator, cv%
    n_folds : int, default=5
        Number of folds of the data. A tree is grown on each fold, and the estimates are averaged.
    max_splits : int, default=500
        Maximum number of splits of a tree.
    max_features : int, default=100
        Maximum number of features to split on. If there are more, a random subset is used.
    %confidence, n_jobs, random_state%

    Attributes
    ----------
    %attributes%
    estimate_ : PriorEstimate
        The estimate with its evidence: the label frequency in each fold (``frequencies``), among
        the rows used, and the fraction of positives among the unlabeled rows that it implies
        (``priors``).

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
        confidence: float = CONFIDENCE,
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

    def _unlabeled_prior(self, sample: PriorSample) -> UnlabeledPrior:
        n_folds = min(check.integer("n_folds", self.n_folds, 2), len(sample.labeled))
        max_splits = check.integer("max_splits", self.max_splits, 1)
        rng = check.random_state(self.random_state)
        most = check.integer("max_features", self.max_features, 1)
        features = np.arange(sample.X.shape[1])
        if len(features) > most:
            features = rng.choice(features, most, replace=False)
        numbers, indicators = numbers_and_indicators(sample.X, features, MIN_ROWS)
        quarter = np.column_stack([quarters(numbers), 3 * indicators.astype(np.uint8)])
        scores = self._scores(sample)
        if check.boolean("scores", self.scores):
            two = np.column_stack([smoothed_logit(scores), rankdata(scores)])
            quarter = np.column_stack([quarter, quarters(two)])
        fold = rng.permutation(np.arange(len(sample.labeled)) % n_folds)
        boxes = [
            tree_boxes(quarter, sample, np.flatnonzero(fold == k), max_splits)
            for k in range(n_folds)
        ]
        c = 0.5
        for _ in range(2):  # the bound depends on c, so a guess is refined
            frequencies = np.array([best_bound(counts, c) for counts in boxes])
            c = float(frequencies.mean())

        def prior(frequency: Array) -> Array:
            return sample.odds * (1 - frequency) / np.maximum(frequency, 1e-300)

        # Student's lower limit over the folds. They share most of their rows, so it may be too
        # large.
        low = prior(np.array(min(1.0, c + half_width(frequencies, self.confidence))))
        return identified(
            float(prior(np.array(c))),
            float(low),
            *sample.by_group(scores),
            confidence=self.confidence,
            evidence={"frequencies": frequencies, "priors": np.minimum(1, prior(frequencies))},
        )


def quarters(X: NDArray[Any]) -> NDArray[np.uint8]:
    """Quarter of its feature's range in which each value lies, from 0 to 3; 0 for NaN."""
    X = within_one(X)
    low = np.fmin.reduce(X, axis=0)
    width = np.fmax.reduce(X, axis=0) - low
    width[~(width > 0)] = 1
    position = np.nan_to_num((X - low) / width)
    result: NDArray[np.uint8] = np.minimum(4 * position, 3).astype(np.uint8)
    return result


def tree_boxes(
    quarter: NDArray[np.uint8], sample: PriorSample, grow: NDArray[np.intp], max_splits: int
) -> Array:
    """Weights of all and of labeled rows in each box, over the rows not used to grow the tree.

    A box is split at the feature and quarter that yield the half with the largest fraction of
    labeled rows. Boxes are split in the order of that fraction.
    """
    held_out = np.setdiff1d(np.arange(len(quarter)), grow, assume_unique=True)
    counts = []
    heap: list[tuple[float, int, Any]] = []

    def add(here: NDArray[np.intp], there: NDArray[np.intp], used: NDArray[np.bool_]) -> None:
        weight = sample.weight[there]
        counts.append((weight.sum(), weight @ sample.labeled[there]))
        split = best_half(quarter, sample, here, used)
        if split is not None:
            score, feature, cut = split
            heapq.heappush(heap, (-score, len(counts), (here, there, used, feature, cut)))

    add(grow, held_out, np.zeros(quarter.shape[1], dtype=bool))
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
    quarter: NDArray[np.uint8], sample: PriorSample, here: NDArray[np.intp], used: NDArray[np.bool_]
) -> tuple[float, int, int] | None:
    """Score, feature and cut of the split whose better half has most labeled rows."""
    if len(here) < MIN_ROWS or used.all():
        return None
    codes = quarter[here]
    weight = sample.weight[here]
    positive = weight * sample.labeled[here]
    # Sums of both weights above each of the three cuts of each feature.
    both = np.stack([weight, positive])
    above = np.stack([both @ (codes >= cut) for cut in (1, 2, 3)])  # cut, weight, feature
    total = both.sum(axis=1)[:, None]
    halves = np.stack([above, total - above])
    if not (inner := (halves[:, :, 0] > 0).all(axis=0) & ~used).any():
        return None
    score = (halves[:, :, 1] / (halves[:, :, 0] + PSEUDO_ROWS)).max(axis=0)
    score[~inner] = -1
    cut, feature = np.unravel_index(np.argmax(score), score.shape)
    return float(score[cut, feature]), int(feature), int(cut) + 1


def best_bound(counts: Array, c: float) -> float:
    """Largest lower bound of the label frequency over the boxes; the first box has all rows."""
    n, labeled = counts[counts[:, 0] >= MIN_ROWS].T
    if len(n) == 0:
        n, labeled = counts[:1].T  # fewer rows than a box needs: use all of them
    delta = max(MIN_DELTA, 1 / (1 + 0.004 * counts[0, 0]))
    bound = labeled / n - np.sqrt(c * (1 - c) * (1 - delta) / (delta * n))
    return float(max(bound.max(), 0.0))
