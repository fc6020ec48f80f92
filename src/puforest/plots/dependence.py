"""Plots of partial dependence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from puforest import _validation as check
from puforest.inspection import PartialDependence
from puforest.inspection._grid import is_missing, shown_value
from puforest.plots._canvas import LABELED, QUIET, UNLABELED, axes, tick_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_partial_dependence"]

PROBABILITY = "Probability of the positive class"
CATEGORICAL = ("category", "boolean")
MAX_TICKS = 12
MANY_LABELS = 5  # more labels than this next to each other overlap unless they are upright
ROW_HEIGHT = 0.22  # inches, enough for a label

# Smaller effects are not drawn larger than this range of probabilities.
LEAST_RANGE = 0.05
N_LEVELS = 10  # of contours, about
MARGIN = 0.06  # of the range, on either side


def plot_partial_dependence(
    dependence: PartialDependence, *, max_lines: int = 50, ax: Axes | None = None
) -> Axes:
    """Plot the partial dependence on one feature, or on two.

    One feature is drawn as a curve, or as dots if it is categorical or boolean. Two features are
    drawn as contours, or as a heat map if one of them is categorical or boolean. The prediction for
    a missing value is a dashed line, or a dot of its own. The scale covers the predictions that are
    shown rather than all probabilities from 0 to 1; a dotted line marks the mean prediction of the
    rows as they are.

    Parameters
    ----------
    dependence : PartialDependence
        Result of `puforest.inspection.partial_dependence`.
    max_lines : int, default=50
        Maximum number of individual curves, from evenly spaced rows.
    ax : Axes, optional
        Axes to draw on; new axes by default.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from puforest import PUExtraTreesClassifier
    >>> from puforest.inspection import partial_dependence
    >>> from puforest.plots import plot_partial_dependence
    >>> X = [[0.1, 5], [0.2, 3], [0.3, 4], [0.6, 3], [0.7, 5], [0.9, 3]]
    >>> forest = PUExtraTreesClassifier(prior=0.5, random_state=0).fit(X, [0, 0, 0, 0, 1, 1])
    >>> ax = plot_partial_dependence(partial_dependence(forest, X, 0))
    """
    check.integer("max_lines", max_lines, 1)
    if len(dependence.features) == 2:
        return _plot_two(dependence, ax)
    lines = np.empty((0, len(dependence.grid[0])))
    if dependence.individual is not None:
        n = len(dependence.individual)
        lines = dependence.individual[np.linspace(0, n - 1, min(max_lines, n)).astype(int)]
    draw = _plot_dots if dependence.kinds[0] in CATEGORICAL else _plot_curve
    return draw(dependence, lines, ax)


def _plot_curve(dependence: PartialDependence, lines: NDArray[np.float64], ax: Axes | None) -> Axes:
    name, grid = dependence.features[0], dependence.grid[0]
    title = f"Partial dependence on {tick_label(name)}"
    ax = axes(ax, title=title, xlabel=_axis_label(dependence, 0), ylabel=PROBABILITY)
    missing = is_missing(grid)
    x = _positions(grid[~missing])
    ax.plot(x, lines[:, ~missing].T, color=QUIET, alpha=0.3, linewidth=0.7)
    if dependence.average is not None:
        average = dependence.average[~missing]
        ax.plot(x, average, color=LABELED, linewidth=2.5, marker="o", markersize=3)
        for value in dependence.average[missing]:
            ax.axhline(value, color=UNLABELED, linestyle="--", label=f"missing: {value:.3g}")
    if dependence.kinds[0] == "datetime":
        ax.tick_params("x", rotation=30)
    mean = dependence.mean_prediction
    ax.axhline(mean, color=QUIET, linestyle=":", label=f"mean prediction: {mean:.3g}")
    ax.set_ylim(_shown_range(dependence, lines))
    ax.legend(frameon=False, fontsize="small")
    return ax


def _shown_range(dependence: PartialDependence, lines: NDArray[np.float64]) -> tuple[float, float]:
    """Return the range of the predictions in a plot, with a margin."""
    values = np.append(lines, dependence.mean_prediction)
    if dependence.average is not None:
        values = np.append(values, dependence.average)
    low, high = _at_least(values.min(), values.max())
    margin = MARGIN * (high - low)
    return low - margin, high + margin


def _at_least(low: float, high: float) -> tuple[float, float]:
    """Extend a range to `LEAST_RANGE`."""
    more = max(0.0, LEAST_RANGE - (high - low)) / 2
    return low - more, high + more


def _plot_dots(dependence: PartialDependence, lines: NDArray[np.float64], ax: Axes | None) -> Axes:
    name, labels = dependence.features[0], _labels(dependence.grid[0])
    title = f"Partial dependence on {tick_label(name)}"
    height = max(4, 1 + ROW_HEIGHT * len(labels))
    ax = axes(ax, title=title, xlabel=PROBABILITY, ylabel=tick_label(name), height=height)
    places = np.arange(len(labels))
    for line in lines:
        ax.plot(line, places, "o", color=QUIET, alpha=0.3, markersize=3)
    mean = dependence.mean_prediction
    ax.axvline(mean, color=QUIET, linestyle=":", label=f"mean prediction: {mean:.3g}")
    if dependence.average is not None:
        colors = [UNLABELED if gone else LABELED for gone in is_missing(dependence.grid[0])]
        ax.hlines(places, mean, dependence.average, color=colors, linewidth=2)
        ax.scatter(dependence.average, places, color=colors, s=36, zorder=3)
    ax.set_yticks(places, labels=labels)
    ax.set_ylim(len(places) - 0.5, -0.5)
    ax.set_xlim(_shown_range(dependence, lines))
    ax.legend(frameon=False, fontsize="small")
    ax.grid(False, axis="y")
    return ax


def _plot_two(dependence: PartialDependence, ax: Axes | None) -> Axes:
    from matplotlib.ticker import MaxNLocator

    if dependence.average is None:
        raise ValueError(
            "dependence has no average, which a plot of two features needs: call "
            "partial_dependence with kind='average' or kind='both'"
        )
    first, second = map(tick_label, dependence.features)
    title = f"Partial dependence on {first} and {second}"
    xlabel, ylabel = _axis_label(dependence, 0), _axis_label(dependence, 1)
    height = max(4, 1 + ROW_HEIGHT * _n_categories(dependence, 1))
    if _n_categories(dependence, 0) > MANY_LABELS:
        height += 1
    ax = axes(ax, title=title, xlabel=xlabel, ylabel=ylabel, height=height)
    if any(kind in CATEGORICAL for kind in dependence.kinds):
        drawn: Any = _heat_map(dependence, dependence.average, ax)
    else:
        known = [~is_missing(grid) for grid in dependence.grid]
        x, y = (_positions(grid[kept]) for grid, kept in zip(dependence.grid, known, strict=True))
        average = dependence.average[np.ix_(*known)]
        levels = MaxNLocator(N_LEVELS).tick_values(*_at_least(average.min(), average.max()))
        drawn = ax.contourf(x, y, average.T, levels=levels, cmap="viridis")
    ax.get_figure().colorbar(drawn, ax=ax, label=PROBABILITY)  # type: ignore[union-attr]
    return ax


def _heat_map(dependence: PartialDependence, average: NDArray[np.float64], ax: Axes) -> Any:
    ax.grid(False)
    low, high = _at_least(average.min(), average.max())
    drawn = ax.imshow(average.T, vmin=low, vmax=high, cmap="viridis", aspect="auto", origin="lower")
    for axis, kind, grid in zip(
        (ax.xaxis, ax.yaxis), dependence.kinds, dependence.grid, strict=True
    ):
        n = len(grid)
        every = n if kind in CATEGORICAL else min(n, MAX_TICKS)
        shown = np.unique(np.linspace(0, n - 1, every).astype(int))
        axis.set_ticks(shown, labels=_labels(grid[shown]))
    ax.tick_params("x", rotation=90 if _n_categories(dependence, 0) > MANY_LABELS else 30)
    return drawn


def _n_categories(dependence: PartialDependence, i: int) -> int:
    """Return the number of labels of a categorical or boolean feature, 0 for others."""
    return len(dependence.grid[i]) if dependence.kinds[i] in CATEGORICAL else 0


def _axis_label(dependence: PartialDependence, i: int) -> str:
    days = " (days)" if dependence.kinds[i] == "duration" else ""
    return f"{tick_label(dependence.features[i])}{days}"


def _positions(grid: NDArray[Any]) -> NDArray[Any]:
    """Return grid values as matplotlib draws them; durations are numbers of days."""
    return grid / np.timedelta64(1, "D") if grid.dtype.kind == "m" else grid


def _labels(grid: NDArray[Any]) -> list[str]:
    return [tick_label(shown_value(value)) for value in grid]
