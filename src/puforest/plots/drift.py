"""Plot of the scores of new rows and of the training population."""

from __future__ import annotations

from typing import TYPE_CHECKING

from puforest.plots import _canvas

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from puforest.diagnostics import DriftReport

__all__ = ["plot_drift"]


def plot_drift(report: DriftReport, *, ax: Axes | None = None) -> Axes:
    """Plot the fractions of new rows and of the training population above each probability.

    Where the curves cross the threshold, they show the fractions predicted positive.

    Parameters
    ----------
    report : DriftReport
        Result of `puforest.diagnostics.drift_report`.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on; new axes by default.

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax = _canvas.axes(
        ax,
        title="New rows and training population",
        xlabel="Probability of the positive class",
        ylabel="Fraction of rows with a larger probability",
    )
    for above, fraction, color, name in (
        (report.training_above, report.training_fraction, _canvas.LABELED, "training population"),
        (report.new_above, report.positive_fraction, _canvas.UNLABELED, "new rows"),
    ):
        label = f"{name}: {fraction:.1%} predicted positive"
        ax.step(report.probability, above, where="post", color=color, lw=2, label=label)
    threshold = f"threshold {report.threshold:.3g}"
    ax.axvline(report.threshold, color=_canvas.QUIET, ls="--", lw=1, label=threshold)
    ax.set(xlim=(0, 1), ylim=(0, 1))
    ax.legend(frameon=False, fontsize="small")
    return ax
