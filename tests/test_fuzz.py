"""Arbitrary input gives valid trees and predictions, or a clear error."""

import inspect
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal

from puforest import (
    PUDecisionTreeClassifier,
    PUExtraTreeClassifier,
    PUExtraTreesClassifier,
    PURandomForestClassifier,
    _core,
)
from puforest.risk import LOSSES, RISKS
from puforest.scenario import SCENARIOS

FORESTS = [PURandomForestClassifier, PUExtraTreesClassifier]
ESTIMATORS = [PUDecisionTreeClassifier, PUExtraTreeClassifier, *FORESTS]


def fuzz(max_examples):
    return settings(max_examples=max_examples)


# Anything that is allowed

FINITE = st.floats(allow_nan=False, allow_infinity=False)
SHARES = st.floats(0, 1, exclude_min=True)
LEGAL = {
    "scenario": st.sampled_from(SCENARIOS),
    "risk": st.sampled_from(RISKS),
    "loss": st.sampled_from(sorted(LOSSES)),
    "voting": st.sampled_from(["hard", "soft"]),
    "max_features": st.none() | st.sampled_from(["sqrt", "log2"]) | st.just(1) | SHARES,
    "n_thresholds": st.integers(1, 5),
    "max_depth": st.none() | st.integers(1, 10**30),
    "min_samples_split": st.integers(2, 10**30) | st.integers(2, 4) | SHARES,
    "min_samples_leaf": st.integers(1, 10**30) | st.integers(1, 3) | SHARES,
    "min_risk_reduction": st.none() | st.floats(allow_nan=False) | st.floats(-0.01, 0.01),
    "max_leaf_nodes": st.none() | st.integers(2, 10**30) | st.integers(2, 6),
    "n_estimators": st.integers(1, 4),
    "bootstrap": st.booleans(),
    "max_labeled": st.none() | st.just(1) | SHARES,
    "max_unlabeled": st.none() | st.just(1) | SHARES,
    "warm_start": st.booleans(),
    "n_jobs": st.none() | st.integers(1, 3) | st.integers(-3, -1),
    "random_state": st.none() | st.integers(0, 2**32 - 1),
}
CELLS = [
    FINITE,
    st.floats(width=32, allow_nan=False, allow_infinity=False),
    st.integers(-(2**63), 2**63 - 1),
    st.integers(0, 3),
    st.sampled_from([0.0, -0.0, 5e-324, -5e-324, 1.7e308, -1.7e308, 1.0, np.nextafter(1, 2)]),
]


@st.composite
def problems(draw):
    """An estimator with valid parameters, X, y and other arguments of ``fit``."""
    n, d = draw(st.integers(2, 30)), draw(st.integers(1, 4))
    dtype = draw(st.sampled_from([np.float64, np.float32]))
    with np.errstate(over="ignore"):
        X = np.array(
            draw(hnp.arrays(object, (n, d), elements=draw(st.sampled_from(CELLS)))), dtype=dtype
        )
    X = np.nan_to_num(X)
    y = draw(hnp.arrays(bool, n))
    labeled, unlabeled = draw(st.permutations(range(n)))[:2]
    y[labeled], y[unlabeled] = True, False
    rows = {}
    if draw(st.booleans()):
        top = draw(st.sampled_from([3, 1e-300, np.finfo(float).max]))
        weights = st.floats(1e-6 * top, top)
        w = draw(hnp.arrays(float, n, elements=weights | st.just(0.0)))
        w[[labeled, unlabeled]] = draw(weights)
        rows["sample_weight"] = w
    cls = draw(st.sampled_from(ESTIMATORS))
    names = inspect.signature(cls).parameters
    params = draw(
        st.fixed_dictionaries({}, optional={k: s for k, s in LEGAL.items() if k in names})
    )
    if "n_estimators" in names:
        params.setdefault("n_estimators", 3)
    if params.get("risk") != "pn" and draw(st.booleans()):
        rows["propensity"] = draw(hnp.arrays(float, n, elements=st.floats(1e-6, 1)))
    prior = draw(st.floats(1e-6, 1 - 1e-6))
    if params.get("scenario") == "single-training-set":
        w = np.ldexp(rows.get("sample_weight", np.ones(n)), -6)
        prior = min(max(prior, w[y].sum() / w.sum() * (1 + 1e-9)), np.nextafter(1, 0))
    return cls(prior, **params), X, y, rows


