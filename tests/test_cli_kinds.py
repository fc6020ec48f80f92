"""Kinds of columns: what fit reads as numbers, categories, booleans, dates and durations."""

import datetime as dt

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import issparse
from table_files import read

from puforest import PUExtraTreesClassifier
from puforest.cli.tables._times import dates, durations

N = 60
WORDS = [("Bern", "Basel", "Chur")[i % 3] for i in range(N)]
DAYS = [f"2024-{1 + i % 12:02}-{1 + i % 28:02}" for i in range(N)]


def csv(tmp_path, **columns):
    """A text file with the columns, and labels."""
    columns = {"a": [i % 7 for i in range(N)], **columns, "y": [i % 2 for i in range(N)]}
    lines = [
        ",".join(columns),
        *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True)),
    ]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    return tmp_path / "t.csv"


def feather(tmp_path, **columns):
    """A file with types, in batches of different dictionaries."""
    table = {"a": np.arange(N) % 7, **columns, "y": np.arange(N) % 2}
    pyarrow.feather.write_feather(pa.table(table), tmp_path / "t.feather", chunksize=25)
    return tmp_path / "t.feather"


def reasons(features):
    return {column.name: column.reason for column in features.left_out}


def test_kinds_of_text(tmp_path):
    path = csv(
        tmp_path,
        town=WORDS,
        flag=["True" if i % 5 else "false" for i in range(N)],
        day=DAYS,
        time=[f"{day}T12:30:00Z" for day in DAYS],
        number=[f" {i / 4} " for i in range(N)],
    )
    features = read(path, "y").features
    assert features.names == ["a", "town", "flag", "day", "time", "number"]
    kinds = {"town": "category", "flag": "boolean", "day": "datetime", "time": "datetime"}
    assert features.kinds == kinds
    assert (features.missing, features.left_out, features.remarks) == ({}, [], [])
    X = features.X
    assert X.column_names == features.names
    assert X["town"].to_pylist() == WORDS
    assert X["flag"].to_pylist() == [bool(i % 5) for i in range(N)]
    assert X["day"].to_pylist() == [dt.datetime.fromisoformat(day) for day in DAYS]
    assert X["time"][0].as_py() == dt.datetime(2024, 1, 1, 12, 30)
    assert X["number"].to_pylist() == [i / 4 for i in range(N)]


def test_all_numbers_are_one_array(tmp_path):
    features = read(csv(tmp_path, b=[i / 3 if i % 4 else "NA" for i in range(N)]), "y").features
    assert features.X.values.dtype == np.float64
    assert features.missing == {"b": 15}
    assert np.isnan(features.X.values[::4, 1]).all()


GAPS = ["", "?", " ? ", "NA", "n/a", "NaN", "nan", "null", "NULL", "None", "none", "-", "<NA>"]


