"""Commands from beginning to end, in one process."""

import json
import os
import re
import shlex
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import puforest
from puforest._progress import progress_shown_by
from puforest.calibration import PUCalibratedClassifier
from puforest.cli._app import app, run
from puforest.metrics import PriorMismatchWarning, pu_interval
from puforest.prior import PriorEstimatedWarning
from puforest.risk import LOSSES

FAST = ("--trees", "5", "--threads", "1")


class Answer(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def cli(capsys):
    """Runs a command line, and returns its exit code and what it printed."""

    def call(*arguments):
        code = run([str(a) for a in arguments])
        return Answer(code, *capsys.readouterr())

    return call


@pytest.fixture(scope="module")
def folder(tmp_path_factory, blobs):
    """A table as CSV and Parquet, and a model fitted to it."""
    X, labeled, truth = blobs
    where = tmp_path_factory.mktemp("cli")
    columns = {"id": [f"{i:04}" for i in range(len(X))], "known": labeled, "truth": truth}
    columns |= {f"feature {i}": X[:, i] for i in range(X.shape[1])}
    table = pa.table(columns)
    pyarrow.csv.write_csv(table, where / "rows.csv")
    pyarrow.parquet.write_table(table, where / "rows.parquet", row_group_size=50)
    fit = ["fit", where / "rows.csv", "--label", "known", "--drop", "truth", "--drop", "id"]
    fit += ["--prior", "0.4"]
    fit += ["--scenario", "single-training-set", "-o", where / "model.puf", "--no-quality", *FAST]
    assert run([str(a) for a in fit]) == 0
    return where


def test_fit_tells_what_it_understood(cli, folder, tmp_path):
    model = tmp_path / "model.puf"
    said = cli(
        "fit", folder / "rows.csv", "--label", "known", "--drop", "truth", "-o", model,
        "--drop", "id", "--scenario", "single-training-set", "--folds", 2, *FAST,
    )  # fmt: skip
    assert said.code == 0
    assert re.search(r"rows +600: 115 labeled, 485 unlabeled", said.err)
    assert re.search(r"labels +known = 1 is labeled, 0 is not", said.err)
    assert re.search(r"features +6: feature 0, feature 1", said.err)
    assert re.search(r"scenario +single-training-set", said.err)
    assert re.search(r"prior +0\.\d+, estimated; 90% interval 0\.\d+ to 0\.\d+", said.err)
    assert "2 folds" in said.out
    assert re.search(r"precision +0\.\d+ +0\.\d+ to", said.out)
    loaded = puforest.load(model)
    assert loaded.feature_names_in_.tolist() == [f"feature {i}" for i in range(6)]
    assert loaded.n_estimators == 5
    assert loaded.prior_estimate_.value == loaded.prior_


def test_left_out_columns_are_named(cli, folder, tmp_path):
    table = pa.csv.read_csv(folder / "rows.csv")
    table = table.append_column("town", pa.array(["Bern", "Basel"] * 300))
    table = table.append_column("mixed", pa.array(["1", "n.a.", "3"] * 200))
    pyarrow.csv.write_csv(table, tmp_path / "rows.csv")
    said = cli(
        "fit", tmp_path / "rows.csv", "--label", "known", "--prior", "0.4",
        "-o", tmp_path / "m.puf", "--no-quality", *FAST,
    )  # fmt: skip
    assert re.search(r"left out +1 column: town \(text, such as 'Bern'\)", said.err)
    assert "the column mixed was left out: 200 of 600 values are no numbers, such as" in said.err
    assert said.code == 0


def test_options_of_the_forest(cli, folder, tmp_path):
    said = cli(
        "fit", folder / "rows.csv", "--label", "known", "--features", "feature 2",
        "--features", "feature 0", "--prior", "0.4", "--model", "random-forest", "--risk", "upu",
        "--loss", "logistic", "--voting", "soft", "--max-depth", 3, "--min-samples-leaf", 7,
        "--seed", 5, "-o", tmp_path / "m.puf", "--no-quality", *FAST,
    )  # fmt: skip
    assert said.code == 0
    model = puforest.load(tmp_path / "m.puf")
    assert type(model) is puforest.PURandomForestClassifier
    expected = {"risk": "upu", "loss": "logistic", "voting": "soft", "max_depth": 3}
    expected |= {"min_samples_leaf": 7, "random_state": 5, "n_jobs": 1, "prior": 0.4}
    assert {name: getattr(model, name) for name in expected} == expected
    assert model.feature_names_in_.tolist() == ["feature 0", "feature 2"]


def test_predict_writes_what_the_model_says(cli, folder, tmp_path, blobs):
    out = tmp_path / "scored.parquet"
    said = cli(
        "predict", folder / "model.puf", folder / "rows.parquet", "--keep", "id", "-o", out,
        "--batch-rows", 7,
    )  # fmt: skip
    assert said.code == 0
    scored = pyarrow.parquet.read_table(out)
    assert scored.schema.names == ["id", "score", "predicted"]
    model = puforest.load(folder / "model.puf")
    table = pa.table(list(blobs[0].T.copy()), names=model.feature_names_in_.tolist())
    np.testing.assert_array_equal(scored["score"], model.predict_proba(table)[:, 1])
    np.testing.assert_array_equal(scored["predicted"], model.predict(table))
    assert scored["id"][3].as_py() == "0003"
    assert "not used, as the model does not know it: known, truth" in said.err


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".csv.gz", ".csv.zst", ".arrow", ".feather"])
def test_formats_of_the_output(cli, folder, tmp_path, suffix):
    out = tmp_path / f"scored{suffix}"
    assert cli("predict", folder / "model.puf", folder / "rows.csv", "-o", out).code == 0
    expected = tmp_path / "expected.parquet"
    cli("predict", folder / "model.puf", folder / "rows.parquet", "-o", expected)
    if "csv" in suffix or suffix == ".tsv":
        with pa.input_stream(out, compression="detect") as stream:
            parse = pyarrow.csv.ParseOptions(delimiter="\t" if suffix == ".tsv" else ",")
            read = pyarrow.csv.read_csv(stream, parse_options=parse)
    else:
        read = pa.ipc.open_file(out).read_all()
    np.testing.assert_array_equal(read["score"], pyarrow.parquet.read_table(expected)["score"])


