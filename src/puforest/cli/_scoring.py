"""Scoring the rows of a table, batch by batch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from puforest._row_digest import RowDigest
from puforest._rows import take_rows
from puforest._unwrap import fitted_trees
from puforest.cli._console import Console
from puforest.cli._model_rows import Gaps, ModelRows
from puforest.cli._options import plural, schema_of
from puforest.cli.tables._arrow import arrow
from puforest.cli.tables._names import name_list

MOST_LISTED = 8


@dataclass(frozen=True)
class Scored:
    """Scores of a batch, and the columns to keep."""

    score: NDArray[np.float64]
    others: Any  # a record batch


@dataclass(frozen=True)
class ScoredTable:
    """Scores of all rows of a table, and the columns to keep.

    Attributes
    ----------
    model : estimator
        Model that scored the rows.
    score : ndarray of shape (n_rows,)
        Scores.
    others : pyarrow.Table
        Other columns.
    digest : RowDigest
        Digest of the rows.
    """

    model: Any
    score: NDArray[np.float64]
    others: Any
    digest: RowDigest

    def is_training_data(self, labeled: NDArray[np.int64]) -> bool:
        """Return True if the model was fitted to these rows with these labels.

        Files written before models had a digest of their training rows only tell the numbers of
        labeled and unlabeled rows.
        """
        record = fitted_trees(self.model)._record
        n_labeled = int(np.count_nonzero(labeled))
        if (n_labeled, len(labeled) - n_labeled) != (record.n_labeled, record.n_unlabeled):
            return False
        return record.digest is None or record.digest == self.digest.text(labeled)

    def held_out(self, labeled: NDArray[np.int64]) -> NDArray[np.float64] | None:
        """Return out-of-bag scores of training rows; None for other rows, or if there are none."""
        return out_of_bag_scores(self.model) if self.is_training_data(labeled) else None


def score_table(
    console: Console, model: Any, rows: ModelRows, others: Sequence[str], purpose: str
) -> ScoredTable:
    """Score all rows of a table, which must have some; `purpose` is for the error message."""
    record, source = fitted_trees(model)._record, rows.source
    digest = RowDigest(record.n_labeled + record.n_unlabeled, record.schema.n_features)
    scores, kept = [], []
    with console.progress(f"Scoring {source.path.name}") as done:
        for scored in scored_batches(model, rows, others, digest=digest):
            scores.append(scored.score)
            kept.append(scored.others)
            done(source.progress)
    if not scores:
        raise ValueError(f"{source.path} has columns but no rows: there is nothing to {purpose}")
    return ScoredTable(model, np.concatenate(scores), arrow().Table.from_batches(kept), digest)


def scored_batches(
    model: Any,
    rows: ModelRows,
    others: Sequence[str],
    n_rows: int | None = None,
    digest: RowDigest | None = None,
) -> Iterator[Scored]:
    """Score the rows of a file, one batch at a time, and add them to the digest."""
    for batch in rows.batches(others, n_rows):
        if digest is not None:
            digested = take_rows(batch.X, digest.take(len(batch.X)))
            if len(digested):
                digest.add(schema_of(model).table(digested, estimator=type(model).__name__))
        yield Scored(np.asarray(model.predict_proba(batch.X)[:, 1]), batch.others)


def out_of_bag_scores(model: Any) -> NDArray[np.float64] | None:
    """Return the out-of-bag scores of the training rows; None if a model does not have them."""
    if not hasattr(model, "_oob_probability") or model._record.out_of_bag is None:
        return None
    score: NDArray[np.float64] = model._oob_probability()
    return score if np.isfinite(score).all() else None


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