def assert_sound(model, X, y, rows):
    forest, params = model._forest, model.get_params()
    assert np.isfinite(forest.w_p).all()
    assert np.isfinite(forest.w_u).all()
    assert np.isfinite(forest.threshold).all()
    assert (forest.w_p >= 0).all()
    assert (forest.w_u >= 0).all()
    for t in range(forest.n_trees):
        tree = forest.tree(t)
        inner = np.flatnonzero(tree.feature >= 0)
        left = tree.left[inner]
        assert (tree.feature < X.shape[1]).all()
        assert (left > inner).all()
        assert_array_equal(np.sort([0, *left, *(left + 1)]), np.arange(len(tree.feature)))
        for counts in (tree.n_labeled, tree.n_unlabeled):
            assert_array_equal(counts[inner], counts[left] + counts[left + 1])
            assert counts[0] > 0
        for masses in (tree.w_p, tree.w_u):
            assert_allclose(masses[inner], masses[left] + masses[left + 1], rtol=1e-9)
        assert (tree.n_labeled + tree.n_unlabeled > 0).all()
        assert len(inner) < (params["max_leaf_nodes"] or np.inf)
        assert tree.depth() <= (params["max_depth"] or np.inf)
    leaves = model.apply(X).reshape(len(X), -1)
    assert forest.is_leaf[leaves + forest.offset[:-1]].all()
    keys = ("bootstrap", "max_labeled", "max_unlabeled")
    if not any(params.get(key) for key in keys):
        seen = rows.get("sample_weight", np.ones(len(y))) > 0
        for t in range(forest.n_trees):
            tree = forest.tree(t)
            for group, counts in ((y, tree.n_labeled), (~y, tree.n_unlabeled)):
                here = np.bincount(leaves[group & seen, t], minlength=len(counts))
                assert_array_equal(here[tree.is_leaf], counts[tree.is_leaf])


def assert_sound_answers(model, X):
    n, d = X.shape
    share = model.predict_proba(X)
    assert share.shape == (n, 2)
    assert ((share >= 0) & (share <= 1)).all()
    assert_allclose(share.sum(axis=1), 1)
    assert_allclose(model.decision_function(X), 2 * share[:, 1] - 1, atol=1e-15)
    assert_array_equal(model.predict(X), model.classes_[(share[:, 1] > 0.5).astype(int)])
    for importances in (model.feature_importances_, model.normalized_feature_importances_):
        assert importances.shape == (d,)
        assert np.isfinite(importances).all()
    assert (model.infinite_reductions_ >= 0).all()
    path = model.decision_path(X)
    path = path[0] if isinstance(path, tuple) else path
    assert path.sum(axis=1).max() <= (model.get_depth() + 1) * model._forest.n_trees
    assert model.get_n_leaves() == np.count_nonzero(model._forest.is_leaf)


@given(problem=problems())
@fuzz(150)
@pytest.mark.filterwarnings("ignore:invalid value encountered in reduce")
@pytest.mark.filterwarnings("ignore:y marks .* rows as labeled")
def test_valid_fits_give_valid_trees_and_predictions(problem):
    model, X, y, rows = problem
    model.fit(X, y, **rows)
    assert_sound(model, X, y, rows)
    assert_sound_answers(model, X)
    assert_sound_answers(model.with_prior(np.nextafter(1, 0)), X)


@given(problem=problems(), data=st.data())
@fuzz(60)
@pytest.mark.filterwarnings("ignore:invalid value encountered in reduce")
@pytest.mark.filterwarnings("ignore:y marks .* rows as labeled")
def test_predictions_of_other_rows_are_valid(problem, data):
    model, X, y, rows = problem
    model.fit(X, y, **rows)
    elements = data.draw(st.sampled_from(CELLS[:2]))
    other = data.draw(
        hnp.arrays(float, st.tuples(st.integers(1, 9), st.just(X.shape[1])), elements=elements)
    )
    assert_sound_answers(model, other)


# Anything at all

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(-(10**400), 10**400)
    | st.floats()
    | st.complex_numbers()
    | st.fractions()
    | st.decimals(allow_nan=False)
    | st.text(max_size=3)
    | st.binary(max_size=3)
    | st.sampled_from([*RISKS, *LOSSES, *SCENARIOS, "hard", "soft", "sqrt", "log2", object(), len])
)
ARRAYS = hnp.arrays(
    hnp.scalar_dtypes() | hnp.byte_string_dtypes() | hnp.unicode_string_dtypes() | st.just("O"),
    hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=6),
)
NESTED = st.recursive(
    SCALARS,
    lambda s: st.lists(s, max_size=6) | st.dictionaries(st.text(max_size=2), s, max_size=3),
    max_leaves=20,
)
MATRICES = hnp.arrays(float, (6, 2), elements=st.floats())
GARBAGE = (
    SCALARS
    | ARRAYS
    | NESTED
    | MATRICES
    | MATRICES.map(sp.csr_array)
    | MATRICES.map(pd.DataFrame)
    | st.lists(SCALARS, min_size=6, max_size=6)
    | st.lists(SCALARS, min_size=6, max_size=6).map(pd.Series)
)
GOOD_X = np.array([[0, 1], [1, 0], [2, 2], [3, 1], [4, 5], [5, 3]], dtype=float)
GOOD_Y = np.array([0, 1, 0, 1, 0, 1])


