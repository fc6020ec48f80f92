"""Arrays of NumPy: X, y where there are labels, feature_names where there are names."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from puforest.cli.tables._arrow import DAMAGED, arrow, naming
from puforest.cli.tables._names import Names, Numbered
from puforest.cli.tables._numbers import Numbers
from puforest.cli.tables._source import Rows, Source, batch_of

LABEL = "y"
NAMES = "feature_names"

# Kinds of NumPy types that are numbers, and kinds of text.
REAL = "biuf"
TEXT = "SU"

MOST_COLUMNS = 2**31 - 1


@dataclass(frozen=True)
class _Array:
    """An array in the archive, as its header tells."""

    name: str
    shape: tuple[int, ...]
    fortran: bool
    dtype: np.dtype[Any]
    file: IO[bytes]  # where its values begin

    @property
    def is_plain(self) -> bool:
        """Whether values are numbers of at most 64 bits, or text."""
        size = self.dtype.itemsize
        return size <= 8 if self.dtype.kind in REAL else self.dtype.kind in TEXT and size > 0

    def read(self, count: int) -> NDArray[Any]:
        """The next values, in the byte order of this machine."""
        raw = self.file.read(count * self.dtype.itemsize)
        if len(raw) != count * self.dtype.itemsize:
            raise EOFError(f"{self.name} has fewer values than it should")
        values = np.frombuffer(raw, self.dtype)
        return values.astype(self.dtype.newbyteorder("="), copy=False)


class NpzSource(Source):
    """Columns of X, and y as one more of that name."""

    kind = "NPZ"
    _y: NDArray[Any] | None = None

    def __init__(self, path: Path, file: Path) -> None:
        self.path = path
        self._file = file
        with naming(path), zipfile.ZipFile(file) as archive:
            there = {name[:-4] for name in archive.namelist() if name.endswith(".npy")}
        if "X" not in there:
            raise ValueError(
                f"{path} has no array X: save it by numpy.savez(path, X=X, y=y), and with "
                f"{NAMES} if there are any"
            )
        with self._opened("X", REAL) as X:
            if len(X.shape) != 2 or X.shape[1] > MOST_COLUMNS:
                raise ValueError(
                    f"{path}: X must have rows and columns, at most {MOST_COLUMNS:,}, got the "
                    f"shape {X.shape}"
                )
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

    @contextmanager
    def _opened(self, name: str, kinds: str) -> Iterator[_Array]:
        """An array of these kinds of types, or an error where it is anything else."""
        with naming(self.path), zipfile.ZipFile(self._file) as archive:
            info = archive.getinfo(f"{name}.npy")
            try:
                file = archive.open(info)
            except RuntimeError as error:  # encrypted, or packed in a way that Python cannot undo
                raise ValueError(f"{self.path}: {error}: save it by numpy.savez") from error
            with file:
                array = _Array(name, *self._header(name, file), file)
                if array.dtype.kind not in kinds or not array.is_plain:
                    wanted = "real numbers" if kinds == REAL else "numbers or text"
                    raise ValueError(
                        f"{self.path}: {name} must hold {wanted}, but its type is {array.dtype}: "
                        "save it with another type, for example X=X.astype(float)"
                    )
                declared = math.prod(array.shape) * array.dtype.itemsize
                found = info.file_size - file.tell()
                if min(array.shape, default=0) < 0 or declared != found:
                    raise ValueError(
                        f"{self.path} is damaged: {name} has the shape {array.shape} and the type "
                        f"{array.dtype}, but {found:,} bytes of values"
                    )
                yield array

    def _header(self, name: str, file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
        """Shape, whether columns come one after the other, and type."""
        npy = np.lib.format
        try:
            version = npy.read_magic(file)
            read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
            shape, fortran, dtype = read(file)
        except (*DAMAGED, OSError):
            raise
        except Exception as error:  # a literal of Python, which fails in as many ways as Python
            raise ValueError(f"{self.path}: {name} is no array: {str(error)[:100]}") from error
        return shape, fortran, dtype

    def _vector(self, name: str, n: int, what: str) -> NDArray[Any]:
        """Labels or names, one for each row or column of X."""
        with self._opened(name, REAL + TEXT) as array:
            if array.shape != (n,):
                raise ValueError(
                    f"{self.path}: {name} has the shape {array.shape}, but X has {n:,} {what}"
                )
            values = array.read(n)
        return np.char.decode(values, "utf-8", "replace") if values.dtype.kind == "S" else values

    def _blocks(self, n_rows: int) -> Iterator[NDArray[Any]]:
        with self._opened("X", REAL) as X:
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
