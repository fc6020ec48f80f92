"""Arrays of NumPy: X, y where there are labels, feature_names where there are names."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from puforest.cli.tables._arrow import arrow, naming
from puforest.cli.tables._source import Rows, Source, typed_rows

LABEL = "y"


class NpzSource(Source):
    """Columns of X, and y as one more of that name."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.kind = "NPZ"
        with naming(path):
            try:
                with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
                    self._arrays = list(arrays.files)
                    self._y: Any = arrays[LABEL] if LABEL in self._arrays else None
                    names = arrays["feature_names"] if "feature_names" in self._arrays else None
            except ValueError as error:
                raise ValueError(f"{path}: {error}") from error
        if "X" not in self._arrays:
            raise ValueError(
                f"{path} has no array X: save it by numpy.savez(path, X=X, y=y), and with "
                "feature_names if there are any"
            )
        with self._opened() as (shape, _, self._dtype, _):
            pass
        if len(shape) != 2 or self._dtype.hasobject:
            raise ValueError(f"{path}: X must hold rows and columns of numbers, got shape {shape}")
        self.n_rows, n_columns = shape
        if self._y is not None and self._y.shape != (self.n_rows,):
            raise ValueError(f"{path}: y has the shape {self._y.shape}, but X has {shape[0]} rows")
        if names is not None and names.shape != (n_columns,):
            raise ValueError(
                f"{path}: there are {n_columns} columns in X, but feature_names has the shape "
                f"{names.shape}"
            )
        columns = [f"x{i}" for i in range(n_columns)] if names is None else names.tolist()
        self._columns = [str(name) for name in columns]
        self.names = [*self._columns]
        if self._y is not None:
            self.label = LABEL
            self.names.append(LABEL)

    @contextmanager
    def _opened(self) -> Iterator[tuple[tuple[int, ...], bool, np.dtype[Any], IO[bytes]]]:
        """Shape, order and type of X, and the file where its values begin."""
        with (
            naming(self.path),
            zipfile.ZipFile(self.path) as archive,
            archive.open("X.npy") as file,
        ):
            version = np.lib.format.read_magic(file)
            header = (
                np.lib.format.read_array_header_1_0
                if version == (1, 0)
                else np.lib.format.read_array_header_2_0
            )
            shape, fortran, dtype = header(file)
            yield shape, fortran, dtype, file

    def _blocks(self, n_rows: int) -> Iterator[NDArray[Any]]:
        with self._opened() as (shape, fortran, dtype, file):
            n, width = shape
            if fortran:
                # Column after column: rows are there only when all is.
                whole = np.frombuffer(file.read(), dtype).reshape(width, n).T
                for start in range(0, n, n_rows):
                    yield whole[start : start + n_rows]
                return
            for start in range(0, n, n_rows):
                count = min(n_rows, n - start)
                raw = file.read(count * width * dtype.itemsize)
                yield np.frombuffer(raw, dtype).reshape(count, width)

    def batches(self, numbers: Sequence[str], others: Sequence[str], n_rows: int) -> Iterator[Rows]:
        pa = arrow()
        place = {name: i for i, name in enumerate(self._columns)}
        columns = list({*numbers, *others})
        done = 0
        for block in self._blocks(n_rows):
            y = None if self._y is None else self._y[done : done + len(block)]
            arrays = [
                pa.array(y if name == self.label else block[:, place[name]]) for name in columns
            ]
            batch = pa.record_batch(arrays, names=columns)
            yield typed_rows(batch, numbers, others, self.path)
            done += len(block)
            self.progress = done / max(1, self.n_rows or 0)

    def read(self, columns: Sequence[str], as_text: Sequence[str]) -> Any:
        pa = arrow()
        schema = pa.schema(list(zip(columns, self.types([], columns), strict=True)))
        batches = [rows.others for rows in self.batches([], columns, max(1, self.n_rows or 0))]
        return pa.Table.from_batches(batches, schema=schema)

    def types(self, numbers: Sequence[str], others: Sequence[str]) -> list[Any]:
        pa = arrow()
        of_x = pa.array(np.zeros(0, self._dtype)).type
        of_y = of_x if self._y is None else pa.array(self._y[:0]).type
        return [of_y if name == self.label else of_x for name in others]
