"""What every picture has in common: axes to draw on, colors and grid."""

from __future__ import annotations

from typing import TYPE_CHECKING

from puforest._optional_imports import optional_import

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Two colors that the color-blind tell apart, and a quiet one for what is only for comparison.
LABELED = "#0b6e99"
UNLABELED = "#d9730d"
QUIET = "#8a8f98"


def axes(ax: Axes | None, *, title: str, xlabel: str, ylabel: str) -> Axes:
    """The axes given, or new ones, with labels and a light grid."""
    if ax is None:
        plt = optional_import("matplotlib.pyplot", extra="plot", purpose="plotting")
        _, ax = plt.subplots(figsize=(6, 4), layout="constrained")
    ax.set(title=title, xlabel=xlabel, ylabel=ylabel)
    ax.grid(alpha=0.25)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    return ax
