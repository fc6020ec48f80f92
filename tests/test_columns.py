"""Columns of each type of each library: their kinds, numbers and labels, and what is refused."""

import datetime as dt
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from puforest._columns import columns_of
from puforest._kinds import BOOLEAN, DATETIME, DURATION, ColumnKind
from puforest._schema import FeatureSchema

NAN = float("nan")
COLORS = ColumnKind("category", ("blue", "red"))
DIGITS = ColumnKind("category", (1, 2))
BERLIN = pd.Timestamp("2020-01-01 01:00", tz="Europe/Berlin")


def read(table, **options):
    """Return the kind and the numbers of the first column."""
    schema, encoded = FeatureSchema.of_table(table, **options)
    return schema.columns.get(0), encoded.values[:, 0]


def assert_column(table, kind, numbers):
    found, values = read(table)
    assert found == kind
    assert_array_equal(values, numbers)


def frame(values, dtype=None):
    return pd.DataFrame({"a": pd.Series(values, dtype=dtype), "b": 0.0})


TEXT = ["red", None, "blue", "red"]
OF_TEXT = (COLORS, [1, NAN, 0, 1])
OF_TWO_DAYS = (DATETIME, [18262.0, NAN, 18263.5])
TWO_DAYS = np.array(["2020-01-01", "NaT", "2020-01-02T12:00"], dtype="M8[us]")
OF_THREE = (None, [1, NAN, 3])

PANDAS = {
    "object": (frame(TEXT, object), OF_TEXT),
    "object with pd.NA": (frame(["red", pd.NA, "blue", "red"], object), OF_TEXT),
    "object with NaN": (frame(["red", NAN, "blue", "red"], object), OF_TEXT),
    "str": (frame(TEXT, "str"), OF_TEXT),
    "string": (frame(TEXT, "string"), OF_TEXT),
    "string of Arrow": (frame(TEXT, "string[pyarrow]"), OF_TEXT),
    "ArrowDtype string": (frame(TEXT, pd.ArrowDtype(pa.string())), OF_TEXT),
    "category": (frame(TEXT, "category"), OF_TEXT),
    "unused category": (frame(TEXT, pd.CategoricalDtype(["red", "x", "blue"])), OF_TEXT),
    "category of integers": (frame([2, None, 1], "category"), (DIGITS, [1, NAN, 0])),
    "category of floats": (
        frame(pd.Categorical([0.5, 2.0, None])),
        (ColumnKind("category", (0.5, 2)), [0, 1, NAN]),
    ),
    "category of booleans": (frame([True, None, False], "category"), (BOOLEAN, [1, NAN, 0])),
    "category of intervals": (
        frame(pd.cut([1, 5, 1, NAN], [0, 3, 6])),
        (ColumnKind("category", ("(0, 3]", "(3, 6]")), [0, 1, 0, NAN]),
    ),
    "bool": (frame([True, False]), (BOOLEAN, [1, 0])),
    "boolean": (frame([True, None, False], "boolean"), (BOOLEAN, [1, NAN, 0])),
    "object of booleans": (frame([True, None, False], object), (BOOLEAN, [1, NAN, 0])),
    "Int64": (frame([1, None, 3], "Int64"), OF_THREE),
    "UInt8": (frame([1, None, 3], "UInt8"), OF_THREE),
    "Float32": (frame([1, None, 3], "Float32"), OF_THREE),
    "ArrowDtype int": (frame([1, None, 3], pd.ArrowDtype(pa.int8())), OF_THREE),
    "ArrowDtype decimal": (
        frame([Decimal(1), None, Decimal(3)], pd.ArrowDtype(pa.decimal128(5, 2))),
        OF_THREE,
    ),
    "object of numbers": (frame([1, None, Decimal(3)], object), OF_THREE),
    "object with NaT": (frame([1, pd.NaT, Fraction(3)], object), OF_THREE),
    "sparse": (frame(pd.arrays.SparseArray([1.0, NAN, 3.0])), OF_THREE),
    "datetime": (frame(TWO_DAYS), OF_TWO_DAYS),
    "datetime ns": (frame(TWO_DAYS.astype("M8[ns]")), OF_TWO_DAYS),
    "datetime s": (frame(TWO_DAYS.astype("M8[s]")), OF_TWO_DAYS),
    "time zone": (frame([BERLIN, pd.NaT]), (DATETIME, [18262, NAN])),
    "object of dates": (frame([dt.date(2020, 1, 1), None], object), (DATETIME, [18262, NAN])),
    "object with time zone": (
        frame([BERLIN.to_pydatetime(), None], object),
        (DATETIME, [18262, NAN]),
    ),
    "period": (frame(pd.PeriodIndex(["2020-01", None], freq="M")), (DATETIME, [18262, NAN])),
    "ArrowDtype timestamp": (frame(TWO_DAYS, pd.ArrowDtype(pa.timestamp("ms"))), OF_TWO_DAYS),
    "timedelta": (frame(pd.to_timedelta(["36h", None])), (DURATION, [1.5, NAN])),
    "object of durations": (frame([dt.timedelta(1.5), None], object), (DURATION, [1.5, NAN])),
    "object of times": (frame([dt.time(6), None], object), (DURATION, [0.25, NAN])),
    "missing": (frame([None, None], object), (ColumnKind("category", ()), [NAN, NAN])),
    "missing numbers": (frame([NAN, NAN]), (None, [NAN, NAN])),
}

