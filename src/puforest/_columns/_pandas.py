"""Columns of pandas data frames."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from puforest._columns._arrays import read_array
from puforest._columns._column import Column, TableColumns, nested_error
from puforest._columns._objects import read_objects

# Columns are converted together, since each conversion takes pandas 20 µs, but not all at once,
# since each makes copies.
CELLS_AT_A_TIME = 2**20


class PandasColumns(TableColumns):
    """Columns of a pandas data frame."""

    def __init__(self, frame: Any) -> None:
        super().__init__(list(frame.columns), frame.shape)
        self.frame = frame
        dtypes = list(frame.dtypes)
        plain = {dtype for dtype in set(dtypes) if _is_plain(dtype)}
        self.plain = np.array([dtype in plain for dtype in dtypes], dtype=bool)
        self.plain_types = [dtype for dtype in plain if isinstance(dtype, np.dtype)]

    def sparse(self) -> Any:
        """Return a sparse matrix if all columns are sparse numbers."""
        import pandas as pd

        dtypes = set(self.frame.dtypes)
        if not all(isinstance(dtype, pd.SparseDtype) and not dtype.fill_value for dtype in dtypes):
            return None
        return self.frame.sparse.to_coo() if dtypes else None

    def fill(self, matrix: NDArray[Any]) -> None:
        """Write the columns of plain numbers into a matrix."""
        columns = np.flatnonzero(self.plain)
        size = max(1, CELLS_AT_A_TIME // max(1, self.shape[0]))
        for start in range(0, len(columns), size):
            some = columns[start : start + size]
            matrix[:, some] = self.frame.iloc[:, some].to_numpy(matrix.dtype)

    def read(self, j: int, place: str) -> Column:
        """Read a column."""
        return read_series(self.frame.iloc[:, j], place)


def read_series(series: Any, place: str) -> Column:
    """Read a pandas series."""
    import pandas as pd

    dtype = series.dtype
    if dtype == np.dtype(object) and pd.api.types.infer_dtype(series, skipna=True) == "string":
        return _text(series)
    if isinstance(dtype, np.dtype):
        return read_array(series.to_numpy(), place)
    if isinstance(dtype, pd.CategoricalDtype):
        return _categories(series, place)
    if isinstance(dtype, pd.StringDtype):
        return _text(series)
    if isinstance(dtype, pd.ArrowDtype):
        import pyarrow as pa

        from puforest._columns._arrow import read_chunks

        return read_chunks(pa.chunked_array([pa.array(series.array)]), place)
    if isinstance(dtype, pd.DatetimeTZDtype):
        return read_array(series.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy(), place)
    if isinstance(dtype, pd.PeriodDtype):
        return read_array(series.dt.to_timestamp().to_numpy(), place)
    if isinstance(dtype, pd.IntervalDtype):
        raise nested_error(place, str(dtype))
    if isinstance(dtype, pd.SparseDtype):
        return read_array(np.asarray(series), place)
    if pd.api.types.is_numeric_dtype(dtype):  # nullable numbers and booleans
        kind = "boolean" if pd.api.types.is_bool_dtype(dtype) else "number"
        target = np.float32 if np.can_cast(dtype.numpy_dtype, np.float32) else np.float64
        return Column(kind, series.to_numpy(dtype=target, na_value=np.nan))
    return read_objects(series.astype(object).tolist(), place)


def _text(series: Any) -> Column:
    """Read a series of strings; this is several times as fast as `read_objects`."""
    codes, labels = series.factorize()
    return Column("category", codes, [str(label) for label in labels], is_text=True)


def _categories(series: Any, place: str) -> Column:
    """Read a categorical series."""
    import pandas as pd

    codes, labels = series.cat.codes.to_numpy(), series.cat.categories
    if isinstance(labels.dtype, pd.IntervalDtype):  # of pd.cut
        return Column("category", codes, labels.astype(str).tolist())
    return Column("category", codes, labels.tolist())


def _is_plain(dtype: Any) -> bool:
    return isinstance(dtype, np.dtype) and dtype.kind in "iuf"
