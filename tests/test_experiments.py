"""The harness of the experiments: stored runs, resumed runs, and marked differences."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.utils import Bunch

from experiments import comparison, data, harness, methods, reproduce, rivals
from experiments.data import Split
from experiments.figures import KINDS, Figure
from experiments.harness import FIELDS, Results, is_stale, perform_all
from experiments.methods import METHODS, Method, Run, Setting, scikit_learn
from experiments.tables import Cell, Number, Table, reversed_pairs
from puforest.scenario import SCENARIOS

PAPER = Path(reproduce.__file__).parent / "paper"
TABLES = sorted(PAPER.glob("tables/*.toml"))
FIGURES = sorted(PAPER.glob("figures/*.toml"))


RUNS = [
    Run("toy", method, draw, 20) for method in ("nnPU quadratic", "NaivePUET") for draw in range(2)
]


def test_runs_are_stored_and_not_repeated(tmp_path, toy, monkeypatch):
    results = Results(tmp_path / "runs.csv")
    perform_all(RUNS, results, lambda name: toy, threads=1)
    assert results.done() == set(RUNS)
    before = results.path.read_bytes()
    monkeypatch.setattr(harness, "perform", None)  # would fail if it were called
    perform_all(RUNS, results, None, threads=1)
    assert results.path.read_bytes() == before
    assert results.values(RUNS[0], "accuracy").mean() > 80
    assert results.values(RUNS[2], "accuracy").mean() < 80
    line = results.lines()[0]
    assert float(line["train_risk"]) == pytest.approx(0, abs=0.05)
    assert float(line["test_risk"]) == pytest.approx(1 - float(line["accuracy"]))
    assert line["differs"] == "a toy"
    assert "scikit-learn" in line["versions"]


def test_interrupted_runs_are_resumed(tmp_path, toy, monkeypatch):
    results = Results(tmp_path / "runs.csv")
    whole = harness.perform
    calls = []

    def killed(run, *rest, **more):
        calls.append(run)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return whole(run, *rest, **more)

    monkeypatch.setattr(harness, "perform", killed)
    with pytest.raises(KeyboardInterrupt):
        perform_all(RUNS, results, lambda name: toy, threads=1)
    assert len(results.done()) == 2
    perform_all(RUNS, results, lambda name: toy, threads=1)
    assert len(calls) == 5  # the killed one again, and the fourth
    assert results.done() == set(RUNS)


def test_runs_with_outdated_settings_are_repeated(tmp_path, toy, monkeypatch):
    results = Results(tmp_path / "runs.csv")
    perform_all(RUNS, results, lambda name: toy, threads=1)
    monkeypatch.setitem(METHODS, "NaivePUET", Method(scikit_learn(5)))
    assert results.missing(RUNS) == RUNS[2:]
    perform_all(RUNS, results, lambda name: toy, threads=1)
    assert results.missing(RUNS) == []
    assert len(results.lines()) == len(RUNS)  # new ones have taken the place of the old
    assert "ExtraTreesClassifier(n_estimators=5)" in results.lines()[-1]["settings"]


def test_repeated_runs_leave_one_line(tmp_path, toy):
    results = Results(tmp_path / "runs.csv")
    for _ in range(2):
        results.add(harness.perform(RUNS[0], toy, 1, tmp_path))
    assert len(results.lines()) == 1


def test_missing_data_sets_are_skipped(tmp_path, toy, monkeypatch, capsys):
    def load(name, folder):
        if name == "mushrooms":
            return toy
        raise FileNotFoundError(f"{name} is not there")

    monkeypatch.setattr(reproduce, "load", load)
    monkeypatch.setattr(reproduce, "Table", FewLabeled)
    part = ["--only", "risk_and_loss", "mnist_maps", "--datasets", "mushrooms", "mnist"]
    with pytest.raises(SystemExit, match="skipped mnist: mnist is not there"):
        reproduce.main([*part, "--draws", "1", "--threads", "1", "--out", str(tmp_path)])
    assert {run.dataset for run in Results(tmp_path / "runs.csv").done()} == {"mushrooms"}
    assert (tmp_path / "report.html").exists()


class FewLabeled:
    """Tables with fewer labeled samples."""

    @staticmethod
    def read(path):
        return replace(Table.read(path), n_labeled=20)


def test_interrupted_runs_write_a_report(tmp_path, toy, monkeypatch):
    def interrupted(*rest, **more):
        raise KeyboardInterrupt

    monkeypatch.setattr(reproduce, "perform_all", interrupted)
    with pytest.raises(SystemExit, match="run the same command again"):
        reproduce.main(["--only", "risk_and_loss", "--out", str(tmp_path)])
    assert (tmp_path / "report.html").exists()


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("name", METHODS)
def test_methods_learn(tmp_path, toy, name, scenario, monkeypatch):
    """Networks are trained for one epoch; other numbers of labeled samples are other trainings."""
    monkeypatch.setattr(methods, "MOST_EPOCHS", 1)
    try:
        METHODS[name].make(Setting(Run("toy", name, 0), 0.5))
    except ImportError as error:
        pytest.skip(str(error))
    told = []
    for n_labeled in (40, 20):
        run = Run("toy", name, 0, n_labeled, scenario)
        record = harness.perform(run, toy, 1, tmp_path, told.append)
        assert 0 <= record["accuracy"] <= 1
        assert record["fit_seconds"] > 0
        assert record["error"] == ""
        assert is_stale(run, record | {"settings": record["settings"] + "?"})
        assert not is_stale(run, record)
    is_network = name == rivals.NETWORK or "net" in name.split(",")[0].split()
    assert ("epoch 1 of" in "".join(told)) == is_network


def test_resumed_fits_are_not_timed(tmp_path, toy, monkeypatch):
    monkeypatch.setattr(methods, "MOST_EPOCHS", 1)
    run = Run("toy", "nnPU net", 0, 20)
    first, second = (harness.perform(run, toy, 1, tmp_path) for _ in range(2))
    assert first["accuracy"] == second["accuracy"]
    assert first["fit_seconds"] > 0
    assert second["fit_seconds"] == ""


def test_incomplete_lines_are_run_again(tmp_path, toy):
    results = Results(tmp_path / "runs.csv")
    perform_all(RUNS[:2], results, lambda name: toy, threads=1)
    text = results.path.read_text()
    results.path.write_text(text[: len(text) - 40])
    assert results.done() == {RUNS[0]}
    perform_all(RUNS[:2], results, lambda name: toy, threads=1)
    assert results.done() == set(RUNS[:2])
    assert len(results.lines()) == 2


@pytest.mark.parametrize("path", TABLES, ids=lambda p: p.stem)
def test_tables_are_valid(path):
    table = Table.read(path)
    assert set(table.methods) <= set(METHODS)
    for measure, rows in table.paper.items():
        assert measure in comparison.MEASURES
        for texts in rows.values():
            assert len(texts) == len(table.methods)
            assert all(text == "" or Number.read(text) for text in texts)


@pytest.mark.parametrize("path", FIGURES, ids=lambda p: p.stem)
def test_figures_are_valid(path):
    assert Figure.read(path).kind in KINDS


def test_slow_tables_exist():
    assert {path.stem for path in TABLES} > reproduce.SLOW


@pytest.mark.parametrize(
    ("paper", "ours", "differs"),
    [
        (Number(93.6, 0.4), [92.9, 93.0], False),  # within a point
        (Number(93.6, 0.4), [92.0, 92.2], True),
        (Number(93.6, 2.0), [90.0, 90.2], False),  # within two standard deviations
        (None, [90.0], False),
        (Number(93.6, 0.4), [], False),
    ],
)
def test_differences_are_marked(paper, ours, differs):
    cell = Cell("mnist", "nnPU quadratic", "accuracy", paper, np.array(ours))
    assert cell.differs == differs
    assert ("sd" in comparison.shown(cell)) == (paper is not None and len(ours) > 0)


def test_zeros_in_the_paper_are_rounded():
    cell = Cell("mnist", "uPU quadratic", "test_risk", Number(0.49, 0.0), np.array([0.4926] * 2))
    assert cell.in_sds == pytest.approx(0.0026 / 0.005)


@pytest.mark.parametrize(
    ("ours", "swapped"),
    [
        ([[70.0, 70.2], [80.0, 80.2]], [("a", "b")]),
        ([[70.0, 70.2], [70.4, 70.6]], []),  # within a point
        ([[60.0, 80.0], [72.0, 72.2]], []),  # within two standard errors
        ([[80.0, 80.2], [70.0, 70.2]], []),
    ],
)
def test_order_of_methods(ours, swapped):
    papers = [Number(90.0, 0.1), Number(85.0, 0.1)]
    row = [
        Cell("20news", method, "accuracy", paper, np.array(values))
        for method, paper, values in zip("ab", papers, ours, strict=True)
    ]
    row.append(Cell("20news", "c", "accuracy", None, np.array([1.0])))
    assert reversed_pairs(row) == swapped
    text = comparison.remark_on_order(row)
    assert ("b is better than a" in text) == bool(swapped)
    assert ("order of methods is the paper's" in text) == (not swapped)


def test_no_remark_on_the_order_of_a_single_method(tmp_path, toy):
    results = Results(tmp_path / "runs.csv")
    perform_all(RUNS[:2], results, lambda name: toy, threads=1)
    paper = {"accuracy": {"toy": ["90 (1)", "80 (1)"]}}
    table = Table("t", "T", ["toy"], ["nnPU quadratic", "NaivePUET"], 2, n_labeled=20, paper=paper)
    assert comparison.remarks_on(table, results) == ["toy: a toy"]
    perform_all(RUNS, results, lambda name: toy, threads=1)
    assert "toy, accuracy, %: the data differ; the" in comparison.remarks_on(table, results)[0]


def test_times_are_compared_as_ratios():
    cell = Cell("mnist", "one tree", "fit_seconds", Number(6.0, 0.1), np.array([1.9, 2.1]))
    assert comparison.shown(cell) == "6.00 (0.10) / 2.000 (0.141, 2 draws) / 3.0 times faster"


@pytest.mark.parametrize("path", TABLES, ids=lambda p: p.stem)
def test_stored_differences_are_explained(path):
    """All cells that differ on the paper's data have an explanation, and no others."""
    table, results = Table.read(path), Results(PAPER / "results" / "runs.csv")
    differs = {line["dataset"] for line in results.lines() if line["differs"]}
    cells = [
        cell
        for measure in table.paper
        for row in table.cells(measure, results)
        for cell in row
        if cell.differs and cell.dataset not in differs
    ]
    assert {table.explanation(cell) for cell in cells} == set(table.explained)


