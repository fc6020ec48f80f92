"""Describing, exporting and reporting models, and the demo, on the command line."""

import json

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
from report_data import data_of

import puforest


def test_control_characters_in_names_are_escaped(cli, blobs, tmp_path):
    X, labeled, _ = blobs
    names = ["\x1b[2J", *(f"feature {i}" for i in range(1, X.shape[1]))]
    table = pa.table(list(X.T.copy()), names=names)
    forest = puforest.PUExtraTreesClassifier(prior=0.4, n_estimators=3, random_state=0)
    forest.fit(table, labeled).save(tmp_path / "model.puf")
    pyarrow.csv.write_csv(pa.table({"feature 1": X[:, 1], "\x1b]0": X[:, 0]}), tmp_path / "r.csv")
    said = cli("describe", tmp_path / "model.puf")
    assert said.out.count("\\x1b[2J") == 2
    failed = cli("predict", tmp_path / "model.puf", tmp_path / "r.csv", "-o", tmp_path / "s.csv")
    assert "\\x1b]0" in failed.err
    assert "\x1b" not in said.out + failed.err


def test_describe(cli, cli_folder):
    said = cli("describe", cli_folder / "model.puf", "--top", 2)
    assert said.code == 0
    assert puforest.load(cli_folder / "model.puf").describe() in said.out
    answer = json.loads(cli("describe", cli_folder / "model.puf", "--json", "--top", 2).out)
    assert answer["class"] == "PUExtraTreesClassifier"
    assert answer["prior"] == 0.4
    assert len(answer["importances"]) == 2
    assert answer["features"][0] == "feature 0"


def test_export(cli, cli_folder, tmp_path):
    import onnx
    import treelite

    model = cli_folder / "model.puf"
    assert cli("export", model, "--to", "onnx", "-o", tmp_path / "m.onnx").code == 0
    onnx.checker.check_model(onnx.load(tmp_path / "m.onnx"))
    assert cli("export", model, "--to", "treelite", "-o", tmp_path / "m.tl").code == 0
    assert treelite.Model.deserialize(str(tmp_path / "m.tl")).num_tree == 5
    text = cli("export", model, "--to", "text", "--tree", 3, "--max-depth", 1).out
    assert text.startswith("PUExtraTreesClassifier, tree 3")
    assert len(text.splitlines()) == 4
    assert cli("export", model, "--to", "dot", "-o", tmp_path / "t.dot").code == 0
    assert (tmp_path / "t.dot").read_text().startswith("digraph")


def test_export_refuses_incompatible_options(cli, cli_folder, tmp_path):
    assert "-o" in cli("export", cli_folder / "model.puf", "--to", "onnx").err
    out = tmp_path / "m.onnx"
    said = cli("export", cli_folder / "model.puf", "--to", "onnx", "--tree", 1, "-o", out)
    assert said.code == 1
    assert "--tree" in said.err
    assert not out.exists()


def test_inputs_are_not_overwritten(cli, cli_folder, tmp_path):
    model = tmp_path / "model.puf"
    model.write_bytes((cli_folder / "model.puf").read_bytes())
    before = model.read_bytes()
    said = cli("export", model, "--to", "onnx", "-o", model, "--force")
    assert said.code == 1
    assert "is also the input" in said.err
    assert model.read_bytes() == before


def test_report(cli, cli_folder, tmp_path):
    out = tmp_path / "r.html"
    said = cli(
        "report", cli_folder / "model.puf", cli_folder / "rows.csv", "--label", "known",
        "--held-out", "--title", "Fraud & more", "-o", out, "--threads", 1,
    )  # fmt: skip
    assert said.code == 0
    assert "Fraud &amp; more" in out.read_text()
    assert "not the training rows" not in said.err
    lines = (cli_folder / "rows.csv").read_text().splitlines(keepends=True)
    (tmp_path / "some.csv").write_text("".join(lines[:400]))
    said = cli(
        "report", cli_folder / "model.puf", tmp_path / "some.csv", "--label", "known",
        "-o", out, "--force", "--threads", 1,
    )  # fmt: skip
    assert said.code == 0
    assert "these are not the training rows" in " ".join(said.err.split())


def test_forests_with_candidates(cli, cli_folder, tmp_path):
    """All commands take the default model and follow its threshold."""
    model, rows = tmp_path / "m.puf", cli_folder / "rows.csv"
    fit = ("fit", rows, "--label", "known", "--drop", "truth", "--drop", "id", "--prior", "0.4")
    fit += ("--scenario", "single-training-set", "--threshold", "cost:3", "--trees", 10)
    assert cli(*fit, "--candidates", "fast", "-o", model, "-q", "--threads", 1).code == 0
    threshold = puforest.load(model).threshold_
    answer = json.loads(cli("describe", model, "--json").out)
    assert answer["class"] == "PUForestClassifier"
    assert answer["threshold"] == threshold
    evaluate = ("evaluate", model, rows, "--label", "known", "--json")
    recalls = []
    for options, expected in (((), threshold), (("--threshold", "0.9"), 0.9)):
        answer = json.loads(cli(*evaluate, *options).out)
        assert answer["threshold"] == expected
        recalls.append(answer["metrics"]["pu_recall"]["value"])
    assert recalls[0] > recalls[1]
    scored = tmp_path / "s.csv"
    found = [
        json.loads(cli("predict", model, rows, "-o", scored, "--force", "--json", *options).out)
        for options in ((), ("--threshold", "prior"))
    ]
    assert found[0]["threshold"] == threshold
    assert found[0]["predicted_positive"] > found[1]["predicted_positive"]
    out = tmp_path / "r.html"
    assert cli("report", model, rows, "--label", "known", "-o", out, "--threads", 1).code == 0
    assert data_of(out)["rows"]["scored_by"] == "out-of-bag"
    text = cli("export", model, "--to", "text", "--max-depth", 1).out
    assert text.startswith("PUForestClassifier, tree 0")


def test_demo(cli, tmp_path):
    answer = json.loads(cli("demo", tmp_path, "--json").out)
    names = ["model.puf", "mushrooms.csv", "new-mushrooms.csv", "report.html"]
    assert sorted(path.name for path in tmp_path.iterdir()) == names
    assert abs(answer["prior"] - 0.518) < 0.05
    assert abs(answer["metrics"]["pu_recall"]["value"] - answer["truth"]["pu_recall"]) < 0.03
    assert next(iter(answer["importances"])).startswith("odor=")
    said = cli("demo", tmp_path)
    assert said.code == 1
    assert "--force" in said.err
