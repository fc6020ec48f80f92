"""Numbers and indicators, for methods that cannot read categories or missing values."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from puforest._encoded import EncodedTable


def numbers_and_indicators(
    table: EncodedTable, features: NDArray[np.intp], min_rows: int
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Separate the numbers of a table from its categories and missing values.

    Parameters
    ----------
    table : EncodedTable
        The table.
    features : ndarray of int
        Columns to use.
    min_rows : int
        Smallest number of rows of an indicator.

    Returns
    -------
    numbers : ndarray of shape (n_samples, n_numbers)
        Columns that are not categorical, NaN where values are missing.
    indicators : ndarray of bool of shape (n_samples, n_indicators)
        For each category, and for the missing values of each column, whether a row has it.
    """
    values: Any = table.values[:, features]
    dense: NDArray[Any] = values.toarray() if table.is_sparse else values
    is_category = np.isin(features, table.categorical)
    indicators = []
    missing = np.isnan(dense)
    for j in np.flatnonzero(is_category):
        categories, count = np.unique(dense[~missing[:, j], j], return_counts=True)
        indicators += [dense[:, j] == category for category in categories[count >= min_rows]]
    has_missing = missing.sum(axis=0) >= max(min_rows, 1)
    indicators += list(missing[:, has_missing].T)
    columns = np.array(indicators, dtype=bool).reshape(len(indicators), len(dense)).T
    return dense[:, ~is_category], columns
