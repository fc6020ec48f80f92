"""CSV and its kin: cells, quotes, delimiters, line ends, encodings, compression."""

from __future__ import annotations

import bz2
import gzip
import lzma

import pyarrow as pa

from fuzz.kind import Kind, Original
from fuzz.mutate import BYTES, one_of, small_pu_data
from fuzz.tables import COMMANDS, FEATURES, LABEL, judge

CELLS = [
    *("", " ", "nan", "NaN", "-nan", "inf", "-Infinity", "NULL", "None", "NA", "N/A", "#N/A", "?"),
    *("1", "01", "+1", "-0", "1.", ".5", "1e5", "1E-400", "1e999", "0x10", "1_000", "1,5", "1.5.2"),
    *("9007199254740993", "18446744073709551616", "9" * 400, "-9223372036854775809", "1e-320"),
    *("true", "False", "TRUE", "tRuE", "yes", "no", "t", "f", "Y", "0", "positive", "unlabeled"),
    *("2020-01-01", "12:30", "2020-01-01T00:00:00Z", "2020-01-01 00:00:00.123456789", "1 2"),
    *('"', '""', '"a', 'a"b', '"a\nb"', '"1"', '" 1"', "'1'", "a,b", "\t1", "1 ", "\0", "\x1b[2J"),
    *("é", "\ufeff", "−1", "٣", "x" * 5000, "=1+1", "-", "1e", "$1", "50%"),
]
COLUMNS = [
    ["true", "false"],
    ["True", "FALSE", ""],
    ["0", "1"],
    ["0", "1", "true"],
    ["1", "2.5", "3e2"],
    ["1", "2", "nan"],
    ["1", "2", ""],
    ["", ""],
    ["2020-01-01", "2021-02-03"],
    ["12:30", "13:00:01"],
    ["9007199254740993", "1"],
    ["18446744073709551615", "1"],
    ['"1"', '"2"'],
    [" 1", "2 "],
    ["1,5", "2,5"],
    ["007", "008"],
    ["0x10", "1"],
    ["inf", "1"],
    ["1e400", "1"],
    ["a", "b"],
    ["a", "b", "?", "NA", ""],
    [" a", "a ", "a", "-"],
    ["a", "7", "8.5"],
    ["2020-01-01", "2020-02-30", "?"],
    ["2020-01-01T10:00:00Z", "2020-01-01 10:00", "2020-01-01T10:00:00.123456789+05:30"],
    ["1", "2", "-"],
    ["positive", ""],
    ["negative", ""],
    ["yes", "no"],
    ["1", "0", "-1"],
    ["1.0", "0.0"],
    ["1", "unknown"],
    ["+1", "-1"],
]
PACKED = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
PACKED |= {".zst": lambda raw: pa.compress(raw, "zstd", asbytes=True)}


def originals():
    X, y = small_pu_data()
    rows = [",".join(map(str, [*row, label])) for row, label in zip(X, y, strict=True)]
    plain = "\n".join([",".join([*FEATURES, LABEL]), *rows]) + "\n"
    texts = [(plain, {}), (plain.replace("\n", "\r\n"), {})]
    texts += [(plain.replace(",", delimiter), {}) for delimiter in ";\t|"]
    texts += [(plain.replace(",", ";").replace(".", ","), {"decimal": ","})]
    texts += [("\n".join(rows) + "\n", {"header": False})]
    words = [
        ("p", "q r", "?", "")[i % 4] + f",20{i % 90 + 10}-01-05,{i % 3 == 0}," for i in range(60)
    ]
    mixed = [f"{word}{row}" for word, row in zip(words * len(rows), rows, strict=False)]
    texts += [("\n".join(["word,day,flag," + ",".join([*FEATURES, LABEL]), *mixed]) + "\n", {})]
    quoted = "\n".join(",".join(f'"{c}"' for c in line.split(",")) for line in plain.splitlines())
    texts += [(quoted, {})]

    def original(content, suffix, text):
        label = LABEL if text.get("header", True) else "f3"
        return Original(content, suffix, {"text": text, "label": label})

    files = [original(content.encode(), ".csv", text) for content, text in texts]
    utf16 = {"encoding": "utf-16"}
    files.append(original(plain.encode("utf-16"), ".csv", utf16))
    files.append(original(plain.encode("latin-1"), ".csv", {"encoding": "latin-1"}))
    return files + [original(pack(plain.encode()), f".csv{s}", {}) for s, pack in PACKED.items()]


