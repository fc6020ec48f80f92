"""Fitted models inside pipelines, searches and calibrated classifiers."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, cast

from sklearn.pipeline import Pipeline

from puforest._fit_record import FitRecord


def layers(estimator: Any) -> Iterator[Any]:
    """Yield an estimator, the fitted estimator inside it, the one inside that, and so on."""
    while estimator is not None:
        yield estimator
        if isinstance(estimator, Pipeline):
            estimator = estimator.steps[-1][1]
        else:
            fitted = (getattr(estimator, name, None) for name in ("best_estimator_", "estimator_"))
            estimator = next((inner for inner in fitted if inner is not None), None)


def fitted_trees(estimator: Any) -> Any:
    """Return the tree or forest of this package inside an estimator; None if there is none."""
    return next((layer for layer in layers(estimator) if fit_record(layer) is not None), None)


def fit_record(estimator: Any) -> FitRecord | None:
    """Return the record of the fit of a tree or forest of this package, else None."""
    record = getattr(estimator, "_record", None)
    return record if isinstance(record, FitRecord) else None


def known_prior(estimator: Any) -> float | None:
    """Return the class prior of the fit; None if unlabeled rows were treated as negatives."""
    for layer in layers(estimator):
        record = fit_record(layer)
        if record is not None and record.is_supervised:
            return None
        if getattr(layer, "prior_", None) is not None:
            return float(layer.prior_)
    return None


def known_scenario(estimator: Any) -> str | None:
    """Return the scenario of the fit; None if no layer knows it."""
    for layer in layers(estimator):
        record = fit_record(layer)
        if record is not None:
            return record.scenario
        for name in ("scenario_", "scenario"):
            if getattr(layer, name, None) is not None:
                return cast(str, getattr(layer, name))
    return None


def with_prior_given(estimator: Any, prior: float) -> Any:
    """Set the prior of every unfitted layer that would estimate it."""
    unknown = {
        name: prior
        for name, value in estimator.get_params(deep=True).items()
        if name.rpartition("__")[2] == "prior" and value is None
    }
    return estimator.set_params(**unknown)


def without_names(trees: Any) -> Any:
    """Return a view of a fitted tree or forest that takes arrays without feature names."""
    view = copy.copy(trees)
    view._record = replace(trees._record, schema=replace(trees._record.schema, names=None))
    return view