def test_scores_can_be_printed(folder, tmp_path, capfd):
    predict = ["predict", str(folder / "model.puf"), str(folder / "rows.csv"), "--keep", "id"]
    assert run([*predict, "-o", str(tmp_path / "scored.csv")]) == 0
    capfd.readouterr()
    assert run([*predict, "-o", "-"]) == 0
    printed, said = capfd.readouterr()
    assert printed == (tmp_path / "scored.csv").read_text()
    assert "600 rows scored" in said
    assert run([*predict, "-o", "-", "--json"]) == 1
    assert capfd.readouterr().out == ""


def test_columns_are_found_by_name(cli, folder, tmp_path):
    table = pa.csv.read_csv(folder / "rows.csv")
    shuffled = table.select(table.column_names[::-1])
    pyarrow.csv.write_csv(shuffled, tmp_path / "shuffled.csv")
    for name, rows in (("a.csv", folder / "rows.csv"), ("b.csv", tmp_path / "shuffled.csv")):
        assert cli("predict", folder / "model.puf", rows, "-o", tmp_path / name).code == 0
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


def test_missing_columns_are_named(cli, folder, tmp_path):
    table = pa.csv.read_csv(folder / "rows.csv").drop_columns(["feature 1", "feature 4"])
    pyarrow.csv.write_csv(table, tmp_path / "rows.csv")
    said = cli("predict", folder / "model.puf", tmp_path / "rows.csv", "-o", tmp_path / "s.csv")
    assert said.code == 1
    assert "lacks 2 of the 6 columns" in said.err
    assert "feature 1, feature 4" in said.err
    assert not (tmp_path / "s.csv").exists()


