"""Tables that are streamed yield the same models as in memory."""

import json
import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_array_equal

import puforest
from puforest import _candidates, _needed_rows, pu_forest
from puforest.cli._app import run

N = 3000
OPTIONS = ("--label", "known", "--prior", "0.3", "--trees", "20", "--threads", "1")


@pytest.fixture(autouse=True)
def few_rows(monkeypatch):
    """Let fits need only a part of small tables."""
    for module in (_candidates, _needed_rows):
        monkeypatch.setattr(module, "N_SAMPLES", 10)
        monkeypatch.setattr(module, "MAX_EVALUATED", 400)
    monkeypatch.setattr(_candidates, "MAX_COMPARED", 300)
    monkeypatch.setattr(pu_forest, "FIRST_TREES", 20)


@pytest.fixture
def folder(tmp_path):
    """A table in two files; only the second one has some of the categories."""
    rng = np.random.default_rng(0)
    positive = rng.random(N) < 0.3
    city = rng.choice(["Lima", "Oslo", "Rome"], N)
    city[-3:] = ["Bern", "Kyiv", "Bern"]
    table = pa.table(
        {
            "x": rng.normal(2 * positive),
            "city": pa.array(city, mask=rng.random(N) < 0.05),
            "known": (positive & (rng.random(N) < 0.05)).astype(np.int8),
        }
    )
    (tmp_path / "parts").mkdir()
    for name, first, last in (("a", 0, 1000), ("b", 1000, N)):
        pq.write_table(table.slice(first, last - first), tmp_path / "parts" / f"{name}.parquet")
    pq.write_table(table, tmp_path / "whole.parquet")
    return tmp_path


def fitted(capsys, data, *options):
    model = data.parent / "model.puf"
    arguments = ["fit", str(data), "-o", str(model), *OPTIONS, *options, "--json", "--force"]
    assert run(arguments) == 0, capsys.readouterr().err
    return puforest.load(model), json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("data", ["parts", "pa*s", "parts/*.parquet"])
def test_same_model_as_in_memory(folder, capsys, data):
    whole, _ = fitted(capsys, folder / "whole.parquet", "--in-memory")
    for how in ("--stream", "--in-memory"):
        forest, said = fitted(capsys, folder / data, how)
        for name, array in whole._forest._arrays().items():
            assert_array_equal(forest._forest._arrays()[name], array, err_msg=name)
        assert forest._record.schema == whole._record.schema
        assert forest.threshold_ == whole.threshold_
        assert said["threshold"] == whole.threshold_
        # Only rows that were kept could be scored.
        assert (forest._record.out_of_bag is None) == (how == "--stream")


def test_few_rows_are_kept(folder, capsys):
    arguments = ["fit", str(folder / "parts"), "-o", str(folder / "m.puf"), *OPTIONS]
    assert run([*arguments, "--candidates", "fast", "--stream", "--verbose"]) == 0
    said = capsys.readouterr().err
    n_kept, n_all = re.search(r"([0-9,]+) of ([0-9,]+) rows are kept in memory", said).groups()
    assert n_all == f"{N:,}"
    assert int(n_kept.replace(",", "")) < 0.95 * N


def test_predictions_on_a_folder(folder, capsys):
    fitted(capsys, folder / "parts", "--stream")
    model, scored = str(folder / "model.puf"), folder / "scored.parquet"
    for data in ("whole.parquet", "parts", "parts/?.parquet"):
        arguments = ["predict", model, str(folder / data), "-o", str(scored), "--force", "-q"]
        assert run(arguments) == 0, capsys.readouterr().err
        table = pq.read_table(scored)
        expected = puforest.load(model).predict_proba(
            pq.read_table(folder / "whole.parquet").drop_columns("known")
        )
        assert_array_equal(table["score"].to_numpy(), expected[:, 1])


def test_other_commands_on_a_folder(folder, capsys):
    fitted(capsys, folder / "parts", "--stream")
    model, data, report = (str(folder / name) for name in ("model.puf", "parts", "report.html"))
    assert run(["evaluate", model, data, "--label", "known"]) == 0
    assert "these are the training rows" in capsys.readouterr().err
    assert run(["report", model, data, "--label", "known", "--held-out", "-o", report]) == 0


def test_default_depends_on_the_available_memory(folder, capsys, monkeypatch):
    for available, is_streamed in ((10**12, False), (10_000, True), (None, False)):
        monkeypatch.setattr("puforest.cli._streaming.available_memory", lambda n=available: n)
        forest, _ = fitted(capsys, folder / "parts")
        assert (forest._record.out_of_bag is None) == is_streamed


def test_models_that_need_all_rows(folder, capsys):
    arguments = ["fit", str(folder / "parts"), "-o", str(folder / "m.puf"), *OPTIONS]
    assert run([*arguments, "--model", "paper", "--stream"]) == 1
    said = capsys.readouterr().err
    assert "--stream: --model paper is trained and evaluated on all rows: use --in-memory" in said
