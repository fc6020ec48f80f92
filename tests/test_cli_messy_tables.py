"""From a messy table to a model and its predictions: text, gaps, codes, dates, identifiers."""

import json
import re

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import puforest

FAST = ("--model=paper", "--trees=5", "--threads=1", "--prior=0.4", "--no-quality", "--force")
N = 300


def messy(seed, n=N):
    """A table of people, as text."""
    rng = np.random.default_rng(seed)
    age = rng.integers(17, 90, n)
    job = rng.choice(["Sales", "Tech", "Craft", "?", ""], n, p=[0.4, 0.3, 0.2, 0.05, 0.05])
    known = (age > 45) & (job == "Tech") | (rng.random(n) < 0.1)
    hours = rng.normal(40, 9, n).round(1).astype(str)
    hours[rng.random(n) < 0.1] = rng.choice(["", "NA", "n/a"])
    return {
        "id": [f"P{seed}{i:04}" for i in range(n)],
        "age": age.astype(str),
        "job": np.char.add(" ", job),
        "zip": rng.choice(["1001", "2002", "3003"], n),
        "hours": hours,
        "since": np.datetime_as_string(np.datetime64("2020-01-01") + rng.integers(0, 999, n)),
        "union": rng.choice(["TRUE", "false"], n),
        "survey": ["2024"] * n,
        "known": known.astype(int).astype(str),
    }


def written(path, columns):
    lines = [",".join(columns), *(",".join(row) for row in zip(*columns.values(), strict=True))]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    from puforest.cli._app import run

    where = tmp_path_factory.mktemp("messy")
    written(where / "people.csv", messy(0))
    fit = ["fit", where / "people.csv", "--label", "known", "-o", where / "m.puf", *FAST, "-q"]
    fit += ["--categorical", "zip", "--drop", "id", "--drop", "survey"]
    assert run([str(a) for a in fit]) == 0
    return where


def scores(path):
    return pyarrow.parquet.read_table(path)["score"].to_numpy()


def test_a_messy_table_is_learned_from(cli, folder, tmp_path):
    fit = ("fit", folder / "people.csv", "--label", "known", "-o", tmp_path / "m.puf", *FAST)
    answer = json.loads(cli(*fit, "--json", "--categorical", "zip").out)
    assert answer["features"] == ["age", "job", "zip", "hours", "since", "union"]
    kinds = {"job": "category", "zip": "category", "since": "datetime", "union": "boolean"}
    assert answer["kinds"] == kinds
    assert list(answer["left_out"]) == ["id", "survey"]
    schema = puforest.load(tmp_path / "m.puf")._record.schema
    assert schema.categories(1) == ("Craft", "Sales", "Tech")
    assert schema.categories(2) == (1001, 2002, 3003)
    described = json.loads(cli("describe", tmp_path / "m.puf", "--json").out)
    assert described["kinds"] == kinds


def test_predict_counts_missing_and_unknown_values(cli, folder, tmp_path):
    new = messy(1)
    new["job"][:3], new["zip"][4], new["age"][5:9] = "Pilot", "9009", "?"
    written(tmp_path / "new.csv", new)
    predict = ("predict", folder / "m.puf", tmp_path / "new.csv", "--keep", "job", "--force")
    said = cli(*predict, "-o", tmp_path / "s.parquet", "--batch-rows", 7)
    assert said.code == 0
    n_missing = sum(np.isin(new["job"], [" ", " ?"]))
    assert f"job ({n_missing})" in said.err
    assert re.search(r"new.csv: \d+ missing values in 3 columns: .*age \(4\)", said.err)
    unknown = "4 values in 2 columns not known to the model, treated as missing: "
    unknown += "job (3, such as 'Pilot'), zip (1, such as '9009')"
    assert unknown in said.err.replace("\n", " ")
    assert "warning" not in said.err
    answer = json.loads(cli(*predict, "-o", tmp_path / "t.parquet", "--json").out)
    assert answer["unknown"] == {"job": 3, "zip": 1}
    assert answer["missing"]["age"] == 4
    np.testing.assert_array_equal(scores(tmp_path / "s.parquet"), scores(tmp_path / "t.parquet"))
    kept = pyarrow.parquet.read_table(tmp_path / "s.parquet")["job"].to_pylist()
    assert kept == list(new["job"])