def test_keep_all(cli, folder, tmp_path):
    out = tmp_path / "s.csv"
    cli("predict", folder / "model.puf", folder / "rows.csv", "--keep-all", "-o", out)
    header = out.read_text().splitlines()[0].replace('"', "").split(",")
    assert header == [*pa.csv.read_csv(folder / "rows.csv").column_names, "score", "predicted"]
    assert out.read_text().splitlines()[1].startswith('"0000"')


def test_existing_files_stay_unless_forced(cli, folder, tmp_path):
    out = tmp_path / "s.csv"
    out.write_text("mine")
    predict = ("predict", folder / "model.puf", folder / "rows.csv", "-o", out)
    said = cli(*predict)
    assert said.code == 1
    assert "--force" in said.err
    assert out.read_text() == "mine"
    assert cli(*predict, "--force").code == 0
    assert out.read_text().startswith('"score"')
    assert [path.name for path in tmp_path.iterdir()] == ["s.csv"]


def test_evaluate_beside_the_truth(cli, folder, blobs):
    said = cli(
        "evaluate", folder / "model.puf", folder / "rows.csv", "--label", "known",
        "--truth", "truth", "--json",
    )  # fmt: skip
    assert said.code == 0
    assert said.err == ""
    answer = json.loads(said.out)
    assert answer["scenario"] == "single-training-set"
    assert answer["labeled"] == blobs[1].sum()
    model = puforest.load(folder / "model.puf")
    table = pa.table(list(blobs[0].T.copy()), names=model.feature_names_in_.tolist())
    called = model.predict(table)
    assert answer["truth"]["pu_accuracy"] == pytest.approx((called == blobs[2]).mean())
    assert answer["metrics"]["pu_recall"]["value"] == pytest.approx(called[blobs[1] == 1].mean())


def test_clipped_estimates_are_marked(cli, folder):
    evaluate = ("evaluate", folder / "model.puf", folder / "rows.csv", "--label", "known")
    evaluate += ("--prior", "0.9")
    answer = json.loads(cli(*evaluate, "--json").out)
    found = answer["metrics"]["pu_precision"]
    assert found["value"] == 1
    assert found["unclipped"] > 1.05
    assert f"pu_precision came out as {found['unclipped']:.4g} " in answer["notes"][0]
    recall = answer["metrics"]["pu_recall"]
    assert recall["unclipped"] == recall["value"]
    said = cli(*evaluate).out
    assert re.search(r"precision +1\.000\* ", said)
    assert re.search(rf"recall +{recall['value']:.3f}  ", said)
    assert f"came out as: precision {found['unclipped']:.4g}, F1" in said
    fine = cli(*evaluate[:-1], "0.1").out
    assert "*" not in fine


def test_rows_the_model_has_learned_from_are_noticed(cli, folder, tmp_path):
    same, other = "look like the rows the model was fitted to", "has the model learned from these"
    lines = (folder / "rows.csv").read_text().splitlines()
    (tmp_path / "part.csv").write_text("\n".join(lines[:-1]))
    for rows, prior, said, unsaid in (
        (folder / "rows.csv", "0.4", [same], [other]),
        (tmp_path / "part.csv", "0.9", [other], [same]),
        (tmp_path / "part.csv", "0.2", [], [same, other]),
    ):
        answer = cli(
            "evaluate", folder / "model.puf", rows, "--label", "known", "--prior", prior, "--json"
        )
        warned = " ".join(json.loads(answer.out)["warnings"])
        assert all(text in warned for text in said)
        assert not any(text in warned for text in unsaid)


