"""PU data from a table: a feature matrix and a label for each row."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from puforest._named_table import NamedTable
from puforest.cli.tables._arrow import arrow, naming
from puforest.cli.tables._candidates import (
    DECIMAL_COMMA,
    CandidateColumns,
    LeftOut,
    look_like_identifiers,
    refuse_gaps,
)
from puforest.cli.tables._labels import LabelRule, read_labels
from puforest.cli.tables._names import duplicates, name_list
from puforest.cli.tables._source import CELLS, Source, rows_at_a_time
from puforest.io._trees import MOST_FEATURES

# Bytes per feature besides its values: its name, and the data that a forest keeps for it.
FEATURE = 300

NO_ROWS = "has columns but no rows: training requires labeled and unlabeled rows"


@dataclass(frozen=True)
class PUTable:
    """PU data from a file.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_features)
        Feature matrix.
    labeled : ndarray of shape (n_rows,)
        1 for labeled positives, 0 for unlabeled rows.
    names : list of str
        Feature names.
    left_out : list of LeftOut
        Columns that are not used as features.
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

    @property
    def named(self) -> NamedTable:
        """Feature matrix with feature names."""
        return NamedTable(self.X, self.names)


def label_column(source: Source, label: str | None) -> str:
    """Return the given label column, or that of the format."""
    name = label or source.label
    if name is None:
        raise ValueError(
            f"specify the column that marks the labeled rows with --label; {source.path} has "
            f"{name_list(source.names)}"
        )
    source.require_columns([name], "--label")
    return name


def read_pu(
    source: Source,
    *,
    label: str | None,
    positive: str | None,
    features: Sequence[str],
    drop: Sequence[str],
) -> PUTable:
    """Read a table; columns that cannot be features are left out.

    Parameters
    ----------
    source : Source
        The table.
    label : str or None
        The label column; None uses that of the format.
    positive : str or None
        The value that marks labeled rows; None infers it.
    features : sequence of str
        The features; if empty, all columns that can be.
    drop : sequence of str
        Columns to leave out.
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
        n_rows = rows_at_a_time(len(wanted), 8 * CELLS)  # all batches are kept anyway
        for batch in source.batches(columns.names, [name], n_rows):
            columns.add(batch.numbers)
            labels.append(batch.others.column(0))
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
        reasons = name_list([f"{c.name} ({c.reason})" for c in left_out], 5)
        raise ValueError(
            f"{source.path} has no numeric feature columns"
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
    """Return the columns that may be features, and those left out for having no name."""
    if label in features or label in drop:
        raise ValueError(f"{label} is the label column: it cannot be in --features or --drop")
    unknown = [column for column in drop if column not in source.names]
    if unknown:
        raise ValueError(
            f"--drop {unknown[0]}: no such column in {source.path}, which has "
            f"{name_list(source.names)}"
        )
    source.require_columns(features, "--features")
    n_columns = len(features) or len(source.names) - 1
    if n_columns > MOST_FEATURES:
        raise ValueError(
            f"{source.path} has {n_columns:,} columns, but a model has at most "
            f"{MOST_FEATURES:,} features: choose them with --features"
        )
    if source.n_rows is not None:
        require_memory(
            n_columns * (source.n_rows * source.item_size + FEATURE),
            f"{source.path}: {source.n_rows:,} rows and {n_columns:,} columns of numbers",
            "use fewer rows, or choose columns with --features",
        )
    left = {label, *drop}
    if features:
        wanted = sorted({*features} - left, key=source.names.place)
    else:
        wanted = [column for column in source.names if column not in left]
    without_name = [LeftOut("(no name)", "probably an index") for column in wanted if not column]
    if without_name:
        wanted = [column for column in wanted if column]
    twice = duplicates(wanted)
    if twice:
        raise ValueError(
            f"{source.path} has more than one column named {name_list(twice)}: rename them, or "
            f"leave them out with --drop {shlex.quote(twice[0])}"
        )
    return wanted, without_name


# Memory


def require_memory(size: int, what: str, way_out: str) -> None:
    """Raise an error if `what` needs more bytes than there are, before they are allocated."""
    most = most_memory()
    if most is not None and size > most:
        raise MemoryError(
            f"{what} require {gigabytes(size)} of memory, but only {gigabytes(most)} are "
            f"available: {way_out}"
        )


def most_memory() -> int | None:
    """Return the number of bytes that this process may use, None if unknown."""
    limits = []
    if os.name == "posix":
        import resource

        limits.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
        limits.append(resource.getrlimit(resource.RLIMIT_AS)[0])
    with suppress(OSError, ValueError):  # a container without a limit, or no container
        limits.append(int(Path("/sys/fs/cgroup/memory.max").read_text()))
    return min((limit for limit in limits if limit > 0), default=None)


def gigabytes(size: int) -> str:
    """Format a number of bytes."""
    return f"{size / 1e9:,.3g} GB" if size < 1e12 else f"{size / 1e9:,.0f} GB"
