"""Partial dependence."""

from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from puforest import PUExtraTreesClassifier, PUForestClassifier, PURandomForestClassifier
from puforest._schema import FeatureSchema
from puforest.calibration import PUCalibratedClassifier
from puforest.inspection import (
    partial_dependence,
    permutation_importance,
)

ONE = "single-training-set"


def test_average_over_the_population(forest, blobs):
    X, labeled, _ = blobs
    for scenario in ("case-control", ONE):
        curve = partial_dependence(
            forest, X, 1, y=labeled, scenario=scenario, grid_resolution=5, kind="both"
        )
        rows = X[labeled == 0] if scenario == "case-control" else X
        assert curve.individual.shape == (len(rows), 5)
        assert_allclose(curve.grid[0][[0, -1]], np.quantile(rows[:, 1], [0.05, 0.95]), atol=0.02)
        for value, mean in zip(curve.grid[0], curve.average, strict=True):
            changed = rows.copy()
            changed[:, 1] = value
            assert_allclose(forest.predict_proba(changed)[:, 1].mean(), mean)
    assert curve.features == ["x1"]
    # The scenario of the forest is the default; without labels, all rows count.
    for options in ({"y": labeled}, {}):
        again = partial_dependence(forest, X, 1, grid_resolution=5, **options)
        assert_allclose(again.average, curve.average)
        assert again.individual is None


def test_two_features_and_weights(forest, blobs):
    X, labeled, _ = blobs
    plane = partial_dependence(forest, X, (0, 3), grid_resolution=4, percentiles=(0.2, 0.8))
    assert plane.average.shape == (4, 4)
    assert_allclose(plane.grid[1][[0, -1]], np.quantile(X[:, 3], [0.2, 0.8]), atol=0.02)
    assert np.ptp(plane.average, axis=0).min() > np.ptp(plane.average, axis=1).max()
    weight = np.where(X[:, 1] > 0.5, 1.0, 0.0)
    heavy = partial_dependence(forest, X, 0, y=labeled, sample_weight=weight)
    part = heavy.grid[0]
    changed = X[weight > 0].copy()
    changed[:, 0] = part[7]
    assert_allclose(heavy.average[7], forest.predict_proba(changed)[:, 1].mean())
    lines = partial_dependence(forest, X, 0, kind="individual")
    assert lines.average is None
    assert len(lines.individual) == len(X)


@pytest.mark.filterwarnings("ignore::puforest.metrics.PriorMismatchWarning")
def test_column_names_are_compared_once(blobs, monkeypatch):
    X, labeled, _ = blobs
    table = pd.DataFrame(X, columns=list("abcdef"))
    given = {"scenario": ONE, "n_estimators": 5, "random_state": 0}
    model = PUExtraTreesClassifier(0.4, **given).fit(table, labeled)
    plain = PUExtraTreesClassifier(0.4, **given).fit(X, labeled)
    of_array = partial_dependence(plain, X, 1, y=labeled)
    shuffled = permutation_importance(plain, X, labeled, random_state=0)
    tables = []
    compare = FeatureSchema._compare_columns

    def counted(schema, X, *args):
        tables.append(hasattr(X, "columns"))
        compare(schema, X, *args)

    monkeypatch.setattr(FeatureSchema, "_compare_columns", counted)
    assert_array_equal(partial_dependence(model, table, "b", y=labeled).average, of_array.average)
    assert sum(tables) == 1
    found = permutation_importance(model, table, labeled, random_state=0)
    assert_array_equal(found.values, shuffled.values)
    assert found.feature_names == list("abcdef")
    assert sum(tables) == 2
    with pytest.raises(ValueError, match="feature names should match"):
        partial_dependence(model, table.rename(columns={"a": "z"}), "b")


@pytest.mark.parametrize("kind", ["average", "both"])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_rows(n, kind, forest, blobs):
    X = blobs[0][:n]
    found = partial_dependence(forest, X, 0, kind=kind, sample_weight=np.arange(1.0, n + 1))
    by_hand = []
    for value in found.grid[0]:
        changed = X.copy()
        changed[:, 0] = value
        by_hand.append(forest.predict_proba(changed)[:, 1])
    assert_array_equal(found.grid[0], np.unique(X[:, 0]))
    assert_allclose(
        found.average, np.average(by_hand, axis=1, weights=np.arange(1.0, n + 1)), rtol=1e-12
    )
    if kind == "both":
        assert_array_equal(found.individual, np.transpose(by_hand))