def test_evaluate_takes_another_prior_and_scenario(cli, folder):
    evaluate = ("evaluate", folder / "model.puf", folder / "rows.csv", "--label", "known", "--json")
    first, second = (
        json.loads(cli(*evaluate, *more).out)
        for more in ((), ("--prior", "0.3", "--scenario", "case-control"))
    )
    assert (first["prior"], second["prior"]) == (0.4, 0.3)
    assert second["scenario"] == "case-control"
    assert first["metrics"]["lee_liu"] != second["metrics"]["lee_liu"]


def test_truth_of_case_control_rows_is_about_the_unlabeled(cli, folder):
    answer = json.loads(
        cli(
            "evaluate", folder / "model.puf", folder / "rows.csv", "--label", "known",
            "--truth", "truth", "--scenario", "case-control", "--json",
        ).out
    )  # fmt: skip
    everybody = json.loads(
        cli(
            "evaluate", folder / "model.puf", folder / "rows.csv", "--label", "known",
            "--truth", "truth", "--json",
        ).out
    )  # fmt: skip
    assert answer["truth"]["pu_precision"] < everybody["truth"]["pu_precision"]


def test_classes_that_are_not_known_are_no_negatives(cli, folder, tmp_path, blobs):
    table = pa.csv.read_csv(folder / "rows.csv")
    place = table.column_names.index("truth")
    labeled, truth = blobs[1], blobs[2]
    evaluate = ("evaluate", folder / "model.puf", tmp_path / "rows.csv", "--label", "known")
    evaluate += ("--truth", "truth", "--json")

    def with_truth(values):
        column = pa.array(values, pa.string())
        pyarrow.csv.write_csv(table.set_column(place, "truth", column), tmp_path / "rows.csv")

    for gap in ("", "unknown"):
        with_truth([gap if i % 2 else str(c) for i, c in enumerate(truth)])
        said = cli(*evaluate)
        assert said.code == 1
        assert f"the column holds {gap or 'nothing'} for some rows" in said.err
    # Of case-control data the labeled rows are not asked for.
    with_truth(["" if known else str(c) for known, c in zip(labeled, truth, strict=True)])
    assert cli(*evaluate).code == 1
    answer = json.loads(cli(*evaluate, "--scenario", "case-control").out)
    assert 0 < answer["truth"]["pu_precision"] < 1
    said = cli(*evaluate[:-2], "known")
    assert "it is the column of labels" in said.err


def test_an_estimated_prior_is_held_against_the_rows(cli, folder, tmp_path, blobs):
    model = tmp_path / "model.puf"
    fit = ("fit", folder / "rows.csv", "--label", "known", "--drop", "truth", "--drop", "id")
    fit += ("--scenario", "single-training-set", "-o", model, "--no-quality", "-q", *FAST)
    assert cli(*fit).code == 0
    estimate = puforest.load(model).prior_estimate_
    # More of these rows are labeled than the interval has for its least prior.
    n = round(len(blobs[0]) * (estimate.interval[0] + estimate.value) / 2)
    labeled = np.zeros(len(blobs[0]), dtype=int)
    labeled[np.argsort(-blobs[2], kind="stable")[:n]] = 1
    table = pa.csv.read_csv(folder / "rows.csv")
    table = table.set_column(table.column_names.index("known"), "known", pa.array(labeled))
    pyarrow.csv.write_csv(table, tmp_path / "rows.csv")
    said = cli("evaluate", model, tmp_path / "rows.csv", "--label", "known", "--json")
    assert said.code == 0, said.err
    of_precision = json.loads(said.out)["metrics"]["pu_precision"]
    assert of_precision["low"] < of_precision["high"]


