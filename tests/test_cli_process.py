"""The program as a process: how it ends, what it leaves behind, and what it brings along."""

import io
import os
import re
import runpy
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import puforest
from puforest.cli import main
from puforest.cli._app import run
from puforest.cli.tables._write import atomic_output

ROOT = Path(__file__).parents[1]
PROGRAM = (sys.executable, "-m", "puforest")


@pytest.fixture
def signals():
    """For those who call `main`, which takes over signals and leaves them to the end."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model, and a table that takes long with batches of one row."""
    where = tmp_path_factory.mktemp("process")
    rows = "\n".join(f"{i},{i % 7},{i % 2}" for i in range(40_000))
    (where / "rows.csv").write_text(f"a,b,y\n{rows}\n")
    fit = ["fit", str(where / "rows.csv"), "--label", "y", "--prior", "0.5", "--trees", "20"]
    fit += ["--model", "paper"]
    fit += ["--drop", "a", "-o", str(where / "model.puf"), "--no-quality", "-q"]
    assert run(fit) == 0
    return where


@pytest.fixture(autouse=True)
def interruptible():
    """Let child processes receive SIGINT, which shells ignore in background jobs."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


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
def test_stopped_runs_leave_nothing_of_what_came_through_a_pipe(folder, tmp_path):
    arguments = ("predict", folder / "model.puf", "-", "-o", tmp_path / "scored.csv")
    with subprocess.Popen(
        [*PROGRAM, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        text=True,
    ) as process:
        while not list(tmp_path.iterdir()):
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.01)
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 130
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
        with atomic_output(path, force=True) as part:
            part.write_text("half")
            raise KeyboardInterrupt

    def overtaken():
        with atomic_output(other, force=False) as part:
            part.write_text("ours")
            other.write_text("theirs")

    with atomic_output(path, force=False) as part:
        part.write_text("new")
        assert not path.exists()
    assert path.read_text() == "new"
    with pytest.raises(FileExistsError), atomic_output(path, force=False):
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
    ("stream", "no_color", "colored"),
    [(Terminal, None, True), (Terminal, "1", False), (io.StringIO, None, False)],
    ids=["terminal", "NO_COLOR", "file"],
)
def test_colors_only_where_they_are_seen(tmp_path, monkeypatch, stream, no_color, colored):
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    if no_color:
        monkeypatch.setenv("NO_COLOR", no_color)
    monkeypatch.setattr(sys, "stderr", stream())
    assert run(["describe", str(tmp_path / "no.puf")]) == 1
    said = sys.stderr.getvalue()
    assert ("31m" in said) == colored
    assert "error: " in said


def test_a_bar_for_terminals_only(folder, tmp_path, monkeypatch):
    for name, stream, shown in (("a.csv", Terminal, True), ("b.csv", io.StringIO, False)):
        monkeypatch.setattr(sys, "stderr", stream())
        out = tmp_path / name
        predict = ["predict", str(folder / "model.puf"), str(folder / "rows.csv"), "-o", str(out)]
        assert run(predict) == 0
        assert ("Scoring rows.csv" in sys.stderr.getvalue()) == shown


OUTPUTS = {
    "describe": "describe MODEL",
    "json": "describe MODEL --json",
    "help": "--help",
    "scores": "predict MODEL ROWS -o - -q",
}
NO_OUTPUT = "error: standard output cannot be written: "


def shell(line, folder):
    """Run a command line of puforest with redirections, and return its exit code and errors."""
    line = line.replace("MODEL", f"{folder}/model.puf").replace("ROWS", f"{folder}/rows.csv")
    line = f"{shlex.join(PROGRAM)} {line}"
    ended = subprocess.run(["bash", "-c", line], stderr=subprocess.PIPE, text=True)
    return ended.returncode, ended.stderr


@pytest.mark.skipif(os.name != "posix", reason="redirections of POSIX")
@pytest.mark.parametrize("name", OUTPUTS)
def test_an_output_that_takes_nothing_is_one_line(folder, name):
    pipe = "| true; exit ${PIPESTATUS[0]}"
    assert shell(f"{OUTPUTS[name]} >&-", folder) == (1, f"{NO_OUTPUT}Bad file descriptor\n")
    assert shell(f"{OUTPUTS[name]} >/dev/full", folder) == (
        1,
        f"{NO_OUTPUT}No space left on device\n",
    )
    assert shell(f"{OUTPUTS[name]} {pipe}", folder) == (1, "")


@pytest.mark.skipif(os.name != "posix", reason="redirections of POSIX")
def test_what_is_not_needed_may_be_closed(folder, tmp_path):
    out = tmp_path / "scored.csv"
    predict = f"predict MODEL ROWS -o {out} --force"
    expected = None
    for redirection in ("", ">&-", "2>&-", ">/dev/full", "2>/dev/full", "<&- >&- 2>&-"):
        code, said = shell(f"{predict} {redirection}", folder)
        assert (code, "error" in said) == (0, False), redirection
        expected = expected or out.read_bytes()
        assert out.read_bytes() == expected
    assert shell("describe no.puf >&- 2>&-", folder) == (1, "")


def test_a_model_does_not_hang_on_who_reads_its_quality(folder, tmp_path):
    fit = ("fit", folder / "rows.csv", "--label", "y", "--prior", "0.5", "--trees", "2")
    fit += ("--model", "paper")
    fit += ("--drop", "a", "--folds", "2", "-q", "-o", tmp_path / "model.puf")
    with subprocess.Popen([*PROGRAM, *map(str, fit)], stdout=subprocess.PIPE) as process:
        process.stdout.close()
    assert process.returncode == 1
    assert puforest.load(tmp_path / "model.puf").n_estimators == 2


def test_exit_codes_of_the_program(monkeypatch, capsys, signals):
    for arguments, code in ((["--version"], 0), (["describe", "no.puf"], 1), (["nope"], 2)):
        monkeypatch.setattr(sys, "argv", ["puforest", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code == code
    # What comes once all is done changes nothing.
    signal.raise_signal(signal.SIGINT)


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize(("number", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_a_signal_during_imports_is_one_line(tmp_path, number, code):
    # Many an import catches whatever comes, and would take an exception for a missing package.
    (tmp_path / "typer.py").write_text(
        "import pathlib, time\n"
        "for _ in range(500):\n"
        "    try:\n"
        f"        pathlib.Path({str(tmp_path / 'begun')!r}).touch()\n"
        "        time.sleep(0.01)\n"
        "    except BaseException:\n"
        "        pass\n"
    )
    path = os.pathsep.join([str(tmp_path), *filter(None, sys.path)])
    with subprocess.Popen(
        [*PROGRAM, "--version"],
        env={**os.environ, "PYTHONPATH": path},
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        while not (tmp_path / "begun").exists():
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.01)
        process.send_signal(signal.Signals[number])
        said = process.communicate(timeout=30)[1]
    assert process.returncode == code
    assert re.fullmatch(r"error: (interrupted|terminated); no incomplete files were left\n", said)


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_signals_that_are_ignored_stay_so(folder, tmp_path):
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        process = slow_predict(folder, tmp_path / "scored.csv")
    finally:
        signal.signal(signal.SIGINT, before)
    with process:
        process.send_signal(signal.SIGINT)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=2)
        process.kill()


def test_nothing_heavy_is_imported_before_signals_are_taken():
    code = (
        "import sys; before = set(sys.modules); import puforest.cli\n"
        "print(*sorted({name.split('.')[0] for name in set(sys.modules) - before}))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    light = {"puforest", "signal", "enum", "types", "functools", "operator", "collections"}
    light |= {"keyword", "reprlib", "importlib", "warnings", "__future__", "itertools"}
    assert {name for name in found.stdout.split() if not name.startswith("_")} <= light


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["fit", "--help"]])
def test_help_imports_nothing_heavy(arguments):
    code = (
        "import sys; from puforest.cli._app import run; run(sys.argv[1:])\n"
        "heavy = {'numpy', 'sklearn', 'pyarrow', 'pydantic', 'rich.console'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    found = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True)
    assert found.stdout.splitlines()[-1] == "[]", found.stderr


def test_all_of_the_package_is_there_when_it_is_used():
    code = (
        "import puforest\n"
        "assert {'load', 'PUExtraTreeClassifier', 'metrics', '__version__'} <= {*dir(puforest)}\n"
        "assert all(getattr(puforest, name) is not None for name in dir(puforest))\n"
        "assert puforest.prior.estimate_prior and not hasattr(puforest, 'nothing')\n"
        "from puforest import *\n"
        "print(PUExtraTreesClassifier.__module__, load.__name__, puforest.__version__)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert found.stdout == f"puforest.forest load_model {puforest.__version__}\n", found.stderr


def test_importing_puforest_brings_no_extra():
    # Rich and pandas are left out: scikit-learn imports them where they are there.
    code = (
        "import sys, sklearn; before = set(sys.modules); import puforest\n"
        "extras = {'typer', 'matplotlib', 'torch', 'onnx', 'treelite', 'shap', 'polars', 'pooch'}\n"
        "print(sorted(extras & (set(sys.modules) - before)), 'puforest.cli' in sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[] False"


def test_a_missing_package_is_named_with_what_brings_it(tmp_path, monkeypatch, capsys, signals):
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "pyarrow", None)
        assert run(["demo", str(tmp_path)]) == 1
    printed, said = capsys.readouterr()
    assert printed == ""
    assert said.startswith("error: ")
    assert "requires pyarrow: install it with pip install 'puforest[cli]'" in said
    monkeypatch.setitem(sys.modules, "typer", None)
    with pytest.raises(SystemExit, match="1"):
        main()
    assert re.match(
        r"error: .*requires typer: install it with pip install 'puforest\[cli\]'\n",
        capsys.readouterr().err,
    )


def test_the_example_is_the_demo(tmp_path, monkeypatch, capsys, signals):
    monkeypatch.setattr(sys, "argv", ["examples/demo.py", str(tmp_path), "--quiet"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(ROOT / "examples" / "demo.py"), run_name="__main__")
    assert ended.value.code == 0
    assert (tmp_path / "report.html").exists()
    assert "risk reduction" in capsys.readouterr().out
