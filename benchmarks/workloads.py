"""Data of the benchmarks: published data sets and synthetic tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits

from puforest import datasets
from puforest.datasets import DATASETS, make_pu

PUBLISHED = ("mnist", "cifar-10", "covtype")
CHUNK = 50_000


@dataclass(frozen=True)
class Workload:
    """Training and test rows with their true classes."""

    name: str
    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray

    @property
    def prior(self) -> float:
        return float(self.y.mean())

    @property
    def n_labeled(self) -> int:
        """1000 as in the paper, but at most a twentieth of the rows."""
        return min(1000, len(self.y) // 20)

    def task(self, task: str) -> tuple[np.ndarray, np.ndarray]:
        """True classes for "pn"; labeled positives followed by all rows, unlabeled, for "pu"."""
        if task == "pn":
            return self.X, self.y
        return make_pu(self.X, self.y, n_labeled=self.n_labeled, random_state=0)


def split(name: str, X: np.ndarray, y: np.ndarray) -> Workload:
    """Use a random fifth of the rows for testing."""
    test = np.random.default_rng(0).permutation(len(X)) < len(X) // 5
    return Workload(name, X[~test], y[~test], X[test], y[test])


def synthetic_chunks(n: int, d: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Generate columns of mixed cardinality: binary, counts, thousands of values, continuous.

    Up to complete chunks, a smaller table consists of the first rows of a larger one.
    """
    rng = np.random.default_rng(0)
    for start in range(0, n, CHUNK):
        size = min(CHUNK, n - start)
        y = (rng.random(size) < 0.4).astype(int)
        X = rng.standard_normal((size, d), dtype=np.float32)
        X[:, : d // 2] += 0.5 * y[:, None]
        X[:, 0::4] = X[:, 0::4] > 0
        X[:, 1::4] = np.round(10 * X[:, 1::4])
        X[:, 2::4] = np.round(2000 * X[:, 2::4])
        yield X, y


def synthetic_file(path: Path, n: int, d: int) -> np.ndarray:
    """Write a synthetic table to a .npy file in chunks; returns its classes."""
    table = np.lib.format.open_memmap(path, "w+", np.float32, (n, d))
    classes = []
    for X, y in synthetic_chunks(n, d):
        start = sum(map(len, classes))
        table[start : start + len(y)] = X
        classes.append(y)
    table.flush()
    return np.concatenate(classes)


def synthetic(n: int, d: int) -> Workload:
    rows, classes = zip(*synthetic_chunks(n, d), strict=True)
    return split(f"synthetic-{n}x{d}", np.concatenate(rows), np.concatenate(classes))


def digits() -> Workload:
    """Digits; even ones are positive."""
    X, y = load_digits(return_X_y=True)
    return split("digits", X, (y % 2 == 0).astype(int))


def breast_cancer() -> Workload:
    """Breast cancer; malignant tumors are positive."""
    X, y = load_breast_cancer(return_X_y=True)
    return split("breast-cancer", X, 1 - y)


FROM_SCIKIT_LEARN = {"digits": digits, "breast-cancer": breast_cancer}
EMBEDDED = ("mushrooms", *FROM_SCIKIT_LEARN)
IN_FOLDER = ("mnist", "cifar-10", "covtype", "unsw-nb15", "20news")


def published(name: str, folder: Path | None) -> Workload:
    """Load a data set of the paper, with its official split if it has one."""

    def rows(subset: str) -> tuple[np.ndarray, np.ndarray]:
        return datasets.load(name, subset=subset, data_home=folder, download=False, return_X_y=True)

    if DATASETS[name].has_subsets:
        return Workload(name, *rows("train"), *rows("test"))
    return split(name, *rows("all"))


def load(name: str, folder: Path | None) -> Workload:
    if name.startswith("synthetic-"):
        n, d = name.removeprefix("synthetic-").split("x")
        return synthetic(int(n), int(d))
    if name in FROM_SCIKIT_LEARN:
        return FROM_SCIKIT_LEARN[name]()
    if name in IN_FOLDER and folder is None:
        raise SystemExit(f"{name} requires --data, the folder with the published data sets")
    return published(name, folder)
