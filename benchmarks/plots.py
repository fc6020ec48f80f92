"""The charts of the reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
MARKERS = ("o", "s", "D", "^", "v", "P")
STYLE = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "svg.hashsalt": "puforest",  # reproducible files
}

# Rows of (label, ratio by workload).
Rows = Sequence[tuple[str, Mapping[str, float]]]


def save(figure: Figure, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    metadata = {"Date": None} if path.suffix == ".svg" else None
    figure.savefig(path, dpi=150, bbox_inches="tight", pad_inches=0.15, metadata=metadata)


def plain(value: float) -> str:
    """Format a ratio with two significant digits: 0.85, 4.5, 24."""
    return f"{value:.2f}" if value < 1 else f"{value:.1f}" if value < 10 else f"{value:.0f}"


def ratios(axes: Axes, title: str, rows: Rows, workloads: Sequence[str]) -> None:
    """Draw a line for each row and a marker for each workload; the extremes are labeled."""
    for y, (_, values) in enumerate(rows):
        axes.axhline(y, color="#e4e4e4", linewidth=1, zorder=0)
        for workload, value in values.items():
            i = workloads.index(workload)
            axes.scatter(value, y, s=42, color=COLORS[i], marker=MARKERS[i], zorder=3)
        ends = {max(values.values()): (7, "left")}
        if len(values) > 1:
            ends |= {min(values.values()): (-7, "right")}
        for value, (shift, side) in ends.items():
            where = {"textcoords": "offset points", "ha": side, "va": "center_baseline"}
            box = {"facecolor": "white", "edgecolor": "none", "pad": 1}
            axes.annotate(plain(value), (value, y), (shift, 0), fontsize=8, bbox=box, **where)
    axes.axvline(1, color="#555555", linewidth=1, zorder=1)
    axes.set_yticks(range(len(rows)), [label for label, _ in rows])
    axes.set_ylim(len(rows) - 0.5, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.set_title(title, loc="left", fontweight="bold", fontsize=9.5)


def speed_chart(panels: Mapping[str, Rows], note: str, path: Path) -> None:
    """Draw speedups in panels; rows without measurements are omitted."""
    panels = {title: [row for row in rows if row[1]] for title, rows in panels.items()}
    panels = {title: rows for title, rows in panels.items() if rows}
    workloads = list(dict.fromkeys(w for rows in panels.values() for _, ws in rows for w in ws))
    everything = [value for rows in panels.values() for _, ws in rows for value in ws.values()]
    low, high = min([0.8, *everything]) / 1.5, max([2.0, *everything]) * 1.6
    ticks = [t for t in (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500) if low <= t <= high]
    with rc_context(STYLE):
        heights = [len(rows) + 1 for rows in panels.values()]
        figure = Figure(figsize=(8.5, 0.42 * sum(heights) + 1), layout="constrained")
        grid = figure.subplots(
            max(1, len(panels)),
            1,
            squeeze=False,
            gridspec_kw={"height_ratios": heights or [1]},
        )
        for axes, (title, rows) in zip(grid.flat, panels.items(), strict=False):
            ratios(axes, title, rows, workloads)
            axes.set_xscale("log")
            axes.set_xlim(low, high)
            axes.set_xticks(ticks, [f"{tick:g}×" for tick in ticks])
            axes.minorticks_off()
        for i, workload in enumerate(workloads):
            grid[0, 0].scatter([], [], s=42, color=COLORS[i], marker=MARKERS[i], label=workload)
        figure.legend(loc="outside upper right", ncols=4, frameon=False, handletextpad=0.1)
        grid[-1, 0].set_xlabel(note)
        save(figure, path)


def scale_chart(
    lines: Mapping[str, tuple[Sequence[int], Sequence[float], Sequence[float]]], path: Path
) -> None:
    """Draw fit time and memory by number of rows; lines are rows, seconds, bytes per cell."""
    with rc_context(STYLE):
        figure = Figure(figsize=(8, 3.2))
        left, right = figure.subplots(1, 2, gridspec_kw={"wspace": 0.3})
        for i, (label, (rows, seconds, memory)) in enumerate(lines.items()):
            look = {"color": COLORS[i], "marker": MARKERS[i], "label": label, "markersize": 5}
            left.loglog(rows, seconds, **look)
            right.semilogx(rows, memory, **look)
        left.set_title("Fit, seconds", loc="left", fontweight="bold", fontsize=9.5)
        right.set_title(
            "Peak memory of the fit, bytes per cell of X",
            loc="left",
            fontweight="bold",
            fontsize=9.5,
        )
        right.axhline(4, color="#888888", linewidth=1, linestyle="--")
        right.annotate(
            "copy of X",
            (1, 4),
            (-4, 3),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            ha="right",
            fontsize=7.5,
        )
        right.set_ylim(bottom=0)
        for axes in (left, right):
            axes.set_xlabel("rows")
            axes.grid(color="#e4e4e4", linewidth=0.8)
            axes.set_axisbelow(True)
        left.legend(frameon=False)
        save(figure, path)
