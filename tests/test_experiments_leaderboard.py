"""The leaderboard: ranks, critical differences, and methods that fail."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from experiments import comparison, leaderboard
from experiments.harness import Results
from experiments.methods import METHODS, Method, Run
from experiments.tables import Table


def test_ranks_and_critical_difference():
    scores = np.array([[90.0, 80, 70], [60, 60, 50], [10, 20, 30]])
    cases = [Run(name, "", 0) for name in ("a", "a", "b")]
    # Cases of a data set count once, all together.
    ranks = leaderboard.ranks_by_dataset(cases, scores)
    assert ranks.tolist() == [[1.25, 1.75, 3], [3, 2, 1]]
    # Demsar (2006), table 5 and section 3.2.2: q = 2.569 for four methods.
    assert leaderboard.critical_difference(4, 14) == pytest.approx(
        2.569 * np.sqrt(20 / 84), abs=1e-3
    )


def test_leaderboard(tmp_path, toy, monkeypatch):
    monkeypatch.setattr(leaderboard, "load", lambda name, folder: toy)
    monkeypatch.setattr(leaderboard, "DATASETS", ("one", "other"))
    arguments = ["--datasets", "one", "other", "--labeled", "20", "--draws", "1", "--threads", "1"]
    methods = ["nnPU quadratic", "NaivePUET", "uPU logistic"]
    leaderboard.main([*arguments, "--methods", *methods, "--out", str(tmp_path)])
    text = (tmp_path / "leaderboard.md").read_text()
    assert text.count("| one |") == text.count("| other |") == 2  # a line for each scenario
    assert "Over 2 data sets, the methods differ with p" in text
    assert "- one: a toy" in text
    assert "<svg" in (tmp_path / "leaderboard.svg").read_text()
    assert text.index("nnPU quadratic") < text.index("NaivePUET")  # the better one comes first


def test_custom_data_sets(tmp_path, capsys):
    more = Path(leaderboard.__file__).parent / "more_data.py"
    part = ["--methods", "nnPU quadratic", "NaivePUET", "spy", "--labeled", "40", "--draws", "1"]
    part += ["--scenarios", "case-control", "--threads", "1", "--out", str(tmp_path)]
    leaderboard.main(["--also", str(more), "--datasets", "digits", "breast-cancer", *part])
    text = (tmp_path / "leaderboard.md").read_text()
    assert "| digits | case-control | 40 |" in text
    with pytest.raises(SystemExit):
        leaderboard.main(["--datasets", "mushroom", *part])
    assert "--datasets: unknown mushroom; known are mushrooms" in capsys.readouterr().err


class LearnsFromFew(BaseEstimator):
    def fit(self, X, y):
        if len(y) > 200:
            raise ValueError("too many rows")
        return self

    def predict(self, X):
        return np.ones(len(X))


def test_failing_methods_are_ranked_last(tmp_path, toy, monkeypatch):
    monkeypatch.setitem(METHODS, "few", Method(lambda setting: LearnsFromFew()))
    monkeypatch.setattr(leaderboard, "load", lambda name, folder: toy)
    monkeypatch.setattr(leaderboard, "DATASETS", ("toy",))
    arguments = ["--datasets", "toy", "--labeled", "20", "900", "--draws", "2", "--threads", "1"]
    methods = ["few", "NaivePUET", "nnPU quadratic"]
    leaderboard.main([*arguments, "--methods", *methods, "--out", str(tmp_path)])
    text = (tmp_path / "leaderboard.md").read_text()
    # Labeled rows come on top in one scenario, and are among the others in the other.
    assert "- few failed on toy, case-control, 20 labeled: too many rows" in text
    assert "| 900 |" not in text  # there are not so many positives
    case_control = next(line for line in text.splitlines() if "| case-control |" in line)
    assert case_control.endswith("| failed |")
    assert text.count("failed") == 2
    # The report of the paper says so too.
    table = Table("toys", "Toys", ["toy"], ["few"], 1, n_labeled=20)
    remarks = comparison.remarks_on(table, Results(tmp_path / "runs.csv"))
    assert "toy, few failed: too many rows" in remarks
