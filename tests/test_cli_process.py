"""The program as a process: how it ends, what it leaves behind, and what it brings along."""

import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from puforest.cli._app import run
from puforest.cli.tables import written_whole

PROGRAM = (sys.executable, "-m", "puforest.cli")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model, and a table that takes long with batches of one row."""
    where = tmp_path_factory.mktemp("process")
    rows = "\n".join(f"{i},{i % 7},{i % 2}" for i in range(40_000))
    (where / "rows.csv").write_text(f"a,b,y\n{rows}\n")
    fit = ["fit", str(where / "rows.csv"), "--label", "y", "--prior", "0.5", "--trees", "20"]
    fit += ["--drop", "a", "-o", str(where / "model.puf"), "--no-quality", "-q"]
    assert run(fit) == 0
    return where


def slow_predict(folder, out):
    arguments = ("predict", folder / "model.puf", folder / "rows.csv", "-o", out)
    process = subprocess.Popen(
        [*PROGRAM, *map(str, arguments), "--batch-rows", "1", "--threads", "1"],
        stderr=subprocess.PIPE,
        text=True,
    )
    while not list(out.parent.glob(".scored.*.part-*")):
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.01)
    return process


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize(("number", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_stopped_runs_leave_nothing(folder, tmp_path, number, code):
    process = slow_predict(folder, tmp_path / "scored.csv")
    process.send_signal(signal.Signals[number])
    _, said = process.communicate(timeout=30)
    assert process.returncode == code
    assert "Traceback" not in said
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_killed_runs_leave_no_file_that_looks_whole(folder, tmp_path):
    out = tmp_path / "scored.parquet"
    out.write_text("the old one")
    arguments = ("predict", folder / "model.puf", folder / "rows.csv", "-o", out, "--force")
    process = subprocess.Popen([*PROGRAM, *map(str, arguments), "--batch-rows", "1"])
    while not list(tmp_path.glob(".scored.parquet.part-*")):
        assert process.poll() is None
        time.sleep(0.01)
    process.kill()
    process.wait()
    assert out.read_text() == "the old one"
    (left,) = set(tmp_path.iterdir()) - {out}
    assert left.name.startswith(".scored.parquet.part-")


def test_a_file_is_there_whole_or_not_at_all(tmp_path):
    path = tmp_path / "a.csv"
    with written_whole(path, force=False) as part:
        part.write_text("new")
        assert not path.exists()
    assert path.read_text() == "new"
    with pytest.raises(FileExistsError), written_whole(path, force=False):
        pass
    with pytest.raises(KeyboardInterrupt), written_whole(path, force=True) as part:
        part.write_text("half")
        raise KeyboardInterrupt
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]
    # Something came into its place meanwhile.
    other = tmp_path / "b.csv"
    with pytest.raises(FileExistsError), written_whole(other, force=False) as part:
        part.write_text("ours")
        other.write_text("theirs")
    assert other.read_text() == "theirs"


def in_a_terminal(*arguments, **environment):
    """What the program prints where standard error is a terminal."""
    master, slave = pty.openpty()
    known = {**os.environ, "TERM": "xterm-256color", **environment}
    known = {name: value for name, value in known.items() if value is not None}
    process = subprocess.Popen([*PROGRAM, *arguments], stdout=slave, stderr=slave, env=known)
    os.close(slave)
    said = b""
    while True:
        try:
            part = os.read(master, 4096)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        said += part
    os.close(master)
    return process.wait(), said


@pytest.mark.skipif(sys.platform != "linux", reason="pseudo-terminals of Linux")
def test_colours_only_where_they_are_seen(folder, tmp_path):
    arguments = ("describe", str(tmp_path / "no.puf"))
    code, said = in_a_terminal(*arguments, NO_COLOR=None)
    assert code == 1
    assert b"\x1b[1;31merror: " in said
    code, said = in_a_terminal(*arguments, NO_COLOR="1")
    assert b"31m" not in said
    assert b"error: " in said
    piped = subprocess.run([*PROGRAM, *arguments], capture_output=True, check=False)
    assert piped.returncode == 1
    assert b"\x1b" not in piped.stderr
    assert piped.stdout == b""


def python(code, **more):
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, **more
    )


def test_importing_puforest_brings_no_extra():
    found = python(
        "import sys, sklearn; before = set(sys.modules); import puforest\n"
        "extras = {'typer', 'rich', 'pyarrow', 'matplotlib', 'torch', 'onnx', 'treelite', 'shap'}\n"
        "extras |= {'pandas', 'polars', 'pooch', 'jinja2'}\n"
        "print(sorted(extras & (set(sys.modules) - before)))"
    )
    assert found.stdout.strip() == "[]", found.stderr


@pytest.mark.parametrize(("missing", "arguments"), [("typer", []), ("pyarrow", ["demo", "--json"])])
def test_a_missing_package_is_named_with_what_brings_it(tmp_path, missing, arguments):
    found = python(
        f"import sys; sys.modules[{missing!r}] = None; sys.argv = ['puforest', *{arguments!r}]\n"
        "from puforest.cli import main; main()",
        cwd=tmp_path,
    )
    assert found.returncode == 1
    assert found.stderr.startswith("error: ")
    assert f"pip install 'puforest[cli]' brings {missing}" in found.stderr
    assert found.stderr.count("\n") == 1


def test_the_example_is_the_demo():
    from puforest.cli import demo

    text = (Path(__file__).parents[1] / "examples" / "demo.py").read_text()
    assert "puforest.cli" in text
    assert demo.REPORT == "report.html"
