"""CIFAR-10: small color photographs."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from puforest.datasets._assemble import Loaded, Part, assemble, read_parts
from puforest.datasets._docs import documented
from puforest.datasets._fetch import PublishedFile
from puforest.datasets._folder import DataHome, data_folder
from puforest.datasets._read import naming, read_all, require_rows

__all__ = ["load_cifar10"]

CLASSES = (
    "airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck",
)  # fmt: skip
VEHICLES = ("airplane", "automobile", "ship", "truck")
N_PIXELS = 3 * 32 * 32


def _file(name: str) -> PublishedFile:
    return PublishedFile(
        path=f"cifar-10/cifar-10-batches-bin/{name}",
        rows=10_000,
        publisher="Alex Krizhevsky, The CIFAR-10 dataset, binary version",
        urls=("https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",),
        sha256="c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd",
        member=f"cifar-10-batches-bin/{name}",
    )


FILES = {
    "train": [_file(f"data_batch_{i}.bin") for i in range(1, 6)],
    "test": [_file("test_batch.bin")],
}

DESCRIPTION = """\
CIFAR-10, by Alex Krizhevsky, Vinod Nair and Geoffrey Hinton: 50000 training and 10000 test
photographs of ten classes, 32 x 32 pixels of three colors each. Vehicles (airplane, automobile,
ship, truck) are positive, animals (bird, cat, deer, dog, frog, horse) negative. Pixels are as
published, 0 to 255: the scale of a feature makes no difference to trees.
"""


@documented
def load_cifar10(
    *,
    subset: str = "all",
    data_home: DataHome = None,
    download: bool = True,
    progress: bool = False,
    return_X_y: bool = False,
) -> Loaded:
    """Load CIFAR-10: 50000 training and 10000 test photographs, 3072 pixels; vehicles are positive.

    Parameters
    ----------
    %subset, data_home, download%
        Their archive is kept.
    %progress, return_X_y%

    Returns
    -------
    %bunch%
        ``target`` (1 vehicle, 0 animal) and ``original_target`` (names of the ten classes).

    Examples
    --------
    >>> from puforest.datasets import load_cifar10
    >>> X, y = load_cifar10(subset="test", return_X_y=True)  # doctest: +SKIP
    >>> X.shape  # doctest: +SKIP
    (10000, 3072)
    """
    folder = data_folder(data_home)

    def read(part: str) -> Part:
        batches = []
        for file in FILES[part]:
            path = file.in_folder(folder, download=download, progress=progress)
            batches.append(_read_batch(path, file.rows))
        rows = np.concatenate(batches)
        return rows[:, 1:].astype(np.float32), np.array(CLASSES)[rows[:, 0]]

    data, names = read_parts(subset, read)
    return assemble(
        data,
        np.isin(names, VEHICLES),
        original_target=names,
        feature_names=[
            f"{color}_{row}_{column}"
            for color in ("red", "green", "blue")
            for row in range(32)
            for column in range(32)
        ],
        target_names=["animal", "vehicle"],
        description=DESCRIPTION,
        return_X_y=return_X_y,
    )


def _read_batch(path: Path, rows: int) -> np.ndarray[tuple[int, int], np.dtype[np.uint8]]:
    """Read rows with the class, 0 to 9, followed by the red, green and blue planes."""
    with naming(path), path.open("rb") as file:
        content = np.frombuffer(read_all(file), np.uint8)
        whole, rest = divmod(len(content), 1 + N_PIXELS)
        if rest:
            raise ValueError(f"its last row has {rest} bytes instead of {1 + N_PIXELS}")
        require_rows(whole, rows)
        table = content.reshape(rows, 1 + N_PIXELS)
        highest = int(table[:, 0].max())
        if highest >= len(CLASSES):
            raise ValueError(f"it has the class {highest}, but the classes are 0 to 9")
    return table
