"""Kinds of columns and labels of categories in model files.

They are JSON in an array of bytes, because the header is limited in size.
"""

from __future__ import annotations

import json
import sys
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from puforest._kinds import (
    BOOLEAN,
    DATETIME,
    DURATION,
    KINDS,
    MAX_CATEGORIES,
    ColumnKind,
    Label,
    label_family,
)
from puforest._schema import FeatureSchema
from puforest.io._container import parse
from puforest.io._fields import Fields, ensure, short_repr

ARRAY = "columns"

WITHOUT_LABELS = {column.kind: column for column in (BOOLEAN, DATETIME, DURATION)}

Arrays = dict[str, NDArray[Any]]


def stored_columns(schema: FeatureSchema) -> Arrays:
    """Return the kinds of all columns but plain numbers as an array; none if there are none."""
    entries = column_entries(schema)
    if not entries:
        return {}
    text = json.dumps(entries, allow_nan=False, separators=(",", ":"))
    return {ARRAY: np.frombuffer(text.encode(), dtype=np.uint8)}


def column_entries(schema: FeatureSchema) -> list[dict[str, Any]]:
    """Return the kinds of all columns but plain numbers, with labels of categories, for JSON."""
    return [_entry(feature, schema.columns[feature]) for feature in sorted(schema.columns)]


def _entry(feature: int, column: ColumnKind) -> dict[str, Any]:
    entry: dict[str, Any] = {"feature": int(feature), "kind": column.kind}
    if column.kind == "category":
        entry["categories"] = list(column.categories or ())
    return entry


def restored_columns(arrays: Arrays, n_features: int) -> dict[int, ColumnKind]:
    """Take the kinds of columns out of `arrays`; columns without one are plain numbers."""
    text = arrays.pop(ARRAY, None)
    if text is None:
        return {}
    ensure(text.dtype == np.uint8, f"array {ARRAY!r} is not of type uint8")
    try:
        entries = parse(text.tobytes().decode(), f"array {ARRAY!r}")
    except UnicodeDecodeError as error:
        raise ValueError(f"array {ARRAY!r} is not UTF-8 ({error})") from error
    if not isinstance(entries, list) or not entries:
        raise ValueError(f"array {ARRAY!r} is not a list of columns")
    columns: dict[int, ColumnKind] = {}
    least = 0
    for i, entry in enumerate(entries):
        fields = Fields(f"{ARRAY}[{i}]", entry)
        feature = fields.integer("feature", least, n_features - 1)
        columns[feature] = _restored_column(fields, feature)
        least = feature + 1
    return columns


def _restored_column(stored: Fields, feature: int) -> ColumnKind:
    kind = stored.choice("kind", KINDS)
    if kind in WITHOUT_LABELS:
        stored.finish()
        return WITHOUT_LABELS[kind]
    labels = stored.take("categories")
    stored.finish()
    ensure(isinstance(labels, list), f"categories of column {feature} are not a list")
    ensure(
        len(labels) <= MAX_CATEGORIES,
        f"column {feature} has {len(labels)} categories, more than {MAX_CATEGORIES}",
    )
    _check_labels(labels, feature)
    return ColumnKind(kind, tuple(labels))


def _check_labels(labels: list[Any], feature: int) -> None:
    """Check that labels are of one type, and unique and sorted."""
    families = set()
    for label in labels:
        if not isinstance(label, Label) or not _is_finite(label):
            raise ValueError(f"column {feature} has the category {short_repr(label)}")
        families.add(label_family(label))
    ensure(len(families) <= 1, f"column {feature} has categories of several types")
    ascending = all(a < b for a, b in pairwise(labels))
    ensure(ascending, f"categories of column {feature} are not in ascending order")


def _is_finite(label: Label) -> bool:
    return isinstance(label, str) or abs(label) <= sys.float_info.max
