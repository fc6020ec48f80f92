"""Tables encoded as numbers, as the core reads them."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from puforest import _core


class EncodedTable:
    """A table encoded as a matrix of numbers.

    NaN is a missing value. Categorical columns contain category numbers, which count from 0.

    Parameters
    ----------
    values : ndarray or csr_array of shape (n_samples, n_features)
        The numbers, of type float32 or float64. Sparse arrays are in canonical format.
    categorical : tuple of int, default=()
        Categorical columns.
    """

    __slots__ = ("categorical", "values")

    def __init__(
        self, values: NDArray[Any] | sp.csr_array, categorical: tuple[int, ...] = ()
    ) -> None:
        self.values = values
        self.categorical = categorical

    def __len__(self) -> int:
        return int(self.values.shape[0])

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and columns."""
        n, d = self.values.shape
        return int(n), int(d)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the numbers."""
        dtype: np.dtype[Any] = self.values.dtype
        return dtype

    @property
    def is_sparse(self) -> bool:
        """True if the matrix is sparse."""
        return not isinstance(self.values, np.ndarray)

    def n_categories(self, j: int) -> int:
        """Return the number of categories of a categorical column of a dense table."""
        column = self.values[:, j]
        return int(np.max(column, initial=-1, where=~np.isnan(column))) + 1

    def __getitem__(self, rows: Any) -> EncodedTable:
        """Return the given rows: a slice, or an array of indices or booleans."""
        return EncodedTable(self.values[rows], self.categorical)

    def native(self) -> Any:
        """Return the matrix as the core takes it: an array, or a sparse matrix of its own type."""
        values = self.values
        if isinstance(values, np.ndarray):
            return values
        matrix = _core.SparseMatrix32 if values.dtype == np.float32 else _core.SparseMatrix64
        return matrix(
            np.ascontiguousarray(values.data),
            values.indices.astype(np.int32, copy=False),
            values.indptr.astype(np.int64, copy=False),
            values.shape[1],
        )
