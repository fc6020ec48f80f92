"""Origin of the rows of a report: the file, and a fingerprint of the data."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

import numpy as np

from puforest._encoded import EncodedTable
from puforest.report._rows import LabeledRows


def source_part(
    data_file: str | os.PathLike[str] | None, X: EncodedTable | None, rows: LabeledRows | None
) -> dict[str, Any] | None:
    """Describe the origin of the rows; None if there are none.

    The fingerprint is the SHA-256 of the file, or without one that of the values and labels.
    """
    if data_file is not None:
        file = Path(data_file)
        with file.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
        return {"name": file.name, "sha256": digest, "of": "file"}
    if X is None:
        return None
    return {"name": None, "sha256": values_digest(X, rows), "of": "values"}


def values_digest(X: EncodedTable, rows: LabeledRows | None) -> str:
    """Hash the values that the model sees, and the labels."""
    digest = hashlib.sha256(repr((X.shape, X.dtype.str, X.categorical)).encode())
    values = X.values
    arrays = [values]
    if not isinstance(values, np.ndarray):
        places = (values.indices, values.indptr)
        arrays = [values.data, *(array.astype(np.int64) for array in places)]
    if rows is not None:
        arrays.append(rows.sample.labeled)
    for array in arrays:
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()
