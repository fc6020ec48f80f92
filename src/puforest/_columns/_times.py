"""Dates and durations as numbers of days."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

NOT_A_TIME = np.iinfo(np.int64).min

UNITS_PER_DAY = {
    "D": 1,
    "h": 24,
    "m": 24 * 60,
    "s": 86_400,
    "ms": 86_400 * 10**3,
    "us": 86_400 * 10**6,
    "ns": 86_400 * 10**9,
}


def days(values: NDArray[Any]) -> NDArray[np.float64]:
    """Convert datetime64 (since 1970-01-01) or timedelta64 to days, with NaN for NaT.

    Whole days are split off first. Equal times in different units are then equal numbers, since
    the division of the rest, less than 2**53 units, is correctly rounded.
    """
    kind = values.dtype.kind
    unit, step = np.datetime_data(values.dtype)
    if unit not in UNITS_PER_DAY or step != 1:
        unit = "D" if unit in ("Y", "M", "W") else "ns"
        values = values.astype(f"{kind}8[{unit}]")
    per_day = UNITS_PER_DAY[unit]
    ticks = np.ascontiguousarray(values, dtype=f"{kind}8[{unit}]").view(np.int64)
    whole = ticks // per_day
    result = whole + (ticks - whole * per_day) / per_day
    result[ticks == NOT_A_TIME] = np.nan
    return result


def ticks_to_days(ticks: NDArray[Any], kind: str, unit: str) -> NDArray[np.float64]:
    """Convert integers, `NOT_A_TIME` for missing ones, like datetime64 or timedelta64."""
    return days(np.ascontiguousarray(ticks, dtype=np.int64).view(f"{kind}8[{unit}]"))


def in_utc(value: Any) -> Any:
    """Convert a datetime with a time zone to UTC; others are taken to be in UTC."""
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        return value.astimezone(datetime.UTC).replace(tzinfo=None)
    return value


def time_of_day(value: datetime.time) -> datetime.timedelta:
    """Return the time since midnight."""
    return datetime.timedelta(
        hours=value.hour,
        minutes=value.minute,
        seconds=value.second,
        microseconds=value.microsecond,
    )
