"""New rows compared with the population that a model was trained on."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from puforest._rows import take_rows
from puforest.cli._console import Console
from puforest.cli._model_rows import ModelRows, joined
from puforest.cli._options import percent, plural
from puforest.cli._prior_text import estimate_json, estimate_text
from puforest.diagnostics import adapt_prior, drift_report

# Fractions of as many rows have a standard error below 0.002.
MOST_ROWS = 100_000

# Values to keep in memory, 128 MB, unless rows would be too few.
MOST_VALUES, FEWEST_ROWS = 2**24, 1000


class RowSample:
    """A random sample of at most `n` of the rows that are added, batch by batch.

    Parameters
    ----------
    n : int
        Maximum number of rows.
    """

    def __init__(self, n: int) -> None:
        self._n = n
        self._rng = np.random.default_rng(0)
        self._parts: list[tuple[NDArray[np.float64], Any]] = []
        self.n_seen = 0

    def add(self, X: Any) -> None:
        """Add a batch of rows."""
        self._parts.append((self._rng.random(len(X)), X))
        self.n_seen += len(X)
        if sum(len(keys) for keys, _ in self._parts) >= 2 * self._n:
            self._thin()

    def rows(self) -> Any:
        """Return the sample."""
        self._thin()
        return joined([part for _, part in self._parts])

    def _thin(self) -> None:
        """Keep the rows with the smallest random keys."""
        keys = np.concatenate([keys for keys, _ in self._parts])
        if len(keys) <= self._n:
            return
        limit = np.partition(keys, self._n)[self._n]
        kept = [(keys < limit, keys, part) for keys, part in self._parts]
        self._parts = [
            (keys[is_kept], take_rows(part, np.flatnonzero(is_kept)))
            for is_kept, keys, part in kept
            if is_kept.any()
        ]


def sampled(console: Console, rows: ModelRows) -> Any:
    """Read a random sample of the rows of a table."""
    n_columns = max(1, len(rows.numbers))
    n_rows = max(FEWEST_ROWS, min(MOST_ROWS, MOST_VALUES // n_columns))
    sample = RowSample(n_rows)
    with console.progress(f"Reading {rows.source.path.name}") as done:
        for batch in rows.batches([]):
            sample.add(batch.X)
            done(rows.source.progress)
    if not sample.n_seen:
        raise ValueError(f"{rows.source.path} has columns but no rows: there is nothing to compare")
    if sample.n_seen > n_rows:
        console.info(f"{rows.source.path}: compared {n_rows:,} random rows of {sample.n_seen:,}")
    return sample.rows()


def show_drift(console: Console, model: Any, X: Any) -> dict[str, Any]:
    """Compare rows with the training population, and print the differences."""
    found = drift_report(model, X)
    compared = (
        "scored by as many trees as training rows are out of bag, "
        f"{percent(found.positive_fraction)} of them are predicted positive, compared with "
        f"{percent(found.training_fraction)} of the training population, and the distributions of "
        f"the scores differ by up to {found.ks_statistic:.3f}"
    )
    if found.significant:
        console.warning(
            f"these rows differ from the training data by more than chance (p = "
            f"{found.p_value:.2g}): {compared}. If only the class prior has changed, use "
            "--adapt-prior, or --prior if you know it. Otherwise, fit the model to newer data"
        )
    else:
        console.info(
            f"These rows do not differ from the training data by more than chance (p = "
            f"{found.p_value:.2g}): {compared}"
        )
    for change in found.columns:
        console.info(str(change))
    return {
        "significant": found.significant,
        "p_value": found.p_value,
        "positive_fraction": found.positive_fraction,
        "training_fraction": found.training_fraction,
        "difference_interval": found.difference_interval,
        "ks_statistic": found.ks_statistic,
        "columns": [str(change) for change in found.columns],
    }


def adapted(console: Console, model: Any, X: Any) -> tuple[Any, dict[str, Any]]:
    """Adapt a model to the class prior of new rows; also return the estimate as JSON."""
    estimate = adapt_prior(model, X)
    shifted = model.with_shifted_prior(estimate)
    console.info(
        f"Class prior of these {plural(len(X), 'row')}: {estimate_text(estimate)}. Their scores "
        f"use {shifted.prior_:.3g}; the prior was {model.prior_:.3g} in training. {estimate.reason}"
    )
    return shifted, estimate_json(estimate)
