"""The two weights (w_p, w_u) of each row, whose sums are the masses of a node."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from puforest._masses import GroupMasses
from puforest._sample import PUSample
from puforest._training_rows import TrainingRows

Array = NDArray[np.float64]


def training_sample(rows: TrainingRows, masses: GroupMasses) -> PUSample:
    """Return the rows, by position, as samples of the positives and of the population."""
    n = rows.n_labeled
    positive, population = np.zeros(len(rows.order)), np.zeros(len(rows.order))
    positive[:n] = _normalized(rows.positive_weight)
    population[:n] = masses.labeled_u * _normalized(rows.labeled_weight)
    population[n:] = masses.unlabeled_u * _normalized(rows.unlabeled_weight)
    labeled = np.arange(len(rows.order)) < n
    scenario = "case-control" if masses.labeled_u == 0 else "single-training-set"
    sample = PUSample(labeled, positive, population / population.sum(), scenario)
    return sample if rows.known is None else sample.with_checks(rows.known).at(masses.labeled_p)


def _normalized(weight: Array) -> Array:
    scaled = weight / weight.max()  # sums of extreme weights could overflow
    normalized: Array = scaled / scaled.sum()
    return normalized


def growth(rows: TrainingRows, masses: GroupMasses) -> tuple[TrainingRows, GroupMasses]:
    """Return rows and masses with which trees are grown, given those without checks."""
    if rows.known is None:
        return rows, masses
    sample = training_sample(rows, masses)
    # Not from sample.positive: rows that are known to be positive must have w_p = w_u exactly.
    unknown = (1 - rows.known) * (masses.labeled_p * sample.labeled_weight)
    return with_weights(rows, unknown + rows.known * sample.population, sample.population)


def with_weights(rows: TrainingRows, w_p: Array, w_u: Array) -> tuple[TrainingRows, GroupMasses]:
    """Give rows weights by position. Those found positive must have proportional w_p and w_u."""
    n = rows.n_labeled
    others = n + rows.n_confirmed

    def total(weight: Array) -> float:
        # In the order of the core, so that a tree on all rows does not rescale them.
        return float(np.cumsum(weight)[-1]) if len(weight) else 0.0

    # The core computes both masses of confirmed rows from w_u, and recognizes them by w_p > 0.
    positive = np.where(np.arange(len(w_p)) < n, w_p, 0.0)
    positive[n:others] = 1.0
    masses = GroupMasses(
        labeled_p=total(w_p[:n]),
        labeled_u=total(w_u[:n]),
        unlabeled_u=total(w_u[others:]),
        confirmed_p=total(w_p[n:others]),
        confirmed_u=total(w_u[n:others]),
    )
    return replace(rows, growth_weights=(positive, w_u)), masses
