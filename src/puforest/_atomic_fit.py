"""Fits that change an estimator all at once, when they are complete."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

Fit = TypeVar("Fit", bound=Callable[..., Any])


def atomic_fit(fit: Fit) -> Fit:
    """Make a method fit a copy of its estimator, and take over what the copy has learned.

    So an estimator whose fit fails or is interrupted is as it was before, and threads that use it
    meanwhile see the old fit or the new one, never parts of both.
    """

    @wraps(fit)
    def fit_at_once(self: Any, *args: Any, **kwargs: Any) -> Any:
        fresh = copy.copy(self)
        fit(fresh, *args, **kwargs)
        self.__dict__ = fresh.__dict__
        return self

    return cast(Fit, fit_at_once)
