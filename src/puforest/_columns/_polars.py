"""Columns of polars data frames."""

from __future__ import annotations

from typing import Any

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
        wide = dtype.is_decimal() or dtype in (pl.Int128, pl.UInt64)
        return Column("number", (series.cast(pl.Float64) if wide else series).to_numpy())
    if dtype in (pl.String, pl.Categorical, pl.Enum):
        return _categories(series, is_text=dtype == pl.String)
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


def _categories(series: Any, *, is_text: bool) -> Column:
    """Read strings, or categories as strings: the codes of polars depend on its string cache."""
    import polars as pl

    labels = series.drop_nulls().unique().cast(pl.String)
    codes = series.cast(pl.String).cast(pl.Enum(labels)).to_physical()
    return Column(
        "category",
        codes.cast(pl.Int64).fill_null(-1).to_numpy(),
        labels.to_list(),
        is_text=is_text,
    )
