"""Fitted trees and forests as JSON and arrays, and back."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from puforest import _validation as check
from puforest._base import GrownFor, PUClassifier
from puforest.forest import BaseForest, PUExtraTreesClassifier, PURandomForestClassifier
from puforest.io._fields import Fields, ensure
from puforest.io._labels import restored_classes, restored_names, stored_classes, stored_names
from puforest.io._parameters import checked, json_value, restored_parameters, stored_parameters
from puforest.io._trees import ARRAYS, MOST_FEATURES, checked_forest
from puforest.prior import PriorEstimate
from puforest.risk import LOSSES, RISKS
from puforest.scenario import SCENARIOS, GroupMasses
from puforest.tree import PUDecisionTreeClassifier, PUExtraTreeClassifier

Arrays = dict[str, NDArray[Any]]

CLASSES: dict[str, type[PUClassifier]] = {
    c.__name__: c
    for c in (
        PUDecisionTreeClassifier,
        PUExtraTreeClassifier,
        PUExtraTreesClassifier,
        PURandomForestClassifier,
    )
}

# What decides which rows a tree of a forest sees, in the order of `BaseForest._sample`.
SAMPLING = ("scenario", "bootstrap", "max_labeled", "max_unlabeled")

BELOW_ONE = math.nextafter(1, 0)

# What best bin estimation looked at, by which fits estimate a prior: points of a curve, and where
# on it the estimate is.
METHOD = "bbe"
CURVE = ("thresholds", "quotient", "lower", "upper", "labeled_above", "unlabeled_above")
CHOSEN = "chosen"
EVIDENCE = "evidence."  # before the names of the arrays

OUT_OF_BAG = "oob_decision_function"


def stored_model(model: PUClassifier, arrays: Arrays) -> dict[str, Any]:
    """A fitted estimator as JSON; its arrays go to `arrays`."""
    forest = model._forest
    arrays |= {name: getattr(forest, name) for name in ARRAYS}
    if hasattr(model, "feature_names_in_"):
        arrays |= stored_names(model.feature_names_in_)
    grown = model._grown_for
    stored = {
        "class": type(model).__name__,
        "parameters": stored_parameters(model),
        "n_features": forest.n_features,
        "classes": stored_classes(model.classes_),
        "prior": float(model.prior_),
        "grown_for": {"risk": grown.risk, "loss": grown.loss, "scenario": grown.scenario},
        "masses": {
            "labeled_u": float(model._masses.labeled_u),
            "unlabeled_u": float(model._masses.unlabeled_u),
        },
        "prior_estimate": _stored_estimate(getattr(model, "prior_estimate_", None), arrays),
    }
    if isinstance(model, BaseForest):
        asked, rows = model._sample[: len(SAMPLING)], model._sample[len(SAMPLING) :]
        sampling = {name: json_value(name, v) for name, v in zip(SAMPLING, asked, strict=True)}
        stored["sampling"] = {"seed": model._seed, **sampling}
        stored["rows"] = {"labeled": rows[0], "unlabeled": rows[1]}
        stored["out_of_bag"] = _stored_out_of_bag(model, arrays)
    else:
        root = {"labeled": forest.n_labeled[0], "unlabeled": forest.n_unlabeled[0]}
        stored["rows"] = {name: int(n) for name, n in root.items()}
    return stored


def _stored_estimate(estimate: PriorEstimate | None, arrays: Arrays) -> dict[str, Any] | None:
    if estimate is None:
        return None
    arrays |= {EVIDENCE + name: estimate.evidence[name] for name in CURVE}
    low, high = estimate.interval
    return {
        "value": float(estimate.value),
        "low": float(low),
        "high": float(high),
        "confidence": float(estimate.confidence),
        "method": estimate.method,
        "scenario": estimate.scenario,
        "unlabeled_prior": float(estimate.unlabeled_prior),
        "label_frequency": float(estimate.label_frequency),
        "evidence": {CHOSEN: float(estimate.evidence[CHOSEN])},
    }


def _stored_out_of_bag(model: BaseForest, arrays: Arrays) -> dict[str, Any] | None:
    if model._held_out is None:
        return None
    arrays[OUT_OF_BAG], risk = model._held_out
    return {"risk": None if math.isnan(risk) else float(risk)}


def restored_model(stored: Fields, arrays: Arrays) -> PUClassifier:
    """The estimator, if everything about it is right; takes what it needs out of `arrays`."""
    estimator_class = CLASSES[stored.choice("class", CLASSES)]
    model = estimator_class(**restored_parameters(estimator_class, stored.fields("parameters")))
    n_features = stored.integer("n_features", 1, MOST_FEATURES)
    prior = stored.number("prior", check.TINY, BELOW_ONE)
    model.n_features_in_ = n_features
    model.classes_ = restored_classes(stored.fields("classes"))
    model.prior_ = prior
    model._grown_for = _restored_purpose(stored.fields("grown_for"), prior)
    model._masses = _restored_masses(stored.fields("masses"), prior)
    estimate = stored.optional_fields("prior_estimate")
    if estimate is not None:
        model.prior_estimate_ = _restored_estimate(estimate, arrays)
    for name in ARRAYS:
        ensure(name in arrays, f"it has no array {name!r}")
    model._forest = checked_forest({name: arrays.pop(name) for name in ARRAYS}, n_features, prior)
    names = restored_names(arrays, n_features)
    if names is not None:
        model.feature_names_in_ = names
    rows = stored.fields("rows")
    n_rows = tuple(rows.integer(name, 1, check.MAX_UINT32) for name in ("labeled", "unlabeled"))
    rows.finish()
    if isinstance(model, BaseForest):
        _restore_sampling(model, stored.fields("sampling"), n_rows)
        _restore_out_of_bag(model, stored.optional_fields("out_of_bag"), arrays)
    else:
        forest = model._forest
        ensure(forest.n_trees == 1, f"a {estimator_class.__name__} has one tree")
        root = (forest.n_labeled[0], forest.n_unlabeled[0])
        ensure(n_rows == root, "rows are not those of the root")
    stored.finish()
    return model


def _restored_purpose(stored: Fields, prior: float) -> GrownFor:
    risk, loss = stored.choice("risk", RISKS), stored.choice("loss", LOSSES)
    scenario = stored.choice("scenario", SCENARIOS)
    stored.finish()
    return GrownFor(risk, loss, scenario, prior)


def _restored_masses(stored: Fields, prior: float) -> GroupMasses:
    labeled_u = stored.number("labeled_u", 0, 1)
    unlabeled_u = stored.number("unlabeled_u", 0, 1)
    stored.finish()
    return GroupMasses(prior, labeled_u, unlabeled_u)


def _restored_estimate(stored: Fields, arrays: Arrays) -> PriorEstimate:
    low, high = stored.number("low", 0, 1), stored.number("high", 0, 1)
    value = stored.number("value", low, high)
    estimate = PriorEstimate(
        value=value,
        interval=(low, high),
        confidence=stored.number("confidence", 0, 1),
        method=stored.choice("method", (METHOD,)),
        scenario=stored.choice("scenario", SCENARIOS),
        unlabeled_prior=stored.number("unlabeled_prior", 0, 1),
        label_frequency=stored.number("label_frequency", 0, 1),
        evidence=_restored_evidence(stored.fields("evidence"), arrays),
    )
    stored.finish()
    return estimate


def _restored_evidence(stored: Fields, arrays: Arrays) -> dict[str, Any]:
    numbers = stored.numbers()
    ensure(set(numbers) == {CHOSEN}, f"evidence is not the number {CHOSEN!r}")
    curve: Arrays = {}
    for name in CURVE:
        key = EVIDENCE + name
        ensure(key in arrays, f"it has no array {key!r}")
        curve[name] = arrays.pop(key)
        ensure(curve[name].dtype == np.float64, f"array {key!r} is not of type float64")
    at = curve["thresholds"]
    ensure(all(len(part) == len(at) for part in curve.values()), "evidence differs in length")
    ensure(bool((at[:-1] < at[1:]).all()), "thresholds of the evidence do not ascend")
    ensure(bool((at == numbers[CHOSEN]).any()), f"{CHOSEN!r} is no threshold of the evidence")
    return curve | numbers


def _restore_sampling(model: BaseForest, stored: Fields, n_rows: tuple[int, ...]) -> None:
    model._seed = stored.integer("seed", 0, np.iinfo(np.int32).max)
    asked = [checked(name, stored.take(name)) for name in SAMPLING]
    stored.finish()
    model._sample = (*asked, *n_rows)


def _restore_out_of_bag(model: BaseForest, stored: Fields | None, arrays: Arrays) -> None:
    if stored is None:
        return
    risk = stored.optional_number("risk")
    stored.finish()
    ensure(OUT_OF_BAG in arrays, f"it has no array {OUT_OF_BAG!r}")
    decision = arrays.pop(OUT_OF_BAG)
    ensure(decision.dtype == np.float64, f"array {OUT_OF_BAG!r} is not of type float64")
    judged = ~np.isnan(decision)
    within = bool((np.abs(decision[judged]) <= 1).all())
    ensure(within, f"{OUT_OF_BAG} is not between -1 and 1, or nan")
    model._held_out = decision, math.nan if risk is None else risk
