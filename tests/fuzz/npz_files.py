"""NPZ files: arrays of all types and shapes, their headers, and the zip archive around them."""

from __future__ import annotations

import io
import struct
import zipfile

import numpy as np

from fuzz.kind import Kind, Original
from fuzz.mutate import BYTES, EXTREME, one_of, small_pu_data
from fuzz.tables import COMMANDS_OWN_LABEL, FEATURES, judge

TYPES = ["f8", "f4", "f2", ">f8", ">i4", "i8", "u1", "u8", "?", "c16", "g", "G", "U5", "S5", "V8"]
TYPES += ["M8[ns]", "m8[s]", "M8", "O", "i4,f8", "i1"]
DESCRIPTIONS = ["<f8", ">f8", "|O", "|V0", "<U0", "<f16", "<c16", "|b1", "<M8[ns]", "f8", "<f3"]
DESCRIPTIONS += ["", "x" * 300, "|S0", "<U1000000000", "|V2147483647", "<i8", "|u1", "<f4"]
SHAPES = ["(40, 3)", "(0, 3)", "(40, 0)", "(-5, 3)", "(5, -3)", "(40,)", "()", "(3, 40)", "(20, 3)"]
SHAPES += ["(41, 3)", "(40, 3, 1)", "(0, 30000000)", "(2**3, 3)", "(40.0, 3)", "(True, 3)", "40"]
SHAPES += ["(9223372036854775807, 3)", "(99999999999999999999, 3)", "(40, 1000000)", "(1, 120)"]
ENTRIES = ["X.npy", "y.npy", "feature_names.npy", "X", "x.npy", "../X.npy", "X.npy.npy"]
# Where numbers are in the records of a zip archive: offset and size.
RECORDS = {
    b"PK\x03\x04": [(4, 2), (6, 2), (8, 2), (14, 4), (18, 4), (22, 4), (26, 2), (28, 2)],
    b"PK\x01\x02": [(8, 2), (10, 2), (16, 4), (20, 4), (24, 4), (28, 2), (30, 2), (32, 2), (42, 4)],
    b"PK\x05\x06": [(4, 2), (6, 2), (8, 2), (10, 2), (12, 4), (16, 4), (20, 2)],
}


def originals():
    X, y = small_pu_data()
    names = np.array(FEATURES)
    cases = [{"X": X, "y": y}, {"X": X.astype("f4"), "y": y.astype(bool), "feature_names": names}]
    cases += [{"X": np.asfortranarray(X), "y": y.astype(float)}, {"X": (X > 0), "y": y}]
    files = []
    for save in (np.savez, np.savez_compressed):
        for arrays in cases:
            buffer = io.BytesIO()
            save(buffer, **arrays)
            files.append(Original(buffer.getvalue(), ".npz"))
    return files


def entries_of(content):
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return {name: archive.read(name) for name in archive.namelist()}
    except (zipfile.BadZipFile, OSError, ValueError):
        return {}


def zipped(entries, rng):
    buffer = io.BytesIO()
    method = zipfile.ZIP_STORED if rng.random() < 0.7 else zipfile.ZIP_DEFLATED
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, content in entries:
            archive.writestr(name, content)
    return buffer.getvalue()


def npy(array):
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array)
    return buffer.getvalue()


def change_type(content, rng, others):
    """An array of another type, with values that it may have."""
    entries = entries_of(content)
    name = one_of(list(entries), rng)
    shape = {"X.npy": (40, 3), "y.npy": (40,)}.get(name, (3,))
    kind = np.dtype(one_of(TYPES, rng))
    array = np.zeros(shape, kind)
    if kind.kind in "biuf":
        array[...] = rng.integers(0, 2, size=shape)
    elif kind.kind in "US":
        array[...] = rng.choice(["1", "0", "a"], size=shape)
    entries[name] = npy(array)
    return zipped(entries.items(), rng)


