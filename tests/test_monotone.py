"""Parameter `monotonic_cst`: predictions that increase or decrease in a feature."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from puforest import (
    PUDecisionTreeClassifier,
    PUExtraTreeClassifier,
    PUExtraTreesClassifier,
    PURandomForestClassifier,
)
from puforest._kinds import ColumnKind
from puforest._monotone import monotone_features
from puforest._schema import FeatureSchema

SCHEMA = FeatureSchema(3, ("a", "b", "c"), {2: ColumnKind("category", ("x", "y"))})
TREES = [PUDecisionTreeClassifier, PUExtraTreeClassifier]
FORESTS = [PURandomForestClassifier, PUExtraTreesClassifier]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, ([], [])),
        ([0, 0, 0], ([], [])),
        ([1, -1, 0], ([0], [1])),
        (np.array([-1.0, 1, 0]), ([1], [0])),
        ({"b": 1}, ([1], [])),
        ({"a": -1, "c": 0}, ([], [0])),
        ({}, ([], [])),
    ],
)
def test_ways_to_constrain(value, expected):
    assert monotone_features(value, SCHEMA) == expected


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (1, "must be None, a list"),
        ("increasing", "must be None, a list"),
        (["1", "0", "0"], "must be None, a list"),
        ([[1], [0, 1]], "must be None, a list"),
        ([True, False, False], "must be None, a list"),
        ([1, 0], "one entry for each of the 3 features of X, got 2"),
        ([2, 0, 0], r"must be -1 \(decreasing\), 0 or 1 \(increasing\).*got 2 for X\['a'\]"),
        ([0.5, 0, 0], r"got 0.5 for X\['a'\]"),
        ([np.nan, 0, 0], r"got nan for X\['a'\]"),
        ({"a": "up"}, r"got 'up' for X\['a'\]"),
        ({"a": True}, r"got True for X\['a'\]"),
        ({"d": 1}, "has the key 'd', which is not a column of X"),
        ([0, 0, 1], r"constrains X\['c'\], which is categorical"),
        ({"c": -1}, r"constrains X\['c'\], which is categorical"),
    ],
)
def test_invalid_values(value, message):
    with pytest.raises((TypeError, ValueError), match=f"monotonic_cst.*{message}"):
        monotone_features(value, SCHEMA)


def test_a_dict_requires_names():
    with pytest.raises(ValueError, match="monotonic_cst is a dict by column name, but X has no"):
        monotone_features({"a": 1}, FeatureSchema(3))


def rows(rng, n):
    """Rows with a category, ties and gaps, and labels that depend on them in both directions."""
    X = np.column_stack([rng.normal(size=n), rng.integers(0, 4, n), rng.integers(0, 5, n)])
    X[rng.random(X.shape) < 0.1] = np.nan
    signal = np.nan_to_num(X[:, 0]) * rng.normal() + np.sin(np.nan_to_num(X[:, 1]) * 2)
    return X, (signal + rng.normal(size=n) > 0.3).astype(int)


def assert_monotone(model, X, feature, sign):
    """Check that predictions change in one direction only as a feature grows."""
    for grid in (np.linspace(-3, 3, 13), np.arange(5)):
        asked = np.repeat(X[:20], len(grid), axis=0)
        asked[:, feature] = np.tile(grid, 20)
        scores = model.predict_proba(asked)[:, 1].reshape(20, len(grid))
        assert (sign * np.diff(scores, axis=1) >= 0).all()


@settings(max_examples=25)
@given(
    seed=st.integers(0, 10**6),
    cls=st.sampled_from([*TREES, *FORESTS]),
    voting=st.sampled_from(["soft", "hard"]),
    risk=st.sampled_from(["nnpu", "upu", "pn"]),
    scenario=st.sampled_from(["case-control", "single-training-set"]),
    leaves=st.sampled_from([None, 6]),
    weighted=st.booleans(),
    constraints=st.sampled_from([(1, 0), (-1, 0), (1, -1), (-1, -1)]),
)
def test_posteriors_are_monotone(seed, cls, voting, risk, scenario, leaves, weighted, constraints):
    rng = np.random.default_rng(seed)
    X, y = rows(rng, 80)
    size = {"n_estimators": 4} if cls in FORESTS else {}
    model = cls(
        prior=0.6,
        risk=risk,
        voting=voting,
        scenario=scenario,
        max_leaf_nodes=leaves,
        categorical_features=[2],
        monotonic_cst=[*constraints, 0],
        random_state=seed,
        **size,
    )
    y[:4] = [0, 0, 1, 1]
    y[np.flatnonzero(y)[30:]] = 0  # so that the prior is possible
    model.fit(X, y, sample_weight=rng.random(80) + 0.1 if weighted else None)
    known = rows(rng, 40)[0]
    for feature, sign in enumerate(constraints):
        if sign:
            assert_monotone(model, known, feature, sign)


@pytest.mark.parametrize("cls", FORESTS)
def test_the_parameter_changes_the_result(cls):
    X, y = rows(np.random.default_rng(1), 200)
    free = cls(prior=0.5, n_estimators=5, random_state=0).fit(X, y).predict_proba(X)
    fixed = cls(prior=0.5, n_estimators=5, monotonic_cst=[-1, 1, 0], random_state=0).fit(X, y)
    none = cls(prior=0.5, n_estimators=5, monotonic_cst=[0, 0, 0], random_state=0).fit(X, y)
    assert not np.array_equal(fixed.predict_proba(X), free)
    assert_array_equal(none.predict_proba(X), free)
    frame = pd.DataFrame(X, columns=list("abc"))
    by_name = cls(prior=0.5, n_estimators=5, monotonic_cst={"a": -1, "b": 1}, random_state=0)
    assert_array_equal(by_name.fit(frame, y).predict_proba(frame), fixed.predict_proba(X))
