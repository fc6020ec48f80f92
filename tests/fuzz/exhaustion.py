"""Disks and memory that run out at every point of what writes a file, reads one or predicts.

The outcome is what it would have been, or an error that says so, and the old file stays.

PYTHONPATH=tests python -m fuzz.exhaustion --points 200
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import faulthandler
import functools
import io
import os
import re
import resource
import signal
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

# Memory that pyarrow has set aside would be enough for it.
os.environ["ARROW_DEFAULT_MEMORY_POOL"] = "system"

from feature_names import with_names

import puforest
from fuzz.commands import contents, write_inputs
from puforest.cli._app import run
from puforest.report import write_report

try:
    from _testcapi import remove_mem_hooks, set_nomemory
except ImportError:  # Pythons without their own tests
    set_nomemory = None

OLD = b"the old one"

# How others say that there is no memory: Python's compile() within Typer, and protobuf.
OTHERS = ("without exception set", "without setting an exception", "Arena alloc failed")


@dataclass(frozen=True)
class Operation:
    """Something that writes a file, or none, into a folder of its own."""

    name: str
    output: str
    call: Callable[[Path, Path], None]


def by_program(name: str, output: str, line: str) -> Operation:
    """A command; an error of it is an OSError with what it printed."""

    def call(inputs: Path, out: Path) -> None:
        words = [word.replace("IN", str(inputs)).replace("OUT", str(out)) for word in line.split()]
        said = io.StringIO()
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
            code = run([*words, "-q"])
        if code:
            errors = [text for text in said.getvalue().splitlines() if text.startswith("error: ")]
            assert code == 1, code
            assert len(errors) == 1, said.getvalue()
            kind = MemoryError if "memory" in errors[0] else OSError
            raise kind(errors[0])

    return Operation(name, output, call)


@functools.cache
def rows_of(inputs: Path):
    table = np.loadtxt(inputs / "rows.csv", delimiter=",", skiprows=1)
    return table[:, 1:], table[:, 0].astype(int)


def saves(inputs: Path, out: Path) -> None:
    puforest.load(inputs / "m.puf").save(out / "m.puf")


def reports(inputs: Path, out: Path) -> None:
    X, y = rows_of(inputs)
    model = puforest.load(inputs / "m.puf")
    names = model._record.schema.feature_names()
    with_names(model, None)
    options = {"held_out": True, "n_simulations": 2, "random_state": 0, "n_jobs": 1}
    write_report(model, out / "r.html", X, y, feature_names=names, overwrite=True, **options)


def loads(inputs: Path, out: Path) -> None:
    model = puforest.load(inputs / "m.puf")
    with_names(model, None)
    share = model.predict_proba(np.linspace(-1, 1, 8 * 3000).reshape(-1, 8))
    assert ((share >= 0) & (share <= 1)).all()


OPERATIONS = [
    Operation("save", "m.puf", saves),
    Operation("report", "r.html", reports),
    Operation("load and predict", "", loads),
    by_program("predict CSV", "s.csv", "predict IN/m.puf IN/rows.csv -o OUT/s.csv --force"),
    by_program("predict gz", "s.csv.gz", "predict IN/m.puf IN/rows.csv -o OUT/s.csv.gz --force"),
    by_program(
        "predict Parquet", "s.parquet", "predict IN/m.puf IN/rows.csv -o OUT/s.parquet --force"
    ),
    by_program("predict Arrow", "s.arrow", "predict IN/m.puf IN/rows.csv -o OUT/s.arrow --force"),
    by_program("export text", "t.txt", "export IN/m.puf --to text -o OUT/t.txt --force"),
    by_program("export dot", "t.dot", "export IN/m.puf --to dot -o OUT/t.dot --force"),
    by_program("export ONNX", "m.onnx", "export IN/m.puf --to onnx -o OUT/m.onnx --force"),
    by_program("export treelite", "m.tl", "export IN/m.puf --to treelite -o OUT/m.tl --force"),
]


@contextlib.contextmanager
def limited(what: int, most: int) -> Iterator[None]:
    """A limit of this process, for a while."""
    soft, hard = resource.getrlimit(what)
    resource.setrlimit(what, (most, hard))
    try:
        yield
    finally:
        resource.setrlimit(what, (soft, hard))


def written(operation: Operation, inputs: Path) -> bytes:
    """What the operation writes if nothing is in its way."""
    with tempfile.TemporaryDirectory() as folder:
        operation.call(inputs, Path(folder))
        return contents(Path(folder)).get(operation.output, b"")


def check(operation: Operation, out: Path, expected: bytes, error: BaseException | None) -> str:
    """What came of an operation, if that is fine."""
    found = contents(out)
    if error is None:
        assert found == ({operation.output: expected} if operation.output else {}), found.keys()
        return "done"
    assert found == ({operation.output: OLD} if operation.output else {}), found.keys()
    return type(error).__name__


def failing_write(operation: Operation, inputs: Path, expected: bytes, size: int) -> str:
    """The disk is full after so many bytes."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        (out / operation.output).write_bytes(OLD)
        error = None
        with limited(resource.RLIMIT_FSIZE, size):
            try:
                operation.call(inputs, out)
            except OSError as failed:
                error = failed
        if error is not None:
            assert operation.output in str(error), f"{error!r} does not name the file"
        return check(operation, out, expected, error)


