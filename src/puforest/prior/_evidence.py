"""Curves behind an estimate of the class prior, for plots and reports."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from puforest._prior_estimate import PriorEstimate
from puforest.prior._base import Array

N_BINS = 40  # of histograms


@dataclass(frozen=True)
class Curve:
    """One curve, with an optional band around it."""

    name: str  # for the legend
    group: str  # rows that the curve describes: "labeled", "unlabeled" or "positives"
    x: Array
    y: Array
    low: Array | None = None  # confidence limits of y
    high: Array | None = None
    points: bool = False  # draw separate points instead of a line


@dataclass(frozen=True)
class Mark:
    """A vertical line at `x` or a horizontal line at `y`."""

    name: str
    x: float | None = None
    y: float | None = None


@dataclass(frozen=True)
class Evidence:
    """Curves of an estimate."""

    description: str  # of what the curves show, and what to look for
    x_label: str
    y_label: str
    x_range: tuple[float, float] | None  # axis limits; None leaves them to the data
    y_range: tuple[float, float] | None
    curves: tuple[Curve, ...]
    marks: tuple[Mark, ...] = ()  # reference lines, such as the estimate


def evidence_curves(estimate: PriorEstimate) -> Evidence | None:
    """Prepare the evidence of an estimate as curves; None if there is none to draw."""
    if not estimate.evidence:
        return None
    prepare = {
        "bbe": _best_bin,
        "dedpul": _densities,
        "tice": _by_part,
        "elkan-noto": _scores,
        "km2": _by_part,
    }
    return prepare[estimate.method](estimate) if estimate.method in prepare else None


def in_population(estimate: PriorEstimate, fraction: Array) -> Array:
    """Convert fractions of positives among the unlabeled rows to class priors.

    They differ in a single training set, some of whose positives are labeled.
    """
    of_unlabeled = estimate.unlabeled_prior
    if of_unlabeled == 1:  # so is the prior, whatever fraction is labeled
        return fraction
    labeled = (estimate.value - of_unlabeled) / (1 - of_unlabeled)
    return np.asarray(labeled + (1 - labeled) * fraction)


def _limits(estimate: PriorEstimate) -> tuple[Mark, ...]:
    name = "point estimate" if estimate.is_bound else "estimate"
    point = Mark(f"{name} {estimate.value:.3f}", y=estimate.value)
    bound = Mark(f"at most {estimate.upper:.3f}", y=estimate.upper)
    return (point, bound) if estimate.is_bound else (point,)


def _best_bin(estimate: PriorEstimate) -> Evidence:
    kept = {name: np.asarray(values) for name, values in estimate.evidence.items()}
    above = kept["labeled_above"]
    seen = above > 0
    chosen = above[kept["thresholds"] == kept["chosen"]]
    bound, low, high = (
        in_population(estimate, kept[name][seen]) for name in ("quotient", "lower", "upper")
    )
    return Evidence(
        "The curve is an upper bound on the class prior, from the rows that score above each "
        "threshold. It is close to the prior if it is flat to the left of some threshold. If it "
        "still falls at the left end, no region of the data is purely positive, and the prior may "
        "be smaller.",
        "fraction of labeled rows above the threshold",
        "class prior",
        (0, 1),
        (0, min(1.5, max(0.1, 3 * estimate.value))),
        (Curve("upper bound", "labeled", above[seen], bound, low, high),),
        (*(Mark("best bin", x=float(x)) for x in chosen[:1]), *_limits(estimate)),
    )


def _densities(estimate: PriorEstimate) -> Evidence:
    kept, fraction = estimate.evidence, estimate.unlabeled_prior
    cells = np.asarray(kept["cells"])
    labeled, unlabeled = (
        np.asarray(kept[f"{group}_density"]) / (cells[1] - cells[0])
        for group in ("labeled", "unlabeled")
    )
    positives = np.minimum(1, fraction * np.asarray(kept["ratio"])) * unlabeled
    return Evidence(
        "Score densities of the unlabeled rows and of the positives estimated among them. The "
        "density of the labeled rows, scaled by the estimated fraction of positives, should not "
        "exceed that of the unlabeled rows.",
        "logit of the score",
        "density",
        None,
        None,
        (
            Curve("unlabeled rows", "unlabeled", cells, unlabeled),
            Curve("estimated positives among them", "positives", cells, positives),
            Curve("labeled rows, scaled", "labeled", cells, fraction * labeled),
        ),
    )


def _scores(estimate: PriorEstimate) -> Evidence:
    groups = [np.asarray(scores) for scores in estimate.evidence["scores"]]
    edges = np.histogram_bin_edges(np.concatenate(groups), N_BINS)
    centers = (edges[1:] + edges[:-1]) / 2
    (frequency,) = estimate.evidence["frequencies"]
    return Evidence(
        "Distributions of the predicted probability of being labeled. For rows that are certainly "
        "positive, it equals the label frequency, the fraction of positives that are labeled.",
        "predicted probability of being labeled",
        "density",
        None,
        None,
        tuple(
            Curve(f"{group} rows", group, centers, np.histogram(scores, edges, density=True)[0])
            for group, scores in zip(("labeled", "unlabeled"), groups, strict=True)
        ),
        (
            Mark(
                f"label frequency {frequency:.3f}, at a prior of {estimate.value:.3f}",
                x=float(frequency),
            ),
        ),
    )


def _by_part(estimate: PriorEstimate) -> Evidence:
    by_tice = estimate.method == "tice"
    found = np.asarray(estimate.evidence["priors" if by_tice else "draws"])
    values = in_population(estimate, found)
    n = len(values)
    return Evidence(
        "Estimate from each part of the data. The spread does not show how far all of them may be "
        "above the prior."
        if by_tice
        else "Estimate from each random subsample. Subsamples that contain all rows agree.",
        "part of the data",
        "class prior",
        (0.5, n + 0.5),
        (0, 1),
        (Curve("estimate", "labeled", np.arange(1.0, n + 1), values, points=True),),
        _limits(estimate),
    )
