"""Exports of PUForestClassifier, and of thresholds of all estimators."""

import json
import re

import numpy as np
import onnxruntime
import pytest
import shap
import treelite
from export_cases import KINDS, data, edge_rows, fitted
from hypothesis import given, settings
from hypothesis import strategies as st
from mixed_forests import raw_table
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logit

import puforest.export._onnx_check as onnx_check
from puforest import PUForestClassifier, PURandomForestClassifier, Recipe
from puforest.export import (
    shap_explanation,
    to_dot,
    to_matrix,
    to_onnx,
    to_shap,
    to_text,
    to_treelite,
)

RECIPES = [Recipe(), Recipe("best", "nnpu", min_samples_leaf=10)]
DIFFERENCE = {"float64": 1e-14, "float32": 2**-24}


def pu_forest(seed=0, **params):
    X, labeled = data(seed)
    given = {"prior": 0.4, "n_estimators": 10, "candidates": RECIPES, "random_state": seed}
    return PUForestClassifier(**given | params).fit(X, labeled)


@pytest.fixture(scope="module")
def forest():
    return pu_forest()


def run(model, X):
    made = to_onnx(model, dtype=X.dtype.name)
    session = onnxruntime.InferenceSession(made.SerializeToString())
    return session.run(["label", "probabilities"], {"X": X})


def assert_same_in_onnx(model, X):
    label, probabilities = run(model, X)
    expected = model.predict_proba(X)
    assert abs(probabilities - expected).max() <= DIFFERENCE[X.dtype.name]
    clear = abs(expected[:, 1] - model.threshold_) > 1e-14
    assert clear.mean() > 0.8
    assert_array_equal(label[clear], model.predict(X)[clear])


@settings(max_examples=10)
@given(
    dtype=st.sampled_from(["float32", "float64"]),
    threshold=st.sampled_from(["prior", "f1", ("cost", 5), 0.2]),
    seed=st.integers(0, 10**6),
)
def test_onnx_predicts_the_same(dtype, threshold, seed):
    model = pu_forest(seed, threshold=threshold)
    X = edge_rows(model, np.dtype(dtype), n=300, seed=seed)
    assert_same_in_onnx(model, X)


def test_the_threshold_of_onnx_labels_can_be_changed(forest):
    X = edge_rows(forest, np.dtype(float))
    probability = forest.predict_proba(X)[:, 1]
    for quantile in (0.1, 0.9):
        values = np.unique(probability)
        at = int(quantile * len(values))
        other = pu_forest().set_params(threshold=float(values[at : at + 2].mean()))
        label, _ = run(other, X)
        assert_array_equal(label, probability > other.threshold_)
        props = {prop.key: prop.value for prop in to_onnx(other).metadata_props}
        assert float(props["threshold"]) == other.threshold_
        assert props["voting"] == "ratio"
    assert_same_in_onnx(forest.with_prior(0.1), X)


@pytest.mark.parametrize("voting", ["hard", "soft"])
@pytest.mark.parametrize("kind", KINDS)
def test_thresholds_of_all_estimators(kind, voting):
    model = fitted(kind, voting, threshold=0.2)
    X = edge_rows(model, np.dtype(float))
    label, probabilities = run(model, X)
    assert_allclose(probabilities, model.predict_proba(X), rtol=0, atol=1e-14)
    assert_array_equal(label, model.predict(X))
    if kind in ("extra-trees", "random-forest"):
        assert (label != (probabilities[:, 1] > 0.5)).any()
    attributes = json.loads(to_treelite(model).dump_as_json())["attributes"]
    assert json.loads(attributes)["threshold"] == 0.2


def test_rules_of_other_forests():
    X, labeled = data()
    forest = PURandomForestClassifier(0.4, oob_score=True, threshold=("cost", 4), random_state=0)
    forest.fit(X, labeled)
    assert forest.threshold_ != 0.5
    rows = edge_rows(forest, np.dtype(float))
    assert_array_equal(run(forest, rows)[0], forest.predict(rows))


