"""Plots of importances and feature selection."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from puforest import _validation as check
from puforest._unwrap import unwrapped
from puforest.inspection import FeatureImportances, FeatureSelectionCurve
from puforest.inspection import importances as forest_importances
from puforest.plots._canvas import LABELED, QUIET, UNLABELED, axes, tick_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "plot_feature_selection",
    "plot_importance_map",
    "plot_importances",
]

NOTE_WIDTH = 70  # characters

COLORS = (LABELED, UNLABELED, QUIET, "#5b2a86", "#3c8d40")


def plot_importances(importances: Any, *, top: int = 15, ax: Axes | None = None) -> Axes:
    """Plot the most important features as bars, with standard deviations.

    Parameters
    ----------
    importances : FeatureImportances or estimator
        Result of `puforest.inspection.importances` or `permutation_importance`, or a fitted forest,
        calibrated or at the end of a pipeline or not.
    top : int, default=15
        Number of features to show.
    ax : Axes, optional
        Axes to draw on; new axes by default.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from puforest import PUExtraTreesClassifier
    >>> from puforest.plots import plot_importances
    >>> X = [[0.1, 5], [0.2, 3], [0.3, 4], [0.6, 3], [0.7, 5], [0.9, 3]]
    >>> forest = PUExtraTreesClassifier(prior=0.5, random_state=0).fit(X, [0, 0, 0, 0, 1, 1])
    >>> ax = plot_importances(forest)
    """
    if not isinstance(importances, FeatureImportances):
        importances = forest_importances(importances)
    rows = importances.sorted(check.integer("top", top, 1))
    names, means, spreads = zip(*rows, strict=True)
    xlabel = f"{importances.kind[:1].upper()}{importances.kind[1:]} (mean ± standard deviation)"
    if importances.note:
        xlabel += f"\n{textwrap.fill(importances.note, NOTE_WIDTH)}"
    ax = axes(ax, title="Feature importances", xlabel=xlabel, ylabel="")
    ax.barh(
        range(len(rows)),
        means,
        xerr=spreads,
        color=LABELED,
        error_kw={"ecolor": QUIET, "elinewidth": 1, "capsize": 2},
    )
    ax.set_yticks(range(len(rows)), labels=[tick_label(name) for name in names])
    ax.invert_yaxis()
    # Error bars may extend below 0, where there is nothing else to see.
    ax.set_xlim(left=min(0.0, 1.05 * min(means)))
    ax.grid(False, axis="y")
    return ax


def plot_importance_map(
    importances: Any, shape: tuple[int, ...], *, ax: Axes | None = None
) -> Axes:
    """Plot the importances of pixels as an image.

    Parameters
    ----------
    importances : FeatureImportances, estimator or array-like
        Importances, a fitted forest, or one value per pixel.
    shape : tuple of int
        Height and width of the images whose pixels are the features, in row-major order. An
        optional third number is the number of channels, which are stored one after the other; their
        importances are summed.
    ax : Axes, optional
        Axes to draw on; new axes by default.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from puforest.plots import plot_importance_map
    >>> ax = plot_importance_map([0.1, 0.3, 0.2, 0.0], (2, 2))
    """
    values = _values(importances)
    if len(shape) not in (2, 3) or np.prod(shape) != len(values):
        raise ValueError(
            f"shape={shape} does not match the {len(values)} features: it must be (height, width) "
            "or (height, width, channels)"
        )
    height, width = shape[:2]
    image = values.reshape(-1, height, width).sum(axis=0)
    ax = axes(ax, title="Feature importances by pixel", xlabel="", ylabel="")
    ax.grid(False)
    drawn = ax.imshow(image, cmap="magma", interpolation="nearest")
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_visible(False)
    ax.get_figure().colorbar(drawn, ax=ax, shrink=0.85, label="Importance")  # type: ignore[union-attr]
    return ax


def _values(importances: Any) -> Any:
    if isinstance(importances, FeatureImportances):
        return importances.mean
    found = unwrapped(importances)
    if found is not None:
        return found.trees.feature_importances_
    values: ArrayLike = importances
    return np.asarray(values, dtype=float).ravel()


def plot_feature_selection(
    *curves: FeatureSelectionCurve,
    labels: list[str] | None = None,
    log: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Plot scores against the number of features, with bands of one standard deviation.

    Parameters
    ----------
    *curves : FeatureSelectionCurve
        One or more results of `puforest.inspection.feature_selection_curve`.
    labels : list of str, optional
        Labels of the curves in the legend.
    log : bool, default=True
        Whether to use a logarithmic scale for the number of features.
    ax : Axes, optional
        Axes to draw on; new axes by default.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from puforest import PUExtraTreesClassifier
    >>> from puforest.inspection import feature_selection_curve
    >>> from puforest.plots import plot_feature_selection
    >>> X = [[0.1, 5], [0.2, 3], [0.3, 4], [0.6, 3], [0.7, 5], [0.9, 3]]
    >>> curve = feature_selection_curve(
    ...     PUExtraTreesClassifier(prior=0.5), X, [0, 0, 0, 0, 1, 1], X_test=X,
    ...     y_test=[0, 0, 0, 1, 1, 1], n_repeats=3, random_state=0,
    ... )
    >>> ax = plot_feature_selection(curve)
    """
    if not curves:
        raise ValueError("plot_feature_selection needs at least one FeatureSelectionCurve")
    if labels is not None and len(labels) != len(curves):
        raise ValueError(f"labels must have one entry per curve, {len(curves)}, got {len(labels)}")
    ax = axes(
        ax,
        title="Score by number of features",
        xlabel="Number of features",
        ylabel=curves[0].scoring,
    )
    for i, curve in enumerate(curves):
        label = labels[i] if labels is not None else None
        color = COLORS[i % len(COLORS)]
        ax.plot(curve.n_features, curve.mean, marker="o", markersize=4, color=color, label=label)
        low, high = curve.mean - curve.std, curve.mean + curve.std
        ax.fill_between(curve.n_features, low, high, color=color, alpha=0.15, linewidth=0)
    if check.boolean("log", log):
        ax.set_xscale("log")
        ticks = np.unique(np.concatenate([curve.n_features for curve in curves]))
        ax.set_xticks(ticks, labels=[str(k) for k in ticks])
        ax.minorticks_off()
    if labels is not None:
        ax.legend(frameon=False)
    return ax
