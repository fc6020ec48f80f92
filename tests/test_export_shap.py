"""SHAP values add up to the predictions and use the masses as weights."""

from itertools import combinations
from math import factorial

import numpy as np
import pytest
import shap
from export_cases import KINDS, chain, constants, data, edge_rows, fitted
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from puforest import PUExtraTreesClassifier
from puforest.export import to_shap

# The bound in docs/exports.md.
ADDITIVITY = 1e-12


def assert_adds_up(model, X, atol=ADDITIVITY, **background):
    explainer = shap.TreeExplainer(to_shap(model), **background)
    values = explainer.shap_values(X)
    assert values.shape == X.shape
    total = values.sum(axis=1) + explainer.expected_value
    assert_allclose(total, model.predict_proba(X)[:, 1], rtol=0, atol=atol)
    return explainer, values


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("voting", ["hard", "soft"])
@pytest.mark.parametrize("kind", KINDS)
def test_adds_up_at_and_near_thresholds(kind, voting, dtype):
    model = fitted(kind, voting)
    X = edge_rows(model, np.dtype(dtype), n=200)
    _, values = assert_adds_up(model, X)
    assert abs(values).max() > 0.01


@settings(max_examples=15)
@given(
    kind=st.sampled_from(sorted(KINDS)),
    voting=st.sampled_from(["hard", "soft"]),
    scenario=st.sampled_from(["case-control", "single-training-set"]),
    seed=st.integers(0, 10**6),
)
def test_adds_up_for_any_forest(kind, voting, scenario, seed):
    model = fitted(kind, voting, seed=seed, scenario=scenario, min_samples_leaf=1)
    assert_adds_up(model, edge_rows(model, np.dtype(float), n=50, seed=seed))


@pytest.mark.parametrize("make", [constants, lambda voting: chain(1500, voting)])
def test_extreme_shapes(make):
    assert_adds_up(make("soft"), np.arange(-1.5, 1600, 40)[:, None])


def test_trees_too_deep_for_shap_are_rejected():
    with pytest.raises(ValueError, match=r"a tree of depth 10,001, .* max_depth=10_000 or less"):
        to_shap(chain(10_001))


def test_adds_up_with_background_data(blobs):
    # With background data, SHAP stores thresholds and leaf values in float32.
    X, labeled, _ = blobs
    model = PUExtraTreesClassifier(prior=0.4, voting="soft", n_estimators=10, random_state=0)
    model.fit(X, labeled)
    explainer, _ = assert_adds_up(model, X[:50], atol=1e-6, data=X[100:200])
    assert_allclose(explainer.expected_value, model.predict_proba(X[100:200])[:, 1].mean())


def test_long_paths_over_many_features():
    # The rounding error of SHAP grows with the number of features on a path.
    rng = np.random.default_rng(0)
    X, labeled = rng.normal(size=(1000, 60)), np.arange(1000) % 4 == 0
    model = PUExtraTreesClassifier(prior=0.5, n_estimators=5, max_features=1, random_state=0)
    model.fit(X, labeled)
    assert model.get_depth() > 25
    assert_adds_up(model, rng.normal(size=(20, 60)), atol=1e-6)


@pytest.mark.parametrize("scenario", ["case-control", "single-training-set"])
def test_weights_are_fractions_of_the_population(scenario):
    """Compare with the Shapley formula over all feature subsets, with masses as weights."""
    model = fitted("decision-tree", "soft", scenario=scenario, min_samples_leaf=15)
    tree = model._forest
    assert tree.w_u.min() > 0
    value = np.minimum(tree.w_p / tree.w_u, 1)

    def expectation(x, known, node=0):
        if tree.feature[node] < 0:
            return value[node]
        left = tree.left[node]
        if tree.feature[node] in known:
            goes_right = x[tree.feature[node]] > tree.threshold[node]
            return expectation(x, known, left + goes_right)
        below = [(tree.w_u[child], expectation(x, known, child)) for child in (left, left + 1)]
        return sum(w * e for w, e in below) / sum(w for w, _ in below)

    X = data()[0][:5]
    d = X.shape[1]
    expected = np.zeros_like(X)
    for i, j in np.ndindex(X.shape):
        others = [k for k in range(d) if k != j]
        for size in range(d):
            weight = factorial(size) * factorial(d - size - 1) / factorial(d)
            for known in combinations(others, size):
                gain = expectation(X[i], {*known, j}) - expectation(X[i], set(known))
                expected[i, j] += weight * gain
    explainer, values = assert_adds_up(model, X)
    assert_allclose(values, expected, atol=1e-12)
    population_mean = np.sum((tree.w_u * value)[tree.is_leaf]) / tree.w_u[0]
    assert_allclose(explainer.expected_value, population_mean, rtol=1e-9)


def test_leaves_without_population():
    model = fitted("extra-trees", min_samples_leaf=1)
    empty = model._forest.is_leaf & (model._forest.w_u == 0)
    assert empty.any()  # labeled rows of case-control data are not part of the population
    assert_adds_up(model, data()[0])


def test_the_model_is_not_modified():
    model = fitted("random-forest")
    before = model._forest.w_u.copy()
    shap.TreeExplainer(to_shap(model), data=data()[0][:50])
    assert_array_equal(model._forest.w_u, before)
