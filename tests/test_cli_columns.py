"""One reading of a column: what fit takes for numbers, every command reads to the same numbers."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.compute
import pyarrow.feather
import pyarrow.parquet
import pytest
from table_files import opened, read

from puforest.cli._app import run
from puforest.cli.tables import _text as text_module
from puforest.cli.tables._missing import MissingMarkers
from puforest.cli.tables._numbers import text_as_numbers, typed_as_numbers

MISSING = MissingMarkers()
FAST = ("--model", "paper", "--prior", "0.4", "--trees", "5", "--threads", "1", "--no-quality")


def numbers_of(path, columns):
    """What a scoring command reads."""
    return np.concatenate([rows.numbers.X for rows in opened(path).batches(columns, [], 7)])


@pytest.mark.parametrize(
    ("yes", "no"),
    [("true", "false"), ("TRUE", "FALSE"), ("True", "False"), ("true ", " false"), ("1", "false")],
)
@pytest.mark.parametrize("only", [None, True, False], ids=["both", "only true", "only false"])
def test_booleans_of_text(tmp_path, capsys, yes, no, only):
    flags = [i % 3 == 0 for i in range(40)]
    rows = [f"{i % 7},{yes if flag else no},{i % 2}" for i, flag in enumerate(flags)]
    (tmp_path / "fit.csv").write_text("\n".join(["a,flag,y", *rows]))
    fit = ["fit", str(tmp_path / "fit.csv"), "--label", "y", "-o", str(tmp_path / "m.puf"), *FAST]
    assert run([*fit, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["features"] == ["a", "flag"]
    assert said["kinds"] == ({} if yes == "1" else {"flag": "boolean"})
    chosen = [i for i, flag in enumerate(flags) if only in (None, flag)]
    (tmp_path / "new.csv").write_text("\n".join(["a,flag,y", *(rows[i] for i in chosen)]))
    # The same rows with 0 and 1.
    coded = [rows[i].replace(yes, "1").replace(no, "0") for i in chosen]
    (tmp_path / "coded.csv").write_text("\n".join(["a,flag,y", *coded]))
    found = numbers_of(tmp_path / "new.csv", ["flag"])
    np.testing.assert_array_equal(found[:, 0], [flags[i] for i in chosen])
    scores = []
    for name in ("new.csv", "coded.csv"):
        out = tmp_path / "s.parquet"
        predict = ["predict", str(tmp_path / "m.puf"), str(tmp_path / name), "-o", str(out)]
        assert run([*predict, "--force", "-q", "--batch-rows", "3"]) == 0
        scores.append(pyarrow.parquet.read_table(out)["score"].to_pylist())
    assert scores[0] == scores[1]


def test_all_commands_read_booleans(tmp_path, capsys):
    rows = [f"{i % 7},{'TRUE' if i % 2 else 'False'},{i % 3 == 0}" for i in range(60)]
    (tmp_path / "t.csv").write_text("\n".join(["a,flag,y", *rows]))
    data, model = str(tmp_path / "t.csv"), str(tmp_path / "m.puf")
    assert run(["fit", data, "--label", "y", "-o", model, *FAST, "-q"]) == 0
    assert run(["predict", model, data, "-o", str(tmp_path / "s.csv"), "-q"]) == 0
    assert run(["evaluate", model, data, "--label", "y", "-q"]) == 0
    report = ["report", model, data, "--label", "y", "--held-out", "--threads", "1", "-q"]
    assert run([*report, "-o", str(tmp_path / "r.html")]) == 0


CELLS = {
    "1": 1, " 2 ": 2, "+3": 3, "-4.5": -4.5, ".5": 0.5, "6.": 6, "7e2": 700, "8E-1": 0.8,
    "007": 7, "true": 1, "False": 0, "inf": np.inf, "-Infinity": -np.inf, "1e999": np.inf,
    "": np.nan, "NA": np.nan, "n/a": np.nan, "NaN": np.nan, "?": np.nan, "None": np.nan,
    "9007199254740993": 2.0**53, "18446744073709551616": 2.0**64,
}  # fmt: skip
NO_NUMBERS = ["x", "0x1F", "1_000", "1,5", "5%", "1 2", "yes", "٣", "1e", "--1", "2024-01-01", "'1"]


@pytest.mark.parametrize("alone", [True, False])
def test_cells_of_text(alone):
    """A cell is read the same, whatever stands beside it."""
    columns = [[cell] for cell in CELLS] if alone else [list(CELLS)]
    found = [text_as_numbers([pa.array(cells)], len(cells), ".", MISSING) for cells in columns]
    assert sum(words.others for part in found for words in part.words.values()) == 0
    values = np.concatenate([part.X[:, 0] for part in found])
    np.testing.assert_array_equal(values, list(CELLS.values()))


@pytest.mark.parametrize("cell", NO_NUMBERS)
def test_cells_that_are_no_numbers(cell):
    columns = [pa.array(["1", cell, "", "2"]), pa.array(list("1234"))]
    found = text_as_numbers(columns, 4, ".", MISSING)
    assert list(found.words) == [0]
    assert (found.words[0].others, found.words[0].example) == (1, cell)
    np.testing.assert_array_equal(found.X, [[1, 1], [np.nan, 2], [np.nan, 3], [2, 4]])


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["1,5", "2"], [1.5, 2]),
        (["1,5", "true"], [1.5, 1]),
        (["1.500", "2,5"], None),  # a point is no decimal comma, but may part thousands
    ],
)
def test_decimal_commas(cells, values):
    found = text_as_numbers([pa.array(cells)], 2, ",", MISSING)
    if values is None:
        assert found.words[0].example == "1.500"
    else:
        np.testing.assert_array_equal(found.X[:, 0], values)


def test_fit_and_predict_agree_on_late_words(tmp_path, monkeypatch):
    # Blocks of so few bytes that true and false are not in the first of them.
    monkeypatch.setattr(text_module, "BLOCK", 2**10)
    monkeypatch.setattr(text_module, "CELL", 1)
    flags = [str(i % 2) for i in range(500)] + ["true", "FALSE"] * 100
    rows = [f"{i},{flag},{i % 3 == 0}" for i, flag in enumerate(flags)]
    (tmp_path / "t.csv").write_text("\n".join(["a,flag,y", *rows]))
    fitted = read(tmp_path / "t.csv", "y", features=["flag"]).features
    assert fitted.kinds == {}  # not all of them are words
    expected = [float(flag in ("1", "true")) for flag in flags]
    np.testing.assert_array_equal(fitted.X.values[:, 0], expected)
    np.testing.assert_array_equal(numbers_of(tmp_path / "t.csv", ["flag"])[:, 0], expected)


def typed(values, name, n=40):
    """A table with a column of some type."""
    return pa.table({"a": np.arange(n) % 7, name: values, "y": np.arange(n) % 2})


def written(columns, path):
    match path.suffix:
        case ".parquet":
            pyarrow.parquet.write_table(columns, path)
        case ".feather":
            pyarrow.feather.write_feather(columns, path, chunksize=15)
        case ".arrow":
            with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, columns.schema) as s:
                s.write_table(columns, 15)
    return path


CODES = np.arange(40) % 3


@pytest.mark.parametrize("name", ["t.parquet", "t.feather", "t.arrow"])
@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (pa.array(CODES).cast(pa.decimal128(30, 2)), CODES),
        (pa.array(CODES.astype(np.float16)), CODES),
        (pa.array(CODES, pa.uint64()), CODES),
    ],
    ids=lambda value: str(getattr(value, "type", "")),
)
def test_types_of_numbers(tmp_path, name, values, expected):
    path = written(typed(values, "b"), tmp_path / name)
    fitted = read(path, "y").features
    assert fitted.names == ["a", "b"]
    np.testing.assert_array_equal(fitted.X.values[:, 1], expected)
    np.testing.assert_array_equal(numbers_of(path, ["b"])[:, 0], expected)


def test_dictionaries_that_grow_or_change_within_a_stream(tmp_path):
    schema = pa.schema([("b", pa.dictionary(pa.int32(), pa.int64())), ("y", pa.int64())])
    for delta, second in ((True, [10, 20, 30]), (False, [7, 8, 9])):
        path = tmp_path / f"{delta}.arrow"
        options = pa.ipc.IpcWriteOptions(emit_dictionary_deltas=delta)
        with (
            pa.OSFile(str(path), "wb") as file,
            pa.ipc.new_stream(file, schema, options=options) as stream,
        ):
            for codes, values in (([0, 1], [10, 20]), ([0, 2], second)):
                column = pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), values)
                stream.write_batch(pa.record_batch([column, pa.array([0, 1])], schema=schema))
        expected = [10, 20, second[0], second[2]]
        np.testing.assert_array_equal(numbers_of(path, ["b"])[:, 0], expected)


def test_run_ends_and_views(tmp_path):
    coded = pyarrow.compute.run_end_encode(pa.array(CODES))
    views = pa.array(list("pqrs") * 10).cast(pa.string_view())
    columns = typed(coded, "b").append_column("t", views)
    found = read(written(columns, tmp_path / "t.feather"), "y").features
    assert found.names == ["a", "b", "t"]
    assert found.kinds == {"t": "category"}
    assert found.X["t"].to_pylist() == list("pqrs") * 10


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        (pa.array([[1]] * 40), "its type is list<"),
        (pa.array([{"p": 1}] * 40), "its type is struct<"),
        (pa.array([b"\xff"] * 40), "its type is binary"),
        (pa.nulls(40), "empty"),
        (pa.array(["?", "NA"] * 20), "empty"),
        (pa.array(["x"] * 40), "constant, always x"),
        (pa.array([5] * 40), "constant, always 5"),
        (pa.array([5] * 40).cast(pa.timestamp("s")), "constant, always 1970-01-01 00:00:05"),
    ],
    ids=lambda value: str(getattr(value, "type", "")),
)
def test_types_that_are_no_features(tmp_path, capsys, values, reason):
    path = written(typed(values, "b"), tmp_path / "t.parquet")
    found = read(path, "y").features
    assert found.names == ["a"]
    assert [column.name for column in found.left_out] == ["b"]
    assert found.left_out[0].reason.startswith(reason)
    # A model that wants numbers there cannot score it, unless there are some.
    plain = written(typed(pa.array(CODES), "b"), tmp_path / "plain.parquet")
    model = str(tmp_path / "m.puf")
    assert run(["fit", str(plain), "--label", "y", "-o", model, *FAST, "-q"]) == 0
    code = run(["predict", model, str(path), "-o", str(tmp_path / "s.csv"), "-q"])
    said = capsys.readouterr().err
    if reason in ("empty", "constant, always 5"):
        assert (code, said) == (0, "")
    else:
        assert code == 1
        assert said.startswith(f"error: {path}")
        assert said.count("\n") == 1


def test_columns_of_a_type_are_read_together():
    columns = [pa.array([1, None], pa.int8()), pa.array([3, 4], pa.int8()), pa.array([True, None])]
    found = typed_as_numbers(columns, 2, MISSING)
    assert found.X.dtype == np.float32
    np.testing.assert_array_equal(found.X, [[1, 3, 1], [np.nan, 4, np.nan]])
