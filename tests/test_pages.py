"""What the pages say: examples run, and the commands they name are there."""

import re
import shlex
from pathlib import Path

import numpy as np
import pytest

from puforest.cli._app import run
from puforest.datasets import DATASETS

ROOT = Path(__file__).parents[1]


def run_examples(page, names):
    """Run the Python of a page, one block after another."""
    for code in re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL):
        exec(code, names)


def test_examples_of_the_page_about_tables(capsys, tmp_path, monkeypatch):
    """Python and commands, one block after another; the block that follows shows the output."""
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs/tables.md").read_text()
    blocks = r"```(python|sh)\n(.*?)```(?:\n\n```\n(.*?)```)?"
    names = {}
    n_compared = 0
    for language, code, shown in re.findall(blocks, page, re.DOTALL):
        if language == "python":
            exec(code, names)
        else:
            for line in code.replace("\\\n", " ").splitlines():
                assert run(shlex.split(line)[1:]) == 0, line
        printed = capsys.readouterr()
        lines = (printed.out + printed.err).strip("\n").splitlines()
        if shown:
            assert [line.rstrip() for line in lines] == shown.splitlines(), code
            n_compared += 1
    assert n_compared > 8
    assert (names["pipeline"].predict(names["X"]) == names["high"]).mean() > 0.85
    for report in ("survey.html", "survey-cli.html"):
        assert "Exec-managerial" in (tmp_path / report).read_text()


def test_examples_of_the_readme(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    run_examples("README.md", names)
    accuracy, *lines = capsys.readouterr().out.splitlines()
    assert float(accuracy) > 0.98
    assert np.array_equal(
        names["loaded"].predict_proba(names["X"]), names["forest"].predict_proba(names["X"])
    )
    assert any(re.fullmatch("PUForestClassifier: [0-9]+ trees, fitted", line) for line in lines)
    assert (tmp_path / "mushrooms.html").stat().st_size > 10_000


def test_examples_of_the_page_about_choosing(capsys):
    names = {}
    run_examples("docs/choosing-an-estimator.md", names)
    said = capsys.readouterr().out
    assert "not kept" in said or "best" in said
    assert len(names["model"].comparison_) == len(names["own"])


def test_examples_of_the_page_about_large_tables(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    run_examples("docs/scaling.md", names)
    assert capsys.readouterr().out == "True\nTrue\n"
    assert len(list((tmp_path / "scores").glob("*.parquet"))) == names["parts"].npartitions
    assert (tmp_path / "mushrooms.puf").is_file()


@pytest.mark.filterwarnings("ignore::puforest.metrics.PriorMismatchWarning")
def test_examples_of_the_page_about_practice(capsys):
    names = {}
    run_examples("docs/pu-in-practice.md", names)
    said = capsys.readouterr().out
    assert abs(names["estimate"].value - names["truth"].mean()) < 0.05
    assert abs(names["report"].as_dict()["metrics"]["pu_accuracy"]["value"] - 0.94) < 0.06
    assert "pu_precision" in said
    assert "worst concave points" in said


def test_examples_of_the_page_about_checking(capsys):
    names = {}
    run_examples("docs/checking.md", names)
    low, high = names["found"].prior.interval
    assert low <= names["truth"].mean() <= high
    assert names["second"].prior_ == names["found"].prior.value
    assert "prior      unknown" in capsys.readouterr().out


def test_examples_of_the_page_about_comparing(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    run_examples("docs/comparing.md", names)
    accuracy = names["accuracy"]
    assert (
        accuracy["naive"] < 0.5 < 0.85 < min(accuracy[name] for name in accuracy if name != "naive")
    )
    assert (tmp_path / "net.pt").is_file()
    assert names["net"].score(names["X_test"], names["y_test"]) > 0.7
    assert "nnPU network" in capsys.readouterr().out


def test_data_sets_of_the_page_about_comparing():
    page = (ROOT / "docs/comparing.md").read_text()
    paper = [name for name, dataset in DATASETS.items() if dataset.from_folder] + ["mushrooms"]
    assert set(re.findall(r"^\| `([a-z0-9-]+)` \|", page, re.MULTILINE)) == set(paper)


def test_commands_exist():
    makefile = (ROOT / "Makefile").read_text()
    for page in ("README.md", "CONTRIBUTING.md", "benchmarks/README.md", "experiments/README.md"):
        for target in re.findall(r"make ([a-z-]+)", (ROOT / page).read_text()):
            rule = rf"^(?:\S+ )*{target}(?: \S+)*:"
            assert re.search(rule, makefile, re.MULTILINE), (page, target)


def test_links_between_pages():
    for page in ROOT.glob("**/*.md"):
        if not {".venv", "build"} & set(page.relative_to(ROOT).parts):
            for link in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text()):
                assert (page.parent / link).exists(), (page, link)
