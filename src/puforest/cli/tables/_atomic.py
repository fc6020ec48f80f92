"""Files that are there whole or not at all, and replace others only if told to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from puforest import _atomic_write


def refuse_existing(path: Path, *, force: bool) -> None:
    """Refuse to write where something is, unless told to, and where nothing can be."""
    _atomic_write.require_place(path)
    if path.exists() and not force:
        raise FileExistsError(f"{path} exists: give --force to replace it, or another name")


@contextmanager
def atomic_write(path: Path, *, force: bool) -> Iterator[Path]:
    """Write atomically; check for an existing file before and after."""
    refuse_existing(path, force=force)
    with _atomic_write.atomic_write(path) as part:
        yield part
        refuse_existing(path, force=force)
