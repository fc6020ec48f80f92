"""Evaluation on the command line."""

import json
import re

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from sklearn.metrics import (
    accuracy_score,
    average_precision_score,
    brier_score_loss,
    log_loss,
    precision_score,
    roc_auc_score,
)

import puforest
from puforest.calibration import PUCalibratedClassifier
from puforest.metrics import PriorMismatchWarning, pu_interval
from puforest.prior import PriorEstimatedWarning

FAST = ("--model", "paper", "--trees", "5", "--threads", "1")


def test_estimates_next_to_the_truth(cli, cli_folder, blobs):
    said = cli(
        "evaluate", cli_folder / "model.puf", cli_folder / "rows.csv", "--label", "known",
        "--truth", "truth", "--json",
    )  # fmt: skip
    assert said.code == 0
    assert said.err == ""
    answer = json.loads(said.out)
    assert answer["scenario"] == "single-training-set"
    assert answer["labeled"] == blobs[1].sum()
    model = puforest.load(cli_folder / "model.puf")
    table = pa.table(list(blobs[0].T.copy()), names=model.feature_names_in_.tolist())
    called = model.predict(table)
    assert answer["truth"].keys() == {"prior", *answer["metrics"]}
    assert answer["truth"]["prior"] == pytest.approx(blobs[2].mean())
    score = model.predict_proba(table)[:, 1]
    for name, metric, output in (
        ("pu_accuracy", accuracy_score, called),
        ("pu_precision", precision_score, called),
        ("pu_roc_auc", roc_auc_score, score),
        ("pu_average_precision", average_precision_score, score),
        ("pu_brier", brier_score_loss, score),
        ("pu_log_loss", log_loss, score),
    ):
        assert answer["truth"][name] == pytest.approx(metric(blobs[2], output)), name
    assert answer["metrics"]["pu_recall"]["value"] == pytest.approx(called[blobs[1] == 1].mean())


def test_clipped_estimates_are_marked(cli, cli_folder):
    evaluate = ("evaluate", cli_folder / "model.puf", cli_folder / "rows.csv", "--label", "known")
    evaluate += ("--prior", "0.9")
    answer = json.loads(cli(*evaluate, "--json").out)
    found = answer["metrics"]["pu_precision"]
    assert found["value"] == 1
    assert found["unclipped"] > 1.05
    assert f"pu_precision was estimated as {found['unclipped']:.4g} " in answer["notes"][0]
    recall = answer["metrics"]["pu_recall"]
    assert recall["unclipped"] == recall["value"]
    said = cli(*evaluate).out
    assert re.search(r"Precision +1\.0+\* ", said)
    assert re.search(rf"Recall +{recall['value']:.3f}  ", said)
    assert f"raw estimates: Precision {found['unclipped']:.4g}, F1 score" in said
    fine = cli(*evaluate[:-1], "0.1").out
    assert "*" not in fine


def test_training_rows_are_detected(cli, cli_folder, tmp_path):
    same, other = "these are the training rows", "check that these are not the training rows"
    lines = (cli_folder / "rows.csv").read_text().splitlines()
    (tmp_path / "part.csv").write_text("\n".join(lines[:-1]))
    for rows, prior, said, unsaid in (
        (cli_folder / "rows.csv", "0.4", [same], [other]),
        (tmp_path / "part.csv", "0.9", [other], [same]),
        (tmp_path / "part.csv", "0.2", [], [same, other]),
    ):
        answer = cli(
            "evaluate",
            cli_folder / "model.puf",
            rows,
            "--label",
            "known",
            "--prior",
            prior,
            "--json",
        )
        warned = " ".join(json.loads(answer.out)["warnings"])
        assert all(text in warned for text in said)
        assert not any(text in warned for text in unsaid)


def test_training_rows_are_scored_out_of_bag(cli, cli_folder, tmp_path):
    fit = ("fit", cli_folder / "rows.csv", "--label", "known", "--drop", "id", "--drop", "truth")
    fit += ("--prior", "0.4", "--scenario", "single-training-set", "--candidates", "fast")
    fitted = json.loads(cli(*fit, "-o", tmp_path / "model.puf", "--json").out)
    evaluate = ("evaluate", tmp_path / "model.puf", cli_folder / "rows.csv", "--label", "known")
    answer = json.loads(cli(*evaluate, "--json").out)
    assert answer["out_of_bag"]
    assert answer["metrics"] == fitted["quality"]["metrics"]
    assert answer["warnings"] == []
    assert "Training rows, scored out of bag" in cli(*evaluate).err


def test_evaluate_takes_another_prior_and_scenario(cli, cli_folder):
    evaluate = (
        "evaluate",
        cli_folder / "model.puf",
        cli_folder / "rows.csv",
        "--label",
        "known",
        "--json",
    )
    first, second = (
        json.loads(cli(*evaluate, *more).out)
        for more in ((), ("--prior", "0.3", "--scenario", "case-control"))
    )
    assert (first["prior"], second["prior"]) == (0.4, 0.3)
    assert second["scenario"] == "case-control"
    assert first["metrics"]["lee_liu"] != second["metrics"]["lee_liu"]


