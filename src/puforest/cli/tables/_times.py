"""Dates and durations in text."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from puforest.cli.tables._arrow import arrow
from puforest.cli.tables._kinds import DATETIME, DURATION
from puforest.cli.tables._missing import MissingMarkers

# Dates as ISO 8601 writes them.
_TIME = r"\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?"
_ZONE = r"(Z|[+-]\d{2}:?\d{2})"
_DATE = rf"^\d{{4}}-\d{{2}}-\d{{2}}([T ]{_TIME}{_ZONE}?)?$"

# Durations such as 17:30, 0:00:01.5, 5 days, "2 days 07:21:10" and "-1 days +23:59:00", as pandas
# and Python write them.
_SECONDS = r"(?P<seconds>[0-5]\d(?:\.\d{1,9})?)"
_CLOCK = rf"(?P<sign>[+-]?)(?P<hours>\d{{1,4}}):(?P<minutes>[0-5]\d)(?::{_SECONDS})?"
_DURATION = rf"^(?:(?P<days>-?\d{{1,6}}) days?,?)?(?: ?{_CLOCK})?$"


def dates(words: Any) -> Any:
    """Convert an Arrow array of text without spaces around it; null for text that is no date.

    Times with a zone are converted to UTC, and others are left as they are.
    """
    pa, compute = arrow(), arrow("compute")
    words = compute.if_else(compute.match_substring_regex(words, _DATE), words, None)
    words = compute.replace_substring_regex(words, r"(\.\d{6})\d+", r"\1")
    zoned = compute.match_substring_regex(words, _ZONE + "$")
    local, utc = pa.timestamp("us"), pa.timestamp("us", "UTC")
    try:
        return compute.coalesce(
            compute.cast(compute.if_else(zoned, None, words), local),
            compute.cast(compute.cast(compute.if_else(zoned, words, None), utc), local),
        )
    except pa.ArrowInvalid:  # a day such as February 30
        return pa.array(map(_date, words.to_pylist()), local)


def _date(word: str | None) -> datetime | None:
    if word is None:
        return None
    try:
        found = datetime.fromisoformat(word)
    except ValueError:
        return None
    return found if found.tzinfo is None else found.astimezone(UTC).replace(tzinfo=None)


def durations(words: Any) -> Any:
    """Convert an Arrow array of text without spaces around it; null for text that is no duration.

    The time of day is the duration since midnight.
    """
    pa, compute = arrow(), arrow("compute")
    words = compute.if_else(compute.equal(words, ""), None, words)
    found = compute.extract_regex(words, _DURATION)

    def part(name: str) -> Any:
        text = compute.struct_field(found, name)
        return compute.cast(compute.if_else(compute.equal(text, ""), "0", text), pa.float64())

    seconds = compute.add(
        compute.multiply(compute.add(compute.multiply(part("hours"), 60), part("minutes")), 60),
        part("seconds"),
    )
    is_negative = compute.equal(compute.struct_field(found, "sign"), "-")
    seconds = compute.if_else(is_negative, compute.negate(seconds), seconds)
    total = compute.add(compute.multiply(part("days"), 86_400), seconds)
    microseconds = compute.round(compute.multiply(total, 10**6))
    return compute.cast(compute.cast(microseconds, pa.int64()), pa.duration("us"))


READERS = {DATETIME: dates, DURATION: durations}


def text_as_times(column: Any, kind: str, missing: MissingMarkers) -> Any:
    """Convert dates or durations by way of the distinct cells; null for other text."""
    pa, compute = arrow(), arrow("compute")
    coded = compute.dictionary_encode(column.cast(pa.string()))
    words = missing.as_null(compute.utf8_trim_whitespace(coded.dictionary))
    return READERS[kind](words).take(coded.indices)
