"""Options, help and error messages of the command line."""

import os
import re
import shlex
from typing import get_args

import pytest

import puforest
from puforest.cli._app import COMMANDS, load_commands
from puforest.cli._models import CLASSES, Loss, Model
from puforest.cli._options import Scenario
from puforest.cli.prior import METHODS as PRIOR_METHODS
from puforest.prior._estimate import METHODS
from puforest.risk import LOSSES
from puforest.scenario import SCENARIOS


def test_errors_are_one_line(cli, cli_folder, tmp_path):
    rows, model, out = cli_folder / "rows.csv", cli_folder / "model.puf", tmp_path / "out.csv"
    fit = ("fit", rows, "--label", "known", "--drop", "id", "-q")
    for arguments, hint in (
        (("fit", tmp_path / "none.csv", "--label", "y", "-o", out), "no such file"),
        (("fit", rows, "--label", "nope", "-o", out), "which has id, known, truth"),
        (("fit", rows, "-o", out), "--label"),
        ((*fit, "-o", tmp_path / "no" / "m.puf"), "no directory"),
        ((*fit, "-o", tmp_path), "is a directory"),
        ((*fit, "--drop", "x", "-o", out), "--drop x"),
        ((*fit, "--drop", "known", "-o", out), "label column"),
        ((*fit, "--model", "paper", "--folds", "200", "-o", out), "--no-quality"),
        (("predict", model, rows, "--threshold", "f1", "-o", out), "--threshold f1 is set from"),
        (("predict", rows, rows, "-o", out), "rows.csv is not a puforest model"),
        (("predict", rows, rows, "-o", out), "puforest predict MODEL DATA"),
        (("predict", model, rows, "-o", tmp_path / "s.xlsx"), ".parquet"),
        (("predict", model, tmp_path, "-o", out), "has no files with the extensions"),
        (("predict", cli_folder / "no.puf", rows, "-o", out), "puforest fit"),
        (("predict", model, rows, "--keep", "x", "-o", out), "--keep x"),
        (("report", model, "--label", "known", "-o", out), "--label requires DATA"),
        (
            ("report", model, "--positive", "1", "--folds", 3, "-o", out),
            "--positive, --folds requires DATA",
        ),
        (
            ("report", model, "--decimal", ",", "--no-header", "-o", out),
            "--decimal, --no-header requires DATA",
        ),
        (("report", model, "--encoding", "latin-1", "-o", out), "--encoding requires DATA"),
        (("report", model, "--missing", "x", "-o", out), "--missing requires DATA"),
        (
            ("report", model, "--format", "csv", "--delimiter", ";", "-o", out),
            "--delimiter requires DATA",
        ),
    ):
        said = cli(*arguments)
        assert said.code == 1, arguments
        assert re.fullmatch(r"error: [^\n]+\n", said.err), said.err
        assert hint in said.err
        assert said.out == ""
    assert list(tmp_path.iterdir()) == []


def test_unwritable_directories_are_refused_before_the_work(cli, cli_folder, tmp_path, monkeypatch):
    rows, model, ro = cli_folder / "rows.csv", cli_folder / "model.puf", tmp_path / "ro"
    ro.mkdir()
    monkeypatch.setattr(os, "access", lambda path, mode: path != ro or not mode & os.W_OK)
    # What is read is not there or no model: it is not looked at.
    for command, *arguments in (
        ("fit", tmp_path / "none.csv", "-o", ro / "x.puf"),
        ("predict", rows, rows, "-o", ro / "x.csv"),
        ("report", rows, "-o", ro / "x.html"),
        ("export", rows, "--to", "text", "-o", ro / "x.txt"),
        ("demo", ro / "x"),
        ("demo", ro),
    ):
        said = cli(command, *arguments)
        assert said.code == 1
        assert re.fullmatch(
            rf"error: {re.escape(str(arguments[-1]))}[^ ]* cannot be written: "
            rf"no permission in directory {re.escape(str(ro))}\n",
            said.err,
        )
    assert cli("export", model, "--to", "text", "-o", tmp_path / "x.txt").code == 0
    assert list(ro.iterdir()) == []


