"""Short forms of `make fuzz` and `make attack`, and whether these notice what goes wrong."""

import ctypes
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
import pytest
from fuzz.commands import PROGRAM, environment
from fuzz.interrupts import attack as interrupt
from fuzz.kind import Kind, Original
from fuzz.kinds import KINDS
from fuzz.mutate import flip_bytes
from fuzz.workers import Limits, attack, judged

linux = pytest.mark.skipif(sys.platform != "linux", reason="limits of Linux")


@pytest.mark.parametrize("name", KINDS)
def test_damaged_files_are_refused_or_read(name, tmp_path):
    kind = KINDS[name]
    originals = kind.originals()
    found = [judged(kind, originals, 0, i, tmp_path) for i in range(300)]
    assert {damage for damage, _ in found} == {damage.__name__ for damage in kind.damages}
    # Damages reach beyond the first check: enough files are still read.
    outcomes = [outcome for _, outcome in found]
    assert outcomes.count("refused") > 100
    assert sum(outcome in ("read", "loaded") for outcome in outcomes) > 15


def broken(path, options, rng):
    """A reader with all faults."""
    what = rng.integers(20)
    if what == 0:
        ctypes.string_at(0)
    if what == 1:
        time.sleep(60)
    if what == 2:
        np.ones(2**30)
    if what == 3:
        raise KeyError("not what a user should see")
    return "read"


BROKEN = Kind(
    "test_attacks:BROKEN", lambda: [Original(bytes(64), ".bin")], [flip_bytes], broken, ()
)


@linux
def test_workers_notice_what_goes_wrong():
    results = attack(BROKEN, 45, range(1, 25), Limits(seconds=1, megabytes=500), jobs=2)
    assert sum(results.counts.values()) == 24
    said = " ".join(results.groups())
    for what in ("exit code -#", "took more than # s", "Unable to allocate", "not what a user"):
        assert what in said
    again = attack(BROKEN, 45, range(1, 25), Limits(seconds=1, megabytes=500), jobs=1)
    assert again.failures.keys() == results.failures.keys()


@linux
def test_stopped_commands_leave_nothing_half_written():
    counts, failures = interrupt(12, 0, ["fit", "predict", "describe"], jobs=2)
    assert failures == []
    assert sum(counts.values()) == 12


@linux
@pytest.mark.parametrize("what", ["writes", "memory", "allocations"])
def test_what_runs_out_is_told_and_the_old_file_stays(what):
    pytest.importorskip("_testcapi")
    only = ["save", "report", "load and predict", "predict Parquet", "export text"]
    arguments = [word for name in only for word in ("--only", name)]
    ended = subprocess.run(
        [sys.executable, "-m", "fuzz.exhaustion", "--points", "6", "--what", what, *arguments],
        env=environment(),
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "Error" in ended.stdout


@linux
def test_places_beyond_a_buffer_are_no_crash(tmp_path):
    words = ["positive", ""] * 20
    table = pa.table({"a": np.arange(40.0), "y": words})
    path = tmp_path / "rows.arrow"
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table)
    places = np.cumsum([0, *map(len, words)], dtype="<i4")
    before = places.tobytes()
    places[1:-1] = 2**30
    content = path.read_bytes()
    assert content.count(before) == 1
    path.write_bytes(content.replace(before, places.tobytes()))
    ended = subprocess.run(
        [*PROGRAM, "fit", path, "-l", "y", "-o", tmp_path / "m.puf"],
        env=environment(),
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 1
    assert ended.stderr.startswith(f"error: {path}: ")