def failing_writes(operation: Operation, inputs: Path, n_points: int) -> Counter[str]:
    """Disks of all sizes, or of so many of them."""
    expected = written(operation, inputs)
    n = len(expected) + (32 if operation.output.endswith("html") else 0)  # the time of a report
    sizes = np.unique(np.linspace(0, n - 1, min(n, n_points)).astype(int)).tolist()
    counts: Counter[str] = Counter()
    for size in sizes:
        try:
            counts[failing_write(operation, inputs, expected, size)] += 1
        except Exception as error:
            counts[f"FAILED after {size} bytes: {error!r}"] += 1
    return counts


# Memory


def in_child(
    operation: Operation, inputs: Path, expected: bytes, prepare: Callable[[], None]
) -> str:
    """Run in a copy of this process, which may come to harm, and say what came of it."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as said:
        out = Path(folder)
        if operation.output:
            (out / operation.output).write_bytes(OLD)
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.dup2(said.fileno(), 2)
            faulthandler.enable(file=2)
            found = _in_this_process(operation, inputs, out, prepare)
            os.write(writing, found.encode()[:4000])
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading, "rb") as pipe:
            found = pipe.read().decode()
        _, status = os.waitpid(child, 0)
        said.seek(0)
        text = said.read().decode(errors="replace")
        if status == signal.SIGABRT and "memory allocation of" in text:
            return "aborted by Rust"  # as it does, here within Typer
        if status and in_core(text):
            return f"FAILED: ended with {status}: {text[:2000]}"
        if status:
            return "crashed in another library"  # NumPy does, as it takes items by int32 places
        if not found.startswith("FAILED"):
            check(operation, out, expected, None if found == "done" else MemoryError())
        return found


def in_core(text: str) -> bool:
    """Whether a crash was where Python calls our own native code, or nobody knows where."""
    place = re.search(r'File "(.+?)", line', text)
    return place is None or "_core" in Path(place[1]).read_text()


def _in_this_process(
    operation: Operation, inputs: Path, out: Path, prepare: Callable[[], None]
) -> str:
    signal.alarm(120)
    try:
        prepare()
        operation.call(inputs, out)
    except MemoryError:
        return "MemoryError"
    except BaseException as error:
        _release()
        if any(what in str(error) for what in OTHERS):
            return "MemoryError"
        return f"FAILED: {''.join(traceback.format_exception(error)[-3:])}"
    finally:
        _release()
    return "done"


def _release() -> None:
    if set_nomemory is not None:
        remove_mem_hooks()
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


def leave_memory(size: int) -> None:
    """Take all memory of this process, what it had freed before too, but for so many bytes."""
    c = ctypes.CDLL(None)
    c.malloc.restype = ctypes.c_void_p
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (used + size, hard))
    kept = [c.malloc(2**12) for _ in range(size >> 12)]
    for block in (2**20, 2**16, 2**12):
        while c.malloc(block):
            pass
    for place in filter(None, kept):
        c.free(ctypes.c_void_p(place))


def short_of_memory(operation: Operation, inputs: Path, n_points: int, most: int) -> Counter[str]:
    """From no byte more than there is up to `most`."""
    expected = written(operation, inputs)
    counts: Counter[str] = Counter()
    for size in np.unique(np.geomspace(2**12, most, n_points).astype(int)).tolist():

        def prepare(size: int = size) -> None:
            leave_memory(size)

        counts[_judged(operation, inputs, expected, prepare, f"{size} bytes")] += 1
    return counts


def failing_allocations(
    operation: Operation, inputs: Path, n_points: int, last: int
) -> Counter[str]:
    """Python's own k-th allocation fails, up to `last`."""
    expected = written(operation, inputs)
    counts: Counter[str] = Counter()
    for k in np.unique(np.geomspace(1, last, n_points).astype(int)).tolist():

        def prepare(k: int = k) -> None:
            set_nomemory(k, k + 1)

        counts[_judged(operation, inputs, expected, prepare, f"allocation {k}")] += 1
    return counts


def _judged(operation, inputs, expected, prepare, where: str) -> str:
    try:
        found = in_child(operation, inputs, expected, prepare)
    except AssertionError as error:
        found = f"FAILED: {error}"
    return f"{found} ({where})" if found.startswith("FAILED") else found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--points", type=int, default=200, help="of each operation")
    parser.add_argument("--only", action="append", help="name of an operation")
    parser.add_argument("--what", choices=ATTACKS, action="append", help="repeat it for more")
    args = parser.parse_args()
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        inputs = Path(folder)
        write_inputs(inputs, 300)
        for operation in OPERATIONS:
            if args.only and operation.name not in args.only:
                continue
            for what in args.what or ATTACKS:
                counts = ATTACKS[what](operation, inputs, args.points)
                failed |= any(found.startswith("FAILED") for found in counts)
                print(f"{operation.name}, {what}:", flush=True)
                for found, n in sorted(counts.items()):
                    print(f"  {n:6} {found.strip()}", flush=True)
    raise SystemExit(failed)


ATTACKS: dict[str, Callable[[Operation, Path, int], Counter[str]]] = {
    "writes": lambda o, inputs, n: failing_writes(o, inputs, n) if o.output else Counter(),
    "memory": lambda o, inputs, n: short_of_memory(o, inputs, n, 2**28),
}
if set_nomemory is not None:
    ATTACKS["allocations"] = lambda o, inputs, n: failing_allocations(o, inputs, n, 10**6)


if __name__ == "__main__":
    main()
