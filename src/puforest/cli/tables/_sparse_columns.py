"""Reading the features of LIBSVM files as a sparse matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from puforest._named_table import NamedTable
from puforest.cli.tables._arrow import arrow
from puforest.cli.tables._features import Features
from puforest.cli.tables._libsvm import LibsvmSource


class SparseColumns:
    """Columns of a LIBSVM file, all of which are features.

    Parameters
    ----------
    source : LibsvmSource
        The file.
    names : list of str
        The columns, in ascending order.
    """

    def __init__(self, source: LibsvmSource, names: list[str]) -> None:
        self._source = source
        self._names = names
        self._parts: list[csr_array] = []

    def read(self, label: str) -> list[Any]:
        """Read all rows, and return the batches of the label column."""
        labels = []
        for part, y in self._source.sparse_batches(self._names):
            self._parts.append(part)
            labels.append(arrow().array(y))
        return labels

    def features(self) -> Features:
        """Return the features."""
        X = vstack(self._parts, format="csr")
        self._source.missing.clear(X.data)

        def counts(cells: NDArray[np.bool_]) -> dict[str, int]:
            places, times = np.unique(X.indices[cells], return_counts=True)
            return {self._names[i]: int(n) for i, n in zip(places, times, strict=True)}

        return Features(
            NamedTable(X, self._names),
            self._names,
            missing=counts(np.isnan(X.data)),
            infinite=counts(np.isinf(X.data)),
        )
