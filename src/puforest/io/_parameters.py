"""Conversion of the parameters of estimators to JSON, and back."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from puforest import _validation as check
from puforest._threshold import checked_threshold
from puforest._warnings import warn
from puforest.io._feature_parameters import (
    restored_categorical,
    restored_constraints,
    stored_categorical,
    stored_constraints,
)
from puforest.io._fields import Fields, is_integer
from puforest.io._prior import restored_prior, stored_prior
from puforest.io._recipes import restored_candidates, stored_candidates
from puforest.io._values import restored_value, stored_value
from puforest.risk import LOSSES, RISKS
from puforest.scenario import SCENARIOS

MANY = check.MAX_UINT32  # rows or features, more than any parameter asks for

COST = "cost"  # a threshold rule that has a number


def _seed(value: Any) -> None:
    if value is not None and not (is_integer(value) and 0 <= value <= check.MAX_UINT32):
        raise ValueError(f"random_state must be None or from 0 to 2^32 - 1, got {value!r}")


def _stored_threshold(value: Any) -> Any:
    threshold = checked_threshold(value)
    return {COST: threshold[1]} if isinstance(threshold, tuple) else threshold


def _restored_threshold(stored: Any) -> Any:
    value = stored
    if isinstance(stored, dict):
        fields = Fields("threshold", stored)
        value = COST, fields.number(COST, 0, sys.float_info.max)
        fields.finish()
    return checked_threshold(value)


# Checks by parameter name, which refuse values that ``fit`` would refuse for any data.
CHECKS: dict[str, Callable[[Any], Any]] = {
    "scenario": lambda v: check.one_of("scenario", v, SCENARIOS),
    "risk": lambda v: check.one_of("risk", v, RISKS),
    "loss": lambda v: check.one_of("loss", v, LOSSES),
    "voting": lambda v: check.one_of("voting", v, check.VOTINGS),
    "max_features": lambda v: check.features_to_draw(v, MANY),
    "n_thresholds": lambda v: check.integer("n_thresholds", v, 1),
    "max_depth": lambda v: check.optional_integer("max_depth", v, 1, 0),
    "min_samples_split": lambda v: check.count_or_fraction("min_samples_split", v, MANY, 2),
    "min_samples_leaf": lambda v: check.count_or_fraction("min_samples_leaf", v, MANY, 1),
    "min_risk_reduction": check.least_reduction,
    "max_leaf_nodes": lambda v: check.optional_integer("max_leaf_nodes", v, 2, 0),
    "n_estimators": lambda v: check.integer("n_estimators", v, 1),
    "bootstrap": lambda v: check.boolean("bootstrap", v),
    "max_labeled": lambda v: check.number_of("max_labeled", v, MANY, "rows"),
    "max_unlabeled": lambda v: check.number_of("max_unlabeled", v, MANY, "rows"),
    "oob_score": lambda v: check.boolean("oob_score", v),
    "warm_start": lambda v: check.boolean("warm_start", v),
    "n_jobs": check.threads,
    "verbose": check.verbosity,
    "random_state": _seed,
}


# Conversions of parameters that are not single values, to JSON and back with all checks.
CONVERSIONS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "candidates": (stored_candidates, restored_candidates),
    "categorical_features": (stored_categorical, restored_categorical),
    "monotonic_cst": (stored_constraints, restored_constraints),
    "prior": (stored_prior, restored_prior),
    "threshold": (_stored_threshold, _restored_threshold),
}

# Parameters that files of version 1 do not have.
SINCE_VERSION_2 = ("categorical_features", "monotonic_cst", "threshold")


def json_value(name: str, value: Any) -> Any:
    """Convert the value of a parameter to JSON."""
    return CONVERSIONS[name][0](value) if name in CONVERSIONS else stored_value(name, value)


def stored_parameters(params: dict[str, Any], *, quiet: bool = False) -> dict[str, Any]:
    """Convert the parameters of an estimator to JSON; warn of what cannot be saved."""
    if isinstance(params["random_state"], np.random.RandomState):
        if not quiet:
            warn(
                "random_state is a RandomState instance, which model files cannot store: it is "
                "saved as None. Predictions of the loaded model are the same, but refitting it "
                "uses another seed."
            )
        params = params | {"random_state": None}
    return {name: json_value(name, value) for name, value in sorted(params.items())}


def checked(name: str, value: Any) -> Any:
    """Read a parameter, refusing values that ``fit`` would refuse."""
    if name in CONVERSIONS:
        return CONVERSIONS[name][1](value)
    value = restored_value(value)
    if isinstance(value, list):
        raise ValueError(f"parameter {name} is a list")
    try:
        CHECKS[name](value)
    except TypeError as error:
        raise ValueError(str(error)) from error
    return value


def restored_parameters(estimator_class: Any, stored: Fields, version: int) -> dict[str, Any]:
    """Read the parameters of the constructor, all that a file of this version has and no others."""
    defaults: dict[str, Any] = estimator_class().get_params(deep=False)
    names = [name for name in defaults if version > 1 or name not in SINCE_VERSION_2]
    params = {name: stored.take(name) for name in names}
    stored.finish()
    # Only classes with the default n_estimators="auto" accept this value.
    others = {name: v for name, v in params.items() if not _is_default(v, defaults[name])}
    return defaults | {name: checked(name, value) for name, value in others.items()}


def _is_default(value: Any, default: Any) -> bool:
    return isinstance(value, str) and value == default
