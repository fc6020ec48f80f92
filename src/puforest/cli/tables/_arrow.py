"""pyarrow: lazy import, decompression, and errors that name the file."""

from __future__ import annotations

import errno
import lzma
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from puforest._optional_imports import optional_import

# Errors of decompression; some codecs raise an OSError without a number instead.
DECOMPRESSION_ERRORS = (EOFError, lzma.LZMAError, zipfile.BadZipFile, zlib.error)

# Codecs by the first bytes of a file.
CODECS = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bz2",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\x04\x22\x4d\x18": "lz4",
}
XZ = b"\xfd7zXZ"


def arrow(part: str = "") -> Any:
    """Import pyarrow or a part of it, such as ``arrow("csv")``."""
    module = f"pyarrow.{part}" if part else "pyarrow"
    return optional_import(module, extra="cli", purpose="reading tables")


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Add the file name to errors of pyarrow and of decompression."""
    pa = arrow()
    try:
        yield
    except MemoryError as error:
        if str(path) in str(error):
            raise
        reason = error or "out of memory"
        raise MemoryError(f"{path} does not fit into memory ({reason})") from error
    except pa.ArrowException as error:
        raise ValueError(f"{path}: {error}") from error
    except (*DECOMPRESSION_ERRORS, UnicodeError, OSError) as error:
        # Seeking to a wrong place within a file is an invalid argument.
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
            if error.filename is not None:
                raise
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise ValueError(f"{path} is truncated or damaged: {error}") from error


@contextmanager
def decompressed(file: Path) -> Iterator[tuple[Any, Callable[[], int]]]:
    """Open a file, compressed or not; also yield a function for the position on disk."""
    pa = arrow()
    with file.open("rb") as raw:
        start = raw.read(6)
        if start.startswith(XZ):
            raw.seek(0)
            with lzma.open(raw) as stream:
                yield pa.PythonFile(stream, mode="r"), raw.tell
            return
    codec = next((name for magic, name in CODECS.items() if start.startswith(magic)), None)
    with pa.OSFile(str(file)) as stored:
        yield pa.CompressedInputStream(stored, codec) if codec else stored, stored.tell