def attempt(call):
    """Result of a call, or None if it raises a ValueError or TypeError."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return call()
        except (ValueError, TypeError):
            return None


@given(cls=st.sampled_from(ESTIMATORS), data=st.data())
@fuzz(150)
def test_random_parameters_work_or_raise(cls, data):
    # Large counts are legal, but take as long as they take.
    names = sorted(
        inspect.signature(cls).parameters.keys() - {"n_estimators", "n_thresholds", "verbose"}
    )
    params = data.draw(st.dictionaries(st.sampled_from(names), GARBAGE, min_size=1, max_size=2))
    small = {"n_estimators": 3} if cls in FORESTS else {}
    model = cls(**{"prior": 0.5, **small, **params})
    if attempt(lambda: model.fit(GOOD_X, GOOD_Y)) is not None:
        assert_sound_answers(model, GOOD_X)


@given(cls=st.sampled_from(ESTIMATORS), data=st.data())
@fuzz(150)
def test_random_data_works_or_raises(cls, data):
    good = {"X": GOOD_X, "y": GOOD_Y, "sample_weight": None, "propensity": None}
    spoilt = data.draw(st.sets(st.sampled_from(sorted(good)), min_size=1, max_size=2))
    given = good | {name: data.draw(GARBAGE) for name in sorted(spoilt)}
    model = cls(
        0.5,
        scenario=data.draw(st.sampled_from(SCENARIOS)),
        **({"n_estimators": 3} if cls in FORESTS else {}),
    )
    if attempt(lambda: model.fit(**given)) is not None:
        assert np.isfinite(model._forest.w_p).all()
        assert np.isfinite(model._forest.w_u).all()
        assert attempt(lambda: model.predict_proba(given["X"])) is not None


@given(cls=st.sampled_from(ESTIMATORS), X=GARBAGE)
@fuzz(100)
def test_random_data_to_predict_works_or_raises(cls, X):
    model = cls(0.5).fit(GOOD_X, GOOD_Y)
    for method in ("predict_proba", "apply", "decision_path"):
        attempt(lambda method=method: getattr(model, method)(X))


# Models whose arrays were tampered with


CORRUPTED = ("offset", "categories", "feature", "threshold", "missing_left", "n_categories", "left")


@given(data=st.data())
@fuzz(200)
def test_corrupted_models_predict_or_raise(data):
    model = PUExtraTreesClassifier(0.5, n_estimators=3, categorical_features=[1], random_state=0)
    forest = model.fit(GOOD_X, GOOD_Y)._forest
    arrays = {name: array.copy() for name, array in forest._arrays().items()}
    arrays["value"] = forest.w_p.copy()
    n_features = data.draw(st.just(2) | st.integers(-1, 9))
    for _ in range(data.draw(st.integers(1, 3))):
        name = data.draw(st.sampled_from([*CORRUPTED, "value"]))
        array = arrays[name]
        how = data.draw(st.sampled_from(["cell", "cell", "cut", "repeat", "shuffle"]))
        if how == "cell" and array.size:
            i = data.draw(st.integers(0, array.size - 1))
            array[i] = data.draw(
                hnp.from_dtype(array.dtype, allow_nan=False, allow_infinity=False)
                | st.integers(0 if array.dtype.kind == "u" else -2, 9)
            )
        elif how == "cut":
            arrays[name] = array[: data.draw(st.integers(0, array.size))]
        elif how == "repeat":
            arrays[name] = np.tile(array, 2)
        elif how == "shuffle":
            arrays[name] = array[data.draw(st.permutations(range(array.size)))]
    n_threads = data.draw(st.integers(0, 3))
    pack, dtype = data.draw(
        st.sampled_from([(_core.Predictor32, np.float32), (_core.Predictor64, np.float64)])
    )
    with np.errstate(over="ignore"):
        predictor = attempt(
            lambda: pack(
                arrays["offset"],
                arrays["categories"],
                _core.NodeArrays(arrays),
                arrays["value"],
                n_features,
            )
        )
    if predictor is None:
        return
    X = np.tile(GOOD_X, (1, 1 + n_features // 2))[:, :n_features].astype(dtype)
    assert np.isfinite(predictor.mean(X, n_threads)).all() or np.abs(arrays["value"]).max() > 1e300
    leaves = predictor.leaves(X, n_threads) + arrays["offset"][:-1]
    assert (arrays["feature"][leaves] == -1).all()
