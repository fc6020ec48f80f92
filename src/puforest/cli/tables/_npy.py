"""An archive of NumPy's arrays, each checked before it is read."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from puforest.cli.tables._arrow import DAMAGED, naming

# Kinds of NumPy types that are numbers, and kinds of text.
REAL = "biuf"
TEXT = "SU"

SUFFIX = ".npy"


@dataclass(frozen=True)
class StoredArray:
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


class Archive:
    """Arrays in a file, by name.

    Parameters
    ----------
    path : Path
        The file, as messages call it.
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
        except RuntimeError as error:  # encrypted, or packed in a way that Python cannot undo
            raise ValueError(f"{self._path}: {error}. Save it by numpy.savez") from error

    @contextmanager
    def opened(self, name: str, kinds: str) -> Iterator[StoredArray]:
        """An array of these kinds of types, or an error where it is anything else."""
        with self._zip() as archive, archive.open(name + SUFFIX) as file:
            array = StoredArray(name, *self._header(name, file), file)
            if array.dtype.kind not in kinds or not array.is_plain:
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
        """Shape, whether columns come one after the other, and type."""
        npy = np.lib.format
        try:
            version = npy.read_magic(file)
            if version not in ((1, 0), (2, 0), (3, 0)):
                raise ValueError(f"version {version} of the format is not known")
            read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
            shape, fortran, dtype = read(file)
        except (*DAMAGED, OSError):
            raise
        except Exception as error:  # a literal of Python, which fails in as many ways as Python
            raise ValueError(f"{self._path}: {name} is no array: {str(error)[:100]}") from error
        return shape, fortran, dtype
