"""Files as streams of bytes, unpacked where they are compressed."""

from __future__ import annotations

import lzma
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from puforest.cli.tables._arrow import arrow

# The first bytes of compressed files.
MAGIC = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bz2",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\x04\x22\x4d\x18": "lz4",
}
XZ = b"\xfd7zXZ"


@contextmanager
def unpacked(file: Path) -> Iterator[tuple[Any, Callable[[], int]]]:
    """The content as a file of pyarrow, and how far the file on the disk has been read."""
    pa = arrow()
    with file.open("rb") as raw:
        start = raw.read(6)
        if start.startswith(XZ):
            raw.seek(0)
            with lzma.open(raw) as stream:
                yield pa.PythonFile(stream, mode="r"), raw.tell
            return
    codec = next((name for magic, name in MAGIC.items() if start.startswith(magic)), None)
    with pa.OSFile(str(file)) as stored:
        yield pa.CompressedInputStream(stored, codec) if codec else stored, stored.tell
