"""Tables through pipes, and what is no file at all."""

import errno
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from puforest.cli._app import run

pytestmark = pytest.mark.skipif(os.name != "posix", reason="pipes of POSIX")

PROGRAM = (sys.executable, "-m", "puforest")
FAST = ("--model=paper", "--trees=3", "--threads=1", "--prior=0.4", "--no-quality", "--force")
TEXT = "a,b,y\n" + "".join(f"{i},{i % 3},{i % 2}\n" for i in range(40))


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """The folder of temporary files, which must be empty in the end."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert list(folder.iterdir()) == []


@pytest.fixture
def piped(tmp_path):
    """A named pipe that gives some bytes to whoever reads it."""

    def make(content, name="pipe"):
        path = tmp_path / name
        os.mkfifo(path)

        def write():
            with suppress(BrokenPipeError):
                path.write_bytes(content)

        threading.Thread(target=write, daemon=True).start()
        return str(path)

    return make


def in_every_format(folder):
    X, y = np.arange(120.0).reshape(40, 3) % 7, np.arange(40) % 2
    table = pa.table({"a": X[:, 0], "y": y})
    pyarrow.parquet.write_table(table, folder / "parquet")
    with pa.OSFile(str(folder / "arrow"), "wb") as file, pa.ipc.new_stream(file, table.schema) as s:
        s.write_table(table)
    np.savez(folder / "npz.npz", X=X, y=y)
    (folder / "npz.npz").rename(folder / "npz")
    (folder / "libsvm").write_text("".join(f"{i % 2} 1:{i}\n" for i in range(40)))
    (folder / "csv").write_text(TEXT)


@pytest.mark.parametrize("name", ["csv", "parquet", "arrow", "npz", "libsvm"])
def test_every_format_comes_through_a_pipe(tmp_path, capsys, kept, piped, name):
    in_every_format(tmp_path)
    content = (tmp_path / name).read_bytes()
    label = [] if name in ("npz", "libsvm") else ["--label", "y"]
    model = str(tmp_path / "m.puf")
    fit = ["fit", piped(content), *label, "--format", name, "-o", model, *FAST]
    assert run([*fit, "--json"]) == 0
    read_as = json.loads(capsys.readouterr().out)["format"]
    assert read_as.endswith(f", {len(content):,} bytes")
    out = str(tmp_path / "s.csv")
    assert run(["predict", model, piped(content, "p"), "--format", name, "-o", out, "-q"]) == 0
    assert len((tmp_path / "s.csv").read_text().splitlines()) == 41
    evaluate = ["evaluate", model, piped(content, "e"), *label, "--format", name, "-q"]
    assert run(evaluate) == 0


def test_formats_of_pipes_are_found_out(tmp_path, capsys, kept, piped):
    in_every_format(tmp_path)
    for name in ("csv", "parquet", "arrow"):
        path = piped((tmp_path / name).read_bytes(), f"pipe {name}")
        assert run(["prior", path, "--label", "y", "-q"]) == 0
    assert run(["prior", piped((tmp_path / "npz").read_bytes()), "-q"]) == 1
    assert "--format npz" in capsys.readouterr().err


def test_damaged_tables_in_pipes(capsys, kept, piped):
    path = piped(b"a,y\n1,0\n2,1,5\n")
    assert run(["prior", path, "--label", "y"]) == 1
    assert f"error: {path}, line 3: 3 values" in capsys.readouterr().err
    empty = piped(b"", "empty")
    assert run(["prior", empty, "--label", "y"]) == 1
    assert f"error: {empty} is empty" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["-", "/dev/stdin"])
@pytest.mark.parametrize("is_file", [True, False], ids=["file", "pipe"])
def test_standard_input(tmp_path, name, is_file):
    (tmp_path / "t.csv").write_text(TEXT)
    command = [*PROGRAM, "fit", name, "--label", "y", "-o", str(tmp_path / "m.puf"), *FAST, "-q"]
    with (tmp_path / "t.csv").open("rb") as file:
        given = {"stdin": file} if is_file else {"input": TEXT.encode()}
        done = subprocess.run(command, **given, capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("name", ["-", "/dev/stdin", "/dev/zero"])
def test_devices_are_refused(tmp_path, name):
    command = [*PROGRAM, "prior", name, "--label", "y"]
    with Path("/dev/zero").open("rb") as file:
        done = subprocess.run(
            command, stdin=file, capture_output=True, text=True, timeout=60, check=False
        )
    assert done.returncode == 1
    called = "standard input" if name == "-" else name
    assert done.stderr == f"error: {called} is neither a file nor a pipe: name a file\n"


def test_no_room_for_what_comes_out(capsys, kept, piped, monkeypatch):
    def full(*arguments):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(shutil, "copyfileobj", full)
    path = piped(TEXT.encode())
    assert run(["prior", path, "--label", "y"]) == 1
    said = capsys.readouterr().err
    assert f"error: {path} is a pipe" in said
    assert "No space left on device. Set TMPDIR" in said
