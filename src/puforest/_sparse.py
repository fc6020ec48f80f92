"""Sparse matrices in the form that the core reads."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

MAX_COLUMNS = np.iinfo(np.int32).max


def canonical(X: Any) -> sp.csr_array:
    """Convert a CSR matrix to an array with sorted indices and without duplicate entries.

    X is not changed.
    """
    if X.shape[1] > MAX_COLUMNS:
        raise ValueError(
            f"X has {X.shape[1]:,} columns, more than {MAX_COLUMNS:,}: use fewer, for example with "
            "sklearn.decomposition.TruncatedSVD"
        )
    array = sp.csr_array((X.data, X.indices, X.indptr), shape=X.shape)
    if not array.has_canonical_format:
        array = array.copy()
        array.sum_duplicates()  # sorts, too
    return array
