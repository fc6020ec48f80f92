"""ROC, precision-recall and reliability curves, and score distributions, from PU data."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from puforest import _validation as check
from puforest._confidence import CONFIDENCE
from puforest._warnings import warn
from puforest.metrics._docs import documented
from puforest.metrics._metric import EvaluationSet, Metric, evaluation_set
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
    """True positive rates at the false positive rates of the grid."""
    fpr, tpr = roc_points(at, prior)
    last = np.searchsorted(fpr, GRID, side="right") - 1
    return tpr[last]


def _precision_at(at: Thresholds, prior: float) -> Array:
    """Precision at the recalls of the grid."""
    precision, recall = precision_recall_points(at, prior)
    # Reversed, so that the most precise of several points with the same recall is used.
    first = np.searchsorted(recall[::-1], GRID - 1e-9)
    at_recall: Array = precision[::-1][first]
    return at_recall


def _value(rows: EvaluationSet, metric: Metric, **options: Any) -> float:
    """Metric for the legend, with its warning."""
    found = rows.estimate(metric, **options)
    if found.warning is not None:
        warn(found.warning)
    return metric.clip(found.value)


def _draw(
    ax: Axes,
    rows: EvaluationSet,
    curve: Callable[[Thresholds, float], Array],
    label: str,
    confidence: float,
    n_resamples: int,
    random_state: int | np.random.RandomState | None,
) -> None:
    """Plot the curve with a pointwise bootstrap band."""
    check.fraction("confidence", confidence)
    at = thresholds(rows.sample, rows.values)
    if check.integer("n_resamples", n_resamples, 0) > 0:
        drawn = np.array(
            [
                curve(thresholds_of_ranks(sample, at.threshold, at.of_row), rows.prior)
                for sample in resamples(rows.sample, n_resamples, random_state)
            ]
        )
        low, high = np.quantile(drawn, [(1 - confidence) / 2, (1 + confidence) / 2], axis=0)
        name = f"{100 * confidence:g}% bootstrap interval"
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
    checked: ArrayLike | None = None,
    check_probability: ArrayLike | None = None,
    confidence: float = CONFIDENCE,
    n_resamples: int = 200,
    random_state: int | np.random.RandomState | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Plot the ROC curve with a bootstrap confidence band.

    The band treats the prior as known. ``n_resamples=0`` omits it.

    Parameters
    ----------
    %y_true, y_score, prior, scenario, sample_weight, propensity, checked, check_probability%
    %confidence, n_resamples%
    %random_state, ax%

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from puforest.plots import plot_roc
    >>> ax = plot_roc([1, 1, 0, 0, 0, 0], [4, 3, 4, 2, 1, 0], prior=0.25, random_state=0)
    >>> ax.get_xlabel()
    'False positive rate'
    """
    rows = evaluation_set(
        ROC_AUC,
        y_true,
        y_score,
        prior=prior,
        scenario=scenario,
        sample_weight=sample_weight,
        propensity=propensity,
        checked=checked,
        check_probability=check_probability,
    )
    area = _value(rows, ROC_AUC)
    ax = axes(
        ax,
        title="ROC curve (PU data)",
        xlabel="False positive rate",
        ylabel="True positive rate",
    )
    ax.plot([0, 1], [0, 1], color=QUIET, linestyle=":", label="chance level")
    _draw(ax, rows, _roc_at, f"AUC = {area:.3f}", confidence, n_resamples, random_state)
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
    checked: ArrayLike | None = None,
    check_probability: ArrayLike | None = None,
    confidence: float = CONFIDENCE,
    n_resamples: int = 200,
    random_state: int | np.random.RandomState | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Plot the precision-recall curve with a bootstrap confidence band.

    The band treats the prior as known. ``n_resamples=0`` omits it.

    Parameters
    ----------
    %y_true, y_score, prior, scenario, sample_weight, propensity, checked, check_probability%
    %confidence, n_resamples%
    %random_state, ax%

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from puforest.plots import plot_precision_recall
    >>> ax = plot_precision_recall([1, 1, 0, 0, 0], [4, 3, 4, 2, 1], prior=0.25, random_state=0)
    >>> ax.get_ylabel()
    'Precision'
    """
    rows = evaluation_set(
        AVERAGE_PRECISION,
        y_true,
        y_score,
        prior=prior,
        scenario=scenario,
        sample_weight=sample_weight,
        propensity=propensity,
        checked=checked,
        check_probability=check_probability,
    )
    mean = _value(rows, AVERAGE_PRECISION)
    ax = axes(ax, title="Precision-recall curve (PU data)", xlabel="Recall", ylabel="Precision")
    ax.axhline(rows.prior, color=QUIET, linestyle=":", label="chance level")
    _draw(ax, rows, _precision_at, f"AP = {mean:.3f}", confidence, n_resamples, random_state)
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
    checked: ArrayLike | None = None,
    check_probability: ArrayLike | None = None,
    n_bins: int = 10,
    strategy: str = "quantile",
    confidence: float = CONFIDENCE,
    ax: Axes | None = None,
) -> Axes:
    """Plot the fraction of positives against the predicted probability, with error bars.

    The fraction of positives in a bin is the precision of a classifier that predicts exactly this
    bin as positive. The error bars are the intervals of `pu_interval` for this precision, and treat
    the prior as known.

    Parameters
    ----------
    %y_true, y_prob, prior, scenario, sample_weight, propensity, checked, check_probability%
    %n_bins, strategy, confidence, ax%

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from puforest.plots import plot_reliability
    >>> y_true, y_prob = [1, 1, 0, 0, 0, 0], [0.9, 0.6, 0.8, 0.4, 0.2, 0.2]
    >>> ax = plot_reliability(y_true, y_prob, prior=0.4, n_bins=2)
    >>> ax.get_xlabel()
    'Predicted probability'
    """
    rows = evaluation_set(
        CALIBRATION_ERROR,
        y_true,
        y_prob,
        prior=prior,
        scenario=scenario,
        sample_weight=sample_weight,
        propensity=propensity,
        checked=checked,
        check_probability=check_probability,
    )
    settings = IntervalSettings(confidence, "delta", None, 2, None)
    found = reliability(rows, settings, n_bins=n_bins, strategy=strategy)
    distance = _value(rows, CALIBRATION_ERROR, n_bins=n_bins, strategy=strategy)
    ax = axes(
        ax,
        title="Reliability diagram (PU data)",
        xlabel="Predicted probability",
        ylabel="Fraction of positives",
    )
    ax.plot([0, 1], [0, 1], color=QUIET, linestyle=":", label="perfectly calibrated")
    ax.errorbar(
        found.predicted,
        found.observed,
        yerr=[found.observed - found.low, found.high - found.observed],
        color=LABELED,
        marker="o",
        capsize=3,
        label=f"calibration error = {distance:.3f}",
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
    checked: ArrayLike | None = None,
    check_probability: ArrayLike | None = None,
    n_bins: int = 30,
    ax: Axes | None = None,
) -> Axes:
    """Plot the score distributions of the population, its positives and its negatives.

    The distribution of the positives is that of the labeled rows, scaled by the prior. The
    negatives are the difference between the population and the positives. If the positives exceed
    the population anywhere, the prior is too large, or the labeled rows are not a random sample of
    the positives.

    Parameters
    ----------
    %y_true, y_score, prior, scenario, sample_weight, propensity, checked, check_probability%
    %n_bins, ax%

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from puforest.plots import plot_score_distributions
    >>> ax = plot_score_distributions([1, 1, 0, 0, 0, 0], [4, 3, 4, 2, 1, 0], prior=0.25)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['population', 'positives (from labeled rows)', 'negatives (difference)']
    """
    rows = evaluation_set(
        ROC_AUC,
        y_true,
        y_score,
        prior=prior,
        scenario=scenario,
        sample_weight=sample_weight,
        propensity=propensity,
        checked=checked,
        check_probability=check_probability,
    )
    edges = np.histogram_bin_edges(rows.values, check.integer("n_bins", n_bins, 1))
    population, positives = (
        np.histogram(rows.values, edges, weights=weight)[0] / np.diff(edges)
        for weight in (rows.sample.population, rows.prior * rows.sample.positive)
    )
    ax = axes(
        ax,
        title="Score distributions (PU data)",
        xlabel="Score",
        ylabel="Density",
    )
    ax.stairs(population, edges, fill=True, color=UNLABELED, alpha=0.3, label="population")
    ax.stairs(
        positives,
        edges,
        color=LABELED,
        linewidth=2,
        label="positives (from labeled rows)",
    )
    ax.stairs(
        np.maximum(population - positives, 0),
        edges,
        color=QUIET,
        linewidth=1.5,
        linestyle="--",
        label="negatives (difference)",
    )
    ax.set_ylim(0, 1.4 * max(population.max(), positives.max()))
    ax.legend(frameon=False, loc="upper left")
    return ax
