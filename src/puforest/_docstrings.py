"""Docstrings with placeholders for what several classes or functions share."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

DocumentedT = TypeVar("DocumentedT", bound=Callable[..., Any])


def documented(
    parameters: Mapping[str, str], **blocks: str
) -> Callable[[DocumentedT], DocumentedT]:
    """Make a decorator that fills in the placeholders of a docstring.

    A line ``%y_true, prior%`` becomes the entries of these parameters, ``%parameters%`` those of
    all parameters in the signature, and the name of a block that block.
    """

    def decorate(documented: DocumentedT) -> DocumentedT:
        signature = inspect.signature(documented).parameters
        lines: list[str] = []
        for line in inspect.cleandoc(documented.__doc__ or "").splitlines():
            key = line.strip("%")
            if not line.startswith("%"):
                lines.append(line)
            elif key in blocks:
                lines += blocks[key].splitlines()
            else:
                for name in signature if key == "parameters" else key.split(", "):
                    default = repr(signature[name].default).replace("'", '"')
                    entry = parameters[name].format(default=default)
                    lines += f"{name} : {entry}".splitlines()
        documented.__doc__ = "\n".join(lines)
        return documented

    return decorate
