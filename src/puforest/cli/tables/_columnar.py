"""Parquet files, and Arrow (Feather) files and streams."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from puforest.cli.tables._arrow import arrow, naming
from puforest.cli.tables._kinds import NUMBER, ColumnType, column_type, decoded_type
from puforest.cli.tables._names import Names
from puforest.cli.tables._numbers import typed_as_numbers
from puforest.cli.tables._source import Batch, Source, batch_of, columns_of, sliced

ARROW_FILE = b"ARROW1"
ARROW_STREAM = b"\xff\xff\xff\xff"
FEATHER_1 = b"FEA1"

# Bytes of a column to read at a time, instead of a whole row group.
BUFFER = 2**18


class _Columnar(Source):
    """Columns with types."""

    _schema: Any

    def __init__(self, path: Path, file: Path) -> None:
        self.path = path
        self._file = file
        with naming(path):
            self._open()
            names = list(self._schema.names)
        self.names = Names(names)
        self._types = dict(zip(names, self._schema.types, strict=True))

    def batches(
        self, numbers: Sequence[str], others: Sequence[str], n_rows: int
    ) -> Iterator[Batch]:
        with naming(self.path):
            # No columns would mean all columns.
            wanted = list(dict.fromkeys([*numbers, *others])) or list(self.names[:1])
            for stored in self._stored(wanted, n_rows):
                # pyarrow does not check offsets in Arrow files, and crashes if they are wrong; nor
                # whether text is UTF-8, in any file.
                stored.validate(full=True)
                for batch in sliced(stored, n_rows):
                    columns = columns_of(batch)
                    cells = [columns[name] for name in numbers]
                    yield Batch(
                        typed_as_numbers(cells, batch.num_rows, self.missing),
                        batch_of([columns[name] for name in others], others),
                    )

    def column_types(self, columns: Sequence[str]) -> dict[str, ColumnType]:
        known = {type_: column_type(type_) for type_ in {*self._types.values()}}
        types = {name: known[self._types[name]] for name in columns}
        return {name: found for name, found in types.items() if found.kind != NUMBER}

    def types(self, numbers: Sequence[str], others: Sequence[str]) -> list[Any]:
        return [decoded_type(self._types[name]) for name in others]

    def _open(self) -> None:
        """Read the schema."""
        raise NotImplementedError

    def _stored(self, columns: Sequence[str], n_rows: int) -> Iterator[Any]:
        """Read batches of the size stored in the file."""
        raise NotImplementedError


class ParquetSource(_Columnar):
    """A Parquet file."""

    kind = "Parquet"

    def _open(self) -> None:
        with arrow("parquet").ParquetFile(self._file) as file:
            self._schema = file.schema_arrow
            self.n_rows = int(file.metadata.num_rows)

    def _stored(self, columns: Sequence[str], n_rows: int) -> Iterator[Any]:
        done = 0
        # Prefetching keeps every row group: 2.0 GB instead of 0.4 GB for a file of 1.7 GB.
        opened = arrow("parquet").ParquetFile(self._file, pre_buffer=False, buffer_size=BUFFER)
        with opened as file:
            for batch in file.iter_batches(batch_size=n_rows, columns=list(columns)):
                yield batch
                done += batch.num_rows
                self.progress = done / max(1, file.metadata.num_rows)


class ArrowSource(_Columnar):
    """An Arrow IPC file (Feather version 2) or an Arrow stream."""

    def _open(self) -> None:
        with self._file.open("rb") as file:
            start = file.read(len(ARROW_FILE))
        if start.startswith(FEATHER_1):
            raise ValueError(
                f"{self.path} is a Feather file of version 1, which is not supported: write it "
                "with version 2"
            )
        self._is_file = start == ARROW_FILE
        with self._reader(None) as reader:
            self._schema = reader.schema
        self.kind = "Arrow" if self._is_file else "Arrow stream"

    def _reader(self, fields: list[int] | None) -> Any:
        ipc = arrow("ipc")
        options = ipc.IpcReadOptions(included_fields=fields)
        open_it = ipc.open_file if self._is_file else ipc.open_stream
        return open_it(arrow().OSFile(str(self._file)), options=options)

    def _stored(self, columns: Sequence[str], n_rows: int) -> Iterator[Any]:
        with self._reader([self.names.place(name) for name in columns]) as reader:
            n = reader.num_record_batches if self._is_file else 0
            stored = (reader.get_batch(i) for i in range(n)) if self._is_file else reader
            for i, batch in enumerate(stored):
                yield batch
                self.progress = (i + 1) / n if n else 0.0
