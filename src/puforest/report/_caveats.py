"""What a reader must know before relying on the numbers, the worst first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from puforest.diagnostics import SIGNIFICANT, ScarTest
from puforest.metrics import ClassificationReport
from puforest.prior import PriorEstimate
from puforest.report._prior import holds

FEW_LABELLED = 50
MANY_FLIPPED = 0.1
WIDE = 0.2

SERIOUS, NOTE = "serious", "note"


def caveats(
    *,
    prior: float,
    estimate: PriorEstimate | None,
    source: str,
    quality: ClassificationReport | None,
    held_out: bool,
    sensitivity: dict[str, Any] | None,
    scar: ScarTest | None,
) -> list[dict[str, str]]:
    """Caveats with their level, the serious ones first."""
    found = list(_caveats(prior, estimate, source, quality, held_out, sensitivity, scar))
    found.sort(key=lambda caveat: caveat[0] != SERIOUS)
    return [{"level": level, "text": text} for level, text in found]


def _caveats(
    prior: float,
    estimate: PriorEstimate | None,
    source: str,
    quality: ClassificationReport | None,
    held_out: bool,
    sensitivity: dict[str, Any] | None,
    scar: ScarTest | None,
) -> Iterator[tuple[str, str]]:
    if quality is not None and quality.trivial:
        yield SERIOUS, f"The classifier is trivial: {quality.trivial.message}"
    if estimate is not None and not holds(estimate, prior):
        low, high = estimate.interval
        yield (
            SERIOUS,
            f"The model uses a prior of {prior:.3f}, but the estimate from data is "
            f"{estimate.value:.3f}, between {low:.3f} and {high:.3f}. Precision and F1 scale with "
            "the prior.",
        )
    if scar is not None and scar.p_value <= SIGNIFICANT:
        yield SERIOUS, scar.explanation
    if quality is not None and quality.n_labelled < FEW_LABELLED:
        yield (
            SERIOUS,
            f"Only {quality.n_labelled} labelled rows: all estimates are rough, as their intervals "
            "show.",
        )
    if quality is not None:
        yield from _wide(quality)
    if sensitivity is not None and estimate is not None:
        yield from _flips(sensitivity, estimate)
    if quality is not None:
        yield from ((NOTE, note) for note in quality.notes)
    if source == "given" and estimate is None:
        yield (
            NOTE,
            f"The prior, {prior:.3f}, was given and is taken as exact. No interval here covers an "
            "error in it.",
        )
    if source == "check":
        yield (
            NOTE,
            "The prior was given and is taken as exact in all intervals. The estimate next to it "
            "is a check from the rows of this report.",
        )
    yield (
        NOTE,
        "No negative was ever seen. All this presumes that the labelled rows are a fair sample of "
        "the positives. Fifty unlabelled rows, drawn at random and checked by hand, say more than "
        "any estimate.",
    )
    if quality is not None and not held_out:
        yield (
            NOTE,
            "Rows were judged by models of the same kind that had not seen them, each fitted to "
            "a part of the data. The model itself has seen more rows, and may be a little better.",
        )


def _wide(quality: ClassificationReport) -> Iterator[tuple[str, str]]:
    for key, name in (("pu_precision", "Precision"), ("pu_recall", "Recall")):
        found = quality.metrics[key]
        if found.high - found.low > WIDE:
            yield (
                NOTE,
                f"{name} is not known well: it may be anything from {found.low:.2f} to "
                f"{found.high:.2f}.",
            )


def _flips(sensitivity: dict[str, Any], estimate: PriorEstimate) -> Iterator[tuple[str, str]]:
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