def of_cells(change):
    """A damage of cells, on what is taken for lines and delimiters, as bytes."""

    def damage(content, rng, others):
        lines = content.decode("latin-1").split("\n")
        delimiter = max(",;\t|", key=lines[0].count)
        rows = [line.split(delimiter) for line in lines]
        change(rows, rng)
        return encoded("\n".join(delimiter.join(row) for row in rows))

    damage.__name__ = change.__name__
    return damage


def encoded(text):
    """Characters that came as bytes, and those of `CELLS` that need more."""
    return b"".join(c.encode("latin-1" if ord(c) < 256 else "utf-8") for c in text)


def some_place(rows, rng):
    i = int(rng.integers(len(rows)))
    return i, int(rng.integers(len(rows[i])))


@of_cells
def change_cell(rows, rng):
    for _ in range(rng.integers(1, 4)):
        i, j = some_place(rows, rng)
        rows[i][j] = one_of(CELLS, rng)


@of_cells
def change_column(rows, rng):
    """A column of one kind of values."""
    values = one_of(COLUMNS, rng)
    j = int(rng.integers(len(rows[0])))
    for row in rows[int(rng.integers(3)) :]:
        if j < len(row):
            row[j] = one_of(values, rng)


@of_cells
def change_labels(rows, rng):
    values = one_of(COLUMNS, rng)
    for row in rows[1:]:
        row[-1] = one_of(values, rng)


@of_cells
def change_rows(rows, rng):
    """Rows with too many or too few cells, blank, twice, or in another order."""
    i, j = some_place(rows, rng)
    changes = [
        lambda: rows[i].pop(j),
        lambda: rows[i].insert(j, rows[i][j]),
        lambda: rows.pop(i),
        lambda: rows.insert(i, list(rows[i])),
        lambda: rows.insert(i, [""]),
        lambda: rows.reverse(),
        lambda: rows[i].extend(rows[i] * 50),
        lambda: rows.extend(rows * 20),
        lambda: rows.__delitem__(slice(1, None)),
        lambda: [row.append("") for row in rows],
        lambda: [row.insert(0, str(n)) for n, row in enumerate(rows)],
    ]
    one_of(changes, rng)()


@of_cells
def change_names(rows, rng):
    i = int(rng.integers(len(rows[0])))
    names = [*FEATURES, LABEL, "", " a", "a ", "1", "é", "x" * 5000, "\x1b[2J", '"a"', '"a\nb"']
    rows[0][i] = one_of(names, rng)


def change_characters(content, rng, others):
    """Delimiters, line ends and quotes become others, here and there or everywhere."""
    characters = [
        b",",
        b";",
        b"\t",
        b"|",
        b" ",
        b"\n",
        b"\r\n",
        b"\r",
        b'"',
        b"'",
        b"",
        b"\0",
        b"#",
    ]
    old, new = one_of(characters, rng) or b"\n", one_of(characters, rng)
    parts = content.split(old)
    always = rng.random() < 0.3
    joined = parts[0]
    for part in parts[1:]:
        joined += (new if always or rng.random() < 0.1 else old) + part
    return joined


def change_encoding(content, rng, others):
    text = content.decode("latin-1")
    encodings = ["utf-16", "utf-16-le", "utf-32", "utf-8-sig", "utf-7", "cp037"]
    return text.encode(one_of(encodings, rng))


def pack(content, rng, others):
    """Compressed, perhaps twice, perhaps with more behind it."""
    packed = one_of(list(PACKED.values()), rng)(content)
    if rng.random() < 0.3:
        packed = one_of(list(PACKED.values()), rng)(packed)
    return packed + (packed if rng.random() < 0.3 else b"")


STRUCTURED = [change_cell, change_column, change_labels, change_rows, change_names]
TEXT = Kind(
    "csv",
    originals,
    [*STRUCTURED, *STRUCTURED, change_characters, change_encoding, pack, *BYTES],
    judge,
    COMMANDS,
)
