"""The columns in a report: kinds, missing values, categories and ranges."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from puforest._encoded import EncodedTable
from puforest._schema import FeatureSchema
from puforest._table_columns import column_of
from puforest.inspection._grid import shown_value, shown_values
from puforest.report._model_part import most_important
from puforest.report._subject import Subject

MAX_COLUMNS = 60
N_FREQUENT = 3  # categories in the list of the most frequent ones


def missing_features(X: EncodedTable) -> set[int]:
    """Return the columns with missing values; unknown categories are such values too."""
    if isinstance(X.values, np.ndarray):
        found: list[int] = np.flatnonzero(np.isnan(X.values.min(axis=0))).tolist()
    else:
        found = np.unique(X.values.indices[np.isnan(X.values.data)]).tolist()
    return set(found)


def _n_missing(X: EncodedTable, j: int) -> int:
    return int(np.count_nonzero(np.isnan(column_of(X, j))))


def column_part(
    subject: Subject,
    names: list[str],
    X: EncodedTable | None,
    missing: set[int],
    unknown: dict[int, int],
) -> dict[str, Any]:
    """Describe the columns, or the most important ones if there are very many.

    Without rows, only their kinds and numbers of categories are known. `missing` has the columns
    with missing values, and `unknown` the numbers of values that are categories unknown to the
    model.
    """
    schema = subject.forest._record.schema
    n = schema.n_features
    shown = range(n) if n <= MAX_COLUMNS else most_important(subject.forest, MAX_COLUMNS)
    kinds = Counter(kind.kind for kind in schema.columns.values())
    part = {
        "kinds": {"number": n - kinds.total()} | kinds,
        "n_features": n,
        "columns": [_column(schema, j, names[j], X, unknown.get(j, 0)) for j in shown],
    }
    if X is not None:
        part["n_missing"] = sum(_n_missing(X, j) > unknown.get(j, 0) for j in missing)
        part["n_unknown"] = len(unknown)
    return part


def _column(
    schema: FeatureSchema, j: int, name: str, X: EncodedTable | None, n_unknown: int
) -> dict[str, Any]:
    kind, categories = schema.kind(j), schema.categories(j)
    part: dict[str, Any] = {"name": name, "kind": kind}
    if kind == "category":
        part["categories"] = len(categories or ())
    if X is None:
        return part
    codes = np.asarray(column_of(X, j), dtype=np.float64)
    present = codes[~np.isnan(codes)]
    part["missing"] = len(codes) - len(present) - n_unknown
    part["unknown"] = n_unknown
    if len(present) == 0:
        part["values"] = ""
    elif kind in ("category", "boolean"):
        part["values"] = _frequencies(present, kind, categories)
    else:
        ends = shown_values(np.array([present.min(), present.max()]), kind, None)
        low, high = map(shown_value, ends)
        part["values"] = low if low == high else f"{low} to {high}"
    return part


def _frequencies(codes: NDArray[np.float64], kind: str, categories: tuple[Any, ...] | None) -> str:
    """List the most frequent labels with their fractions."""
    numbers, counts = np.unique(codes, return_counts=True)
    first = np.argsort(-counts, kind="stable")[:N_FREQUENT]
    labels = shown_values(numbers[first], kind, categories)
    texts = [
        f"{shown_value(label)} {count / len(codes):.0%}"
        for label, count in zip(labels, counts[first], strict=True)
    ]
    more = len(numbers) - len(first)
    return ", ".join([*texts, f"and {more} more"] if more else texts)