def test_calibrated_models(cli, folder, tmp_path, blobs):
    X, labeled, _ = blobs
    forest = puforest.PURandomForestClassifier(
        scenario="single-training-set", n_estimators=30, oob_score=True, random_state=0
    )
    names = [f"feature {i}" for i in range(X.shape[1])]
    table = pa.table(list(X.T.copy()), names=names)
    with pytest.warns(PriorEstimatedWarning):
        model = PUCalibratedClassifier(forest, cv="oob").fit(table, labeled)
    model.save(tmp_path / "model.puf")
    rows = (tmp_path / "model.puf", folder / "rows.csv", "--label", "known")
    answer = json.loads(cli("evaluate", *rows, "--json").out)
    assert answer["scenario"] == "single-training-set"
    score = model.predict_proba(table)[:, 1]
    estimate = model.estimator_.prior_estimate_
    settings = {"prior": estimate.value, "prior_interval": estimate.interval}
    with pytest.warns(PriorMismatchWarning):
        expected = pu_interval("brier", labeled, score, scenario="single-training-set", **settings)
    assert answer["metrics"]["pu_brier"]["low"] == pytest.approx(expected.low)
    assert cli("report", *rows, "--held-out", "-o", tmp_path / "r.html", "--threads", 1).code == 0


def test_names_are_no_commands_to_the_terminal(cli, blobs, tmp_path):
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


def test_prior(cli, folder, blobs):
    prior = ("prior", folder / "rows.csv", "--label", "known", "--drop", "truth", "--drop", "id")
    prior += ("--scenario", "single-training-set", "--method", "bbe", "--method", "elkan-noto")
    answer = json.loads(cli(*prior, "--json").out)
    assert list(answer["estimates"]) == ["bbe", "elkan-noto"]
    assert abs(answer["estimates"]["bbe"]["value"] - blobs[2].mean()) < 0.2
    assert re.search(r"bbe +0\.\d+ +0\.\d+ to 0\.\d+", cli(*prior, "--quiet").out)


def test_describe(cli, folder):
    said = cli("describe", folder / "model.puf", "--top", 2)
    assert said.code == 0
    assert puforest.load(folder / "model.puf").describe() in said.out
    answer = json.loads(cli("describe", folder / "model.puf", "--json", "--top", 2).out)
    assert answer["class"] == "PUExtraTreesClassifier"
    assert answer["prior"] == 0.4
    assert len(answer["importances"]) == 2
    assert answer["features"][0] == "feature 0"


def test_export(cli, folder, tmp_path):
    import onnx
    import treelite

    model = folder / "model.puf"
    assert cli("export", model, "--to", "onnx", "-o", tmp_path / "m.onnx").code == 0
    onnx.checker.check_model(onnx.load(tmp_path / "m.onnx"))
    assert cli("export", model, "--to", "treelite", "-o", tmp_path / "m.tl").code == 0
    assert treelite.Model.deserialize(str(tmp_path / "m.tl")).num_tree == 5
    text = cli("export", model, "--to", "text", "--tree", 3, "--max-depth", 1).out
    assert text.startswith("PUExtraTreesClassifier, tree 3")
    assert len(text.splitlines()) == 4
    assert cli("export", model, "--to", "dot", "-o", tmp_path / "t.dot").code == 0
    assert (tmp_path / "t.dot").read_text().startswith("digraph")


def test_export_refuses_what_does_not_go_together(cli, folder, tmp_path):
    assert "-o" in cli("export", folder / "model.puf", "--to", "onnx").err
    out = tmp_path / "m.onnx"
    said = cli("export", folder / "model.puf", "--to", "onnx", "--tree", 1, "-o", out)
    assert said.code == 1
    assert "--tree" in said.err
    assert not out.exists()


def test_report(cli, folder, tmp_path):
    out = tmp_path / "r.html"
    said = cli(
        "report", folder / "model.puf", folder / "rows.csv", "--label", "known", "--held-out",
        "--title", "Fraud & more", "-o", out, "--threads", 1,
    )  # fmt: skip
    assert said.code == 0
    assert "Fraud &amp; more" in out.read_text()


