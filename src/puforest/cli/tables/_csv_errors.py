"""Where in a file of text something is wrong, and what to do."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator
from typing import Protocol

# What pyarrow says of a row with too many or too few values, which has no line in it.
RAGGED = re.compile(r"Expected (\d+) columns, got (\d+)")


class Rows(Protocol):
    """What `csv.reader` returns."""

    line_num: int

    def __iter__(self) -> Iterator[list[str]]: ...


def is_ragged(message: str) -> bool:
    """Whether pyarrow complains about the number of values of a row."""
    return bool(RAGGED.search(message))


def ragged_row(message: str, rows: Rows, delimiter: str) -> str:
    """What pyarrow's message means for the user, who has given `rows`."""
    ragged = RAGGED.search(message)
    assert ragged is not None
    where = line_where(rows, lambda row: len(row) != int(ragged[1]))
    return (
        f"{where}{ragged[2]} values where the rows before have {ragged[1]}. Correct the row, "
        f"or say by --delimiter what stands between values; it was read with {delimiter!r}"
    )


def line_where(rows: Rows, is_it: Callable[[list[str]], bool]) -> str:
    """Where the first such row is, as the beginning of a message."""
    try:
        found = any(row and is_it(row) for row in rows)
    except csv.Error:  # a cell too long for this reader; pyarrow has taken it
        found = False
    return f"line {rows.line_num:,}: " if found else ""
