"""Exact mode: partitions stay on the cluster, and trees are grown on all of their rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from dask import delayed
from distributed import Future

from puforest._encoded import EncodedTable
from puforest._training_rows import TrainingRows
from puforest.dask._cluster import Tasks
from puforest.dask._exact_tasks import Part
from puforest.dask._overview import Overview, of_partitions
from puforest.dask._partitions import TrainingPartitions
from puforest.dask._reading import Reader


@dataclass(frozen=True, eq=False)
class AllRowsReader(Reader):
    """Reads all rows of partitions but those of weight zero."""

    def read(self, X: Any, others: Mapping[str, Any], n_rows: int) -> Part:
        """Read a partition."""
        opened = self.opened(X, others, n_rows)
        used = np.flatnonzero(opened.weight > 0)
        return Part(self.encoded(opened, used), opened.labeled[used])


def type_of(part: Part) -> np.dtype[Any]:
    """Return the type of the numbers of a partition."""
    return part.table.dtype


def converted(part: Part, dtype: np.dtype[Any]) -> Part:
    """Convert the numbers of a partition."""
    values = part.table.values.astype(dtype)
    return Part(EncodedTable(values, part.table.categorical), part.labeled)


def read_parts(
    tasks: Tasks, partitions: TrainingPartitions, found: Overview, *, estimator: str
) -> list[Future]:
    """Read all partitions, as numbers of the same type."""
    reader = AllRowsReader(
        found.schema,
        partitions.feature_columns,
        partitions.columns,
        found.labels,
        found.exponent,
        estimator,
    )
    read = delayed(reader.read, pure=False, traverse=False)
    parts = tasks.compute(
        [
            read(X, delayed(others), last - first, dask_key_name=tasks.key("read", k))
            for k, ((X, others), (first, last)) in enumerate(
                zip(partitions.whole(), pairwise(found.first_ids), strict=True)
            )
        ]
    )
    typing = [tasks.submit("type", type_of, part) for part in parts]
    types = of_partitions(tasks, parts, partitions, then=typing)
    dtype = np.result_type(*types)
    changed = {
        k: tasks.submit("convert", converted, part, dtype)
        for k, part in enumerate(parts)
        if types[k] != dtype
    }
    tasks.wait(list(changed.values()))
    tasks.release([*typing, *(parts[k] for k in changed)])
    return [changed.get(k, part) for k, part in enumerate(parts)]


def outline(found: Overview) -> tuple[TrainingRows, EncodedTable]:
    """Return the labeled rows as a part of the training data, and a table without rows.

    All labeled rows must have the same weight.
    """
    n = found.n_labeled
    rows = TrainingRows(
        found.classes,
        np.arange(n, dtype=np.uint32),
        n,
        np.full(n, found.largest_labeled),
        None,
        whole=found.totals,
    )
    no_rows = np.empty((0, found.schema.n_features), np.float32)
    return rows, EncodedTable(no_rows, found.schema.categorical)