def change_values(content, rng, others):
    entries = entries_of(content)
    name = one_of(list(entries), rng)
    array = np.load(io.BytesIO(entries[name])).copy()
    strange = [np.nan, np.inf, -np.inf, -0.0, 5e-324, 1e308, 2.0**53 + 2, -1.0, 2.0]
    at = tuple(rng.integers(array.shape)) if array.ndim else ()
    value = one_of(["", "a", "\x1b[2J"] if array.dtype.kind == "U" else strange, rng)
    array[at] = np.array(value).astype(array.dtype)
    entries[name] = npy(array)
    return zipped(entries.items(), rng)


def change_header(content, rng, others):
    """What an array says of itself: type, order, shape, or anything."""
    entries = entries_of(content)
    name = one_of(list(entries), rng)
    raw = entries[name]
    length = int.from_bytes(raw[8:10], "little")
    header, body = raw[10 : 10 + length].decode("latin-1"), raw[10 + length :]
    fields = eval(header, {})  # written by NumPy a moment ago
    texts = {"descr": repr(fields["descr"]), "fortran_order": str(fields["fortran_order"])}
    texts["shape"] = str(fields["shape"])
    what = rng.integers(6)
    if what <= 1:
        texts["shape"] = one_of(SHAPES, rng)
    elif what == 2:
        texts["descr"] = repr(one_of(DESCRIPTIONS, rng))
    elif what == 3:
        texts["fortran_order"] = one_of(["True", "False", "1", "None", "'a'", "[]"], rng)
    elif what == 4:
        texts.pop(one_of(list(texts), rng))
    else:
        texts[one_of(["more", "descr", "shape"], rng)] = one_of(
            ["[" * 200, "1j", "__x__", "{}"], rng
        )
    inner = ", ".join(f"'{key}': {value}" for key, value in texts.items())
    text = f"{{{inner}}}\n"
    stated = len(text) if rng.random() < 0.9 else one_of([0, 1, 65535], rng)
    version = bytes(one_of([(1, 0), (1, 0), (1, 0), (2, 0), (3, 0), (9, 9)], rng))
    size = 2 if version == b"\x01\x00" else 4
    entries[name] = b"\x93NUMPY" + version + stated.to_bytes(size, "little") + text.encode() + body
    return zipped(entries.items(), rng)


def change_lengths(content, rng, others):
    """Fewer or more bytes than the header says."""
    entries = entries_of(content)
    name = one_of(list(entries), rng)
    raw = entries[name]
    at = int(rng.integers(len(raw)))
    entries[name] = raw[:at] if rng.random() < 0.5 else raw + raw[at:]
    return zipped(entries.items(), rng)


def change_entries(content, rng, others):
    """Arrays are missing, twice, under other names, or from another file."""
    entries = list(entries_of(content).items())
    i = int(rng.integers(len(entries)))
    what = rng.integers(4)
    if what == 0:
        del entries[i]
    elif what == 1:
        entries.append(entries[i])
    elif what == 2:
        entries[i] = (one_of(ENTRIES, rng), entries[i][1])
    else:
        entries[i] = (entries[i][0], one_of(list(entries_of(one_of(others, rng)).values()), rng))
    return zipped(entries, rng)


def change_archive(content, rng, others):
    """A number in a record of the zip archive: method, sizes, checksum, places."""
    changed = bytearray(content)
    record = one_of(list(RECORDS), rng)
    places = [i for i in range(len(content)) if content.startswith(record, i)]
    offset, size = one_of(RECORDS[record], rng)
    at = one_of(places, rng) + offset
    old = int.from_bytes(content[at : at + size], "little")
    new = old + int(rng.integers(-3, 4)) if rng.random() < 0.5 else one_of(EXTREME, rng)
    changed[at : at + size] = struct.pack("<Q", new % 2**64)[:size]
    return bytes(changed)


STRUCTURED = [change_type, change_values, change_header, change_lengths, change_entries]
STRUCTURED += [change_archive]
NPZ = Kind("npz", originals, [*STRUCTURED, *STRUCTURED, *BYTES], judge, COMMANDS_OWN_LABEL)
