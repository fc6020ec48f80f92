"""Conversion of fitted trees and forests to JSON and arrays, and back."""

from __future__ import annotations

import math
import string
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from puforest import _validation as check
from puforest._fit_record import FitRecord
from puforest._masses import GroupMasses
from puforest._row_digest import DIGITS
from puforest._schema import FeatureSchema
from puforest.io._columns import restored_columns, stored_columns
from puforest.io._evaluation import (
    restored_curve,
    restored_out_of_bag,
    restored_sigmoid,
    stored_curve,
    stored_out_of_bag,
    stored_sigmoid,
)
from puforest.io._feature_parameters import check_columns
from puforest.io._fields import Fields, ensure
from puforest.io._labels import restored_classes, restored_names, stored_classes, stored_names
from puforest.io._parameters import restored_parameters, stored_parameters
from puforest.io._prior import restored_estimate, stored_estimate, with_evidence
from puforest.io._recipes import restored_comparison, stored_comparison
from puforest.io._trees import ARRAYS, MOST_FEATURES, checked_forest, taken_arrays

Arrays = dict[str, NDArray[Any]]

# Estimators that model files hold, and their modules. They are imported by name when needed: they
# have a method `save`, and import this package.
MODULES = {
    "PUDecisionTreeClassifier": "puforest.tree",
    "PUExtraTreeClassifier": "puforest.tree",
    "PUExtraTreesClassifier": "puforest.forest",
    "PUForestClassifier": "puforest.pu_forest",
    "PURandomForestClassifier": "puforest.forest",
}

BELOW_ONE = math.nextafter(1, 0)

# Groups of training rows whose sizes are stored. The last two, since version 3, are unlabeled.
ROWS = ("labeled", "unlabeled", "confirmed", "refuted")
DIGEST = "digest"  # of the rows; optional

# The class whose trees are grown by recipes, and calibrated.
CALIBRATED = "PUForestClassifier"


def is_known(model: Any) -> bool:
    """Return True if model files support this class of estimators."""
    kind = type(model)
    return MODULES.get(kind.__name__) == kind.__module__


def estimator_class(name: str) -> Any:
    """Import the class of an estimator."""
    return getattr(import_module(MODULES[name]), name)


def stored_model(model: Any, arrays: Arrays) -> dict[str, Any]:
    """Convert a fitted tree or forest to JSON, and add its arrays to `arrays`."""
    record: FitRecord = model._record
    arrays |= {name: getattr(model._forest, name) for name in ARRAYS}
    if record.schema.names is not None:
        arrays |= stored_names(model.feature_names_in_)
    arrays |= stored_columns(record.schema) | stored_curve(record.curve)
    return {
        "class": type(model).__name__,
        "parameters": stored_parameters(model.get_params(deep=False)),
        "fitted_parameters": stored_parameters(record.parameters, quiet=True),
        "n_features": record.schema.n_features,
        "classes": stored_classes(record.classes),
        "prior": record.prior,
        "prior_estimate": stored_estimate(record.prior_estimate, arrays),
        "masses": {
            "labeled_u": float(record.masses.labeled_u),
            "unlabeled_u": float(record.masses.unlabeled_u),
        },
        "rows": {name: getattr(record, f"n_{name}") for name in ROWS} | stored_digest(record),
        "seed": record.seed,
        "out_of_bag": stored_out_of_bag(record.out_of_bag, arrays),
        "calibrator": stored_sigmoid(record.calibrator),
        "comparison": stored_comparison(record.comparison),
        "missing_values": {
            "added": list(record.added_missing),
            "removed": list(record.removed_missing),
        },
    }


