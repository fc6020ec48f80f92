"""Ranking, drift and new priors on the command line."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given
from hypothesis import strategies as st

import puforest
from puforest.cli import _new_rows
from puforest.cli._app import run
from puforest.cli._new_rows import RowSample
from puforest.cli._top import TopRows
from puforest.metrics import expected_gains

FEATURES = [f"x{i}" for i in range(3)]


def draw(n, prior, seed):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < prior
    return rng.normal(size=(n, 3)) + 2 * y[:, None], y.astype(int)


def write(path, X, **more):
    columns = {**more, **dict(zip(FEATURES, X.T, strict=True))}
    pyarrow.csv.write_csv(pa.table(columns), path)
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A forest, rows like the training rows, and rows with another prior."""
    where = tmp_path_factory.mktemp("top")
    X, y = draw(1500, 0.3, 0)
    data = write(where / "rows.csv", X, y=y * (np.arange(1500) < 700))
    fit = ["fit", data, "--label", "y", "--scenario", "single-training-set", "--prior", "0.3"]
    fit += ["--candidates", "fast", "--trees", "40", "--no-quality", "-q", "--threads", "1"]
    assert run([str(a) for a in [*fit, "-o", where / "model.puf"]]) == 0
    write(where / "same.csv", draw(800, 0.3, 1)[0], id=np.arange(800))
    write(where / "rare.csv", draw(800, 0.05, 2)[0], id=np.arange(800))
    return where


def model_and_scores(folder, name):
    model = puforest.load(folder / "model.puf")
    rows = pa.csv.read_csv(folder / name).select(FEATURES)
    return model, model.predict_proba(rows)[:, 1]


def test_the_top_rows_are_ranked(cli, folder, tmp_path):
    predict = ("predict", folder / "model.puf", folder / "same.csv", "--keep", "id", "--top", "50")
    said = cli(*predict, "--batch-rows", "37", "-o", tmp_path / "top.csv")
    assert said.code == 0
    found = pa.csv.read_csv(tmp_path / "top.csv")
    assert found.column_names == [
        "rank", "row", "id", "score", "probability", "hits", "hits_low", "hits_high"
    ]  # fmt: skip
    model, score = model_and_scores(folder, "same.csv")
    order = np.argsort(-score, kind="stable")[:50]
    np.testing.assert_array_equal(found["rank"], np.arange(1, 51))
    np.testing.assert_array_equal(found["row"], order + 1)
    np.testing.assert_array_equal(found["id"], order)
    np.testing.assert_array_equal(found["score"], score[order])
    gains = expected_gains(model, 800, n_top=50).agreeing_with(score[order])
    for name, part in (("hits", "expected"), ("hits_low", "low"), ("hits_high", "high")):
        np.testing.assert_array_equal(found[name], getattr(gains, part).round(1))
    assert "The top 50 of 800 rows" in said.err
    assert gains.describe(50) in " ".join(said.err.split())


def test_labeled_rows_are_left_out(cli, folder, tmp_path):
    predict = ("predict", folder / "model.puf", folder / "rows.csv", "--top", "40")
    predict += ("--label", "y", "--batch-rows", "97", "--force", "-o", tmp_path / "top.csv")
    answer = json.loads(cli(*predict, "--json").out)
    labeled = np.asarray(pa.csv.read_csv(folder / "rows.csv")["y"])
    rows = np.asarray(pa.csv.read_csv(tmp_path / "top.csv")["row"])
    assert answer["labeled"] == labeled.sum()
    assert answer["top"] == len(rows) == 40
    assert not labeled[rows - 1].any()
    _, score = model_and_scores(folder, "rows.csv")
    ranked = np.flatnonzero(labeled == 0)
    np.testing.assert_array_equal(rows - 1, ranked[np.argsort(-score[ranked], kind="stable")][:40])
    said = " ".join(cli(*predict).err.split())
    assert f"The top 40 of {len(ranked):,} unlabeled rows" in said
    assert f"{labeled.sum()} labeled rows left out" in said


def test_fewer_rows_than_asked_for(cli, folder, tmp_path):
    predict = ("predict", folder / "model.puf", folder / "same.csv", "--top", "9999", "--json")
    answer = json.loads(cli(*predict, "-o", tmp_path / "top.parquet").out)
    assert (answer["top"], answer["rows"]) == (800, 800)
    assert answer["hits"]["hits_low"] <= answer["hits"]["hits"] <= answer["hits"]["hits_high"]


def test_models_without_out_of_bag_predictions(cli, cli_folder, tmp_path):
    predict = ("predict", cli_folder / "model.puf", cli_folder / "rows.csv", "--top", "5")
    said = cli(*predict, "-o", tmp_path / "top.csv")
    assert "no out-of-bag predictions" in said.err
    assert pa.csv.read_csv(tmp_path / "top.csv").column_names == ["rank", "row", "score"]


