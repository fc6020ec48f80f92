"""Plot of the sensitivity to the class prior."""

from __future__ import annotations

from typing import TYPE_CHECKING

from puforest.plots import _canvas

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from puforest.model_selection import PriorSensitivity

__all__ = ["plot_prior_sensitivity"]

# Label, attribute, line style.
METRICS = (
    ("precision", "precision", "--"),
    ("recall", "recall", ":"),
    ("F1", "f1", "-."),
    ("error", "error", (0, (6, 1, 1, 1, 1, 1))),
)


def plot_prior_sensitivity(sensitivity: PriorSensitivity, *, ax: Axes | None = None) -> Axes:
    """Plot predictions and metrics as functions of the class prior.

    On the gray diagonal, the fraction of rows predicted positive equals the prior.

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
        xlabel="Class prior",
        ylabel="Fraction of rows, or metric",
    )
    ends = s.priors[[0, -1]]
    ax.plot(ends, ends, color=_canvas.QUIET, lw=1)
    ax.axvline(
        s.prior, color=_canvas.QUIET, lw=1, ls="--", label=f"prior of the fit = {s.prior:.3g}"
    )
    ax.plot(
        s.priors, s.positive_fraction, color=_canvas.LABELED, lw=2.5, label="predicted positive"
    )
    ax.plot(
        s.priors, s.flipped_fraction, color=_canvas.UNLABELED, lw=2.5, label="prediction changed"
    )
    for name, attribute, style in METRICS:
        values = getattr(s, attribute)
        if values is not None:
            ax.plot(s.priors, values, color="black", lw=1.2, ls=style, label=name)
    ax.set_ylim(-0.02, 1.02)
    ax.legend(frameon=False, fontsize="small", loc="center left", bbox_to_anchor=(1, 0.5))
    return ax
