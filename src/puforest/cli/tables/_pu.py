"""A table as PU data: a matrix of features and a label for each row."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from puforest.cli.tables._arrow import arrow, naming
from puforest.cli.tables._candidates import (
    DECIMAL_COMMA,
    CandidateColumns,
    LeftOut,
    look_like_identifiers,
    refuse_gaps,
)
from puforest.cli.tables._labels import LabelRule, read_labels
from puforest.cli.tables._memory import require_memory
from puforest.cli.tables._names import duplicates, shown
from puforest.cli.tables._source import CELLS, Source, rows_at_a_time
from puforest.io._trees import MOST_FEATURES

# Bytes that a feature takes besides its values: its name, and what the forest keeps of it.
FEATURE = 300

NO_ROWS = "has columns but no rows: there is nothing to learn from"


@dataclass(frozen=True)
class PUTable:
    """PU data out of a file.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_features)
        The features.
    labeled : ndarray of shape (n_rows,)
        1 for labeled positives, 0 for unlabeled rows.
    names : list of str
        The features by name.
    left_out : list of LeftOut
        Columns that are no features.
    rule : LabelRule
        How labels were read.
    identifiers : list of str
        Features that look like identifiers.
    """

    X: NDArray[Any] = field(repr=False)
    labeled: NDArray[np.int64] = field(repr=False)
    names: list[str]
    left_out: list[LeftOut]
    rule: LabelRule
    identifiers: list[str]

    @property
    def n_labeled(self) -> int:
        """Number of labeled rows."""
        return int(self.labeled.sum())


def label_column(source: Source, label: str | None) -> str:
    """The column of labels that was asked for, or that the format has."""
    name = label or source.label
    if name is None:
        raise ValueError(
            f"say which column marks the labeled rows by --label; {source.path} has "
            f"{shown(source.names)}"
        )
    source.require([name], "--label")
    return name


def read_pu(
    source: Source,
    *,
    label: str | None,
    positive: str | None,
    features: Sequence[str],
    drop: Sequence[str],
) -> PUTable:
    """Read a table, and leave out what cannot be a feature.

    Parameters
    ----------
    source : Source
        The table.
    label : str or None
        The column of labels; None is that of the format.
    positive : str or None
        The value that marks labeled rows; None is found out.
    features : sequence of str
        The only columns to take as features, if there are any.
    drop : sequence of str
        Columns not to take.
    """
    name = label_column(source, label)
    if source.n_rows == 0:
        raise ValueError(f"{source.path} {NO_ROWS}")
    wanted, left_out = _wanted(source, name, features, drop)
    unreadable = source.unreadable(wanted)
    left_out += [LeftOut(column, kind) for column, kind in unreadable.items()]
    columns = CandidateColumns([column for column in wanted if column not in unreadable])
    labels = []
    with naming(source.path):
        n_rows = rows_at_a_time(len(wanted), 8 * CELLS)  # all of them are kept anyway
        for rows in source.batches(columns.names, [name], n_rows):
            columns.add(rows.numbers)
            labels.append(rows.others.column(0))
    if not labels:
        raise ValueError(f"{source.path} {NO_ROWS}")
    rule, labeled = read_labels(source, name, arrow().chunked_array(labels), positive)
    left_out += columns.left_out(source.decimal)
    if features and left_out:
        raise ValueError(
            f"{source.path}: the column {left_out[0].name} cannot be a feature: "
            f"{left_out[0].reason}" + _about_commas(left_out[:1])
        )
    names = columns.features()
    if not names:
        reasons = shown([f"{c.name} ({c.reason})" for c in left_out], 5)
        raise ValueError(
            f"{source.path} has no column of numbers to learn from"
            + (f"; left out: {reasons}" if left_out else " besides the labels")
            + _about_commas(left_out)
        )
    refuse_gaps(columns.gaps(), len(labeled), str(source.path))
    with naming(source.path):
        X = columns.matrix()
    identifiers = [names[i] for i in np.flatnonzero(look_like_identifiers(X))]
    return PUTable(X, labeled, names, left_out, rule, identifiers)


def _about_commas(left_out: Sequence[LeftOut]) -> str:
    return f". {DECIMAL_COMMA}" if any(c.decimal_comma for c in left_out) else ""


def _wanted(
    source: Source, label: str, features: Sequence[str], drop: Sequence[str]
) -> tuple[list[str], list[LeftOut]]:
    """Columns that may be features by what the user says, and those without a name."""
    if label in features or label in drop:
        raise ValueError(f"{label} is the column of labels: it cannot be in --features or --drop")
    unknown = [column for column in drop if column not in source.names]
    if unknown:
        raise ValueError(
            f"--drop {unknown[0]}: {source.path} has no such column; it has {shown(source.names)}"
        )
    source.require(features, "--features")
    n_columns = len(features) or len(source.names) - 1
    if n_columns > MOST_FEATURES:
        raise ValueError(
            f"{source.path} has {n_columns:,} columns, but a model takes no more than "
            f"{MOST_FEATURES:,} features: choose them by --features"
        )
    if source.n_rows is not None:
        require_memory(
            n_columns * (source.n_rows * source.item_size + FEATURE),
            f"{source.path}: {source.n_rows:,} rows and {n_columns:,} columns of numbers",
            "leave out rows, or choose columns by --features",
        )
    left = {label, *drop}
    if features:
        wanted = sorted({*features} - left, key=source.names.place)
    else:
        wanted = [column for column in source.names if column not in left]
    without_name = [LeftOut("(no name)", "an index?") for column in wanted if not column]
    if without_name:
        wanted = [column for column in wanted if column]
    twice = duplicates(wanted)
    if twice:
        raise ValueError(
            f"{source.path} has more than one column called {shown(twice)}: rename them, or leave "
            f"them out by --drop {shlex.quote(twice[0])}"
        )
    return wanted, without_name
