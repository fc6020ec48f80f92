"""Optional dependencies, imported when they are used."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def optional_import(module: str, *, extra: str, purpose: str, otherwise: str = "") -> Any:
    """Import a module, or raise an error that tells how to install it.

    Parameters
    ----------
    module : str
        The module.
    extra : str
        The extra of puforest that installs it.
    purpose : str
        What requires the module, as the subject of the error message.
    otherwise : str
        What to do without the module, as a sentence.

    Examples
    --------
    >>> from puforest._optional_imports import optional_import
    >>> optional_import("no_such_package", extra="plot", purpose="plotting")
    Traceback (most recent call last):
    ...
    ImportError: plotting requires no_such_package: install it with pip install 'puforest[plot]'
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        name = module.split(".")[0]
        if error.name is None or error.name.split(".")[0] != name:
            raise  # a dependency of the module is missing
        message = f"{purpose} requires {name}: install it with pip install 'puforest[{extra}]'"
        raise ImportError(f"{message}. {otherwise}" if otherwise else message, name=name) from error
