"""Delimiter, decimal point, encoding and header of text files."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass

# Delimiters that are detected, and their names.
DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar", " ": "space"}


@dataclass(frozen=True)
class TextOptions:
    """Options for reading a text file.

    Attributes
    ----------
    delimiter : str or None
        Character between values; None detects it.
    decimal : str
        Decimal point.
    encoding : str
        Character encoding.
    header : bool
        Whether the first line holds the column names.
    """

    delimiter: str | None = None
    decimal: str = "."
    encoding: str = "utf-8"
    header: bool = True

    def check(self) -> None:
        """Raise an error for invalid options."""
        given = "," if self.delimiter is None else self.delimiter.replace("\\t", "\t")
        if len(given) != 1 or not given.isascii() or given in '"\r\n':
            raise ValueError(
                f"--delimiter {self.delimiter!r} must be one character such as ; or |, or \\t for "
                "tab"
            )
        if len(self.decimal) != 1 or self.decimal.isalnum() or self.decimal in '+-" \r\n\t':
            raise ValueError(
                f"--decimal {self.decimal!r} must be one character other than a letter or digit, "
                "such as . or , (as in 3,14)"
            )
        try:
            # Unlike codecs.lookup, it refuses codecs that are not for text, such as zip.
            io.TextIOWrapper(io.BytesIO(), encoding=self.encoding)
        except LookupError as error:
            raise ValueError(
                f"--encoding {self.encoding} is not a known text encoding: try utf-8, utf-16 or "
                "latin-1"
            ) from error


def find_delimiter(head: str) -> str:
    """Detect the delimiter from the first lines of a file.

    It is the one that splits every line into the same number of values, the most of all. If there
    is none, it is the most frequent one in the first line. A space counts only if nothing else
    does.
    """
    lines = head.splitlines()[:100]
    if len(lines) > 1 and not head.endswith(("\n", "\r")):
        lines.pop()  # may be truncated
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
