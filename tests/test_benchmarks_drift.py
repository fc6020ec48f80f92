"""Benchmarks of comparisons of new rows, and of the test of random labels, on a small table."""

import numpy as np
import pytest

from benchmarks import drift, scar
from benchmarks.raw_tables import load


@pytest.fixture(autouse=True)
def small(monkeypatch):
    quick = {
        "n_estimators": 20,
        "n_jobs": 1,
    }
    monkeypatch.setitem(
        drift.MODELS,
        "PUForestClassifier",
        lambda prior, seed: drift.PUForestClassifier(
            prior, candidates="fast", random_state=seed, **quick
        ),
    )
    monkeypatch.setattr(scar, "SIMULATIONS", 2)


def test_drift(tmp_path, capsys):
    arguments = ["--tables", "digits", "--draws", "1", "--out", str(tmp_path)]
    drift.main(arguments)
    assert "digits 0" in capsys.readouterr().out
    page = (tmp_path / "drift.md").read_text()
    assert "| PUForestClassifier | 1 |" in page
    assert page.count("| digits |") == 2
    drift.main(arguments)  # nothing is left to measure
    assert capsys.readouterr().out == ""


def test_scar(tmp_path):
    scar.main(["--tables", "digits", "--draws", "1", "1", "--out", str(tmp_path)])
    page = (tmp_path / "scar.md").read_text()
    assert "| current | digits | 0 of 1 |" in page


def test_rows_are_disjoint_and_have_the_prior():
    X, y = load("digits", None, None)
    for change in (lambda rows, seed: rows, scar.biased):
        rows = change(drift.Rows(X, y, 0), 0)
        unlabeled = rows.drawn(rows.unlabeled, 0.2, 2000)
        parts = rows.labeled, unlabeled, rows.drawn(rows.new, 0.5, 1000)
        assert len(np.unique(np.concatenate(parts))) == sum(map(len, parts))
        assert y[rows.labeled].all()
        assert y[unlabeled].mean() == pytest.approx(0.2, abs=0.06)
        assert len(rows.permuted(X)) == len(X)