def restored_model(stored: Fields, arrays: Arrays, version: int) -> Any:
    """Restore the estimator after checking its fields; takes its arrays out of `arrays`."""
    name = stored.choice("class", MODULES)
    kind = estimator_class(name)
    model = kind(**restored_parameters(kind, stored.fields("parameters"), version))
    n_features = stored.integer("n_features", 1, MOST_FEATURES)
    prior = stored.number("prior", check.TINY, BELOW_ONE)
    names = restored_names(arrays, n_features)
    schema = FeatureSchema(
        n_features,
        None if names is None else tuple(names.tolist()),
        restored_columns(arrays, n_features) if version > 1 else {},
    )
    n_rows, digest = _restored_rows(stored.fields("rows"), version)
    is_checked = n_rows["confirmed"] + n_rows["refuted"] > 0
    forest = checked_forest(taken_arrays(arrays, version), schema, None if is_checked else prior)
    parameters = restored_parameters(kind, stored.fields("fitted_parameters"), version)
    check_columns(parameters, schema)
    estimate = restored_estimate(stored.optional_fields("prior_estimate"), arrays, version)
    for params in (parameters, model.__dict__):
        params["prior"] = with_evidence(params["prior"], estimate)
    record = FitRecord(
        classes=restored_classes(stored.fields("classes")),
        schema=schema,
        parameters=parameters,
        masses=_restored_masses(stored.fields("masses"), prior),
        prior_estimate=estimate,
        n_labeled=n_rows["labeled"],
        n_unlabeled=n_rows["unlabeled"],
        n_confirmed=n_rows["confirmed"],
        n_refuted=n_rows["refuted"],
        digest=digest,
        seed=stored.integer("seed", 0, np.iinfo(np.int32).max),
        out_of_bag=restored_out_of_bag(stored.optional_fields("out_of_bag"), arrays),
        **_restored_since_version_2(stored, arrays, forest.n_trees) if version > 1 else {},
    )
    _check_calibration(name, record)
    if "n_estimators" not in model.get_params(deep=False):
        ensure(forest.n_trees == 1, f"a {name} has one tree")
        root = [int(forest.n_labeled[0]), int(forest.n_unlabeled[0])]
        ensure([n_rows["labeled"], n_rows["unlabeled"]] == root, "rows are not those of the root")
    stored.finish()
    model._record, model._forest = record, forest
    _ = model.threshold_  # rejects rules that need out-of-bag predictions if there are none
    return model


def stored_digest(record: FitRecord) -> dict[str, str]:
    """Return the digest of the training rows, if it is known."""
    return {} if record.digest is None else {DIGEST: record.digest}


def _restored_rows(stored: Fields, version: int) -> tuple[dict[str, int], str | None]:
    """Restore the numbers of rows, and their digest."""
    n_rows = dict.fromkeys(ROWS, 0)
    for name in ROWS if version > 2 else ROWS[:2]:
        n_rows[name] = stored.integer(name, int(name in ROWS[:2]), check.MAX_UINT32)
    digest = None
    if stored.has(DIGEST):
        digest = stored.text(DIGEST)
        is_digest = len(digest) == DIGITS and not {*digest} - {*string.hexdigits}
        ensure(is_digest, f"rows.{DIGEST} is not a SHA-256 digest")
    stored.finish()
    checked = n_rows["confirmed"] + n_rows["refuted"]
    ensure(checked <= n_rows["unlabeled"], "more rows were checked than are unlabeled")
    return n_rows, digest


def _restored_since_version_2(stored: Fields, arrays: Arrays, n_trees: int) -> dict[str, Any]:
    fields = stored.fields("missing_values")
    found = {f"{change}_missing": tuple(fields.texts(change)) for change in ("added", "removed")}
    fields.finish()
    return found | {
        "curve": restored_curve(arrays),
        "calibrator": restored_sigmoid(stored.optional_fields("calibrator")),
        "comparison": restored_comparison(stored.take("comparison"), n_trees),
    }


def _check_calibration(name: str, record: FitRecord) -> None:
    for field in ("calibrator", "comparison"):
        has_it, expected = getattr(record, field) is not None, name == CALIBRATED
        ensure(has_it == expected, f"a {name} has {'a' if expected else 'no'} {field}")
    if name == CALIBRATED:  # scores of training rows are optional: fit_files does not read all rows
        ensure(record.curve is not None, f"a {name} has a curve of out-of-bag predictions")
    else:
        has_curve = record.curve is not None
        ensure(
            record.out_of_bag is not None or not has_curve,
            "it has a curve without out-of-bag predictions",
        )


def _restored_masses(stored: Fields, prior: float) -> GroupMasses:
    labeled_u = stored.number("labeled_u", 0, 1)
    unlabeled_u = stored.number("unlabeled_u", 0, 1)
    stored.finish()
    return GroupMasses(prior, labeled_u, unlabeled_u)
