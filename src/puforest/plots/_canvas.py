"""Axes, colors and grid of all plots."""

from __future__ import annotations

from typing import TYPE_CHECKING

from puforest._optional_imports import optional_import

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Two colors that are safe for color blindness, and a muted one for reference lines.
LABELED = "#0b6e99"
UNLABELED = "#d9730d"
QUIET = "#8a8f98"

LONGEST_LABEL = 32


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


def tick_label(text: str) -> str:
    """Shorten the name of a feature or category, and turn off math text for dollar signs."""
    short = text if len(text) <= LONGEST_LABEL else f"{text[: LONGEST_LABEL - 1]}…"
    return short.replace("$", r"\$")
