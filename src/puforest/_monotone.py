"""Parameter `monotonic_cst`: features in which predictions increase or decrease."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from puforest._schema import FeatureSchema


def monotone_features(value: Any, schema: FeatureSchema) -> tuple[list[int], list[int]]:
    """Return the features that are to be increasing and those that are to be decreasing."""
    signs: dict[int, list[int]] = {1: [], 0: [], -1: []}
    for j, sign in _signs(value, schema):
        if isinstance(sign, bool | np.bool_) or sign not in signs:
            raise ValueError(
                f"monotonic_cst must be -1 (decreasing), 0 or 1 (increasing) for each feature, got "
                f"{sign!r} for {schema.place(j)}"
            )
        if sign and schema.kind(j) == "category":
            raise ValueError(
                f"monotonic_cst constrains {schema.place(j)}, which is categorical and has no "
                "order: set its entry to 0, or encode the categories as numbers in their order"
            )
        signs[int(sign)].append(j)
    return signs[1], signs[-1]


def _signs(value: Any, schema: FeatureSchema) -> Iterator[tuple[int, Any]]:
    """Yield features and their constraints."""
    if value is None:
        return
    if isinstance(value, Mapping):
        yield from _signs_by_name(value, schema)
        return
    try:
        signs = np.asarray(value)
    except ValueError:
        signs = np.empty((0, 0))
    if signs.ndim != 1 or signs.dtype.kind not in "iuf":
        raise TypeError(
            "monotonic_cst must be None, a list with -1, 0 or 1 for each feature, or a dict of "
            f"them by column name, got {value!r:.80}"
        )
    if len(signs) != schema.n_features:
        raise ValueError(
            f"monotonic_cst must have one entry for each of the {schema.n_features} features of X, "
            f"got {len(signs)}"
        )
    for j in np.flatnonzero(signs).tolist():  # of millions of features, few are constrained
        yield j, signs[j].item()


def _signs_by_name(value: Mapping[Any, Any], schema: FeatureSchema) -> Iterator[tuple[int, Any]]:
    if schema.names is None:
        raise ValueError(
            "monotonic_cst is a dict by column name, but X has no column names: pass a list, or a "
            "data frame"
        )
    position = {name: j for j, name in enumerate(schema.names)}
    for name, sign in value.items():
        if name not in position:
            raise ValueError(f"monotonic_cst has the key {name!r}, which is not a column of X")
        yield position[name], sign
