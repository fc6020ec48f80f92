"""LIBSVM files: each line holds a label and the nonzero values."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from puforest.cli.tables._arrow import arrow, decompressed, naming
from puforest.cli.tables._names import Names, Numbered
from puforest.cli.tables._numbers import Numbers
from puforest.cli.tables._source import Batch, Source, batch_of

LABEL = "label"

# Lines to parse at a time when looking for columns.
LINES = 2**14


class LibsvmSource(Source):
    """Columns are named by their index, and are zero in lines that do not mention them."""

    kind = "LIBSVM"
    label = LABEL
    absent_is_zero = True
    is_matrix = True
    item_size = 8

    def __init__(self, path: Path, file: Path) -> None:
        self.path = path
        self._file = file
        self.n_rows = 0
        found: NDArray[np.int64] = np.empty(0, np.int64)
        waiting: list[NDArray[np.int64]] = []
        for X, y in self._blocks(LINES):
            self.n_rows += len(y)
            waiting.append(np.unique(X.indices))
            if sum(map(len, waiting)) > len(found):  # the cost of a merge grows with both sides
                found, waiting = np.unique(np.concatenate([found, *waiting])), []
        found = np.unique(np.concatenate([found, *waiting]))
        # Indices start at 1, unless the file contains a 0.
        numbers = range(min(1, int(found[0])), int(found[-1]) + 1) if len(found) else range(0)
        self.names = Numbered([LABEL], "", numbers)
        self._present = Names([LABEL, *map(str, found.tolist())])

    @property
    def present(self) -> Names:
        return self._present

    def _blocks(self, n_rows: int) -> Iterator[tuple[Any, NDArray[np.float64]]]:
        """Read rows, with columns from index 0 on, and their labels."""
        done = 0
        with naming(self.path), decompressed(self._file) as (stream, _):
            file = io.BufferedReader(stream)
            while lines := list(islice(file, n_rows)):
                try:
                    yield _parsed(lines)
                except (ValueError, OverflowError) as error:
                    first = _first_wrong(lines)
                    raise ValueError(
                        f"{self.path}, line {done + first + 1:,} does not have the form 'label "
                        f"index:value index:value ...', with increasing indices below {2**31:,}: "
                        f"{str(error)[:100]}"
                    ) from error
                done += len(lines)

    def batches(
        self, numbers: Sequence[str], others: Sequence[str], n_rows: int
    ) -> Iterator[Batch]:
        pa = arrow()
        wanted, rest = _Columns(numbers), _Columns(others)
        done = 0
        for X, y in self._blocks(n_rows):
            kept = [pa.array(column) for column in rest.of(X, y).T]
            dense = wanted.of(X, y)
            self.missing.clear(dense)
            yield Batch(Numbers(dense, {}), batch_of(kept, others))
            done += len(y)
            self.progress = done / max(1, self.n_rows or 0)

    def sparse_batches(self, columns: Sequence[str]) -> Iterator[tuple[Any, NDArray[np.float64]]]:
        """Read sparse rows of some columns, in ascending order, and the labels."""
        wanted = _Columns(columns)
        for X, y in self._blocks(LINES):
            yield wanted.sparse(X), y

    def types(self, numbers: Sequence[str], others: Sequence[str]) -> list[Any]:
        return [arrow().float64() for _ in others]


class _Columns:
    """Some columns of sparse rows, in any order."""

    def __init__(self, names: Sequence[str]) -> None:
        # Labels are stored apart from the sparse rows.
        numbers = np.array([-1 if name == LABEL else int(name) for name in names], np.int64)
        self._order = np.argsort(numbers)
        self._sorted = numbers[self._order]
        self._labels = np.flatnonzero(numbers == -1)

    def of(self, X: Any, y: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the columns as a dense matrix."""
        dense = np.zeros((len(y), len(self._order)))
        found, place = self._find(X)
        rows = np.repeat(np.arange(len(y)), np.diff(X.indptr))
        dense[rows[found], self._order[place]] = X.data[found]
        dense[:, self._labels] = y[:, np.newaxis]
        return dense

    def sparse(self, X: Any) -> Any:
        """Return the columns, which are in ascending order, as a sparse matrix."""
        found, place = self._find(X)
        ends = np.append(0, np.cumsum(found))[X.indptr]
        return csr_array((X.data[found], place, ends), shape=(X.shape[0], len(self._order)))

    def _find(self, X: Any) -> tuple[NDArray[np.bool_], NDArray[np.intp]]:
        """Return which values are in one of the columns, and their columns in ascending order."""
        place = np.searchsorted(self._sorted, X.indices)
        found = place < len(self._sorted)
        found[found] = self._sorted[place[found]] == X.indices[found]
        return found, place[found]


def _parsed(lines: Sequence[bytes]) -> tuple[Any, NDArray[np.float64]]:
    # A tenth of the start-up time of the other formats.
    from sklearn.datasets import load_svmlight_file

    X, y = load_svmlight_file(io.BytesIO(b"".join(lines)), zero_based=True)
    return X, y


def _first_wrong(lines: Sequence[bytes]) -> int:
    """Find the first line that cannot be parsed, by bisection."""
    good, wrong = 0, len(lines)
    while wrong - good > 1:
        middle = (good + wrong) // 2
        try:
            _parsed(lines[good:middle])
            good = middle
        except (ValueError, OverflowError):
            wrong = middle
    return good
