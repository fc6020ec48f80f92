"""Folds in which duplicates stay together."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from puforest._duplicate_rows import row_contents
from puforest._encoded import EncodedTable
from puforest._fold_table import fold_table


def folds(X, labeled, n_folds, known=None):
    """Folds of all rows, if some of them are known."""
    contents, ids = row_contents(EncodedTable(X)), np.arange(len(X), dtype=np.uint64)
    known = np.full(len(X), True) if known is None else known
    strata = [(contents[part], ids[part]) for part in (known & labeled, known & ~labeled)]
    return fold_table(strata, n_folds, 1).of(contents, ids)


@pytest.mark.parametrize("n_folds", [2, 5])
def test_duplicate_rows_share_a_fold(n_folds):
    """Rows 0 to 19 are labeled, 10 to 19 repeat 0 to 9, and 40 to 59 repeat 0 to 19."""
    X = np.arange(60.0)[:, None]
    X[10:20] = X[:10]
    X[40:] = X[:20]
    labeled = np.arange(60) < 20
    fold = folds(X, labeled, n_folds)
    assert_array_equal(fold[40:], fold[:20])
    assert_array_equal(fold[10:20], fold[:10])
    assert len(np.unique(fold[labeled])) == n_folds


def test_identical_rows_are_split():
    labeled = np.arange(60) < 20
    fold = folds(np.zeros((60, 1)), labeled, 5)
    assert_array_equal(np.bincount(fold[labeled]), [4] * 5)
    assert_array_equal(np.bincount(fold[~labeled]), [8] * 5)


def test_duplicate_rows_are_split_if_folds_would_be_uneven():
    X = np.repeat(np.arange(4.0), 5)[:, None]
    labeled = np.arange(20) % 2 == 0
    fold = folds(X, labeled, 5)
    for part in (labeled, ~labeled):
        assert_array_equal(np.bincount(fold[part]), [2] * 5)


def test_distinct_rows_are_divided_evenly():
    labeled = np.arange(100) < 35
    fold = folds(np.random.default_rng(0).random((100, 2)), labeled, 5)
    assert_array_equal(np.bincount(fold[labeled]), [7] * 5)
    assert_array_equal(np.bincount(fold[~labeled]), [13] * 5)


def test_unknown_rows_follow_their_duplicates_or_are_hashed():
    X = np.random.default_rng(0).random((5000, 2))
    X[4000:4050] = X[:50]  # copies of labeled rows
    X[4950:] = X[2000:2050]  # copies of unlabeled rows that are not known
    labeled, known = np.arange(5000) < 50, np.arange(5000) < 1000
    fold = folds(X, labeled, 5, known)
    assert_array_equal(fold[4000:4050], fold[:50])
    assert_array_equal(fold[4950:], fold[2000:2050])
    assert abs(np.bincount(fold[1000:]) - 800).max() < 120
    # The fold of a row does not depend on other unknown rows.
    part = known | (np.arange(5000) % 3 == 0)
    contents, ids = row_contents(EncodedTable(X)), np.arange(5000, dtype=np.uint64)
    strata = [(contents[k], ids[k]) for k in (known & labeled, known & ~labeled)]
    assert_array_equal(fold_table(strata, 5, 1).of(contents[part], ids[part]), fold[part])


def test_folds_do_not_depend_on_the_scale_of_features():
    X = np.random.default_rng(0).integers(0, 4, (200, 3)).astype(float)
    labeled = np.arange(200) < 60
    assert_array_equal(folds(X, labeled, 5), folds(3 * X + 1, labeled, 5))
