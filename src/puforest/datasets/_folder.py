"""Where the files of published data sets are."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, TypeAlias

from puforest._optional_imports import optional_import

DataHome: TypeAlias = str | os.PathLike[str] | None

VARIABLE = "PUFOREST_DATA"


def data_folder(data_home: DataHome = None) -> Path:
    """The folder given, else the one that PUFOREST_DATA names, else a cache folder of the user."""
    if data_home is not None and not isinstance(data_home, str | os.PathLike):
        raise TypeError(f"data_home must be the path of a folder or None, got {data_home!r}")
    chosen = data_home or os.environ.get(VARIABLE)
    if chosen:
        return Path(chosen).expanduser()
    where = f"Or give data_home=, or set {VARIABLE}, to a folder that has the files."
    return Path(import_pooch(where).os_cache("puforest"))


def import_pooch(otherwise: str) -> Any:
    """Pooch, or an error that says how to get it and what to do without."""
    purpose = "downloading data sets"
    return optional_import("pooch", extra="datasets", purpose=purpose, otherwise=otherwise)
