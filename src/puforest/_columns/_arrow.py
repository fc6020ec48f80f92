"""Columns of Arrow tables."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from puforest._columns._column import (
    Column,
    TableColumns,
    as_categories,
    missing_column,
    nested_error,
)
from puforest._columns._times import NOT_A_TIME, ticks_to_days


class ArrowColumns(TableColumns):
    """Columns of an Arrow table."""

    def __init__(self, table: Any) -> None:
        super().__init__(list(table.column_names), table.shape)
        self.table = table

    def read(self, j: int, place: str) -> Column:
        """Read a column."""
        return read_chunks(self.table.column(j), place)


def read_chunks(column: Any, place: str) -> Column:
    """Read a chunked array."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as is_type

    dtype = column.type
    if is_type.is_dictionary(dtype) and not _is_text(dtype.value_type):
        values = read_chunks(column.cast(dtype.value_type), place)
        return as_categories(values) if values.kind == "number" else values
    if hasattr(is_type, "is_run_end_encoded") and is_type.is_run_end_encoded(dtype):
        return read_chunks(pc.run_end_decode(column), place)
    if is_type.is_null(dtype):
        return missing_column(len(column))
    if is_type.is_boolean(dtype):
        return Column("boolean", _numbers(column.cast(pa.uint8())))
    if is_type.is_integer(dtype) or is_type.is_floating(dtype):
        return Column("number", _numbers(column))
    if is_type.is_decimal(dtype):
        return Column("number", _numbers(column.cast(pa.float64())))
    if is_type.is_temporal(dtype) and not is_type.is_interval(dtype):
        return _times(column)
    if _is_text(dtype) or is_type.is_dictionary(dtype):
        return _categories(column)
    raise nested_error(place, str(dtype))


def _is_text(dtype: Any) -> bool:
    import pyarrow.types as is_type

    return any(
        hasattr(is_type, name) and getattr(is_type, name)(dtype)
        for name in ("is_string", "is_large_string", "is_string_view")
    )


def _numbers(column: Any) -> NDArray[Any]:
    """Convert numbers; integers become floats if there are nulls."""
    values: NDArray[Any] = column.to_numpy()
    return values


def _times(column: Any) -> Column:
    import pyarrow as pa
    import pyarrow.types as is_type

    dtype = column.type
    is_date = is_type.is_date(dtype)
    unit = ("D" if is_type.is_date32(dtype) else "ms") if is_date else dtype.unit
    ticks = column.cast(pa.int32()) if dtype.bit_width == 32 else column
    ticks = ticks.cast(pa.int64()).fill_null(NOT_A_TIME).to_numpy()
    if is_date or is_type.is_timestamp(dtype):
        return Column("datetime", ticks_to_days(ticks, "M", unit))
    return Column("duration", ticks_to_days(ticks, "m", unit))


def _categories(column: Any) -> Column:
    """Read strings, or a dictionary of strings."""
    import pyarrow as pa
    import pyarrow.types as is_type

    is_dictionary = is_type.is_dictionary(column.type)
    text = column.cast(column.type.value_type) if is_dictionary else column
    encoded = text.cast(pa.large_string()).dictionary_encode().unify_dictionaries()
    chunks = encoded.chunks
    codes = [np.asarray(chunk.indices.fill_null(-1)) for chunk in chunks]
    return Column(
        "category",
        np.concatenate(codes) if codes else np.empty(0, dtype=np.int32),
        chunks[0].dictionary.to_pylist() if chunks else [],
        is_text=not is_dictionary,
    )
