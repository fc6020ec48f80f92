"""Trees that leave out a fold of the rows, against the naive forest."""

from dataclasses import replace

import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from test_oracle import assert_same_tree, draw_case, draw_kinds, inputs, reference_tree

from puforest import _core
from puforest._training import grow


def draw_folds(rng, n, n_folds):
    """Draw the fold of each row; the first four rows, of both groups, are in two folds."""
    fold = rng.integers(0, n_folds, n).astype(np.uint8)
    fold[:4] = [0, 1, 0, 1]
    return fold


def twice(*arrays):
    return (None if a is None else np.repeat(a, 2, axis=0) for a in arrays)


@pytest.mark.parametrize("thresholds", ["random", "optimal"])
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=60)
def test_the_same_trees_and_held_out_means_as_the_oracle(thresholds, seed):
    X, labeled, weight, propensity, params = draw_case(seed, exact=True)
    X, labeled, weight, propensity = twice(X, labeled, weight, propensity)
    rng = np.random.default_rng(seed)
    n_folds = int(rng.integers(2, 6))
    n_trees = int(rng.integers(1, 2 * n_folds))
    fold = draw_folds(rng, len(X), n_folds)
    draws = {
        "replace": bool(rng.random() < 0.4),
        "labeled": int(rng.integers(1, 1 + labeled.sum())),
        "unlabeled": int(rng.integers(1, 1 + (~labeled).sum())),
    }
    if rng.random() < 0.3:  # all rows of the other folds
        draws |= {"labeled": len(X), "unlabeled": len(X)}
    categorical, monotone = draw_kinds(rng, X, labeled)
    kinds = {"categorical": categorical, "monotone": monotone, "thresholds": thresholds}
    table, rows, native = inputs(X, labeled, weight, propensity, params, seed=seed, **kinds)
    rows = replace(rows, fold=fold[rows.order])
    native.n_trees = n_trees
    native.sampling = _core.Sampling(together=False, n_folds=n_folds, **draws)
    forest = grow(table, rows, native)
    for t in range(n_trees):
        key = oracle.tree_key(seed, t)
        drawn = oracle.draw_outside_fold(
            key, t, rows.order, rows.fold, n_folds, rows.n_labeled, **draws
        )
        assert (rows.fold[drawn] != t % n_folds).all()
        tree = reference_tree(
            X, labeled, weight, propensity, params, key, rows=rows.order[drawn], **kinds
        )
        assert_same_tree(forest.tree(t), tree)
    values = [forest.tree(t).predictor("soft", X.dtype).mean(X, 1) for t in range(n_trees)]
    held_out = forest.predictor("soft", X.dtype).mean_held_out(X, rows.native(), native)
    assert_array_equal(held_out, oracle.held_out_mean(values, fold, n_folds))


N, LABELED = 30, 12
FOLD = (np.arange(N) % 3).astype(np.uint8)


def train_with(fold, sampling):
    X = np.random.default_rng(0).random((N, 2))
    rows = _core.TrainingRows(np.arange(N, dtype=np.uint32), LABELED, fold=fold)
    params = _core.TrainParams()
    params.masses = _core.GroupMasses(0.3, 0.0, 1.0)
    params.sampling = sampling
    _core.train(X, rows, params)


def group_in_one_fold(group):
    fold = FOLD.copy()
    fold[group] = 1
    return fold


@pytest.mark.parametrize(
    ("fold", "n_folds", "message"),
    [
        (None, 3, "one value per row"),
        (FOLD[:-1], 3, "one value per row"),
        (FOLD, 2, "not below n_folds"),
        (FOLD * 0, 1, "a fold has all labeled or all unlabeled rows"),
        (group_in_one_fold(slice(None, LABELED)), 3, "a fold has all labeled"),
        (group_in_one_fold(slice(LABELED, None)), 3, "a fold has all labeled"),
    ],
)
def test_invalid_folds_are_rejected(fold, n_folds, message):
    with pytest.raises(ValueError, match=message):
        train_with(fold, _core.Sampling(False, False, 5, 5, n_folds))


def test_sampling_together_excludes_folds():
    with pytest.raises(ValueError, match="sampled by group"):
        train_with(FOLD, _core.Sampling(True, True, 5, 5, 3))


def test_folds_are_bytes():
    """Other integers are not converted, since they could wrap around."""
    with pytest.raises(TypeError):
        train_with(FOLD.astype(np.int64), _core.Sampling(False, False, 5, 5, 3))


def test_folds_without_their_number_are_ignored():
    train_with(group_in_one_fold(slice(None)) + 200, _core.Sampling(False, False, 5, 5))
