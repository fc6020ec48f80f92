"""Columns of polars data frames."""

from __future__ import annotations

from typing import Any

import numpy as np

from puforest._columns._column import Column, TableColumns, missing_column, nested_error
from puforest._columns._objects import read_objects
from puforest._columns._times import NOT_A_TIME, ticks_to_days


class PolarsColumns(TableColumns):
    """Columns of a polars data frame."""

    def __init__(self, frame: Any) -> None:
        super().__init__(list(frame.columns), frame.shape)
        self.frame = frame

    def read(self, j: int, place: str) -> Column:
        """Read a column."""
        return _read_series(self.frame.to_series(j), place)


def _read_series(series: Any, place: str) -> Column:
    import polars as pl

    dtype = series.dtype
    if dtype == pl.Boolean:
        return Column("boolean", series.cast(pl.Float32).to_numpy())
    if dtype.is_numeric():
        short = (pl.Int8, pl.Int16, pl.UInt8, pl.UInt16, pl.Float32)  # exact in float32
        return Column("number", (series if dtype in short else series.cast(pl.Float64)).to_numpy())
    if dtype == pl.String:
        return _text(series)
    if dtype in (pl.Categorical, pl.Enum):
        return _categories(series)
    if dtype.is_temporal():
        kind = "M" if dtype in (pl.Date, pl.Datetime) else "m"
        unit = getattr(dtype, "time_unit", "D" if dtype == pl.Date else "ns")
        ticks = series.to_physical().cast(pl.Int64).fill_null(NOT_A_TIME).to_numpy()
        days = ticks_to_days(ticks, kind, unit)
        return Column("datetime" if kind == "M" else "duration", days)
    if dtype == pl.Null:
        return missing_column(len(series))
    if dtype == pl.Object:
        return read_objects(series.to_list(), place)
    raise nested_error(place, str(dtype))


def _text(series: Any) -> Column:
    """Read strings."""
    import polars as pl

    labels = series.drop_nulls().unique()
    codes = series.cast(pl.Enum(labels)).to_physical().cast(pl.Int64).fill_null(-1)
    return Column("category", codes.to_numpy(), labels.to_list(), is_text=True)


def _categories(series: Any) -> Column:
    """Read categories; the codes of polars depend on what else it has read, and have gaps."""
    import polars as pl

    distinct = series.drop_nulls().unique()
    physical = distinct.to_physical().cast(pl.Int64).to_numpy()
    order = np.argsort(physical)
    cells = series.to_physical().cast(pl.Int64).fill_null(-1).to_numpy()
    codes = np.searchsorted(physical[order], cells)
    codes[cells < 0] = -1
    labels = distinct.cast(pl.String).to_list()
    return Column("category", codes, [labels[i] for i in order])
