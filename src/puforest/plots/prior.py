"""Plot of the evidence for an estimate of the class prior."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from puforest.plots._canvas import LABELED, QUIET, UNLABELED, axes
from puforest.prior import PriorEstimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_prior_evidence"]


def plot_prior_evidence(estimate: PriorEstimate, *, ax: Axes | None = None) -> Axes:
    """Plot the evidence for an estimate of the class prior.

    - BBE: the fraction of unlabeled rows above each threshold divided by that of labeled rows, with
      bounds. The curve should be flat around its minimum.
    - DEDPUL: the densities of the scores of both groups, and the positives estimated among the
      unlabeled rows. The scaled density of the labeled rows should not exceed that of the unlabeled
      rows anywhere.
    - TIcE and KM2: the estimates from each fold or draw.
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
    draw = {"bbe": _best_bin, "dedpul": _densities, "elkan-noto": _scores}
    return draw.get(estimate.method, _parts)(estimate, ax)


def _title(estimate: PriorEstimate) -> str:
    low, high = estimate.interval
    return f"Prior {estimate.value:.3f} ({low:.3f} to {high:.3f}) by {estimate.method}"


def _best_bin(estimate: PriorEstimate, ax: Axes | None) -> Axes:
    evidence = estimate.evidence
    ax = axes(
        ax,
        title=_title(estimate),
        xlabel="share of labeled rows above the threshold",
        ylabel="positives among unlabeled rows, at most",
    )
    above = evidence["labeled_above"]
    seen = above > 0
    x = above[seen]
    ax.fill_between(
        x,
        evidence["lower"][seen],
        np.minimum(evidence["upper"][seen], 2),
        color=QUIET,
        alpha=0.25,
        linewidth=0,
        label=f"{100 * estimate.confidence:g}% bounds",
    )
    ax.plot(x, evidence["quotient"][seen], color=LABELED, label="unlabeled / labeled above")
    chosen = np.searchsorted(evidence["thresholds"], evidence["chosen"])
    ax.axhline(estimate.unlabeled_prior, color=UNLABELED, linewidth=1)
    ax.plot(
        above[chosen],
        evidence["quotient"][chosen],
        "o",
        color=UNLABELED,
        label=f"best bin: {estimate.unlabeled_prior:.3f}",
    )
    ax.set(xlim=(0, 1), ylim=(0, 1.05))
    ax.legend(frameon=False)
    return ax


def _densities(estimate: PriorEstimate, ax: Axes | None) -> Axes:
    evidence, cells = estimate.evidence, estimate.evidence["cells"]
    ax = axes(ax, title=_title(estimate), xlabel="logit of the score", ylabel="density")
    scale = 1 / (cells[1] - cells[0])
    unlabeled = evidence["unlabeled_density"] * scale
    posterior = np.minimum(1, estimate.unlabeled_prior * evidence["ratio"])
    ax.plot(cells, unlabeled, color=UNLABELED, label="unlabeled rows")
    ax.fill_between(
        cells,
        posterior * unlabeled,
        color=LABELED,
        alpha=0.25,
        linewidth=0,
        label="positives among them",
    )
    ax.plot(
        cells,
        estimate.unlabeled_prior * evidence["labeled_density"] * scale,
        color=LABELED,
        label="labeled rows × their share",
    )
    ax.set_ylim(bottom=0)
    ax.legend(frameon=False)
    return ax


def _scores(estimate: PriorEstimate, ax: Axes | None) -> Axes:
    ax = axes(ax, title=_title(estimate), xlabel="probability of being labeled", ylabel="density")
    for scores, color, label in zip(
        estimate.evidence["scores"],
        (LABELED, UNLABELED),
        ("labeled rows", "unlabeled rows"),
        strict=True,
    ):
        ax.hist(scores, bins=40, density=True, color=color, alpha=0.45, label=label)
    (frequency,) = estimate.evidence["frequencies"]
    ax.axvline(frequency, color=QUIET, label=f"frequency {frequency:.3f}")
    ax.legend(frameon=False)
    return ax


def _parts(estimate: PriorEstimate, ax: Axes | None) -> Axes:
    by_tice = estimate.method == "tice"
    values = estimate.evidence["frequencies" if by_tice else "draws"]
    mean = values.mean()
    ax = axes(
        ax,
        title=_title(estimate),
        xlabel="part of the data",
        ylabel="label frequency" if by_tice else "positives among unlabeled rows",
    )
    ax.plot(np.arange(1, len(values) + 1), values, "o", color=LABELED)
    ax.axhline(mean, color=UNLABELED, linewidth=1, label=f"estimate {mean:.3f}")
    ax.set(xticks=np.arange(1, len(values) + 1), ylim=(0, 1))
    ax.legend(frameon=False)
    return ax
