"""Writing check sheets for spreadsheet programs."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from puforest.cli.sheets._cells import readable, row_code
from puforest.cli.sheets._layout import (
    CODE,
    DESIGN,
    ORIGIN,
    PROBABILITY,
    ROW,
    SELECTION,
    VERDICT,
    Origin,
    as_plain_text,
    name_in_sheet,
)

SHEET_EXTENSIONS = (".csv", ".tsv")


@dataclass(frozen=True)
class ChosenRow:
    """A row to check.

    Attributes
    ----------
    row : int
        Number of the row in the table; the first is 1.
    probability : float
        Predicted probability.
    selection : float
        Probability of the row to be chosen.
    cells : mapping of str to object
        Cells to show, by column.
    """

    row: int
    probability: float
    selection: float
    cells: Mapping[str, Any]


def write_sheet(
    path: Path,
    rows: Sequence[ChosenRow],
    design: str,
    origin: Origin,
    *,
    delimiter: str,
    point: str,
) -> None:
    """Write a sheet with an empty verdict for each row.

    It starts with a byte order mark, without which Excel does not recognize UTF-8.
    """
    shown = list(rows[0].cells)
    header = [VERDICT, ROW, *map(name_in_sheet, shown)]
    header += [PROBABILITY, SELECTION, DESIGN, ORIGIN, CODE]
    with path.open("w", encoding="utf-8-sig", newline="", errors="replace") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerow(header)
        for row in rows:
            cells = [_cell(row.cells[name], point) for name in shown]
            numbers = [f"{p:.6g}".replace(".", point) for p in (row.probability, row.selection)]
            code = row_code(row.cells)
            writer.writerow(["", row.row, *cells, *numbers, design, origin, code])


def _cell(value: Any, point: str) -> str:
    if isinstance(value, str):
        return as_plain_text(readable(value))
    return readable(value).replace(".", point) if isinstance(value, float) else readable(value)
