"""NPZ archives: the arrays X, y (labels) and feature_names, each checked before it is read."""

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

from puforest._matrix import smallest_float
from puforest.cli.tables._arrow import DECOMPRESSION_ERRORS, arrow, naming
from puforest.cli.tables._kinds import CATEGORY, ColumnType
from puforest.cli.tables._names import Names, Numbered, name_list
from puforest.cli.tables._numbers import Numbers
from puforest.cli.tables._source import Batch, Source, batch_of

FEATURES, LABEL, NAMES = "X", "y", "feature_names"

MOST_COLUMNS = 2**31 - 1

# Kinds of NumPy types: real numbers and text.
REAL = "biuf"
TEXT = "SU"

SUFFIX = ".npy"


@dataclass(frozen=True)
class StoredArray:
    """An array in the archive, as described by its header."""

    name: str
    shape: tuple[int, ...]
    fortran: bool
    dtype: np.dtype[Any]
    file: IO[bytes]  # at the first value

    @property
    def is_supported(self) -> bool:
        """True if values are numbers of at most 64 bits, or text."""
        size = self.dtype.itemsize
        return size <= 8 if self.dtype.kind in REAL else self.dtype.kind in TEXT and size > 0

    def read(self, count: int) -> NDArray[Any]:
        """Read the next values, in native byte order."""
        raw = self.file.read(count * self.dtype.itemsize)
        if len(raw) != count * self.dtype.itemsize:
            raise EOFError(f"{self.name} has fewer values than its header says")
        values = np.frombuffer(raw, self.dtype)
        return values.astype(self.dtype.newbyteorder("="), copy=False)


class Archive:
    """Named arrays in a file.

    Parameters
    ----------
    path : Path
        The file, as named in messages.
    file : Path
        The file to read.
    """

    def __init__(self, path: Path, file: Path) -> None:
        self._path = path
        self._file = file
        with self._zip() as archive:
            members = archive.namelist()
        self.names = [name.removesuffix(SUFFIX) for name in members if name.endswith(SUFFIX)]

    @contextmanager
    def _zip(self) -> Iterator[zipfile.ZipFile]:
        try:
            with naming(self._path), zipfile.ZipFile(self._file) as archive:
                yield archive
        except RuntimeError as error:  # encrypted, or a compression that Python does not know
            raise ValueError(f"{self._path}: {error}. Save it with numpy.savez") from error

    @contextmanager
    def opened(self, name: str, kinds: str) -> Iterator[StoredArray]:
        """Open an array of the given kinds of types."""
        with self._zip() as archive, archive.open(name + SUFFIX) as file:
            array = StoredArray(name, *self._header(name, file), file)
            if array.dtype.kind not in kinds or not array.is_supported:
                wanted, kind = ("real numbers", "float") if kinds == REAL else ("text", "str")
                raise ValueError(
                    f"{self._path}: {name} must hold {wanted}, but its type is {array.dtype}: save "
                    f"it as {name}={name}.astype({kind})"
                )
            declared = math.prod(array.shape) * array.dtype.itemsize
            found = archive.getinfo(name + SUFFIX).file_size - file.tell()
            if min(array.shape, default=0) < 0 or declared != found:
                raise ValueError(
                    f"{self._path} is damaged: {name} has the shape {array.shape} and the type "
                    f"{array.dtype}, but {found:,} bytes of values"
                )
            yield array

    def _header(self, name: str, file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
        """Read the shape, whether the order is Fortran's, and the type."""
        npy = np.lib.format
        try:
            version = npy.read_magic(file)
            if version not in ((1, 0), (2, 0), (3, 0)):
                raise ValueError(f"version {version} of the format is not supported")
            read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
            shape, fortran, dtype = read(file)
        except (*DECOMPRESSION_ERRORS, OSError):
            raise
        except Exception as error:  # a Python literal, which can fail in many ways
            raise ValueError(f"{self._path}: {name} is not an array: {str(error)[:100]}") from error
        return shape, fortran, dtype


class NpzSource(Source):
    """The columns of X, and y as one more column of that name."""

    is_matrix = True
    _y: NDArray[Any] | None = None

    def __init__(self, path: Path, file: Path) -> None:
        self.path = path
        self._archive = Archive(path, file)
        stored = self._archive.names
        if FEATURES not in stored:
            raise ValueError(
                f"{path} has no array X: save it with numpy.savez(path, X=X, y=y), and optionally "
                f"{NAMES}"
            )
        others = [name for name in stored if name not in (FEATURES, LABEL, NAMES)]
        self.kind = f"NPZ; arrays not used: {name_list(others)}" if others else "NPZ"
        with self._archive.opened(FEATURES, REAL) as X:
            if len(X.shape) != 2:
                raise ValueError(f"{path}: X must be a 2D array, got the shape {X.shape}")
            if X.shape[1] > MOST_COLUMNS:
                raise ValueError(
                    f"{path}: X must have at most {MOST_COLUMNS:,} columns, got {X.shape[1]:,}"
                )
            self.n_rows, self._n_columns = X.shape
            self._dtype = X.dtype.newbyteorder("=")
            self.item_size = smallest_float(self._dtype).itemsize
        labels = []
        if LABEL in stored:
            self.label = LABEL
            self._y = self._vector(LABEL, self.n_rows, "rows")
            labels.append(LABEL)
        if NAMES in stored:
            given = self._vector(NAMES, self._n_columns, "columns")
            self.names = Names([*labels, *map(str, given.tolist())])
        else:
            self.names = Numbered(labels, "x", range(self._n_columns))

    def _vector(self, name: str, n: int, what: str) -> NDArray[Any]:
        """Read labels or names, one for each row or column of X."""
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
                # Stored by column: no row is complete before all values are read.
                whole = X.read(n * width).reshape(width, n).T
                for start in range(0, n, n_rows):
                    yield whole[start : start + n_rows]
                return
            for start in range(0, n, n_rows):
                count = min(n_rows, n - start)
                yield X.read(count * width).reshape(count, width)

    def batches(
        self, numbers: Sequence[str], others: Sequence[str], n_rows: int
    ) -> Iterator[Batch]:
        pa = arrow()
        first = len(self.names) - self._n_columns
        places = np.array([self.names.place(name) - first for name in numbers], np.intp)
        dtype = smallest_float(*{self._dtype_of(name) for name in numbers})
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
            self.missing.clear(X)
            yield Batch(Numbers(X, {}), batch_of([pa.array(column) for column in kept], others))
            done += len(block)
            self.progress = done / max(1, self.n_rows or 0)

    def column_types(self, columns: Sequence[str]) -> dict[str, ColumnType]:
        is_text = self._y is not None and self._y.dtype.kind in TEXT and self.label in columns
        return {LABEL: ColumnType(CATEGORY, "text")} if is_text else {}

    def types(self, numbers: Sequence[str], others: Sequence[str]) -> list[Any]:
        return [arrow().array(np.zeros(0, self._dtype_of(name))).type for name in others]

    def _dtype_of(self, name: str) -> np.dtype[Any]:
        return self._dtype if name != self.label or self._y is None else self._y.dtype
