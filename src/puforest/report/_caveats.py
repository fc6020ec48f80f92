"""Caveats of a report, the most serious first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from puforest.diagnostics import ScarTest
from puforest.metrics import ClassificationReport, PriorMismatchWarning
from puforest.prior import PriorEstimate
from puforest.report._prior import contains

FEW_LABELED = 50
MANY_FLIPPED = 0.1
WIDE = 0.2

SERIOUS, NOTE = "serious", "note"

NO_NEGATIVE = (
    "No known negatives were used. All estimates assume that the labeled rows are a representative "
    "sample of the positives. Checking fifty random unlabeled rows by hand is worth more than any "
    "estimate."
)


def caveats(
    *,
    prior: float,
    estimate: PriorEstimate | None,
    source: str,
    quality: ClassificationReport | None,
    mismatch: PriorMismatchWarning | None,
    scored_by: str | None,
    sensitivity: dict[str, Any] | None,
    scar: ScarTest | None,
) -> list[dict[str, str]]:
    """List caveats with their level, the serious ones first."""
    found = [
        *_of_quality(quality, mismatch),
        *_of_prior(prior, estimate),
        *_of_labels(scar),
        *_of_sensitivity(sensitivity, estimate),
        (NOTE, NO_NEGATIVE),
        *_of_source(source, estimate),
        *_of_folds(scored_by),
    ]
    found.sort(key=lambda caveat: caveat[0] != SERIOUS)
    return [{"level": level, "text": text} for level, text in found]


def _of_quality(
    quality: ClassificationReport | None, mismatch: PriorMismatchWarning | None
) -> Iterator[tuple[str, str]]:
    if quality is None:
        return
    if quality.trivial:
        yield SERIOUS, f"The classifier is trivial: {quality.trivial.message}"
    if mismatch is not None:
        yield SERIOUS, f"The prior contradicts the data. {mismatch}"
    if quality.n_labeled < FEW_LABELED:
        yield (
            SERIOUS,
            f"There are only {quality.n_labeled} labeled rows, so all estimates have wide "
            "intervals.",
        )
    for key, name in (("pu_precision", "Precision"), ("pu_recall", "Recall")):
        found = quality.metrics[key]
        if found.high - found.low > WIDE:
            yield (
                NOTE,
                f"{name} is uncertain: its interval is {found.low:.2f} to {found.high:.2f}.",
            )
    if quality.notes and mismatch is None:
        yield (
            NOTE,
            "Some estimates were clipped to their possible range or are undefined: see the section "
            "on quality.",
        )


def _of_prior(prior: float, estimate: PriorEstimate | None) -> Iterator[tuple[str, str]]:
    if estimate is not None and not contains(estimate, prior):
        low, high = estimate.interval
        yield (
            SERIOUS,
            f"The model uses a prior of {prior:.3f}, but the estimate from the data is "
            f"{estimate.value:.3f} ({100 * estimate.confidence:g}% interval {low:.3f} to "
            f"{high:.3f}). Precision and F1 scale with the prior.",
        )


def _of_labels(scar: ScarTest | None) -> Iterator[tuple[str, str]]:
    if scar is not None and scar.significant:
        yield SERIOUS, scar.explanation


def _of_sensitivity(
    sensitivity: dict[str, Any] | None, estimate: PriorEstimate | None
) -> Iterator[tuple[str, str]]:
    if sensitivity is None or estimate is None:
        return
    low, high = estimate.interval
    priors = np.asarray(sensitivity["priors"])
    inside = (priors >= low) & (priors <= high)
    flipped = np.asarray(sensitivity["flipped_fraction"])[inside].max(initial=0.0)
    if flipped > MANY_FLIPPED:
        yield (
            NOTE,
            f"Up to {flipped:.0%} of the predictions would change under another prior between "
            f"{low:.3f} and {high:.3f}.",
        )


def _of_source(source: str, estimate: PriorEstimate | None) -> Iterator[tuple[str, str]]:
    if source == "given" and estimate is None:
        yield (
            NOTE,
            "The prior was given and is taken as exact; the intervals do not include its error.",
        )
    if source == "check":
        yield (
            NOTE,
            "The prior was given and is taken as exact in all intervals. The estimate next to it, "
            "from the rows of this report, is a check only.",
        )


def _of_folds(scored_by: str | None) -> Iterator[tuple[str, str]]:
    if scored_by == "folds":
        yield (
            NOTE,
            "The rows were scored by cross-fitting, with models of the same kind fitted to a part "
            "of the data. The model itself was fitted to more rows and may be slightly better.",
        )
    elif scored_by == "out-of-bag":
        yield (
            NOTE,
            "The rows were scored out of bag, each by a fifth of the trees, which were grown "
            "without it. The model itself has more trees and may be slightly better. On the other "
            "hand, its threshold and calibration were set with the same scores.",
        )
