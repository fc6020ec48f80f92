"""Which library a table comes from, and its columns."""

from __future__ import annotations

import sys
from typing import Any

from numpy.typing import NDArray

from puforest._columns._arrays import read_array
from puforest._columns._arrow import ArrowColumns
from puforest._columns._column import Column, TableColumns
from puforest._columns._pandas import PandasColumns
from puforest._columns._polars import PolarsColumns


class ArrayColumns(TableColumns):
    """Columns of a two-dimensional array of any type."""

    def __init__(self, values: NDArray[Any]) -> None:
        super().__init__(list(range(values.shape[1])), (values.shape[0], values.shape[1]))
        self.values = values
        if values.dtype.kind in "biuf":
            self.plain[:] = True
            self.plain_types = [values.dtype]

    def numbers(self, dtype: Any) -> NDArray[Any]:
        """Return the array."""
        return self.values.astype(dtype, copy=False)

    def read(self, j: int, place: str) -> Column:
        """Read a column."""
        return read_array(self.values[:, j], place)


def data_frame_library(X: Any) -> str | None:
    """Return the library whose table X is: "pandas", "polars" or "pyarrow"."""
    for library, classes in (
        ("pandas", ("DataFrame",)),
        ("polars", ("DataFrame", "LazyFrame")),
        ("pyarrow", ("Table", "RecordBatch")),
    ):
        module = sys.modules.get(library)
        if module is not None and isinstance(X, tuple(getattr(module, name) for name in classes)):
            return library
    return None


def is_data_frame(X: Any) -> bool:
    """Return whether X is a table of pandas, polars or Arrow."""
    return data_frame_library(X) is not None


def columns_of(X: Any) -> TableColumns:
    """Return the columns of a table of pandas, polars or Arrow."""
    library = data_frame_library(X)
    if library == "pandas":
        return PandasColumns(X)
    if library == "polars":
        if not hasattr(X, "to_series"):
            raise TypeError("X is a polars LazyFrame: pass X.collect()")
        return PolarsColumns(X)
    import pyarrow as pa

    return ArrowColumns(pa.Table.from_batches([X]) if isinstance(X, pa.RecordBatch) else X)