@pytest.mark.parametrize("word", GAPS)
@pytest.mark.parametrize("column", [WORDS, DAYS, list(range(N)), ["true", "false"] * (N // 2)])
def test_missing_values(tmp_path, word, column):
    features = read(csv(tmp_path, b=[word, *column[1:]]), "y").features
    assert features.missing == {"b": 1}
    complete = read(csv(tmp_path, b=column), "y").features
    assert features.kinds == complete.kinds
    if features.kinds:
        assert features.X["b"].to_pylist() == [None, *complete.X["b"].to_pylist()[1:]]
    else:
        np.testing.assert_array_equal(features.X.values[1:], complete.X.values[1:])


def test_missing_markers_can_be_changed(tmp_path):
    path = csv(tmp_path, town=["unk", "NA", *WORDS[2:]], b=[-999, "-999.0", *range(2, N)])
    features = read(path, "y", missing=["unk", "-999"]).features
    assert features.missing == {"town": 2, "b": 2}
    days = csv(tmp_path, day=["1900-01-01", *DAYS[1:]])
    assert read(days, "y", missing=["1900-01-01"]).features.X["day"][0].as_py() is None
    path = csv(tmp_path, town=["unk", "NA", *WORDS[2:]])
    features = read(path, "y", missing=["unk"], not_missing=["NA"]).features
    assert features.missing == {"town": 1}
    assert "NA" in features.X["town"].to_pylist()


def test_markers_apply_to_all_formats(tmp_path):
    columns = {
        "town": pa.array(["?", None, " NA", *WORDS[3:]]),
        "code": pa.array(["?", *"xyz" * 19, "x", "y"]).dictionary_encode(),
        "number": pa.array([-999, None, *range(2, N)]),
    }
    features = read(feather(tmp_path, **columns), "y", missing=["-999"]).features
    assert features.missing == {"town": 3, "code": 1, "number": 2}
    X = np.arange(N * 2.0).reshape(N, 2)
    X[3, 1], X[4, 1] = -999, np.nan
    np.savez(tmp_path / "t.npz", X=X, y=np.arange(N) % 2)
    assert read(tmp_path / "t.npz", missing=["-999"]).features.missing == {"x1": 2}
    (tmp_path / "t.svm").write_text("".join(f"{i % 2} 1:{i} 2:nan\n" for i in range(5)) + "0 1:-9")
    assert read(tmp_path / "t.svm", missing=["-9"]).features.missing == {"1": 1, "2": 5}


def test_libsvm_files_are_sparse(tmp_path):
    lines = [f"{i % 2} 1:{i} 3:{i % 5 or -9} 4:1\n" for i in range(20)]
    (tmp_path / "t.svm").write_text("# comment\n" + "".join(lines))
    X = read(tmp_path / "t.svm").features.X.values
    assert issparse(X)
    rows = [[i, 0, i % 5 or -9, 1] for i in range(20)]
    np.testing.assert_array_equal(X.toarray(), rows)
    some = read(tmp_path / "t.svm", drop=["3"]).features
    assert some.names == ["1", "2", "4"]
    np.testing.assert_array_equal(some.X.values.toarray(), np.delete(rows, 2, axis=1))
    # Zeros that a line does not mention are looked at, if they are special.
    features = read(tmp_path / "t.svm", missing=["0"], drop=["2"]).features
    assert features.missing == {"1": 1}
    assert not issparse(features.X.values)
    features = read(tmp_path / "t.svm", categorical=["3"]).features
    assert features.kinds == {"3": "category"}


# Mixed columns


@pytest.mark.parametrize(
    ("column", "said"),
    [
        (
            ["12o", *range(1, N)],
            "line 2: the column b holds '12o', but 59 of its 60 values are num",
        ),
        (
            [*range(N - 1), "3+"],
            "line 61: the column b holds '3+', but 59 of its 60 values are num",
        ),
        (["soon", *DAYS[1:]], "line 2: the column b holds 'soon', but 59 of its 60 values are dat"),
        (["2024-02-30", *DAYS[1:]], "line 2: the column b holds '2024-02-30'"),
    ],
)
def test_exceptions_are_refused(tmp_path, column, said):
    path = csv(tmp_path, b=column)
    with pytest.raises(ValueError, match="the column b holds") as error:
        read(path, "y")
    assert f"{path}, {said}" in str(error.value)
    for way_out in ("Use --missing", "--drop b", "--categorical b if"):
        assert way_out in str(error.value)
    cell = next(cell for cell in column if f"holds {cell!r}" in said)
    assert read(path, "y", missing=[cell]).features.missing == {"b": 1}
    assert read(path, "y", drop=["b"]).features.names == ["a"]
    assert read(path, "y", categorical=["b"]).features.kinds == {"b": "category"}


def test_text_with_some_numbers_is_remarked(tmp_path):
    path = csv(tmp_path, grade=[("A", "7", "B")[i % 3] for i in range(N)])
    features = read(path, "y").features
    assert features.kinds == {"grade": "category"}
    assert features.remarks == [
        "the column grade is read as categories, since only 20 of its 60 values are numbers"
    ]
    assert read(path, "y", categorical=["grade"]).features.remarks == []


def test_decimal_commas_are_noticed(tmp_path):
    path = csv(tmp_path, b=[f'"{i},5"' for i in range(N)])
    with pytest.raises(
        ValueError, match=r"line 2: the column b holds '0,5'\. If these are numbers"
    ):
        read(path, "y")
    assert read(path, "y", categorical=["b"]).features.kinds == {"b": "category"}


def test_numbers_stored_as_text_are_remarked(tmp_path):
    path = feather(tmp_path, b=[str(i % 9) for i in range(N)])
    features = read(path, "y").features
    assert features.kinds == {"b": "category"}
    assert features.remarks[0].startswith("the column b holds numbers stored as text")


def test_dates_of_other_forms_are_remarked(tmp_path):
    path = csv(tmp_path, day=[f"{i % 28 + 1}.12.2024" for i in range(N)])
    features = read(path, "y").features
    assert features.kinds == {"day": "category"}
    assert features.remarks == [
        "the column day holds dates such as '1.12.2024', and is read as categories: write dates as "
        "2024-12-31, or use --categorical day if they are categories"
    ]
    assert read(path, "y", categorical=["day"]).features.remarks == []


# Columns to leave out


def test_columns_that_are_left_out(tmp_path):
    columns = {
        "id": [f"P{i:03}" for i in range(N)],
        "year": [20240131] * N,
        "flag": ["true"] * N,
        "state": ["CH"] * N,
        "note": ["NA"] * N,
        "once": ["x", *[""] * (N - 1)],
        "serial": list(range(N)),
    }
    path = csv(tmp_path, **columns)
    features = read(path, "y").features
    assert features.names == ["a", "once", "serial"]
    assert reasons(features) == {
        "id": "text that differs in every row, probably an identifier or free text",
        "year": "constant, always 20240131",
        "flag": "constant, always true",
        "state": "constant, always CH",
        "note": "empty",
    }
    assert features.identifiers == ["serial"]
    kept = read(path, "y", keep=["id", "year", "flag", "state"]).features
    assert kept.names == ["a", "id", "year", "flag", "state", "once", "serial"]
    words = dict.fromkeys(["id", "state", "once"], "category")
    assert kept.kinds == {"flag": "boolean", **words}
    assert list(reasons(kept)) == ["note"]
    assert read(path, "y", drop=["id", "year", "flag", "state", "note"]).features.left_out == []
    for option in ("keep", "features", "categorical"):
        with pytest.raises(ValueError, match="the column note cannot be a feature: empty"):
            read(path, "y", **{option: ["note"]})


def test_few_rows_may_differ_by_chance(tmp_path):
    (tmp_path / "t.csv").write_text("town,y\n" + "".join(f"t{i},{i % 2}\n" for i in range(40)))
    assert read(tmp_path / "t.csv", "y").features.names == ["town"]


def test_free_text_is_remarked(tmp_path):
    path = csv(tmp_path, name=[f"name {i % 50}" for i in range(N)])
    (remark,) = read(path, "y").features.remarks
    assert remark.startswith("the column name has 50 different values in 60 rows")
    assert remark.endswith("--drop name")


def test_too_many_categories(tmp_path):
    n = 70_000
    table = pa.table({"a": np.arange(n) % 7, "t": [f"{i}x" for i in range(n - 1)] + ["0x"]})
    table = table.append_column("y", pa.array(np.arange(n) % 2))
    pyarrow.parquet.write_table(table, tmp_path / "t.parquet")
    many = "text with 69,999 different values, more than 65,535"
    assert reasons(read(tmp_path / "t.parquet", "y").features) == {"t": many}
    with pytest.raises(ValueError, match="cannot be a feature: text with 69,999"):
        read(tmp_path / "t.parquet", "y", keep=["t"])


def test_matrices_are_used_as_they_are(tmp_path):
    X = np.ones((N, 2))
    X[:, 1] = np.arange(N) % 7
    np.savez(tmp_path / "t.npz", X=X, y=np.arange(N) % 2)
    assert read(tmp_path / "t.npz").features.names == ["x0", "x1"]


# Categories of numbers


def test_codes(tmp_path):
    path = csv(tmp_path, code=[("1", "02", "3.0", "NA")[i % 4] for i in range(N)])
    features = read(path, "y", categorical=["code"]).features
    assert features.kinds == {"code": "category"}
    column = features.X["code"].combine_chunks()
    assert column.dictionary.to_pylist() == [1, 2, 3]
    assert features.missing == {"code": 15}
    real = read(csv(tmp_path, code=[i % 3 / 2 for i in range(N)]), "y", categorical=["code"])
    assert real.features.X["code"].combine_chunks().dictionary.to_pylist() == [0, 0.5, 1]


@pytest.mark.parametrize(
    ("values", "kind", "first"),
    [
        (pa.array(WORDS), "category", "Bern"),
        (pa.array(WORDS, pa.large_string()), "category", "Bern"),
        (pa.array(WORDS).dictionary_encode(), "category", "Bern"),
        (pa.array([" Bern", *WORDS[1:]]), "category", " Bern"),
        (pa.array(np.arange(N) % 3).dictionary_encode(), "category", 0),
        (pa.array(np.arange(N) % 3 / 2).dictionary_encode(), "category", 0.0),
        (pa.array(np.arange(N) % 3 == 0), "boolean", True),
        (pa.array(np.arange(N) % 3 == 0).dictionary_encode(), "boolean", True),
        (pa.array(DAYS).cast(pa.date32()), "datetime", dt.date(2024, 1, 1)),
        (pa.array(DAYS).cast(pa.timestamp("ms")), "datetime", dt.datetime(2024, 1, 1)),
        (pa.array(np.arange(N) * 60).cast(pa.duration("s")), "duration", dt.timedelta()),
        (pa.array(range(N), pa.int32()).cast(pa.time32("s")), "duration", dt.time()),
    ],
    ids=lambda value: str(getattr(value, "type", "")),
)
def test_kinds_of_types(tmp_path, values, kind, first):
    features = read(feather(tmp_path, b=values), "y").features
    assert features.kinds == {"b": kind}
    assert features.X["b"][0].as_py() == first
    gaps = pa.array([None, *values.to_pylist()[1:]], values.type)
    assert read(feather(tmp_path, b=gaps), "y").features.missing == {"b": 1}


def test_dates_are_no_categories(tmp_path):
    path = feather(tmp_path, day=pa.array(DAYS).cast(pa.date32()))
    with pytest.raises(
        ValueError, match=r"--categorical day: the column holds date32\[day\], which"
    ):
        read(path, "y", categorical=["day"])


# Dates


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024-12-31", dt.datetime(2024, 12, 31)),
        ("2024-12-31 23:59", dt.datetime(2024, 12, 31, 23, 59)),
        ("2024-12-31T23:59:58.25", dt.datetime(2024, 12, 31, 23, 59, 58, 250_000)),
        ("2024-12-31 23:59:58.123456789", dt.datetime(2024, 12, 31, 23, 59, 58, 123_456)),
        ("2024-12-31T23:59:58Z", dt.datetime(2024, 12, 31, 23, 59, 58)),
        ("2024-12-31T23:59:58+01:00", dt.datetime(2024, 12, 31, 22, 59, 58)),
        ("0001-01-01", dt.datetime(1, 1, 1)),
        ("9999-12-31", dt.datetime(9999, 12, 31)),
        ("2024-02-30", None),
        ("2024-13-01", None),
        ("31.12.2024", None),
        ("12/31/2024", None),
        ("20241231", None),
        ("2024", None),
        ("", None),
    ],
)
def test_dates(text, expected):
    assert dates(pa.array([text, None]))[0].as_py() == expected
    # The same beside a text that is no date.
    assert dates(pa.array(["2024-02-31", text]))[1].as_py() == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("17:30", dt.timedelta(hours=17, minutes=30)),
        ("0:00:01.5", dt.timedelta(seconds=1.5)),
        ("-0:30", dt.timedelta(minutes=-30)),
        ("100:00:00", dt.timedelta(hours=100)),
        ("5 days", dt.timedelta(5)),
        *((str(pd.Timedelta(t)), t) for t in (dt.timedelta(2, 10.25), dt.timedelta(-3, 59))),
        *((str(t), t) for t in (dt.timedelta(1), dt.timedelta(2, 10.25), dt.timedelta(-3, 59))),
        ("17:60", None),
        ("1:2", None),
        ("5", None),
        ("days", None),
        ("2024-12-31 17:30", None),
        ("", None),
    ],
)
def test_durations(text, expected):
    assert durations(pa.array([text, None])).to_pylist() == [expected, None]


