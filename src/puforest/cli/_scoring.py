"""Scores of a model for a table, batch by batch."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from puforest.cli._say import Say
from puforest.cli.tables import Source, matrix
from puforest.cli.tables._source import shown

# Values of a batch, if nothing else is asked for: 16 MB of float64.
CELLS = 2**21


@dataclass(frozen=True)
class Columns:
    """Which columns of a table the model reads.

    Attributes
    ----------
    features : list of str
        Columns of the file, in the order of the model.
    absent : list of str
        Features that the file is silent about, which makes them 0.
    extra : list of str
        Columns that the model does not know.
    """

    features: list[str]
    absent: list[str]
    extra: list[str]


def match_columns(model: Any, source: Source, others: Sequence[str]) -> Columns:
    """Find the features of the model in the file, by name."""
    if not hasattr(model, "feature_names_in_"):
        return _by_place(model, source, others)
    wanted = [str(name) for name in model.feature_names_in_]
    there = set(source.names)
    missing = [name for name in wanted if name not in there]
    if missing and not source.absent_is_zero:
        raise ValueError(
            f"{source.path} lacks {len(missing):,} of the {len(wanted):,} columns that the model "
            f"was fitted to: {shown(missing)}; it has {shown(source.names)}"
        )
    features = [name for name in wanted if name in there]
    source.require(features, "feature")
    known = {*wanted, *others, source.label}
    return Columns(features, missing, [name for name in source.names if name not in known])


def _by_place(model: Any, source: Source, others: Sequence[str]) -> Columns:
    """A model that was fitted to an array knows only how many columns there were."""
    taken = {*others, source.label}
    features = [name for name in source.names if name not in taken]
    if len(features) != model.n_features_in_:
        raise ValueError(
            f"the model was fitted to {model.n_features_in_:,} columns without names, but "
            f"{source.path} has {len(features):,}: {shown(features)}. Leave out the others, or "
            "name them by --keep"
        )
    source.require(features, "feature")
    return Columns(features, [], [])


@dataclass(frozen=True)
class Scored:
    """Scores of some rows, and what else was asked for about them."""

    score: NDArray[np.float64]
    others: Any  # a record batch


def scored_batches(
    model: Any, source: Source, columns: Columns, others: Sequence[str], n_rows: int | None
) -> Iterator[Scored]:
    """Score the rows of a file; no more than one batch is held."""
    width = max(1, len(columns.features) + len(columns.absent))
    size = n_rows or max(1, min(2**16, CELLS // width))
    first = 0
    for batch in source.batches(columns.features, others, size):
        n = batch.others.num_rows if others else batch.numbers.num_rows
        where = f"{source.path}, rows {first + 1:,} to {first + n:,}"
        X = matrix(batch.numbers, columns.features, where)
        yield Scored(_score(model, with_zeros(X, model, columns)), batch.others)
        first += n


def with_zeros(X: NDArray[Any], model: Any, columns: Columns) -> NDArray[Any]:
    """X with all features of the model: those that the file is silent about are 0."""
    if not columns.absent:
        return X
    absent = set(columns.absent)
    whole = np.zeros((len(X), model.n_features_in_), X.dtype)
    whole[:, [i for i, name in enumerate(model.feature_names_in_) if name not in absent]] = X
    return whole


def _score(model: Any, X: NDArray[Any]) -> NDArray[np.float64]:
    with columns_in_order():
        return np.asarray(model.predict_proba(X)[:, 1])


@contextmanager
def columns_in_order() -> Iterator[None]:
    """For arrays whose columns have been put in the order of the model by name."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        yield


def tell_columns(say: Say, columns: Columns, path: Path) -> None:
    """Report columns that are silent or not known."""
    if columns.absent:
        say.info(f"{path}: features that are 0 throughout: {shown(columns.absent)}")
    if columns.extra:
        say.info(f"{path}: not used, as the model does not know it: {shown(columns.extra)}")
