"""Arrays of NumPy: X, y where there are labels, feature_names where there are names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from puforest.cli.tables._arrow import arrow
from puforest.cli.tables._names import Names, Numbered, shown
from puforest.cli.tables._npy import REAL, TEXT, Archive
from puforest.cli.tables._numbers import Numbers
from puforest.cli.tables._source import Rows, Source, batch_of

FEATURES, LABEL, NAMES = "X", "y", "feature_names"

MOST_COLUMNS = 2**31 - 1


class NpzSource(Source):
    """Columns of X, and y as one more of that name."""

    _y: NDArray[Any] | None = None

    def __init__(self, path: Path, file: Path) -> None:
        self.path = path
        self._archive = Archive(path, file)
        there = self._archive.names
        if FEATURES not in there:
            raise ValueError(
                f"{path} has no array X: save it by numpy.savez(path, X=X, y=y), and with "
                f"{NAMES} if there are any"
            )
        others = [name for name in there if name not in (FEATURES, LABEL, NAMES)]
        self.kind = f"NPZ, without its arrays {shown(others)}" if others else "NPZ"
        with self._archive.opened(FEATURES, REAL) as X:
            if len(X.shape) != 2:
                raise ValueError(f"{path}: X must have rows and columns, got the shape {X.shape}")
            if X.shape[1] > MOST_COLUMNS:
                raise ValueError(f"{path}: X must have fewer columns than {X.shape[1]:,}")
            self.n_rows, self._n_columns = X.shape
            self._dtype = X.dtype.newbyteorder("=")
            self.item_size = 4 if np.can_cast(self._dtype, np.float32) else 8
        labels = []
        if LABEL in there:
            self.label = LABEL
            self._y = self._vector(LABEL, self.n_rows, "rows")
            labels.append(LABEL)
        if NAMES in there:
            given = self._vector(NAMES, self._n_columns, "columns")
            self.names = Names([*labels, *map(str, given.tolist())])
        else:
            self.names = Numbered(labels, "x", range(self._n_columns))

    def _vector(self, name: str, n: int, what: str) -> NDArray[Any]:
        """Labels or names, one for each row or column of X."""
        with self._archive.opened(name, REAL + TEXT) as array:
            if array.shape != (n,):
                raise ValueError(
                    f"{self.path}: {name} has the shape {array.shape}, but X has {n:,} {what}"
                )
            values = array.read(n)
        return np.char.decode(values, "utf-8", "replace") if values.dtype.kind == "S" else values

    def _blocks(self, n_rows: int) -> Iterator[NDArray[Any]]:
        with self._archive.opened(FEATURES, REAL) as X:
            n, width = X.shape
            if X.fortran:
                # Column after column: rows are there only when all is.
                whole = X.read(n * width).reshape(width, n).T
                for start in range(0, n, n_rows):
                    yield whole[start : start + n_rows]
                return
            for start in range(0, n, n_rows):
                count = min(n_rows, n - start)
                yield X.read(count * width).reshape(count, width)

    def batches(self, numbers: Sequence[str], others: Sequence[str], n_rows: int) -> Iterator[Rows]:
        pa = arrow()
        first = len(self.names) - self._n_columns
        places = np.array([self.names.place(name) - first for name in numbers], np.intp)
        stored = {self._dtype_of(name) for name in numbers}
        dtype = np.float32 if all(np.can_cast(d, np.float32) for d in stored) else np.float64
        is_label = places < 0
        done = 0
        for block in self._blocks(n_rows):
            y = None if self._y is None else self._y[done : done + len(block)]
            X = block[:, places].astype(dtype, copy=False)
            if is_label.any():
                X[:, is_label] = np.asarray(y)[:, np.newaxis]
            kept = [
                y if name == self.label else block[:, self.names.place(name) - first]
                for name in others
            ]
            yield Rows(Numbers(X, {}), batch_of([pa.array(column) for column in kept], others))
            done += len(block)
            self.progress = done / max(1, self.n_rows or 0)

    def unreadable(self, columns: Sequence[str]) -> dict[str, str]:
        text = self._y is not None and self._y.dtype.kind in TEXT and self.label in columns
        return {LABEL: "text"} if text else {}

    def types(self, numbers: Sequence[str], others: Sequence[str]) -> list[Any]:
        return [arrow().array(np.zeros(0, self._dtype_of(name))).type for name in others]

    def _dtype_of(self, name: str) -> np.dtype[Any]:
        return self._dtype if name != self.label or self._y is None else self._y.dtype