POLARS = {
    "String": (pl.Series(TEXT), OF_TEXT),
    "Categorical": (pl.Series(TEXT, dtype=pl.Categorical), OF_TEXT),
    "Enum": (pl.Series(TEXT, dtype=pl.Enum(["x", "red", "blue"])), OF_TEXT),
    "Boolean": (pl.Series([True, None, False]), (BOOLEAN, [1, NAN, 0])),
    "Int8": (pl.Series([1, None, 3], dtype=pl.Int8), OF_THREE),
    "UInt64": (pl.Series([1, None, 3], dtype=pl.UInt64), OF_THREE),
    "Int128": (pl.Series([1, None, 3], dtype=pl.Int128), OF_THREE),
    "Float32": (pl.Series([1, None, 3], dtype=pl.Float32), OF_THREE),
    "Decimal": (pl.Series([1, None, 3], dtype=pl.Decimal(9, 2)), OF_THREE),
    "Date": (pl.Series([dt.date(2020, 1, 1), None]), (DATETIME, [18262, NAN])),
    "Datetime": (pl.Series(TWO_DAYS), OF_TWO_DAYS),
    "Datetime ns": (pl.Series(TWO_DAYS.astype("M8[ns]")), OF_TWO_DAYS),
    "time zone": (pl.Series([BERLIN.to_pydatetime(), None]), (DATETIME, [18262, NAN])),
    "Duration": (pl.Series([dt.timedelta(1.5), None]), (DURATION, [1.5, NAN])),
    "Time": (pl.Series([dt.time(6), None]), (DURATION, [0.25, NAN])),
    "Null": (pl.Series([None, None]), (ColumnKind("category", ()), [NAN, NAN])),
    "Object": (pl.Series([Fraction(1), None, Fraction(3)], dtype=pl.Object), OF_THREE),
}

ARROW = {
    "string": (pa.array(TEXT), OF_TEXT),
    "large_string": (pa.array(TEXT, pa.large_string()), OF_TEXT),
    "string_view": (pa.array(TEXT, pa.string_view()), OF_TEXT),
    "dictionary": (pa.array(TEXT).dictionary_encode(), OF_TEXT),
    "dictionary with null": (
        pa.DictionaryArray.from_arrays([2, 1, 0, 2], ["blue", None, "red"]),
        OF_TEXT,
    ),
    "dictionary of integers": (pa.array([2, None, 1]).dictionary_encode(), (DIGITS, [1, NAN, 0])),
    "chunks": (pa.chunked_array([["red", None], [], ["blue", "red"]]), OF_TEXT),
    "run-end encoded": (pa.compute.run_end_encode(pa.array([1, None, 3])), OF_THREE),
    "bool": (pa.array([True, None, False]), (BOOLEAN, [1, NAN, 0])),
    "int16": (pa.array([1, None, 3], pa.int16()), OF_THREE),
    "halffloat": (pa.array([1, None, 3], pa.float16()), OF_THREE),
    "float": (pa.array([1, None, 3], pa.float32()), OF_THREE),
    "decimal128": (pa.array([Decimal(1), None, Decimal(3)]), OF_THREE),
    "decimal256": (pa.array([Decimal(1), None, Decimal(3)], pa.decimal256(40, 2)), OF_THREE),
    "date32": (pa.array([dt.date(2020, 1, 1), None]), (DATETIME, [18262, NAN])),
    "date64": (pa.array([dt.date(2020, 1, 1), None], pa.date64()), (DATETIME, [18262, NAN])),
    "timestamp": (pa.array(TWO_DAYS), OF_TWO_DAYS),
    "timestamp s": (pa.array(TWO_DAYS).cast(pa.timestamp("s")), OF_TWO_DAYS),
    "time zone": (pa.array([BERLIN.to_pydatetime(), None]), (DATETIME, [18262, NAN])),
    "duration": (pa.array([dt.timedelta(1.5), None]), (DURATION, [1.5, NAN])),
    "time32": (pa.array([dt.time(6), None], pa.time32("ms")), (DURATION, [0.25, NAN])),
    "time64": (pa.array([dt.time(6), None]), (DURATION, [0.25, NAN])),
    "null": (pa.nulls(2), (ColumnKind("category", ()), [NAN, NAN])),
}

