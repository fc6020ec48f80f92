"""Pictures of curves: what they show is what the metrics say."""

import matplotlib as mpl
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit

from puforest import metrics as pu
from puforest import plots

mpl.use("Agg")

from matplotlib import pyplot as plt

KNOWN = {"prior": 0.35, "scenario": "single-training-set"}
PLOTS = [
    plots.plot_roc,
    plots.plot_precision_recall,
    plots.plot_reliability,
    plots.plot_score_distributions,
]


@pytest.fixture(scope="module")
def judged():
    rng = np.random.default_rng(0)
    y = rng.random(4000) < 0.35
    x = rng.normal(size=4000) + 1.5 * y
    return (y & (rng.random(4000) < 0.4)).astype(int), expit(1.5 * x - 2)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def line(ax, label):
    (found,) = (x for x in ax.get_lines() if x.get_label().startswith(label))
    return found.get_data()


@pytest.mark.parametrize("plot", PLOTS)
def test_draws_on_given_or_new_axes(plot, judged):
    _, ax = plt.subplots()
    assert plot(*judged, **KNOWN, ax=ax) is ax
    assert ax.get_title()
    assert plot(*judged, **KNOWN) is not ax
    assert len(plt.get_fignums()) == 2


def test_roc_is_the_curve(judged):
    ax = plots.plot_roc(*judged, **KNOWN, random_state=0)
    grid, shown = line(ax, "area")
    fpr, tpr, _ = pu.pu_roc_curve(*judged, **KNOWN)
    expected = [tpr[fpr <= at].max() for at in grid]
    assert_allclose(shown, expected)
    (band,) = ax.collections
    inside = band.get_paths()[0].contains_points(np.column_stack([grid, shown]), radius=0.02)
    assert inside.mean() > 0.9
    assert not plots.plot_roc(*judged, **KNOWN, n_resamples=0).collections


def test_precision_is_the_curve(judged):
    recalls, shown = line(plots.plot_precision_recall(*judged, **KNOWN, n_resamples=2), "average")
    precision, recall, _ = pu.pu_precision_recall_curve(*judged, **KNOWN)
    expected = [precision[recall == recall[recall >= at - 1e-9].min()].max() for at in recalls]
    assert np.mean(np.isclose(shown, expected)) > 0.99


def test_more_confidence_is_a_wider_band(judged):
    areas = []
    for confidence in (0.5, 0.99):
        ax = plots.plot_roc(*judged, **KNOWN, confidence=confidence, random_state=0)
        x, y = ax.collections[0].get_paths()[0].vertices.T
        areas.append(abs(np.sum(x * np.roll(y, 1) - y * np.roll(x, 1))))
    assert areas[1] > 1.5 * areas[0]


def test_reliability_is_the_curve_with_bars(judged):
    ax = plots.plot_reliability(*judged, **KNOWN, n_bins=5)
    ((points, _, (bars,)),) = ax.containers
    prob_true, prob_pred = pu.pu_reliability_curve(*judged, **KNOWN, n_bins=5)
    assert_allclose(points.get_data(), [prob_pred, prob_true])
    low, high = np.transpose([segment[:, 1] for segment in bars.get_segments()])
    assert (low <= prob_true).all()
    assert (high >= prob_true).all()
    assert (high > low).any()


def test_reliability_bars_are_the_spread_over_draws():
    rng = np.random.default_rng(1)
    _, ax = plt.subplots()

    def draw():
        y = rng.random(600) < 0.35
        prob = expit(1.5 * (rng.normal(size=600) + 1.5 * y) - 2)
        labels = (y & (rng.random(600) < 0.4)).astype(int)
        ax.clear()
        plots.plot_reliability(
            labels, prob, **KNOWN, n_bins=3, strategy="uniform", ax=ax, confidence=0.6827
        )
        segment = ax.containers[0][2][0].get_segments()[1]
        return np.mean(segment[:, 1]), np.ptp(segment[:, 1]) / 2

    middles, reaches = np.transpose([draw() for _ in range(80)])
    assert_allclose(reaches.mean(), middles.std(), rtol=0.3)


def test_a_bin_without_labeled_rows_is_not_sure():
    y, prob = np.repeat([1, 0], [30, 200]), np.repeat([0.9, 0.1], [90, 140])
    bars = plots.plot_reliability(y, prob, prior=0.3, n_bins=2).containers[0][2][0]
    low, high = bars.get_segments()[0][:, 1]
    assert low == 0
    assert 0.01 < high < 0.1


@pytest.mark.parametrize("plot", PLOTS[:3])
def test_refuses_percents_as_confidence(plot, judged):
    with pytest.raises(ValueError, match="confidence must be between 0 and 1, got 95"):
        plot(*judged, **KNOWN, confidence=95)


def test_distributions_have_their_areas(judged):
    ax = plots.plot_score_distributions(*judged, **KNOWN, n_bins=12)
    population, positives, negatives = (
        patch.get_data().values @ np.diff(patch.get_data().edges) for patch in ax.patches
    )
    assert_allclose([population, positives], [1, 0.35])
    assert_allclose(negatives, 0.65, atol=0.05)


def test_a_prior_too_large_is_told(judged):
    for plot in (plots.plot_roc, plots.plot_precision_recall, plots.plot_reliability):
        with pytest.warns(pu.PriorMismatchWarning) as caught:
            plot(*judged, prior=0.9, scenario="single-training-set")
        assert caught[0].filename == __file__
