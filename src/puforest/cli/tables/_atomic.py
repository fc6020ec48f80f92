"""Files that are there whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def refuse_existing(path: Path, *, force: bool) -> None:
    """Refuse to write where something is, unless told to, and where nothing can be."""
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder: name a file in it")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{path} cannot be written: there is no folder {path.parent}")
    if path.exists() and not force:
        raise FileExistsError(f"{path} exists: give --force to replace it, or another name")


@contextmanager
def written_whole(path: Path, *, force: bool) -> Iterator[Path]:
    """A name to write to; what stands there takes the place of `path` when all went well.

    If anything goes wrong, an interruption included, it is removed. A killed process leaves it
    behind, under a name that says that it is a part: ``.scored.csv.part-…``.
    """
    refuse_existing(path, force=force)
    part = path.with_name(f".{path.name}.part-{secrets.token_hex(4)}")
    try:
        yield part
        _flush(part)
        refuse_existing(path, force=force)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    if os.name == "posix":
        _flush(path.parent)


def _flush(path: Path) -> None:
    """Have the disk keep what was written, so that a power cut leaves the old file or the new."""
    # Windows flushes only what is open for writing, POSIX opens a folder only for reading.
    descriptor = os.open(path, os.O_RDONLY if os.name == "posix" else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
