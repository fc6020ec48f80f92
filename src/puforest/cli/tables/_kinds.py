"""Kinds of columns, as the types of Arrow tell them."""

from __future__ import annotations

from typing import Any, NamedTuple

from puforest.cli.tables._arrow import arrow

NUMBER, BOOLEAN, CATEGORY = "number", "boolean", "category"
DATETIME, DURATION = "datetime", "duration"


class ColumnType(NamedTuple):
    """Kind of a column, None if it cannot be a feature, and the name of its type."""

    kind: str | None
    name: str


def column_type(type_: Any) -> ColumnType:
    """Return the kind of an Arrow type; dictionaries of numbers and text are categories."""
    types, value = arrow().types, decoded_type(type_)
    name = str(type_)[:100]
    if is_string(value):
        return ColumnType(CATEGORY, name)
    if types.is_boolean(value):
        return ColumnType(BOOLEAN, name)
    if is_number(value):
        return ColumnType(CATEGORY if types.is_dictionary(type_) else NUMBER, name)
    if types.is_null(value):
        return ColumnType(NUMBER, name)
    if types.is_timestamp(value) or types.is_date(value):
        return ColumnType(DATETIME, name)
    is_duration = types.is_duration(value) or types.is_time(value)
    return ColumnType(DURATION if is_duration else None, name)


def decoded(column: Any) -> Any:
    """Decode dictionaries, run-end encoding and string views."""
    types, compute = arrow().types, arrow("compute")
    if types.is_dictionary(column.type):
        column = column.dictionary_decode()
    elif types.is_run_end_encoded(column.type):
        column = compute.run_end_decode(column)
    kind = decoded_type(column.type)
    return column if kind == column.type else compute.cast(column, kind)


def decoded_type(kind: Any) -> Any:
    """Return the Arrow type of the result of `decoded`."""
    types = arrow().types
    if types.is_dictionary(kind) or types.is_run_end_encoded(kind):
        kind = kind.value_type
    return arrow().string() if str(kind) == "string_view" else kind  # as polars writes text


def is_number(kind: Any) -> bool:
    """Return whether an Arrow type is numeric; booleans are."""
    types, kind = arrow().types, decoded_type(kind)
    return bool(
        types.is_integer(kind)
        or types.is_floating(kind)
        or types.is_boolean(kind)
        or types.is_decimal(kind)
    )


def is_string(kind: Any) -> bool:
    """Return whether an Arrow type is text."""
    types, kind = arrow().types, decoded_type(kind)
    return bool(types.is_string(kind) or types.is_large_string(kind))