def test_data_frames(blobs):
    X, labeled, _ = blobs
    table = pd.DataFrame(X, columns=list("abcdef"))
    model = PUExtraTreesClassifier(0.4, n_estimators=5, random_state=0).fit(table, labeled)
    plain = PUExtraTreesClassifier(0.4, n_estimators=5, random_state=0).fit(X, labeled)
    curve = partial_dependence(model, table, "b", y=labeled)
    assert curve.features == ["b"]
    assert_allclose(curve.average, partial_dependence(plain, X, 1, y=labeled).average)
    same = partial_dependence(model, pl.from_pandas(table), "b", y=labeled)
    assert_array_equal(same.average, curve.average)


def test_integers(blobs):
    X, labeled, _ = blobs
    counts = np.round(3 * X).astype(int)
    model = PUExtraTreesClassifier(0.4, n_estimators=5, random_state=0).fit(counts, labeled)
    curve = partial_dependence(model, counts, 0)
    assert len(curve.grid[0]) == len(np.unique(counts[:, 0]))


def test_integer_columns_of_a_data_frame(blobs):
    X, labeled, _ = blobs
    counts = pd.DataFrame(np.round(3 * X).astype(int), columns=list("abcdef"))
    model = PUExtraTreesClassifier(0.4, n_estimators=5, random_state=0).fit(counts, labeled)
    plain = PUExtraTreesClassifier(0.4, n_estimators=5, random_state=0).fit(
        counts.to_numpy(), labeled
    )
    for feature in (0, [0, 1]):
        curve = partial_dependence(model, counts, feature, y=labeled, grid_resolution=4)
        same = partial_dependence(plain, counts.to_numpy(), feature, y=labeled, grid_resolution=4)
        assert_allclose(curve.average, same.average)


def test_rows_of_zero_weight_are_ignored(forest, blobs):
    X, labeled, _ = blobs
    weight = (np.arange(600) < 300).astype(float)
    more = partial_dependence(forest, X, 0, y=labeled, sample_weight=weight, kind="both")
    part = partial_dependence(forest, X[:300], 0, y=labeled[:300], kind="both")
    for name in ("grid", "average", "individual"):
        assert_allclose(getattr(more, name), getattr(part, name))


@pytest.mark.parametrize("scenario", ["case-control", ONE])
@pytest.mark.parametrize(
    "wrapped",
    [
        lambda forest: make_pipeline(StandardScaler(), forest),
        lambda forest: PUCalibratedClassifier(forest, cv=2),
        lambda forest: make_pipeline(StandardScaler(), PUCalibratedClassifier(forest, cv=2)),
        lambda forest: GridSearchCV(forest, {"max_depth": [2, 3]}, cv=2),
    ],
)
def test_scenario_of_an_estimator_inside_another(wrapped, scenario, blobs):
    X, labeled, _ = blobs
    forest = PUExtraTreesClassifier(0.4, scenario=scenario, n_estimators=5, random_state=0)
    model = wrapped(forest).fit(X, labeled)
    curve = partial_dependence(model, X, 0, y=labeled, kind="individual")
    population = np.count_nonzero(labeled == 0) if scenario == "case-control" else len(X)
    assert len(curve.individual) == population


def test_model_without_a_scenario(blobs):
    X, labeled, _ = blobs
    model = ExtraTreesClassifier(5, random_state=0).fit(X, labeled)
    with pytest.raises(ValueError, match="scenario=None, and ExtraTreesClassifier has none"):
        partial_dependence(model, X, 0, y=labeled)
    curve = partial_dependence(model, X, 0, y=labeled, scenario=ONE, kind="individual")
    assert len(curve.individual) == len(X)


