"""Training on tables that are larger than memory, of which only some rows are kept."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from puforest._file_fit import fit_to_needed_rows
from puforest._memory import available_memory
from puforest._needed_rows import NeededRows
from puforest._part_of_table import PartOfTable, WholeLabels
from puforest._table_files import found_files
from puforest._training_rows import TrainingRows
from puforest.cli import _options as o
from puforest.cli._console import Console
from puforest.cli._models import ModelOptions
from puforest.cli.tables._pu_table import NEARLY_UNIQUE, PUTable, read_only_labels, read_part
from puforest.cli.tables._source import Source
from puforest.prior import PriorEstimatedWarning

# A table is not read into memory if it would take more than this fraction of what is available.
# Numbers in memory take at least four bytes, and a fit takes several times as much as the table.
MOST_OF_MEMORY = 0.25


class EvaluatedRows(NamedTuple):
    """Rows on which a model was evaluated during its fit.

    Attributes
    ----------
    rows : TrainingRows
        The rows: all labeled ones, and some unlabeled ones.
    labeled : ndarray
        1 for labeled rows, 0 for unlabeled ones.
    score : ndarray
        Their out-of-bag probabilities.
    weight : ndarray
        Number of rows of the table that each row stands for.
    """

    rows: TrainingRows
    labeled: NDArray[np.int64]
    score: NDArray[np.float64]
    weight: NDArray[np.float64]


def is_streamed(
    wanted: bool | None, source: Source, options: ModelOptions, checks: o.CheckOptions
) -> bool:
    """Return whether to stream a table: as the user wants, or if it is too large for memory."""
    reasons = {
        "--checked needs the scores of all rows": bool(checks.checked),
        f"--model {options.model} is trained and evaluated on all rows": options.model != "forest",
        f"{source.path} holds a matrix ({source.kind})": source.is_matrix,
    }
    why_not = next((reason for reason, applies in reasons.items() if applies), None)
    if wanted and why_not is not None:
        raise ValueError(f"--stream: {why_not}: use --in-memory")
    if wanted is not None or why_not is not None:
        return bool(wanted)
    available = available_memory()
    return available is not None and size_in_memory(source) > MOST_OF_MEMORY * available


def size_in_memory(source: Source) -> int:
    """Return the number of bytes that a table takes at least, in memory or on disk."""
    if source.spooled is not None:
        return int(source.spooled.size)
    on_disk = sum(file.stat().st_size for file in found_files(source.path))
    return max(on_disk, (source.n_rows or 0) * len(source.names) * source.item_size)


def train_streamed(
    console: Console,
    source: Source,
    columns: o.TrainingColumns,
    options: ModelOptions,
    parameters: dict[str, Any],
    show: Callable[[PUTable], object],
) -> tuple[Any, PUTable, EvaluatedRows]:
    """Train a forest on the rows of a table that it needs.

    `parameters` are those of the forest besides `options`; `show` prints the table.
    """
    with console.progress(f"Reading the labels of {source.path.name}"):
        rule, labeled = read_only_labels(
            source, label=columns.label, positive=columns.positive, choice=columns.choice
        )
    whole = WholeLabels(np.array([0, 1]), labeled)
    forest = options.estimator(whole.n_labeled, whole.totals.n_unlabeled, **parameters)
    n_threads = forest._n_threads()
    tables: list[PUTable] = []

    def read(needed: NeededRows) -> PartOfTable:
        kept = whole.needed(0, len(labeled), needed, n_threads)
        with console.progress(f"Reading {source.path.name}") as done:

            def select(first: int, n: int) -> NDArray[np.intp]:
                done(source.progress)
                return np.flatnonzero(kept[first : first + n])

            table = read_part(source, rule, labeled, columns.choice, select)
        if not tables:
            show(table)
        tables[:] = [table]
        ids = np.flatnonzero(kept)
        n_rows, n_all = len(ids), len(labeled)
        console.detail(f"{n_rows:,} of {n_all:,} rows are kept in memory")
        return PartOfTable(table.features.X, ids)

    @contextmanager
    def training() -> Iterator[Any]:
        what = "Training" if forest.prior else "Estimating the prior and training"
        with console.progress(what) as done, warnings.catch_warnings():
            warnings.simplefilter("ignore", PriorEstimatedWarning)  # printed with the forest
            yield done

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", NEARLY_UNIQUE)  # printed with the table
        evaluated = fit_to_needed_rows(forest, whole, read, training)
    assert evaluated is not None
    rows, scores = evaluated
    is_labeled = (np.arange(len(rows.order)) < rows.n_labeled).astype(np.int64)
    stands_for = whole.totals.n_unlabeled / rows.n_unlabeled
    weight = np.where(is_labeled == 1, 1.0, stands_for)
    return forest, tables[0], EvaluatedRows(rows, is_labeled, forest._calibrated(scores), weight)
