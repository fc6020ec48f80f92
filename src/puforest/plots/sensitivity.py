"""Plot of the sensitivity to the class prior."""

from __future__ import annotations

from typing import TYPE_CHECKING

from puforest.plots import _canvas

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from puforest.model_selection import PriorSensitivity

__all__ = ["plot_prior_sensitivity"]

# Label, attribute, color, line style.
METRICS = (
    ("precision", "precision", "#5b2a86", "-"),
    ("recall", "recall", "#3c8d40", "--"),
    ("F1", "f1", "#b0306a", "-."),
    ("error", "error", "#333333", ":"),
)


def plot_prior_sensitivity(sensitivity: PriorSensitivity, *, ax: Axes | None = None) -> Axes:
    """Plot predictions and metrics as functions of the class prior.

    Curves are labeled at their ends. On the gray diagonal, the fraction of rows predicted positive
    equals the prior.

    Parameters
    ----------
    sensitivity : PriorSensitivity
        Result of `puforest.model_selection.prior_sensitivity`.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on; new axes by default.

    Returns
    -------
    matplotlib.axes.Axes
    """
    s = sensitivity
    ax = _canvas.axes(
        ax,
        title="Sensitivity to the class prior",
        xlabel=f"Class prior (dashed line: prior of the fit, {s.prior:.3g})",
        ylabel="Fraction of rows, or metric",
    )
    ends = s.priors[[0, -1]]
    ax.set_ylim(-0.02, 1.04)
    ax.axvline(s.prior, color=_canvas.QUIET, lw=1, ls="--")
    (diagonal,) = ax.plot(ends, ends, color=_canvas.QUIET, lw=1)
    lines = [(diagonal, "fraction = prior")]
    fractions = (
        (s.positive_fraction, _canvas.LABELED, "predicted positive"),
        (s.flipped_fraction, _canvas.UNLABELED, "prediction changed"),
    )
    for values, color, label in fractions:
        lines += [(line, label) for line in ax.plot(s.priors, values, color=color, lw=2.5)]
    for label, attribute, color, style in METRICS:
        values = getattr(s, attribute)
        if values is not None:
            drawn = ax.plot(s.priors, values, color=color, lw=1.4, ls=style)
            lines += [(line, label) for line in drawn]
    ax.set_xlim(*ends)
    _canvas.label_ends(ax, lines)
    return ax
