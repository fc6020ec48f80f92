"""MNIST: handwritten digits."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from puforest.datasets._assemble import Loaded, Part, assemble, read_parts
from puforest.datasets._docs import documented
from puforest.datasets._fetch import PublishedFile
from puforest.datasets._folder import DataHome, data_folder
from puforest.datasets._read import naming, read_gzip, require_rows

__all__ = ["load_mnist"]

MIRRORS = (
    "https://ossci-datasets.s3.amazonaws.com/mnist/",
    "https://storage.googleapis.com/cvdf-datasets/mnist/",
)
SHA256 = {
    "train-images-idx3-ubyte": "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
    "train-labels-idx1-ubyte": "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
    "t10k-images-idx3-ubyte": "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
    "t10k-labels-idx1-ubyte": "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
}


def _file(name: str, rows: int) -> PublishedFile:
    publisher = "Yann LeCun, Corinna Cortes and Chris Burges, The MNIST database"
    urls = tuple(f"{mirror}{name}.gz" for mirror in MIRRORS)
    return PublishedFile(f"mnist/{name}.gz", rows, publisher, urls, SHA256[name])


def _images_and_labels(part: str, rows: int) -> tuple[PublishedFile, PublishedFile]:
    return _file(f"{part}-images-idx3-ubyte", rows), _file(f"{part}-labels-idx1-ubyte", rows)


FILES = {"train": _images_and_labels("train", 60_000), "test": _images_and_labels("t10k", 10_000)}

DESCRIPTION = """\
MNIST, by Yann LeCun, Corinna Cortes and Chris Burges: 60000 training and 10000 test images of
handwritten digits, 28 x 28 pixels each. Even digits are positive. Pixels are as published, 0 to
255: the scale of a feature makes no difference to trees.
"""


@documented
def load_mnist(
    *,
    subset: str = "all",
    data_home: DataHome = None,
    download: bool = True,
    progress: bool = False,
    return_X_y: bool = False,
) -> Loaded:
    """Load MNIST: 60000 training and 10000 test digits of 784 pixels; even digits are positive.

    Parameters
    ----------
    %parameters%

    Returns
    -------
    %bunch%
        ``target`` (1 even, 0 odd) and ``original_target`` (the digits).

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