def test_json_is_all_there_is(cli, folder, tmp_path):
    said = cli(
        "fit", folder / "rows.csv", "--label", "known", "-o", tmp_path / "m.puf",
        "--folds", 2, "--json", *FAST,
    )  # fmt: skip
    assert said.err == ""
    answer = json.loads(said.out)
    assert answer["features"][:2] == ["id", "truth"]
    assert answer["warnings"][0].startswith("the column id is different in every row")
    low, high = answer["prior_interval"]
    assert low <= answer["prior"] <= high
    assert 0 <= answer["quality"]["metrics"]["pu_f1"]["value"] <= 1


def test_quiet_fit_says_only_its_quality(cli, folder, tmp_path):
    fit = ("fit", folder / "rows.csv", "--label", "known", "--prior", "0.4", "-q", *FAST)
    fit += ("--drop", "id", "--drop", "truth", "--scenario", "single-training-set")
    assert cli(*fit, "--no-quality", "-o", tmp_path / "m.puf") == (0, "", "")
    said = cli(*fit, "--folds", 2, "-o", tmp_path / "n.puf")
    assert said.out.startswith("Quality")
    assert said.err == ""


def test_errors_are_one_line(cli, folder, tmp_path):
    rows, model, out = folder / "rows.csv", folder / "model.puf", tmp_path / "out.csv"
    fit = ("fit", rows, "--label", "known", "--drop", "id", "-q")
    for arguments, hint in (
        (("fit", tmp_path / "none.csv", "--label", "y", "-o", out), "no such file"),
        (("fit", rows, "--label", "nope", "-o", out), "it has id, known, truth"),
        (("fit", rows, "-o", out), "--label"),
        ((*fit, "-o", tmp_path / "no" / "m.puf"), "no folder"),
        ((*fit, "-o", tmp_path), "is a folder"),
        ((*fit, "--drop", "x", "-o", out), "--drop x"),
        ((*fit, "--drop", "known", "-o", out), "column of labels"),
        ((*fit, "--folds", "200", "-o", out), "--no-quality"),
        (("predict", rows, rows, "-o", out), "rows.csv is not a puforest model"),
        (("predict", rows, rows, "-o", out), "puforest predict MODEL DATA"),
        (("predict", model, rows, "-o", tmp_path / "s.xlsx"), ".parquet"),
        (("predict", model, folder, "-o", out), "is a folder"),
        (("predict", folder / "no.puf", rows, "-o", out), "puforest fit"),
        (("predict", model, rows, "--keep", "x", "-o", out), "--keep x"),
        (("report", model, "--label", "known", "-o", out), "without DATA there is no use for"),
        (("report", model, "--positive", "1", "--folds", 3, "-o", out), "--positive, --folds:"),
        (("report", model, "--decimal", ",", "--no-header", "-o", out), "--decimal, --no-header:"),
        (("report", model, "--encoding", "latin-1", "-o", out), "--encoding:"),
        (("report", model, "--format", "csv", "--delimiter", ";", "-o", out), "--delimiter:"),
    ):
        said = cli(*arguments)
        assert said.code == 1, arguments
        assert re.fullmatch(r"error: [^\n]+\n", said.err), said.err
        assert hint in said.err
        assert said.out == ""
    assert list(tmp_path.iterdir()) == []


def test_folders_nobody_may_write_in_are_refused_before_the_work(
    cli, folder, tmp_path, monkeypatch
):
    rows, model, ro = folder / "rows.csv", folder / "model.puf", tmp_path / "ro"
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
            rf"no permission in folder {re.escape(str(ro))}\n",
            said.err,
        )
    assert cli("export", model, "--to", "text", "-o", tmp_path / "x.txt").code == 0
    assert list(ro.iterdir()) == []


def test_debug_shows_where(cli, tmp_path):
    with pytest.raises(FileNotFoundError):
        cli("describe", tmp_path / "no.puf", "--debug")