@given(scores=st.lists(st.lists(st.integers(0, 3), max_size=20), max_size=8), n=st.integers(1, 12))
def test_ties_are_broken_by_row_order(scores, n):
    best = TopRows(n)
    place = 0
    for part in scores:
        ids = pa.record_batch({"id": np.arange(place, place + len(part))})
        best.add(np.array(part, float), ids)
        place += len(part)
    everything = np.array([s for part in scores for s in part], float)
    order = np.argsort(-everything, kind="stable")[:n]
    np.testing.assert_array_equal(best.row, order + 1)
    np.testing.assert_array_equal(best.score, everything[order])
    if scores:
        np.testing.assert_array_equal(best.others["id"], order)
    assert best.n_seen == len(everything)


def test_only_the_top_rows_are_kept():
    best = TopRows(10)
    rng = np.random.default_rng(0)
    for _ in range(50):
        score = rng.random(10_000)
        best.add(score, pa.record_batch({"x": score}))
    assert best.others.num_rows == 10
    assert best.others.get_total_buffer_size() < 1000
    np.testing.assert_array_equal(best.others["x"], best.score)


def test_samples_of_rows():
    """Every row is as likely, and few are kept."""
    sample = RowSample(500)
    for start in range(0, 100_000, 1000):
        sample.add(pa.table({"x": np.arange(start, start + 1000)}))
        assert sum(len(keys) for keys, _ in sample._parts) <= 2000
    x = sample.rows()["x"].to_numpy()
    assert len(x) == 500
    assert sample.n_seen == 100_000
    assert abs(x.mean() - 50_000) < 4 * 100_000 / np.sqrt(12 * 500)
    few = RowSample(500)
    few.add(pa.table({"x": np.arange(7)}))
    np.testing.assert_array_equal(few.rows()["x"], np.arange(7))


def test_drift_is_reported(cli, folder, tmp_path):
    predict = (
        "predict",
        folder / "model.puf",
        "--check-drift",
        "--force",
        "-o",
        tmp_path / "s.csv",
    )
    same = cli(*predict, folder / "same.csv")
    assert same.code == 0
    assert "do not differ from the training data by more than chance" in same.err
    rare = cli(*predict, folder / "rare.csv")
    assert "warning: these rows differ from the training data by more than chance" in rare.err
    assert "--adapt-prior" in rare.err
    answer = json.loads(cli(*predict, folder / "rare.csv", "--json").out)
    assert answer["drift"]["significant"]
    assert answer["drift"]["positive_fraction"] < answer["drift"]["training_fraction"]


def test_samples_are_compared_if_there_are_many_rows(cli, folder, tmp_path, monkeypatch):
    monkeypatch.setattr(_new_rows, "MOST_ROWS", 300)
    monkeypatch.setattr(_new_rows, "FEWEST_ROWS", 10)
    predict = ("predict", folder / "model.puf", folder / "rare.csv", "--check-drift")
    said = cli(*predict, "-o", tmp_path / "s.csv")
    assert "compared 300 random rows of 800" in said.err


def test_priors_of_new_rows(cli, folder, tmp_path):
    predict = ("predict", folder / "model.puf", folder / "rare.csv", "--json", "--force")
    predict += ("-o", tmp_path / "s.csv")
    plain, given, adapted = (
        json.loads(cli(*predict, *more).out)
        for more in ((), ("--prior", "0.05"), ("--adapt-prior",))
    )
    assert plain["prior"] == 0.3
    assert given["prior"] == 0.05
    assert given["predicted_positive"] < plain["predicted_positive"]
    low, high = adapted["adapted_prior"]["interval"]
    assert low < 0.05 < high < 0.15
    assert adapted["prior"] == adapted["adapted_prior"]["value"]
    model, _ = model_and_scores(folder, "rare.csv")
    shifted = model.with_shifted_prior(adapted["prior"])
    rows = pa.csv.read_csv(folder / "rare.csv").select(FEATURES)
    found = pa.csv.read_csv(tmp_path / "s.csv")["score"]
    np.testing.assert_allclose(found, shifted.predict_proba(rows)[:, 1])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--prior", "0.1", "--adapt-prior"), "contradict each other"),
        (("--top", "5", "--threshold", "0.3"), "--threshold has no effect"),
        (("--top", "5", "--keep", "rank"), "--keep rank"),
    ],
)
def test_errors(cli, folder, tmp_path, options, message):
    data = write(tmp_path / "rows.csv", draw(5, 0.5, 0)[0], rank=np.arange(5))
    said = cli("predict", folder / "model.puf", data, *options, "-o", tmp_path / "s.csv")
    assert said.code == 1
    assert message in said.err
    assert not (tmp_path / "s.csv").exists()


def test_tables_without_rows(cli, folder, tmp_path):
    data = tmp_path / "rows.csv"
    data.write_text(",".join(FEATURES) + "\n")
    for options in (("--top", "5"), ("--check-drift",)):
        said = cli("predict", folder / "model.puf", data, *options, "-o", tmp_path / "s.csv")
        assert said.code == 1
        assert "has columns but no rows" in said.err


def test_gains_of_billions_of_rows(folder):
    """Only the points that are asked for take memory."""
    model, _ = model_and_scores(folder, "same.csv")
    few = expected_gains(model, 10**10, n_top=5)
    assert len(few) == 5
    every, top = expected_gains(model, 800), expected_gains(model, 800, n_top=300)
    np.testing.assert_array_equal(top.expected, every.expected[:300])
    np.testing.assert_allclose(top.random, every.random[:300])
