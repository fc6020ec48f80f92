"""The loop on the command line: choose rows, fill in the sheet, fit and evaluate with it."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from check_sheets import Sheet, fill, read_sheet, save_sheet

import puforest
from puforest.checking import CheckDesign
from puforest.cli._app import run
from puforest.cli.sheets._layout import Origin
from puforest.cli.sheets._match import MatchedVerdicts, Round

FIT = ("--label", "known", "--drop", "id", "--drop", "truth", "--scenario", "single-training-set")
FAST = (*FIT, "--threads", "1", "-q")
SMALL = ("--candidates", "fast", "--trees", "20", *FAST)


@pytest.fixture(scope="module")
def loop(tmp_path_factory, cli_folder, blobs):
    """A table with a forest, and a filled sheet of each design."""
    where = tmp_path_factory.mktemp("loop")
    data = where / "rows.csv"
    data.write_bytes((cli_folder / "rows.csv").read_bytes())
    model = where / "model.puf"
    fit = ["fit", data, "-o", model, "--prior", "0.4", *SMALL]
    assert run([str(a) for a in fit]) == 0
    for design in ("score", "random", "top"):
        sheet = where / f"{design}.csv"
        check = ["check", model, data, "--label", "known", "--keep", "id", "-o", sheet, "-n", "30"]
        assert run([str(a) for a in [*check, "--design", design, "-q"]]) == 0
        fill(sheet, lambda row: "yes" if blobs[2][row - 1] else "no")
    return where


def test_a_sheet_shows_the_rows(cli, loop, tmp_path, blobs):
    _, labeled, _ = blobs
    check = ("check", loop / "model.puf", loop / "rows.csv", "--label", "known", "--keep", "id")
    said = cli(*check, "-n", "20", "-o", tmp_path / "to-check.csv", "--json")
    answer = json.loads(said.out)
    sheet = read_sheet(tmp_path / "to-check.csv")
    assert sheet.header[:3] == ["verdict", "row", "id"]
    assert set(sheet.column("verdict")) == {""}
    rows = np.array(sheet.column("row"), int)
    assert sorted(rows) == sorted(answer["rows"])
    assert len({*rows}) == 20
    assert not labeled[rows - 1].any()
    table = pa.csv.read_csv(loop / "rows.csv")
    for row, shown in zip(rows, sheet.rows, strict=True):
        assert shown["id"] == f"{row - 1:04}"
        assert float(shown["feature 2"]) == table["feature 2"][int(row) - 1].as_py()
    model = puforest.load(loop / "model.puf")
    score = model._oob_probability()[rows - 1]
    np.testing.assert_allclose(np.array(sheet.column("probability"), float), score, rtol=1e-5)
    design = CheckDesign.parse(sheet.rows[0]["design"])
    np.testing.assert_allclose(
        np.array(sheet.column("selection_probability"), float),
        design.probability(score),
        rtol=1e-5,
    )
    # Rows are in random order, so that the first ones are a sample, too.
    assert not np.all(np.diff(score) <= 0)


def test_other_rows_are_not_taken_for_the_training_rows(cli, loop, tmp_path):
    """Tables with as many labeled and unlabeled rows as in training, and one with the same rows."""
    table = pa.csv.read_csv(loop / "rows.csv")
    known = table["known"].to_pylist()
    first, second = known.index(known[0]), known.index(next(v for v in known if v != known[0]))
    swapped = known.copy()
    swapped[first], swapped[second] = known[second], known[first]
    changed = pa.array(np.asarray(table["feature 2"]) + 0.5)
    place = table.column_names.index

    def replaced(name, values):
        return table.set_column(place(name), name, values)

    for other, is_training in (
        (table, True),
        (table.select(table.column_names[::-1]), True),
        (replaced("known", pa.array(swapped)), False),
        (replaced("feature 2", changed), False),
    ):
        pa.csv.write_csv(other, tmp_path / "other.csv")
        check = ("check", loop / "model.puf", tmp_path / "other.csv", "--label", "known", "-n", "5")
        said = cli(*check, "-o", tmp_path / "s.csv", "--force", "--json")
        assert ("out of bag" in json.loads(said.out)["origin"]) == is_training


def test_a_model_that_did_not_choose_the_rows_is_refused(cli, loop, tmp_path):
    other = tmp_path / "other.puf"
    assert cli("fit", loop / "rows.csv", "-o", other, "--prior", "0.3", *SMALL).code == 0
    for design in ("score", "random"):
        evaluate = ("evaluate", loop / "model.puf", loop / "rows.csv", "--label", "known")
        given = ("--checked", loop / f"{design}.csv", "--checked-by", other)
        said = cli(*evaluate, *given)
        assert said.code != 0
        assert "this model did not choose the checked rows" in " ".join(said.err.split())
        assert "model.puf" in said.err
        assert cli(*evaluate, *given[:-1], loop / "model.puf").code == 0


def test_rounds_of_one_model_use_scores_of_their_own():
    """A round among training rows is scored out of bag, another one may not be."""
    design = CheckDesign("top", 1, {"cut": 0.5, "tie": 1.0})

    def chosen(out_of_bag):
        origin = Origin(1, 2, "rows.csv", "model.puf", "bcdfghjklm", 0, out_of_bag=out_of_bag)
        return Round(design, origin, 1)

    matched = MatchedVerdicts(
        np.array([1.0, 0.0]), np.zeros(2, np.int64), [chosen(True), chosen(False)], []
    )
    scores = {
        ("bcdfghjklm", True): np.array([0.9, 0.1]),
        ("bcdfghjklm", False): np.array([0.1, 0.8]),
    }
    assert matched.probability(scores).tolist() == [1, 1]


def test_new_rows_are_scored_by_all_trees(cli, loop, tmp_path):
    check = ("check", loop / "model.puf", loop / "rows.csv", "-n", "600")
    assert cli(*check, "-o", tmp_path / "s.csv", "--design", "top").code == 0
    sheet = read_sheet(tmp_path / "s.csv")
    assert "out of bag" not in sheet.rows[0]["origin"]
    table = pa.csv.read_csv(loop / "rows.csv")
    model = puforest.load(loop / "model.puf")
    score = model.predict_proba(table.select(list(model.feature_names_in_)))[:, 1]
    rows = np.array(sheet.column("row"), int)
    np.testing.assert_allclose(
        np.array(sheet.column("probability"), float), score[rows - 1], rtol=1e-5
    )


def test_seeds(cli, loop, tmp_path):
    check = ("check", loop / "model.puf", loop / "rows.csv", "--label", "known", "-n", "20")
    found = []
    for seed in (0, 0, 1):
        path = tmp_path / f"{len(found)}.csv"
        assert cli(*check, "--seed", seed, "-o", path).code == 0
        found.append({*read_sheet(path).column("row")})
    assert found[0] == found[1] != found[2]


def test_number_of_features_to_show(cli, loop, tmp_path):
    check = ("check", loop / "model.puf", loop / "rows.csv", "-n", "2", "--show", "2")
    said = cli(*check, "-o", tmp_path / "s.tsv")
    assert "the 2 most important of 6 features" in said.err
    header = (tmp_path / "s.tsv").read_text("utf-8-sig").splitlines()[0].split("\t")
    shown = header[2 : header.index("probability")]
    model = puforest.load(loop / "model.puf")
    best = np.argsort(-model.feature_importances_)[:2]
    assert sorted(shown) == sorted(model.feature_names_in_[best])


def test_sheets_have_the_dialect_of_the_table(cli, loop, tmp_path):
    text = (loop / "rows.csv").read_text().replace(",", ";").replace(".", ",")
    (tmp_path / "rows.csv").write_text(text)
    check = ("check", loop / "model.puf", tmp_path / "rows.csv", "--decimal", ",", "-n", "3")
    assert cli(*check, "-o", tmp_path / "s.csv").code == 0
    header, first = (tmp_path / "s.csv").read_text("utf-8-sig").splitlines()[:2]
    assert header.startswith("verdict;row;feature 0;")
    assert ";0," in first


def test_verdicts_improve_the_fit(cli, loop, tmp_path, blobs):
    """They give the prior, and known negatives."""
    out = tmp_path / "better.puf"
    fit = ("fit", loop / "rows.csv", "-o", out, *SMALL, "--checked", loop / "score.csv", "--json")
    answer = json.loads(cli(*fit).out)
    model = puforest.load(out)
    truth = blobs[2]
    sheet = read_sheet(loop / "score.csv")
    positive = sum(truth[int(row) - 1] for row in sheet.column("row"))
    assert answer["checked"]["positive"] == positive == model._record.n_confirmed
    assert answer["checked"]["negative"] == 30 - positive == model._record.n_refuted
    assert model.prior_estimate_.method == "checks"
    low, high = answer["prior_interval"]
    assert low < truth.mean() < high
    assert answer["prior_kind"] == "estimate"
    found = answer["quality"]["checked_estimates"]
    assert found["precision"]["low"] <= found["precision"]["value"] <= found["precision"]["high"]


def test_a_given_prior_stays(cli, loop, tmp_path):
    out = tmp_path / "m.puf"
    fit = ("fit", loop / "rows.csv", "-o", out, *SMALL, "--prior", "0.35")
    assert cli(*fit, "--checked", loop / "random.csv", "--no-quality").code == 0
    assert puforest.load(out).prior_ == 0.35


def test_models_that_are_cross_validated(cli, loop, tmp_path):
    fit = ("fit", loop / "rows.csv", "-o", tmp_path / "m.puf", *FAST, "--model", "paper")
    fit += ("--trees", "5", "--folds", "2", "--checked", loop / "random.csv")
    said = cli(*fit)
    assert said.code == 0
    assert "checked rows" in said.out


def test_top_rows_do_not_tell_the_prior(cli, loop, tmp_path):
    fit = ("fit", loop / "rows.csv", "-o", tmp_path / "m.puf", *SMALL)
    said = cli(*fit, "--checked", loop / "top.csv", "--json")
    answer = json.loads(said.out)
    assert answer["quality"]["checked_estimates"]["prior"] is None
    assert puforest.load(tmp_path / "m.puf").prior_estimate_.method == "bbe"


def test_evaluation_with_checked_rows(cli, loop, blobs):
    evaluate = ("evaluate", loop / "model.puf", loop / "rows.csv", "--label", "known")
    said = cli(*evaluate, "--checked", loop / "score.csv")
    assert said.code == 0
    assert "30 checked rows" in said.err
    assert "checked rows" in said.out
    assert "Class prior" in said.out
    answer = json.loads(cli(*evaluate, "--checked", loop / "score.csv", "--json").out)
    found = answer["checked_estimates"]
    assert found["prior"]["interval"][0] < blobs[2].mean() < found["prior"]["interval"][1]
    assert answer["checked"]["rounds"][0]["answered"] == 30
    assert json.loads(cli(*evaluate, "--json").out)["checked"] is None


def test_priors_that_contradict_checked_rows(cli, loop):
    evaluate = ("evaluate", loop / "model.puf", loop / "rows.csv", "--label", "known")
    said = cli(*evaluate, "--checked", loop / "random.csv", "--prior", "0.9")
    assert "the prior 0.9 is above" in said.err
    assert "The estimates without checked rows depend on it" in " ".join(said.err.split())


def test_reports_show_checked_rows(cli, loop, tmp_path):
    report = ("report", loop / "model.puf", loop / "rows.csv", "--label", "known")
    out = tmp_path / "r.html"
    assert cli(*report, "--checked", loop / "score.csv", "-o", out).code == 0
    assert "rows.csv" in out.read_text()
    said = cli("report", loop / "model.puf", "--checked", loop / "score.csv", "-o", out, "--force")
    assert said.code == 1
    assert "--checked requires DATA" in said.err


def test_the_model_that_chose_is_required(cli, loop, tmp_path):
    sheet = tmp_path / "score.csv"
    sheet.write_bytes((loop / "score.csv").read_bytes())
    fit = ("fit", loop / "rows.csv", "-o", tmp_path / "m.puf", *SMALL, "--checked", sheet)
    said = cli(*fit)
    assert said.code == 1
    assert "chosen by model.puf with the design score" in said.err
    assert "add --checked-by model.puf" in said.err
    other = cli(*fit, "--checked-by", loop.parent / "none.puf")
    assert "no such model" in other.err
    (tmp_path / "model.puf").write_bytes(b"another model")
    assert "add --checked-by" in cli(*fit).err
    assert cli(*fit, "--checked-by", tmp_path / "model.puf").code == 1
    assert cli(*fit, "--checked-by", loop / "model.puf", "--no-quality").code == 0
    # Random choices do not depend on scores.
    sheet.write_bytes((loop / "random.csv").read_bytes())
    assert cli(*fit, "--no-quality", "--force").code == 0


def test_checked_by_requires_a_sheet(cli, loop, tmp_path):
    fit = ("fit", loop / "rows.csv", "-o", tmp_path / "m.puf", *SMALL)
    said = cli(*fit, "--checked-by", loop / "model.puf")
    assert said.code == 1
    assert "requires --checked" in said.err


def test_rounds(cli, loop, tmp_path, blobs):
    """The second round leaves out rows of the first, and both count."""
    check = ("check", loop / "model.puf", loop / "rows.csv", "--label", "known", "-n", "25")
    second = tmp_path / "second.csv"
    assert cli(*check, "--checked", loop / "score.csv", "-o", second).code == 0
    rows = {*read_sheet(second).column("row")}
    assert not rows & {*read_sheet(loop / "score.csv").column("row")}
    assert "after 30 checks" in read_sheet(second).rows[0]["origin"]
    fill(second, lambda row: "1" if blobs[2][row - 1] else "0")
    fit = ("fit", loop / "rows.csv", "-o", tmp_path / "m.puf", *SMALL, "--no-quality", "--json")
    both = ("--checked", loop / "score.csv", "--checked", second)
    answer = json.loads(cli(*fit, *both, "--checked-by", loop / "model.puf").out)
    assert answer["checked"]["positive"] + answer["checked"]["negative"] == 55
    assert [r["answered"] for r in answer["checked"]["rounds"]] == [30, 25]


def test_filled_sheets_are_never_overwritten(cli, loop, tmp_path):
    check = ("check", loop / "model.puf", loop / "rows.csv", "-n", "3", "-o", tmp_path / "s.csv")
    assert cli(*check).code == 0
    assert "use --force" in cli(*check).err
    assert cli(*check, "--force", "--seed", "1").code == 0  # nothing is lost
    fill(tmp_path / "s.csv", lambda row: "no")
    before = (tmp_path / "s.csv").read_bytes()
    predict = ("predict", loop / "model.puf", loop / "rows.csv", "-o", tmp_path / "s.csv")
    for command in (check, predict):
        said = cli(*command, "--force")
        assert said.code == 1
        assert "holds verdicts, which --force does not replace" in said.err
    fit = ("fit", loop / "rows.csv", *SMALL, "--checked", tmp_path / "s.csv", "-o")
    assert "also the input" in cli(*fit, tmp_path / "s.csv", "--force").err
    assert (tmp_path / "s.csv").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["s.csv"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("-o", "s.xlsx"), "must end in .csv or .tsv"),
        (("-o", "s.csv", "-n", "601"), "only 600 of the 600 rows"),
        (("-o", "s.csv", "--keep", "none"), "--keep none: no such column"),
        (("-o", "s.csv", "--label", "none"), "--label none: no such column"),
        (("-o", "s.csv", "--positive", "1"), "--positive requires --label"),
        (("-o", "s.csv", "--checked", "none.csv"), "no such check sheet"),
    ],
)
def test_errors_of_check(cli, loop, monkeypatch, tmp_path, options, message):
    monkeypatch.chdir(tmp_path)
    said = cli("check", loop / "model.puf", loop / "rows.csv", *options)
    assert said.code == 1
    assert message in said.err
    assert not any(tmp_path.iterdir())


def test_contradictions_name_the_row(cli, loop, tmp_path, blobs):
    labeled = int(np.flatnonzero(blobs[1])[0]) + 1
    sheet = read_sheet(loop / "random.csv")
    rows = [sheet.rows[0] | {"row": str(labeled), "verdict": "no", "id": f"{labeled - 1:04}"}]
    names = ["verdict", "row", "design", "origin", "id"]
    rows = [{name: row[name] for name in names} for row in rows]
    path = save_sheet(Sheet(names, rows), tmp_path / "s.csv")
    said = cli(
        "evaluate", loop / "model.puf", loop / "rows.csv", "--label", "known", "--checked", path
    )
    assert said.code == 1
    assert f"row {labeled}: the verdict is negative, but the row is labeled positive" in said.err


def test_typed_tables(cli, tmp_path):
    """Categories, dates and columns named like those of the sheet."""
    n = 80
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    table = pa.table(
        {
            "y": y * (np.arange(n) < 40),
            "row": pa.array(rng.choice(["red", "=blue"], n)).dictionary_encode(),
            "verdict": rng.normal(size=n) + y,
            "when": pa.array(np.arange(n) * 86_400_000, pa.timestamp("ms")),
        }
    )
    data, model = tmp_path / "t.parquet", tmp_path / "m.puf"
    pyarrow.parquet.write_table(table, data)
    common = ("--model", "paper", "--trees", "5", "--threads", "1", "--prior", "0.5", "-q")
    fit = ("fit", data, "--label", "y", *common, "--no-quality", "-o")
    assert cli(*fit, model).code == 0
    check = ("check", model, data, "--label", "y", "-n", "10", "--design", "random")
    assert cli(*check, "-o", tmp_path / "s.csv").code == 0
    sheet = read_sheet(tmp_path / "s.csv")
    assert {"row (data)", "verdict (data)", "when"} < {*sheet.header}
    assert {*sheet.column("row (data)")} == {"red", "'=blue"}
    assert sheet.rows[0]["when"].startswith("1970-")
    fill(tmp_path / "s.csv", lambda row: "yes" if y[row - 1] else "no")
    said = cli(*fit, tmp_path / "b.puf", "--checked", tmp_path / "s.csv")
    assert (said.code, said.err) == (0, "")


@pytest.mark.parametrize("content", [b"", b"\x00\x01\x02", b"verdict,row\nyes,1\n", b'"' * 1001])
def test_hostile_sheets_do_not_crash(cli, loop, tmp_path, content):
    path = tmp_path / "s.csv"
    path.write_bytes(content)
    said = cli(
        "evaluate", loop / "model.puf", loop / "rows.csv", "--label", "known", "--checked", path
    )
    assert said.code == 1
    assert said.err.splitlines()[-1].startswith("error: ")


def spaced(path, X, y):
    names = ", ".join(["y", *(f"c{i}" for i in range(X.shape[1]))])  # with spaces
    np.savetxt(path, np.column_stack([y, X]), delimiter=",", header=names, comments="")


def sparse(path, X, y):
    lines = [
        " ".join([str(label), *(f"{j + 1}:{value}" for j, value in enumerate(row))])
        for label, row in zip(y, X.tolist(), strict=True)
    ]
    path.write_text("\n\n# comment\n".join(lines))


@pytest.mark.parametrize(
    ("name", "write"),
    [("t.npz", lambda path, X, y: np.savez(path, X=X, y=y)), ("t.svm", sparse), ("t.csv", spaced)],
)
def test_other_formats(cli, tmp_path, name, write):
    rng = np.random.default_rng(0)
    truth = np.arange(80) % 2
    X = rng.normal(size=(80, 3)).round(3) + truth[:, None]
    data, model, sheet = tmp_path / name, tmp_path / "m.puf", tmp_path / "s.csv"
    write(data, X, (truth * (np.arange(80) < 40)).astype(int))
    label = ("--label", "y") if name == "t.csv" else ()
    common = ("--model", "paper", "--trees", "5", "--threads", "1", "--prior", "0.5", "-q")
    assert cli("fit", data, *label, *common, "--no-quality", "-o", model).code == 0
    check = ("check", model, data, *label, "-n", "10", "-o", sheet)
    assert cli(*check).code == 0
    fill(sheet, lambda row: "yes" if truth[row - 1] else "no")
    said = cli("evaluate", model, data, *label, "--checked", sheet, "--quiet")
    assert said.code == 0
    assert "identified by" not in said.err  # the codes match


@pytest.mark.parametrize(
    "design", ["random n=30 rate=7", "random n=30 rate=0", "random n=30 rate=inf"]
)
def test_impossible_designs(cli, loop, tmp_path, design):
    sheet = read_sheet(loop / "random.csv")
    rows = [row | {"design": design} for row in sheet.rows]
    path = save_sheet(Sheet(sheet.header, rows), tmp_path / "s.csv")
    said = cli(
        "evaluate", loop / "model.puf", loop / "rows.csv", "--label", "known", "--checked", path
    )
    assert said.code == 1
    assert "which is impossible" in said.err or "column design" in said.err
