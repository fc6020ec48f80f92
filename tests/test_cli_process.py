"""The program as a process: how it ends, what it leaves behind, and what it brings along."""

import io
import os
import runpy
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import puforest
from puforest.cli import main
from puforest.cli._commands import run
from puforest.cli.tables import written_whole

ROOT = Path(__file__).parents[1]
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
    path, other = tmp_path / "a.csv", tmp_path / "b.csv"

    def interrupted():
        with written_whole(path, force=True) as part:
            part.write_text("half")
            raise KeyboardInterrupt

    def overtaken():
        with written_whole(other, force=False) as part:
            part.write_text("ours")
            other.write_text("theirs")

    with written_whole(path, force=False) as part:
        part.write_text("new")
        assert not path.exists()
    assert path.read_text() == "new"
    with pytest.raises(FileExistsError), written_whole(path, force=False):
        pass
    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert path.read_text() == "new"
    with pytest.raises(FileExistsError):
        overtaken()
    assert other.read_text() == "theirs"
    assert sorted(tmp_path.iterdir()) == [path, other]


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("stream", "no_color", "coloured"),
    [(Terminal, None, True), (Terminal, "1", False), (io.StringIO, None, False)],
    ids=["terminal", "NO_COLOR", "file"],
)
def test_colours_only_where_they_are_seen(tmp_path, monkeypatch, stream, no_color, coloured):
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    if no_color:
        monkeypatch.setenv("NO_COLOR", no_color)
    monkeypatch.setattr(sys, "stderr", stream())
    assert run(["describe", str(tmp_path / "no.puf")]) == 1
    said = sys.stderr.getvalue()
    assert ("31m" in said) == coloured
    assert "error: " in said


def test_a_bar_for_terminals_only(folder, tmp_path, monkeypatch):
    for name, stream, shown in (("a.csv", Terminal, True), ("b.csv", io.StringIO, False)):
        monkeypatch.setattr(sys, "stderr", stream())
        out = tmp_path / name
        predict = ["predict", str(folder / "model.puf"), str(folder / "rows.csv"), "-o", str(out)]
        assert run(predict) == 0
        assert ("Scoring rows.csv" in sys.stderr.getvalue()) == shown


def test_nobody_reads_on(folder):
    with subprocess.Popen(
        [*PROGRAM, "describe", str(folder / "model.puf")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        process.stdout.close()
        said = process.stderr.read()
    assert process.returncode == 1
    assert said == ""


def test_a_model_does_not_hang_on_who_reads_its_quality(folder, tmp_path):
    fit = ("fit", folder / "rows.csv", "--label", "y", "--prior", "0.5", "--trees", "2")
    fit += ("--drop", "a", "--folds", "2", "-q", "-o", tmp_path / "model.puf")
    with subprocess.Popen([*PROGRAM, *map(str, fit)], stdout=subprocess.PIPE) as process:
        process.stdout.close()
    assert process.returncode == 1
    assert puforest.load(tmp_path / "model.puf").n_estimators == 2


def test_exit_codes_of_the_program(monkeypatch, capsys):
    before = signal.getsignal(signal.SIGTERM)
    try:
        for arguments, code in ((["--version"], 0), (["describe", "no.puf"], 1), (["nope"], 2)):
            monkeypatch.setattr(sys, "argv", ["puforest", *arguments])
            with pytest.raises(SystemExit) as ended:
                main()
            assert ended.value.code == code
    finally:
        signal.signal(signal.SIGTERM, before)


def test_an_interrupted_start_is_one_line(monkeypatch, capsys):
    class Interrupted:
        def __getattr__(self, name):
            raise KeyboardInterrupt

    monkeypatch.setattr("puforest.cli._commands", Interrupted())
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 130
    assert capsys.readouterr().err == "error: interrupted\n"


def test_importing_puforest_brings_no_extra():
    # Rich and pandas are left out: scikit-learn imports them where they are there.
    code = (
        "import sys, sklearn; before = set(sys.modules); import puforest\n"
        "extras = {'typer', 'matplotlib', 'torch', 'onnx', 'treelite', 'shap', 'polars', 'pooch'}\n"
        "print(sorted(extras & (set(sys.modules) - before)), 'puforest.cli' in sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[] False"


def test_a_missing_package_is_named_with_what_brings_it(tmp_path, monkeypatch, capsys):
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "pyarrow", None)
        assert run(["demo", str(tmp_path)]) == 1
    printed, said = capsys.readouterr()
    assert printed == ""
    assert said.startswith("error: ")
    assert "pip install 'puforest[cli]' brings pyarrow" in said
    monkeypatch.setitem(sys.modules, "typer", None)
    with pytest.raises(SystemExit, match=r"error: .*pip install 'puforest\[cli\]' brings typer"):
        main()


def test_the_example_is_the_demo(tmp_path, monkeypatch, capsys):
    before = signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr(sys, "argv", ["examples/demo.py", str(tmp_path), "--quiet"])
    try:
        with pytest.raises(SystemExit) as ended:
            runpy.run_path(str(ROOT / "examples" / "demo.py"), run_name="__main__")
    finally:
        signal.signal(signal.SIGTERM, before)
    assert ended.value.code == 0
    assert (tmp_path / "report.html").exists()
    assert "risk reduction" in capsys.readouterr().out
