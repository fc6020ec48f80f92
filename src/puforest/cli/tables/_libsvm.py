"""LIBSVM files: a label and the values that are not zero in each line."""

from __future__ import annotations

import bz2
import gzip
import io
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from puforest.cli.tables._arrow import arrow, naming
from puforest.cli.tables._source import Rows, Source

LABEL = "label"
OPENERS: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open}

# Lines that are looked at together to find the number of columns.
LINES = 2**14


class LibsvmSource(Source):
    """Columns are named by their number in the file, and hold zeros where a line is silent."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.kind = "LIBSVM"
        self.label = LABEL
        self.absent_is_zero = True
        self.n_rows, first, last = 0, np.inf, -1
        for X, _ in self._blocks(LINES):
            self.n_rows += X.shape[0]
            if X.nnz:
                first, last = min(first, X.indices.min()), max(last, X.indices.max())
        # Numbers start at 1, unless a line says otherwise.
        self.names = [LABEL, *(str(i) for i in range(int(min(first, 1)), int(last) + 1))]

    def _blocks(self, n_rows: int) -> Iterator[tuple[Any, Any]]:
        """Rows with all columns from 0 on, and their labels."""
        # Here, as importing it was a tenth of the start of the program.
        from sklearn.datasets import load_svmlight_file

        done = 0
        opened = OPENERS.get(self.path.suffix, open)
        with naming(self.path), opened(self.path, "rb") as file:
            while lines := list(islice(file, n_rows)):
                try:
                    yield load_svmlight_file(io.BytesIO(b"".join(lines)), zero_based=True)
                except (ValueError, UnicodeDecodeError) as error:
                    raise ValueError(
                        f"{self.path}: lines {done + 1} to {done + len(lines)} are not all of the "
                        f"form 'label number:value number:value ...': {error}"
                    ) from error
                done += len(lines)

    def batches(self, numbers: Sequence[str], others: Sequence[str], n_rows: int) -> Iterator[Rows]:
        pa = arrow()
        done = 0
        for X, y in self._blocks(n_rows):
            values = X.tocsc()
            known = values.shape[1]

            def column(name: str, values: Any = values, y: Any = y, known: int = known) -> Any:
                if name == LABEL:
                    return y
                i = int(name)
                return values[:, [i]].toarray().ravel() if i < known else np.zeros(len(y))

            yield Rows(
                *(
                    pa.record_batch([pa.array(column(name)) for name in names], names=list(names))
                    for names in (numbers, others)
                )
            )
            done += len(y)
            self.progress = done / max(1, self.n_rows or 0)

    def read(self, columns: Sequence[str], as_text: Sequence[str]) -> Any:
        pa = arrow()
        schema = pa.schema(list(zip(columns, self.types([], columns), strict=True)))
        batches = [rows.others for rows in self.batches([], columns, LINES)]
        return pa.Table.from_batches(batches, schema=schema)

    def types(self, numbers: Sequence[str], others: Sequence[str]) -> list[Any]:
        return [arrow().float64() for _ in others]
