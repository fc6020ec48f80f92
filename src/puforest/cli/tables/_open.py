"""Opening tables: file formats, and pipes spooled to a temporary file."""

from __future__ import annotations

import os
import shutil
import stat
import sys
import tempfile
import weakref
from functools import partial
from pathlib import Path

from puforest._cleanup import cleanup_if_stopped
from puforest._table_files import found_files
from puforest.cli.tables import COMPRESSED_EXTENSIONS, EXTENSIONS, Format
from puforest.cli.tables._columnar import ARROW_FILE, ARROW_STREAM, ArrowSource, ParquetSource
from puforest.cli.tables._dialect import TextOptions
from puforest.cli.tables._joined import JoinedSource
from puforest.cli.tables._libsvm import LibsvmSource
from puforest.cli.tables._missing import MissingMarkers
from puforest.cli.tables._npz import NpzSource
from puforest.cli.tables._source import Source
from puforest.cli.tables._text import TextSource

STANDARD_INPUT = Path("-")

# Formats by the first bytes of a file, and files that no format fits.
MAGIC = {b"PAR1": "parquet", ARROW_FILE: "arrow", ARROW_STREAM: "arrow"}
UNSUPPORTED = {
    b"PK": "a zip archive: unpack it first, or use --format npz if NumPy saved it",
    b"\x93NUMPY": "a single NumPy array: save it with numpy.savez(path, X=X, y=y)",
}


def open_table(
    path: Path,
    *,
    format: Format | None,  # noqa: A002
    text: TextOptions,
    missing: MissingMarkers | None = None,
) -> Source:
    """Open a table.

    Parameters
    ----------
    path : Path
        The file, a folder, or a pattern of several files; ``-`` is standard input. Pipes are
        copied to a temporary file first.
    format : str or None
        The format; None infers it from the file name or the content.
    text : TextOptions
        How to read text.
    missing : MissingMarkers or None
        Values that mark missing cells; None for the default ones.
    """
    if path != STANDARD_INPUT and (path.is_dir() or not path.exists()):
        parts = [_open(f, f, format or inferred_format(f, f), text) for f in found_files(path)]
        source: Source = JoinedSource(path, parts) if len(parts) > 1 else parts[0]
    elif is_pipe(path):
        spooled, path = SpooledPipe(path), display_name(path)
        source = _open(path, spooled.file, format or inferred_format(path, spooled.file), text)
        source.spooled = spooled
        source.kind += f", {spooled.size:,} bytes"
    else:
        source = _open(path, path, format or inferred_format(path, path), text)
    source.missing = missing or MissingMarkers()
    return source


def _open(path: Path, file: Path, kind: str, text: TextOptions) -> Source:
    if kind == "csv":
        return TextSource(path, file, text)
    if text != TextOptions():
        raise ValueError(
            f"{path} is read as {kind}, but --delimiter, --decimal, --encoding and --no-header "
            "apply to text only: use --format csv to read the file as text"
        )
    if kind == "npz":
        return NpzSource(path, file)
    if kind == "libsvm":
        return LibsvmSource(path, file)
    return ParquetSource(path, file) if kind == "parquet" else ArrowSource(path, file)


def inferred_format(path: Path, file: Path) -> str:
    """Infer the format from the name of `path` or the content of `file`; text by default."""
    extensions = [extension.lower() for extension in path.suffixes]
    if extensions and extensions[-1] in COMPRESSED_EXTENSIONS:
        extensions.pop()
        if extensions and EXTENSIONS.get(extensions[-1]) == "libsvm":
            return "libsvm"
    elif extensions and extensions[-1] in EXTENSIONS:
        return EXTENSIONS[extensions[-1]]
    with file.open("rb") as opened:
        start = opened.read(6)
    for magic, what in UNSUPPORTED.items():
        if start.startswith(magic):
            raise ValueError(f"{path} is {what}")
    return next((kind for magic, kind in MAGIC.items() if start.startswith(magic)), "csv")


# Pipes


def is_pipe(path: Path) -> bool:
    """Tell whether the input can be read only once; refuse devices and terminals."""
    if path != STANDARD_INPUT:
        mode = path.stat().st_mode
    elif sys.stdin is not None:
        mode = os.fstat(0).st_mode
    else:
        raise ValueError("standard input is closed: name a file in place of -")
    if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)):
        raise ValueError(f"{display_name(path)} is neither a file nor a pipe: name a file")
    # Systems differ in whether /dev/stdin starts over each time it is opened.
    is_stream = path == STANDARD_INPUT or path.parent in (Path("/dev"), Path("/dev/fd"))
    return not stat.S_ISREG(mode) or is_stream


def display_name(path: Path) -> Path:
    """Return the name of the file for messages."""
    return Path("standard input") if path == STANDARD_INPUT else path


class SpooledPipe:
    """A temporary file with the content of a pipe.

    It is removed with this object, or when the process ends or is stopped.

    Attributes
    ----------
    file : Path
        The temporary file.
    size : int
        Its size in bytes.
    """

    def __init__(self, path: Path) -> None:
        descriptor, name = tempfile.mkstemp(prefix="puforest-")
        self.file = Path(name)
        remove = partial(self.file.unlink, missing_ok=True)
        stopped = cleanup_if_stopped(remove)
        stopped.begin()
        weakref.finalize(self, remove)
        weakref.finalize(self, stopped.end)
        pipe = 0 if path == STANDARD_INPUT else path
        with open(pipe, "rb", closefd=pipe != 0) as rows, os.fdopen(descriptor, "wb") as copy:
            try:
                shutil.copyfileobj(rows, copy, 2**20)
                copy.flush()
            except OSError as error:
                raise OSError(
                    f"{display_name(path)} is a pipe, and its content cannot be stored in "
                    f"{self.file.parent}: {error.strerror}. Set TMPDIR to a directory with more "
                    "space, or name a file"
                ) from error
            self.size = copy.tell()
