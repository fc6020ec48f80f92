"""Write a table batch by batch."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from puforest.cli.tables._arrow import arrow

WRITABLE = (".csv", ".tsv", ".csv.gz", ".csv.zst", ".parquet", ".arrow", ".feather")
CODECS = {".gz": "gzip", ".zst": "zstd"}


def written_format(path: Path) -> str:
    """The ending of the name that says how to write, or an error that lists them."""
    name = path.name.lower()
    found = [suffix for suffix in WRITABLE if name.endswith(suffix)]
    if not found:
        raise ValueError(f"{path}: name a file that ends in {', '.join(WRITABLE)}")
    return max(found, key=len)


@contextmanager
def open_writer(path: Path | None, suffix: str, schema: Any) -> Iterator[Any]:
    """Something with ``write_batch``; `suffix` is that of `written_format`.

    No path is standard output, for text.
    """
    if suffix == ".parquet":
        with arrow("parquet").ParquetWriter(path, schema, compression="zstd") as writer:
            yield writer
        return
    pa = arrow()
    codec = CODECS.get(Path(suffix).suffix)
    printed = path is None
    with pa.PythonFile(_Printed()) if printed else pa.OSFile(str(path), "wb") as file:
        if suffix in (".arrow", ".feather"):
            with arrow("ipc").new_file(file, schema) as writer:
                yield writer
            return
        module = arrow("csv")
        options = module.WriteOptions(delimiter="\t" if suffix == ".tsv" else ",")
        sink = pa.CompressedOutputStream(file, codec) if codec else file
        with sink, module.CSVWriter(sink, schema, write_options=options) as writer:
            yield writer


class _Printed(io.RawIOBase):
    """Standard output, which stays open when this is closed."""

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        return sys.stdout.buffer.write(data)
