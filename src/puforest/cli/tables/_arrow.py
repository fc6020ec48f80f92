"""pyarrow, brought when a table is read or written."""

from __future__ import annotations

import errno
import lzma
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from puforest._optional_imports import optional_import


def arrow(part: str = "") -> Any:
    """Pyarrow or a part of it, such as ``arrow("csv")``."""
    module = f"pyarrow.{part}" if part else "pyarrow"
    return optional_import(module, extra="cli", purpose="reading tables needs pyarrow")


# What those who unpack files find wrong with them; others raise an OSError without a number.
DAMAGED = (EOFError, lzma.LZMAError, zipfile.BadZipFile, zlib.error)


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Errors of pyarrow and of unpacking, with the name of the file."""
    pa = arrow()
    try:
        yield
    except MemoryError as error:
        if str(path) in str(error):
            raise
        raise MemoryError(f"{path} does not fit into memory ({error or 'no more'})") from error
    except pa.ArrowException as error:
        raise ValueError(f"{path}: {error}") from error
    except (*DAMAGED, UnicodeError, OSError) as error:
        # A wrong place to go to within a file is an invalid argument.
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
            if error.filename is not None:
                raise
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise ValueError(f"{path} is cut short or damaged: {error}") from error