def test_report_shows_draws_and_epochs(tmp_path):
    cell = Cell("mnist", "nnPU net", "accuracy", None, np.array([90.0]))
    assert "(1 draw)" in comparison.shown(cell)
    results = Results(tmp_path / "runs.csv")
    for draw, epochs in enumerate((12, 30)):
        results.add(
            dict.fromkeys(FIELDS, 0) | {"method": "nnPU net", "draw": draw} | {"epochs": epochs}
        )
    table = Table("nets", "Nets", ["mnist"], ["nnPU net"], 2)
    assert comparison.remarks_on_epochs(table, results) == [
        "0, number of epochs (200 in the paper): nnPU net 12 to 30."
    ]


@pytest.mark.parametrize("differs", ["", "not the paper's"])
def test_report(tmp_path, toy, differs):
    results = Results(tmp_path / "runs.csv")
    perform_all(RUNS, results, lambda name: replace(toy, differs=differs), threads=1)
    table = Table(
        "toys",
        "Toys <&>",
        ["toy"],
        ["nnPU quadratic", "NaivePUET"],
        2,
        n_labeled=20,
        paper={"accuracy": {"toy": ["10.00 (0.10)", "20.00 (0.10)"], "other": ["1 (0)", ""]}},
        explained={"toy: NaivePUET": "it is a toy"},
    )
    comparison.write([table], results, [], tmp_path)
    text = (tmp_path / "report.md").read_text()
    assert "10.00 (0.10) / " in text
    assert text.count("⚠") == 2
    # Where data differ, cells need no explanation, and the order of methods is what counts.
    assert ("not explained" in text) == (not differs)
    assert ("it is a toy" in text) == (not differs)
    assert ("toy: not the paper's" in text) == bool(differs)
    assert ("nnPU quadratic is better than NaivePUET" in text) == bool(differs)
    html = (tmp_path / "report.html").read_text()
    assert "Toys &lt;&amp;&gt;" in html
    assert html.count('class="apart"') == 2


