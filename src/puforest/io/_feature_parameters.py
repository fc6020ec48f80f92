"""Parameters with values for several features, as JSON and back.

Masks and constraints of all features are stored as lists of the features concerned.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from puforest._categorical import FROM_DTYPE, requested_columns
from puforest._monotone import monotone_features
from puforest._schema import FeatureSchema
from puforest.io._fields import Fields, ensure, is_integer, short_repr
from puforest.io._trees import MOST_FEATURES


def stored_categorical(value: Any) -> Any:
    """Convert the parameter ``categorical_features`` to JSON."""
    if value is None or isinstance(value, str):
        return value
    values = _vector("categorical_features", value)
    if values.dtype.kind == "b":
        return {"mask": np.flatnonzero(values).tolist(), "length": len(values)}
    if values.dtype.kind in "iu" or not len(values):
        return {"indices": values.astype(np.int64).tolist()}
    names = values.tolist()
    if all(isinstance(name, str) for name in names):
        return {"names": names}
    raise _unsupported("categorical_features", value)


def restored_categorical(stored: Any) -> Any:
    """Invert `stored_categorical`; masks become arrays, and other sequences lists."""
    if stored is None or stored == FROM_DTYPE:
        return stored
    fields = Fields("categorical_features", stored)
    if "mask" in stored:
        mask = np.zeros(fields.integer("length", 0, MOST_FEATURES), dtype=bool)
        mask[_features(fields, "mask", len(mask))] = True
        fields.finish()
        return mask
    if "names" in stored:
        names = fields.take("names")
        are_names = isinstance(names, list) and all(isinstance(name, str) for name in names)
        ensure(are_names, "categorical_features.names is not a list of strings")
    else:
        names = _features(fields, "indices", MOST_FEATURES)
    fields.finish()
    return names


def stored_constraints(value: Any) -> Any:
    """Convert the parameter ``monotonic_cst`` to JSON."""
    if value is None:
        return None
    if isinstance(value, Mapping):
        if not all(isinstance(name, str) and s in (-1, 0, 1) for name, s in value.items()):
            raise _unsupported("monotonic_cst", value)
        return {"by_name": {name: int(sign) for name, sign in value.items()}}
    signs = _vector("monotonic_cst", value)
    if signs.dtype.kind not in "iuf" or not np.isin(signs, (-1, 0, 1)).all():
        raise _unsupported("monotonic_cst", value)
    increasing, decreasing = (np.flatnonzero(signs == sign).tolist() for sign in (1, -1))
    return {"increasing": increasing, "decreasing": decreasing, "length": len(signs)}


def restored_constraints(stored: Any) -> Any:
    """Invert `stored_constraints`; constraints of all features become an array."""
    if stored is None:
        return None
    fields = Fields("monotonic_cst", stored)
    if "by_name" in stored:
        by_name = fields.fields("by_name").integers_by_name(-1, 1)
        fields.finish()
        return by_name
    signs = np.zeros(fields.integer("length", 0, MOST_FEATURES), dtype=np.int8)
    for key, sign in (("increasing", 1), ("decreasing", -1)):
        constrained = _features(fields, key, len(signs))
        ensure(not signs[constrained].any(), "monotonic_cst has a feature twice")
        signs[constrained] = sign
    fields.finish()
    return signs


def check_columns(parameters: dict[str, Any], schema: FeatureSchema) -> None:
    """Reject parameters of a fit that do not match the columns."""
    requested_columns(parameters["categorical_features"], schema.names, schema.n_features)
    monotone_features(parameters["monotonic_cst"], schema)


def _vector(name: str, value: Any) -> NDArray[Any]:
    try:
        values = np.asarray(value)
    except ValueError as error:
        raise _unsupported(name, value) from error
    if values.ndim != 1:
        raise _unsupported(name, value)
    return values


def _unsupported(name: str, value: Any) -> TypeError:
    return TypeError(f"{name}={short_repr(value)} cannot be saved: it is not a valid value")


def _features(fields: Fields, key: str, n_features: int) -> list[int]:
    """Take a list of features."""
    found = fields.take(key)
    valid = isinstance(found, list) and all(is_integer(j) and 0 <= j < n_features for j in found)
    ensure(valid, f"{key} is not a list of integers from 0 to {n_features - 1}")
    features: list[int] = found
    return features
