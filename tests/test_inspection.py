"""Feature importances and selection."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.exceptions import NotFittedError
from sklearn.metrics import accuracy_score

from puforest import (
    PUDecisionTreeClassifier,
    PUExtraTreesClassifier,
    PURandomForestClassifier,
)
from puforest.inspection import (
    FeatureImportances,
    feature_selection_curve,
    importances,
    permutation_importance,
)
from puforest.model_selection import PUShuffleSplit
from puforest.prior import PriorEstimatedWarning

ONE = "single-training-set"


@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("risk", ["nnpu", "upu"])
def test_importances_match_those_of_the_trees(blobs, normalized, risk):
    X, labeled, _ = blobs
    model = PUExtraTreesClassifier(
        0.4, risk=risk, loss="logistic", n_estimators=7, random_state=0
    ).fit(X, labeled)
    found = importances(model, normalized=normalized)
    name = "normalized_feature_importances_" if normalized else "feature_importances_"
    assert_allclose(found.values, [getattr(tree, name) for tree in model.estimators_])
    assert_allclose(found.mean, getattr(model, name))
    assert_allclose(found.std, found.values.std(axis=0))
    top = importances(model, normalized=normalized, top=2)
    assert_allclose(top.values, found.values[:, found.order[:2]])
    assert top.sorted() == found.sorted(2)
    assert found.kind == ("normalized " if normalized else "") + "risk reduction by tree"


def test_sorted_importances(forest):
    found = importances(forest)
    assert set(found.order[:3]) == {0, 1, 2}
    rows = found.sorted(2)
    assert [name for name, *_ in rows] == [f"x{i}" for i in found.order[:2]]
    assert rows[0][1:] == (found.mean[found.order[0]], found.std[found.order[0]])
    assert len(found.sorted()) == 6


def test_importances_as_a_table(blobs):
    X, labeled, _ = blobs
    table = pd.DataFrame(X, columns=["one", "two", "three", "four", "five", "six"])
    tree = PUDecisionTreeClassifier(0.4, random_state=0).fit(table, labeled)
    lines = str(importances(tree)).splitlines()
    assert lines[0] == "risk reduction by tree: mean and standard deviation (n=1)"
    assert len(lines) == 8
    assert lines[-1].startswith("Risk reductions favor features with many distinct values")
    assert lines[1].split()[0] in {"one", "two", "three"}
    wide = FeatureImportances(np.arange(30.0)[None], [f"x{i}" for i in range(30)], "any")
    assert str(wide).splitlines()[-1] == "... and 10 more"


def test_importances_of_other_models(blobs):
    X, labeled, _ = blobs
    with pytest.raises(TypeError, match=r"forest must be a puforest forest or tree.*got Extra"):
        importances(ExtraTreesClassifier().fit(X, labeled))
    with pytest.raises(NotFittedError):
        importances(PUExtraTreesClassifier(0.4))
    with pytest.raises(TypeError, match="normalized must be True or False"):
        importances(PUExtraTreesClassifier(0.4, n_estimators=2).fit(X, labeled), normalized=1)


def test_permutation_importance(forest, blobs):
    X, labeled, y = blobs
    found = permutation_importance(forest, X, labeled, n_repeats=4, random_state=0)
    assert found.values.shape == (4, 6)
    assert found.mean[:3].min() > found.mean[3:].max()
    assert found.kind == "decrease of pu_f1 when permuted"

    def accuracy(model, X, y):
        return accuracy_score(y, model.predict(X))

    truth = permutation_importance(forest, X, y, scoring=accuracy, n_repeats=4, random_state=0)
    assert truth.mean[:3].min() > truth.mean[3:].max()
    assert truth.kind == "decrease of accuracy when permuted"
    again = permutation_importance(forest, X, labeled, n_repeats=4, random_state=1)
    assert not np.array_equal(again.values, found.values)
    # Rows of zero weight do not count.
    weight = (np.arange(len(X)) < 300).astype(float)
    heavy = permutation_importance(
        forest, X, labeled, sample_weight=weight, n_repeats=4, random_state=0
    )
    assert not np.allclose(heavy.values, found.values)
    with pytest.raises(ValueError, match="scoring must be one of"):
        permutation_importance(forest, X, labeled, scoring="pu_nothing")
    with pytest.raises(NotFittedError):
        permutation_importance(PUExtraTreesClassifier(0.4), X, labeled)


# Selection


def test_selection_on_test_rows(blobs):
    X, labeled, y = blobs
    model = PUExtraTreesClassifier(0.4, scenario=ONE, n_estimators=20, min_samples_leaf=5)
    data = {"X_test": X[400:], "y_test": y[400:], "random_state": 0}
    curve = feature_selection_curve(model, X[:400], labeled[:400], **data, n_repeats=3)
    assert_array_equal(curve.n_features, [1, 2, 3, 4, 5, 6])
    assert curve.scores.shape == (6, 3)
    assert set(curve.order[:3]) == {0, 1, 2}
    assert curve.mean[2] > curve.mean[0]
    assert curve.scoring == "accuracy"
    # The last step uses all features.
    seeds = np.random.RandomState(0).randint(np.iinfo(np.int32).max, size=3)
    for score, seed in zip(curve.scores[-1], seeds, strict=True):
        whole = model.set_params(random_state=seed).fit(X[:400], labeled[:400])
        assert score == whole.score(X[400:], y[400:])
    # A wrong order needs more features.
    wrong = feature_selection_curve(
        model, X[:400], labeled[:400], **data, order_by=[0, 0, 0, 1, 1, 1], steps=[1, 3, 6]
    )
    assert_array_equal(wrong.order, [3, 4, 5, 0, 1, 2])
    assert wrong.mean[1] < curve.mean[2] - 0.1
    assert wrong.area < curve.area
    auc = feature_selection_curve(
        model, X[:400], labeled[:400], **data, scoring="roc_auc", steps=[6]
    )
    assert auc.scores != curve.scores[-1, 0]
    assert auc.area == auc.mean[0]


def test_selection_on_pu_data(blobs):
    X, labeled, _ = blobs
    model = PUExtraTreesClassifier(0.4, scenario=ONE, n_estimators=10, min_samples_leaf=5)
    table = pd.DataFrame(X, columns=list("abcdef"))
    curve = feature_selection_curve(model, table, labeled, steps=[1, 3, 6], cv=3, random_state=0)
    assert curve.scores.shape == (3, 3)
    assert curve.mean[1] > curve.mean[0]
    assert set(curve.order[:3]) == {0, 1, 2}
    assert curve.smallest in (3, 6)
    lines = str(curve).splitlines()
    assert lines[0] == "features  pu_f1: mean and standard deviation"
    assert [line.split()[0] for line in lines[1:4]] == ["1", "3", "6"]
    assert lines[4].startswith("most important: ")
    other = feature_selection_curve(
        model, table, labeled, steps=[1, 3, 6], order_by="normalized", cv=3, random_state=0
    )
    assert not np.array_equal(other.order, curve.order)
    splits = PUShuffleSplit(2, test_size=0.5, random_state=0)
    halves = feature_selection_curve(
        model, X, labeled, steps=[3], cv=splits, scoring=lambda model, X, y: len(X)
    )
    assert_array_equal(halves.scores, [[300, 300]])
    assert feature_selection_curve(model, X, labeled, steps=[1]).scores.shape == (1, 5)


def test_selection_of_fewer_features_than_a_split_may_try(blobs):
    X, labeled, y = blobs
    model = PUExtraTreesClassifier(0.4, scenario=ONE, n_estimators=3, max_features=4)
    data = {"X_test": X, "y_test": y, "random_state": 0, "steps": [1, 6]}
    curve = feature_selection_curve(model, X, labeled, **data)
    assert model.max_features == 4
    seed = np.random.RandomState(0).randint(np.iinfo(np.int32).max, size=1)[0]
    assert curve.scores[1, 0] == model.set_params(random_state=seed).fit(X, labeled).score(X, y)


@pytest.mark.parametrize("order_by", ["risk-reduction", [6, 5, 4, 3, 2, 1]])
def test_selection_estimates_a_prior_once(blobs, order_by):
    """Scores with different numbers of features would not be comparable otherwise."""
    X, labeled, _ = blobs
    seen = []

    def prior(model, X, y):
        seen.append(model.prior_)
        return 0.0

    model = PUExtraTreesClassifier(scenario=ONE, n_estimators=3)
    with pytest.warns(PriorEstimatedWarning) as caught:
        feature_selection_curve(
            model, X, labeled, steps=[1, 3, 6], cv=2, order_by=order_by, scoring=prior
        )
    assert len(caught) == 2  # one per split
    assert len(seen) == 6
    assert len(set(seen)) == 2


def test_selection_keeps_duplicates_together(blobs):
    """A labeled row whose duplicate is in the training set would be scored too well."""
    X, labeled, _ = blobs
    both = np.concatenate([X[labeled == 1], X])
    y = np.repeat([1, 0], [labeled.sum(), len(X)])
    seen = []

    def duplicated(model, X, y):
        rows = {row.tobytes() for row in X[y == 0]}
        seen.append(all(row.tobytes() in rows for row in X[y == 1]))
        return 0.0

    model = PUExtraTreesClassifier(0.4, n_estimators=1)
    feature_selection_curve(model, both, y, steps=[6], scoring=duplicated)
    assert seen == [True] * 5


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"steps": [0, 2]}, "steps must be at least 1"),
        ({"steps": [7]}, "steps must be integers from 1 to 6"),
        ({"order_by": "gini"}, "order_by must be one of"),
        ({"order_by": [1, 2]}, r"order_by must have the shape \(6,\)"),
        ({"X_test": np.zeros((2, 6))}, "X_test and y_test must be given together"),
        (
            {"X_test": np.zeros((2, 6)), "y_test": [0, 1], "cv": 3},
            "cv=3 cannot be combined with X_test",
        ),
        ({"X_test": np.zeros((2, 5)), "y_test": [0, 1]}, "X_test has 5 features, but X has 6"),
        (
            {"X_test": np.zeros((2, 6)), "y_test": [-1, 1]},
            "y_test has the class -1, which y does not have",
        ),
        ({"X_test": np.zeros((2, 6)), "y_test": [0, 1, 1]}, "X_test has 2 rows, but y_test has 3"),
        ({"cv": "many"}, "cv must be an integer or a splitter"),
        ({"n_repeats": 0}, "n_repeats must be at least 1"),
        ({"estimator": ExtraTreesClassifier()}, "estimator must be a puforest forest or tree"),
        ({"scoring": "f1_of_nothing"}, "scoring must be one of"),
    ],
)
def test_invalid_parameters_of_selection(blobs, change, message):
    X, labeled, _ = blobs
    given = {"estimator": PUExtraTreesClassifier(0.4), "X": X, "y": labeled} | change
    with pytest.raises((TypeError, ValueError), match=message):
        feature_selection_curve(**given)


def test_importances_by_permutation(forest, blobs):
    X, labeled, _ = blobs
    options = {"n_repeats": 2, "random_state": 0, "scoring": "lee_liu"}
    found = importances(forest, X, labeled, method="permutation", **options)
    expected = permutation_importance(forest, X, labeled, **options)
    assert_array_equal(found.values, expected.values)
    assert found.note == ""
    two = importances(forest, X, labeled, method="permutation", top=2, **options)
    assert_array_equal(two.values, expected.values[:, expected.order[:2]])
    assert two.feature_names == [expected.feature_names[i] for i in expected.order[:2]]


def test_importances_favor_features_with_many_values():
    """The reason for the note: noise with many values seems more important than binary noise."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=800), rng.random(800) < 0.5])
    forest = PURandomForestClassifier(0.4, n_estimators=20, random_state=0)
    many, few = importances(forest.fit(X, np.arange(800) < 100)).mean
    assert many > 3 * few


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"method": "gain"}, "method must be one of"),
        ({"method": "permutation"}, "requires X and y"),
        ({"X": [[0.0] * 6]}, "X: only used with method='permutation'"),
        ({"n_repeats": 3}, "n_repeats: only used with method='permutation'"),
        ({"method": "permutation", "X": 1, "y": 1, "normalized": True}, "requires method='risk'"),
    ],
)
def test_invalid_methods_of_importances(forest, given, message):
    with pytest.raises(ValueError, match=message):
        importances(forest, **given)
