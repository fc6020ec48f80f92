"""Packages that only some functions need: imported when used, and named with their extra."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def optional_import(module: str, *, extra: str, purpose: str, otherwise: str = "") -> Any:
    """The module, or an error that says what brings it, and what to do without.

    Examples
    --------
    >>> from puforest._optional_imports import optional_import
    >>> optional_import("no_such_package", extra="plot", purpose="pictures need it")
    Traceback (most recent call last):
    ...
    ImportError: pictures need it: pip install 'puforest[plot]' brings no_such_package
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] != module.split(".")[0]:
            raise  # it is there, and something that it needs is not
        name = module.split(".")[0]
        message = f"{purpose}: pip install 'puforest[{extra}]' brings {name}"
        raise ImportError(f"{message}. {otherwise}" if otherwise else message, name=name) from error
