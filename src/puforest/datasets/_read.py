"""Strict readers, which raise a ValueError naming any file that is not as published."""

from __future__ import annotations

import gzip
import io
import lzma
import math
import re
import struct
import sys
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

# More than the uncompressed size of any file read here: the largest has 75 MB.
LIMIT = 2**28

# Headers as NumPy writes them for numbers and strings. Its own reader would evaluate any Python
# literal, and allocate the array that the header describes before reading its cells.
HEADER = re.compile(
    rb"\{'descr': '([<>|](?:f[248]|[iu][1248]|U[1-9][0-9]{0,3}))', "
    rb"'fortran_order': (False|True), 'shape': \(([0-9, ]{0,40})\), \} *\n"
)

# Exceptions that the standard library and NumPy raise on damaged content.
DAMAGE = (
    ValueError,
    EOFError,
    KeyError,
    OverflowError,
    RuntimeError,
    lzma.LZMAError,
    struct.error,
    zipfile.BadZipFile,
    zlib.error,
)


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Turn errors about the content of a file into ValueErrors that name it."""
    try:
        yield
    except DAMAGE as error:
        raise ValueError(f"{path} is damaged, or not the published file: {error}") from error
    except OSError as error:
        # Errors of the operating system have a number; those of gzip and bzip2 do not.
        if error.errno is not None:
            raise
        raise ValueError(f"{path} is damaged, or not the published file: {error}") from error


def require_rows(found: int, expected: int) -> None:
    """Reject a truncated file, or another version of it."""
    if found != expected:
        raise ValueError(f"it has {found} rows instead of {expected}")


def read_all(file: IO[bytes] | gzip.GzipFile) -> bytes:
    """Read a file, uncompressed, up to a limit that stops decompression bombs."""
    chunks, size = [], 0
    while chunk := file.read(2**20):
        chunks.append(chunk)
        size += len(chunk)
        if size > LIMIT:
            raise ValueError(f"it has more than {LIMIT >> 20} MiB")
    return b"".join(chunks)


def read_gzip(path: Path) -> bytes:
    """Read the uncompressed content of a gzip file."""
    with gzip.open(path) as file:
        return read_all(file)


def numeric_table(
    lines: Sequence[str], n_columns: int, columns: Sequence[int], *, first_line: int = 1
) -> NDArray[np.float32]:
    """Read numeric columns of comma-separated lines with the same number of cells each."""
    if not lines:
        raise ValueError("it has no rows")
    for number, line in enumerate(lines, first_line):
        cells = line.count(",") + 1
        if cells != n_columns:
            raise ValueError(f"line {number} has {cells} cells instead of {n_columns}")
    table: NDArray[np.float32] = np.loadtxt(
        lines, delimiter=",", dtype=np.float32, comments=None, usecols=columns, ndmin=2
    )
    finite = np.isfinite(table).all(axis=1)
    if not finite.all():
        number = int(np.argmin(finite)) + first_line
        raise ValueError(f"line {number} has a value that is not finite")
    return table


def npz_arrays(path: Path, names: Sequence[str]) -> list[NDArray[Any]]:
    """Read arrays of a .npz file, without pickles and within the size limit."""
    with path.open("rb") as file:
        content = read_all(file)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return [_npy_array(archive, name) for name in names]


def _npy_array(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    """Read NumPy's format: magic number and version, length of the header, header, cells."""
    with archive.open(f"{name}.npy") as member:
        content = read_all(member)
    start = 10 + int.from_bytes(content[8:10], "little")
    header = HEADER.fullmatch(content[10:start])
    if content[:8] != b"\x93NUMPY\x01\x00" or header is None:
        raise ValueError(f"{name} is not an array of numbers or strings: {content[:99]!r}")
    dtype = np.dtype(header[1].decode())
    shape = [int(n) for n in header[3].replace(b",", b" ").split()]
    left = len(content) - start
    if math.prod(shape) * dtype.itemsize != left:
        raise ValueError(f"{name} has {left} bytes, which is not an array of shape {shape}")
    cells = np.frombuffer(content, dtype, offset=start)
    if dtype.kind == "U":
        letters = np.frombuffer(content, dtype.byteorder + "u4", offset=start)
        if letters.max(initial=0) > sys.maxunicode:  # NumPy would fail with a SystemError
            raise ValueError(f"{name} has an invalid character")
    return cells.reshape(shape, order="F" if header[2] == b"True" else "C")
