"""Text with a delimiter: CSV and its kin, compressed or not."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from puforest.cli.tables._arrow import arrow, naming
from puforest.cli.tables._csv_errors import is_ragged, line_where, ragged_row
from puforest.cli.tables._names import Names
from puforest.cli.tables._numbers import text_as_numbers
from puforest.cli.tables._source import Rows, Source, batch_of, sliced
from puforest.cli.tables._unpack import unpacked

DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar", " ": "space"}

# Bytes to find the delimiter in.
HEAD = 2**16

# Bytes to parse at a time. The longest row must fit in, so there may be more, up to the limit.
BLOCK = 2**23
LARGEST_BLOCK = 2**28

# Bytes to parse of each column at least, since every block costs some work for each.
CELL = 2**10

EMPTY = "is empty: there are no names and no rows"

# What pyarrow says of a row, and of names, that do not fit into a block.
TOO_LONG = ("straddles two block boundaries", "header is larger than block size")


@dataclass(frozen=True)
class TextOptions:
    """How to read text; only files of text take them.

    Attributes
    ----------
    delimiter : str or None
        What stands between values; None is found out.
    decimal : str
        The decimal point.
    encoding : str
        The encoding of the characters.
    header : bool
        Whether the first line holds names.
    """

    delimiter: str | None = None
    decimal: str = "."
    encoding: str = "utf-8"
    header: bool = True

    def check(self) -> None:
        """Refuse what cannot be meant."""
        given = "," if self.delimiter is None else self.delimiter.replace("\\t", "\t")
        if len(given) != 1 or not given.isascii() or given in '"\r\n':
            raise ValueError(
                f"--delimiter {self.delimiter!r} must be one character such as ; or |, or \\t for "
                "tab"
            )
        if len(self.decimal) != 1 or self.decimal.isalnum() or self.decimal in '+-" \r\n\t':
            raise ValueError(
                f"--decimal {self.decimal!r} must be one character that is no letter or digit: "
                "a point, or a comma as in 3,14"
            )
        try:
            # Unlike codecs.lookup, it refuses codecs that are not for text, such as zip.
            io.TextIOWrapper(io.BytesIO(), encoding=self.encoding)
        except LookupError as error:
            raise ValueError(
                f"--encoding {self.encoding} is not known as an encoding of text: try utf-8, "
                "utf-16 or latin-1"
            ) from error


class TextSource(Source):
    """A file of lines, values apart by a delimiter, names in the first line."""

    decimal: str

    def __init__(self, path: Path, file: Path, options: TextOptions) -> None:
        options.check()
        self.path = path
        self._file = file
        self._options = options
        self.decimal = options.decimal
        head = self._head()
        given = options.delimiter
        self._delimiter = given.replace("\\t", "\t") if given else find_delimiter(head)
        if self._delimiter == self.decimal:
            raise ValueError(
                f"{path}: the delimiter is {self._delimiter!r}, which cannot also be the decimal "
                "point: give another --delimiter or --decimal"
            )
        names, self._skipped = self._header()
        self.names = Names(names)
        self._block = min(max(BLOCK, CELL * len(names)), LARGEST_BLOCK)
        if options.header and len(self.names) and all(map(_is_number, self.names)):
            raise ValueError(
                f"{path}: the first line holds numbers where names should be, such as "
                f"{self.names[0]}: put a line of names first, or give --no-header"
            )
        self.kind = f"text, {DELIMITERS.get(self._delimiter, repr(self._delimiter))} between values"

    def _head(self) -> str:
        """The first lines, or an error where they are not text in the encoding given."""
        with self._naming(), unpacked(self._file) as (stream, _):
            raw = stream.read(HEAD)
            if not raw.strip(b"\xef\xbb\xbf \r\n\t"):
                raise ValueError(f"{self.path} {EMPTY}")
            decoder = codecs.getincrementaldecoder(self._options.encoding)()
            return decoder.decode(raw).lstrip("\ufeff")

    def _header(self) -> tuple[list[str], int]:
        """The names, and how many lines they take.

        Read by Python, as pyarrow would find out types for all columns first: 1.4 s for 60,000.
        """
        with self._naming(), self._lines() as lines:
            rows = csv.reader(lines, delimiter=self._delimiter)
            try:
                first = next((row for row in rows if row), None)
            except csv.Error as error:
                raise ValueError(
                    f"{self.path} has a name of more than {csv.field_size_limit():,} characters "
                    "in its first line: is a quotation mark not closed?"
                ) from error
            if first is None:
                raise ValueError(f"{self.path} {EMPTY}")
            if not self._options.header:
                return [f"f{i}" for i in range(len(first))], 0
            if not any(line.strip("\r\n") for line in lines):
                self.n_rows = 0
            return first, rows.line_num

    @contextmanager
    def _naming(self) -> Iterator[None]:
        """Errors with the name of the file, and with a line and a way out where they are known."""
        try:
            with naming(self.path):
                yield
        except ValueError as error:
            if isinstance(error.__cause__, UnicodeError) or "invalid UTF8" in str(error):
                raise ValueError(
                    f"{self.path} is not text in {self._options.encoding}: give --encoding, for "
                    "example latin-1 or utf-16"
                ) from error
            if not is_ragged(str(error)):
                raise
            with self._lines() as lines:
                rows = csv.reader(lines, delimiter=self._delimiter)
                what = ragged_row(str(error), rows, self._delimiter)
            raise ValueError(f"{self.path}, {what}") from error

    @contextmanager
    def _growing(self) -> Iterator[None]:
        """Larger blocks for the next attempt, where a row does not fit."""
        try:
            with self._naming():
                yield
        except ValueError as error:
            if not any(said in str(error) for said in TOO_LONG):
                raise
            if self._block >= LARGEST_BLOCK:
                raise ValueError(
                    f"{self.path} has a row of more than {self._block // 2**20} MB, which is not "
                    "read: is a quotation mark not closed? Give --delimiter if it was not "
                    "detected correctly"
                ) from error
            self._block = min(8 * self._block, LARGEST_BLOCK)

    @contextmanager
    def _lines(self) -> Iterator[Iterator[str]]:
        """The lines as Python reads them, without a byte order mark."""
        with unpacked(self._file) as (stream, _):
            lines = io.TextIOWrapper(
                stream, encoding=self._options.encoding, errors="replace", newline=""
            )
            yield chain([lines.readline().removeprefix("\ufeff")], lines)
            lines.detach()

    def line_of(self, name: str, cell: str) -> str:
        place = self.names.place(name)
        with self._lines() as lines:
            rows = csv.reader(lines, delimiter=self._delimiter)
            return line_where(rows, lambda row: row[place : place + 1] == [cell])

    @contextmanager
    def _open(self, types: dict[str, Any]) -> Iterator[tuple[Any, Callable[[], int]]]:
        """A reader of some columns; they are called by their places, as names may be twice."""
        module = arrow("csv")
        read = module.ReadOptions(
            block_size=self._block,
            encoding=self._options.encoding,
            column_names=[str(i) for i in range(len(self.names))],
            skip_rows=self._skipped,
        )
        parse = module.ParseOptions(delimiter=self._delimiter, newlines_in_values=True)
        convert = module.ConvertOptions(column_types=types, include_columns=list(types))
        with (
            unpacked(self._file) as (stream, tell),
            module.open_csv(stream, read, parse, convert) as reader,
        ):
            yield reader, tell

    def _blocks(self, columns: Sequence[str]) -> Iterator[Any]:
        """Record batches of these columns as text, and then of the last one, as it may be."""
        pa = arrow()
        size = self._file.stat().st_size
        last = str(len(self.names) - 1)
        types = {str(self.names.place(name)): pa.string() for name in columns}
        types.setdefault(last, pa.binary())
        given, finished = 0, self.n_rows == 0
        while not finished:
            with self._growing(), self._open(types) as (reader, tell):
                seen, end = 0, b""
                for block in reader:
                    seen += block.num_rows
                    # After an attempt with smaller blocks, those rows are known already.
                    if seen > given:
                        yield block.slice(max(0, block.num_rows - (seen - given)))
                        given = seen
                        self.progress = tell() / size if size else 1.0
                        end = block.column(last)[-1].as_buffer().to_pybytes()
                self._require_closed(end)
                finished = True

    def _require_closed(self, end: bytes) -> None:
        """Refuse a quotation mark that makes all the lines after it one value, the last one."""
        if b"\n" not in end and b"\r" not in end:
            return
        with self._lines() as lines:
            for line in lines:
                if line.strip():
                    last = line
        if not last.rstrip().endswith('"'):
            n_lines = len(end.splitlines())
            raise ValueError(
                f"{self.path} has a quotation mark that is not closed in the column "
                f"{self.names[-1]}, which makes the last {n_lines:,} lines one value: close it"
            )

    def batches(self, numbers: Sequence[str], others: Sequence[str], n_rows: int) -> Iterator[Rows]:
        pa = arrow()
        names = list(dict.fromkeys([*numbers, *others]))
        both = {*numbers} & {*others}
        numbered = [(i, name) for i, name in enumerate(numbers) if name in both]
        for block in self._blocks(names):
            for part in sliced(block, n_rows):
                columns = dict(zip(names, part.columns, strict=False))
                cells = [columns[name] for name in numbers]
                found = text_as_numbers(cells, part.num_rows, self.decimal)
                columns |= {name: pa.array(found.X[:, i]) for i, name in numbered}
                yield Rows(found, batch_of([columns[name] for name in others], others))

    def types(self, numbers: Sequence[str], others: Sequence[str]) -> list[Any]:
        pa, both = arrow(), {*numbers} & {*others}
        return [pa.float64() if name in both else pa.string() for name in others]


def find_delimiter(head: str) -> str:
    """The delimiter that cuts the first lines into most values, as many in each line.

    Where none does, the most frequent of the first line. Spaces count only if nothing else does.
    """
    lines = head.splitlines()[:100]
    if len(lines) > 1 and not head.endswith(("\n", "\r")):
        lines.pop()  # may be cut short
    even, first = {}, {}
    for delimiter in DELIMITERS:
        widths = [len(row) for row in csv.reader(lines, delimiter=delimiter) if row]
        if widths and widths[0] > 1:
            first[delimiter] = widths[0]
            if len(set(widths)) == 1:
                even[delimiter] = widths[0]
    found = even or first
    if len(found) > 1:
        found.pop(" ", None)
    return max(found, key=lambda delimiter: found[delimiter], default=",")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
