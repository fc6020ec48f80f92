"""MNIST: handwritten digits."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from puforest.datasets._assemble import Loaded, Part, assemble, read_parts
from puforest.datasets._fetch import PublishedFile
from puforest.datasets._folder import DataHome, data_folder
from puforest.datasets._read import naming, read_gzip, require_rows

__all__ = ["load_mnist"]

MIRRORS = (
    "https://ossci-datasets.s3.amazonaws.com/mnist/",
    "https://storage.googleapis.com/cvdf-datasets/mnist/",
)


def _file(name: str, rows: int, sha256: str) -> PublishedFile:
    publisher = "Yann LeCun, Corinna Cortes and Chris Burges, The MNIST database"
    urls = tuple(mirror + name for mirror in MIRRORS)
    return PublishedFile(f"mnist/{name}", rows, publisher, urls, sha256)


# Images and labels of each part.
FILES = {
    "train": (
        _file(
            "train-images-idx3-ubyte.gz",
            60_000,
            "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
        ),
        _file(
            "train-labels-idx1-ubyte.gz",
            60_000,
            "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
        ),
    ),
    "test": (
        _file(
            "t10k-images-idx3-ubyte.gz",
            10_000,
            "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
        ),
        _file(
            "t10k-labels-idx1-ubyte.gz",
            10_000,
            "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
        ),
    ),
}

DESCRIPTION = """\
MNIST, by Yann LeCun, Corinna Cortes and Chris Burges: 60000 training and 10000 test images of
handwritten digits, 28 x 28 pixels each. Even digits are positive. Pixels are as published, 0 to
255: the scale of a feature makes no difference to trees.
"""


def load_mnist(
    *,
    subset: str = "all",
    data_home: DataHome = None,
    download: bool = True,
    progress: bool = False,
    return_X_y: bool = False,
) -> Loaded:
    """Load MNIST: 70000 handwritten digits, 784 pixels; even digits are positive.

    Parameters
    ----------
    subset : {"train", "test", "all"}, default="all"
        The 60000 training rows, the 10000 test rows, or both, in this order.
    data_home : str, path or None, default=None
        Folder of the data sets. None uses the folder that the environment variable PUFOREST_DATA
        names or, if it is not set, a folder in the user's cache.
    download : bool, default=True
        Whether to download missing files.
    progress : bool, default=False
        Whether to report the progress of a download on standard error.
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` instead of a Bunch.

    Returns
    -------
    Bunch
        ``data`` of float32, ``target`` (1 even, 0 odd), ``original_target`` (the digits),
        ``feature_names``, ``target_names``, ``DESCR`` and ``differs``, which
        describes any differences from the paper's data.

    Examples
    --------
    >>> from puforest.datasets import load_mnist
    >>> X, y = load_mnist(subset="test", return_X_y=True)  # doctest: +SKIP
    >>> X.shape  # doctest: +SKIP
    (10000, 784)
    """
    folder = data_folder(data_home)

    def read(part: str) -> Part:
        images, labels = (
            (file, file.in_folder(folder, download=download, progress=progress))
            for file in FILES[part]
        )
        return _read_images(*images), _read_labels(*labels)

    data, digits = read_parts(subset, read)
    return assemble(
        data,
        digits % 2 == 0,
        original_target=digits,
        feature_names=[f"pixel_{row}_{column}" for row in range(28) for column in range(28)],
        target_names=["odd", "even"],
        description=DESCRIPTION,
        differs="",
        return_X_y=return_X_y,
    )


def _read_images(file: PublishedFile, path: Path) -> NDArray[np.float32]:
    with naming(path):
        images = _read_idx(path)
        if images.shape[1:] != (28, 28):
            raise ValueError(f"it has the shape {images.shape}, not images of 28 x 28 pixels")
        require_rows(len(images), file.rows)
    return images.reshape(len(images), 784).astype(np.float32)


def _read_labels(file: PublishedFile, path: Path) -> NDArray[Any]:
    with naming(path):
        labels = _read_idx(path)
        if labels.ndim != 1 or labels.max(initial=0) > 9:
            raise ValueError("it does not have one digit per row")
        require_rows(len(labels), file.rows)
    return labels.astype(np.int64)


def _read_idx(path: Path) -> NDArray[np.uint8]:
    """Read IDX format: two zeros, 8 for bytes, number of axes, their lengths, then the bytes."""
    content = read_gzip(path)
    if content[:3] != b"\x00\x00\x08" or len(content) < 4:
        raise ValueError(
            f"it begins with {content[:4].hex(' ')!r}, which is not an IDX file of bytes"
        )
    n_axes = content[3]
    start = 4 + 4 * n_axes
    if len(content) < start:
        raise ValueError("it ends within its header")
    shape = np.frombuffer(content, ">u4", n_axes, offset=4).tolist()
    if not n_axes or math.prod(shape) != len(content) - start:
        raise ValueError(f"it has {len(content) - start} bytes, not an array of shape {shape}")
    return np.frombuffer(content, np.uint8, offset=start).reshape(shape)
