"""Atomic writing of files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from secrets import token_hex

from puforest._cleanup import cleanup_if_stopped


def require_place(path: Path) -> None:
    """Raise an error if a file cannot be written, before anything is computed for it."""
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a directory: name a file in it")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{path} cannot be written: no directory {path.parent}")
    require_writable(path.parent, path)


def require_writable(directory: Path, path: Path) -> None:
    """Raise an error if `path` cannot be written for lack of permission in the directory."""
    if not os.access(directory, os.W_OK | os.X_OK):
        raise PermissionError(f"{path} cannot be written: no permission in directory {directory}")


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """Yield a temporary path, which replaces `path` on success.

    It is removed after an error or an interruption. A killed process leaves it behind, with a name
    such as ``.scored.csv.part-1f2e3d4c``. Errors of the system, such as a full disk, name `path`.
    """
    # Long names are shortened, since names have at most 255 bytes.
    part = path.with_name(f".{path.name[:50]}.part-{token_hex(4)}")
    remove = partial(part.unlink, missing_ok=True)
    with cleanup_if_stopped(remove):
        try:
            yield part
            _flush(part)
            part.replace(path)
        except OSError as error:
            # Errors about another file, or raised by us, are complete.
            if error.errno is None or error.filename not in (None, part, str(part)):
                raise
            raise OSError(error.errno, error.strerror, str(path)) from error
        finally:
            remove()
    if os.name == "posix":
        # Not every file system can flush a directory; the file is complete either way.
        with suppress(OSError):
            _flush(path.parent)


def _flush(path: Path) -> None:
    """Flush to disk, so that after a power failure there is the old file or the new one."""
    # Windows flushes only files opened for writing; POSIX opens directories only for reading.
    descriptor = os.open(path, os.O_RDONLY if os.name == "posix" else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
