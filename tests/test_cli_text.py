"""What is printed comes from files of anybody: it is no command to a terminal, and not endless."""

import io
import json
import os
import re
import subprocess
import sys
import unicodedata
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import puforest
from puforest.cli._app import message_of, run, show_traceback
from puforest.cli._console import LONGEST, one_line, safe

# An escape sequence, its C1 form, DEL, text from right to left, a line separator, half a character.
HOSTILE = "\x1b[2J\x9b2J\x7f\u202eevil\u2028\r\x00"
NAME = "\x1b[2J\x9b2J\x7f\u202eevil"


def commands_of_terminals(text):
    """Characters that do something but to be seen, line ends aside."""
    return [c for c in text if c != "\n" and unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory, blobs):
    """A table and a model whose files and columns have hostile names."""
    X, labeled, _ = blobs
    where = tmp_path_factory.mktemp("text")
    table = pa.table({NAME: X[:, 0], "b": X[:, 1], "y": labeled, f"{NAME} text": [NAME] * len(X)})
    pyarrow.csv.write_csv(table, where / f"rows{NAME}.csv")
    model = puforest.PUExtraTreesClassifier(0.4, n_estimators=3, random_state=0)
    model.fit(table.select([NAME, "b"]), labeled).save(where / f"model{NAME}.puf")
    return where


def lines(folder, out):
    model, rows = folder / f"model{NAME}.puf", folder / f"rows{NAME}.csv"
    fast = ("--model", "paper", "--trees", "3", "--threads", "1", "--folds", "2")
    return {
        "describe": ("describe", model),
        "fit": ("fit", rows, "-l", "y", *fast, "-o", out / f"m{NAME}.puf", "-v"),
        "prior": ("prior", rows, "-l", "y"),
        "predict": ("predict", model, rows, "-o", out / f"s{NAME}.csv", "-v"),
        "evaluate": ("evaluate", model, rows, "-l", "y"),
        "text": ("export", model, "--to", "text"),
        "dot": ("export", model, "--to", "dot"),
        "report": ("report", model, rows, "-l", "y", "--held-out", "-o", out / f"r{NAME}.html"),
        "no column": ("fit", rows, "-l", HOSTILE.replace("\0", ""), "-o", out / "m.puf"),
        "no file": ("predict", model, folder / f"{NAME}.csv", "-o", out / "s.csv"),
        "no option": ("fit", f"--{NAME}"),
        "no scenario": ("fit", rows, "-o", "m", "--scenario", NAME),
    }


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("name", lines(Path(), Path()))
def test_names_are_no_commands(folder, tmp_path, capsys, name):
    arguments = [str(a) for a in lines(folder, tmp_path)[name]]
    code = run(arguments)
    said = "".join(capsys.readouterr())
    assert code == {"no column": 1, "no file": 1, "no option": 2, "no scenario": 2}.get(name, 0), (
        said
    )
    assert "\\x1b[2J" in said
    assert commands_of_terminals(said) == []


@pytest.mark.parametrize("name", ["describe", "fit", "predict", "prior", "text"])
def test_json_is_safe_to_print(folder, tmp_path, capsys, name):
    assert run([*map(str, lines(folder, tmp_path)[name]), "--json"]) == 0
    printed, said = capsys.readouterr()
    assert commands_of_terminals(printed + said) == []
    assert printed.isascii()
    assert NAME in json.dumps(json.loads(printed), ensure_ascii=False).replace("\\u001b", "\x1b")


def test_the_bar_shows_names_as_codes(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert run([str(a) for a in lines(folder, tmp_path)["predict"]]) == 0
    shown = sys.stderr.getvalue()
    assert r"Scoring rows\x1b[2J\x9b2J\x7f\u202eevil.csv" in shown
    assert not {"\x9b", "\x7f", "\u202e"} & set(shown)
    assert "\x1b[2J" not in shown


def test_tracebacks_are_no_commands(capsys):
    error = ValueError(HOSTILE)
    show_traceback(type(error), error, None)
    said = capsys.readouterr().err
    assert said.startswith(r"ValueError: \x1b[2J")
    assert commands_of_terminals(said) == []


def test_long_cells_and_names_are_cut(folder, tmp_path, capsys, blobs):
    long = "x" * 10_000_000
    text = f"a,b,y\n{long},1,1\n1,2,0\n2,3,0\n"
    (tmp_path / "cell.csv").write_text(text)
    (tmp_path / "name.csv").write_text(text.replace("a,", f"{long},").replace(f"\n{long}", "\n0"))
    (tmp_path / "label.csv").write_text(text.replace(f"{long},1,1", f"0,1,{long}"))
    model = puforest.PUExtraTreesClassifier(0.4, n_estimators=1, random_state=0)
    model.fit(pa.table({"a": blobs[0][:, 0], "b": blobs[0][:, 1]}), blobs[1])
    model.save(tmp_path / "m.puf")
    out = ("-o", tmp_path / "out.csv")
    fast = ("--model=paper", "--trees=1", "--prior=0.5", "--no-quality", "--force")
    fast += ("-o", tmp_path / "n.puf")
    for arguments in (
        ("predict", tmp_path / "m.puf", tmp_path / "cell.csv", *out),
        ("predict", tmp_path / "m.puf", tmp_path / "name.csv", *out),
        ("fit", tmp_path / "cell.csv", "-l", "y", *fast),
        ("fit", tmp_path / "name.csv", "-l", "y", *fast),
        ("fit", tmp_path / "name.csv", "-l", "nope", *fast),
        ("fit", tmp_path / "label.csv", "-l", "y", *fast),
        ("describe", tmp_path / "n.puf"),
        ("export", tmp_path / "n.puf", "--to", "text"),
        ("fit", tmp_path / long[:5000], "-l", "y", *fast),
    ):
        run([str(a) for a in arguments])
        printed, said = capsys.readouterr()
        assert max(map(len, said.splitlines()), default=0) < 2 * LONGEST, arguments
        assert len(said) < 6 * LONGEST
        if arguments[0] != "export":
            assert len(printed) < 6 * LONGEST


def test_errors_about_memory_say_so():
    assert message_of(MemoryError()) == "not enough memory"
    assert message_of(MemoryError("malloc of 9")) == "not enough memory: malloc of 9"
    assert message_of(MemoryError("a.npz does not fit into memory")).startswith("a.npz")
    assert message_of(ValueError()) == "ValueError()"


def test_what_is_cut_keeps_its_way_out():
    message = one_line(f"the column {'x' * 10**6} is\nwrong: --drop it")
    assert re.fullmatch(r"the column x+ \[999,\d+ characters\] x+ is wrong: --drop it", message)
    assert safe("short") == "short"


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_characters_that_the_output_cannot_hold(folder, tmp_path, encoding):

    X = np.random.default_rng(0).normal(size=(40, 1))
    model = puforest.PUExtraTreesClassifier(0.5, n_estimators=1, random_state=0)
    model.fit(pa.table({"höhe ☃": X[:, 0]}), np.arange(40) % 2).save(tmp_path / "m.puf")
    for more in ([], ["--json"]):
        ended = subprocess.run(
            [sys.executable, "-m", "puforest", "describe", str(tmp_path / "m.puf"), *more],
            env={**os.environ, "PYTHONIOENCODING": encoding},
            capture_output=True,
        )
        assert (ended.returncode, ended.stderr) == (0, b"")
        assert b"\\u2603" in ended.stdout
