"""Epsilon, from the Pascal Large Scale Learning Challenge."""

from __future__ import annotations

import bz2
import io
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import IO

import numpy as np
from sklearn.datasets import load_svmlight_file

from puforest import _validation as check
from puforest.datasets._assemble import Loaded, Part, assemble, read_parts
from puforest.datasets._docs import documented
from puforest.datasets._fetch import PublishedFile
from puforest.datasets._folder import DataHome, data_folder
from puforest.datasets._read import naming, require_rows

__all__ = ["load_epsilon"]

N_FEATURES = 2000
PUBLISHER = "LIBSVM Data, binary classification, epsilon"
ADDRESS = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary/"

# Rows read at a time; their text and sparse form take about 600 MB.
BLOCK = 10_000
LONGEST_LINE = 2**18


def _file(name: str, rows: int, sha256: str) -> PublishedFile:
    return PublishedFile(f"epsilon/{name}", rows, PUBLISHER, (ADDRESS + name,), sha256)


def _sample(part: str) -> PublishedFile:
    publisher = f"{PUBLISHER}: the first 100 lines of its {part} file"
    return PublishedFile(f"epsilon/epsilon_sample_{part}", 100, publisher)


FILES = {
    "train": _file(
        "epsilon_normalized.bz2",
        400_000,
        "aff916d4f97f18d286558ca088d2a9f7e1fcee9376539a5aa6ef5b7ef9dfa978",
    ),
    "test": _file(
        "epsilon_normalized.t.bz2",
        100_000,
        "cb299295ad11e200696eaa3050f5d8cf700eaa9c65e6aa859bda959f8669458b",
    ),
}
SAMPLE_FILES = {part: _sample(part) for part in ("train", "test")}

DESCRIPTION = """\
Epsilon, from the Pascal Large Scale Learning Challenge 2008, from LIBSVM Data: 400000 training and
100000 test rows of 2000 features, each row of norm 1. Class 1 is positive.
"""
SAMPLE_DIFFERS = (
    "these are only the first 100 training and 100 test rows of 400000 and 100000: too few to "
    "train on."
)


@documented
def load_epsilon(
    *,
    subset: str = "all",
    sample: bool = False,
    data_home: DataHome = None,
    download: bool = True,
    progress: bool = False,
    return_X_y: bool = False,
) -> Loaded:
    """Load Epsilon: 400000 training and 100000 test rows, 2000 features; takes 4 GB as float32.

    Parameters
    ----------
    %subset%
    sample : bool, default=False
        Whether to read the small files ``epsilon_sample_train`` and ``epsilon_sample_test``, with
        the first 100 rows of each part, instead.
    %data_home, download%
        They take several gigabytes. The samples cannot be downloaded.
    %progress, return_X_y%

    Returns
    -------
    %bunch%
        ``target`` (1 or 0) and ``original_target`` (1 or -1).

    Examples
    --------
    >>> from puforest.datasets import load_epsilon
    >>> X, y = load_epsilon(subset="test", return_X_y=True)  # doctest: +SKIP
    >>> X.shape  # doctest: +SKIP
    (100000, 2000)
    """
    files = SAMPLE_FILES if check.boolean("sample", sample) else FILES
    folder = data_folder(data_home)

    def read(part: str) -> Part:
        path = files[part].in_folder(folder, download=download, progress=progress)
        return _read_libsvm(path, files[part].rows)

    data, classes = read_parts(subset, read)
    return assemble(
        data,
        classes == 1,
        original_target=classes,
        feature_names=[f"feature_{i}" for i in range(1, N_FEATURES + 1)],
        target_names=["-1", "1"],
        description=DESCRIPTION,
        differs=SAMPLE_DIFFERS if sample else "",
        return_X_y=return_X_y,
    )


def _read_libsvm(path: Path, rows: int) -> Part:
    """Read a dense table and its classes from LIBSVM format, plain or compressed with bzip2."""
    blocks, classes = [], []
    with naming(path), bz2.open(path) if path.suffix == ".bz2" else path.open("rb") as file:
        # One row more than expected, so that extra rows are noticed before they fill the memory.
        lines = islice(_lines(file), rows + 1)
        while block := b"".join(islice(lines, BLOCK)):
            X, y = load_svmlight_file(
                io.BytesIO(block), n_features=N_FEATURES, dtype=np.float32, zero_based=False
            )
            if not np.isin(y, (-1, 1)).all():
                raise ValueError("it has classes other than 1 and -1")
            if not np.isfinite(X.data).all():
                raise ValueError("it has a value that is not finite")
            blocks.append(X.toarray())
            classes.append(y.astype(np.int64))
        require_rows(sum(map(len, classes)), rows)
    return np.concatenate(blocks), np.concatenate(classes)


def _lines(file: IO[bytes] | bz2.BZ2File) -> Iterator[bytes]:
    while line := file.readline(LONGEST_LINE):
        if not line.endswith(b"\n"):
            raise ValueError(
                f"it ends within a line, or has a line of more than {LONGEST_LINE} bytes"
            )
        yield line
