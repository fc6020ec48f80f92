"""From the name of a file to a source of its rows."""

from __future__ import annotations

from pathlib import Path

from puforest.cli.tables._columnar import ARROW_FILE, ARROW_STREAM, ArrowSource, ParquetSource
from puforest.cli.tables._libsvm import LibsvmSource
from puforest.cli.tables._npz import NpzSource
from puforest.cli.tables._pipe import STANDARD_INPUT, Spooled, is_pipe, shown_name
from puforest.cli.tables._source import Source
from puforest.cli.tables._text import TextOptions, TextSource

FORMATS = ("csv", "parquet", "arrow", "libsvm", "npz")

SUFFIXES = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".libsvm": "libsvm",
    ".svm": "libsvm",
    ".svmlight": "libsvm",
    ".npz": "npz",
}
COMPRESSED = (".gz", ".bz2", ".xz", ".zst", ".lz4")
MAGIC = {b"PAR1": "parquet", ARROW_FILE: "arrow", ARROW_STREAM: "arrow"}

REFUSED = {
    b"PK": "a zip archive: unpack it first, or give --format npz if NumPy saved it",
    b"\x93NUMPY": "a single array of NumPy: save it by numpy.savez(path, X=X, y=y)",
}


def open_table(path: Path, *, format: str | None, text: TextOptions) -> Source:  # noqa: A002
    """Open a table; the format goes by the name of the file, or by how it begins.

    Parameters
    ----------
    path : Path
        The file; a pipe is read to its end first, and ``-`` is standard input.
    format : str or None
        One of `FORMATS`, where its name does not say it.
    text : TextOptions
        How to read it if it is text.
    """
    if path != STANDARD_INPUT and not path.exists():
        raise FileNotFoundError(f"{path}: there is no such file")
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder: name one file")
    if format is not None and format not in FORMATS:
        raise ValueError(f"--format {format} is not one of {', '.join(FORMATS)}")
    if not is_pipe(path):
        return _open(path, path, format or guessed(path, path), text)
    spooled, path = Spooled(path), shown_name(path)
    source = _open(path, spooled.file, format or guessed(path, spooled.file), text)
    source.spooled = spooled
    source.kind += f", {spooled.size:,} bytes"
    return source


def _open(path: Path, file: Path, kind: str, text: TextOptions) -> Source:
    if kind == "csv":
        return TextSource(path, file, text)
    if text != TextOptions():
        raise ValueError(
            f"{path} is read as {kind}, which --delimiter, --decimal, --encoding and --no-header "
            "do not go with: they are about text; --format csv takes the file for text"
        )
    if kind == "npz":
        return NpzSource(path, file)
    if kind == "libsvm":
        return LibsvmSource(path, file)
    return ParquetSource(path, file) if kind == "parquet" else ArrowSource(path, file)


def guessed(path: Path, file: Path) -> str:
    """The format by the name of `path` or the content of `file`; text where neither says it."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
        if suffixes and SUFFIXES.get(suffixes[-1]) == "libsvm":
            return "libsvm"
    elif suffixes and suffixes[-1] in SUFFIXES:
        return SUFFIXES[suffixes[-1]]
    with file.open("rb") as opened:
        start = opened.read(6)
    for magic, what in REFUSED.items():
        if start.startswith(magic):
            raise ValueError(f"{path} is {what}")
    return next((kind for magic, kind in MAGIC.items() if start.startswith(magic)), "csv")
