"""Cells of the rows of a table: as text for a sheet, and as codes that identify the rows."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any

import numpy as np

from puforest._text import rounded
from puforest.cli.sheets._layout import letters
from puforest.cli.tables._labels import as_text
from puforest.cli.tables._source import Source, rows_at_a_time

# Significant digits of numbers that are not text in the table.
DIGITS = 6


def cells_of_rows(
    source: Source, columns: Sequence[str], wanted: Sequence[int]
) -> Iterator[tuple[int, dict[int, dict[str, Any]]]]:
    """Read a table; yield the number of rows so far, and cells of the wanted ones in each batch.

    Rows are numbered from 1; `wanted` is in ascending order.
    """
    done = 0
    rows = np.asarray(wanted)
    for batch in source.batches(
        [], columns or list(source.names[:1]), rows_at_a_time(len(columns))
    ):
        n = batch.others.num_rows
        here = rows[(rows > done) & (rows <= done + n)]
        taken = batch.others.take((here - done - 1).astype(np.int64)).to_pylist()
        done += n
        yield done, dict(zip(here.tolist(), taken, strict=True))


def readable(value: Any) -> str:
    """Convert a cell of a table to text: text unchanged, dates as in ISO 8601."""
    if isinstance(value, datetime):
        text = value.isoformat(" ")
        return text.removesuffix(" 00:00:00")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, float) and not value.is_integer() and value == value:
        return rounded(value, DIGITS)
    if isinstance(value, str):
        return value.strip()
    return str(value) if isinstance(value, timedelta | bytes) else as_text(value)


def row_code(cells: Mapping[str, Any]) -> str:
    """Return a code of the cells of a row by column name, whatever their order."""
    digest = hashlib.sha256()
    for name, value in sorted(cells.items()):
        for part in (name, value.strip() if isinstance(value, str) else repr(value)):
            coded = part.encode(errors="surrogatepass")
            digest.update(len(coded).to_bytes(8, "little") + coded)
    return letters(digest.digest())
