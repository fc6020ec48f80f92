"""Exports of models for tables with categories, booleans, dates and missing values."""

import json

import numpy as np
import onnx
import onnxruntime
import pytest
import treelite
from export_cases import KINDS
from mixed_forests import NAMES, SCHEMA, mixed_model, mixed_rows, walked
from numpy.testing import assert_allclose, assert_array_equal

from puforest._encoded import EncodedTable
from puforest.export import (
    _onnx,
    _onnx_check,
    shap_explanation,
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


def test_large_sets_are_rejected_by_onnx(monkeypatch):
    model = mixed_model()
    n = len(model._forest.categories)
    monkeypatch.setattr(_onnx, "MOST_LISTED", n)
    to_onnx(model)
    monkeypatch.setattr(_onnx, "MOST_LISTED", n - 1)
    with pytest.raises(ValueError, match=rf"list {n:,} categories, and to_onnx writes at most"):
        to_onnx(model)


def test_metadata():
    expected = {"feature": 1, "kind": "category", "categories": ["almond", "anise", "fishy"]}
    model = mixed_model()
    props = {prop.key: prop.value for prop in to_onnx(model).metadata_props}
    columns = json.loads(props["columns"])
    assert columns[0] == expected
    assert columns[2] == {"feature": 3, "kind": "boolean"}
    assert len(columns) == 7


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
