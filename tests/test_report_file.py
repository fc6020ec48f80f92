"""The file of a report: written atomically, escaped, and refused with a reason."""

import os
import re
from pathlib import Path

import numpy as np
import pytest
from report_data import QUICK, data_of
from two_clouds import SCENARIOS, draw, forest

from puforest import PUDecisionTreeClassifier, PUExtraTreesClassifier
from puforest.report import _trees, _write, write_report
from puforest.report._page import safe_json


@pytest.mark.filterwarnings("ignore::puforest.prior.PriorEstimatedWarning")
def test_examples_of_the_documentation_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = (Path(__file__).parents[1] / "docs" / "report.md").read_text(encoding="utf-8")
    names = {}
    for code in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        exec(code, names)
    data = data_of(tmp_path / "tumors.html")
    shown = data["prior"]["estimate"]
    assert shown["low"] < 1 - names["benign"].mean() < shown["high"]
    assert data["rows"]["scored_by"] == "out-of-bag"
    assert data_of(tmp_path / "pipeline.html")["rows"]["folds"] == 5
    assert data_of(tmp_path / "checked.html")["checked"]["n_checked"] == 50
    assert names["predicted"].mean() < 0.5


# The file


def test_files_are_written_atomically(tmp_path, monkeypatch):
    X, y, _ = draw(100, "case-control")
    model = forest(n_estimators=2).fit(X, y)
    file = model.report(tmp_path / "r.html", title="First")
    assert "<title>First</title>" in file.read_text(encoding="utf-8")
    with pytest.raises(FileExistsError, match="overwrite=True"):
        model.report(file)
    model.report(file, title="Second", overwrite=True)
    assert "<title>Second</title>" in file.read_text(encoding="utf-8")

    other = tmp_path / "other.html"
    with monkeypatch.context() as patch:
        # Somebody writes the file while the report is being made.
        patch.setattr(_write, "page", lambda *args: str(other.write_text("theirs")))
        with pytest.raises(FileExistsError, match="overwrite=True"):
            model.report(other)
    assert other.read_text() == "theirs"
    other.unlink()

    def fail(*args):
        raise OSError("no space left")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="no space left"):
        model.report(file, title="Third", overwrite=True)
    assert "<title>Second</title>" in file.read_text(encoding="utf-8")
    assert list(tmp_path.iterdir()) == [file]


def test_large_models_make_small_files(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(3000, 100)), (rng.random(3000) < 0.2).astype(int)
    model = PUExtraTreesClassifier(prior=0.4, n_estimators=20, random_state=0).fit(X, y)
    file = write_report(model, tmp_path / "r.html", X, y, held_out=True, **QUICK)
    assert model.get_n_leaves() > _trees.MAX_NODES
    assert file.stat().st_size < 700_000


HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)> & \u2028 {{data}} \ud800"


def test_names_and_titles_are_escaped(tmp_path):
    X, y, _ = draw(100, "case-control")
    model = forest(n_estimators=2).fit(X, y)
    names = [HOSTILE, "b", "c"]
    file = write_report(model, tmp_path / "r.html", feature_names=names, title=HOSTILE)
    text = file.read_text(encoding="utf-8")
    assert "alert(1)</script>" not in text
    assert "<img" not in text
    assert text.count("<script") == text.count("</script>") == 2
    assert data_of(file)["title"] == HOSTILE
    assert HOSTILE in data_of(file)["importances"]["names"]
    assert re.search(r"https?://(?!www\.w3\.org/2000/svg)", text) is None


def test_json_is_plain():
    text = safe_json({"a": [np.float64(np.nan), np.inf, 1 / 3, np.int64(2)], 3: "<&>é"})
    assert text == '{"a":[null,null,0.333333,2],"3":"\\u003c\\u0026\\u003e\\u00e9"}'


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X": None}, "y was given without X"),
        ({"y": None, "sample_weight": np.ones(3)}, "pass y too"),
        ({"y": [0, 1]}, "y has 2 rows"),
        ({"feature_names": ["a"]}, "feature_names must name the 3 features"),
        ({"cv": 200}, "too few for n_splits=200"),
        ({"path": "missing/r.html"}, "no directory"),
        ({"path": "."}, "is a directory"),
        ({"held_out": 1}, "held_out must be True or False"),
        ({"n_simulations": -1}, "n_simulations must be at least 0"),
        ({"model": PUDecisionTreeClassifier()}, "not fitted"),
        ({"model": "forest.puf"}, "model must be a puforest forest or tree"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_errors_say_what_to_do(change, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y, _ = draw(60, "case-control")
    model = forest(n_estimators=2).fit(X, y)
    arguments = {"model": model, "path": "r.html", "X": X, "y": y} | QUICK | change
    with pytest.raises((ValueError, TypeError, OSError), match=message):
        write_report(**arguments)
    assert not list(tmp_path.iterdir())


def test_refuses_pu_labels_for_supervised_models(written):
    X, y, _ = draw(100, "case-control")
    with pytest.raises(ValueError, match="risk='pn'"):
        written(forest(prior=None, risk="pn").fit(X, y), X, y)


@pytest.mark.filterwarnings("ignore:y marks .* rows as labeled")
@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("n_unlabeled", [1, 2, 3])
def test_few_unlabeled_rows(n_unlabeled, scenario, written):
    X = np.random.default_rng(0).normal(size=(20 + n_unlabeled, 3))
    y = (np.arange(len(X)) < 20).astype(int)
    model = PUExtraTreesClassifier(0.97, scenario=scenario, n_estimators=5, random_state=0)
    data = written(model.fit(X, y), X, y, held_out=True)
    assert data["rows"]["unlabeled"] == n_unlabeled
    assert all(len(curve["x"]) for curve in data["dependence"]["curves"])
