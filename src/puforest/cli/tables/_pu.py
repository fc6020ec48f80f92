"""A table as PU data: a matrix of features and a label for each row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from puforest.cli.tables._labels import LabelRule, label_rule, require_both
from puforest.cli.tables._numbers import (
    DECIMAL_COMMA,
    LeftOut,
    duplicates,
    looks_like_identifier,
    matrix,
    not_numeric,
)
from puforest.cli.tables._source import Source, shown


@dataclass(frozen=True)
class PUTable:
    """PU data out of a file.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_features)
        The features.
    labelled : ndarray of shape (n_rows,)
        1 for labelled positives, 0 for unlabelled rows.
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
    labelled: NDArray[np.int64] = field(repr=False)
    names: list[str]
    left_out: list[LeftOut]
    rule: LabelRule
    identifiers: list[str]

    @property
    def n_labelled(self) -> int:
        """Number of labelled rows."""
        return int(self.labelled.sum())


def label_column(source: Source, label: str | None) -> str:
    """The column of labels that was asked for, or that the format has."""
    name = label or source.label
    if name is None:
        raise ValueError(
            f"say which column marks the labelled rows by --label; {source.path} has "
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
        The value that marks labelled rows; None is found out.
    features : sequence of str
        The only columns to take as features, if there are any.
    drop : sequence of str
        Columns not to take.
    """
    name = label_column(source, label)
    unknown = [column for column in drop if column not in source.names]
    if unknown:
        raise ValueError(
            f"--drop {unknown[0]}: {source.path} has no such column; it has {shown(source.names)}"
        )
    if name in features or name in drop:
        raise ValueError(f"{name} is the column of labels: it cannot be in --features or --drop")
    source.require(features, "--features")
    wanted = [c for c in source.names if c != name and c not in drop]
    if features:
        wanted = [c for c in wanted if c in set(features)]
    left_out = [LeftOut("(no name)", "an index?") for c in wanted if not c]
    wanted = [c for c in wanted if c]
    twice = duplicates(wanted)
    if twice:
        raise ValueError(
            f"{source.path} has more than one column called {shown(twice)}: rename them, or leave "
            f"them out by --drop {twice[0]}"
        )
    table = source.read([*wanted, name], [name])
    if table.num_rows == 0:
        raise ValueError(f"{source.path} has columns but no rows: there is nothing to learn from")
    rule = label_rule(name, table.column(name), positive)
    labelled = rule.apply(table.column(name))
    require_both(rule, labelled)
    kept = []
    for column in wanted:
        why = not_numeric(column, table.column(column), source.decimal)
        if why is None:
            kept.append(column)
        elif features:
            raise ValueError(
                f"{source.path}: the column {column} cannot be a feature: {why.reason}"
                + (f". {DECIMAL_COMMA}" if why.decimal_comma else "")
            )
        else:
            left_out.append(why)
    if not kept:
        reasons = shown([f"{c.name} ({c.reason})" for c in left_out], 5)
        raise ValueError(
            f"{source.path} has no column of numbers to learn from"
            + (f"; left out: {reasons}" if left_out else " besides the labels")
            + (f". {DECIMAL_COMMA}" if any(c.decimal_comma for c in left_out) else "")
        )
    identifiers = [c for c in kept if looks_like_identifier(table.column(c))]
    X = matrix(table, kept, str(source.path))
    return PUTable(X, labelled, kept, left_out, rule, identifiers)
