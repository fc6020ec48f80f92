"""The mushrooms of the UCI Machine Learning Repository."""

import csv
import gzip
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from puforest.datasets._assemble import Loaded, assemble
from puforest.datasets._docs import documented

__all__ = ["load_mushrooms"]

COLUMNS = """
    cap-shape cap-surface cap-color bruises odor gill-attachment gill-spacing gill-size gill-color
    stalk-shape stalk-root stalk-surface-above-ring stalk-surface-below-ring
    stalk-color-above-ring stalk-color-below-ring veil-type veil-color ring-number ring-type
    spore-print-color population habitat
""".split()  # noqa: SIM905

DESCRIPTION = """\
Mushroom, donated by Jeff Schlimmer in 1987 to the UCI Machine Learning Repository
(https://doi.org/10.24432/C5959T), licensed under CC BY 4.0: 8124 samples of 23 species of gilled
mushrooms from the Audubon Society Field Guide (1981), 4208 of them edible. The categorical columns
except stalk-root, which has missing values, are one-hot encoded as 112 features.
"""


@documented
def load_mushrooms(*, return_X_y: bool = False) -> Loaded:
    """Load the mushrooms: 8124 rows, 112 binary features; edible mushrooms are positive.

    Parameters
    ----------
    %return_X_y%

    Returns
    -------
    Bunch
        ``data`` of float32, ``target`` (1 edible, 0 not), ``original_target`` (the letters e and
        p), ``feature_names``, ``target_names``, ``DESCR`` and ``differs``, which is empty: the data
        are the paper's.

    Examples
    --------
    >>> from puforest.datasets import load_mushrooms
    >>> load_mushrooms().data.shape
    (8124, 112)
    """
    packed = files("puforest.datasets").joinpath("agaricus-lepiota.data.gz").read_bytes()
    lines = gzip.decompress(packed).decode("ascii").splitlines()
    table: NDArray[Any] = np.array(list(csv.reader(lines)))
    columns, names = [], []
    for name, values in zip(COLUMNS, table.T[1:], strict=True):
        if name == "stalk-root":
            continue
        for category in np.unique(values):
            columns.append(values == category)
            names.append(f"{name}={category}")
    data = np.column_stack(columns).astype(np.float32)
    return assemble(
        data,
        table[:, 0] == "e",
        original_target=table[:, 0],
        feature_names=names,
        target_names=["poisonous", "edible"],
        description=DESCRIPTION,
        return_X_y=return_X_y,
    )
