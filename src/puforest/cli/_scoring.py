"""Scores of a model for a table, batch by batch."""

from __future__ import annotations

import re
import shlex
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from puforest.cli._say import Say
from puforest.cli.tables import (
    DECIMAL_COMMA,
    WITH_COMMA,
    Numbers,
    Source,
    cut,
    refuse_gaps,
    rows_at_a_time,
    shown,
)

# An array without rows may have millions of columns, and take no space.
MOST_NAMED = 1000


@dataclass(frozen=True)
class Columns:
    """Which columns of a table the model reads.

    Attributes
    ----------
    features : list of str
        Columns of the file, in the order of the model.
    places : ndarray of shape (n_features,)
        Their places among the features of the model.
    absent : list of str
        Features that the file is silent about, which makes them 0.
    extra : list of str
        Columns that the model does not know, at most `MOST_NAMED` of them.
    n_extra : int
        Number of these columns.
    """

    features: list[str]
    places: NDArray[np.intp]
    absent: list[str]
    extra: list[str]
    n_extra: int


def match_columns(model: Any, source: Source, others: Sequence[str]) -> Columns:
    """Find the features of the model in the file, by name."""
    if hasattr(model, "feature_names_in_"):
        wanted = [str(name) for name in model.feature_names_in_]
    else:
        wanted = _by_place(model, source, others)
    there = source.present.hold(wanted)
    absent = [wanted[i] for i in np.flatnonzero(~there).tolist()]
    # Where columns are numbers, a name that is none cannot have been meant.
    missing = [n for n in absent if not n.isdecimal()] if source.absent_is_zero else absent
    if missing:
        raise ValueError(
            f"{source.path} lacks {len(missing):,} of the {len(wanted):,} columns that the model "
            f"was fitted to: {shown(missing)}; it has {shown(source.names)}"
        )
    places = np.flatnonzero(there)
    features = [wanted[i] for i in places.tolist()]
    source.require(features, "feature")
    known = {*wanted, *others, source.label}
    extra = (name for name in source.present if name not in known)
    n_extra = len(source.present) - sum(map(source.present.times, known))
    return Columns(features, places, absent, list(islice(extra, MOST_NAMED)), n_extra)


def _by_place(model: Any, source: Source, others: Sequence[str]) -> list[str]:
    """The columns that a model takes that was fitted to an array, and knows only their number."""
    n = model.n_features_in_
    taken = {*others, source.label}
    found = len(source.names) - sum(source.names.times(name) for name in taken)
    if found != n and not (found < n and source.absent_is_zero):
        raise ValueError(
            f"the model was fitted to {n:,} columns without names, but {source.path} has "
            f"{found:,}: {shown(source.names)}. Leave out the others, or name them by --keep"
        )
    wanted = [name for name in source.names if name not in taken]
    last = int(wanted[-1]) if found < n and wanted else 0
    return wanted + [str(last + 1 + i) for i in range(n - found)]


@dataclass(frozen=True)
class Scored:
    """Scores of some rows, and what else was asked for about them."""

    score: NDArray[np.float64]
    others: Any  # a record batch


def scored_batches(
    model: Any, source: Source, columns: Columns, others: Sequence[str], n_rows: int | None
) -> Iterator[Scored]:
    """Score the rows of a file; no more than one batch is held."""
    size = n_rows or rows_at_a_time(len(columns.features) + len(columns.absent))
    if unreadable := source.unreadable(columns.features):
        raise ValueError(_no_feature(source, *next(iter(unreadable.items()))))
    first = 0
    for batch in source.batches(columns.features, others, size):
        X = _checked(source, batch.numbers, columns.features, first)
        first += len(X)
        yield Scored(_score(model, with_zeros(X, model, columns)), batch.others)


def _checked(source: Source, numbers: Numbers, names: Sequence[str], first: int) -> NDArray[Any]:
    """The features of a batch, or an error where some are no numbers, or missing."""
    X = numbers.X
    for i, cells in sorted(numbers.not_numbers.items()):
        name = names[i]
        if cells.stored_as_text:
            raise ValueError(_no_feature(source, name, "text"))
        if source.decimal == "." and re.match(WITH_COMMA, cells.example):
            way_out = DECIMAL_COMMA
        else:
            way_out = f"Correct it, or fit a model without the column: --drop {shlex.quote(name)}"
        raise ValueError(
            f"{source.path}, {source.line_of(name, cells.example)}the column {name} holds "
            f"{cut(cells.example)!r}, which is not a number. {way_out}"
        )
    missing = len(X) - np.count_nonzero(np.isfinite(X), axis=0)
    where = f"{source.path}, rows {first + 1:,} to {first + len(X):,}"
    gaps = {names[i]: int(missing[i]) for i in np.flatnonzero(missing).tolist()}
    refuse_gaps(gaps, len(X), where)
    return X


def _no_feature(source: Source, name: str, kind: str) -> str:
    return (
        f"{source.path}: the column {name} is a feature of the model but holds {kind}, no numbers: "
        f"correct it, or fit a model without the column: --drop {shlex.quote(name)}"
    )


def with_zeros(X: NDArray[Any], model: Any, columns: Columns) -> NDArray[Any]:
    """X with all features of the model: those that the file is silent about are 0."""
    if not columns.absent:
        return X
    whole = np.zeros((len(X), model.n_features_in_), X.dtype)
    whole[:, columns.places] = X
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
        names = shown(columns.extra, n=columns.n_extra)
        say.info(f"{path}: not used, as the model does not know it: {names}")
