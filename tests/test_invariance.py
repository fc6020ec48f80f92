"""Transformations of the input that must not change the result."""

import pickle

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from puforest import (
    PUDecisionTreeClassifier,
    PUExtraTreeClassifier,
    PUExtraTreesClassifier,
    PURandomForestClassifier,
)

MODELS = [
    PUDecisionTreeClassifier(0.4, max_features=2, random_state=0),
    PUExtraTreeClassifier(0.4, random_state=0),
    PUExtraTreesClassifier(0.4, n_estimators=6, random_state=0),
    PURandomForestClassifier(0.4, n_estimators=6, random_state=0),
]
WITHOUT_BOOTSTRAP = [*MODELS[:3], clone(MODELS[3]).set_params(bootstrap=False)]


def assert_same(a, b):
    for name, array in a._forest._arrays().items():
        assert_array_equal(array, b._forest._arrays()[name], err_msg=name)


def by_name(model):
    return type(model).__name__


@pytest.mark.parametrize("model", WITHOUT_BOOTSTRAP, ids=by_name)
@pytest.mark.parametrize("risk", ["nnpu", "upu", "pn"])
def test_row_order(model, risk, blobs):
    X, labeled, _ = blobs
    order = np.random.default_rng(0).permutation(len(X))
    model = clone(model).set_params(risk=risk)
    assert_same(clone(model).fit(X, labeled), clone(model).fit(X[order], labeled[order]))


@pytest.mark.parametrize("loss", ["quadratic", "logistic"])
def test_column_order(loss, blobs):
    """All features are tried, so their order can only matter between equally good splits.

    Random weights see to it that there are none.
    """
    X, labeled, _ = blobs
    weight = np.random.default_rng(0).uniform(0.5, 2, len(X))
    order = np.array([3, 5, 0, 2, 1, 4])
    model = PUDecisionTreeClassifier(risk="pn", loss=loss, min_samples_leaf=25)
    straight = clone(model).fit(X, labeled, weight)
    swapped = clone(model).fit(X[:, order], labeled, weight)
    assert_array_equal(straight.predict(X), swapped.predict(X[:, order]))
    assert_allclose(straight.feature_importances_[order], swapped.feature_importances_)


@pytest.mark.parametrize("model", [MODELS[0], MODELS[3]], ids=by_name)
def test_monotone_rescaling_of_optimal_splits(model, blobs):
    """Splits separate the same rows; thresholds between them may differ."""
    X, labeled, _ = blobs
    X_scaled = X.copy()
    X_scaled[:, 0] = np.exp(X[:, 0])
    X_scaled[:, 1] = 1e6 * X[:, 1] ** 3 - 5
    X_scaled[:, 2] = np.argsort(np.argsort(X[:, 2]))
    a, b = clone(model).fit(X, labeled), clone(model).fit(X_scaled, labeled)
    for name, array in a._forest._arrays().items():
        if name != "threshold":
            assert_array_equal(array, b._forest._arrays()[name])
    assert_array_equal(a.apply(X)[labeled == 1], b.apply(X_scaled)[labeled == 1])


@pytest.mark.parametrize("model", MODELS, ids=by_name)
def test_linear_rescaling_by_powers_of_two(model, blobs):
    X, labeled, _ = blobs
    a, b = clone(model).fit(X, labeled), clone(model).fit(-0.25 * -X, labeled)
    assert_array_equal(a._forest.feature, b._forest.feature)
    assert_array_equal(0.25 * a._forest.threshold, b._forest.threshold)


@pytest.mark.parametrize("model", WITHOUT_BOOTSTRAP, ids=by_name)
@pytest.mark.parametrize("scenario", ["case-control", "single-training-set"])
def test_integer_weights_are_repetitions(model, scenario, blobs):
    X, labeled, _ = blobs
    weight = np.random.default_rng(1).integers(0, 4, len(X))
    model = clone(model).set_params(scenario=scenario)
    weighted = clone(model).fit(X, labeled, weight)
    repeated = clone(model).fit(np.repeat(X, weight, axis=0), np.repeat(labeled, weight))
    for name, array in weighted._forest._arrays().items():
        if not name.startswith("n_"):
            assert_array_equal(array, repeated._forest._arrays()[name])