def test_wrong_commands_are_one_line_too(cli, folder):
    for arguments, hint in (
        (("fit",), "puforest fit --help"),
        (("fitt",), "Did you mean 'fit'? See puforest --help"),
        (("fit", "x", "--lable", "y"), "--label"),
        (("fit", folder / "rows.csv", "-o", "m", "--scenario", "x"), "case-control"),
        (("fit", folder / "rows.csv", "-o", "m", "--prior", "x"), "--prior"),
        (("prior", folder / "rows.csv", "--method", "x"), "dedpul"),
        (("fit", "none.csv", "-o", "m", "--loss", "x"), "'--loss': 'x' is not one of"),
        (("fit", "none.csv", "-o", "m", "--model", "x"), "'--model': 'x' is not one of"),
        (("fit", "none.csv", "-o", "m", "--prior", "1.5"), "'--prior': 1.5 is not between 0 and 1"),
        (("evaluate", "no.puf", "none.csv", "--prior", "0"), "'--prior': 0 is not between 0 and 1"),
        (("fit", "none.csv", "-o", "m", "--trees", "0"), "--trees"),
        (("fit", "none.csv", "-o", "m", "--max-depth", "0"), "--max-depth"),
        (("fit", "none.csv", "-o", "m", "--min-samples-leaf", "0"), "--min-samples-leaf"),
        (("fit", "none.csv", "-o", "m", "--threads", "-5"), "--threads"),
        (("predict", "no.puf", "none.csv", "-o", "m.csv", "--threads", "0"), "--threads"),
        (("prior", "none.csv", "--seed", "-1"), "--seed"),
    ):
        said = cli(*arguments)
        assert said.code == 2
        assert re.fullmatch(r"error: [^\n]+\n", said.err), said.err
        assert hint in said.err


def test_help_teaches(cli):
    for info in app.registered_commands:
        said = cli(info.name, "--help")
        assert said.code == 0
        assert "Examples" in said.out
        for name in ("--json", "--quiet", "--verbose", "--debug"):
            assert name in said.out
    assert "'puforest[export]' brings" in cli("export", "--help").out
    assert all(loss in cli("fit", "--help").out for loss in LOSSES)
    assert cli("--version").out == f"puforest {puforest.__version__}\n"
    assert "Exit codes" in cli("--help").out


def test_examples_of_the_help_are_commands_that_parse():
    import typer

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


def test_demo(cli, tmp_path):
    answer = json.loads(cli("demo", tmp_path, "--json").out)
    names = ["model.puf", "mushrooms.csv", "new-mushrooms.csv", "report.html"]
    assert sorted(path.name for path in tmp_path.iterdir()) == names
    assert abs(answer["prior"] - 0.518) < 0.05
    assert abs(answer["metrics"]["pu_recall"]["value"] - answer["truth"]["pu_recall"]) < 0.03
    assert next(iter(answer["importances"])) == "odor=n"
    said = cli("demo", tmp_path)
    assert said.code == 1
    assert "--force" in said.err


def test_verbose_says_more(cli, folder, tmp_path):
    fit = ("fit", folder / "rows.csv", "--label", "known", "--prior", "0.4", "--no-quality", *FAST)
    brief, long = (cli(*fit, "-o", tmp_path / f"m{len(v)}.puf", *v).err for v in ((), ("-v",)))
    assert set(brief.splitlines()[1:6]) <= set(long.splitlines())
    assert re.search(r"read in 0\.\d+ s", long)
    assert "read in" not in brief


def test_fits_tell_their_progress(blobs, capsys):
    shares = []
    forest = puforest.PUExtraTreesClassifier(prior=0.4, n_estimators=3, verbose=1)
    with progress_shown_by(shares.append):
        forest.fit(*blobs[:2])
    assert shares[-1] == 1.0
    assert shares == sorted(shares)
    assert capsys.readouterr().err == ""
    forest.fit(*blobs[:2])
    assert "3/3 trees" in capsys.readouterr().err
