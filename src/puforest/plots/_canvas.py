"""Axes, colors and grid of all plots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from puforest._optional_imports import optional_import

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

# Two colors that are safe for color blindness, and a muted one for reference lines.
LABELED = "#0b6e99"
UNLABELED = "#d9730d"
QUIET = "#8a8f98"

LONGEST_LABEL = 32

LABEL_HEIGHT = 0.06  # of a line of small text, as a fraction of the axes


def axes(ax: Axes | None, *, title: str, xlabel: str, ylabel: str, height: float = 4) -> Axes:
    """Set labels and a light grid on the given axes, or on new ones of this height in inches."""
    if ax is None:
        plt = optional_import("matplotlib.pyplot", extra="plot", purpose="plotting")
        _, ax = plt.subplots(figsize=(6, height), layout="constrained")
    ax.set(title=title, xlabel=xlabel, ylabel=ylabel)
    ax.grid(alpha=0.25)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def label_ends(ax: Axes, lines: Sequence[tuple[Line2D, str]]) -> None:
    """Label lines to the right of the axes, at the height where they end, without overlap."""
    low, high = ax.get_ylim()
    gap = LABEL_HEIGHT * (high - low)
    ends = []
    for line, label in lines:
        values = np.asarray(line.get_ydata(), dtype=float)
        known = values[np.isfinite(values)]
        if len(known):
            ends.append((float(known[-1]), line, label))
    ends.sort(key=lambda end: end[0])
    heights: list[float] = []
    for end, _, _ in ends:
        heights.append(max(end, heights[-1] + gap) if heights else end)
    # Labels that were pushed too far above the axes push those below them down.
    limit = high + gap
    for i in reversed(range(len(heights))):
        heights[i] = min(heights[i], limit)
        limit = heights[i] - gap
    for (end, line, label), height in zip(ends, heights, strict=True):
        ax.annotate(
            label,
            xy=(1, end),
            xytext=(1.05, height),
            xycoords=ax.get_yaxis_transform(),
            textcoords=ax.get_yaxis_transform(),
            color=line.get_color(),
            fontsize="small",
            va="center",
            annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": line.get_color(), "lw": 0.6},
        )


def tick_label(text: str) -> str:
    """Shorten the name of a feature or category, and turn off math text for dollar signs."""
    short = text if len(text) <= LONGEST_LABEL else f"{text[: LONGEST_LABEL - 1]}…"
    return short.replace("$", r"\$")
