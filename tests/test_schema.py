"""Schemas: kinds and categories of training data, and new data that must match them."""

import datetime as dt
import pickle
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

from puforest import PUDecisionTreeClassifier
from puforest._encoded import EncodedTable
from puforest._kinds import BOOLEAN, DATETIME, DURATION, ColumnKind
from puforest._named_table import NamedTable
from puforest._schema import FeatureSchema, number_matrix

NAN = float("nan")
DAYS = np.array(["2020-01-01", "2020-01-02", "2020-01-04"], dtype="M8[s]")
FRAME = pd.DataFrame(
    {
        "number": [0.5, NAN, 2.0],
        "text": ["red", "blue", None],
        "digit": pd.Categorical([2, 1, 2]),
        "flag": [True, False, True],
        "day": DAYS,
        "lasted": DAYS - DAYS[0],
    }
)
SCHEMA, TABLE = FeatureSchema.of_table(FRAME)


def test_schema_of_a_table():
    assert SCHEMA.names == tuple(FRAME.columns)
    assert SCHEMA.columns == {
        1: ColumnKind("category", ("blue", "red")),
        2: ColumnKind("category", (1, 2)),
        3: BOOLEAN,
        4: DATETIME,
        5: DURATION,
    }
    assert SCHEMA.categorical == TABLE.categorical == (1, 2)
    kinds = ["number", "category", "category", "boolean", "datetime", "duration"]
    assert [SCHEMA.kind(j) for j in range(6)] == kinds
    assert SCHEMA.categories(0) is None
    assert SCHEMA.categories(1) == ("blue", "red")
    assert SCHEMA.categories(3) == (False, True)
    assert SCHEMA.place(1) == "X['text']"
    expected = [[0.5, 1, 1, 1, 18262, 0], [NAN, 0, 0, 0, 18263, 1], [2, NAN, 1, 1, 18265, 3]]
    assert_array_equal(TABLE.values, expected)


def test_plain_numbers_have_no_entries():
    schema = FeatureSchema(3)
    assert schema == FeatureSchema(3, None, {})
    assert schema.kind(2) == "number"
    assert schema.place(2) == "X[:, 2]"
    assert schema.feature_names() == ["x0", "x1", "x2"]
    X = np.ones((4, 3), dtype=np.float32)
    assert schema.table(X).values is X


def test_schemas_can_be_pickled():
    SCHEMA.table(FRAME)  # fills caches
    copy = pickle.loads(pickle.dumps(SCHEMA))
    assert copy == SCHEMA
    assert_array_equal(copy.table(FRAME).values, TABLE.values)
    old = FeatureSchema.__new__(FeatureSchema)
    old.__setstate__({"n_features": 1, "names": None})
    assert old == FeatureSchema(1)


# New data

SAME = {
    "the same": FRAME,
    "polars": pl.from_pandas(FRAME.astype({"digit": "Int64"})),
    "numbers as objects": FRAME.assign(number=np.array([Decimal("0.5"), None, 2], dtype=object)),
    "nullable numbers": FRAME.astype({"number": "Float64"}),
    "category of numbers": FRAME.astype({"number": "category"}),
    "category dtype": FRAME.astype({"text": "category"}),
    "categories as floats": FRAME.assign(digit=[2.0, 1.0, 2.0]),
    "booleans as numbers": FRAME.assign(flag=[1, 0, 1]),
    "booleans as floats": FRAME.assign(flag=[1.0, 0.0, 1.0]),
    "booleans as categories": FRAME.astype({"flag": "category"}),
    "dates of Python": FRAME.assign(day=np.array(DAYS.astype("M8[D]").tolist(), dtype=object)),
    "nanoseconds": FRAME.astype({"day": "M8[ns]", "lasted": "m8[ns]"}),
    "time zone": FRAME.assign(day=FRAME["day"].dt.tz_localize("UTC")),
}


@pytest.mark.parametrize("name", SAME)
def test_new_data_may_have_other_types(name):
    assert_array_equal(SCHEMA.table(SAME[name]).values, TABLE.values)


@pytest.mark.parametrize("column", FRAME.columns)
@pytest.mark.parametrize("gaps", [[None] * 3, [NAN] * 3, [pd.NaT] * 3, [pd.NA] * 3])
def test_missing_columns_of_any_type(column, gaps):
    values = SCHEMA.table(FRAME.assign(**{column: gaps})).values
    assert np.isnan(values[:, FRAME.columns.get_loc(column)]).all()


def test_a_column_without_values_in_training_takes_anything():
    schema, _ = FeatureSchema.of_table(FRAME.assign(text=None))
    assert schema.columns[1] == ColumnKind("category", ())
    for column in (["x"] * 3, [1.5] * 3, DAYS):
        assert np.isnan(schema.table(FRAME.assign(text=column)).values[:, 1]).all()


