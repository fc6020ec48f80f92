"""Digest of labels and rows, by which the training rows of a model are recognized."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from puforest._encoded import EncodedTable
from puforest._training_rows import TrainingRows

# All labels are digested, but only some rows, evenly spaced, so that it takes no time.
MOST_ROWS = 1000
MOST_VALUES = 2**20

DIGITS = 64  # hexadecimal ones of SHA-256


class RowDigest:
    """Digest of a table that is added batch by batch; it does not depend on the batches.

    Parameters
    ----------
    n_rows, n_features : int
        Size of the table.
    """

    def __init__(self, n_rows: int, n_features: int) -> None:
        n_digested = max(1, min(n_rows, MOST_ROWS, MOST_VALUES // max(1, n_features)))
        self._rows = np.unique(np.linspace(0, n_rows - 1, n_digested).round().astype(np.intp))
        self._n_seen = 0
        self._hash = hashlib.sha256(f"{n_rows} {n_features}".encode())

    def take(self, n: int) -> NDArray[np.intp]:
        """Return the rows among the next `n` to pass to `add`, as positions among them."""
        first, self._n_seen = self._n_seen, self._n_seen + n
        low, high = np.searchsorted(self._rows, [first, self._n_seen])
        return self._rows[low:high] - first

    def add(self, table: EncodedTable) -> None:
        """Add rows."""
        values: Any = table.values
        if table.is_sparse:
            values = values.toarray()
        # Equal numbers have equal bytes: there is one zero, and one missing value.
        numbers = np.asarray(values, dtype="<f8") + 0.0
        numbers[np.isnan(numbers)] = np.nan
        self._hash.update(np.ascontiguousarray(numbers).tobytes())

    def text(self, labeled: NDArray[Any]) -> str:
        """Return the digest of the rows and of the labels of all rows."""
        digest = self._hash.copy()
        digest.update(np.packbits(np.asarray(labeled, dtype=bool)).tobytes())
        return digest.hexdigest()


def digest_of_table(table: EncodedTable, labeled: NDArray[Any]) -> str:
    """Digest all rows at once."""
    digest = RowDigest(*table.shape)
    digest.add(table[digest.take(len(table))])
    return digest.text(labeled)


def digest_of_fit(table: EncodedTable, rows: TrainingRows) -> str:
    """Digest the rows of a fit; rows of weight 0 count as unlabeled."""
    labeled = np.zeros(len(table), dtype=bool)
    labeled[rows.order[: rows.n_labeled]] = True
    return digest_of_table(table, labeled)
