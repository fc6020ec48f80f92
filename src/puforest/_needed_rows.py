"""The unlabeled rows that a fit needs: those that its trees or its evaluation may draw.

Which rows a sample draws follows from hashes of their numbers, so the rows that a fit needs are
known before any of them is read. A fit on these rows and the labeled ones is the same as on the
whole table.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from puforest import _core
from puforest._candidates import (
    EVALUATION,
    MAX_EVALUATED,
    N_FOLDS,
    N_SAMPLES,
    half_of,
    unlabeled_per_tree,
)
from puforest._training_rows import TrainingRows
from puforest.recipes import Recipe

# Rows in the fold that a tree leaves out cannot be drawn. The largest fold may have this fraction
# of the rows; if it has more, the fit is repeated with all rows that any folds would need.
LARGEST_FOLD = 0.3
LARGEST_POSSIBLE_FOLD = 0.5


@dataclass(frozen=True)
class NeededRows:
    """Samples that a fit draws from the unlabeled rows.

    Attributes
    ----------
    seed : int
        Seed of the samples.
    samples : range
        Numbers of the samples of the trees.
    fraction : float
        Fraction of the unlabeled rows that may be drawn for each of them.
    evaluated : float
        Fraction that may be drawn for the evaluation; 0 if there is none.
    """

    seed: int
    samples: range
    fraction: float
    evaluated: float = 0.0

    def mark(self, first_id: int, n_ids: int, n_threads: int = 1) -> NDArray[np.bool_]:
        """Mark which of consecutive rows may be drawn."""
        samples = [_core.SampledFraction(self.seed, s, self.fraction) for s in self.samples]
        if self.evaluated > 0:
            samples.append(_core.SampledFraction(self.seed, EVALUATION, self.evaluated))
        return _core.mark_sampled(first_id, n_ids, samples, n_threads).view(np.bool_)

    def part(self, samples: range) -> NeededRows:
        """Return some of the samples, without the evaluation."""
        return replace(self, samples=samples, evaluated=0.0)

    def only_evaluated(self) -> NeededRows:
        """Return the evaluation without the samples of trees."""
        return replace(self, samples=range(0))


def needed_by_candidates(
    recipes: Sequence[Recipe],
    *,
    n_labeled: int,
    n_unlabeled: int,
    n_trees: int,
    seed: int,
    largest_fold: float = LARGEST_FOLD,
) -> NeededRows:
    """Return the rows that a `PUForestClassifier` with up to `n_trees` trees needs."""
    n_folds = min(N_FOLDS, n_labeled, n_unlabeled)
    draws = max(unlabeled_per_tree(recipe, n_labeled, n_unlabeled, n_folds) for recipe in recipes)
    return NeededRows(
        seed,
        range(min(N_SAMPLES, 2 * half_of(n_trees, n_folds))),
        _fraction(draws, n_unlabeled, 1 - largest_fold),
        _fraction(min(MAX_EVALUATED, n_unlabeled), n_unlabeled),
    )


def needed_by_trees(n_trees: int, draws: int, *, n_unlabeled: int, seed: int) -> NeededRows:
    """Return the rows that a forest needs each of whose trees draws a number of unlabeled rows."""
    return NeededRows(seed, range(n_trees), _fraction(draws, n_unlabeled))


def _fraction(draws: int, n_unlabeled: int, available: float = 1.0) -> float:
    """Return a fraction of the rows with enough rows to draw, up to eight standard deviations."""
    return min(1.0, (draws + 8 * math.sqrt(draws) + 32) / (n_unlabeled * available))


def part_of(rows: TrainingRows, needed: NeededRows) -> TrainingRows:
    """Mark rows as those that a fit needs."""
    return replace(rows, complete=needed.fraction, complete_evaluation=needed.evaluated)
