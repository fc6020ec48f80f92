"""Curves of a classifier that was judged without negatives: ROC, precision, reliability, scores."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from puforest import _validation as check
from puforest._warnings import warn
from puforest.metrics._docs import documented
from puforest.metrics._metric import Judged, Metric, judged
from puforest.metrics._reliability import reliability
from puforest.metrics.calibration import CALIBRATION_ERROR
from puforest.metrics.intervals import IntervalSettings, resamples
from puforest.metrics.ranking import (
    AVERAGE_PRECISION,
    ROC_AUC,
    Thresholds,
    precision_recall_points,
    roc_points,
    thresholds,
    thresholds_of_ranks,
)
from puforest.plots._canvas import LABELED, QUIET, UNLABELED, axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_precision_recall", "plot_reliability", "plot_roc", "plot_score_distributions"]

Array = NDArray[np.float64]
GRID = np.linspace(0, 1, 201)


def _roc_at(at: Thresholds, prior: float) -> Array:
    """True positive rates at false positive rates on the grid."""
    fpr, tpr = roc_points(at, prior)
    last = np.searchsorted(fpr, GRID, side="right") - 1
    return tpr[last]


def _precision_at(at: Thresholds, prior: float) -> Array:
    """Precision at recalls on the grid."""
    precision, recall = precision_recall_points(at, prior)
    # From the right, so that of all points of one recall the most precise one counts.
    first = np.searchsorted(recall[::-1], GRID - 1e-9)
    at_recall: Array = precision[::-1][first]
    return at_recall


def _value(rows: Judged, metric: Metric, **options: Any) -> float:
    """The metric for the legend; warns in the name of the caller's caller."""
    found = rows.estimate(metric, **options)
    if found.warning is not None:
        warn(found.warning)
    return metric.clip(found.value)


def _draw(
    ax: Axes,
    rows: Judged,
    curve: Callable[[Thresholds, float], Array],
    label: str,
    confidence: float,
    n_resamples: int,
    random_state: int | np.random.RandomState | None,
) -> None:
    """The curve and a band from the bootstrap, at each point of the grid."""
    check.share("confidence", confidence)
    at = thresholds(rows.sample, rows.values)
    if check.integer("n_resamples", n_resamples, 0) > 0:
        drawn = np.array(
            [
                curve(thresholds_of_ranks(sample, at.threshold, at.of_row), rows.prior)
                for sample in resamples(rows.sample, n_resamples, random_state)
            ]
        )
        low, high = np.quantile(drawn, [(1 - confidence) / 2, (1 + confidence) / 2], axis=0)
        name = f"{100 * confidence:g}% of resamples"
        ax.fill_between(GRID, low, high, color=LABELED, alpha=0.2, linewidth=0, label=name)
    ax.plot(GRID, curve(at, rows.prior), color=LABELED, label=label)
    ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.02))


