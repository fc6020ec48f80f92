"""Warnings that point at the user's code."""

from __future__ import annotations

import inspect
import warnings

# Packages whose frames are skipped: this one, and those that call it on behalf of the user.
SKIPPED = frozenset({"puforest", "sklearn", "joblib"})


def warn(message: str | Warning, category: type[Warning] = UserWarning) -> None:
    """Issue a warning that is attributed to the first caller outside the package."""
    frame, stacklevel = inspect.currentframe(), 1
    while frame is not None and _package(frame.f_globals) in SKIPPED:
        frame, stacklevel = frame.f_back, stacklevel + 1
    warnings.warn(message, category, stacklevel=stacklevel)


def _package(names: dict[str, object]) -> str:
    return str(names.get("__name__")).partition(".")[0]