def test_durations_in_text_files(tmp_path):
    path = tmp_path / "table.csv"
    cells = ["0 days 12:00:00", "?", " 1 days 00:00:00 "]
    path.write_text("y,t\n" + "".join(f"{i % 2},{cells[i % 3]}\n" for i in range(60)))
    features = read(path, "y").features
    assert features.kinds == {"t": "duration"}
    assert features.missing == {"t": 20}
    assert features.X["t"].to_pylist()[:3] == [dt.timedelta(0.5), None, dt.timedelta(1)]
    path.write_text(path.read_text() + "1,soon\n")
    message = "line 62: the column t holds 'soon', but 40 of its 41 values are durations"
    with pytest.raises(ValueError, match=message):
        read(path, "y")


def test_durations_of_a_model_in_text(tmp_path, cli):
    frame = pd.DataFrame({"t": pd.to_timedelta(np.arange(40), "h"), "a": np.arange(40) % 3})
    forest = PUExtraTreesClassifier(prior=0.5, n_estimators=3, random_state=0)
    forest.fit(frame, np.arange(40) // 20).save(tmp_path / "m.puf")
    frame.astype({"t": str}).to_csv(tmp_path / "new.csv", index=False)
    predict = ("predict", tmp_path / "m.puf", tmp_path / "new.csv", "-o", tmp_path / "s.csv")
    assert cli(*predict).code == 0
    found = pd.read_csv(tmp_path / "s.csv")["score"]
    assert_allclose(found, forest.predict_proba(frame)[:, 1])
    (tmp_path / "new.csv").write_text("t,a\n1:00,1\nsoon,2\n")
    said = cli(*predict, "--force")
    assert said.code == 1
    assert "line 3: the column t holds 'soon', which is not a duration" in said.err