def test_unknown_categories_are_counted():
    unknown = {1: 1}
    new = FRAME.assign(text=["green", None, "red"], digit=[3, 1, 7])
    values = SCHEMA.table(new, unknown=unknown).values
    assert_array_equal(values[:, 1:3], [[NAN, NAN], [NAN, 0], [1, NAN]])
    assert unknown == {1: 2, 2: 2}


WRONG = {
    "text in numbers": ({"number": ["x", "1", "2"]}, "number", "text, such as 'x'", "numbers"),
    "dates in numbers": ({"number": DAYS}, "number", "dates", "numbers"),
    "numbers in text": ({"text": [NAN, 7, 8]}, "text", "numbers, such as 7", "text"),
    "booleans in text": ({"text": [True, False, True]}, "text", "booleans", "text"),
    "numeric categories in text": (
        {"text": pd.Categorical([4, 5, 6])},
        "text",
        "categories, such as 4",
        "text",
    ),
    "text in digits": ({"digit": ["1", "2", "1"]}, "digit", "text, such as '1'", "categories that"),
    "other numbers in booleans": ({"flag": [0, 1, 2]}, "flag", "numbers, such as 2", "booleans"),
    "text in booleans": ({"flag": ["yes", "no", "no"]}, "flag", "text, such as 'yes'", "booleans"),
    "numbers in dates": ({"day": [1, 2, 3]}, "day", "numbers, such as 1", "dates"),
    "durations in dates": ({"day": FRAME["lasted"]}, "day", "durations", "dates"),
    "text in durations": ({"lasted": ["1 day", None, None]}, "lasted", "text", "durations"),
}


@pytest.mark.parametrize("name", WRONG)
def test_other_types_are_refused(name):
    changed, column, found, fitted = WRONG[name]
    message = rf"X\['{column}'\] has {found}.*Tree was fitted to {fitted}"
    with pytest.raises(TypeError, match=message):
        SCHEMA.table(FRAME.assign(**changed), estimator="Tree")


def test_mixed_and_nested_columns_are_refused():
    for column, message in (([1, "x", 2], "mixes types"), ([[1], [2], [3]], "cells of type list")):
        with pytest.raises(TypeError, match=rf"X\['number'\].*{message}"):
            SCHEMA.table(FRAME.assign(number=pd.Series(column, dtype=object)))
    with pytest.raises(ValueError, match=r"X contains infinity .* in X\['number'\]"):
        SCHEMA.table(FRAME.assign(number=[1, 2, np.inf]))
    unnamed, _ = FeatureSchema.of_table(FRAME.astype(object).to_numpy())
    with pytest.raises(TypeError, match="X is sparse, but Tree was fitted to a table"):
        unnamed.table(sp.csr_array(np.ones((2, 6))), estimator="Tree")


def test_names_and_numbers_of_columns_are_compared():
    with pytest.raises(ValueError, match="feature names should match"):
        SCHEMA.table(FRAME[FRAME.columns[::-1]], estimator="Tree")
    with pytest.raises(ValueError, match=r"feature names should match|has 5 features"):
        SCHEMA.table(FRAME.drop(columns="text"), estimator="Tree")
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        SCHEMA.table(FRAME.astype(object).to_numpy(), estimator="Tree")
    without, _ = FeatureSchema.of_table(FRAME.astype(object).to_numpy())
    with pytest.raises(ValueError, match="X has 2 features, but Tree is expecting 6"):
        without.table([["a", 1]], estimator="Tree")
    named = NamedTable(FRAME.astype(object).to_numpy(), list(FRAME.columns))
    schema, table = FeatureSchema.of_table(named, categorical_features=["text", "digit"])
    assert schema == SCHEMA
    assert_array_equal(schema.table(named).values, table.values)


def test_tables_of_numbers_for_a_schema_with_categories():
    schema, _ = FeatureSchema.of_table(np.array([[1, 5], [2, 6.5]]), categorical_features=[0])
    assert schema.columns == {0: ColumnKind("category", (1, 2))}
    assert_array_equal(schema.table(np.array([[2.0, 7], [3, 8]])).values, [[1, 7], [NAN, 8]])


def test_encoded_tables_are_taken_as_they_are():
    schema, table = FeatureSchema.of_table(TABLE)
    assert table is TABLE
    assert schema.categorical == (1, 2)
    assert SCHEMA.table(TABLE) is TABLE


# Categories


