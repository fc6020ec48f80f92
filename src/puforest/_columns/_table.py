"""Tables of all supported libraries, and their columns."""

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

    def fill(self, matrix: NDArray[Any]) -> None:
        """Write the array into a matrix if it has numbers."""
        if self.plain.all():
            matrix[:] = self.values

    def read(self, j: int, place: str) -> Column:
        """Read a column."""
        return read_array(self.values[:, j], place)


def data_frame_library(X: Any) -> str | None:
    """Return the library whose table X is: "pandas", "polars" or "pyarrow"."""
    for library, classes in (
        ("pandas", ("DataFrame",)),
        ("polars", ("DataFrame",)),
        ("pyarrow", ("Table", "RecordBatch")),
    ):
        module = sys.modules.get(library)
        if module is not None and isinstance(X, tuple(getattr(module, name) for name in classes)):
            return library
    return None


def is_data_frame(X: Any) -> bool:
    """Return whether X is a table of pandas, polars or Arrow."""
    return data_frame_library(X) is not None


def as_table(X: Any) -> Any:
    """Return an Arrow table for a record batch, which other packages index by column."""
    if data_frame_library(X) != "pyarrow":
        return X
    import pyarrow as pa

    return pa.Table.from_batches([X]) if isinstance(X, pa.RecordBatch) else X


def columns_of(X: Any) -> TableColumns:
    """Return the columns of a table of pandas, polars or Arrow."""
    library = data_frame_library(X)
    if library == "pandas":
        return PandasColumns(X)
    if library == "polars":
        return PolarsColumns(X)
    return ArrowColumns(as_table(X))
