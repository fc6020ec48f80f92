"""Scores of new rows that are comparable with the out-of-bag scores of the training rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from puforest import _core
from puforest import _validation as check
from puforest._candidates import N_FOLDS, VOTING
from puforest._encoded import EncodedTable
from puforest._fit_record import FitRecord
from puforest._score_curve import ScoreCurve
from puforest._unwrap import Unwrapped

Array = NDArray[np.float64]

MIN_ROWS = 20


def out_of_bag_curve(found: Unwrapped, purpose: str) -> ScoreCurve:
    """Return the distribution of the out-of-bag scores of a model; an error if it has none."""
    curve: ScoreCurve | None = found.trees._record.curve
    if curve is None:
        raise ValueError(
            f"model: {type(found.trees).__name__} has no out-of-bag scores, which {purpose} needs: "
            "fit a PUForestClassifier, or a forest with oob_score=True"
        )
    return curve


def population_size(record: FitRecord) -> float:
    """Return the effective number of training rows that represent the population."""
    masses = record.masses
    of_labeled = masses.labeled_u**2 / record.n_labeled
    return 1 / (of_labeled + masses.unlabeled_u**2 / record.n_unlabeled)


def votes_like_out_of_bag(
    found: Unwrapped, table: EncodedTable, rng: np.random.RandomState
) -> Array:
    """Return the mean vote for each new row of trees drawn like those that leave a row out.

    An out-of-bag score is a mean over fewer trees than a prediction, and therefore varies more.
    Scored by as many trees, new rows from the same population have the same distribution. Rows
    that are left out by no tree are dropped.
    """
    trees, record, n = found.trees, found.trees._record, len(table)
    if n < MIN_ROWS:
        raise ValueError(f"X: {n} rows are too few to compare, at least {MIN_ROWS} are needed")
    order = rng.permutation(n).astype(np.uint32)
    params = _core.TrainParams()
    params.n_trees, params.n_threads = trees._forest.n_trees, trees._n_threads()
    params.seed = int(rng.randint(np.iinfo(np.int32).max))
    # Both groups are sampled like unlabeled rows.
    groups = (n // 2, n - n // 2)
    fold = None
    if trees.voting == VOTING:
        n_folds = min(N_FOLDS, record.n_labeled, record.n_unlabeled)
        fold = (np.arange(n) % n_folds).astype(np.uint8)
        params.sampling = _core.Sampling(False, False, *groups, n_folds)
    else:
        most = record.parameters["max_unlabeled"]
        drawn = check.number_of("max_unlabeled", most, record.n_unlabeled, "unlabeled rows")
        sizes = (max(1, round(size * drawn / record.n_unlabeled)) for size in groups)
        params.sampling = _core.Sampling(record.parameters["bootstrap"], False, *sizes)
    predictor = trees._forest.predictor(trees._leaf_values(), table.dtype)
    rows = _core.TrainingRows(order, groups[0], fold=fold)
    votes: Array = predictor.mean_held_out(table.native(), rows, params)
    return votes[np.isfinite(votes)]
