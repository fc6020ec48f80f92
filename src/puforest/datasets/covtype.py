"""Covertype: forest cover from maps."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from puforest import _validation as check
from puforest.datasets._assemble import Loaded, assemble
from puforest.datasets._docs import documented
from puforest.datasets._fetch import PublishedFile
from puforest.datasets._folder import DataHome, data_folder
from puforest.datasets._read import naming, numeric_table, read_gzip, require_rows

__all__ = ["load_covtype"]

NUMERIC = """
    Elevation Aspect Slope Horizontal_Distance_To_Hydrology Vertical_Distance_To_Hydrology
    Horizontal_Distance_To_Roadways Hillshade_9am Hillshade_Noon Hillshade_3pm
    Horizontal_Distance_To_Fire_Points
""".split()  # noqa: SIM905
COLUMNS = [
    *NUMERIC,
    *(f"Wilderness_Area_{i}" for i in range(4)),
    *(f"Soil_Type_{i}" for i in range(40)),
]

FILE = PublishedFile(
    path="covtype/covtype.data.gz",
    rows=581_012,
    publisher="the UCI Machine Learning Repository, Covertype",
    # scikit-learn's copy, and the repository itself.
    urls=(
        "https://ndownloader.figshare.com/files/5976039",
        "https://archive.ics.uci.edu/ml/machine-learning-databases/covtype/covtype.data.gz",
    ),
    sha256="614360d0257557dd1792834a85a1cdebfadc3c4f30b011d56afee7ffb5b15771",
)

DESCRIPTION = """\
Covertype, donated by Jock A. Blackard in 1998 to the UCI Machine Learning Repository
(https://doi.org/10.24432/C50K5N): 581012 patches of forest in Colorado, 30 x 30 meters each, with
54 features from maps. The most frequent of seven types of cover, lodgepole pine (class 2), is
one class, 283301 rows, and the six others together are the other class, 297711 rows. Features are
as published, not scaled.
"""
POSITIVE = ("lodgepole pine", "other")


@documented
def load_covtype(
    *,
    positive: str = POSITIVE[0],
    data_home: DataHome = None,
    download: bool = True,
    progress: bool = False,
    return_X_y: bool = False,
) -> Loaded:
    """Load Covertype: 581012 rows, 54 features; the most frequent of seven types is positive.

    There is no official split; ``puforest.datasets.load("covtype", subset="train")`` makes one.

    Parameters
    ----------
    positive : {"lodgepole pine", "other"}, default="lodgepole pine"
        The positive class: the most frequent cover type, or all others together. The paper uses
        the others, the larger of the two classes (its prior is .51, and predicting all test rows
        as negative has an accuracy of 48.7%).
    %data_home, download, progress, return_X_y%

    Returns
    -------
    %bunch%
        ``target`` (1 positive, 0 not) and ``original_target`` (classes 1 to 7).

    Examples
    --------
    >>> from puforest.datasets import load_covtype
    >>> X, y = load_covtype(return_X_y=True)  # doctest: +SKIP
    >>> X.shape  # doctest: +SKIP
    (581012, 54)
    """
    check.one_of("positive", positive, POSITIVE)
    path = FILE.in_folder(data_folder(data_home), download=download, progress=progress)
    table = _read_covtype(path, FILE.rows)
    classes = table[:, -1].astype(np.int64)
    return assemble(
        table[:, :-1].copy(),
        (classes == 2) == (positive == POSITIVE[0]),
        original_target=classes,
        feature_names=COLUMNS,
        target_names=[name for name in POSITIVE if name != positive] + [positive],
        description=DESCRIPTION,
        return_X_y=return_X_y,
    )


def _read_covtype(path: Path, rows: int) -> NDArray[np.float32]:
    """Read the features of each row, followed by its class."""
    n_columns = len(COLUMNS) + 1
    with naming(path):
        lines = read_gzip(path).decode("ascii").removesuffix("\n").split("\n")
        table = numeric_table(lines, n_columns, range(n_columns))
        require_rows(len(table), rows)
        if not np.isin(table[:, -1], range(1, 8)).all():
            raise ValueError("it has classes other than the integers 1 to 7")
    return table
