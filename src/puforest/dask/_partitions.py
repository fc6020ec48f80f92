"""Partitions of Dask collections as the tasks of a fit read them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import dask.array as da
import dask.dataframe as dd
import numpy as np
from dask import optimize

# File names that the error of a partition mentions.
MOST_FILES = 3


def is_collection(X: Any) -> bool:
    """Return whether X is a Dask DataFrame or Array."""
    return isinstance(X, dd.DataFrame | da.Array)


@dataclass(frozen=True, eq=False)
class TrainingPartitions:
    """Partitions of the arguments of ``fit``.

    Attributes
    ----------
    X : DataFrame or Array
        The table, with columns that are not features if they are named in `columns`.
    others : dict of str to collection
        Labels, sample weights and propensities: "y", "sample_weight", "propensity".
    columns : dict of str to str
        Those of them that are columns of X, by argument.
    """

    X: Any
    others: Mapping[str, Any]
    columns: Mapping[str, str]

    @property
    def n(self) -> int:
        """Number of partitions."""
        return n_partitions(self.X)

    @property
    def feature_columns(self) -> list[Any] | None:
        """Names of the features; None if X is an array."""
        if not isinstance(self.X, dd.DataFrame):
            return None
        return [name for name in self.X.columns if name not in self.columns.values()]

    @property
    def are_numbers(self) -> bool:
        """Whether all features are plain numbers by their types."""
        if not isinstance(self.X, dd.DataFrame):
            return bool(self.X.dtype.kind in "biuf")
        types = self.X.dtypes[self.feature_columns]
        return all(isinstance(t, np.dtype) and t.kind in "iuf" for t in types)

    def with_labels(self, *, features: bool) -> list[tuple[Any, dict[str, Any]]]:
        """Return the features (or None) and the other arguments of each partition, lazily."""
        of_x: list[Any] = [None] * self.n
        if features:
            names = self.feature_columns
            of_x = delayed_partitions(self.X if names is None else self.X[names])
        others = {name: delayed_partitions(column) for name, column in self.others.items()}
        return [(x, {name: parts[k] for name, parts in others.items()}) for k, x in enumerate(of_x)]

    def whole(self) -> list[tuple[Any, dict[str, Any]]]:
        """Return each partition as it is, lazily; columns of X are not read twice."""
        separate = {
            n: delayed_partitions(c) for n, c in self.others.items() if n not in self.columns
        }
        return [
            (x, {name: parts[k] for name, parts in separate.items()})
            for k, x in enumerate(delayed_partitions(self.X))
        ]


def training_partitions(X: Any, **others: Any) -> TrainingPartitions:
    """Check that the arguments of ``fit`` are collections with the same partitions."""
    if not is_collection(X):
        raise TypeError(
            f"X must be a Dask DataFrame or a Dask Array, got {type(X).__name__}: convert it, for "
            "example with dask.dataframe.from_pandas or dask.array.from_array, or use the "
            "estimator of the same name without Dask"
        )
    if isinstance(X, da.Array):
        if X.ndim != 2:
            raise ValueError(f"X must have rows and columns, got an array of {X.ndim} dimensions")
        X = X.rechunk({1: -1})
    found, columns = {}, {}
    for name, given in others.items():
        if given is None:
            continue
        if isinstance(given, str) and isinstance(X, dd.DataFrame):
            if given not in X.columns:
                raise ValueError(f"{name}={given!r} is not a column of X")
            columns[name], found[name] = given, X[given]
        else:
            found[name] = aligned(X, given, name)
    return TrainingPartitions(X, found, columns)


def aligned(X: Any, given: Any, name: str) -> Any:
    """Return a column whose partitions are those of X."""
    if isinstance(given, dd.DataFrame) and len(given.columns) == 1:
        given = given[given.columns[0]]
    if not isinstance(given, dd.Series) and not (isinstance(given, da.Array) and given.ndim == 1):
        raise TypeError(
            f"{name} must be a Dask Series, a one-dimensional Dask Array, or the name of a column "
            f"of X, got {type(given).__name__}"
        )
    n_x, n = n_partitions(X), n_partitions(given)
    if n != n_x:
        raise ValueError(
            f"{name} has {n} partitions, but X has {n_x}: pass a column of X, or repartition "
            "(rechunk) one of them such that rows match"
        )
    if isinstance(X, da.Array) and isinstance(given, da.Array):
        for k, (a, b) in enumerate(zip(X.chunks[0], given.chunks[0], strict=True)):
            if a != b and not np.isnan(a) and not np.isnan(b):
                raise ValueError(
                    f"{name} has {b} rows in chunk {k}, but X has {a}: rechunk one of them"
                )
    return given


def n_partitions(collection: Any) -> int:
    """Return the number of partitions, or of chunks along the rows."""
    is_array = isinstance(collection, da.Array)
    return int(collection.numblocks[0] if is_array else collection.npartitions)


def delayed_partitions(collection: Any) -> list[Any]:
    """Return the partitions as delayed objects."""
    if isinstance(collection, da.Array):
        return list(collection.to_delayed().ravel())
    # Only needed columns are read. All other optimizations are left out: one of them joins small
    # partitions, depending on the columns, so that those of X and y would no longer match.
    return list(collection.simplify().to_delayed(optimize_graph=False))


def source_of(partition: Any) -> str:
    """Describe the files that a delayed partition is read from, for error messages."""
    (alone,) = optimize(partition)  # without the tasks of other partitions
    files = list(dict.fromkeys(_files(dict(alone.__dask_graph__()), 0)))
    if not files:
        return ""
    more = f" and {len(files) - MOST_FILES} more files" if len(files) > MOST_FILES else ""
    return f", read from {', '.join(files[:MOST_FILES])}{more}"


def _files(value: Any, depth: int) -> Iterator[str]:
    """Find the names of files among the arguments of tasks."""
    if depth > 12:
        return
    if isinstance(value, str):
        if "." in value.rpartition("/")[2] and "/" in value and "\n" not in value:
            yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _files(item, depth + 1)
    elif isinstance(value, list | tuple | set | frozenset):
        for item in value:
            yield from _files(item, depth + 1)
    else:
        for attribute in ("path", "args", "kwargs", "value", "fragment", "_fragments"):
            inner = getattr(value, attribute, None)
            if isinstance(inner, str | Mapping | list | tuple) or hasattr(inner, "path"):
                yield from _files(inner, depth + 1)
