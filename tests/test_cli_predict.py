"""Scoring on the command line."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import puforest
from puforest.cli._app import run


def test_predict_writes_the_predictions_of_the_model(cli, cli_folder, tmp_path, blobs):
    out = tmp_path / "scored.parquet"
    said = cli(
        "predict", cli_folder / "model.puf", cli_folder / "rows.parquet", "--keep", "id", "-o", out,
        "--batch-rows", 7,
    )  # fmt: skip
    assert said.code == 0
    scored = pyarrow.parquet.read_table(out)
    assert scored.schema.names == ["id", "score", "predicted"]
    model = puforest.load(cli_folder / "model.puf")
    table = pa.table(list(blobs[0].T.copy()), names=model.feature_names_in_.tolist())
    np.testing.assert_array_equal(scored["score"], model.predict_proba(table)[:, 1])
    np.testing.assert_array_equal(scored["predicted"], model.predict(table))
    assert scored["id"][3].as_py() == "0003"
    assert "columns not used by the model: known, truth" in said.err


def test_threshold(cli, cli_folder, tmp_path):
    predict = ("predict", cli_folder / "model.puf", cli_folder / "rows.csv", "--force", "--json")
    predict += ("-o", tmp_path / "s.parquet")
    counts = []
    for options, expected in (((), 0.5), (("--threshold", "0.1"), 0.1)):
        answer = json.loads(cli(*predict, *options).out)
        scored = pyarrow.parquet.read_table(tmp_path / "s.parquet")
        positive = scored["score"].to_numpy() > expected
        np.testing.assert_array_equal(scored["predicted"], positive)
        assert answer["threshold"] == expected
        assert answer["predicted_positive"] == positive.sum()
        counts.append(answer["predicted_positive"])
    assert counts[0] < counts[1]


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".csv.gz", ".csv.zst", ".arrow", ".feather"])
def test_output_formats(cli, cli_folder, tmp_path, suffix):
    out = tmp_path / f"scored{suffix}"
    assert cli("predict", cli_folder / "model.puf", cli_folder / "rows.csv", "-o", out).code == 0
    expected = tmp_path / "expected.parquet"
    cli("predict", cli_folder / "model.puf", cli_folder / "rows.parquet", "-o", expected)
    if "csv" in suffix or suffix == ".tsv":
        with pa.input_stream(out, compression="detect") as stream:
            parse = pyarrow.csv.ParseOptions(delimiter="\t" if suffix == ".tsv" else ",")
            read = pyarrow.csv.read_csv(stream, parse_options=parse)
    else:
        read = pa.ipc.open_file(out).read_all()
    np.testing.assert_array_equal(read["score"], pyarrow.parquet.read_table(expected)["score"])


def test_scores_can_be_printed(cli_folder, tmp_path, capfd):
    predict = [
        "predict",
        str(cli_folder / "model.puf"),
        str(cli_folder / "rows.csv"),
        "--keep",
        "id",
    ]
    assert run([*predict, "-o", str(tmp_path / "scored.csv")]) == 0
    capfd.readouterr()
    assert run([*predict, "-o", "-"]) == 0
    printed, said = capfd.readouterr()
    assert printed == (tmp_path / "scored.csv").read_text()
    assert "600 rows scored" in said
    assert run([*predict, "-o", "-", "--json"]) == 1
    assert capfd.readouterr().out == ""


def test_columns_are_matched_by_name(cli, cli_folder, tmp_path):
    table = pa.csv.read_csv(cli_folder / "rows.csv")
    shuffled = table.select(table.column_names[::-1])
    pyarrow.csv.write_csv(shuffled, tmp_path / "shuffled.csv")
    for name, rows in (("a.csv", cli_folder / "rows.csv"), ("b.csv", tmp_path / "shuffled.csv")):
        assert cli("predict", cli_folder / "model.puf", rows, "-o", tmp_path / name).code == 0
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


def test_missing_columns_are_listed(cli, cli_folder, tmp_path):
    table = pa.csv.read_csv(cli_folder / "rows.csv").drop_columns(["feature 1", "feature 4"])
    pyarrow.csv.write_csv(table, tmp_path / "rows.csv")
    said = cli("predict", cli_folder / "model.puf", tmp_path / "rows.csv", "-o", tmp_path / "s.csv")
    assert said.code == 1
    assert "lacks 2 of the 6 columns" in said.err
    assert "feature 1, feature 4" in said.err
    assert not (tmp_path / "s.csv").exists()


def test_keep_all(cli, cli_folder, tmp_path):
    out = tmp_path / "s.csv"
    cli("predict", cli_folder / "model.puf", cli_folder / "rows.csv", "--keep-all", "-o", out)
    header = out.read_text().splitlines()[0].replace('"', "").split(",")
    assert header == [*pa.csv.read_csv(cli_folder / "rows.csv").column_names, "score", "predicted"]
    assert out.read_text().splitlines()[1].startswith('"0000"')


def test_existing_files_are_not_overwritten_without_force(cli, cli_folder, tmp_path):
    out = tmp_path / "s.csv"
    out.write_text("mine")
    predict = ("predict", cli_folder / "model.puf", cli_folder / "rows.csv", "-o", out)
    said = cli(*predict)
    assert said.code == 1
    assert "--force" in said.err
    assert out.read_text() == "mine"
    assert cli(*predict, "--force").code == 0
    assert out.read_text().startswith('"score"')
    assert [path.name for path in tmp_path.iterdir()] == ["s.csv"]
