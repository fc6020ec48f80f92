"""PU data from a table: a feature matrix and a label for each row."""

from __future__ import annotations

import shlex
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from puforest._encoded import EncodedTable
from puforest._memory import available_memory
from puforest._schema import FeatureSchema
from puforest.cli.tables._arrow import arrow, naming
from puforest.cli.tables._feature_columns import FeatureColumns, Select
from puforest.cli.tables._features import (
    NO_NAME,
    ColumnChoice,
    Features,
    LeftOut,
    refuse_infinite,
)
from puforest.cli.tables._labels import LabelRule, label_rule, read_labels, require_both
from puforest.cli.tables._libsvm import LibsvmSource
from puforest.cli.tables._names import duplicates, name_list
from puforest.cli.tables._source import MOST_ROWS, Source
from puforest.cli.tables._sparse_columns import SparseColumns
from puforest.io._trees import MOST_FEATURES

# Bytes per feature besides its values: its name, and the data that a forest keeps for it.
FEATURE = 300

# Message of the warning about categories that identify rows.
NEARLY_UNIQUE = ".*every row has its own category"

NO_ROWS = "has columns but no rows: training requires labeled and unlabeled rows"


@dataclass(frozen=True)
class PUTable:
    """PU data from a file.

    Attributes
    ----------
    features : Features
        The features.
    labeled : ndarray of shape (n_rows,)
        1 for labeled positives, 0 for unlabeled rows.
    rule : LabelRule
        How labels were read.
    """

    features: Features
    labeled: NDArray[Any] = field(repr=False)
    rule: LabelRule

    @property
    def n_labeled(self) -> int:
        """Number of labeled rows."""
        return int(self.labeled.sum())

    def encoded(self) -> EncodedTable:
        """Encode the features as numbers."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", NEARLY_UNIQUE)
            return FeatureSchema.of_table(self.features.X)[1]


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
    source: Source, *, label: str | None, positive: str | None, choice: ColumnChoice
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
    choice : ColumnChoice
        Columns that the user chose.
    """
    name = _checked_label(source, label, choice)
    sparse = _sparse(source, name, choice)
    wanted, without_name = _wanted(source, name, choice, source.item_size if sparse is None else 0)
    columns: FeatureColumns | SparseColumns
    if sparse is None:
        columns = FeatureColumns(source, wanted, choice)
    else:
        columns = SparseColumns(sparse, wanted)
    with naming(source.path):
        labels = columns.read(name)
    if not labels:
        raise ValueError(f"{source.path} {NO_ROWS}")
    rule, labeled = read_labels(source, name, arrow().chunked_array(labels), positive)
    return PUTable(_features(source, columns, without_name, choice, len(labeled)), labeled, rule)


def read_only_labels(
    source: Source, *, label: str | None, positive: str | None, choice: ColumnChoice
) -> tuple[LabelRule, NDArray[np.bool_]]:
    """Read the labels of a table that is larger than memory; arguments as in `read_pu`."""
    name = _checked_label(source, label, choice)
    with naming(source.path):
        parts = [batch.others.column(0) for batch in source.batches([], [name], MOST_ROWS)]
    if not parts:
        raise ValueError(f"{source.path} {NO_ROWS}")
    column = arrow().chunked_array(parts)
    try:
        rule = label_rule(name, column, positive)
        labeled = np.concatenate([rule.apply(part).astype(bool) for part in parts])
        require_both(rule, labeled)
    except ValueError as error:
        raise ValueError(f"{source.path}: {error}") from error
    return rule, labeled


def read_part(
    source: Source,
    rule: LabelRule,
    labeled: NDArray[np.bool_],
    choice: ColumnChoice,
    select: Select,
) -> PUTable:
    """Read the features of some rows of a table that is larger than memory.

    Which columns are features, and their kinds, follow from all rows. The table of features has
    more rows at the end, with all categories.
    """
    wanted, without_name = _wanted(source, rule.column, choice, 0)
    columns = FeatureColumns(source, wanted, choice)
    with naming(source.path):
        columns.read(rule.column, select)
    return PUTable(_features(source, columns, without_name, choice, len(labeled)), labeled, rule)


def _checked_label(source: Source, label: str | None, choice: ColumnChoice) -> str:
    """Return the label column, after checking the columns that the user chose."""
    name = label_column(source, label)
    choice.check(source, name)
    if source.n_rows == 0:
        raise ValueError(f"{source.path} {NO_ROWS}")
    return name


def _features(
    source: Source,
    columns: FeatureColumns | SparseColumns,
    without_name: list[LeftOut],
    choice: ColumnChoice,
    n_rows: int,
) -> Features:
    """Return the features that were read, after checking them."""
    with naming(source.path):
        features = columns.features()
    features.left_out[:0] = without_name
    _require_features(source, features, choice)
    refuse_infinite(features.infinite, n_rows, str(source.path))
    return features


def _sparse(source: Source, label: str, choice: ColumnChoice) -> LibsvmSource | None:
    """Return a file that can be read as a sparse matrix, since its zeros need no attention."""
    is_simple = label == source.label and not choice.categorical
    is_sparse = is_simple and 0 not in source.missing.numbers
    return source if isinstance(source, LibsvmSource) and is_sparse else None


def _require_features(source: Source, features: Features, choice: ColumnChoice) -> None:
    """Raise an error if there are no features, or if one that the user chose is left out."""
    for column in features.left_out:
        if column.name in choice.required:
            raise ValueError(
                f"{source.path}: the column {column.name} cannot be a feature: {column.reason}"
            )
    if not features.names:
        reasons = name_list([f"{c.name} ({c.reason})" for c in features.left_out], 5)
        raise ValueError(
            f"{source.path} has no feature columns"
            + (f"; left out: {reasons}" if features.left_out else " besides the labels")
        )


def _wanted(
    source: Source, label: str, choice: ColumnChoice, item_size: int
) -> tuple[list[str], list[LeftOut]]:
    """Return the columns that may be features, and those left out for having no name."""
    features, drop = choice.features, choice.drop
    n_columns = len(features) or len(source.names) - 1
    if n_columns > MOST_FEATURES:
        raise ValueError(
            f"{source.path} has {n_columns:,} columns, but a model has at most "
            f"{MOST_FEATURES:,} features: choose them with --features"
        )
    require_matrix(source, n_columns, item_size)
    left = {label, *drop}
    if features:
        wanted = sorted({*features} - left, key=source.names.place)
    else:
        wanted = [column for column in source.names if column not in left]
    without_name = [LeftOut("(no name)", NO_NAME) for c in wanted if not c and c not in choice.keep]
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


def require_matrix(source: Source, n_columns: int, item_size: int) -> None:
    """Raise an error if a matrix of all rows, of this many bytes per value, does not fit."""
    if source.n_rows is not None:
        require_memory(
            n_columns * (source.n_rows * item_size + FEATURE),
            f"{source.path}: {source.n_rows:,} rows and {n_columns:,} columns of numbers",
            "use fewer rows, or choose columns with --features",
        )


def require_memory(size: int, what: str, way_out: str) -> None:
    """Raise an error if `what` needs more bytes than there are, before they are allocated."""
    available = available_memory()
    if available is not None and size > available:
        raise MemoryError(
            f"{what} require {gigabytes(size)} of memory, but only {gigabytes(available)} are "
            f"available: {way_out}"
        )


def gigabytes(size: int) -> str:
    """Format a number of bytes."""
    return f"{size / 1e9:,.3g} GB" if size < 1e12 else f"{size / 1e9:,.0f} GB"
