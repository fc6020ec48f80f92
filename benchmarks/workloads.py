"""The data of the benchmarks: published files from a folder, and synthetic tables."""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from puforest.datasets import make_pu


@dataclass(frozen=True)
class Workload:
    """Training rows with true classes, test rows with true classes."""

    name: str
    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray

    def as_pu(self, n_labelled: int = 1000) -> tuple[np.ndarray, np.ndarray]:
        """1000 positives drawn as labelled rows, and all rows as unlabelled ones."""
        return make_pu(self.X, self.y, n_labeled=n_labelled, random_state=0)

    @property
    def prior(self) -> float:
        return float(self.y.mean())


def mnist(folder: Path) -> Workload:
    def read(name: str, offset: int) -> np.ndarray:
        raw = gzip.decompress((folder / "mnist" / name).read_bytes())
        return np.frombuffer(raw, np.uint8, offset=offset)

    def part(name: str) -> tuple[np.ndarray, np.ndarray]:
        images = read(f"{name}-images-idx3-ubyte.gz", 16).reshape(-1, 784).astype(np.float32)
        return images, (read(f"{name}-labels-idx1-ubyte.gz", 8) % 2 == 0).astype(int)

    return Workload("mnist", *part("train"), *part("t10k"))


def cifar10(folder: Path) -> Workload:
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
    with gzip.open(folder / "covtype" / "covtype.data.gz") as file:
        table = np.loadtxt(file, delimiter=",", dtype=np.float32)
    return split("covtype", table[:, :-1].copy(), (table[:, -1] == 2).astype(int))


def synthetic(n: int, d: int = 50, seed: int = 0) -> Workload:
    """Columns of mixed cardinality: binary, small counts, thousands of values, continuous."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.4).astype(int)
    X = rng.standard_normal((n, d), dtype=np.float32)
    X[:, : d // 2] += 0.3 * y[:, None]
    X[:, 0::4] = X[:, 0::4] > 0
    X[:, 1::4] = np.round(10 * X[:, 1::4])
    X[:, 2::4] = np.round(2000 * X[:, 2::4])
    return split(f"synthetic-{n}x{d}", X, y)


def load(name: str, folder: Path) -> Workload:
    if name.startswith("synthetic-"):
        n, d = name.removeprefix("synthetic-").split("x")
        return synthetic(int(n), int(d))
    return {"mnist": mnist, "cifar-10": cifar10, "covtype": covtype}[name](folder)
