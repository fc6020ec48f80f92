"""Tables in one or more Parquet, Arrow or CSV files, read batch by batch."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from puforest._optional_imports import optional_import

SUFFIXES = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".csv": "csv",
}
COMPRESSIONS = (".gz", ".bz2", ".zst", ".lz4")

# Rows of a batch of a Parquet file, and bytes of a column that are read at a time, instead of a
# whole row group.
BATCH = 2**18
BUFFER = 2**20

# Bytes of a CSV file that are parsed at a time. The first ones tell the types of the columns.
BLOCK = 2**24

Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


def arrow(part: str = "") -> Any:
    """Import pyarrow or a part of it, such as ``arrow("csv")``."""
    module = f"pyarrow.{part}" if part else "pyarrow"
    return optional_import(module, extra="cli", purpose="reading files")


class TableFiles:
    """A table whose rows are those of several files, one after the other.

    Parameters
    ----------
    paths : str, path-like or iterable of them
        Files, folders and patterns such as ``"data/*.parquet"``. The files of a folder, at any
        depth, and those that match a pattern are in alphabetical order.

    Attributes
    ----------
    files : list of Path
        The files.
    schema : pyarrow.Schema
        Names and types of the columns. If types differ between files, they are those that hold the
        values of all files.
    progress : float
        Fraction of the table that `batches` has read.
    """

    def __init__(self, paths: Paths) -> None:
        self.files = found_files(paths)
        self.progress = 0.0
        schemas = []
        for file in self.files:
            with _naming(file):
                schemas.append(_schema(file))
            _require_same_columns(self.files[0], schemas[0].names, file, schemas[-1].names)
        self.schema = _unified(schemas, self.files)

    def require(self, columns: Iterable[str], parameter: str) -> None:
        """Raise an error for columns that do not exist."""
        for name in columns:
            if name not in self.schema.names:
                names = self.schema.names
                some = ", ".join(map(repr, names[:20])) + (", …" if len(names) > 20 else "")
                raise ValueError(
                    f"{parameter}: {self.files[0]} has no column {name!r}; it has {some}"
                )

    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        """Yield record batches of these columns, in the order of the rows."""
        pa = arrow()
        wanted = pa.schema([self.schema.field(name) for name in columns])
        self.progress = 0.0
        for i, file in enumerate(self.files):
            with _naming(file):
                for batch, done in _batches(file, wanted):
                    yield batch if batch.schema.equals(wanted) else _cast(batch, wanted)
                    self.progress = (i + done) / len(self.files)


# Files


def found_files(paths: Paths) -> list[Path]:
    """Return the files of a path, a folder, a pattern, or a list of them."""
    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    if not given:
        raise ValueError("paths is empty: name at least one file")
    return [file for path in given for file in _files_of(Path(os.fspath(path)))]


def _files_of(path: Path) -> list[Path]:
    if path.is_dir():
        inside = sorted(file for file in path.rglob("*") if _is_table(file, path))
        if not inside:
            raise FileNotFoundError(
                f"{path} has no files with the extensions {', '.join(SUFFIXES)}: name the files"
            )
        return inside
    if path.exists():
        return [path]
    matching = sorted(glob.glob(str(path), recursive=True))
    if not matching:
        raise FileNotFoundError(f"{path}: no such file")
    return [file for match in matching for file in _files_of(Path(match))]


def _is_table(file: Path, folder: Path) -> bool:
    """Return whether a file is part of a table; other programs hide theirs behind . and _."""
    is_hidden = any(part.startswith((".", "_")) for part in file.relative_to(folder).parts)
    return not is_hidden and _format(file) is not None and file.is_file()


def _format(file: Path) -> str | None:
    suffixes = [suffix.lower() for suffix in file.suffixes]
    if suffixes and suffixes[-1] in COMPRESSIONS:
        return "csv" if SUFFIXES.get(suffixes[-2] if suffixes[1:] else "") == "csv" else None
    return SUFFIXES.get(suffixes[-1]) if suffixes else None


def _known_format(file: Path) -> str:
    found = _format(file)
    if found is None:
        raise ValueError(
            f"{file}: the extension does not tell the format; it must be one of "
            f"{', '.join(SUFFIXES)}"
        )
    return found


@contextmanager
def _naming(file: Path) -> Iterator[None]:
    """Add the file name to errors of pyarrow."""
    pa = arrow()
    try:
        yield
    except pa.ArrowException as error:
        way_out = ""
        if "CSV conversion error" in str(error):
            way_out = (
                f". Types of columns are those of the first {BLOCK >> 20} MiB of a CSV file: "
                "correct the value, or convert the table to Parquet"
            )
        raise ValueError(f"{file}: {error}{way_out}") from error
    except OSError as error:
        if error.errno is not None:
            raise
        raise ValueError(f"{file} is truncated or damaged: {error}") from error


# Formats


def _schema(file: Path) -> Any:
    """Read the names and types of the columns."""
    kind = _known_format(file)
    if kind == "parquet":
        with arrow("parquet").ParquetFile(file) as opened:
            return opened.schema_arrow.remove_metadata()
    if kind == "arrow":
        with _arrow_reader(file) as reader:
            return reader.schema.remove_metadata()
    pa = arrow()
    with _csv_reader(file) as reader:
        # Later values may have decimals, and integers of 64 bits become floats anyway.
        fields = [f.with_type(pa.float64()) if f.type == pa.int64() else f for f in reader.schema]
        return pa.schema(fields)


def _batches(file: Path, wanted: Any) -> Iterator[tuple[Any, float]]:
    """Yield batches, and the fraction of the file that was read."""
    kind = _known_format(file)
    if kind == "parquet":
        # Prefetching would keep every row group in memory.
        opened = arrow("parquet").ParquetFile(file, pre_buffer=False, buffer_size=BUFFER)
        with opened:
            done, n = 0, max(1, opened.metadata.num_rows)
            for batch in opened.iter_batches(batch_size=BATCH, columns=wanted.names):
                done += batch.num_rows
                yield batch.select(wanted.names), done / n
    elif kind == "arrow":
        with _arrow_reader(file, wanted.names) as reader:
            n = getattr(reader, "num_record_batches", 0)
            stored = map(reader.get_batch, range(n)) if n else reader
            for i, batch in enumerate(stored):
                yield batch.select(wanted.names), (i + 1) / n if n else 0.0
    else:
        size = max(1, file.stat().st_size)
        with _csv_reader(file, wanted) as reader:
            done = 0
            for batch in reader:
                done += batch.nbytes
                yield batch, min(1.0, done / size)


def _arrow_reader(file: Path, columns: Sequence[str] | None = None) -> Any:
    """Open an Arrow IPC file (Feather version 2), or an Arrow stream."""
    pa, ipc = arrow(), arrow("ipc")
    with file.open("rb") as opened:
        is_file = opened.read(6) == b"ARROW1"
    open_it = ipc.open_file if is_file else ipc.open_stream
    if columns is None:
        return open_it(pa.OSFile(str(file)))
    names = _schema(file).names
    options = ipc.IpcReadOptions(included_fields=[names.index(name) for name in columns])
    return open_it(pa.OSFile(str(file)), options=options)


def _csv_reader(file: Path, wanted: Any = None) -> Any:
    csv = arrow("csv")
    convert = None
    if wanted is not None:
        types = {field.name: field.type for field in wanted}
        convert = csv.ConvertOptions(column_types=types, include_columns=wanted.names)
    return csv.open_csv(
        file, csv.ReadOptions(block_size=BLOCK), csv.ParseOptions(newlines_in_values=True), convert
    )


# Columns


def _require_same_columns(first: Path, names: list[str], file: Path, found: list[str]) -> None:
    for one, other, missing in (
        (first, file, set(found) - set(names)),
        (file, first, set(names) - set(found)),
    ):
        if missing:
            raise ValueError(
                f"{one} has no column {min(missing)!r}, but {other} has: all files must have the "
                "same columns"
            )
    twice = next((name for name in found if found.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"{file} has several columns named {twice!r}: names must be unique")


def _unified(schemas: list[Any], files: list[Path]) -> Any:
    pa = arrow()
    unified = schemas[0]
    for schema, file in zip(schemas[1:], files[1:], strict=True):
        try:
            unified = pa.unify_schemas([unified, schema], promote_options="permissive")
        except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
            raise ValueError(
                f"{file} has columns of other types than {files[0]}: {error}"
            ) from error
    return unified


def _cast(batch: Any, wanted: Any) -> Any:
    pa = arrow()
    columns = [
        column if column.type == field.type else column.cast(field.type)
        for column, field in zip(batch.columns, wanted, strict=True)
    ]
    return pa.record_batch(columns, schema=wanted)
