"""Check sheets as people and spreadsheet programs leave them."""

import csv
import io
from pathlib import Path
from typing import NamedTuple


class Sheet(NamedTuple):
    """Header and rows of a sheet."""

    header: list[str]
    rows: list[dict[str, str]]

    def column(self, name):
        return [row[name] for row in self.rows]

    def answered(self, verdict):
        """The sheet with verdicts, given by a function of the row number."""
        return Sheet(
            self.header, [row | {"verdict": verdict(int(row["row"]))} for row in self.rows]
        )


def read_sheet(path):
    with Path(path).open(encoding="utf-8-sig", newline="") as file:
        rows = csv.reader(file)
        header = next(rows)
        return Sheet(header, [dict(zip(header, row, strict=True)) for row in rows])


def save_sheet(
    sheet,
    path,
    *,
    delimiter=",",
    encoding="utf-8",
    end="\n",
    quoting=csv.QUOTE_MINIMAL,
    before="",
    blank_lines=0,
):
    """Write a sheet in a dialect; `before` are lines before the header."""
    text = io.StringIO()
    writer = csv.DictWriter(
        text, sheet.header, delimiter=delimiter, lineterminator=end, quoting=quoting
    )
    writer.writeheader()
    writer.writerows(sheet.rows)
    blank = (delimiter * (len(sheet.header) - 1) + end) * blank_lines
    Path(path).write_bytes((before + text.getvalue() + blank).encode(encoding))
    return path


def fill(path, verdict, filled=None):
    """Fill in a sheet in place, or into another file."""
    return save_sheet(read_sheet(path).answered(verdict), filled or path)
