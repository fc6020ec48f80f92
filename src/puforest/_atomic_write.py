"""Files that are there whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from secrets import token_hex

from puforest._cleanup import cleanup_if_stopped


def require_place(path: Path) -> None:
    """Refuse a name that nothing can be written to, before anything is computed for it."""
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder: name a file in it")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{path} cannot be written: there is no folder {path.parent}")
    require_writable(path.parent, path)


def require_writable(folder: Path, path: Path) -> None:
    """Refuse a folder that lets nobody write `path` in it."""
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(f"{path} cannot be written: no permission in folder {folder}")


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """A name to write to; what stands there takes the place of `path` when all went well.

    If anything goes wrong, an interruption included, it is removed. A killed process leaves it
    behind, under a name that says that it is a part: ``.scored.csv.part-…``. Errors of the system,
    such as a full disk, name `path`.
    """
    # Of a long name a part only, since names have at most 255 bytes.
    part = path.with_name(f".{path.name[:50]}.part-{token_hex(4)}")
    remove = partial(part.unlink, missing_ok=True)
    with cleanup_if_stopped(remove):
        try:
            yield part
            _flush(part)
            part.replace(path)
        except OSError as error:
            # Errors about another file, or of our own making, say all that there is to say.
            if error.errno is None or error.filename not in (None, part, str(part)):
                raise
            raise OSError(error.errno, error.strerror, str(path)) from error
        finally:
            remove()
    if os.name == "posix":
        # Not every file system can flush a folder; the file is in its place either way.
        with suppress(OSError):
            _flush(path.parent)


def _flush(path: Path) -> None:
    """Have the disk keep what was written, so that a power cut leaves the old file or the new."""
    # Windows flushes only what is open for writing, POSIX opens a folder only for reading.
    descriptor = os.open(path, os.O_RDONLY if os.name == "posix" else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
