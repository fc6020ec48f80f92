"""The data of the benchmarks: published files from a folder, and synthetic tables."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits

from puforest.datasets import load_mushrooms, make_pu

PUBLISHED = ("mnist", "cifar-10", "covtype")
CHUNK = 50_000


@dataclass(frozen=True)
class Workload:
    """Training rows with true classes, test rows with true classes."""

    name: str
    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray

    @property
    def prior(self) -> float:
        return float(self.y.mean())

    @property
    def n_labelled(self) -> int:
        """1000, the number of the paper, but no more than a twentieth of the rows."""
        return min(1000, len(self.y) // 20)

    def task(self, task: str) -> tuple[np.ndarray, np.ndarray]:
        """Rows and classes for "pn"; positives drawn as labelled and all rows again for "pu"."""
        if task == "pn":
            return self.X, self.y
        return make_pu(self.X, self.y, n_labeled=self.n_labelled, random_state=0)


def mnist(folder: Path) -> Workload:
    """Even digits are positive."""

    def read(name: str, offset: int) -> np.ndarray:
        raw = gzip.decompress((folder / "mnist" / name).read_bytes())
        return np.frombuffer(raw, np.uint8, offset=offset)

    def part(name: str) -> tuple[np.ndarray, np.ndarray]:
        images = read(f"{name}-images-idx3-ubyte.gz", 16).reshape(-1, 784).astype(np.float32)
        return images, (read(f"{name}-labels-idx1-ubyte.gz", 8) % 2 == 0).astype(int)

    return Workload("mnist", *part("train"), *part("t10k"))


def cifar10(folder: Path) -> Workload:
    """Vehicles are positive."""

    def part(*names: str) -> tuple[np.ndarray, np.ndarray]:
        files = [folder / "cifar-10" / "cifar-10-batches-bin" / name for name in names]
        rows = np.concatenate([np.fromfile(f, np.uint8).reshape(-1, 3073) for f in files])
        return rows[:, 1:].astype(np.float32), np.isin(rows[:, 0], [0, 1, 8, 9]).astype(int)

    train = [f"data_batch_{i}.bin" for i in range(1, 6)]
    return Workload("cifar-10", *part(*train), *part("test_batch.bin"))


def split(name: str, X: np.ndarray, y: np.ndarray) -> Workload:
    """A random fifth of the rows for testing."""
    test = np.random.default_rng(0).permutation(len(X)) < len(X) // 5
    return Workload(name, X[~test], y[~test], X[test], y[test])


def covtype(folder: Path) -> Workload:
    """The most frequent of seven forest types is positive."""
    with gzip.open(folder / "covtype" / "covtype.data.gz") as file:
        table = np.loadtxt(file, delimiter=",", dtype=np.float32)
    return split("covtype", table[:, :-1].copy(), (table[:, -1] == 2).astype(int))


def synthetic_chunks(n: int, d: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Columns of mixed cardinality: binary, small counts, thousands of values, continuous.

    The first rows of a larger table are the rows of a smaller one, up to whole chunks.
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
    """A synthetic table written to a .npy file chunk by chunk; its classes."""
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


def unsw_nb15(folder: Path) -> Workload:
    """Attacks are positive. Only the official testing set: a fifth of it for testing."""
    path = folder / "unsw-nb15" / "UNSW_NB15_testing-set.csv"
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    left_out = {"id", "proto", "service", "state", "attack_cat", "label"}
    names = [name for name in rows[0] if name not in left_out]
    X = np.array([[row[name] for name in names] for row in rows], dtype=np.float32)
    return split("unsw-nb15", X, np.array([int(row["label"]) for row in rows]))


def newsgroups(folder: Path) -> Workload:
    """Groups of alt, comp, misc and rec are positive. Averaged GloVe vectors of 100 numbers."""
    data = np.load(folder / "20news" / "20news_glove_100.npz")
    first = [str(name).partition(".")[0] for name in data["target_names"]]
    positive = np.isin(first, ["alt", "comp", "misc", "rec"]).astype(int)
    parts = [(data[f"X_{part}"], positive[data[f"y_{part}"]]) for part in ("train", "test")]
    return Workload("20news", *parts[0], *parts[1])


def mushrooms() -> Workload:
    """Edible ones are positive."""
    return split("mushrooms", *load_mushrooms(return_X_y=True))


def digits() -> Workload:
    """Even digits are positive."""
    X, y = load_digits(return_X_y=True)
    return split("digits", X, (y % 2 == 0).astype(int))


def breast_cancer() -> Workload:
    """Malignant tumours are positive."""
    X, y = load_breast_cancer(return_X_y=True)
    return split("breast-cancer", X, 1 - y)


EMBEDDED = {"mushrooms": mushrooms, "digits": digits, "breast-cancer": breast_cancer}
IN_FOLDER = {
    "mnist": mnist,
    "cifar-10": cifar10,
    "covtype": covtype,
    "unsw-nb15": unsw_nb15,
    "20news": newsgroups,
}


def load(name: str, folder: Path | None) -> Workload:
    if name.startswith("synthetic-"):
        n, d = name.removeprefix("synthetic-").split("x")
        return synthetic(int(n), int(d))
    if name in EMBEDDED:
        return EMBEDDED[name]()
    if folder is None:
        raise SystemExit(f"{name} is read from the folder that --data names")
    return IN_FOLDER[name](folder)
