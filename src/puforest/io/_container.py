"""The container: a safetensors file of one-dimensional arrays, and a text in its header.

Files are written by the safetensors library. They are read here, because that library copies every
array, and a model shall be a view on its file.
"""

from __future__ import annotations

import json
import mmap
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save_file

from puforest._files import written_whole
from puforest.io._fields import Fields

Arrays = dict[str, NDArray[Any]]

# Names, evidence and nodes are arrays: what is left for the header is small. Parsing this much of
# hostile JSON takes some tens of megabytes.
MOST_HEADER_BYTES = 2**20

LENGTH_BYTES = 8

# The one key of the metadata. safetensors orders keys at random: with one, the same model is the
# same file, byte for byte.
KEY = "puforest"

DTYPES: dict[str, np.dtype[Any]] = {
    "F64": np.dtype("<f8"),
    "I64": np.dtype("<i8"),
    "I32": np.dtype("<i4"),
    "U8": np.dtype("u1"),
}


def parse(text: str) -> Any:
    """JSON without its loose ends: no NaN, no infinity, no key twice."""

    def refuse(constant: str) -> None:
        raise ValueError(f"its header has the number {constant}")

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            raise ValueError("its header has a field twice")
        return found

    try:
        return json.loads(text, parse_constant=refuse, object_pairs_hook=unique)
    except json.JSONDecodeError as error:
        raise ValueError(f"its header is not JSON ({error})") from error
    except RecursionError as error:
        raise ValueError("its header is nested too deeply") from error


def read(path: Path, *, mapped: bool) -> tuple[str, Arrays]:
    """The text of the header and the arrays, which are views on the file if it is mapped."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise ValueError("it is no regular file")
    with path.open("rb") as file:
        if os.fstat(file.fileno()).st_size < LENGTH_BYTES:
            raise ValueError("it is shorter than 8 bytes")
        content: NDArray[np.uint8] = (
            np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), dtype=np.uint8)
            if mapped
            else np.fromfile(file, dtype=np.uint8)
        )
    length = int.from_bytes(content[:LENGTH_BYTES].tobytes(), "little")
    if length > MOST_HEADER_BYTES:
        raise ValueError(f"its header has {length} bytes, more than {MOST_HEADER_BYTES}")
    start = LENGTH_BYTES + length
    if start > len(content):
        raise ValueError(f"its header has {length} bytes, but the file only {len(content)}")
    entries = _header(content[LENGTH_BYTES:start].tobytes())
    metadata = entries.pop("__metadata__", {})
    if not isinstance(metadata, dict) or KEY not in metadata:
        raise ValueError("its header does not say that it is one")
    fields = Fields("__metadata__", metadata)
    text = fields.text(KEY)
    fields.finish()
    return text, _views(entries, content, start)


def _header(raw: bytes) -> dict[str, Any]:
    if not raw.startswith(b"{"):
        raise ValueError("its header is not a JSON object")
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"its header is not UTF-8 ({error})") from error
    entries: dict[str, Any] = parse(text)
    return entries


def _views(entries: Mapping[str, Any], content: NDArray[np.uint8], start: int) -> Arrays:
    """The arrays, which must fill the rest of the file without gap or overlap."""
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
            raise ValueError(f"array {name!r} does not start at a multiple of its item size")
        found.append((begin, end, name, dtype))
    arrays: Arrays = {}
    expected = 0
    for begin, end, name, dtype in sorted(found, key=lambda entry: entry[:2]):
        if begin != expected or start + end > len(content):
            raise ValueError(f"array {name!r} is not where the one before it ends, or cut off")
        expected = end
        array = content[start + begin : start + end].view(dtype)
        arrays[name] = array.astype(dtype.newbyteorder("="), copy=False)
    if start + expected != len(content):
        raise ValueError(f"{len(content) - start - expected} bytes at its end belong to no array")
    return arrays


def write(path: Path, text: str, arrays: Arrays) -> None:
    """Write all or nothing: a file that was there stays until the new one is complete."""
    contiguous = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    with written_whole(path) as part:
        part.touch(exist_ok=False)  # OSError if the folder is not there or not ours to write to
        usual = stat.S_IMODE(part.stat().st_mode)
        save_file(contiguous, part, metadata={KEY: text})
        part.chmod(usual)  # safetensors lets only the owner read
