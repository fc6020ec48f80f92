"""Dates and times in text, as ISO 8601 writes them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from puforest.cli.tables._arrow import arrow

_TIME = r"\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?"
_ZONE = r"(Z|[+-]\d{2}:?\d{2})"
_DATE = rf"^\d{{4}}-\d{{2}}-\d{{2}}([T ]{_TIME}{_ZONE}?)?$"


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
