"""Delimited text: CSV and similar files, compressed or not."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

from puforest._text import reads_as_number
from puforest.cli.tables._arrow import arrow, decompressed, naming
from puforest.cli.tables._dialect import DELIMITERS, TextOptions, find_delimiter
from puforest.cli.tables._names import Names
from puforest.cli.tables._numbers import text_as_numbers
from puforest.cli.tables._source import Batch, Source, batch_of, sliced

# Bytes in which to detect the delimiter.
HEAD = 2**16

# Bytes to parse at a time. A row must fit into a block, so blocks may grow up to the limit.
BLOCK = 2**23
LARGEST_BLOCK = 2**28

# Minimum bytes of a block per column, since each block costs some work for each column.
CELL = 2**10

EMPTY = "is empty: it has no header and no rows"

# Messages of pyarrow for a row and a header that do not fit into a block.
TOO_LONG = ("straddles two block boundaries", "header is larger than block size")

# Message of pyarrow for a row with too many or too few values, without the line number.
RAGGED = re.compile(r"Expected (\d+) columns, got (\d+)")


class TextSource(Source):
    """A text file with one row per line and the column names in the first."""

    delimiter: str
    decimal: str

    def __init__(self, path: Path, file: Path, options: TextOptions) -> None:
        options.check()
        self.path = path
        self._file = file
        self._options = options
        self.decimal = options.decimal
        head = self._head()
        given = options.delimiter
        self.delimiter = given.replace("\\t", "\t") if given else find_delimiter(head)
        if self.delimiter == self.decimal:
            raise ValueError(
                f"{path}: {self.delimiter!r} cannot be both the delimiter and the decimal point: "
                "set another --delimiter or --decimal"
            )
        names, self._skipped = self._header()
        self.names = Names(names)
        self._block = min(max(BLOCK, CELL * len(names)), LARGEST_BLOCK)
        if options.header and len(self.names) and all(map(reads_as_number, self.names)):
            raise ValueError(
                f"{path}: the first line holds numbers such as {self.names[0]}, not column names: "
                "add a header line, or use --no-header"
            )
        self.kind = f"text, delimiter {DELIMITERS.get(self.delimiter, repr(self.delimiter))}"

    def _head(self) -> str:
        """Read the first lines; raise an error if they are not text in the given encoding."""
        with self._naming(), decompressed(self._file) as (stream, _):
            raw = stream.read(HEAD)
            if not raw.strip(b"\xef\xbb\xbf \r\n\t"):
                raise ValueError(f"{self.path} {EMPTY}")
            decoder = codecs.getincrementaldecoder(self._options.encoding)()
            return decoder.decode(raw).lstrip("\ufeff")

    def _header(self) -> tuple[list[str], int]:
        """Read the column names; also return how many lines they take.

        pyarrow would infer the types of all columns first, which takes 1.4 s for 60,000.
        """
        with self._naming(), self._lines() as lines:
            rows = csv.reader(lines, delimiter=self.delimiter)
            try:
                first = next((row for row in rows if row), None)
            except csv.Error as error:
                raise ValueError(
                    f"{self.path} has a column name of more than {csv.field_size_limit():,} "
                    "characters in its first line: is a quotation mark not closed?"
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
        """Add the file name to errors, and the line and a remedy if they are known."""
        try:
            with naming(self.path):
                yield
        except ValueError as error:
            if isinstance(error.__cause__, UnicodeError) or "invalid UTF8" in str(error):
                raise ValueError(
                    f"{self.path} is not {self._options.encoding} text: set --encoding, for "
                    "example latin-1 or utf-16"
                ) from error
            ragged = RAGGED.search(str(error))
            if ragged is None:
                raise
            expected, found = ragged.groups()
            line = self._line_where(lambda row: len(row) != int(expected))
            raise ValueError(
                f"{self.path}, {line}{found} values, but the rows before it have {expected}. "
                f"Correct the row, or set --delimiter; the file was read with {self.delimiter!r}"
            ) from error

    @contextmanager
    def _growing(self) -> Iterator[None]:
        """Enlarge the blocks for the next attempt if a row does not fit."""
        try:
            with self._naming():
                yield
        except ValueError as error:
            if not any(said in str(error) for said in TOO_LONG):
                raise
            if self._block >= LARGEST_BLOCK:
                raise ValueError(
                    f"{self.path} has a row of more than {self._block // 2**20} MB, which is the "
                    "limit: is a quotation mark not closed? Set --delimiter if it was not "
                    "detected correctly"
                ) from error
            self._block = min(8 * self._block, LARGEST_BLOCK)

    @contextmanager
    def _lines(self) -> Iterator[Iterator[str]]:
        """Read the lines in Python, without a byte order mark."""
        with decompressed(self._file) as (stream, _):
            lines = io.TextIOWrapper(
                stream, encoding=self._options.encoding, errors="replace", newline=""
            )
            yield chain([lines.readline().removeprefix("\ufeff")], lines)
            lines.detach()

    def line_of(self, name: str, cell: str) -> str:
        place = self.names.place(name)
        return self._line_where(lambda row: row[place : place + 1] == [cell])

    def _line_where(self, matches: Callable[[list[str]], bool]) -> str:
        """Return the number of the first matching line, as the beginning of a message."""
        with self._lines() as lines:
            rows = csv.reader(lines, delimiter=self.delimiter)
            try:
                found = any(row and matches(row) for row in rows)
            except csv.Error:  # a cell too long for this reader, but not for pyarrow
                found = False
            return f"line {rows.line_num:,}: " if found else ""

    @contextmanager
    def _open(self, types: dict[str, Any]) -> Iterator[tuple[Any, Callable[[], int]]]:
        """Open a reader of some columns, which are named by position, as names may be duplicate."""
        module = arrow("csv")
        read = module.ReadOptions(
            block_size=self._block,
            encoding=self._options.encoding,
            column_names=[str(i) for i in range(len(self.names))],
            skip_rows=self._skipped,
        )
        parse = module.ParseOptions(delimiter=self.delimiter, newlines_in_values=True)
        convert = module.ConvertOptions(column_types=types, include_columns=list(types))
        with (
            decompressed(self._file) as (stream, tell),
            module.open_csv(stream, read, parse, convert) as reader,
        ):
            yield reader, tell

    def _blocks(self, columns: Sequence[str]) -> Iterator[Any]:
        """Read record batches of these columns as text, and of the last column as bytes."""
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
                    # Rows of an earlier attempt with smaller blocks are skipped.
                    if seen > given:
                        yield block.slice(max(0, block.num_rows - (seen - given)))
                        given = seen
                        self.progress = tell() / size if size else 1.0
                        end = block.column(last)[-1].as_buffer().to_pybytes()
                self._require_closed(end)
                finished = True

    def _require_closed(self, end: bytes) -> None:
        """Refuse an open quotation mark, which turns all lines after it into one value."""
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
                f"{self.names[-1]}, so that the last {n_lines:,} lines are one value: close it"
            )

    def batches(
        self, numbers: Sequence[str], others: Sequence[str], n_rows: int
    ) -> Iterator[Batch]:
        pa = arrow()
        names = list(dict.fromkeys([*numbers, *others]))
        both = {*numbers} & {*others}
        numbered = [(i, name) for i, name in enumerate(numbers) if name in both]
        for block in self._blocks(names):
            for part in sliced(block, n_rows):
                columns = dict(zip(names, part.columns, strict=False))
                cells = [columns[name] for name in numbers]
                found = text_as_numbers(cells, part.num_rows, self.decimal, self.missing)
                columns |= {n: pa.array(found.X[:, i], from_pandas=True) for i, n in numbered}
                yield Batch(found, batch_of([columns[name] for name in others], others))

    def types(self, numbers: Sequence[str], others: Sequence[str]) -> list[Any]:
        pa, both = arrow(), {*numbers} & {*others}
        return [pa.float64() if name in both else pa.string() for name in others]
