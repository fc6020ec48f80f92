"""Scoring the rows of a table, batch by batch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from puforest.cli._console import Console
from puforest.cli._model_rows import Gaps, ModelRows
from puforest.cli._options import plural
from puforest.cli.tables._names import name_list

MOST_LISTED = 8


@dataclass(frozen=True)
class Scored:
    """Scores of a batch, and the columns to keep."""

    score: NDArray[np.float64]
    others: Any  # a record batch


def scored_batches(
    model: Any, rows: ModelRows, others: Sequence[str], n_rows: int | None = None
) -> Iterator[Scored]:
    """Score the rows of a file, one batch at a time."""
    for batch in rows.batches(others, n_rows):
        yield Scored(np.asarray(model.predict_proba(batch.X)[:, 1]), batch.others)


def report_gaps(console: Console, path: Path, gaps: Gaps) -> None:
    """Print the numbers of missing values and of unknown categories."""
    missing, unknown = (
        {n: k for n, k in c.most_common() if k} for c in (gaps.missing, gaps.unknown)
    )
    if missing:
        console.info(f"{path}: {listed_cells('missing value', missing)}")
    if unknown:
        text = f"{path}: {listed_cells('value', unknown)}"
        text += ". The model does not know these categories, and treats them as missing"
        new = [n for n, k in unknown.items() if 2 * k > gaps.n_rows - gaps.missing[n]]
        (console.warning if new else console.info)(text)


def listed_cells(noun: str, counts: Mapping[str, int]) -> str:
    """Describe a number of cells, by column."""
    columns = name_list([f"{name} ({n:,})" for name, n in counts.items()], MOST_LISTED)
    return f"{plural(sum(counts.values()), noun)} in {plural(len(counts), 'column')}: {columns}"
