"""Fits that change an estimator only when they are complete."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

Fit = TypeVar("Fit", bound=Callable[..., Any])


def atomic_fit(fit: Fit) -> Fit:
    """Decorate a ``fit`` method to fit a copy of the estimator and then take over its state.

    If the fit fails or is interrupted, the estimator is unchanged. Threads that use the estimator
    during the fit see either the old state or the new one.
    """

    @wraps(fit)
    def fit_at_once(self: Any, *args: Any, **kwargs: Any) -> Any:
        fresh = copy.copy(self)
        fit(fresh, *args, **kwargs)
        self.__dict__ = fresh.__dict__
        return self

    return cast(Fit, fit_at_once)
