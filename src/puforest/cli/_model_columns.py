"""Columns of a table matched to the features of a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from puforest._kinds import ColumnKind
from puforest._schema import FeatureSchema
from puforest.cli._console import Console
from puforest.cli.tables._names import name_list
from puforest.cli.tables._source import Source

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
    kinds : mapping of str to ColumnKind
        Kinds of the features that are not plain numbers.
    """

    names: list[str]
    features: list[str]
    places: NDArray[np.intp]
    absent: list[str]
    extra: list[str]
    n_extra: int
    kinds: Mapping[str, ColumnKind]


def match_columns(schema: FeatureSchema, source: Source, others: Sequence[str]) -> Columns:
    """Find the features of a model in the file by name, by position if they have no names."""
    names = schema.names
    wanted = _by_place(schema.n_features, source, others) if names is None else list(names)
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
    kinds = {wanted[j]: kind for j, kind in schema.columns.items()}
    if kinds and absent:
        raise ValueError(
            f"{source.path} lacks the column {absent[0]} that the model was fitted to, and only "
            "features of models of numbers are 0 if a line does not mention them"
        )
    return Columns(
        wanted, features, places, absent, list(islice(extra, MOST_NAMED)), n_extra, kinds
    )


def _by_place(n: int, source: Source, others: Sequence[str]) -> list[str]:
    """Return the columns for a model of `n` features without names, by position."""
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


def report_columns(console: Console, columns: Columns, path: Path) -> None:
    """Print the columns that are absent or not used."""
    if columns.absent:
        console.info(f"{path}: features that are 0 in all rows: {name_list(columns.absent)}")
    if columns.extra:
        names = name_list(columns.extra, n=columns.n_extra)
        console.info(f"{path}: columns not used by the model: {names}")