@documented
def plot_roc(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    prior: float,
    scenario: str = "case-control",
    sample_weight: ArrayLike | None = None,
    propensity: ArrayLike | None = None,
    confidence: float = 0.95,
    n_resamples: int = 200,
    random_state: int | np.random.RandomState | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the ROC curve with a band.

    The band takes the prior as known. 0 resamples draw none.

    Parameters
    ----------
    %y_true, y_score, prior, scenario, sample_weight, propensity, confidence, n_resamples%
    %random_state, ax%

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from puforest.plots import plot_roc
    >>> ax = plot_roc([1, 1, 0, 0, 0, 0], [4, 3, 4, 2, 1, 0], prior=0.25, random_state=0)
    >>> ax.get_xlabel()
    'false positive rate'
    """
    rows = judged(
        ROC_AUC,
        y_true,
        y_score,
        prior=prior,
        scenario=scenario,
        sample_weight=sample_weight,
        propensity=propensity,
    )
    area = _value(rows, ROC_AUC)
    ax = axes(
        ax,
        title="ROC curve from PU data",
        xlabel="false positive rate",
        ylabel="true positive rate",
    )
    ax.plot([0, 1], [0, 1], color=QUIET, linestyle=":", label="chance")
    _draw(ax, rows, _roc_at, f"area {area:.3f}", confidence, n_resamples, random_state)
    ax.legend(loc="lower right", frameon=False)
    return ax


@documented
def plot_precision_recall(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    prior: float,
    scenario: str = "case-control",
    sample_weight: ArrayLike | None = None,
    propensity: ArrayLike | None = None,
    confidence: float = 0.95,
    n_resamples: int = 200,
    random_state: int | np.random.RandomState | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw precision against recall with a band.

    The band takes the prior as known. 0 resamples draw none.

    Parameters
    ----------
    %y_true, y_score, prior, scenario, sample_weight, propensity, confidence, n_resamples%
    %random_state, ax%

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from puforest.plots import plot_precision_recall
    >>> ax = plot_precision_recall([1, 1, 0, 0, 0], [4, 3, 4, 2, 1], prior=0.25, random_state=0)
    >>> ax.get_ylabel()
    'precision'
    """
    rows = judged(
        AVERAGE_PRECISION,
        y_true,
        y_score,
        prior=prior,
        scenario=scenario,
        sample_weight=sample_weight,
        propensity=propensity,
    )
    mean = _value(rows, AVERAGE_PRECISION)
    ax = axes(ax, title="Precision and recall from PU data", xlabel="recall", ylabel="precision")
    ax.axhline(rows.prior, color=QUIET, linestyle=":", label="chance")
    _draw(ax, rows, _precision_at, f"average {mean:.3f}", confidence, n_resamples, random_state)
    ax.legend(loc="lower left", frameon=False)
    return ax


@documented
def plot_reliability(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    prior: float,
    scenario: str = "case-control",
    sample_weight: ArrayLike | None = None,
    propensity: ArrayLike | None = None,
    n_bins: int = 10,
    strategy: str = "quantile",
    confidence: float = 0.95,
    ax: Axes | None = None,
) -> Axes:
    """Draw shares of positives against predicted probabilities, with error bars.

    The share in a bin is the precision of a classifier that calls just this bin positive: the bars
    are those of `pu_interval` for it, and take the prior as known.

    Parameters
    ----------
    %y_true, y_prob, prior, scenario, sample_weight, propensity, n_bins, strategy, confidence, ax%

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from puforest.plots import plot_reliability
    >>> y_true, y_prob = [1, 1, 0, 0, 0, 0], [0.9, 0.6, 0.8, 0.4, 0.2, 0.2]
    >>> ax = plot_reliability(y_true, y_prob, prior=0.4, n_bins=2)
    >>> ax.get_xlabel()
    'predicted probability'
    """
    rows = judged(
        CALIBRATION_ERROR,
        y_true,
        y_prob,
        prior=prior,
        scenario=scenario,
        sample_weight=sample_weight,
        propensity=propensity,
    )
    settings = IntervalSettings(confidence, "delta", None, 2, None)
    found = reliability(rows, settings, n_bins=n_bins, strategy=strategy)
    distance = _value(rows, CALIBRATION_ERROR, n_bins=n_bins, strategy=strategy)
    ax = axes(
        ax,
        title="Reliability from PU data",
        xlabel="predicted probability",
        ylabel="share of positives",
    )
    ax.plot([0, 1], [0, 1], color=QUIET, linestyle=":", label="perfect")
    ax.errorbar(
        found.predicted,
        found.observed,
        yerr=[found.observed - found.low, found.high - found.observed],
        color=LABELED,
        marker="o",
        capsize=3,
        label=f"calibration error {distance:.3f}",
    )
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    ax.legend(loc="upper left", frameon=False)
    return ax


@documented
def plot_score_distributions(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    prior: float,
    scenario: str = "case-control",
    sample_weight: ArrayLike | None = None,
    propensity: ArrayLike | None = None,
    n_bins: int = 30,
    ax: Axes | None = None,
) -> Axes:
    """Draw how scores spread over the population, its positives, and hence its negatives.

    The positives are the labeled rows, scaled to an area of the prior; what they leave of the
    population are the negatives. Where they stick out of it, the prior is too large, or labeled
    rows are no random sample of the positives.

    Parameters
    ----------
    %y_true, y_score, prior, scenario, sample_weight, propensity, n_bins, ax%

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from puforest.plots import plot_score_distributions
    >>> ax = plot_score_distributions([1, 1, 0, 0, 0, 0], [4, 3, 4, 2, 1, 0], prior=0.25)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['population', 'positives in it (from labeled rows)', 'hence negatives']
    """
    rows = judged(
        ROC_AUC,
        y_true,
        y_score,
        prior=prior,
        scenario=scenario,
        sample_weight=sample_weight,
        propensity=propensity,
    )
    edges = np.histogram_bin_edges(rows.values, check.integer("n_bins", n_bins, 1))
    population, positives = (
        np.histogram(rows.values, edges, weights=weight)[0] / np.diff(edges)
        for weight in (rows.sample.population, rows.prior * rows.sample.positive)
    )
    ax = axes(
        ax,
        title="Scores of labeled and unlabeled rows",
        xlabel="score",
        ylabel="density in the population",
    )
    ax.stairs(population, edges, fill=True, color=UNLABELED, alpha=0.3, label="population")
    ax.stairs(
        positives,
        edges,
        color=LABELED,
        linewidth=2,
        label="positives in it (from labeled rows)",
    )
    ax.stairs(
        np.maximum(population - positives, 0),
        edges,
        color=QUIET,
        linewidth=1.5,
        linestyle="--",
        label="hence negatives",
    )
    ax.set_ylim(0, 1.4 * max(population.max(), positives.max()))
    ax.legend(frameon=False, loc="upper left")
    return ax