masked = np.ma.masked_array
ARRAYS = {
    "float32": (np.array([[1], [NAN], [3]], dtype="f4"), OF_THREE),
    "bool": (np.array([[True], [False]]), (None, [1, 0])),
    "objects": (np.array(TEXT, dtype=object)[:, None], OF_TEXT),
    "strings": (np.array([["red"], ["blue"]]), (COLORS, [1, 0])),
    "StringDType": (
        np.array([["red"], ["blue"]], dtype=np.dtypes.StringDType()),
        (COLORS, [1, 0]),
    ),
    "dates": (TWO_DAYS[:, None], OF_TWO_DAYS),
    "months": (np.array([["2020-01"], ["NaT"]], dtype="M8[M]"), (DATETIME, [18262, NAN])),
    "hours": (np.array([[36], ["NaT"]], dtype="m8[h]"), (DURATION, [1.5, NAN])),
    "masked": (masked([[1.0], [2.0], [3.0]], [[0], [1], [0]]), OF_THREE),
    "masked integers": (masked([[1], [2], [3]], [[0], [1], [0]]), OF_THREE),
    "masked booleans": (masked([[True], [True]], [[0], [1]]), (None, [1, NAN])),
    "masked objects": (masked([["red"], ["x"], ["blue"]], [[0], [1], [0]]), (COLORS, [1, NAN, 0])),
    "masked dates": (masked(TWO_DAYS[:, None], [[0], [0], [1]]), (DATETIME, [18262, NAN, NAN])),
    "nothing masked": (masked([[1.0], [3.0]]), (None, [1, 3])),
    "list of masked rows": ([masked([1], [0]), masked([2], [1])], (None, [1, NAN])),
    "list": ([["red", 1.5], ["blue", 2.5]], (COLORS, [1, 0])),
    "list of numbers and None": ([[1], [None], [3.0]], OF_THREE),
    "list of booleans and numbers": ([[True, 1.5], [False, 2.5]], (BOOLEAN, [1, 0])),
    "list of dates": ([[dt.date(2020, 1, 1), 1], [None, 2]], (DATETIME, [18262, NAN])),
    "list of tuples": ([("red", 1), ("blue", 2)], (COLORS, [1, 0])),
}


@pytest.mark.parametrize("name", PANDAS)
def test_pandas(name):
    table, expected = PANDAS[name]
    assert_column(table, *expected)


@pytest.mark.parametrize("name", POLARS)
def test_polars(name):
    series, expected = POLARS[name]
    assert_column(pl.DataFrame({"a": series}), *expected)
    assert_column(
        pl.concat([pl.DataFrame({"a": part}) for part in (series[:1], series[1:])]), *expected
    )


@pytest.mark.parametrize("name", ARROW)
def test_arrow(name):
    array, expected = ARROW[name]
    table = pa.table({"a": array})
    assert_column(table, *expected)
    assert_column(pa.concat_tables([table[:1], table[1:]]), *expected)


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_and_lists(name):
    table, expected = ARRAYS[name]
    assert_column(table, *expected)


def test_sparse_frames_stay_sparse():
    dense = np.array([[0, 2, 0], [0, 0, NAN]])
    schema, encoded = FeatureSchema.of_table(pd.DataFrame(dense).astype(pd.SparseDtype(float, 0)))
    assert encoded.is_sparse
    assert schema.n_features == 3
    assert_array_equal(encoded.values.toarray(), dense)


