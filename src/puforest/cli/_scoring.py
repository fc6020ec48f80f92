"""Scoring the rows of a table, batch by batch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from puforest._unwrap import fitted_trees
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


def has_probabilities(model: Any) -> bool:
    """Return True if the scores of a model are calibrated probabilities."""
    return hasattr(model, "calibrator_") or fitted_trees(model)._record.calibrator is not None


def report_missing(console: Console, path: Path, gaps: Gaps) -> None:
    """Print the number of missing values, by column."""
    if +gaps.missing:
        console.info(f"{path}: {listed_cells('missing value', +gaps.missing)}")


def report_unknown(console: Console, path: Path, gaps: Gaps) -> None:
    """Print the number of unknown categories, with an example from each column.

    It is a warning if most of the values of a column are unknown.
    """
    unknown = dict((+gaps.unknown).most_common())
    if not unknown:
        return
    listed = [f"{name} ({n:,}, such as {gaps.examples[name]!r})" for name, n in unknown.items()]
    text = f"{path}: {plural(sum(unknown.values()), 'value')} in {plural(len(unknown), 'column')} "
    text += f"not known to the model, treated as missing: {name_list(listed, MOST_LISTED)}"
    odd = [name for name, n in unknown.items() if 2 * n > gaps.n_rows - gaps.missing[name]]
    (console.warning if odd else console.info)(text)


def listed_cells(noun: str, counts: Mapping[str, int]) -> str:
    """Describe a number of cells, by column."""
    most = sorted(counts.items(), key=lambda item: -item[1])
    columns = name_list([f"{name} ({n:,})" for name, n in most], MOST_LISTED)
    return f"{plural(sum(counts.values()), noun)} in {plural(len(counts), 'column')}: {columns}"
