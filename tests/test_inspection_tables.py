"""Inspection of models of tables with categories, missing values and dates."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from messy_tables import COLORS, FORMS, LIBRARIES, ONE, messy_table
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder

from puforest import PUExtraTreesClassifier
from puforest._encoded import EncodedTable
from puforest._named_table import NamedTable
from puforest._rows import sliceable
from puforest._table_columns import column_of, take_cells, take_columns, with_column
from puforest.calibration import PUCalibratedClassifier
from puforest.inspection import (
    feature_selection_curve,
    importances,
    partial_dependence,
    permutation_importance,
)

QUICK = {"scoring": "pu_recall", "n_repeats": 2, "random_state": 0}
FOREST = {"scenario": ONE, "n_estimators": 15, "voting": "soft", "random_state": 0}


@pytest.fixture(scope="module")
def fitted():
    table, labeled = messy_table()
    return PUExtraTreesClassifier(0.4, min_samples_leaf=5, **FOREST).fit(table, labeled), table


def by_hand(model, table, name, value):
    changed = table.copy()
    column = pd.Series([value] * len(table), index=table.index)
    changed[name] = column.astype(table[name].dtype)
    return model.predict_proba(changed)[:, 1].mean()


# Partial dependence


def test_categories_by_name_with_missing_values(fitted):
    model, table = fitted
    curve = partial_dependence(model, table, "color")
    assert curve.kinds == ["category"]
    assert curve.grid[0].tolist() == [*COLORS, None]
    for value, mean in zip(curve.grid[0], curve.average, strict=True):
        assert_allclose(by_hand(model, table, "color", value), mean)
    assert repr(curve).startswith("PartialDependence(features: color (3 categories, and missing)")
    present = table[table["color"].notna()]
    assert partial_dependence(model, present, "color").grid[0].tolist() == COLORS


def test_most_frequent_of_many_categories(fitted):
    model, table = fitted
    weight = np.where(table["city"].isin(["city 03", "city 17"]), 5.0, 1.0)
    curve = partial_dependence(model, table, "city", grid_resolution=6, sample_weight=weight)
    mass = pd.Series(weight).groupby(table["city"], observed=True).sum()
    assert set(curve.grid[0]) == set(mass.nlargest(6).index)
    assert list(curve.grid[0]) == sorted(curve.grid[0])
    assert len(partial_dependence(model, table, "city").grid[0]) == 30


def test_missing_numbers_booleans_dates_and_durations(fitted):
    model, table = fitted
    age = partial_dependence(model, table, "age", grid_resolution=4)
    assert np.isnan(age.grid[0]).tolist() == [False] * 4 + [True]
    assert_allclose(age.average[-1], by_hand(model, table, "age", np.nan))
    member = partial_dependence(model, table, "member")
    assert member.grid[0].tolist() == [False, True]
    assert_allclose(member.average[1], by_hand(model, table, "member", True))
    since = partial_dependence(model, table, "since", grid_resolution=5)
    assert since.grid[0].dtype == np.dtype("datetime64[us]")
    assert set(since.grid[0]) <= set(table["since"].to_numpy().astype("datetime64[us]"))
    for value, mean in zip(since.grid[0], since.average, strict=True):
        assert_allclose(by_hand(model, table, "since", pd.Timestamp(value)), mean)
    first = str(since.grid[0][0].astype("datetime64[D]"))
    assert f"since (5 values from {first} to 20" in repr(since)
    wait = partial_dependence(model, table, "wait", grid_resolution=5)
    assert wait.grid[0].dtype == np.dtype("timedelta64[us]")
    assert " days)" in repr(wait)


@pytest.mark.parametrize("library", LIBRARIES)
def test_tables_of_any_library(fitted, library):
    model, table = fitted
    other = FORMS[library](table)
    for feature in ("color", "age", ("city", "since")):
        expected = partial_dependence(model, table, feature, grid_resolution=4, kind="both")
        found = partial_dependence(model, other, feature, grid_resolution=4, kind="both")
        assert_array_equal(found.average, expected.average)
        assert_array_equal(found.individual, expected.individual)


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_pipeline_gets_tables_of_the_same_type(library):
    table, labeled = messy_table()
    table = table[["age", "color", "city", "member", "since"]]
    X = FORMS[library](table)
    seen = []

    def note(X):
        seen.append(type(X))
        return X

    model = make_pipeline(FunctionTransformer(note), PUExtraTreesClassifier(0.4, **FOREST))
    model.fit(X, labeled)
    bare = PUExtraTreesClassifier(0.4, **FOREST).fit(X, labeled)
    for feature in ("age", "color", "member", "since"):
        found = partial_dependence(model, X, feature, y=labeled, grid_resolution=5)
        expected = partial_dependence(bare, X, feature, y=labeled, grid_resolution=5)
        assert_array_equal(found.grid[0], expected.grid[0])
        assert_allclose(found.average, expected.average)
    shuffled = permutation_importance(model, X, labeled, **QUICK)
    expected = permutation_importance(bare, X, labeled, **QUICK)
    assert_allclose(shuffled.values, expected.values)
    assert shuffled.feature_names == list(table.columns)
    assert set(seen) == {type(X)}


def test_a_calibrated_model(fitted):
    model, table = fitted
    labeled = messy_table()[1]
    calibrated = PUCalibratedClassifier(model, cv="prefit").fit(table, labeled)
    curve = partial_dependence(calibrated, table, "color", y=labeled)
    assert_allclose(curve.average[0], by_hand(calibrated, table, "color", "blue"))
    assert importances(calibrated).feature_names == list(table.columns)


def test_sparse_matrices():
    rng = np.random.default_rng(0)
    dense = np.where(rng.random((300, 4)) < 0.3, rng.normal(size=(300, 4)), 0)
    labeled = ((dense[:, 0] + dense[:, 1] > 0.2) & (rng.random(300) < 0.7)).astype(int)
    X = sp.csr_array(dense)
    model = PUExtraTreesClassifier(0.4, **FOREST).fit(X, labeled)
    for feature in (1, (0, 1)):
        found = partial_dependence(model, X, feature, grid_resolution=4)
        same = partial_dependence(model, dense, feature, grid_resolution=4)
        assert_allclose(found.average, same.average)
    shuffled = permutation_importance(model, X, labeled, **QUICK)
    same = permutation_importance(model, dense, labeled, **QUICK)
    assert_allclose(shuffled.values, same.values)


@pytest.mark.parametrize("percentiles", [(0.9, 0.1), (0.5, 0.5), (-0.1, 1), (0.1,), "all"])
def test_invalid_percentiles(fitted, percentiles):
    model, table = fitted
    with pytest.raises(ValueError, match="percentiles must be two numbers"):
        partial_dependence(model, table, 0, percentiles=percentiles)


# Importances


@pytest.mark.parametrize("library", LIBRARIES)
def test_permutation_importance(fitted, library):
    model, table = fitted
    labeled = messy_table()[1]
    found = permutation_importance(model, FORMS[library](table), labeled, **QUICK)
    assert found.feature_names == list(table.columns)
    assert found.sorted(1)[0][0] == "color"

    # A scorer of the user gets the table with the permuted column.
    def blue(model, X, y):
        assert type(X) is type(FORMS[library](table))
        return float(np.mean([color == "blue" for color in np.asarray(column_of(X, 1))]))

    kept = permutation_importance(
        model, FORMS[library](table), labeled, scoring=blue, n_repeats=2, random_state=0
    )
    assert_array_equal(kept.values, 0)


# Selection


@pytest.mark.parametrize("library", LIBRARIES)
def test_selection(library):
    table, labeled = messy_table()
    X = FORMS[library](table)
    model = PUExtraTreesClassifier(0.4, scenario=ONE, n_estimators=5)
    curve = feature_selection_curve(model, X, labeled, steps=[1, 6], cv=2, random_state=0)
    assert curve.feature_names == list(table.columns)
    same = feature_selection_curve(model, table, labeled, steps=[1, 6], cv=2, random_state=0)
    assert_array_equal(curve.scores, same.scores)


def test_selection_adapts_parameters_by_feature():
    table, labeled = messy_table()
    table = table[["age", "color", "city", "member"]]
    seen = []

    def parameters(model, X, y):
        schema = model._record.schema
        seen.append((schema.names, schema.categorical, list(model.monotonic_cst)))
        return 0.0

    model = PUExtraTreesClassifier(0.4, scenario=ONE, n_estimators=2)
    model.set_params(categorical_features=["color", "city"], monotonic_cst={"age": 1, "member": -1})
    options = {"steps": [2, 4], "order_by": [3, 2, 1, 4], "cv": 2, "scoring": parameters}
    feature_selection_curve(model, table, labeled, **options)
    assert seen[:2] == [
        (("age", "member"), (), [1, -1]),
        (("age", "color", "city", "member"), (1, 2), [1, 0, 0, -1]),
    ]
    rows = [[*row, i % 2 == 0] for i, row in enumerate(table[["age", "color"]].to_numpy().tolist())]
    plain = PUExtraTreesClassifier(0.4, scenario=ONE, n_estimators=2)
    assert feature_selection_curve(plain, rows, labeled, steps=[2], cv=2).scores.shape == (1, 2)


def test_selection_refuses_pipelines():
    table, labeled = messy_table()
    model = make_pipeline(
        make_column_transformer((OneHotEncoder(), ["color"])), PUExtraTreesClassifier(0.4)
    )
    with pytest.raises(TypeError, match=r"got Pipeline: instead of a pipeline, pass its last step"):
        feature_selection_curve(model, table, labeled)


# Columns of tables


def test_columns_of_any_table():
    numbers = np.arange(12.0).reshape(4, 3)
    rows = np.array([3, 3, 0, 1])
    tables = [
        numbers,
        sp.csc_array(numbers),
        EncodedTable(numbers),
        EncodedTable(sp.csr_array(numbers)),
        NamedTable(numbers, ["a", "b", "c"]),
        pd.DataFrame(numbers, index=[1, 1, 2, 2]),
    ]
    tables += [FORMS[name](pd.DataFrame(numbers, columns=list("abc"))) for name in LIBRARIES]
    for table in tables:
        changed = with_column(table, 1, take_cells(column_of(table, 1), rows))
        assert_array_equal(column_of(changed, 1), numbers[rows, 1])
        assert_array_equal(column_of(changed, 2), numbers[:, 2])
        assert_array_equal(column_of(table, 1), numbers[:, 1])
        constant = with_column(table, 0, np.full(4, 0.5))
        assert_array_equal(column_of(constant, 0), 0.5)
        if not isinstance(table, EncodedTable):
            kept = take_columns(table, np.array([2, 0]))
            assert_array_equal(column_of(kept, 0), numbers[:, 2])
    halves = with_column(np.ones((2, 2), dtype=int), 0, np.array([0.5, np.nan]))
    assert_array_equal(halves, [[0.5, 1], [np.nan, 1]])
    assert sliceable([[1, 2]]).dtype.kind == "i"
    assert sliceable([[1, "a"]]).tolist() == [[1, "a"]]
    assert sliceable(numbers) is numbers