def test_onnx_models_of_tables_are_checked(monkeypatch):
    X, labeled = raw_table()
    model = PUForestClassifier(0.4, n_estimators=10, random_state=0).fit(X, labeled)
    assert model._forest.n_categories.any()
    matrix = to_matrix(model, X)
    label, probabilities = run(model, matrix)
    assert_allclose(probabilities, model.predict_proba(X), atol=1e-14)
    assert_array_equal(label, model.predict(X))
    by_treelite = treelite.gtil.predict(to_treelite(model), matrix).ravel()
    assert_allclose(by_treelite, probabilities[:, 1], atol=1e-14)
    monkeypatch.setattr(onnx_check, "find_spec", lambda name: None)
    to_onnx(model)


def test_wrong_labels_are_found(monkeypatch):
    X, labeled = raw_table()
    model = PUForestClassifier(0.4, n_estimators=10, random_state=0).fit(X, labeled)
    monkeypatch.setattr(type(model), "predict", lambda self, X: np.full(len(X), 1))
    with pytest.raises(RuntimeError, match="differs from puforest for"):
        to_onnx(model)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_treelite_predicts_probabilities(dtype, forest):
    X = edge_rows(forest, np.dtype(dtype))
    found = treelite.gtil.predict(to_treelite(forest), X).ravel()
    assert abs(found - forest.predict_proba(X)[:, 1]).max() <= 1e-14
    attributes = json.loads(json.loads(to_treelite(forest).dump_as_json())["attributes"])
    assert attributes["threshold"] == forest.threshold_
    assert attributes["estimator"] == "PUForestClassifier"


def test_shap_values_add_up_to_log_odds(forest):
    X, _ = data(3)
    probability = forest.predict_proba(X)[:, 1]
    explainer = shap.TreeExplainer(to_shap(forest))
    total = explainer.shap_values(X).sum(axis=1) + explainer.expected_value
    assert_allclose(total, logit(probability), rtol=0, atol=1e-8)
    explanation = shap_explanation(forest, X)
    total = explanation.values.sum(axis=1) + explanation.base_values
    assert_allclose(total, logit(probability), rtol=0, atol=1e-8)


def test_shap_values_of_probabilities(blobs):
    X, labeled, _ = blobs
    X = X.astype(np.float32).astype(float)  # SHAP stores background data in float32
    model = PUForestClassifier(0.4, n_estimators=10, random_state=0).fit(X, labeled)
    explainer = shap.TreeExplainer(to_shap(model), data=X[:50], model_output="probability")
    total = explainer.shap_values(X[:30]).sum(axis=1) + explainer.expected_value
    assert_allclose(total, model.predict_proba(X[:30])[:, 1], rtol=0, atol=1e-5)


def test_shap_values_of_tables():
    X, labeled = raw_table()
    model = PUForestClassifier(0.4, n_estimators=10, random_state=0).fit(X, labeled)
    explanation = shap_explanation(model, X[:20])
    total = explanation.values.sum(axis=1) + explanation.base_values
    assert_allclose(total, logit(model.predict_proba(X[:20])[:, 1]), rtol=0, atol=1e-8)


def test_text_has_the_values_of_leaves(forest):
    t = forest._forest.n_trees - 1
    tree = forest._forest.tree(t)
    head, *lines = to_text(forest, t, digits=None).splitlines()
    assert head.startswith(f"PUForestClassifier, tree {t} of 0 to {t}  ")
    assert head.endswith("  unlabeled  value")
    # Only leaves have a value after the two numbers of rows.
    leaves = filter(None, (re.search(r" \d+ +\d+  (\S+)$", line) for line in lines))
    found = [float(leaf[1]) for leaf in leaves]
    assert sorted(found) == sorted(tree.values("ratio")[tree.is_leaf].tolist())


def test_dot_has_the_values_of_leaves(forest):
    tree = forest._forest.tree(0)
    found = re.findall(r'label="value: (\S+?)\\n', to_dot(forest, digits=None))
    expected = tree.values("ratio")[tree.is_leaf].tolist()
    assert sorted(map(float, found)) == sorted(expected)
    assert "vote" not in to_dot(forest)
