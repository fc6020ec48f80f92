"""Tasks that read partitions: a summary for the first pass, features and labels for the second."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from puforest import _validation as check
from puforest._encoded import EncodedTable
from puforest._exact_sum import exact_sum
from puforest._rows import take_rows
from puforest._schema import FeatureSchema
from puforest._schema_parts import PartOfSchema, part_of_schema

Array = NDArray[np.float64]

# Distinct labels to return; with more than two, the client refuses them.
MOST_LABELS = 20


@dataclass(frozen=True, eq=False)
class Summary:
    """Summary of a partition.

    Attributes
    ----------
    n_rows : int
        Number of rows.
    labels : ndarray
        Distinct labels; missing ones as they are.
    n_seen : list of int
        Number of rows with a positive weight, by label.
    weight : list of Fraction
        Sum of their weights, by label.
    weights : list of tuple of float
        Their smallest and their largest weight, by label.
    schema : PartOfSchema or None
        Kinds of the columns, if they were read.
    """

    n_rows: int
    labels: NDArray[Any]
    n_seen: list[int]
    weight: list[Fraction]
    weights: list[tuple[float, float]]
    schema: PartOfSchema | None


def summary(
    X: Any, others: Mapping[str, Any], estimator: str, categorical_features: Any
) -> Summary:
    """Summarize a partition: its labels and weights, and its columns if X is not None."""
    y = check.raw_labels(others["y"])
    n = len(y)
    weight = raw_weights(others.get("sample_weight"), n)
    labels, number = distinct_labels(y)
    groups = [weight[(number == k) & (weight > 0)] for k in range(len(labels))]
    schema = None
    if X is not None and n > 0:
        refuse_other_length(X, n)
        schema = part_of_schema(X, estimator=estimator, categorical_features=categorical_features)
    return Summary(
        n,
        labels,
        [len(group) for group in groups],
        [exact_sum(group) for group in groups],
        [(group.min(), group.max()) if len(group) else (0.0, 0.0) for group in groups],
        schema,
    )


def distinct_labels(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the first distinct labels, and the number of the label of each row."""
    if y.dtype.kind != "O":
        labels, number = np.unique(y, return_inverse=True)
    else:
        numbers: dict[Any, int] = {}
        keys = [None if check.is_missing(value) else value for value in y.tolist()]
        number = np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.intp)
        labels = np.empty(len(numbers), dtype=object)
        labels[:] = list(numbers)
    return labels[:MOST_LABELS], number


def raw_weights(given: Any, n: int) -> Array:
    """Read sample weights as they are; ones if there are none."""
    if given is None:
        return np.ones(n)
    weight = check.vector("sample_weight", given, n, finite=True)
    if (weight < 0).any():
        raise ValueError(f"sample_weight must not be negative, got {weight.min():g}")
    return weight


def refuse_other_length(X: Any, n: int) -> None:
    if len(X) != n:
        raise ValueError(
            f"X has {len(X)} rows and y has {n}: rows of X and y must match in every partition"
        )


@dataclass(frozen=True, eq=False)
class Opened:
    """A partition with its labels and weights; its features are not encoded yet."""

    X: Any
    given: Mapping[str, Any]  # other arguments of ``fit``
    labeled: NDArray[np.bool_]
    weight: Array


@dataclass(frozen=True, eq=False)
class Reader:
    """Reads partitions after the first pass.

    Attributes
    ----------
    schema : FeatureSchema
        Schema of the whole table.
    features : list or None
        Columns of the features; None if X is an array.
    columns : dict of str to str
        Other arguments of ``fit`` that are columns of X.
    labels : ndarray
        All distinct labels of the data.
    exponent : int
        Weights are divided by two to this power.
    estimator : str
        Class name in error messages.
    """

    schema: FeatureSchema
    features: list[Any] | None
    columns: Mapping[str, str]
    labels: NDArray[Any]
    exponent: int
    estimator: str

    def opened(self, X: Any, others: Mapping[str, Any], n_rows: int) -> Opened:
        """Read labels and weights."""
        given = {**others, **{name: X[column] for name, column in self.columns.items()}}
        X = X if self.features is None else X[self.features]
        refuse_other_length(X, n_rows)
        if n_rows == 0:
            return Opened(X, given, np.empty(0, dtype=bool), np.empty(0))
        y = np.concatenate([self.labels, check.raw_labels(given["y"])])
        _, labeled = check.labels(check.filled_labels(y), "labeled", "unlabeled")
        weight = np.ldexp(raw_weights(given.get("sample_weight"), n_rows), -self.exponent)
        return Opened(X, given, labeled[len(self.labels) :], weight)

    def encoded(self, part: Opened, rows: NDArray[np.intp]) -> EncodedTable:
        """Encode the features of some rows."""
        if len(rows) == 0:
            no_rows = np.empty((0, self.schema.n_features), np.float32)
            return EncodedTable(no_rows, self.schema.categorical)
        return self.schema.table(take_rows(part.X, rows), estimator=self.estimator)