def test_a_column_of_unknown_values_is_a_warning(cli, folder, tmp_path):
    new = messy(1)
    new["job"] = np.char.lower(new["job"])
    written(tmp_path / "new.csv", new)
    said = cli("predict", folder / "m.puf", tmp_path / "new.csv", "-o", tmp_path / "s.csv", "-q")
    assert said.code == 0
    assert "warning: " in said.err
    assert "job (" in said.err


def test_predictions_are_those_of_python(cli, folder, tmp_path):
    new = messy(2)
    written(tmp_path / "new.csv", new)
    out = tmp_path / "s.parquet"
    assert cli("predict", folder / "m.puf", tmp_path / "new.csv", "-o", out).code == 0
    gaps = ["", "?", "NA", "n/a"]
    words = [None if word.strip() in gaps else word.strip() for word in new["job"]]
    table = pa.table(
        {
            "age": new["age"].astype(float),
            "job": words,
            "zip": new["zip"].astype(int),
            "hours": [None if word in gaps else float(word) for word in new["hours"]],
            "since": pa.array(new["since"]).cast(pa.date32()),
            "union": [word == "TRUE" for word in new["union"]],
        }
    )
    model = puforest.load(folder / "m.puf")
    np.testing.assert_array_equal(scores(out), model.predict_proba(table)[:, 1])
    # The same rows in a file with types.
    pyarrow.parquet.write_table(table, tmp_path / "new.parquet")
    assert (
        cli("predict", folder / "m.puf", tmp_path / "new.parquet", "-o", out, "--force").code == 0
    )
    np.testing.assert_array_equal(scores(out), model.predict_proba(table)[:, 1])


def test_all_commands_take_the_table(cli, folder, tmp_path):
    written(tmp_path / "new.csv", messy(3))
    new = ("--label", "known", "--threads", 1)
    said = cli("evaluate", folder / "m.puf", tmp_path / "new.csv", *new[:2])
    assert said.code == 0
    assert "missing values in" in said.err
    for data, more in ((tmp_path / "new.csv", ("--held-out",)), (folder / "people.csv", ())):
        report = ("report", folder / "m.puf", data, *new, *more, "--force", "--folds", 2)
        assert cli(*report, "-o", tmp_path / "r.html").code == 0
    assert "Pilot" not in (tmp_path / "r.html").read_text()
    prior = ("prior", folder / "people.csv", "--label", "known", "--categorical", "zip")
    assert "survey" in json.loads(cli(*prior, "--json").out)["left_out"]
    assert "job" in cli("export", folder / "m.puf", "--to", "text").out
    assert cli("describe", folder / "m.puf").code == 0


def test_quality_of_a_messy_table(cli, folder, tmp_path):
    fit = ("fit", folder / "people.csv", "--label", "known", "-o", tmp_path / "m.puf", "--trees", 5)
    fit += ("--model", "paper")
    said = cli(*fit, "--folds", 2, "--threads", 1, "--keep", "id", "--monotonic", "age=+1")
    assert said.code == 0, said.err
    assert "every row has its own category" not in said.err
    assert "Precision" in said.out


# Missing values


def test_models_remember_what_is_missing(cli, tmp_path):
    columns = messy(0) | {"hours": np.where(np.arange(N) % 3 == 0, "-999", "41.5")}
    columns["job"] = np.where(columns["job"] == " ", "NA", columns["job"])
    written(tmp_path / "t.csv", columns)
    fit = ("fit", tmp_path / "t.csv", "--label", "known", "-o", tmp_path / "m.puf", *FAST)
    fit += ("--missing", "-999", "--not-missing", "NA")
    answer = json.loads(cli(*fit, "--json").out)
    assert answer["missing"]["hours"] == N // 3
    schema = puforest.load(tmp_path / "m.puf")._record.schema
    assert schema.categories(1) == ("Craft", "NA", "Sales", "Tech")
    predict = ("predict", tmp_path / "m.puf", tmp_path / "t.csv", "--json", "--force")
    predict += ("-o", tmp_path / "s.csv")
    assert json.loads(cli(*predict).out)["missing"] == answer["missing"]
    # More can be added for new rows.
    more = json.loads(cli(*predict, "--missing", "41.5").out)["missing"]
    assert more["hours"] == N
    described = json.loads(cli("describe", tmp_path / "m.puf", "--json").out)
    assert (described["missing"], described["not_missing"]) == (["-999"], ["NA"])


# Options


