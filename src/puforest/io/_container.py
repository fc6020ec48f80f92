"""The container: a safetensors file of one-dimensional arrays with a string in its header.

Any safetensors library can read these files. They are read and written here because the Python
library copies every array (twice when it writes), or writes to a temporary file under a name of its
own, and reports a full disk as an error without an errno.
"""

from __future__ import annotations

import io
import json
import mmap
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from puforest._atomic_write import atomic_write
from puforest.io._fields import Fields

Arrays = dict[str, NDArray[Any]]

# Names, evidence and nodes are arrays, so the header is small. Parsing malicious JSON of this size
# takes some tens of megabytes.
MOST_HEADER_BYTES = 2**20

LENGTH_BYTES = 8

KEY = "puforest"  # the one key of the metadata

# In the order in which a file stores them, so that every array is aligned.
DTYPES: dict[str, np.dtype[Any]] = {
    "I64": np.dtype("<i8"),
    "F64": np.dtype("<f8"),
    "I32": np.dtype("<i4"),
    "U16": np.dtype("<u2"),
    "U8": np.dtype("u1"),
}


def parse(text: str, place: str = "its header") -> Any:
    """Parse strict JSON: no NaN, no infinity, no duplicate keys."""

    def refuse(constant: str) -> None:
        raise ValueError(f"{place} contains {constant}")

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            raise ValueError(f"{place} has a duplicate field")
        return found

    try:
        return json.loads(text, parse_constant=refuse, object_pairs_hook=unique)
    except json.JSONDecodeError as error:
        raise ValueError(f"{place} is not JSON ({error})") from error
    except RecursionError as error:
        raise ValueError(f"{place} is nested too deeply") from error


def read(path: Path, *, mapped: bool) -> tuple[str, Arrays]:
    """Return the string in the header and the arrays, which are views of the file if mapped.

    The header is checked against the size of the file before memory is allocated for the arrays.
    """
    if not stat.S_ISREG(path.stat().st_mode):
        raise ValueError("it is not a regular file")
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size < LENGTH_BYTES:
            raise ValueError("it is shorter than 8 bytes")
        length = int.from_bytes(file.read(LENGTH_BYTES), "little")
        if length > MOST_HEADER_BYTES:
            raise ValueError(f"its header has {length} bytes, more than {MOST_HEADER_BYTES}")
        start = LENGTH_BYTES + length
        if start > size:
            raise ValueError(f"its header has {length} bytes, but the file has only {size}")
        entries = _header(file.read(length))
        metadata = entries.pop("__metadata__", {})
        if not isinstance(metadata, dict) or KEY not in metadata:
            raise ValueError(f"its header has no metadata {KEY!r}")
        fields = Fields("__metadata__", metadata)
        text = fields.text(KEY)
        fields.finish()
        places = _places(entries, start, size)
        content = _mapped(file, size) if mapped else _in_memory(file, size)
    arrays = {name: content[place].view(dtype) for name, (place, dtype) in places.items()}
    return text, {
        name: a.astype(a.dtype.newbyteorder("="), copy=False) for name, a in arrays.items()
    }


def _mapped(file: io.BufferedReader, size: int) -> NDArray[np.uint8]:
    mapping = mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ)
    return np.frombuffer(mapping, dtype=np.uint8)


def _in_memory(file: io.BufferedReader, size: int) -> NDArray[np.uint8]:
    content = np.empty(size, dtype=np.uint8)
    file.seek(0)
    if file.readinto(content.data) < size:
        raise ValueError("it was truncated while being read")
    return content


def _header(raw: bytes) -> dict[str, Any]:
    if not raw.startswith(b"{"):
        raise ValueError("its header is not a JSON object")
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"its header is not UTF-8 ({error})") from error
    entries: dict[str, Any] = parse(text)
    return entries


def _places(
    entries: Mapping[str, Any], start: int, size: int
) -> dict[str, tuple[slice, np.dtype[Any]]]:
    """Return bytes and dtype of each array; they must fill the file without gaps or overlaps."""
    found = []
    for name, value in entries.items():
        entry = Fields(f"array {name!r}", value)
        dtype = DTYPES[entry.choice("dtype", DTYPES)]
        (n,) = entry.integers("shape", 1)
        begin, end = entry.integers("data_offsets", 2)
        entry.finish()
        if end - begin != n * dtype.itemsize:
            raise ValueError(f"array {name!r} has {n} items in {end - begin} bytes")
        if (start + begin) % dtype.itemsize:
            raise ValueError(f"array {name!r} is not aligned to its item size")
        found.append((begin, end, name, dtype))
    places = {}
    expected = 0
    for begin, end, name, dtype in sorted(found, key=lambda entry: entry[:2]):
        if begin != expected or start + end > size:
            raise ValueError(
                f"array {name!r} does not start where the previous one ends, or is truncated"
            )
        expected = end
        places[name] = slice(start + begin, start + end), dtype
    if start + expected != size:
        raise ValueError(f"the last {size - start - expected} bytes belong to no array")
    return places


def write(path: Path, text: str, arrays: Arrays) -> None:
    """Write the file atomically: an existing file stays until the new one is complete."""
    codes = {dtype: code for code, dtype in DTYPES.items()}
    stored = [(codes[array.dtype.newbyteorder("<")], name) for name, array in arrays.items()]
    stored.sort(key=lambda entry: (list(DTYPES).index(entry[0]), entry[1]))
    header: dict[str, Any] = {"__metadata__": {KEY: text}}
    end = 0
    for code, name in stored:
        begin, end = end, end + arrays[name].nbytes
        header[name] = {"dtype": code, "shape": [len(arrays[name])], "data_offsets": [begin, end]}
    raw = json.dumps(header, separators=(",", ":")).encode()
    raw += b" " * (-len(raw) % 8)
    if len(raw) > MOST_HEADER_BYTES:
        raise ValueError(
            f"the parameters of the model take {len(raw):,} bytes, and model files hold at most "
            f"{MOST_HEADER_BYTES:,}: list features by their indices instead of their names"
        )
    with atomic_write(path) as part, part.open("xb") as file:
        file.write(len(raw).to_bytes(LENGTH_BYTES, "little"))
        file.write(raw)
        for code, name in stored:
            file.write(np.ascontiguousarray(arrays[name], dtype=DTYPES[code]).data)
