"""How answers hang on the class prior."""

from __future__ import annotations

from typing import TYPE_CHECKING

from puforest.plots import _canvas

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from puforest.model_selection import PriorSensitivity

__all__ = ["plot_prior_sensitivity"]

# Name in the picture, attribute, line style.
METRICS = (
    ("precision", "precision", "--"),
    ("recall", "recall", ":"),
    ("F1", "f1", "-."),
    ("error", "error", (0, (6, 1, 1, 1, 1, 1))),
)


def plot_prior_sensitivity(sensitivity: PriorSensitivity, *, ax: Axes | None = None) -> Axes:
    """Draw what `prior_sensitivity` found: shares and metrics by prior.

    The grey diagonal is where as many rows are called positive as the prior says.

    Parameters
    ----------
    sensitivity : PriorSensitivity
        The answers by prior.
    ax : matplotlib.axes.Axes, optional
        Where to draw; new axes by default.

    Returns
    -------
    matplotlib.axes.Axes
    """
    s = sensitivity
    ax = _canvas.axes(
        ax,
        title="What hangs on the class prior",
        xlabel="class prior",
        ylabel="share of rows, or metric",
    )
    ends = s.priors[[0, -1]]
    ax.plot(ends, ends, color=_canvas.QUIET, lw=1)
    ax.axvline(
        s.prior, color=_canvas.QUIET, lw=1, ls="--", label=f"prior of the fit: {s.prior:.3g}"
    )
    ax.plot(s.priors, s.positive_fraction, color=_canvas.LABELED, lw=2.5, label="called positive")
    ax.plot(s.priors, s.flipped_fraction, color=_canvas.UNLABELED, lw=2.5, label="decision flipped")
    for name, attribute, style in METRICS:
        values = getattr(s, attribute)
        if values is not None:
            ax.plot(s.priors, values, color="black", lw=1.2, ls=style, label=name)
    ax.set_ylim(-0.02, 1.02)
    ax.legend(frameon=False, fontsize="small", loc="center left", bbox_to_anchor=(1, 0.5))
    return ax
