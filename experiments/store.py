"""A CSV file of results that grows line by line.

Lines are appended under a lock, so that several processes can add to the same file, and only the
new end of the file is read again. An interrupted write leaves an incomplete last line, which is
ignored, and removed by the next write.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from filelock import FileLock

Line = dict[str, str]


class Lines:
    """A CSV file with a unique key for each line, which subclasses define."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._forget()

    def key(self, line: dict[str, Any]) -> Any:
        """Key of a line, which is unique in the file."""
        raise NotImplementedError

    def by_key(self) -> dict[Any, Line]:
        self._read()
        return self._stored

    def lines(self) -> list[Line]:
        return list(self.by_key().values())

    def add(self, *records: dict[str, Any]) -> None:
        """Add lines, which replace older ones with the same key."""
        header = list(records[0])
        keys = {self.key(record) for record in records}
        with self._locked():
            if self._header == header and keys.isdisjoint(self._stored):
                self._append(records)
            else:
                kept = [line for line in self.lines() if self.key(line) not in keys]
                self._replace(header, [*kept, *records])

    def drop(self, unwanted: Callable[[Line], bool]) -> None:
        """Remove the lines that meet a condition."""
        with self._locked():
            lines = self.lines()
            kept = [line for line in lines if not unwanted(line)]
            if len(kept) < len(lines):
                self._replace(self._header, kept)

    def _forget(self) -> None:
        self._header: list[str] = []
        self._stored: dict[Any, Line] = {}
        self._inode, self._end = 0, 0  # the file, and the size of the part that was read

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Lock the file and read what other processes have added."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(self.path.with_suffix(".lock")):
            self._read()
            yield

    def _read(self) -> None:
        """Read the complete lines that were added since the last time."""
        if not self.path.exists():
            self._forget()
            return
        with self.path.open("rb") as file:
            status = os.fstat(file.fileno())
            if status.st_ino != self._inode or status.st_size < self._end:
                self._forget()
                self._inode = status.st_ino
            file.seek(self._end)
            new = file.read()
        new = new[: new.rfind(b"\n") + 1]
        self._end += len(new)
        rows = list(csv.reader(io.StringIO(new.decode(), newline="")))
        if rows and not self._header:
            self._header = rows.pop(0)
        for row in rows:
            if len(row) == len(self._header):
                line = dict(zip(self._header, row, strict=True))
                self._stored[self.key(line)] = line

    def _append(self, records: Iterable[dict[str, Any]]) -> None:
        with self.path.open("r+b") as file:
            file.truncate(self._end)
            file.seek(self._end)
            _write(file, self._header, records)

    def _replace(self, header: Sequence[str], records: Iterable[dict[str, Any]]) -> None:
        """Replace the file atomically."""
        part = self.path.with_suffix(".part")
        with part.open("wb") as file:
            _write(file, header, [dict(zip(header, header, strict=True)), *records])
        part.replace(self.path)


def _write(file: Any, header: Sequence[str], records: Iterable[dict[str, Any]]) -> None:
    text = io.StringIO(newline="")
    csv.DictWriter(text, header).writerows(records)
    file.write(text.getvalue().encode())
    file.flush()
    os.fsync(file.fileno())
