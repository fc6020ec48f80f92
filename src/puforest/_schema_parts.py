"""Schema of a table that is read in parts, such as the partitions of a Dask DataFrame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from puforest._categorical import requested_columns
from puforest._columns import ArrayColumns
from puforest._encoding import doubt_about, refuse_labels, training_column
from puforest._kinds import ColumnKind
from puforest._matrix import column_place, opened
from puforest._schema import FeatureSchema, string_names, warn_about


@dataclass(frozen=True)
class PartOfColumn:
    """Values of a column in one part of a table.

    Attributes
    ----------
    kind : ColumnKind or None
        Kind of the column; None for plain numbers.
    is_missing : bool
        True if there are no values and their type is unknown.
    is_requested : bool
        True if the user asked for categories.
    is_text : bool
        True if the categories are strings without a categorical type.
    n_values : int
        Number of values that are not missing, if the column has categories.
    """

    kind: ColumnKind | None
    is_missing: bool = False
    is_requested: bool = False
    is_text: bool = False
    n_values: int = 0


@dataclass(frozen=True)
class PartOfSchema:
    """Columns of one part of a table; `columns` has those that are not plain numbers."""

    n_features: int
    names: tuple[str, ...] | None
    columns: dict[int, PartOfColumn]


def part_of_schema(X: Any, *, estimator: str, categorical_features: Any) -> PartOfSchema:
    """Read the kinds of the columns of one part."""
    names = string_names(X)
    found = opened(X, estimator)
    n_features = int(found.shape[1])
    requested = requested_columns(categorical_features, names, n_features)
    if sp.issparse(found):
        raise TypeError("X has sparse parts: convert them to dense arrays or tables")
    if isinstance(found, np.ndarray) and not requested:
        return PartOfSchema(n_features, names, {})
    columns = ArrayColumns(found) if isinstance(found, np.ndarray) else found
    parts = {}
    for j in columns.to_read(requested or ()):
        place = column_place(j, names)
        is_categorical = None if requested is None else j in requested
        column = columns.read(j, place)
        kind = training_column(column, place, is_categorical).kind
        parts[j] = PartOfColumn(
            kind,
            is_missing=column.kind == "missing",
            is_requested=is_categorical is True,
            is_text=column.is_text,
            n_values=int(np.count_nonzero(column.values >= 0)) if column.labels is not None else 0,
        )
    return PartOfSchema(n_features, names, parts)


def merged_schema(parts: Sequence[PartOfSchema]) -> FeatureSchema:
    """Return the schema of the whole table, and warn about doubtful columns."""
    first = parts[0]
    for part in parts:
        if (part.n_features, part.names) != (first.n_features, first.names):
            raise ValueError("X: the columns of all parts must be the same")
    kinds: dict[int, ColumnKind] = {}
    doubts: dict[str, list[str]] = {"numbers": [], "dates": [], "identifier": []}
    for j in sorted({j for part in parts for j in part.columns}):
        place = column_place(j, first.names)
        columns = [part.columns.get(j, PartOfColumn(None)) for part in parts]
        kind = merged_kind([c for c in columns if not c.is_missing] or columns, place)
        if kind is None:
            continue
        kinds[j] = kind
        if kind.kind == "category" and not any(c.is_requested for c in columns):
            is_text = any(c.is_text for c in columns)
            if doubt := doubt_about(kind, is_text, sum(c.n_values for c in columns)):
                doubts[doubt].append(place)
    warn_about(doubts)
    return FeatureSchema(first.n_features, first.names, kinds)


def merged_kind(columns: Sequence[PartOfColumn], place: str) -> ColumnKind | None:
    """Return the kind of a column, given its parts."""
    # A column of a categorical type without values in some part fits any other part.
    empty = ColumnKind("category", ())
    kinds = [c.kind for c in columns if c.kind != empty]
    if not kinds:
        return empty
    names = sorted({"number" if kind is None else kind.kind for kind in kinds})
    if len(names) > 1:
        raise TypeError(
            f"{place} has values of kind {names[0]!r} in some parts of X, and of kind "
            f"{names[1]!r} in others: convert the column to one type"
        )
    if names != ["category"]:
        return kinds[0]
    labels = list(dict.fromkeys(label for kind in kinds if kind for label in kind.categories or ()))
    refuse_labels(labels, place)
    return ColumnKind("category", tuple(sorted(labels)))
