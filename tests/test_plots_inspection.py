"""Plots of importances, partial dependence and feature selection."""

from itertools import pairwise

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from messy_tables import COLORS, messy_table
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline

from puforest import PUExtraTreesClassifier
from puforest.inspection import (
    feature_selection_curve,
    importances,
    partial_dependence,
)
from puforest.plots import (
    plot_feature_selection,
    plot_importance_map,
    plot_importances,
    plot_partial_dependence,
)

ONE = "single-training-set"


@pytest.fixture
def plt():
    mpl.use("agg")
    import matplotlib.pyplot as plt

    yield plt
    plt.close("all")


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
    with pytest.raises(ValueError, match=r"shape=\(2, 2\) does not match the 12 features"):
        plot_importance_map(np.arange(12.0), (2, 2))


def test_plot_importance_map_of_a_forest(plt, forest):
    for given in (forest, importances(forest)):
        ax = plot_importance_map(given, (3, 2))
        assert_allclose(ax.images[0].get_array().ravel(), forest.feature_importances_)


def test_plot_partial_dependence(plt, forest, blobs):
    X, *_ = blobs
    curve = partial_dependence(forest, X, 0, kind="both", grid_resolution=10)
    ax = plot_partial_dependence(curve, max_lines=8)
    assert len(ax.lines) == 10
    assert_array_equal(ax.lines[-2].get_ydata(), curve.average)
    mean = forest.predict_proba(X)[:, 1].mean()
    assert_allclose(ax.lines[-1].get_ydata(), mean)
    assert curve.mean_prediction == pytest.approx(mean)
    plane = partial_dependence(forest, X, (0, 1), grid_resolution=5)
    assert plot_partial_dependence(plane).get_ylabel() == "x1"
    lines = partial_dependence(forest, X, (0, 1), grid_resolution=2, kind="individual")
    with pytest.raises(ValueError, match="dependence has no average"):
        plot_partial_dependence(lines)


def test_scale_of_partial_dependence_shows_the_effect(plt, forest, blobs):
    X, *_ = blobs
    for feature in range(6):
        curve = partial_dependence(forest, X, feature, grid_resolution=10)
        low, high = plot_partial_dependence(curve).get_ylim()
        values = np.append(curve.average, curve.mean_prediction)
        assert low < values.min() <= values.max() < high
        assert high - low < max(1.2 * np.ptp(values), 0.06)


def test_plot_importances_mentions_features_with_many_values(plt, forest, blobs):
    X, labeled, _ = blobs
    assert "many distinct values" in plot_importances(forest).get_xlabel()
    permuted = importances(forest, X, labeled, method="permutation", n_repeats=1)
    assert "many distinct" not in plot_importances(permuted).get_xlabel()


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
    with pytest.raises(ValueError, match="labels must have one entry per curve, 2, got 1"):
        plot_feature_selection(*curves, labels=["one"])
    with pytest.raises(ValueError, match="at least one"):
        plot_feature_selection()


@pytest.fixture(scope="module")
def tables():
    table, labeled = messy_table()
    model = PUExtraTreesClassifier(0.4, scenario=ONE, n_estimators=5, random_state=0)
    return model.fit(table, labeled), table


def tick_labels(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


def test_plot_categories_as_dots(plt, tables):
    model, table = tables
    curve = partial_dependence(model, table, "color", kind="both")
    ax = plot_partial_dependence(curve, max_lines=3)
    dots = ax.collections[-1].get_offsets()
    assert_allclose(dots[:, 0], curve.average)
    assert tick_labels(ax.yaxis) == [*COLORS, "missing"]
    assert len(ax.lines) == 4  # three rows and the mean prediction
    member = plot_partial_dependence(partial_dependence(model, table, "member"))
    assert tick_labels(member.yaxis) == ["False", "True"]


def test_plot_missing_values_dates_and_durations(plt, tables):
    model, table = tables
    age = partial_dependence(model, table, "age")
    ax = plot_partial_dependence(age)
    assert_array_equal(ax.lines[0].get_ydata(), age.average[:-1])
    assert_array_equal(ax.lines[1].get_ydata(), age.average[[-1, -1]])
    assert ax.get_legend().get_texts()[0].get_text() == f"missing: {age.average[-1]:.3g}"
    since = plot_partial_dependence(partial_dependence(model, table, "since"))
    since.figure.canvas.draw()
    assert any("2020" in label or "2021" in label for label in tick_labels(since.xaxis))
    wait = partial_dependence(model, table, "wait")
    ax = plot_partial_dependence(wait)
    assert ax.get_xlabel() == "wait (days)"
    assert_allclose(ax.lines[0].get_xdata(), wait.grid[0] / np.timedelta64(1, "D"))


def test_plot_two_features_of_a_table(plt, tables):
    model, table = tables
    plane = partial_dependence(model, table, ("color", "age"), grid_resolution=4)
    ax = plot_partial_dependence(plane)
    assert_array_equal(ax.images[0].get_array(), plane.average.T)
    assert tick_labels(ax.xaxis) == [*COLORS, "missing"]
    assert tick_labels(ax.yaxis)[-1] == "missing"
    dates = plot_partial_dependence(
        partial_dependence(model, table, ("since", "age"), grid_resolution=4)
    )
    assert dates.get_ylabel() == "age"
    assert not dates.images


def test_labels_of_many_categories_do_not_overlap(plt):
    rows = np.arange(400)
    table = pd.DataFrame({"city": [f"City number {i % 20}" for i in rows], "age": rows % 7})
    model = PUExtraTreesClassifier(0.4, n_estimators=2, random_state=0).fit(table, rows % 3 == 0)
    ax = plot_partial_dependence(partial_dependence(model, table, ("city", "age")))
    ax.figure.canvas.draw()
    boxes = [label.get_window_extent() for label in ax.get_xticklabels()]
    assert len(boxes) == 20
    assert not any(a.overlaps(b) for a, b in pairwise(boxes))


def test_long_labels_are_shortened(plt, tables):
    model, table = tables
    long = table.rename(columns={"color": "$ color " + "x" * 50})
    labels = np.array(["a very long name of a category, $1 or more", "b"])[np.arange(400) % 2]
    long["city"] = labels
    model = PUExtraTreesClassifier(0.4, n_estimators=2, random_state=0).fit(
        long, np.arange(400) % 3 == 0
    )
    ax = plot_partial_dependence(partial_dependence(model, long, "city"))
    assert tick_labels(ax.yaxis)[0] == "a very long name of a category,…"
    ax.figure.canvas.draw()
    importance = plot_importances(model)
    assert r"\$ color xxxxxxxxxxxxxxxxxxxxxxx…" in tick_labels(importance.yaxis)
    importance.figure.canvas.draw()


def test_plots_of_pipelines(plt, blobs):
    X, labeled, _ = blobs
    model = make_pipeline(PCA(4), PUExtraTreesClassifier(0.4, n_estimators=3)).fit(X, labeled)
    assert tick_labels(plot_importances(model).yaxis)[0].startswith("pca")
    ax = plot_importance_map(model, (2, 2))
    assert_allclose(ax.images[0].get_array().ravel(), model[-1].feature_importances_)


def test_many_categories_get_a_taller_figure(plt, tables):
    model, table = tables
    heights = [
        plot_partial_dependence(partial_dependence(model, table, name)).figure.get_figheight()
        for name in ("color", "city")
    ]
    assert heights == pytest.approx([4, 1 + 30 * 0.22])
