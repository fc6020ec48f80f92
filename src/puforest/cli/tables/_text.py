"""Text with a delimiter: CSV and its kin, compressed or not."""

from __future__ import annotations

import codecs
import csv
import io
import lzma
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from puforest.cli.tables._arrow import arrow, naming
from puforest.cli.tables._csv_errors import explained, is_about_a_row
from puforest.cli.tables._source import Rows, Source, sliced

# The first bytes of compressed files.
MAGIC = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bz2",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\x04\x22\x4d\x18": "lz4",
}
XZ = b"\xfd7zXZ"

DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar", " ": "space"}

# Bytes to find the delimiter in, and bytes to parse at a time: the longest row must fit in.
HEAD = 2**16
BLOCK = 2**23


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


class TextSource(Source):
    """A file of lines, values apart by a delimiter, names in the first line."""

    _raw: Any  # the file as it lies on the disk, which knows how far it was read

    def __init__(self, path: Path, options: TextOptions) -> None:
        self.path = path
        self._options = options
        self.decimal = options.decimal
        try:
            codecs.lookup(options.encoding)
        except LookupError as error:
            raise ValueError(
                f"--encoding {options.encoding} is not known: try utf-8, utf-16 or latin-1"
            ) from error
        head = self._head()
        self._delimiter = self._unescaped(options.delimiter) or find_delimiter(head)
        self.names = []
        with self._naming(), self._stream() as stream, self._reader(stream, {}) as reader:
            self.names = [str(name) for name in reader.schema.names]
        if options.header and self.names and all(map(_is_number, self.names)):
            raise ValueError(
                f"{path}: the first line holds numbers where names should be, such as "
                f"{self.names[0]}: put a line of names first, or give --no-header"
            )
        self.kind = f"text, {DELIMITERS.get(self._delimiter, repr(self._delimiter))} between values"

    def _unescaped(self, delimiter: str | None) -> str | None:
        if delimiter is None:
            return None
        plain = delimiter.replace("\\t", "\t")
        if len(plain) != 1:
            raise ValueError(f"--delimiter {delimiter!r} must be one character, or \\t for tab")
        return plain

    def _head(self) -> str:
        """The first lines, or an error where they are not text in the encoding given."""
        with naming(self.path), self._stream() as stream:
            raw = stream.read(HEAD)
        if not raw.strip(b"\xef\xbb\xbf \r\n\t"):
            raise ValueError(f"{self.path} is empty: there are no names and no rows")
        decoder = codecs.getincrementaldecoder(self._options.encoding)()
        try:
            return decoder.decode(raw).lstrip("\ufeff")
        except UnicodeDecodeError as error:
            raise ValueError(
                f"{self.path} is not text in {self._options.encoding}: give --encoding, for "
                "example latin-1 or utf-16"
            ) from error

    @contextmanager
    def _stream(self) -> Iterator[Any]:
        """The file, unpacked."""
        pa = arrow()
        with self.path.open("rb") as file:
            start = file.read(6)
        if start.startswith(XZ):
            with self.path.open("rb") as self._raw, lzma.open(self._raw) as unpacked:
                yield pa.PythonFile(unpacked, mode="r")
            return
        codec = next((name for magic, name in MAGIC.items() if start.startswith(magic)), None)
        with pa.OSFile(str(self.path)) as self._raw:
            yield pa.CompressedInputStream(self._raw, codec) if codec else self._raw

    @contextmanager
    def _naming(self) -> Iterator[None]:
        """Errors with the name of the file; those about a row with its line."""
        try:
            with naming(self.path):
                yield
        except ValueError as error:
            if not is_about_a_row(str(error)):
                raise
            with self._stream() as stream:
                lines = io.TextIOWrapper(
                    stream, encoding=self._options.encoding, errors="replace", newline=""
                )
                rows = csv.reader(lines, delimiter=self._delimiter)
                if self._options.header:
                    next(rows)
                what = explained(
                    str(error), rows, self.names, self._delimiter, self._options.decimal
                )
                lines.detach()
            raise ValueError(f"{self.path}, {what}") from error

    def _reader(self, stream: Any, convert: dict[str, Any], *, whole: bool = False) -> Any:
        module = arrow("csv")
        read = module.ReadOptions(
            block_size=BLOCK,
            encoding=self._options.encoding,
            autogenerate_column_names=not self._options.header,
        )
        parse = module.ParseOptions(delimiter=self._delimiter, newlines_in_values=True)
        convert_options = module.ConvertOptions(decimal_point=self._options.decimal, **convert)
        run = module.read_csv if whole else module.open_csv
        return run(stream, read, parse, convert_options)

    def batches(self, numbers: Sequence[str], others: Sequence[str], n_rows: int) -> Iterator[Rows]:
        pa = arrow()
        types = {name: pa.string() for name in others} | {name: pa.float64() for name in numbers}
        size = self.path.stat().st_size
        convert = {"column_types": types, "include_columns": list(types)}
        with (
            self._naming(),
            self._stream() as stream,
            self._reader(stream, convert) as reader,
        ):
            for block in reader:
                for part in sliced(block, n_rows):
                    yield Rows(part.select(list(numbers)), part.select(list(others)))
                self.progress = self._raw.tell() / size if size else 1.0

    def types(self, numbers: Sequence[str], others: Sequence[str]) -> list[Any]:
        pa = arrow()
        return [pa.float64() if name in numbers else pa.string() for name in others]

    def read(self, columns: Sequence[str], as_text: Sequence[str]) -> Any:
        types = {name: arrow().string() for name in as_text}
        convert = {"column_types": types, "include_columns": list(columns)}
        with self._naming(), self._stream() as stream:
            return self._reader(stream, convert, whole=True)


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
