"""Output files: never overwritten without ``--force``, written atomically, in batches."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from puforest._atomic_write import atomic_write, require_place
from puforest.cli.sheets._read import holds_verdicts
from puforest.cli.tables import OUTPUT_EXTENSIONS
from puforest.cli.tables._arrow import arrow

CODECS = {".gz": "gzip", ".zst": "zstd"}


def refuse_existing(path: Path, *, force: bool, inputs: Sequence[Path | None] = ()) -> None:
    """Raise an error if `path` cannot be written, or exists and `force` is not set.

    Files that are read, `inputs`, and check sheets that hold verdicts are not replaced in any case.
    """
    require_place(path)
    for source in inputs:
        if source is not None and path.exists() and source.exists() and path.samefile(source):
            raise ValueError(f"{path} is also the input: choose another name for the output")
    if path.exists() and not force:
        raise FileExistsError(f"{path} exists: use --force to replace it, or choose another name")
    if path.is_file() and holds_verdicts(path):
        raise FileExistsError(
            f"{path} is a check sheet that holds verdicts, which --force does not replace: choose "
            "another name, or move the sheet away first"
        )


@contextmanager
def atomic_output(path: Path, *, force: bool) -> Iterator[Path]:
    """Write atomically; check for an existing file before and after."""
    refuse_existing(path, force=force)
    with atomic_write(path) as part:
        yield part
        refuse_existing(path, force=force)


def output_extension(path: Path) -> str:
    """Return the extension that determines the output format."""
    name = path.name.lower()
    found = [extension for extension in OUTPUT_EXTENSIONS if name.endswith(extension)]
    if not found:
        raise ValueError(f"{path}: the file name must end in {', '.join(OUTPUT_EXTENSIONS)}")
    return max(found, key=len)


@contextmanager
def open_writer(path: Path | None, extension: str, schema: Any) -> Iterator[Any]:
    """Yield an object with ``write_batch``; see `output_extension`.

    Without a path, text is written to standard output.
    """
    if extension == ".parquet":
        with arrow("parquet").ParquetWriter(path, schema, compression="zstd") as writer:
            yield writer
        return
    pa = arrow()
    codec = CODECS.get(Path(extension).suffix)
    with pa.PythonFile(_StandardOutput()) if path is None else pa.OSFile(str(path), "wb") as file:
        if extension in (".arrow", ".feather"):
            with arrow("ipc").new_file(file, schema) as writer:
                yield writer
            return
        module = arrow("csv")
        options = module.WriteOptions(delimiter="\t" if extension == ".tsv" else ",")
        sink = pa.CompressedOutputStream(file, codec) if codec else file
        with sink, module.CSVWriter(sink, schema, write_options=options) as writer:
            yield writer


class _StandardOutput(io.RawIOBase):
    """Standard output; closing this object leaves it open."""

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        return sys.stdout.buffer.write(data)
