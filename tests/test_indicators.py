"""Numbers and indicators in place of categories and missing values."""

import numpy as np
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from puforest._encoded import EncodedTable
from puforest._indicators import numbers_and_indicators
from puforest.prior.kernel_mean import standardized
from puforest.prior.tice import quarters

NAN = np.nan
VALUES = np.array([[0, 1.5], [1, NAN], [0, 3], [NAN, 2], [2, 0.5]])
TABLE = EncodedTable(VALUES, (0,))


def test_numbers_and_indicators():
    numbers, indicators = numbers_and_indicators(TABLE, np.arange(2), 1)
    assert_array_equal(numbers, VALUES[:, [1]])
    expected = [
        [1, 0, 0, 0, 0],
        [0, 1, 0, 0, 1],
        [1, 0, 0, 0, 0],
        [0, 0, 0, 1, 0],
        [0, 0, 1, 0, 0],
    ]
    assert_array_equal(indicators, np.array(expected, dtype=bool))


def test_rare_categories_have_no_indicators():
    _, indicators = numbers_and_indicators(TABLE, np.arange(2), 2)
    assert_array_equal(indicators[:, 0], VALUES[:, 0] == 0)
    assert indicators.shape == (5, 1)


def test_columns_are_chosen():
    numbers, indicators = numbers_and_indicators(TABLE, np.array([0]), 1)
    assert numbers.shape == (5, 0)
    assert indicators.shape == (5, 4)
    numbers, indicators = numbers_and_indicators(TABLE[[0, 2]], np.array([1]), 1)
    assert_array_equal(numbers, [[1.5], [3]])
    assert indicators.shape == (2, 0)


def test_sparse_tables():
    sparse = EncodedTable(sp.csr_array(np.nan_to_num(VALUES)))
    numbers, _ = numbers_and_indicators(sparse, np.array([1]), 1)
    assert_array_equal(numbers, np.nan_to_num(VALUES[:, [1]]))


def test_standardized_features_of_kernel_means():
    X = standardized(TABLE)
    assert X.shape == (5, 6)
    assert_allclose(X[[0, 2, 3, 4], 0].mean(), 0, atol=1e-12)
    assert X[1, 0] == 0
    wide = np.zeros((5, 1000))
    wide[:, 7] = VALUES[:, 1]
    dense, sparse = (standardized(EncodedTable(X)) for X in (wide, sp.csr_array(wide)))
    assert sparse.shape == (5, 2)
    assert_allclose(dense[:, [7, -1]], sparse)


def test_quarters_of_missing_values():
    assert quarters(np.array([[0.0], [NAN], [1.0], [0.3]])).ravel().tolist() == [0, 0, 3, 1]
    assert quarters(np.full((3, 1), NAN)).ravel().tolist() == [0, 0, 0]