def test_debug_shows_the_traceback(cli, tmp_path):
    with pytest.raises(FileNotFoundError):
        cli("describe", tmp_path / "no.puf", "--debug")


def test_usage_errors_are_one_line(cli, cli_folder):
    for arguments, hint in (
        (("fit",), "puforest fit --help"),
        (("fitt",), "Did you mean 'fit'? See puforest --help"),
        (("fit", "x", "--lable", "y"), "--label"),
        (("fit", cli_folder / "rows.csv", "-o", "m", "--scenario", "x"), "case-control"),
        (("fit", cli_folder / "rows.csv", "-o", "m", "--prior", "x"), "--prior"),
        (("prior", cli_folder / "rows.csv", "--method", "x"), "dedpul"),
        (("fit", "none.csv", "-o", "m", "--loss", "x"), "'--loss': 'x' is not one of"),
        (("fit", "none.csv", "-o", "m", "--model", "x"), "'--model': 'x' is not one of"),
        (("fit", "none.csv", "-o", "m", "--prior", "1.5"), "'--prior': 1.5 is not between 0 and 1"),
        (("evaluate", "no.puf", "none.csv", "--prior", "0"), "'--prior': 0 is not between 0 and 1"),
        (("fit", "none.csv", "-o", "m", "--trees", "0"), "--trees"),
        (("fit", "none.csv", "-o", "m", "--max-depth", "0"), "--max-depth"),
        (("fit", "none.csv", "-o", "m", "--min-samples-leaf", "0"), "--min-samples-leaf"),
        (("fit", "none.csv", "-o", "m", "--threads", "-5"), "--threads"),
        (("fit", "none.csv", "-o", "m", "--threshold", "1.5"), "'--threshold': 1.5 is neither"),
        (("fit", "none.csv", "-o", "m", "--threshold", "cost:0"), "such as cost:10"),
        (("fit", "none.csv", "-o", "m", "--threshold", "nan"), "nan is neither a number"),
        (("fit", "none.csv", "-o", "m", "--max-features", "0"), "'--max-features': 0 is neither"),
        (("fit", "none.csv", "-o", "m", "--max-features", "x"), "sqrt, log2, all"),
        (("predict", "no.puf", "none.csv", "-o", "m.csv", "--threads", "0"), "--threads"),
        (("prior", "none.csv", "--seed", "-1"), "--seed"),
    ):
        said = cli(*arguments)
        assert said.code == 2
        assert re.fullmatch(r"error: [^\n]+\n", said.err), said.err
        assert hint in said.err


def test_help(cli):
    for name in COMMANDS:
        said = cli(name, "--help")
        assert said.code == 0
        assert "Examples" in said.out
        for option in ("--json", "--quiet", "--verbose", "--debug"):
            assert option in said.out
    assert "'puforest[export]'" in cli("export", "--help").out
    assert cli("--version").out == f"puforest {puforest.__version__}\n"
    assert "Exit codes" in cli("--help").out


def test_examples_in_the_help_parse():
    import typer

    app = load_commands()
    group = typer.main.get_command(app)
    examples = [
        line.strip()
        for info in app.registered_commands
        for line in info.help.splitlines()
        if line.strip().startswith("puforest ")
    ]
    assert len(examples) > 10
    for example in examples:
        _, name, *arguments = shlex.split(example)
        group.commands[name].make_context(name, arguments)


def test_choices_are_those_of_the_library():
    """They are written out, as importing them would take longer than printing the help."""
    assert get_args(Loss) == tuple(LOSSES)
    assert tuple(METHODS) == PRIOR_METHODS
    assert get_args(Scenario) == SCENARIOS
    assert get_args(Model) == tuple(CLASSES)
    assert all(hasattr(puforest, name) for name in CLASSES.values())


def test_no_arguments_print_the_help(cli):
    said = cli()
    assert said.code == 2
    assert said.out.startswith("Usage: puforest [OPTIONS] COMMAND")
    assert said.err == ""
    assert cli("fit", "-h").out == cli("fit", "--help").out
