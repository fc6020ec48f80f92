"""Files that are there whole or not at all, and replace others only if told to."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from puforest import _files


def refuse_existing(path: Path, *, force: bool) -> None:
    """Refuse to write where something is, unless told to, and where nothing can be."""
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder: name a file in it")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{path} cannot be written: there is no folder {path.parent}")
    require_writable(path.parent, path)
    if path.exists() and not force:
        raise FileExistsError(f"{path} exists: give --force to replace it, or another name")


def require_writable(folder: Path, path: Path) -> None:
    """Refuse a folder that lets nobody write `path` in it, before anything is computed for it."""
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(f"{path} cannot be written: no permission in folder {folder}")


@contextmanager
def written_whole(path: Path, *, force: bool) -> Iterator[Path]:
    """A name to write to, as that of `puforest._files`; looks twice for a file to be replaced."""
    refuse_existing(path, force=force)
    with _files.written_whole(path) as part:
        yield part
        refuse_existing(path, force=force)
