"""Distribution of out-of-bag scores, from which thresholds and probabilities are derived."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from puforest._masses import GroupMasses
from puforest._row_weights import training_sample
from puforest._sample import PUSample
from puforest._training_rows import TrainingRows

Array = NDArray[np.float64]

# More distinct scores are put into bins, half of them quantiles of the positives and half of the
# population, so that thresholds are exact to one in a thousand of either.
MAX_POINTS = 2000


@dataclass(frozen=True, eq=False)
class ScoreCurve:
    """Fractions of the positives and of the population by score.

    Attributes
    ----------
    score : ndarray
        Ascending scores; those in between count as the next larger one.
    positive, population : ndarray
        Fraction of the positives and of the population at each score. Each sums to 1.
    """

    score: Array
    positive: Array
    population: Array

    def __post_init__(self) -> None:
        for array in (self.score, self.positive, self.population):
            array.flags.writeable = False

    def __len__(self) -> int:
        return len(self.score)

    def above(self) -> tuple[Array, Array]:
        """Return the fractions of the positives and of the population above each score."""
        return _above(self.positive), _above(self.population)

    def middles(self) -> Array:
        """Return thresholds halfway from each score to the next; the last is the last score."""
        return np.append((self.score[:-1] + self.score[1:]) / 2, self.score[-1])

    def with_shifted_prior(self, probability: Array, old: float, new: float) -> ScoreCurve:
        """Return the curve of data in which only the class prior differs.

        `probability` is that of the positive class at each score under the prior `old`.
        """
        ratio = probability * new / old + (1 - probability) * (1 - new) / (1 - old)
        population = self.population * ratio
        return ScoreCurve(self.score, self.positive, population / population.sum())

    def sample(self) -> PUSample:
        """Return the scores as rows of a sample, weighted by their fractions."""
        return PUSample(self.positive > 0, self.positive, self.population, "case-control")


def _above(fraction: Array) -> Array:
    above: Array = np.maximum(0, 1 - np.cumsum(fraction))
    above[-1] = 0
    return above


def score_curve(scores: Array, rows: TrainingRows, masses: GroupMasses) -> ScoreCurve | None:
    """Compute the curve from the scores of rows by position, nan for rows without one.

    The rows of a group that have a score represent the whole group. None if there are none.
    """
    scored = np.flatnonzero(np.isfinite(scores))
    rows = rows.at(scored)
    if not (rows.n_labeled and rows.n_unlabeled):
        return None
    sample = training_sample(rows, masses)
    return _binned(scores[scored], sample.positive, sample.population)


def _binned(scores: Array, positive: Array, population: Array) -> ScoreCurve:
    distinct, place = np.unique(scores, return_inverse=True)
    p, u = (np.bincount(place, weights=w, minlength=len(distinct)) for w in (positive, population))
    if len(distinct) > MAX_POINTS:
        at = np.arange(1, MAX_POINTS // 2) / (MAX_POINTS // 2)
        last = len(distinct) - 1
        ends = np.concatenate([np.searchsorted(np.cumsum(w), at) for w in (p, u)])
        ends = np.unique(np.append(np.minimum(ends, last), last))
        starts = np.append(0, ends[:-1] + 1)
        distinct, p, u = distinct[ends], np.add.reduceat(p, starts), np.add.reduceat(u, starts)
    return ScoreCurve(distinct, p / p.sum(), u / u.sum())