def test_part_of_a_table(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    y = np.arange(2400) % 2
    X = rng.normal(size=(2400, 2)).astype(np.float32) + 3 * y[:, None]
    split = Split(X, y, X, y, ["a", "b"])
    monkeypatch.setattr(reproduce, "load", lambda name, folder: split)
    part = ["--datasets", "mushrooms", "--methods", "nnPU quadratic", "--draws", "2"]
    reproduce.main(
        [
            *part,
            "--only",
            "risk_and_loss",
            "unsw_importances",
            "--threads",
            "1",
            "--out",
            str(tmp_path),
        ]
    )
    done = Results(tmp_path / "runs.csv").done()
    assert done == {Run("mushrooms", "nnPU quadratic", draw) for draw in range(2)}
    assert "99.70 (0.24) / 9" in (tmp_path / "report.md").read_text()
    assert not (tmp_path / "unsw_importances.csv").exists()  # of another data set


def test_classes_may_be_any_two_numbers(monkeypatch):
    bunch = Bunch(data=np.eye(3), target=np.array([-1, 1, 1]))
    monkeypatch.setattr(data, "load_subset", lambda name, **options: bunch)
    assert data.load("mine", None).y.tolist() == [0, 1, 1]


def test_estimated_priors_do_not_warn(tmp_path, toy):
    results = Results(tmp_path / "runs.csv")
    run = Run("toy", rivals.PAPER + rivals.UNKNOWN, 0, 60)
    perform_all([run], results, lambda name: toy, threads=1)  # warnings are errors here
    assert results.values(run, "accuracy") > 80