def test_truth_of_case_control_data_covers_unlabeled_rows(cli, cli_folder):
    answer = json.loads(
        cli(
            "evaluate", cli_folder / "model.puf", cli_folder / "rows.csv", "--label", "known",
            "--truth", "truth", "--scenario", "case-control", "--json",
        ).out
    )  # fmt: skip
    everybody = json.loads(
        cli(
            "evaluate", cli_folder / "model.puf", cli_folder / "rows.csv", "--label", "known",
            "--truth", "truth", "--json",
        ).out
    )  # fmt: skip
    assert answer["truth"]["pu_precision"] < everybody["truth"]["pu_precision"]


def test_unknown_true_classes_are_refused(cli, cli_folder, tmp_path, blobs):
    table = pa.csv.read_csv(cli_folder / "rows.csv")
    place = table.column_names.index("truth")
    labeled, truth = blobs[1], blobs[2]
    evaluate = ("evaluate", cli_folder / "model.puf", tmp_path / "rows.csv", "--label", "known")
    evaluate += ("--truth", "truth", "--json")

    def with_truth(values):
        column = pa.array(values, pa.string())
        pyarrow.csv.write_csv(table.set_column(place, "truth", column), tmp_path / "rows.csv")

    for gap in ("", "unknown"):
        with_truth([gap if i % 2 else str(c) for i, c in enumerate(truth)])
        said = cli(*evaluate)
        assert said.code == 1
        assert f"the column holds {gap or 'missing values'}. True classes must be" in said.err
    # In case-control data, the truth of the labeled rows is not needed.
    with_truth(["" if known else str(c) for known, c in zip(labeled, truth, strict=True)])
    assert cli(*evaluate).code == 1
    answer = json.loads(cli(*evaluate, "--scenario", "case-control").out)
    assert 0 < answer["truth"]["pu_precision"] < 1
    with_truth(["0"] * len(truth))
    answer = json.loads(cli(*evaluate).out)
    assert answer["truth"] is None
    assert any("are of class 0, so the estimates cannot" in w for w in answer["warnings"])
    said = cli(*evaluate[:-2], "known")
    assert "is the label column" in said.err


def test_estimated_prior_is_checked_against_the_rows(cli, cli_folder, tmp_path, blobs):
    model = tmp_path / "model.puf"
    fit = ("fit", cli_folder / "rows.csv", "--label", "known", "--drop", "truth", "--drop", "id")
    fit += ("--scenario", "single-training-set", "-o", model, "--no-quality", "-q", *FAST)
    assert cli(*fit).code == 0
    estimate = puforest.load(model).prior_estimate_
    # More of these rows are labeled than the interval has for its least prior.
    n = round(len(blobs[0]) * (estimate.interval[0] + estimate.value) / 2)
    labeled = np.zeros(len(blobs[0]), dtype=int)
    labeled[np.argsort(-blobs[2], kind="stable")[:n]] = 1
    table = pa.csv.read_csv(cli_folder / "rows.csv")
    table = table.set_column(table.column_names.index("known"), "known", pa.array(labeled))
    pyarrow.csv.write_csv(table, tmp_path / "rows.csv")
    said = cli("evaluate", model, tmp_path / "rows.csv", "--label", "known", "--json")
    assert said.code == 0, said.err
    of_precision = json.loads(said.out)["metrics"]["pu_precision"]
    assert of_precision["low"] < of_precision["high"]


def test_calibrated_models(cli, cli_folder, tmp_path, blobs):
    X, labeled, _ = blobs
    forest = puforest.PURandomForestClassifier(
        scenario="single-training-set", n_estimators=30, oob_score=True, random_state=0
    )
    names = [f"feature {i}" for i in range(X.shape[1])]
    table = pa.table(list(X.T.copy()), names=names)
    with pytest.warns(PriorEstimatedWarning):
        model = PUCalibratedClassifier(forest, cv="oob").fit(table, labeled)
    model.save(tmp_path / "model.puf")
    rows = (tmp_path / "model.puf", cli_folder / "rows.csv", "--label", "known")
    answer = json.loads(cli("evaluate", *rows, "--json").out)
    assert answer["scenario"] == "single-training-set"
    score = model.predict_proba(table)[:, 1]
    estimate = model.estimator_.prior_estimate_
    settings = {"prior": estimate.value, "prior_interval": estimate.interval}
    with pytest.warns(PriorMismatchWarning):
        expected = pu_interval("brier", labeled, score, scenario="single-training-set", **settings)
    assert answer["metrics"]["pu_brier"]["low"] == pytest.approx(expected.low)
    assert cli("report", *rows, "--held-out", "-o", tmp_path / "r.html", "--threads", 1).code == 0
