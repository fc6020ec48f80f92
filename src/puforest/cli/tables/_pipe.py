"""Pipes as input: what comes out of them is kept in a temporary file while it is read."""

from __future__ import annotations

import os
import shutil
import stat
import sys
import tempfile
import weakref
from functools import partial
from pathlib import Path

from puforest._cleanup import cleanup_if_stopped

STANDARD_INPUT = Path("-")


def is_pipe(path: Path) -> bool:
    """Whether the rows come through a pipe, which can be read only once.

    Other things that are no files, such as terminals and devices, are refused.
    """
    if path != STANDARD_INPUT:
        mode = path.stat().st_mode
    elif sys.stdin is not None:
        mode = os.fstat(0).st_mode
    else:
        raise ValueError("standard input is closed: name a file in place of -")
    if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)):
        raise ValueError(f"{shown_name(path)} is neither a file nor a pipe: name a file")
    # Systems differ in whether /dev/stdin begins at the beginning each time it is opened.
    streams = path == STANDARD_INPUT or path.parent in (Path("/dev"), Path("/dev/fd"))
    return not stat.S_ISREG(mode) or streams


def shown_name(path: Path) -> Path:
    """What to call the file in messages."""
    return Path("standard input") if path == STANDARD_INPUT else path


class Spooled:
    """A temporary file with all that comes out of a pipe.

    It is removed when this object goes, or else when the program ends or is stopped.

    Attributes
    ----------
    file : Path
        The temporary file.
    size : int
        Its size in bytes.
    """

    def __init__(self, path: Path) -> None:
        descriptor, name = tempfile.mkstemp(prefix="puforest-")
        self.file = Path(name)
        remove = partial(self.file.unlink, missing_ok=True)
        stopped = cleanup_if_stopped(remove)
        stopped.begin()
        weakref.finalize(self, remove)
        weakref.finalize(self, stopped.end)
        pipe = 0 if path == STANDARD_INPUT else path
        with open(pipe, "rb", closefd=pipe != 0) as rows, os.fdopen(descriptor, "wb") as copy:
            try:
                shutil.copyfileobj(rows, copy, 2**20)
                copy.flush()
            except OSError as error:
                raise OSError(
                    f"{shown_name(path)} is a pipe, and what comes out of it cannot be kept in "
                    f"{self.file.parent}: {error.strerror}. Set TMPDIR to a folder with more room, "
                    "or name a file"
                ) from error
            self.size = copy.tell()
