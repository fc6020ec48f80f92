"""Reading check sheets as spreadsheet programs save them."""

from __future__ import annotations

import codecs
import csv
import io
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from puforest.cli.sheets._layout import (
    CODE,
    DESIGN,
    ORIGIN,
    REQUIRED,
    RESERVED,
    ROW,
    VERDICT,
    Origin,
    name_in_table,
)
from puforest.cli.tables._dialect import DELIMITERS
from puforest.cli.tables._labels import NO, YES, as_text
from puforest.cli.tables._names import cut

POSITIVE, NEGATIVE = YES, NO | {"negative", "neg"}

# Byte order marks and the encodings they stand for; without one, text that is not UTF-8 is taken as
# Windows-1252, in which Excel saves CSV files.
MARKS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}

# Lines in which to look for the header, below titles and "sep=;".
HEADER_LINES = 20
HEAD = 2**20

# The separators of the columns; spaces are part of names.
SEPARATORS = [delimiter for delimiter in DELIMITERS if delimiter != " "]


@dataclass(frozen=True)
class Verdict:
    """A verdict in a sheet.

    Attributes
    ----------
    where : str
        File and line, for messages.
    row : int
        Number of the row in the table; the first is 1.
    is_positive : bool
        The verdict.
    design : str
        How the row was chosen.
    origin : Origin
        Where the row was chosen from.
    code : str
        Code of the cells of the row, "" if it is missing.
    cells : dict of str to str
        The other cells of the sheet, by the names of columns in the table.
    """

    where: str
    row: int
    is_positive: bool
    design: str
    origin: Origin
    code: str
    cells: dict[str, str]


def read_verdicts(path: Path) -> list[Verdict]:
    """Read the verdicts of a sheet; rows without one are left out."""
    if not path.exists():
        raise FileNotFoundError(f"{path}: no such check sheet; create one with puforest check")
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a directory: name a check sheet in it")
    with path.open("rb") as file:
        _, header = _header(path, _decoded(file.read(HEAD)))  # before reading a large table
    missing = [name for name in REQUIRED if name not in header]
    if missing:
        raise ValueError(
            f"{path} lacks the column {missing[0]}, {REQUIRED[missing[0]]}: restore it from the "
            "sheet that puforest check wrote"
        )
    verdicts = [_verdict(f"{path}, line {line:,}", cells) for line, cells in _filled(path)]
    if not verdicts:
        raise ValueError(
            f"{path} has no verdicts: write yes or no in the column {VERDICT}, and leave it empty "
            "for rows that were not looked at"
        )
    return verdicts


def holds_verdicts(path: Path) -> bool:
    """Return True if a file is a check sheet with at least one verdict, of any kind."""
    with path.open("rb") as file:
        head = file.read(HEAD)
    try:
        _header(path, _decoded(head))
    except ValueError:
        return False
    try:
        return any(True for _ in _filled(path))
    except ValueError:  # a damaged sheet may hold some
        return True


def _filled(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the line numbers and cells of the rows that have something in the verdict column."""
    text = _decoded(path.read_bytes())
    delimiter, header = _header(path, text)
    rows = _rows(path, text, delimiter)
    for _, row in rows:
        if _names(row) == header:
            break
    for line, row in rows:
        if any(cell.strip() for cell in row[len(header) :]):
            raise ValueError(
                f"{path}, line {line:,} has {len(row)} values, but the header has {len(header)}: "
                "is a cell not quoted?"
            )
        cells = dict(zip(header, [*row, *[""] * len(header)], strict=False))
        if cells[VERDICT].strip() and _names(row) != header:  # of another sheet that was appended
            yield line, cells


def _decoded(raw: bytes) -> str:
    """Decode text; the end of a truncated file may be lost."""
    for mark, encoding in MARKS.items():
        if raw.startswith(mark):
            return codecs.getincrementaldecoder(encoding)("replace").decode(raw).lstrip("\ufeff")
    try:
        return codecs.getincrementaldecoder("utf-8")().decode(raw)
    except UnicodeDecodeError:
        return raw.decode("cp1252", errors="replace")


def _header(path: Path, text: str) -> tuple[str, list[str]]:
    """Find the delimiter and the column names."""
    for delimiter in SEPARATORS:
        for number, (_, row) in enumerate(_rows(path, text, delimiter)):
            names = _names(row)
            if VERDICT in names and ROW in names:
                _refuse_duplicates(path, names)
                return delimiter, names
            if number >= HEADER_LINES:
                break
    raise ValueError(
        f"{path} is not a check sheet: it has no columns {VERDICT} and {ROW}. Sheets are written "
        "by puforest check, and saved as CSV"
    )


def _rows(path: Path, text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield line numbers and cells of the lines that are not empty."""
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        for row in rows:
            if any(cell.strip() for cell in row):
                yield rows.line_num, row
    except csv.Error as error:
        raise ValueError(
            f"{path}, line {rows.line_num:,} cannot be read ({error}): is a quotation mark not "
            "closed?"
        ) from error


def _names(row: list[str]) -> list[str]:
    """Return the names of columns; those of a sheet in any case."""
    names = [name.strip() for name in row]
    while names and not names[-1]:  # added by delimiters at the ends of lines
        names.pop()
    return [name.lower() if name.lower() in RESERVED else name for name in names]


def _refuse_duplicates(path: Path, names: list[str]) -> None:
    for name in RESERVED:
        if names.count(name) > 1:
            raise ValueError(
                f"{path} has {names.count(name)} columns named {name}: rename or remove the ones "
                "that puforest check did not write"
            )


def _verdict(where: str, cells: dict[str, str]) -> Verdict:
    row = _row_number(where, cells[ROW])
    where = f"{where}, row {row:,}"
    origin, design = cells[ORIGIN].strip(), cells[DESIGN].strip()
    if not origin or not design:
        raise ValueError(
            f"{where}: the columns {DESIGN} and {ORIGIN} are empty, so that the row was not chosen "
            "by puforest check. Only rows that were chosen with a known probability can be used: "
            "remove its verdict, or label the row in the table"
        )
    try:
        parsed = Origin.parse(origin)
    except ValueError as error:
        raise ValueError(f"{where}: {error}: restore the column {ORIGIN}") from error
    if not 1 <= row <= parsed.n_rows:
        raise ValueError(f"{where}: rows were chosen from a table of {parsed.n_rows:,} rows")
    return Verdict(
        where=where,
        row=row,
        is_positive=_is_positive(where, cells[VERDICT]),
        design=design,
        origin=parsed,
        code=cells.get(CODE, "").strip().lower(),
        cells={name_in_table(n): cell for n, cell in cells.items() if n and n not in RESERVED},
    )


def _row_number(where: str, text: str) -> int:
    try:
        number = float(_with_point(text))
    except ValueError:
        number = math.nan
    if not number.is_integer() or not abs(number) < 2**53:
        what = f"holds {cut(text.strip())!r}, not a row number" if text.strip() else "is empty"
        raise ValueError(f"{where}: the column {ROW} {what}: restore it")
    return int(number)


def _is_positive(where: str, text: str) -> bool:
    word = as_text(_with_point(text)).lower()
    if word not in POSITIVE | NEGATIVE:
        raise ValueError(
            f"{where}: the verdict {cut(text.strip())!r} is neither yes nor no. Write yes, y, 1, "
            "true or positive, or no, n, 0, false or negative; leave the cell empty if the row was "
            "not looked at"
        )
    return word in POSITIVE


def _with_point(text: str) -> str:
    return text.strip().replace(",", ".")
