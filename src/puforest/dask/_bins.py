"""Quantile bins of columns with too many values to count the rows of each value at every node.

Splits at optimal thresholds try all midpoints between values, so they need the rows of each value.
In columns with more than `MAX_VALUES` values, only `N_BINS` quantiles of the values are tried. The
quantiles are approximate, and depend on how the rows are divided into partitions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from puforest._encoded import EncodedTable
from puforest._model import Forest
from puforest.dask._exact_tasks import Part

MAX_VALUES = 65_536
N_BINS = 1024

# Values kept of a column with too many: each merge of summaries moves a quantile by at most 1 in
# this many rows.
SUMMARY_SIZE = 16 * N_BINS

Edges: TypeAlias = dict[int, NDArray[Any]]  # by column: largest value of each bin, ascending


class Summary(NamedTuple):
    """Ascending values of a column, with the rows of each and of smaller values left out."""

    values: NDArray[Any]
    rows: NDArray[np.int64]
    complete: bool  # no values are left out


def summaries(part: Part) -> dict[int, Summary]:
    """Summarize the numeric columns of a partition; none if it is sparse."""
    table = part.table
    if table.is_sparse:
        return {}
    numeric = sorted(set(range(table.shape[1])) - set(table.categorical))
    return {j: _summary(table.values[:, j]) for j in numeric}


def _summary(column: NDArray[Any]) -> Summary:
    values, rows = np.unique(column[~np.isnan(column)], return_counts=True)
    return _shortened(Summary(values, rows.astype(np.int64), complete=True))


def _shortened(summary: Summary) -> Summary:
    if len(summary.values) <= (MAX_VALUES if summary.complete else SUMMARY_SIZE):
        return summary
    return _quantiles(summary, SUMMARY_SIZE)


def _quantiles(summary: Summary, n: int) -> Summary:
    """Keep at most `n` values, which divide the rows about equally."""
    total = np.cumsum(summary.rows)
    wanted = np.arange(1, n + 1) * (total[-1] / n)
    # The last value is always kept, whatever the rounding.
    kept = np.unique(np.minimum(np.searchsorted(total, wanted), len(total) - 1))
    kept[-1] = len(total) - 1
    return Summary(summary.values[kept], np.diff(total[kept], prepend=0), complete=False)


def merge_summaries(items: Sequence[dict[int, Summary]]) -> dict[int, Summary]:
    """Merge the summaries of several partitions."""
    return {j: _joined([columns[j] for columns in items]) for j in items[0]}


def _joined(items: Sequence[Summary]) -> Summary:
    values, place = np.unique(np.concatenate([s.values for s in items]), return_inverse=True)
    rows = np.zeros(len(values), dtype=np.int64)
    np.add.at(rows, place, np.concatenate([s.rows for s in items]))
    return _shortened(Summary(values, rows, all(s.complete for s in items)))


def edges_of(columns: dict[int, Summary]) -> Edges:
    """Choose the bins of the columns that need them."""
    return {j: _quantiles(s, N_BINS).values for j, s in columns.items() if not s.complete}


def binned(part: Part, edges: Edges) -> Part:
    """Replace values by the largest value of their bin."""
    values = np.array(part.table.values)
    for j, largest in edges.items():
        has_value = ~np.isnan(values[:, j])
        values[has_value, j] = largest[np.searchsorted(largest, values[has_value, j])]
    return Part(EncodedTable(values, part.table.categorical), part.labeled)


def with_edges(forest: Forest, edges: Edges) -> Forest:
    """Move thresholds between two bins to the largest value of the lower bin.

    The same training rows go left with and without bins.
    """
    threshold = forest.threshold.copy()
    for j, largest in edges.items():
        nodes = np.flatnonzero((forest.feature == j) & np.isfinite(threshold))
        threshold[nodes] = largest[np.searchsorted(largest, threshold[nodes], side="right") - 1]
    state = {**forest.__getstate__(), "threshold": threshold}
    del state["version"]
    return Forest(**state)
