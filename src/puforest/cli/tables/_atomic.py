"""Files that are there whole or not at all, and replace others only if told to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from puforest import _files


def refuse_existing(path: Path, *, force: bool) -> None:
    """Refuse to write where something is, unless told to, and where nothing can be."""
    _files.require_place(path)
    if path.exists() and not force:
        raise FileExistsError(f"{path} exists: give --force to replace it, or another name")


@contextmanager
def written_whole(path: Path, *, force: bool) -> Iterator[Path]:
    """A name to write to, as that of `puforest._files`; looks twice for a file to be replaced."""
    refuse_existing(path, force=force)
    with _files.written_whole(path) as part:
        yield part
        refuse_existing(path, force=force)
