"""Plotted curves agree with the metrics."""

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
def labels_and_scores():
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
def test_draws_on_given_or_new_axes(plot, labels_and_scores):
    _, ax = plt.subplots()
    assert plot(*labels_and_scores, **KNOWN, ax=ax) is ax
    assert ax.get_title()
    assert plot(*labels_and_scores, **KNOWN) is not ax
    assert len(plt.get_fignums()) == 2


def test_roc_curve(labels_and_scores):
    ax = plots.plot_roc(*labels_and_scores, **KNOWN, random_state=0)
    grid, shown = line(ax, "AUC")
    fpr, tpr, _ = pu.pu_roc_curve(*labels_and_scores, **KNOWN)
    expected = [tpr[fpr <= at].max() for at in grid]
    assert_allclose(shown, expected)
    (band,) = ax.collections
    inside = band.get_paths()[0].contains_points(np.column_stack([grid, shown]), radius=0.02)
    assert inside.mean() > 0.9
    assert not plots.plot_roc(*labels_and_scores, **KNOWN, n_resamples=0).collections


def test_precision_recall_curve(labels_and_scores):
    recalls, shown = line(
        plots.plot_precision_recall(*labels_and_scores, **KNOWN, n_resamples=2), "AP"
    )
    precision, recall, _ = pu.pu_precision_recall_curve(*labels_and_scores, **KNOWN)
    expected = [precision[recall == recall[recall >= at - 1e-9].min()].max() for at in recalls]
    assert np.mean(np.isclose(shown, expected)) > 0.99


def test_band_widens_with_confidence(labels_and_scores):
    areas = []
    for confidence in (0.5, 0.99):
        ax = plots.plot_roc(*labels_and_scores, **KNOWN, confidence=confidence, random_state=0)
        x, y = ax.collections[0].get_paths()[0].vertices.T
        areas.append(abs(np.sum(x * np.roll(y, 1) - y * np.roll(x, 1))))
    assert areas[1] > 1.5 * areas[0]


def test_reliability_curve_and_bars(labels_and_scores):
    ax = plots.plot_reliability(*labels_and_scores, **KNOWN, n_bins=5)
    ((points, _, (bars,)),) = ax.containers
    prob_true, prob_pred = pu.pu_reliability_curve(*labels_and_scores, **KNOWN, n_bins=5)
    assert_allclose(points.get_data(), [prob_pred, prob_true])
    low, high = np.transpose([segment[:, 1] for segment in bars.get_segments()])
    assert (low <= prob_true).all()
    assert (high >= prob_true).all()
    assert (high > low).any()


def test_reliability_bars_match_the_spread_over_samples():
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

    centers, half_widths = np.transpose([draw() for _ in range(80)])
    assert_allclose(half_widths.mean(), centers.std(), rtol=0.3)


def test_bin_without_labeled_rows_has_an_interval():
    y, prob = np.repeat([1, 0], [30, 200]), np.repeat([0.9, 0.1], [90, 140])
    bars = plots.plot_reliability(y, prob, prior=0.3, n_bins=2).containers[0][2][0]
    low, high = bars.get_segments()[0][:, 1]
    assert low == 0
    assert 0.01 < high < 0.1


@pytest.mark.parametrize("plot", PLOTS[:3])
def test_confidence_in_percent_is_refused(plot, labels_and_scores):
    with pytest.raises(ValueError, match="confidence must be between 0 and 1, got 95"):
        plot(*labels_and_scores, **KNOWN, confidence=95)


def test_areas_of_score_distributions(labels_and_scores):
    ax = plots.plot_score_distributions(*labels_and_scores, **KNOWN, n_bins=12)
    population, positives, negatives = (
        patch.get_data().values @ np.diff(patch.get_data().edges) for patch in ax.patches
    )
    assert_allclose([population, positives], [1, 0.35])
    assert_allclose(negatives, 0.65, atol=0.05)


def test_prior_that_is_too_large_raises_a_warning(labels_and_scores):
    for plot in (plots.plot_roc, plots.plot_precision_recall, plots.plot_reliability):
        with pytest.warns(pu.PriorMismatchWarning) as caught:
            plot(*labels_and_scores, prior=0.9, scenario="single-training-set")
        assert caught[0].filename == __file__
