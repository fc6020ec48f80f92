"""Caveats of a report, ranked by the damage they can do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from puforest._prior_estimate import contradiction
from puforest._rounding import range_text
from puforest.checking import CheckedEstimates
from puforest.diagnostics import ScarTest
from puforest.metrics import ClassificationReport, PriorMismatchWarning
from puforest.metrics._prior import at_most
from puforest.prior import PriorEstimate

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
    from_checks: CheckedEstimates | None,
) -> list[dict[str, str]]:
    """List caveats with their level, the serious ones first.

    Within a level, they are in the order of the errors they stand for: a prior that the data does
    not identify or contradicts makes nearly every number wrong, a trivial classifier makes them
    meaningless, and few rows only make them imprecise.
    """
    found = [
        *_of_unknown_prior(estimate, source),
        *_of_contradictions(prior, estimate, mismatch, from_checks),
        *_of_labels(scar),
        *_of_quality(quality),
        *_of_sensitivity(sensitivity, estimate, source),
        *([(NOTE, NO_NEGATIVE)] if from_checks is None else []),
        *_of_source(source, estimate),
        *_of_precision(quality, mismatch),
        *_of_folds(scored_by),
    ]
    found.sort(key=lambda caveat: caveat[0] != SERIOUS)
    return [{"level": level, "text": text} for level, text in found]


def _of_unknown_prior(estimate: PriorEstimate | None, source: str) -> Iterator[tuple[str, str]]:
    if estimate is not None and estimate.is_bound and source != "check":
        yield (
            SERIOUS,
            f"The data does not identify the prior: it is {at_most(estimate.upper)}, but may be "
            f"much smaller. {estimate.reason} Precision, F1, accuracy and AUC are therefore "
            "ranges. Give the prior if you know it, or check some random rows by hand.",
        )


def _of_contradictions(
    prior: float,
    estimate: PriorEstimate | None,
    mismatch: PriorMismatchWarning | None,
    from_checks: CheckedEstimates | None,
) -> Iterator[tuple[str, str]]:
    """Yield one caveat about a prior that the data contradicts, by the strongest evidence.

    A prior below an estimate from labels is no contradiction: negatives that look like positives
    raise the estimate.
    """
    by_checks = None if from_checks is None else from_checks.prior
    for known in (by_checks, estimate):
        text = None if known is None else contradiction(prior, known)
        if text is not None and known is not None:
            clear = known is by_checks or prior > known.upper
            head = "The prior contradicts the data" if clear else "The prior may be too small"
            yield SERIOUS if clear else NOTE, f"{head}: {text}."
            return
    if mismatch is not None:
        yield SERIOUS, f"The prior contradicts the data. {mismatch}"


def _of_labels(scar: ScarTest | None) -> Iterator[tuple[str, str]]:
    if scar is not None and scar.significant:
        yield SERIOUS, scar.explanation


def _of_quality(quality: ClassificationReport | None) -> Iterator[tuple[str, str]]:
    if quality is None:
        return
    if quality.trivial:
        yield SERIOUS, f"The classifier is trivial: {quality.trivial.message}"
    if quality.n_labeled < FEW_LABELED:
        yield (
            SERIOUS,
            f"There are only {quality.n_labeled} labeled rows, so all estimates have wide "
            "intervals.",
        )


def _of_precision(
    quality: ClassificationReport | None, mismatch: PriorMismatchWarning | None
) -> Iterator[tuple[str, str]]:
    """Yield caveats about the precision of the estimates."""
    if quality is None:
        return
    for key, name in (("pu_precision", "Precision"), ("pu_recall", "Recall")):
        found = quality.metrics[key]
        if found.high - found.low > WIDE and not found.is_range:
            yield NOTE, f"{name} is uncertain: its interval is {found.range_text}."
    if quality.notes and mismatch is None:
        yield (
            NOTE,
            "Some estimates were clipped to their possible range or cannot be computed: see the "
            "section on quality.",
        )


def _of_sensitivity(
    sensitivity: dict[str, Any] | None, estimate: PriorEstimate | None, source: str
) -> Iterator[tuple[str, str]]:
    if sensitivity is None or estimate is None or source == "check":
        return
    low, high = estimate.interval
    priors = np.asarray(sensitivity["priors"])
    inside = (priors >= low) & (priors <= high)
    flipped = np.asarray(sensitivity["flipped_fraction"])[inside].max(initial=0.0)
    if flipped > MANY_FLIPPED:
        yield (
            NOTE,
            f"Up to {flipped:.0%} of the predictions would change under another prior between "
            f"{range_text(low, high).replace(' to ', ' and ')}.",
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
            "The prior was given and is taken as exact in all intervals. What the rows of this "
            "report say about it is a check only.",
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
