"""What an estimator, or the fitted one inside it, knows about the data."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any, cast

from sklearn.pipeline import Pipeline


def known_prior(estimator: Any) -> float | None:
    """The class prior of the fit; None for estimators that take unlabeled rows for negatives."""
    for layer in _layers(estimator):
        if getattr(layer, "prior_", None) is not None:
            return None if getattr(layer, "risk", None) == "pn" else float(layer.prior_)
    return None


def known_scenario(estimator: Any) -> str | None:
    """How the rows came about, as found in the fit or as given; None if no layer knows."""
    for layer in _layers(estimator):
        for name in ("scenario_", "scenario"):
            if getattr(layer, name, None) is not None:
                return cast(str, getattr(layer, name))
    return None


def without_names(estimator: Any) -> Any:
    """A view that takes arrays where the estimator was fitted to a table."""
    plain = copy.copy(estimator)
    plain.__dict__.pop("feature_names_in_", None)
    return plain


def _layers(estimator: Any) -> Iterator[Any]:
    """The estimator, the one that it fitted last, the one that this one did, and so on."""
    while estimator is not None:
        yield estimator
        if isinstance(estimator, Pipeline):
            estimator = estimator.steps[-1][1]
        else:
            fitted = (getattr(estimator, name, None) for name in ("best_estimator_", "estimator_"))
            estimator = next((inner for inner in fitted if inner is not None), None)
