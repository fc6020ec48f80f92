"""The rows with the highest scores, of a table of any size."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from puforest.cli.tables._arrow import arrow


class TopRows:
    """The `n` rows with the highest scores so far; ties are broken by row order.

    Only these rows are kept in memory.

    Parameters
    ----------
    n : int
        Number of rows.

    Attributes
    ----------
    n_seen : int
        Number of rows added.
    score : ndarray
        Their scores, in descending order.
    row : ndarray
        Their numbers; the first row added is 1.
    others : pyarrow.Table or None
        Their other columns; None before any rows are added.
    """

    def __init__(self, n: int) -> None:
        self._n = n
        self.n_seen = 0
        self.score: NDArray[np.float64] = np.empty(0)
        self.row: NDArray[np.int64] = np.empty(0, np.int64)
        self.others: Any = None

    def add(
        self, score: NDArray[np.float64], others: Any, ranked: NDArray[np.bool_] | None = None
    ) -> None:
        """Add a batch of rows: their scores, and a record batch of other columns.

        `ranked` marks the rows to rank; all of them, by default.
        """
        pa = arrow()
        # Rows that are no better than the last one come after it.
        least = self.score[-1] if len(self.score) == self._n else -np.inf
        better = np.flatnonzero(score > least if ranked is None else (score > least) & ranked)
        # Among rows of equal scores, the sort keeps the first: those of earlier batches.
        joined = np.concatenate([self.score, score[better]])
        order = np.argsort(-joined, kind="stable")[: self._n]
        self.row = np.concatenate([self.row, self.n_seen + 1 + better])[order]
        self.score = joined[order]
        table = pa.Table.from_batches([others]).take(pa.array(better))
        if self.others is not None:
            table = pa.concat_tables([self.others, table])
        self.others = table.take(pa.array(order)).combine_chunks()
        self.n_seen += len(score)