def test_the_type_is_float32_if_it_holds_all_values():
    small = pd.DataFrame({"a": ["x", "y"], "b": np.array([1, 2], dtype="i2"), "c": [True, False]})
    for table in (small, pl.from_pandas(small), pa.Table.from_pandas(small)):
        assert FeatureSchema.of_table(table)[1].dtype == np.float32
        assert FeatureSchema.of_table(table)[1].values.flags.f_contiguous
    assert FeatureSchema.of_table(small.astype({"b": "i8"}))[1].dtype == np.float64


# What cannot be read

REFUSED = {
    "mixed": (frame([1, "x", 2], object), r"X\['a'\] mixes types: 1 is a number, but 'x' is text"),
    "mixed later": (frame(["x", None, 1.5], object), r"'x' is text, but 1.5 is a number"),
    "dates and text": (frame([dt.date(2020, 1, 1), "x"], object), "is a date, but 'x' is text"),
    "booleans and text": (frame([True, "x"], object), "True is a boolean, but 'x' is text"),
    "lists": (frame([[1], [2]], object), r"X\['a'\] has cells of type list, such as \[1\]"),
    "dicts": (frame([{"a": 1}], object), r"cells of type dict, such as \{'a': 1\}"),
    "bytes": (frame([b"x"], object), r"X\['a'\] has bytes, such as b'x': decode"),
    "complex": (frame([1j], object), r"X\['a'\] has complex numbers: Complex data"),
    "complex dtype": (frame([1j]), r"X\['a'\] has complex numbers: Complex data not supported"),
    "intervals": (
        frame(pd.IntervalIndex.from_breaks([0, 1, 2])),
        r"X\['a'\] has cells of type int",
    ),
    "mixed categories": (
        frame(pd.Categorical([1, "x"])),
        r"X\['a'\] mixes categories .* 1 and 'x'",
    ),
    "categories of dates": (
        frame(pd.Categorical(pd.to_datetime(["2020-01-01"]))),
        r"X\['a'\] has categories of type Timestamp.*rename_categories",
    ),
    "infinity": (frame([1, float("inf")], object), r"X contains infinity .* in X\['a'\]"),
    "huge": (frame([10**400, 1], object), r"X\['a'\] has a number outside the range of floats"),
    "arrays of bytes": (np.array([[b"x"]]), r"X\[:, 0\] has bytes"),
    "months of durations": (np.array([[1]], dtype="m8[M]"), r"X\[:, 0\] has durations of type"),
    "polars list": (pl.DataFrame({"a": [[1], [2]]}), r"X\['a'\] has cells of type List"),
    "polars struct": (pl.DataFrame({"a": [{"x": 1}]}), r"X\['a'\] has cells of type Struct"),
    "polars binary": (pl.DataFrame({"a": [b"x"]}), r"X\['a'\] has cells of type Binary"),
    "polars lazy": (pl.LazyFrame({"a": [1.0]}), r"X is a polars LazyFrame: pass X.collect\(\)"),
    "arrow list": (pa.table({"a": [[1], [2]]}), r"X\['a'\] has cells of type list<"),
    "arrow struct": (pa.table({"a": [{"x": 1}]}), r"X\['a'\] has cells of type struct<"),
    "arrow binary": (pa.table({"a": [b"x"]}), r"X\['a'\] has cells of type binary"),
    "repeated names": (pd.DataFrame([[1, 2]], columns=["a", "a"]), "several columns named 'a'"),
    "names of several types": (pd.DataFrame([[1, 2]], columns=["a", 1]), "string names"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    table, message = REFUSED[name]
    with pytest.raises((TypeError, ValueError), match=message):
        FeatureSchema.of_table(table)


def test_the_libraries_are_optional():
    code = (
        "import sys; sys.modules.update(dict.fromkeys(['pandas', 'polars', 'pyarrow']))\n"
        "from puforest import PUDecisionTreeClassifier\n"
        "X = [['a', 1.5], ['b', None]] * 9\n"
        "PUDecisionTreeClassifier(0.5).fit(X, [1, 0] * 9).predict(X)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_columns_are_read_by_position():
    table = pd.DataFrame([["x", "y"]], columns=["a", "a"])
    assert [columns_of(table).read(j, "X").labels for j in range(2)] == [["x"], ["y"]]
