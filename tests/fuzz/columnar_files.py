"""Parquet and Arrow: columns of all types, and the metadata and pages that hold them."""

from __future__ import annotations

import io
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from fuzz.kind import Kind, Original
from fuzz.mutate import BYTES, EXTREME, damaged_within, one_of, small_pu_data
from fuzz.tables import COMMANDS, FEATURES, LABEL, judge

NAMES = [*FEATURES, LABEL, "", "é", "x" * 5000, "\x1b[2J"]


def columns(n, rng):
    """A column of some type, with values that it may have."""
    numbers = rng.integers(0, 2, size=n)
    real = rng.normal(size=n)
    gaps = rng.random(n) < 0.1
    kinds = [
        lambda: pa.array(real),
        lambda: pa.array(real.astype("f4")),
        lambda: pa.array(real.astype("f2")),
        lambda: pa.array(real, mask=gaps),
        lambda: pa.array(numbers),
        lambda: pa.array(numbers, pa.uint64()),
        lambda: pa.array(numbers + 2**53 + 1),
        lambda: pa.array(numbers.astype("i1"), mask=gaps),
        lambda: pa.array(numbers == 1),
        lambda: pa.array(numbers == 1, mask=gaps),
        lambda: pa.array(numbers).dictionary_encode(),
        lambda: pa.array(real).dictionary_encode(),
        lambda: pa.array(numbers == 1).dictionary_encode(),
        lambda: pa.array([str(v) for v in numbers]).dictionary_encode(),
        lambda: pa.array([str(v) for v in numbers]),
        lambda: pa.array([str(v) for v in real], pa.large_string()),
        lambda: pa.array(["a", "é"] * (n // 2) + ["x" * 100] * (n % 2)),
        lambda: pa.array(np.array(["a", " b", "?", "NA"])[rng.integers(4, size=n)], mask=gaps),
        lambda: pa.array(np.array(["a", "b"])[numbers], mask=gaps).dictionary_encode(),
        lambda: pa.array(numbers.astype("i4"), pa.date32(), mask=gaps),
        lambda: pa.array(numbers, pa.timestamp("ns", "Europe/Berlin"), mask=gaps),
        lambda: pa.array(numbers + 2**62, pa.timestamp("us")),
        lambda: pa.array(real * 1e9, pa.int64(), safe=False).cast(pa.duration("ns")),
        lambda: pa.array([b"\xff"] * n),
        lambda: pa.array([Decimal(int(v)) for v in numbers], pa.decimal128(10, 2)),
        lambda: pa.array(numbers, pa.timestamp("us")),
        lambda: pa.array(numbers, pa.duration("s")),
        lambda: pa.array(numbers.astype("i4"), pa.date32()),
        lambda: pa.array(numbers.astype("i4"), pa.time32("s")),
        lambda: pa.nulls(n),
        lambda: pa.array([[int(v)] for v in numbers]),
        lambda: pa.array([{"v": int(v)} for v in numbers]),
        lambda: pa.array([[("k", int(v))] for v in numbers], pa.map_(pa.string(), pa.int64())),
        lambda: pa.array([bytes([int(v)] * 3) for v in numbers], pa.binary(3)),
    ]
    return one_of(kinds, rng)()


def small_table():
    X, y = small_pu_data()
    table = pa.table([*X.T.copy(), y], names=[*FEATURES, LABEL])
    single = table.set_column(1, "b", table["b"].cast(pa.float32()))
    coded = pa.array((X[:, 2] > 0).astype(int)).dictionary_encode()
    truth = pa.array(X[:, 1] > 0)
    words = pa.array(np.array(["", "positive"])[y])
    named = table.set_column(3, LABEL, words).append_column("town", words.dictionary_encode())
    return [table, single, table.set_column(2, "c", coded).set_column(1, "b", truth), named]


def as_parquet(table, rng):
    buffer = io.BytesIO()
    pq.write_table(
        table,
        buffer,
        row_group_size=one_of([1000, 7], rng),
        compression=one_of(["none", "snappy", "gzip", "zstd", "lz4", "brotli"], rng),
        use_dictionary=bool(rng.random() < 0.5),
        data_page_version=one_of(["1.0", "2.0"], rng),
        store_schema=bool(rng.random() < 0.7),
    )
    return buffer.getvalue()


def as_arrow(table, rng):
    buffer = io.BytesIO()
    options = pa.ipc.IpcWriteOptions(compression=one_of([None, "lz4", "zstd"], rng))
    new = one_of([pa.ipc.new_file, pa.ipc.new_stream], rng)
    if any(pa.types.is_dictionary(field.type) for field in table.schema):
        table = table.unify_dictionaries()
    with new(buffer, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=one_of([1000, 7], rng))
    return buffer.getvalue()


def originals_of(write, suffix):
    def originals():
        rng = np.random.default_rng(0)
        options = {"label": LABEL}
        return [
            Original(write(table, rng), suffix, options)
            for table in small_table()
            for _ in range(4)
        ]

    return originals


def table_damages(write):
    """Damages of tables, written again as they should be."""

    def change_columns(content, rng, others):
        """Columns of other types."""
        table = one_of(small_table(), rng)
        for _ in range(rng.integers(1, 3)):
            i = int(rng.integers(table.num_columns))
            table = table.set_column(i, table.column_names[i], columns(len(table), rng))
        return write(table, rng)

    def change_names(content, rng, others):
        table = one_of(small_table(), rng)
        names = list(table.column_names)
        names[rng.integers(len(names))] = one_of(NAMES, rng)
        table = table.rename_columns(names)
        return write(table.select(sorted(range(len(names)), key=lambda i: rng.random())), rng)

    def change_rows(content, rng, others):
        table = one_of(small_table(), rng)
        what = rng.integers(4)
        if what == 0:
            table = table.slice(0, int(rng.integers(3)))
        elif what == 1:
            table = pa.concat_tables([table] * int(rng.integers(2, 30)))
        elif what == 2:
            table = table.select(range(int(rng.integers(table.num_columns))))
        else:
            table = table.replace_schema_metadata({"pandas": "{", "ARROW:schema": "AAAA"})
        return write(table, rng)

    return [change_columns, change_names, change_rows]


# Parquet


def footer_start(content):
    return max(4, len(content) - 8 - int.from_bytes(content[-8:-4], "little"))


def change_footer(content, rng, others):
    """The metadata at the end: types, sizes, places."""
    return damaged_within(content, rng, footer_start(content), len(content) - 8)


def change_footer_length(content, rng, others):
    length = int.from_bytes(content[-8:-4], "little")
    new = length + int(rng.integers(-9, 10)) if rng.random() < 0.5 else one_of(EXTREME, rng)
    return content[:-8] + (new % 2**32).to_bytes(4, "little") + content[-4:]


def change_page(content, rng, others):
    """A page or its header."""
    metadata = pq.ParquetFile(io.BytesIO(content)).metadata
    group = metadata.row_group(int(rng.integers(metadata.num_row_groups)))
    chunk = group.column(int(rng.integers(group.num_columns)))
    start = chunk.dictionary_page_offset or chunk.data_page_offset
    stop = start + (40 if rng.random() < 0.6 else chunk.total_compressed_size)
    return damaged_within(content, rng, start, min(stop, len(content) - 8))


# Arrow


def messages(content):
    """Where the metadata of messages begins and ends."""
    at = 8 if content.startswith(b"ARROW1") else 0
    while content[at : at + 4] == b"\xff" * 4:
        length = int.from_bytes(content[at + 4 : at + 8], "little")
        if length == 0:
            return
        yield at, at + 8 + length
        # The body follows; the next message is where its mark stands, at a multiple of 8.
        at = content.find(b"\xff\xff\xff\xff", at + 8 + length)
        while at % 8 and at >= 0:
            at = content.find(b"\xff\xff\xff\xff", at + 1)
        if at < 0:
            return


def change_metadata(content, rng, others):
    """The metadata of a message: lengths and places of buffers, types, numbers of rows."""
    start, stop = one_of(list(messages(content)), rng)
    return damaged_within(content, rng, start + (8 if rng.random() < 0.8 else 0), stop)


def change_body(content, rng, others):
    """What follows a message: values, bits of what is missing, places of strings."""
    _, stop = one_of(list(messages(content)), rng)
    return damaged_within(content, rng, stop, min(stop + 200, len(content)))


def change_end(content, rng, others):
    """The footer of a file, or the last bytes of a stream."""
    return damaged_within(content, rng, max(0, len(content) - 600), len(content))


OF_PARQUET = [*table_damages(as_parquet), change_footer, change_footer_length, change_page]
OF_ARROW = [*table_damages(as_arrow), change_metadata, change_body, change_end]
PARQUET = Kind(
    "parquet", originals_of(as_parquet, ".parquet"), [*OF_PARQUET, *BYTES], judge, COMMANDS
)
ARROW = Kind("arrow", originals_of(as_arrow, ".arrow"), [*OF_ARROW, *BYTES], judge, COMMANDS)
