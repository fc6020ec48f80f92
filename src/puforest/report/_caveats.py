"""What a reader must know before relying on the numbers, the worst first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from puforest.diagnostics import ScarTest
from puforest.metrics import ClassificationReport, PriorMismatchWarning
from puforest.prior import PriorEstimate
from puforest.report._prior import holds

FEW_LABELED = 50
MANY_FLIPPED = 0.1
WIDE = 0.2

SERIOUS, NOTE = "serious", "note"

NO_NEGATIVE = (
    "No negative was ever seen. All this presumes that the labeled rows are a fair sample of the "
    "positives. Fifty unlabeled rows, drawn at random and checked by hand, say more than any "
    "estimate."
)


def caveats(
    *,
    prior: float,
    estimate: PriorEstimate | None,
    source: str,
    quality: ClassificationReport | None,
    mismatch: PriorMismatchWarning | None,
    held_out: bool,
    sensitivity: dict[str, Any] | None,
    scar: ScarTest | None,
) -> list[dict[str, str]]:
    """Caveats with their level, the serious ones first."""
    found = [
        *_of_quality(quality, mismatch),
        *_of_prior(prior, estimate),
        *_of_labels(scar),
        *_of_sensitivity(sensitivity, estimate),
        (NOTE, NO_NEGATIVE),
        *_of_source(source, estimate),
        *_of_folds(quality, held_out),
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
        yield SERIOUS, f"Prior and data contradict each other. {mismatch}"
    if quality.n_labeled < FEW_LABELED:
        yield (
            SERIOUS,
            f"Only {quality.n_labeled} labeled rows: all estimates are rough, as their intervals "
            "show.",
        )
    for key, name in (("pu_precision", "Precision"), ("pu_recall", "Recall")):
        found = quality.metrics[key]
        if found.high - found.low > WIDE:
            yield (
                NOTE,
                f"{name} is not known well: it may be anything from {found.low:.2f} to "
                f"{found.high:.2f}.",
            )
    if quality.notes and mismatch is None:
        yield (
            NOTE,
            "Some estimates had to be clipped to what is possible, or could not be made: the "
            "section on quality tells which, and why.",
        )


def _of_prior(prior: float, estimate: PriorEstimate | None) -> Iterator[tuple[str, str]]:
    if estimate is not None and not holds(estimate, prior):
        low, high = estimate.interval
        yield (
            SERIOUS,
            f"The model uses a prior of {prior:.3f}, but the estimate from data is "
            f"{estimate.value:.3f}, between {low:.3f} and {high:.3f}. Precision and F1 scale with "
            "the prior.",
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
    flipped = np.asarray(sensitivity["flipped_share"])[inside].max(initial=0.0)
    if flipped > MANY_FLIPPED:
        yield (
            NOTE,
            f"Up to {flipped:.0%} of the rows would be called otherwise if the prior were another "
            f"one between {low:.3f} and {high:.3f}.",
        )


def _of_source(source: str, estimate: PriorEstimate | None) -> Iterator[tuple[str, str]]:
    if source == "given" and estimate is None:
        yield NOTE, "The prior was given and is taken as exact. No interval covers an error in it."
    if source == "check":
        yield (
            NOTE,
            "The prior was given and is taken as exact in all intervals. The estimate next to it "
            "is a check from the rows of this report.",
        )


def _of_folds(quality: ClassificationReport | None, held_out: bool) -> Iterator[tuple[str, str]]:
    if quality is not None and not held_out:
        yield (
            NOTE,
            "Rows were judged by models of the same kind that had not seen them, each fitted to "
            "a part of the data. The model itself has seen more rows, and may be a little better.",
        )
