"""Importances, dependence and selection of features."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.exceptions import NotFittedError
from sklearn.metrics import accuracy_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import validate_data

from puforest import PUDecisionTreeClassifier, PUExtraTreesClassifier
from puforest.inspection import (
    FeatureImportances,
    feature_selection_curve,
    importances,
    partial_dependence,
    permutation_importance,
)
from puforest.model_selection import PUShuffleSplit
from puforest.plots import (
    plot_feature_selection,
    plot_importance_map,
    plot_importances,
    plot_partial_dependence,
)
from puforest.prior import PriorEstimatedWarning

ONE = "single-training-set"


@pytest.fixture
def forest(blobs):
    X, labeled, _ = blobs
    model = PUExtraTreesClassifier(
        0.4, scenario=ONE, n_estimators=30, min_samples_leaf=5, voting="soft", random_state=0
    )
    return model.fit(X, labeled)


@pytest.fixture
def plt():
    mpl.use("agg")
    import matplotlib.pyplot as plt

    yield plt
    plt.close("all")


# Importances


@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("risk", ["nnpu", "upu"])
def test_importances_are_those_of_the_trees(blobs, normalized, risk):
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


def test_importances_in_order(forest):
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
    assert lines[0] == "risk reduction by tree: mean and standard deviation of 1"
    assert len(lines) == 7
    assert lines[1].split()[0] in {"one", "two", "three"}
    wide = FeatureImportances(np.arange(30.0)[None], [f"x{i}" for i in range(30)], "any")
    assert str(wide).splitlines()[-1] == "... and 10 more"


def test_importances_refuse(blobs):
    X, labeled, _ = blobs
    with pytest.raises(TypeError, match="forest must be a forest or tree of puforest, got Extra"):
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
    assert found.kind == "loss of pu_f1 when shuffled"

    def accuracy(model, X, y):
        return accuracy_score(y, model.predict(X))

    truth = permutation_importance(forest, X, y, scoring=accuracy, n_repeats=4, random_state=0)
    assert truth.mean[:3].min() > truth.mean[3:].max()
    assert truth.kind == "loss of accuracy when shuffled"
    again = permutation_importance(forest, X, labeled, n_repeats=4, random_state=1)
    assert not np.array_equal(again.values, found.values)
    # Rows that weigh nothing have no say.
    weight = (np.arange(len(X)) < 300).astype(float)
    heavy = permutation_importance(
        forest, X, labeled, sample_weight=weight, n_repeats=4, random_state=0
    )
    assert not np.allclose(heavy.values, found.values)
    with pytest.raises(ValueError, match="scoring must be one of"):
        permutation_importance(forest, X, labeled, scoring="pu_nothing")
    with pytest.raises(NotFittedError):
        permutation_importance(PUExtraTreesClassifier(0.4), X, labeled)
    with pytest.raises(TypeError, match=r"got polars.*DataFrame: give X.to_pandas\(\)"):
        permutation_importance(forest, pl.DataFrame(X), labeled)


# Partial dependence


def test_partial_dependence_is_the_mean_over_the_population(forest, blobs):
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
    # The scenario of the forest is the default, and without labels all rows count.
    for options in ({"y": labeled}, {}):
        again = partial_dependence(forest, X, 1, grid_resolution=5, **options)
        assert_allclose(again.average, curve.average)
        assert again.individual is None


def test_partial_dependence_of_two_features_and_by_weight(forest, blobs):
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
def test_names_of_columns_are_compared_once(blobs, monkeypatch):
    X, labeled, _ = blobs
    table = pd.DataFrame(X, columns=list("abcdef"))
    given = {"scenario": ONE, "n_estimators": 5, "random_state": 0}
    model = PUExtraTreesClassifier(0.4, **given).fit(table, labeled)
    plain = PUExtraTreesClassifier(0.4, **given).fit(X, labeled)
    of_array = partial_dependence(plain, X, 1, y=labeled)
    shuffled = permutation_importance(plain, X, labeled, random_state=0)
    tables = []

    def counted(estimator, X, **options):
        tables.append(hasattr(X, "columns"))
        return validate_data(estimator, X, **options)

    monkeypatch.setattr("puforest._matrix.validate_data", counted)
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
def test_partial_dependence_of_few_rows(n, kind, forest, blobs):
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


def test_partial_dependence_of_tables(blobs):
    X, labeled, _ = blobs
    table = pd.DataFrame(X, columns=list("abcdef"))
    model = PUExtraTreesClassifier(0.4, n_estimators=5, random_state=0).fit(table, labeled)
    plain = PUExtraTreesClassifier(0.4, n_estimators=5, random_state=0).fit(X, labeled)
    curve = partial_dependence(model, table, "b", y=labeled)
    assert curve.features == ["b"]
    assert_allclose(curve.average, partial_dependence(plain, X, 1, y=labeled).average)
    with pytest.raises(TypeError, match=r"got polars.*DataFrame: give X.to_pandas\(\)"):
        partial_dependence(model, pl.from_pandas(table), "b")


def test_partial_dependence_of_whole_numbers(blobs):
    X, labeled, _ = blobs
    counts = np.round(3 * X).astype(int)
    model = PUExtraTreesClassifier(0.4, n_estimators=5, random_state=0).fit(counts, labeled)
    curve = partial_dependence(model, counts, 0)
    assert len(curve.grid[0]) == len(np.unique(counts[:, 0]))


def test_partial_dependence_of_whole_numbers_in_a_table(blobs):
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


def test_partial_dependence_leaves_out_rows_without_weight(forest, blobs):
    X, labeled, _ = blobs
    weight = (np.arange(600) < 300).astype(float)
    more = partial_dependence(forest, X, 0, y=labeled, sample_weight=weight, kind="both")
    part = partial_dependence(forest, X[:300], 0, y=labeled[:300], kind="both")
    for name in ("grid", "average", "individual"):
        assert_allclose(getattr(more, name), getattr(part, name))


def test_partial_dependence_of_what_knows_no_scenario(blobs):
    X, labeled, _ = blobs
    pipe = make_pipeline(StandardScaler(), PUExtraTreesClassifier(0.4, n_estimators=5))
    pipe.fit(X, labeled)
    with pytest.raises(ValueError, match="scenario=None, and Pipeline knows none"):
        partial_dependence(pipe, X, 0, y=labeled)
    curve = partial_dependence(pipe, X, 0, y=labeled, scenario=ONE, kind="individual")
    assert len(curve.individual) == len(X)


def test_partial_dependence_refuses(forest, blobs):
    X, labeled, _ = blobs
    with pytest.raises(ValueError, match="features has 6, which is neither"):
        partial_dependence(forest, X, 6)
    with pytest.raises(ValueError, match="features must be one or two, got 3"):
        partial_dependence(forest, X, (0, 1, 2))
    with pytest.raises(ValueError, match="features has 'age', which is neither"):
        partial_dependence(forest, X, "age")
    with pytest.raises(ValueError, match="give y too"):
        partial_dependence(forest, X, 0, scenario=ONE)
    with pytest.raises(ValueError, match="kind must be one of"):
        partial_dependence(forest, X, 0, kind="mean")
    with pytest.raises(ValueError, match=r"y must have the shape \(600,\), got \(500,\)"):
        partial_dependence(forest, X, 0, y=labeled[:500])


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
    # The last step is the forest with all features.
    seeds = np.random.RandomState(0).randint(np.iinfo(np.int32).max, size=3)
    for score, seed in zip(curve.scores[-1], seeds, strict=True):
        whole = model.set_params(random_state=seed).fit(X[:400], labeled[:400])
        assert score == whole.score(X[400:], y[400:])
    # The wrong order learns later.
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
    """With each number of features it would be another one, and so would be what scores mean."""
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
    assert len(caught) == 2  # one a split
    assert len(seen) == 6
    assert len(set(seen)) == 2


def test_selection_keeps_copies_together(blobs):
    """A labeled row whose copy was learned from would be judged too well."""
    X, labeled, _ = blobs
    both = np.concatenate([X[labeled == 1], X])
    y = np.repeat([1, 0], [labeled.sum(), len(X)])
    seen = []

    def copies(model, X, y):
        rows = {row.tobytes() for row in X[y == 0]}
        seen.append(all(row.tobytes() in rows for row in X[y == 1]))
        return 0.0

    model = PUExtraTreesClassifier(0.4, n_estimators=1)
    feature_selection_curve(model, both, y, steps=[6], scoring=copies)
    assert seen == [True] * 5


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"steps": [0, 2]}, "steps must be at least 1"),
        ({"steps": [7]}, "steps must be numbers between 1 and 6"),
        ({"order_by": "gini"}, "order_by must be one of"),
        ({"order_by": [1, 2]}, r"order_by must have the shape \(6,\)"),
        ({"X_test": np.zeros((2, 6))}, "X_test and y_test go together"),
        ({"X_test": np.zeros((2, 6)), "y_test": [0, 1], "cv": 3}, "cv=3 splits the PU data"),
        ({"X_test": np.zeros((2, 5)), "y_test": [0, 1]}, "X_test has 5 features, but X has 6"),
        ({"X_test": np.zeros((2, 6)), "y_test": [-1, 1]}, "y_test has -1, which y has not"),
        ({"X_test": np.zeros((2, 6)), "y_test": [0, 1, 1]}, "inconsistent numbers of samples"),
        ({"cv": "many"}, "cv must be a number of folds"),
        ({"n_repeats": 0}, "n_repeats must be at least 1"),
        ({"estimator": ExtraTreesClassifier()}, "estimator must be a forest or tree of puforest"),
        ({"scoring": "f1_of_nothing"}, "scoring must be one of"),
    ],
)
def test_selection_refuses(blobs, change, message):
    X, labeled, _ = blobs
    given = {"estimator": PUExtraTreesClassifier(0.4), "X": X, "y": labeled} | change
    with pytest.raises((TypeError, ValueError), match=message):
        feature_selection_curve(**given)


# Pictures


def test_plot_importances(plt, forest):
    found = importances(forest)
    ax = plot_importances(found, top=4)
    assert [bar.get_width() for bar in ax.patches] == [mean for _, mean, _ in found.sorted(4)]
    assert [tick.get_text() for tick in ax.get_yticklabels()] == [n for n, *_ in found.sorted(4)]
    _, own = plt.subplots()
    assert plot_importances(forest, ax=own) is own
    assert len(own.patches) == 6


def test_plot_importance_map(plt):
    ax = plot_importance_map(np.arange(12.0), (2, 3, 2))
    assert_array_equal(ax.images[0].get_array(), [[6, 8, 10], [12, 14, 16]])
    with pytest.raises(ValueError, match=r"shape=\(2, 2\) is not that of images of 12 features"):
        plot_importance_map(np.arange(12.0), (2, 2))


def test_plot_importance_map_of_a_forest(plt, forest):
    for given in (forest, importances(forest)):
        ax = plot_importance_map(given, (3, 2))
        assert_allclose(ax.images[0].get_array().ravel(), forest.feature_importances_)


def test_plot_partial_dependence(plt, forest, blobs):
    X, *_ = blobs
    curve = partial_dependence(forest, X, 0, kind="both", grid_resolution=10)
    ax = plot_partial_dependence(curve, max_lines=8)
    assert len(ax.lines) == 9
    assert_array_equal(ax.lines[-1].get_ydata(), curve.average)
    plane = partial_dependence(forest, X, (0, 1), grid_resolution=5)
    assert plot_partial_dependence(plane).get_ylabel() == "x1"
    lines = partial_dependence(forest, X, (0, 1), grid_resolution=2, kind="individual")
    with pytest.raises(ValueError, match="no average to draw"):
        plot_partial_dependence(lines)


def test_plot_feature_selection(plt, blobs):
    X, labeled, y = blobs
    model = PUExtraTreesClassifier(0.4, scenario=ONE, n_estimators=3)
    curves = [
        feature_selection_curve(model, X, labeled, X_test=X, y_test=y, steps=[1, 3], order_by=by)
        for by in ("risk-reduction", "normalized")
    ]
    ax = plot_feature_selection(*curves, labels=["one", "two"])
    assert [line.get_ydata().tolist() for line in ax.lines] == [c.mean.tolist() for c in curves]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["one", "two"]
    assert ax.get_xscale() == "log"
    assert plot_feature_selection(curves[0], log=False).get_xscale() == "linear"
    with pytest.raises(ValueError, match="labels must be 2, one a curve, got 1"):
        plot_feature_selection(*curves, labels=["one"])
    with pytest.raises(ValueError, match="at least one"):
        plot_feature_selection()
