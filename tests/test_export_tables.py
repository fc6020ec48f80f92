"""Exports of models for tables with categories, booleans, dates and missing values."""

import json
from dataclasses import replace
from itertools import combinations, product
from math import factorial

import numpy as np
import onnx
import onnxruntime
import pandas as pd
import pytest
import shap
import treelite
from export_cases import KINDS, data, fitted, forest_of
from mixed_forests import (
    NAMES,
    SCHEMA,
    goes_left,
    mixed_model,
    mixed_rows,
    raw_table,
    walked,
)
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

from puforest import PUExtraTreesClassifier
from puforest._encoded import EncodedTable
from puforest._kinds import ColumnKind
from puforest.calibration import PUCalibratedClassifier
from puforest.export import (
    _onnx,
    _onnx_check,
    shap_explanation,
    to_matrix,
    to_onnx,
    to_shap,
    to_treelite,
)

VOTINGS = ["hard", "soft"]
DTYPES = [np.float32, np.float64]

# The bounds in docs/exports.md.
SOFT_DIFFERENCE = {np.float64: 1e-14, np.float32: 2**-24}


def predictions(model, X):
    """Return the predictions of puforest, which are those of a naive walk through the trees."""
    found = model.predict_proba(EncodedTable(X, SCHEMA.categorical))[:, 1]
    assert_allclose(found, walked(model, X), rtol=1e-12)
    return found


def with_unknown(X):
    """Return the rows with category numbers that no list has, which are like missing values."""
    other = X.copy()
    other[::3, SCHEMA.categorical] = 600
    missing = X.copy()
    missing[::3, SCHEMA.categorical] = np.nan
    return other, missing


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("voting", VOTINGS)
@pytest.mark.parametrize("kind", KINDS)
def test_treelite(kind, voting, dtype):
    model = mixed_model(kind, voting)
    X = mixed_rows(dtype=dtype)
    made = to_treelite(model)
    assert_array_equal(treelite.gtil.predict(made, X, nthread=1).ravel(), predictions(model, X))
    unknown, missing = with_unknown(X)
    assert_array_equal(
        treelite.gtil.predict(made, unknown, nthread=1).ravel(), predictions(model, missing)
    )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("voting", VOTINGS)
@pytest.mark.parametrize("kind", KINDS)
def test_onnx(kind, voting, dtype):
    model = mixed_model(kind, voting)
    made = to_onnx(model, dtype=np.dtype(dtype).name)
    session = onnxruntime.InferenceSession(made.SerializeToString())
    X = mixed_rows(dtype=dtype)
    unknown, missing = with_unknown(X)
    for rows, like in ((X, X), (unknown, missing)):
        label, probabilities = session.run(None, {"X": rows})
        expected = predictions(model, like)
        clear = abs(expected - 0.5) > 1e-12
        assert_array_equal(label[clear], model.classes_[(expected > 0.5).astype(int)][clear])
        assert_allclose(probabilities[:, 1], expected, rtol=0, atol=SOFT_DIFFERENCE[dtype])


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("voting", VOTINGS)
def test_onnx_nodes_evaluated_with_numpy(voting, dtype, seed):
    model = mixed_model(voting=voting, seed=seed)
    made = to_onnx(model, dtype=dtype)
    X = mixed_rows(50, dtype=np.dtype(dtype))
    total = _onnx_check.evaluated(onnx, made, X)
    assert_allclose(total / model._forest.n_trees, predictions(model, X), rtol=1e-12)


@pytest.mark.parametrize("by", ["onnxruntime", "NumPy"])
def test_onnx_models_are_checked(by, monkeypatch):
    model = mixed_model()
    if by == "NumPy":
        monkeypatch.setattr(_onnx_check, "find_spec", lambda name: None)
    to_onnx(model)
    monkeypatch.setattr(_onnx, "leaf_values", lambda model: 1 - model._forest.values("soft"))
    with pytest.raises(RuntimeError, match=rf"evaluated by {by}.*, differs .* of 64 random rows"):
        to_onnx(model)


def test_onnx_models_without_numbers():
    model = mixed_model("decision-tree")
    split = {"feature": 1, "categories": [0, 2], "left": 1, "w_p": 0.4, "w_u": 1.0}
    leaves = [{"w_p": 0.3, "w_u": 0.5}, {"w_p": 0.1, "w_u": 0.5}]
    model._forest = forest_of([[split, *leaves]], len(NAMES))
    session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString())
    X = mixed_rows(20)
    assert_array_equal(session.run(None, {"X": X})[1][:, 1], predictions(model, X))


def test_large_sets_are_rejected_by_onnx(monkeypatch):
    model = mixed_model()
    n = len(model._forest.categories)
    monkeypatch.setattr(_onnx, "MOST_LISTED", n)
    to_onnx(model)
    monkeypatch.setattr(_onnx, "MOST_LISTED", n - 1)
    with pytest.raises(ValueError, match=rf"list {n:,} categories, and to_onnx writes at most"):
        to_onnx(model)


def test_labels_that_are_not_valid_unicode():
    model = mixed_model()
    columns = {1: ColumnKind("category", ("a", "b", "c\ud800"))}
    schema = replace(SCHEMA, columns=SCHEMA.columns | columns)
    model._record = replace(model._record, schema=schema)
    assert to_treelite(model).num_feature == len(NAMES)
    props = {prop.key: prop.value for prop in to_onnx(model).metadata_props}
    assert json.loads(props["columns"])[0]["categories"][2] == "c\ud800"


