"""Parameter `categorical_features`."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

from puforest import PUDecisionTreeClassifier, PUExtraTreesClassifier
from puforest._categorical import requested_columns
from puforest._kinds import ColumnKind
from puforest._schema import FeatureSchema

NAMES = ("a", "b", "c")
FRAME = pd.DataFrame({"a": [1, 2, 1, 3], "b": [0.5, 1.0, None, 0.5], "c": list("xyyx")})
Y = [1, 0, 1, 0]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("from_dtype", None),
        (None, set()),
        ([], set()),
        ([0, 2], {0, 2}),
        (np.array([2], dtype=np.uint8), {2}),
        ([True, False, True], {0, 2}),
        (["c", "a"], {0, 2}),
        (pd.Index(["b"]), {1}),
        (("a",), {0}),
    ],
)
def test_ways_to_name_columns(value, expected):
    assert requested_columns(value, NAMES, 3) == expected


@pytest.mark.parametrize(
    ("value", "names", "message"),
    [
        ("a", NAMES, "must be 'from_dtype', None, or a list of columns, got 'a'"),
        (0, NAMES, "must be a list of names or indices of columns, or a mask, got 0"),
        ({"a": 1}, NAMES, "must be a list of names or indices"),
        ([0.5], NAMES, "must be a list of names or indices"),
        ([[0, 1]], NAMES, "must be a list of names or indices"),
        ([[0], [1, 2]], NAMES, "must be a list of names or indices"),
        (["a", 1], ("a", "1", "c"), "must be a list of names or indices"),
        ([None], NAMES, "must be a list of names or indices"),
        ([True, False], NAMES, "one entry for each of the 3 features of X, got 2"),
        ([3], NAMES, "has the index 3, but X has the columns 0 to 2"),
        ([-1], NAMES, "has the index -1"),
        (["d"], NAMES, "has the name 'd', which is not a column of X"),
        (["a"], None, "has the name 'a', but X has no column names: pass indices"),
    ],
)
def test_invalid_values(value, names, message):
    with pytest.raises((TypeError, ValueError), match=f"categorical_features.*{message}"):
        requested_columns(value, names, 3)


def kinds(value, table=FRAME):
    return FeatureSchema.of_table(table, categorical_features=value)[0].columns


def test_numbers_as_categories():
    text = {2: ColumnKind("category", ("x", "y"))}
    assert kinds("from_dtype") == text
    assert kinds(["a", "c"]) == {0: ColumnKind("category", (1, 2, 3))} | text
    assert kinds([False, True, True]) == {1: ColumnKind("category", (0.5, 1))} | text
    floats = FRAME[["a", "b"]].to_numpy()
    assert kinds([0], floats) == {0: ColumnKind("category", (1, 2, 3))}
    assert kinds([0], floats.astype(np.float32)) == kinds([0], floats.astype(object))


def test_splits_are_on_sets_of_categories():
    X = np.repeat([[0.0], [1.0], [2.0]], 20, axis=0)
    y = np.repeat([1, 0, 1], 20)
    ordered = PUDecisionTreeClassifier(risk="pn").fit(X, y)
    sets = PUDecisionTreeClassifier(risk="pn", categorical_features=[0]).fit(X, y)
    assert ordered.get_n_leaves() == 3
    assert sets.get_n_leaves() == 2
    assert_array_equal(sets.predict(X), y)
    assert_array_equal(sets.predict([[2.0], [1.0]]), [1, 0])


@pytest.mark.parametrize("value", [None, [0], ["a"]])
def test_text_that_is_not_requested_is_refused(value):
    message = r"X\['c'\] has text or categories, such as 'x', but categorical_features does not"
    with pytest.raises(ValueError, match=message):
        PUDecisionTreeClassifier(prior=0.5, categorical_features=value).fit(FRAME, Y)


def test_categories_that_are_not_requested_are_numbers():
    table = FRAME.drop(columns="c").astype({"a": "category"})
    schema, encoded = FeatureSchema.of_table(table, categorical_features=None)
    assert schema.columns == {}
    assert_array_equal(encoded.values[:, 0], FRAME["a"])
    assert_array_equal(schema.table(table).values, encoded.values)


def test_dates_and_sparse_matrices_have_no_categories():
    dates = pd.DataFrame({"day": pd.to_datetime(["2020-01-01", "2020-01-02"])})
    with pytest.raises(ValueError, match=r"categorical_features: X\['day'\] has dates"):
        FeatureSchema.of_table(dates, categorical_features=["day"])
    sparse = sp.csr_array(np.eye(3))
    with pytest.raises(ValueError, match="categorical_features cannot be used with sparse X"):
        FeatureSchema.of_table(sparse, categorical_features=[0])
    assert FeatureSchema.of_table(sparse, categorical_features=[])[0] == FeatureSchema(3)


def test_many_categories_do_not_cost_time():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"id": rng.integers(0, 60_000, 3000).astype(str), "x": rng.normal(size=3000)})
    X["id"] = X["id"].astype("category")
    y = (X["x"] > 0.5).astype(int)
    with pytest.warns(UserWarning, match=r"X\['id'\].*own category"):
        forest = PUExtraTreesClassifier(prior=0.5, n_estimators=3, random_state=0).fit(X, y)
    assert forest.predict_proba(X.iloc[:1]).shape == (1, 2)
