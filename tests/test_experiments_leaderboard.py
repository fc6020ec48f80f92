"""The leaderboard: what is run, the page, and methods that fail."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.naive_bayes import GaussianNB

from experiments import (
    comparison,
    development,
    leaderboard,
    leaderboard_page,
    rivals,
    stored_scores,
)
from experiments.development import Folders
from experiments.harness import FIELDS, Results
from experiments.methods import METHODS, Method, Run
from experiments.tables import Table

OURS, PAPER, BAGGING = rivals.OURS, rivals.PAPER, rivals.BAGGING


class LearnsFromFew(BaseEstimator):
    def fit(self, X, y):
        if len(y) > 200:
            raise ValueError("too many\nrows")
        return self

    def predict(self, X):
        return np.ones(len(X))


@pytest.fixture
def board(tmp_path, toy, monkeypatch):
    """Run fast stand-ins for some methods on copies of toy data; returns the page."""
    stand_ins = {
        OURS: Method(lambda setting: GaussianNB(), cut_at_prior=True, has_probabilities=True),
        OURS + rivals.UNKNOWN: Method(lambda setting: GaussianNB()),
        "few": Method(lambda setting: LearnsFromFew()),
    }
    for name, method in stand_ins.items():
        monkeypatch.setitem(METHODS, name, method)
    monkeypatch.setattr(leaderboard, "load_development", lambda name, folders: toy)
    monkeypatch.setattr(development, "load_development", lambda name, folders: toy)
    monkeypatch.setattr(development, "record_counts", lambda folder: {"nsw01": 50, "swi01": 50})

    def run(*more, methods=(OURS, PAPER, BAGGING, OURS + rivals.UNKNOWN)):
        out = tmp_path / "out"
        fixed = ["--draws", "1", "--threads", "1", "--out", str(out)]
        leaderboard.main([*fixed, "--methods", *methods, *more])
        page = out / "leaderboard.md"
        return page.read_text() if page.exists() else ""

    return run


def test_page(board, tmp_path):
    datasets = ["--datasets", "one", "other", "penbased", "mushrooms"]
    text = board(*datasets, "--disdat", str(tmp_path), "--parts", "known", "unknown", "species")
    for title in (
        "## Targets",
        "## All data sets, prior known",
        "## PUForest against each rival",
        "## Kinds of cases",
        "## Prior unknown",
        "## Presence-only species",
        "## Accuracy by data set",
        "## AUC by data set",
        "## Notes",
    ):
        assert title in text
    assert "of 4 data sets" in text
    assert "| best mean rank by accuracy |" in text
    assert "nsw, 1 species | swi, 1 species" in text
    assert "- one: a toy" in text
    assert "Not run with all methods yet: breast-cancer" in text
    assert "<svg" in (tmp_path / "out" / "leaderboard.svg").read_text()
    lines = Results(tmp_path / "out" / "runs.csv").lines()
    assert {line["resampled_prior"] for line in lines} == {"", "0.05"}  # of penbased


def test_page_without_runs(tmp_path, capsys):
    leaderboard.main(["--page-only", "--out", str(tmp_path)])
    assert "no data set was run with all methods yet" in capsys.readouterr().out


def test_runs_can_be_repeated(board, tmp_path):
    part = ["--datasets", "one", "--parts", "known"]
    board(*part)
    results = Results(tmp_path / "out" / "runs.csv")
    first = {run: line["fit_seconds"] for run, line in results.by_key().items()}
    board(*part, "--repeat", PAPER)
    for run, line in results.by_key().items():
        assert (line["fit_seconds"] == first[run]) == (run.method != PAPER)


def test_failing_methods_predict_the_frequent_class(board, tmp_path, toy):
    text = board("--datasets", "one", "--parts", "known", methods=["few", PAPER, OURS])
    # Labeled rows come on top in one scenario, and are among the others in the other.
    assert "- few, 1 failure on one: too many rows" in text
    results = Results(tmp_path / "out" / "runs.csv")
    prior = toy.y.mean()
    runs = stored_scores.read(results)
    failed = runs[runs["error"] != ""].iloc[0]
    assert failed["accuracy"] == pytest.approx(100 * max(prior, 1 - prior))
    assert failed["auc"] == 50
    # The report of the paper says so too.
    n_labeled = int(failed["n_labeled"])
    table = Table("toys", "Toys", ["one"], ["few"], 1, n_labeled=n_labeled)
    assert "one, few failed: too many rows" in comparison.remarks_on(table, results)


def test_unavailable_data_sets_are_skipped(tmp_path):
    with pytest.raises(SystemExit, match=r"skipped vowel: .*--keel"):
        leaderboard.main(["--datasets", "vowel", "--parts", "known", "--out", str(tmp_path)])
    with pytest.raises(SystemExit, match=r"skipped species: .*--disdat"):
        leaderboard.main(["--datasets", "vowel", "--parts", "species", "--out", str(tmp_path)])


def test_custom_data_sets(tmp_path, capsys):
    more = Path(leaderboard.__file__).parent / "more_data.py"
    part = ["--methods", PAPER, "spies", "--draws", "1", "--threads", "1", "--parts", "known"]
    part += ["--out", str(tmp_path)]
    leaderboard.main(["--also", str(more), "--datasets", "wine", *part])
    assert "| wine |" in (tmp_path / "leaderboard.md").read_text()
    with pytest.raises(SystemExit):
        leaderboard.main([*part, "--methods", "spy"])
    assert "--methods: unknown spy; known are" in capsys.readouterr().err


def test_plan(monkeypatch, toy):
    monkeypatch.setattr(development, "load_development", lambda name, folders: toy)
    names = ["mnist", "vowel", "penbased"]
    runs, unavailable = leaderboard.plan(list(leaderboard.PARTS), names, Folders(), 2)
    assert not unavailable
    assert {run.dataset for run in runs if run.method == rivals.NETWORK} == {"vowel"}
    assert runs[-1].dataset == "mnist"  # large data sets come last
    paper = [run for run in runs if run.dataset == "mnist"]
    assert {run.draw for run in paper if run.method == OURS} == {0, 1, 2}
    assert {run.draw for run in paper if run.method == BAGGING} == {0}
    assert not any(run.method in rivals.UNKNOWN_PRIOR for run in paper)


def test_targets(tmp_path):
    """PUForest is ahead by two points on ten data sets, and level with PU bagging."""
    results = Results(tmp_path / "runs.csv")
    for i, dataset in enumerate(["mushrooms", *"abcdefghi"]):
        for method, gain in ((OURS, 0.02), (PAPER, 0.0), (BAGGING, 0.02)):
            score = 0.8 + i / 100 + gain
            results.add(
                dict.fromkeys(FIELDS, "")
                | {"dataset": dataset, "method": method, "draw": 0, "n_labeled": 1000}
                | {"scenario": "case-control", "prior": 0.5}
                | {"calibration_error": 0.01, "calibration_floor": 0.004}
                | {"accuracy": score, "auc": score, "f1": score, "precision_at_n": score}
            )
    leaderboard_page.write(results, tmp_path)
    text = (tmp_path / "leaderboard.md").read_text()
    assert "| best mean rank by accuracy | 1.50, place 1 | reached |" in text
    assert f"| significantly ahead of every rival by accuracy | 1 of 2; not {BAGGING} |" in text
    assert f"| mean accuracy at least 1.0 points above {PAPER} | +2.00 | reached |" in text
    assert f"| mean accuracy at least 0.5 points above {BAGGING} | +0.00 | **missed** |" in text
    shown = "0.010; exact probabilities would have 0.004"
    assert f"| calibration error at most 0.03 | {shown} | reached |" in text
    assert "| mushrooms with the paper's protocol at least 99.8% | 82.00 | **missed** |" in text


def test_only_common_draws_are_compared(tmp_path):
    runs = [Run("toy", method, draw, 20) for method, draw in (("a", 0), ("a", 1), ("b", 0))]
    results = Results(tmp_path / "runs.csv")
    for run in runs:
        results.add(
            dict.fromkeys(FIELDS, "")
            | {"dataset": "toy", "method": run.method, "draw": run.draw, "n_labeled": 20}
            | {"scenario": run.scenario, "accuracy": (1 + run.draw) / 2}
        )
    kept = stored_scores.complete(stored_scores.read(results), ["a", "b"], "accuracy")
    assert kept["draw"].tolist() == [0, 0]
    table = stored_scores.by_dataset(kept, ["a", "b"], "accuracy")
    assert table.to_numpy().tolist() == [[50, 50]]
