"""Plot of the evidence for an estimate of the class prior."""

from __future__ import annotations

from typing import TYPE_CHECKING

from puforest.plots._canvas import LABELED, QUIET, UNLABELED, axes
from puforest.prior import PriorEstimate
from puforest.prior._evidence import evidence_curves

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_prior_evidence"]

COLORS = {"labeled": LABELED, "unlabeled": UNLABELED, "positives": QUIET}


def plot_prior_evidence(estimate: PriorEstimate, *, ax: Axes | None = None) -> Axes:
    """Plot the evidence for an estimate of the class prior.

    - BBE: the upper bound on the class prior from the rows above each threshold, which is the
      fraction of unlabeled rows divided by that of labeled rows. In a single training set, the
      labeled rows are added. The curve should be flat around its minimum.
    - DEDPUL: the densities of the scores of both groups, and the positives estimated among the
      unlabeled rows. The scaled density of the labeled rows should not exceed that of the unlabeled
      rows anywhere.
    - TIcE and KM2: the class prior estimated from each fold or draw.
    - Elkan-Noto: the scores of both groups.

    Parameters
    ----------
    estimate : PriorEstimate
        Result of `puforest.prior.estimate_prior`, or ``prior_estimate_`` of a forest.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on; new axes by default.

    Returns
    -------
    matplotlib.axes.Axes
    """
    if not isinstance(estimate, PriorEstimate):
        raise TypeError(
            "estimate must be a PriorEstimate, from estimate_prior or prior_estimate_ of a forest, "
            f"got {type(estimate).__name__}"
        )
    evidence = evidence_curves(estimate)
    if evidence is None:
        raise ValueError(f"the estimate by {estimate.method!r} holds no evidence to draw")
    low, high = estimate.interval
    found = f"{estimate.value:.3f} ({low:.3f} to {high:.3f})"
    if estimate.is_bound:
        found = f"at most {estimate.upper:.3f} (point estimate {estimate.value:.3f})"
    ax = axes(
        ax,
        title=f"Prior {found} by {estimate.method}",
        xlabel=evidence.x_label,
        ylabel=evidence.y_label,
    )
    for curve in evidence.curves:
        color = COLORS[curve.group]
        if curve.low is not None and curve.high is not None:
            limits = f"{100 * estimate.confidence:g}% limits"
            ax.fill_between(
                curve.x, curve.low, curve.high, color=QUIET, alpha=0.25, linewidth=0, label=limits
            )
        ax.plot(curve.x, curve.y, "o" if curve.points else "-", color=color, label=curve.name)
    for mark in evidence.marks:
        if mark.x is not None:
            ax.axvline(mark.x, color=QUIET, linestyle="--", linewidth=1, label=mark.name)
        if mark.y is not None:
            ax.axhline(mark.y, color=UNLABELED, linewidth=1, label=mark.name)
    if evidence.curves[0].points:
        ax.set_xticks(evidence.curves[0].x)
    ax.set(xlim=evidence.x_range, ylim=evidence.y_range or (0, None))
    ax.legend(frameon=False)
    return ax