def test_metadata():
    expected = {"feature": 1, "kind": "category", "categories": ["almond", "anise", "fishy"]}
    model = mixed_model()
    props = {prop.key: prop.value for prop in to_onnx(model).metadata_props}
    columns = json.loads(props["columns"])
    assert columns[0] == expected
    assert columns[2] == {"feature": 3, "kind": "boolean"}
    assert len(columns) == 7


# SHAP


@pytest.mark.parametrize("voting", VOTINGS)
@pytest.mark.parametrize("kind", KINDS)
def test_shap(kind, voting):
    model = mixed_model(kind, voting, n_trees=3)
    X = mixed_rows(30)
    found = shap_explanation(model, EncodedTable(X, SCHEMA.categorical))
    assert_allclose(found.values.sum(axis=1) + found.base_values, predictions(model, X), atol=1e-12)
    assert found.feature_names == list(NAMES)
    assert_array_equal(found.data, X)
    with pytest.raises(ValueError, match=r"cannot export splits on categor.*shap_explanation"):
        to_shap(model)


def expectation(forest, row, known, node=0):
    """Return the mean prediction of a tree if only some features are known."""
    value = forest.values("soft")
    left = forest.left[node]
    if left < 0:
        return value[node]
    feature = forest.feature[node]
    if feature in known:
        child = left if goes_left(forest, node, row[feature]) else left + 1
        return expectation(forest, row, known, child)
    below = [(forest.w_u[k], expectation(forest, row, known, k)) for k in (left, left + 1)]
    return sum(w * e for w, e in below) / sum(w for w, _ in below)


def test_shap_values_follow_from_their_definition():
    model = mixed_model("decision-tree", depth=3)
    X = mixed_rows(4)
    used = sorted(set(model._forest.feature[~model._forest.is_leaf].tolist()))
    assert len(set(used) & set(SCHEMA.categorical)) > 1
    expected = np.zeros_like(X)
    for (i, row), j in product(enumerate(X), used):
        others = [k for k in used if k != j]
        for size in range(len(used)):
            weight = factorial(size) * factorial(len(others) - size) / factorial(len(used))
            for known in combinations(others, size):
                gain = expectation(model._forest, row, {*known, j})
                expected[i, j] += weight * (gain - expectation(model._forest, row, set(known)))
    found = shap_explanation(model, EncodedTable(X, SCHEMA.categorical))
    assert_allclose(found.values, expected, atol=1e-12)
    assert_allclose(found.base_values, expectation(model._forest, X[0], set()), rtol=1e-9)


def test_shap_values_of_missing_numbers():
    X, labeled = data()
    X = np.where(np.random.default_rng(0).random(X.shape) < 0.2, np.nan, X)
    model = PUExtraTreesClassifier(prior=0.4, n_estimators=5, random_state=0).fit(X, labeled)
    explainer = shap.TreeExplainer(to_shap(model))
    values = explainer.shap_values(X)
    total = values.sum(axis=1) + explainer.expected_value
    assert_allclose(total, model.predict_proba(X)[:, 1], atol=1e-12)
    assert_array_equal(shap_explanation(model, X).values, values)


# Tables


def test_tables_become_matrices():
    X, labeled = raw_table()
    model = PUExtraTreesClassifier(prior=0.5, n_estimators=5, random_state=0).fit(X, labeled)
    odor = ["foul", "almond", "unknown", None]
    new = X[:4].assign(odor=odor, seen=pd.Timestamp("1970-01-03"), flag=[True, False, None, True])
    matrix = to_matrix(model, new)
    assert matrix.dtype == np.float64
    assert_array_equal(matrix[:, 0], new["size"])
    assert_array_equal(matrix[:, 1], [2, 0, np.nan, np.nan])
    assert_array_equal(matrix[:, 2], [1, 0, np.nan, 1])
    assert_array_equal(matrix[:, 3], [2, 2, 2, 2])
    assert to_matrix(model, new, dtype="float32").dtype == np.float32
    with pytest.raises(ValueError, match=r"dtype must be one of .*got 'int8'"):
        to_matrix(model, new, dtype="int8")
    with pytest.raises(ValueError, match="feature names"):
        to_matrix(model, X[["odor", "size", "flag", "seen", "code"]])


def test_sparse_matrices_become_dense():
    X, _ = data()
    model = fitted("extra-trees")
    assert_array_equal(to_matrix(model, csr_array(X)), X)


@pytest.mark.parametrize("voting", VOTINGS)
def test_fitted_models(voting):
    X, labeled = raw_table()
    model = PUExtraTreesClassifier(prior=0.5, voting=voting, n_estimators=10, random_state=0)
    model.fit(X, labeled)
    assert model._forest.n_categories.any()
    new, _ = raw_table(seed=1)
    new.loc[:5, "odor"] = "unknown"
    matrix, expected = to_matrix(model, new), model.predict_proba(new)[:, 1]
    assert_array_equal(treelite.gtil.predict(to_treelite(model), matrix).ravel(), expected)
    session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString())
    assert_allclose(session.run(None, {"X": matrix})[1][:, 1], expected, atol=1e-14)
    found = shap_explanation(model, new)
    assert_allclose(found.values.sum(axis=1) + found.base_values, expected, atol=1e-12)


def test_calibrated_models():
    X, labeled = raw_table()
    forest = PUExtraTreesClassifier(prior=0.5, voting="soft", min_samples_leaf=5, random_state=0)
    model = PUCalibratedClassifier(forest, cv=3).fit(X, labeled)
    session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString())
    found = session.run(None, {"X": to_matrix(model, X)})[1]
    assert_allclose(found, model.predict_proba(X), atol=1e-14)