def test_keep_and_categorical_contradict_others(cli, folder, tmp_path):
    fit = ("fit", folder / "people.csv", "--label", "known", "-o", tmp_path / "m.puf", *FAST)
    for more, hint in (
        (("--keep", "id", "--drop", "id"), "--keep id contradicts --drop id"),
        (("--categorical", "zip", "--drop", "zip"), "--categorical zip contradicts --drop zip"),
        (("--keep", "nope"), "--keep nope: no such column"),
        (
            ("--drop", "ages"),
            "which has id, age, job, zip, hours, since, union, survey, known. Did",
        ),
        (("--categorical", "ZIP"), "known. Did you mean zip?"),
        (("--keep", "known"), "known is the label column: it cannot be in --keep"),
        (("--categorical", "known"), "it cannot be in --categorical"),
        (("--features", "age", "--keep", "id"), "--keep id: the column is not among"),
        (("--monotonic", "age"), "--monotonic age: write COLUMN=+1"),
        (("--monotonic", "age=up"), "--monotonic age=up: write COLUMN=+1"),
        (("--monotonic", "nope=1"), "--monotonic nope: no such column"),
        (("--monotonic", "job=1"), "--monotonic job: the column holds categories"),
        (("--monotonic", "survey=1"), "it is not used: constant, always 2024"),
        (("--monotonic", "age=1", "--drop", "age"), "--monotonic age: the column cannot be"),
    ):
        said = cli(*fit, *more)
        assert said.code == 1, more
        assert hint in said.err
        assert not (tmp_path / "m.puf").exists()


@pytest.mark.parametrize(
    ("direction", "sign"), [("+1", 1), ("increasing", 1), ("-1", -1), ("decreasing", -1)]
)
def test_monotonic(cli, folder, tmp_path, direction, sign):
    fit = ("fit", folder / "people.csv", "--label", "known", "-o", tmp_path / "m.puf", *FAST)
    assert cli(*fit, "--monotonic", f"age={direction}", "-q", "--voting", "soft").code == 0
    model = puforest.load(tmp_path / "m.puf")
    assert model.monotonic_cst == {"age": sign}
    columns = messy(5, 1)
    new = {name: np.repeat(cells, 50) for name, cells in columns.items()}
    new["age"] = np.arange(30, 80).astype(str)
    written(tmp_path / "new.csv", new)
    out = tmp_path / "s.parquet"
    assert cli("predict", tmp_path / "m.puf", tmp_path / "new.csv", "-o", out).code == 0
    steps = sign * np.diff(scores(out))
    assert (steps >= 0).all()


@pytest.mark.parametrize(
    ("column", "cell", "said"),
    [
        ("age", "old", "line 4: the column age holds 'old', which is not a number. Use"),
        ("since", "soon", "line 4: the column since holds 'soon', which is not a date"),
        ("union", "maybe", "line 4: the column union holds 'maybe', which is not true or false"),
        ("union", "7", "the column union holds '7', which is not true or false"),
    ],
)
def test_cells_of_another_kind(cli, folder, tmp_path, column, cell, said):
    new = {name: list(cells) for name, cells in messy(1).items()}
    new[column][2] = cell
    written(tmp_path / "new.csv", new)
    predict = ("predict", folder / "m.puf", tmp_path / "new.csv", "-o", tmp_path / "s.csv")
    result = cli(*predict)
    assert result.code == 1
    assert f"new.csv, {said}" in result.err or f"new.csv, line 4: {said}" in result.err
    assert f"--missing {cell}" in result.err
    assert cli(*predict, "--missing", cell).code == 0


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("age", pa.array([0] * N).cast(pa.timestamp("s"))),
        ("since", pa.array([1.5] * N)),
        ("job", pa.array([0] * N).cast(pa.timestamp("s"))),
        ("union", pa.array([[1]] * N)),
    ],
)
def test_types_of_another_kind(cli, folder, tmp_path, column, values):
    table = pa.table({name: pa.array(cells) for name, cells in messy(1).items()})
    place = table.schema.get_field_index(column)
    pyarrow.parquet.write_table(table.set_column(place, column, values), tmp_path / "new.parquet")
    predict = ("predict", folder / "m.puf", tmp_path / "new.parquet", "-o", tmp_path / "s.csv")
    said = cli(*predict)
    assert said.code == 1
    assert re.search(rf"new.parquet: the column {column} holds .*, but the model was", said.err)