def test_too_many_categories():
    ids = np.arange(65_536).astype(str)
    with pytest.raises(
        ValueError, match=r"X\['id'\] has 65,536 categories, more than 65,535: drop"
    ):
        FeatureSchema.of_table(pd.DataFrame({"id": ids}))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        schema, table = FeatureSchema.of_table(pd.DataFrame({"id": ids[1:]}))
    assert len(schema.categories(0)) == 65_535
    assert sorted(table.values[:, 0]) == list(range(65_535))


def test_warnings_about_columns_that_are_hardly_categories():
    rows = np.arange(40)
    with pytest.warns(UserWarning, match=r"^X\['price'\]: numbers as text.*pd.to_numeric"):
        FeatureSchema.of_table(pd.DataFrame({"price": [*(rows % 9 + 0.5).astype(str), "?"]}))
    with pytest.warns(UserWarning, match=r"^X\['id'\]: \(nearly\) every row has its own category"):
        FeatureSchema.of_table(pd.DataFrame({"id": [f"id{i}" for i in rows]}))
    days = pd.Series(pd.date_range("2020-01-01", periods=40))
    for text in (
        days.astype(str),
        days.dt.strftime("%d.%m.%Y"),
        days.dt.strftime("%m/%d/%Y %H:%M"),
    ):
        with pytest.warns(UserWarning, match=r"^X\['day'\]: dates as text.*pd.to_datetime"):
            FeatureSchema.of_table(pd.DataFrame({"day": text}))
    wide = pd.DataFrame({f"c{j}": (rows % 7).astype(str) for j in range(9)})
    with pytest.warns(UserWarning, match=r"X\['c4'\] and 4 more columns: numbers as text"):
        FeatureSchema.of_table(wide)
    for quiet in (
        (wide.astype("category"), {}),
        (wide, {"categorical_features": list(wide.columns)}),
        (pd.DataFrame({"grade": ["A1", "B2", "3", "4"] * 10}), {}),
        (pd.DataFrame({"version": ["1.2.3", "1.2.4", "10.2.20"] * 10}), {}),
        (pd.DataFrame({"few": [f"id{i}" for i in range(10)]}), {}),
    ):
        FeatureSchema.of_table(quiet[0], **quiet[1])


def test_number_matrix():
    numbers = FRAME.drop(columns=["text", "digit"]).fillna({"number": 0.0})
    assert number_matrix(numbers, "Net").shape == (3, 4)
    with pytest.raises(TypeError, match=r"X\['text'\] has text or categories, which Net cannot"):
        number_matrix(FRAME, "Net")
    with pytest.raises(ValueError, match=r"X\['number'\] has missing values \(NaN\), which Net"):
        number_matrix(FRAME[["number"]], "Net")


def test_dates_of_predictions_may_have_another_unit():
    y = [1, 0, 0]
    tree = PUDecisionTreeClassifier(prior=0.5).fit(FRAME[["day"]], y)
    noon = [[dt.datetime(2020, 1, 1, 11)], [dt.datetime(2020, 1, 1, 13)]]
    frame = pd.DataFrame(noon, columns=["day"])
    assert tree.predict(frame).tolist() == [1, 0]
    assert tree.predict(pl.DataFrame({"day": [row[0] for row in noon]})).tolist() == [1, 0]


def test_encoded_table():
    table = EncodedTable(np.array([[0, 1.5], [2, NAN], [NAN, 3]]), (0,))
    assert len(table) == 3
    assert table.shape == (3, 2)
    assert table.n_categories(0) == 3
    assert not table.is_sparse
    assert table[[2, 0]].categorical == (0,)
    assert_array_equal(table[[2, 0]].values, [[NAN, 3], [0, 1.5]])
    assert table.native() is table.values
    assert EncodedTable(np.full((2, 1), NAN), (0,)).n_categories(0) == 0


def test_unused_categories_do_not_matter():
    unused = pd.CategoricalDtype([1, 2, "x"])
    table = pd.DataFrame({"a": pd.Categorical([1, 2, None], dtype=unused)})
    schema, encoded = FeatureSchema.of_table(table)
    assert schema.columns == {0: ColumnKind("category", (1, 2))}
    assert_array_equal(encoded.values.ravel(), [0, 1, NAN])
    numbers, encoded = FeatureSchema.of_table(table, categorical_features=None)
    assert numbers.columns == {}
    assert_array_equal(encoded.values.ravel(), [1, 2, NAN])
    assert_array_equal(numbers.table(table).values.ravel(), [1, 2, NAN])
    flags = pd.DataFrame({"a": pd.Categorical([True, None], categories=[True, "x"])})
    assert FeatureSchema.of_table(flags)[0].columns == {0: BOOLEAN}


def test_tensors_are_arrays():
    torch = pytest.importorskip("torch")
    X = torch.arange(6.0).reshape(3, 2)
    assert_array_equal(FeatureSchema.of_table(X)[1].values, X.numpy())
