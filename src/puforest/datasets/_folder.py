"""The folder of the data sets."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, TypeAlias

from puforest._optional_imports import optional_import

DataHome: TypeAlias = str | os.PathLike[str] | None

VARIABLE = "PUFOREST_DATA"


def data_folder(data_home: DataHome = None) -> Path:
    """Return `data_home`, the folder that PUFOREST_DATA names, or a folder in the user's cache."""
    if data_home is not None and not isinstance(data_home, str | os.PathLike):
        raise TypeError(f"data_home must be the path of a folder or None, got {data_home!r}")
    chosen = data_home or os.environ.get(VARIABLE)
    if chosen:
        return Path(chosen).expanduser()
    where = f"Or set data_home or the environment variable {VARIABLE} to a folder with the files."
    return Path(import_pooch(where).os_cache("puforest"))


def import_pooch(otherwise: str) -> Any:
    """Import pooch, or raise an error that tells how to install it or do without it."""
    purpose = "downloading data sets"
    return optional_import("pooch", extra="datasets", purpose=purpose, otherwise=otherwise)
