"""Comparison of methods over data sets, as recommended by Demsar (2006, JMLR 7)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import studentized_range, wilcoxon

from experiments.figures import save

LEVEL = 0.05
LINE, BAR, TEXT = "#8a8f98", "#d9730d", "#1f2328"


def mean_ranks(table: pd.DataFrame) -> pd.Series:
    """Return the mean rank of each column; 1 is best, that is largest, and ties are averaged."""
    return table.rank(axis=1, ascending=False).mean().sort_values()


def critical_difference(n_methods: int, n_datasets: int) -> float:
    """Critical difference of mean ranks in Nemenyi's test at the 5% level."""
    q = studentized_range.ppf(1 - LEVEL, n_methods, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(n_methods * (n_methods + 1) / (6 * n_datasets)))


def signed_rank_p(difference: pd.Series) -> float:
    """Return the two-sided p-value of Wilcoxon's signed-rank test."""
    return float(wilcoxon(difference).pvalue) if (difference != 0).any() else 1.0


def holm(p: Sequence[float]) -> np.ndarray:
    """Correct p-values for multiple tests with Holm's method."""
    order = np.argsort(p)
    factors = len(p) - np.arange(len(p))
    corrected = np.minimum(np.maximum.accumulate(factors * np.asarray(p)[order]), 1)
    return corrected[np.argsort(order)]


def cliques(ranks: pd.Series, difference: float) -> list[tuple[float, float]]:
    """Return the largest ranges of mean ranks that do not differ significantly."""
    values = np.sort(ranks.to_numpy())
    ranges = [(v, values[values <= v + difference].max()) for v in values]
    return [
        (first, last)
        for i, (first, last) in enumerate(ranges)
        if last > first and (i == 0 or last > ranges[i - 1][1])
    ]


def draw(panels: dict[str, pd.DataFrame], path: Path) -> None:
    """Draw a critical-difference diagram for each measure: bars join methods that do not differ."""
    import matplotlib.pyplot as plt

    n_methods = max(table.shape[1] for table in panels.values())
    height = 1.3 + 0.16 * n_methods
    figure, axes = plt.subplots(
        len(panels), figsize=(8, height * len(panels)), squeeze=False, layout="constrained"
    )
    for ax, (title, table) in zip(axes[:, 0], panels.items(), strict=True):
        _draw_panel(ax, title, mean_ranks(table), critical_difference(*table.shape[::-1]))
    save(figure, path)


def _draw_panel(ax: Any, title: str, ranks: pd.Series, difference: float) -> None:
    """Draw the better half of the methods on the left and the others on the right."""
    n = len(ranks)
    groups = cliques(ranks, difference)
    ax.plot([1, n], [0, 0], color=TEXT, linewidth=1)
    for rank in range(1, n + 1):
        ax.plot([rank, rank], [0, 0.25], color=TEXT, linewidth=1)
        ax.text(rank, 0.4, str(rank), ha="center", va="bottom", fontsize=8)
    bars = -0.4 - 0.32 * np.arange(len(groups))
    for (first, last), y in zip(groups, bars, strict=True):
        ax.plot([first - 0.05, last + 0.05], [y, y], color=BAR, linewidth=3)
    start = -0.9 - 0.32 * len(groups)
    for place, (name, rank) in enumerate(ranks.items()):
        left = place < (n + 1) // 2
        y = start - (place if left else n - 1 - place)
        x = 0.7 if left else n + 0.3
        ax.plot([rank, rank, x], [0, y, y], color=LINE, linewidth=0.8)
        text = f"{name}  {rank:.2f}" if left else f"{rank:.2f}  {name}"
        ax.text(x, y, f" {text} ", ha="right" if left else "left", va="center", fontsize=9)
    ax.plot([1, 1 + difference], [1.75, 1.75], color=TEXT, linewidth=2)
    ax.text(1 + difference + 0.1, 1.75, f"critical difference {difference:.2f}", va="center",
            fontsize=8)  # fmt: skip
    ax.set_title(f"Mean rank by {title}", loc="left", fontsize=10)
    # Names need room on both sides.
    ax.set_xlim(1 - 0.42 * n, n + 0.42 * n)
    ax.set_ylim(start - (n + 1) // 2, 2.3)
    ax.axis("off")
