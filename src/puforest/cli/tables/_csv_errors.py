"""What is wrong with a row of text: in which line, in which column, and what to do."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from puforest.cli.tables._numbers import DECIMAL_COMMA, WITH_COMMA, quoted

# What pyarrow says of them, which has no line in it.
RAGGED = re.compile(r"Expected (\d+) columns, got (\d+)")
CELL = re.compile(r"column #(\d+): CSV conversion error to double: invalid value '(.*)'", re.DOTALL)

LONGEST = 40


class Rows(Protocol):
    """What `csv.reader` returns."""

    line_num: int

    def __iter__(self) -> Iterator[list[str]]: ...


def is_about_a_row(message: str) -> bool:
    """Whether pyarrow complains about a row, which `explained` looks for."""
    return bool(RAGGED.search(message) or CELL.search(message))


def explained(message: str, rows: Rows, names: Sequence[str], delimiter: str, decimal: str) -> str:
    """What pyarrow's message means for the user, who has given `rows`."""
    cell = CELL.search(message)
    if cell is None:
        ragged = RAGGED.search(message)
        assert ragged is not None
        where = _line(rows, lambda row: len(row) != int(ragged[1]))
        return (
            f"{where}{ragged[2]} values where the rows before have {ragged[1]}. Correct the row, "
            f"or say by --delimiter what stands between values; it was read with {delimiter!r}"
        )
    i, value = int(cell[1]), cell[2]
    where = _line(rows, lambda row: row[i : i + 1] == [value])
    text = value if len(value) <= LONGEST else f"{value[:LONGEST]}..."
    if decimal == "." and re.match(WITH_COMMA, value):
        way_out = DECIMAL_COMMA
    else:
        way_out = f"Correct it, or fit a model without the column: --drop {quoted(names[i])}"
    return f"{where}the column {names[i]} holds {text!r}, which is no number. {way_out}"


def _line(rows: Rows, is_it: Callable[[list[str]], bool]) -> str:
    """Where the first such row is, as the beginning of a message."""
    try:
        found = any(row and is_it(row) for row in rows)
    except csv.Error:  # a cell too long for this reader; pyarrow has taken it
        found = False
    return f"line {rows.line_num:,}: " if found else ""