def test_repr(forest, blobs):
    X, _, _ = blobs
    found = partial_dependence(forest, X, 1, grid_resolution=5)
    low, high, least, most = *found.grid[0][[0, -1]], found.average.min(), found.average.max()
    assert repr(found) == (
        f"PartialDependence(features: x1 (5 values from {low:.4g} to {high:.4g}), "
        f"average probability: {least:.3f} to {most:.3f})"
    )
    both = partial_dependence(forest, X, (0, 2), grid_resolution=3, kind="both")
    assert "features: x0 (3 values from" in repr(both)
    assert " and x2 (3 values from" in repr(both)
    assert repr(both).endswith("individual rows: 600)")
    assert "average" not in repr(partial_dependence(forest, X, 0, kind="individual"))


def test_invalid_parameters(forest, blobs):
    X, labeled, _ = blobs
    with pytest.raises(ValueError, match="features has 6, which is neither"):
        partial_dependence(forest, X, 6)
    with pytest.raises(ValueError, match="features must be one feature or two, got 3"):
        partial_dependence(forest, X, (0, 1, 2))
    with pytest.raises(ValueError, match="features has 'age', which is neither"):
        partial_dependence(forest, X, "age")
    with pytest.raises(ValueError, match="requires y"):
        partial_dependence(forest, X, 0, scenario=ONE)
    with pytest.raises(ValueError, match="kind must be one of"):
        partial_dependence(forest, X, 0, kind="mean")
    with pytest.raises(ValueError, match=r"y must have the shape \(600,\), got \(500,\)"):
        partial_dependence(forest, X, 0, y=labeled[:500])


def naive_dependence(model, table, names, points):
    """Predict all rows once for each point, with its values in the named columns."""
    lines = []
    for point in points:
        changed = table.copy()
        for name, value in zip(names, point, strict=True):
            changed[name] = pd.Series([value] * len(table), dtype=table[name].dtype)
        lines.append(model.predict_proba(changed)[:, 1])
    return np.stack(lines, axis=1)


@pytest.mark.parametrize("kind", ["hard", "soft", "PUForestClassifier", "sigmoid", "isotonic"])
def test_single_walk_equals_one_prediction_per_point(kind):
    """Numbers, categories and missing values, with all kinds of leaf values and calibration."""
    rng = np.random.default_rng(0)
    y = rng.random(700) < 0.4
    table = pd.DataFrame(rng.normal(size=(700, 3)) + y[:, None], columns=["a", "b", "c"])
    table.loc[rng.random(700) < 0.2, "a"] = np.nan
    word = np.where(y, rng.integers(6, size=700), rng.integers(9, size=700))
    table["word"] = pd.Categorical.from_codes(np.where(word < 8, word, -1), list("stuvwxyz"))
    labeled = y & (rng.random(700) < 0.5)
    if kind == "PUForestClassifier":
        model = PUForestClassifier(0.3, n_estimators=20, random_state=0)
    else:
        voting = kind if kind in ("hard", "soft") else "soft"
        model = PURandomForestClassifier(
            0.3, n_estimators=20, voting=voting, min_samples_leaf=3, oob_score=True, random_state=0
        )
        if kind in ("sigmoid", "isotonic"):
            model = PUCalibratedClassifier(model, method=kind, cv="oob")
    model.fit(table, labeled)
    for names in (["a"], ["word"], ["word", "a"], ["b", "c"]):
        found = partial_dependence(model, table, names, grid_resolution=9, kind="both")
        expected = naive_dependence(model, table, names, product(*found.grid))
        assert_array_equal(found.individual.reshape(expected.shape), expected)
        assert_allclose(found.average.ravel(), expected.mean(axis=0))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sparse_rows_in_blocks(dtype, monkeypatch):
    rng = np.random.default_rng(1)
    X = sp.random_array((90, 6), density=0.4, rng=rng, dtype=dtype, format="csr")
    model = PUExtraTreesClassifier(0.4, n_estimators=15, random_state=0)
    model.fit(X, X[:, [0]].toarray()[:, 0] > 0.3)
    monkeypatch.setattr("puforest.inspection._table.MAX_CELLS", 1000)
    found = partial_dependence(model, X, 0, grid_resolution=80, kind="both")
    for k, value in enumerate(found.grid[0]):
        changed = X.toarray()
        changed[:, 0] = value
        expected = model.predict_proba(changed)[:, 1]
        assert_array_equal(found.individual[:, k], expected)
        assert_allclose(found.average[k], expected.mean())