@pytest.mark.parametrize("model", MODELS, ids=by_name)
def test_equal_weights_have_no_effect(model, blobs):
    X, labeled, _ = blobs
    plain = clone(model).fit(X, labeled)
    assert_same(plain, clone(model).fit(X, labeled, 3.0))
    assert_same(plain, clone(model).fit(X, labeled, np.full(len(X), 0.5)))
    # Weights that differ between the groups only are counted, those within a group summed up:
    # both ways must agree.
    one = np.ones(len(X))
    one[np.flatnonzero(labeled == 0)[0]] += 1e-14
    nearly = clone(model).fit(X, labeled, one)
    assert_array_equal(plain._forest.feature, nearly._forest.feature)
    assert_allclose(plain._forest.w_u, nearly._forest.w_u)


def frames(X):
    names = [f"f{i}" for i in range(X.shape[1])]
    return {
        "pandas": pd.DataFrame(X, columns=names),
        "polars": pl.DataFrame(X, schema=names),
        "list": X.tolist(),
        "fortran": np.asfortranarray(X),
        "float32": X.astype(np.float32),
        "strided": np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3],
        "reversed": X[::-1, ::-1].copy()[::-1, ::-1],
        "big-endian": X.astype(">f8"),
        "object": X.astype(object),
    }


@pytest.mark.parametrize("kind", frames(np.zeros((1, 1))))
@pytest.mark.parametrize("model", MODELS, ids=by_name)
def test_input_types(model, kind, blobs):
    X, labeled, _ = blobs
    X = X.astype(np.float32).astype(np.float64)  # values that every kind can hold
    plain = clone(model).fit(X, labeled)
    other = clone(model).fit(frames(X)[kind], labeled)
    assert_same(plain, other)
    assert_array_equal(plain.decision_function(X), other.decision_function(frames(X)[kind]))
    assert hasattr(other, "feature_names_in_") == (kind in ("pandas", "polars"))


def test_integer_dtypes():
    X = np.random.default_rng(0).integers(0, 200, (80, 4))
    labeled = X[:, 0] > 120
    plain = PUExtraTreesClassifier(0.5, n_estimators=3, random_state=0).fit(X, labeled)
    for dtype in (np.uint8, np.int16, np.int32, np.uint64, np.float32, np.float16):
        assert_same(plain, clone(plain).fit(X.astype(dtype), labeled))


def test_values_that_are_equal_in_float32_stay_distinct():
    x = 1 + np.arange(10) * 1e-12
    labeled = np.arange(10) >= 5
    tree = PUDecisionTreeClassifier(risk="pn").fit(x[:, None], labeled)
    assert_array_equal(tree.predict(x[:, None]), labeled)


@pytest.mark.parametrize("model", MODELS[2:], ids=by_name)
def test_number_of_threads(model, blobs):
    X, labeled, _ = blobs
    one = clone(model).set_params(n_jobs=1, oob_score=True, bootstrap=True, n_estimators=30)
    one.fit(X, labeled)
    for n in (2, 3, 7, -1):
        other = clone(one).set_params(n_jobs=n).fit(X, labeled)
        assert_same(one, other)
        assert_array_equal(one.oob_decision_function_, other.oob_decision_function_)
    many = np.tile(X, (40, 1))
    assert_array_equal(one.decision_function(many), other.decision_function(many))
    assert_array_equal(one.apply(many), other.apply(many))


@pytest.mark.parametrize("model", MODELS, ids=by_name)
def test_save_and_load(model, blobs, tmp_path):
    X, labeled, _ = blobs
    model = clone(model).fit(pd.DataFrame(X, columns=list("abcdef")), labeled)
    X = pd.DataFrame(X, columns=list("abcdef"))
    joblib.dump(model, tmp_path / "model")
    for loaded in (pickle.loads(pickle.dumps(model)), joblib.load(tmp_path / "model")):
        assert_same(model, loaded)
        assert_array_equal(model.decision_function(X), loaded.decision_function(X))
        assert_array_equal(model.feature_importances_, loaded.feature_importances_)
        assert_array_equal(loaded.feature_names_in_, list("abcdef"))
