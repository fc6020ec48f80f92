"""Scoring the rows of a table, batch by batch."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from puforest._named_table import NamedTable
from puforest.cli._console import Console
from puforest.cli.tables._candidates import DECIMAL_COMMA, refuse_gaps
from puforest.cli.tables._names import cut, name_list
from puforest.cli.tables._numbers import WITH_COMMA, Numbers
from puforest.cli.tables._source import Source, rows_at_a_time

# Maximum number of extra columns to list: a small file may have millions.
MOST_NAMED = 1000


@dataclass(frozen=True)
class Columns:
    """Columns of a table matched to the features of a model.

    Attributes
    ----------
    names : list of str
        Features of the model.
    features : list of str
        Those that are columns of the file, in the order of the model.
    places : ndarray
        Their positions among the features of the model.
    absent : list of str
        The others, which are 0, as in LIBSVM files.
    extra : list of str
        Columns that the model does not use, at most `MOST_NAMED` of them.
    n_extra : int
        Number of columns that the model does not use.
    """

    names: list[str]
    features: list[str]
    places: NDArray[np.intp]
    absent: list[str]
    extra: list[str]
    n_extra: int


def match_columns(model: Any, source: Source, others: Sequence[str]) -> Columns:
    """Find the features of the model in the file by name."""
    if hasattr(model, "feature_names_in_"):
        wanted = [str(name) for name in model.feature_names_in_]
    else:
        wanted = _by_place(model, source, others)
    there = source.present.hold(wanted)
    absent = [wanted[i] for i in np.flatnonzero(~there).tolist()]
    # Columns of LIBSVM files are numbers, so that any other name is missing, not zero.
    missing = [n for n in absent if not n.isdecimal()] if source.absent_is_zero else absent
    if missing:
        raise ValueError(
            f"{source.path} lacks {len(missing):,} of the {len(wanted):,} columns that the model "
            f"was fitted to: {name_list(missing)}; it has {name_list(source.names)}"
        )
    places = np.flatnonzero(there)
    features = [wanted[i] for i in places.tolist()]
    source.require_columns(features, "feature")
    known = {*wanted, *others, source.label}
    extra = (name for name in source.present if name not in known)
    n_extra = len(source.present) - sum(map(source.present.times, known))
    return Columns(wanted, features, places, absent, list(islice(extra, MOST_NAMED)), n_extra)


def _by_place(model: Any, source: Source, others: Sequence[str]) -> list[str]:
    """Return the columns for a model without feature names, by position."""
    n = model.n_features_in_
    taken = {*others, source.label}
    found = len(source.names) - sum(source.names.times(name) for name in taken)
    if found != n and not (found < n and source.absent_is_zero):
        raise ValueError(
            f"the model was fitted to {n:,} columns without names, but {source.path} has "
            f"{found:,}: {name_list(source.names)}. Remove the others, or list them with --keep"
        )
    wanted = [name for name in source.names if name not in taken]
    last = int(wanted[-1]) if found < n and wanted else 0
    return wanted + [str(last + 1 + i) for i in range(n - found)]


@dataclass(frozen=True)
class Scored:
    """Scores of a batch, and the columns to keep."""

    score: NDArray[np.float64]
    others: Any  # a record batch


def scored_batches(
    model: Any, source: Source, columns: Columns, others: Sequence[str], n_rows: int | None
) -> Iterator[Scored]:
    """Score the rows of a file, one batch at a time."""
    size = n_rows or rows_at_a_time(len(columns.features) + len(columns.absent))
    if unreadable := source.unreadable(columns.features):
        raise ValueError(_no_feature(source, *next(iter(unreadable.items()))))
    first = 0
    for batch in source.batches(columns.features, others, size):
        X = _checked(source, batch.numbers, columns.features, first)
        first += len(X)
        score = np.asarray(model.predict_proba(model_table(X, columns))[:, 1])
        yield Scored(score, batch.others)


def _checked(source: Source, numbers: Numbers, names: Sequence[str], first: int) -> NDArray[Any]:
    """Return the features of a batch; raise an error if some are missing or not numbers."""
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
        f"{source.path}: the column {name} is a feature of the model, but holds {kind} instead of "
        f"numbers: correct it, or fit a model without the column: --drop {shlex.quote(name)}"
    )


def model_table(X: NDArray[Any], columns: Columns) -> NamedTable:
    """Complete the matched columns to the features of the model; absent ones are 0."""
    if columns.absent:
        matched = X
        X = np.zeros((len(X), len(columns.names)), X.dtype)
        X[:, columns.places] = matched
    return NamedTable(X, columns.names)


def report_columns(console: Console, columns: Columns, path: Path) -> None:
    """Print the columns that are absent or not used."""
    if columns.absent:
        console.info(f"{path}: features that are 0 in all rows: {name_list(columns.absent)}")
    if columns.extra:
        names = name_list(columns.extra, n=columns.n_extra)
        console.info(f"{path}: columns not used by the model: {names}")
