"""Arrays with column names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class NamedTable:
    """A NumPy array with column names, for `fit` and `predict` of the estimators of puforest.

    It takes the place of a data frame where many columns or a copy would be expensive: building
    an Arrow table of 60,000 columns and checking it takes scikit-learn 1.0 s of CPU.

    Parameters
    ----------
    values : ndarray of shape (n_samples, n_features)
        The array.
    columns : sequence of str
        Column names.
    """

    values: NDArray[Any]
    columns: Sequence[str]

    def __len__(self) -> int:
        return len(self.values)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and columns."""
        n, d = self.values.shape
        return n, d

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.values, dtype) if copy else np.asarray(self.values, dtype)
