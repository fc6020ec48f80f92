"""PU metrics of a model, as tables and JSON."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from puforest._cross_fitting import Split
from puforest._encoded import EncodedTable
from puforest._sample import pu_sample
from puforest.cli._console import Console
from puforest.cli._options import percent
from puforest.metrics import ClassificationReport, PriorMismatchWarning, pu_classification_report
from puforest.metrics._registry import METRICS
from puforest.model_selection import PUStratifiedKFold

# Part of the notes on values that left their range by no more than chance explains.
CHANCE = "may be chance"


def folds(X: EncodedTable, labeled: NDArray[np.int64], n: int, seed: int) -> list[Split]:
    """Split rows into folds that keep duplicate rows together."""
    try:
        return list(
            PUStratifiedKFold(n, random_state=seed, group_duplicates=True).split(X, labeled)
        )
    except ValueError as error:
        raise ValueError(f"--folds {n}: {error} Or use --no-quality.") from error


def quality(
    labeled: NDArray[np.int64],
    score: NDArray[np.float64],
    *,
    threshold: float,
    prior: float,
    prior_interval: tuple[float, float] | None,
    scenario: str,
) -> ClassificationReport:
    """Compute all PU metrics; warnings go to the notes of the report."""
    if prior_interval is not None:
        sample = pu_sample(labeled, scenario=scenario)
        prior_interval = sample.prior_interval(prior_interval, prior)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PriorMismatchWarning)
        return pu_classification_report(
            labeled,
            (score > threshold).astype(int),
            score,
            prior=prior,
            prior_interval=prior_interval,
            scenario=scenario,
        )


def true_quality(
    truth: NDArray[np.int64], score: NDArray[np.float64], threshold: float
) -> dict[str, float]:
    """Compute the same metrics from the true classes.

    Data in which every positive is labeled is a census: PU metrics equal the supervised ones.
    """
    report = quality(
        truth,
        score,
        threshold=threshold,
        prior=float(truth.mean()),
        prior_interval=None,
        scenario="single-training-set",
    )
    return {name: found.value for name, found in report.metrics.items()}


def predicted_positive(
    labeled: NDArray[np.int64], score: NDArray[np.float64], threshold: float
) -> float:
    """Return the fraction of the unlabeled rows that are predicted positive."""
    return float(np.mean(score[labeled == 0] > threshold))


def positive_text(labeled: NDArray[np.int64], score: NDArray[np.float64], threshold: float) -> str:
    """Describe the fraction of the unlabeled rows that are predicted positive."""
    fraction = predicted_positive(labeled, score, threshold)
    return f"{percent(fraction)} of the unlabeled rows are predicted positive"


def show_quality(
    console: Console,
    title: str,
    report: ClassificationReport,
    truth: dict[str, float] | None = None,
) -> None:
    """Show a table of the metrics with intervals, next to the truth if it is known."""
    level = next(iter(report.metrics.values())).confidence
    header = ["", "estimate", f"{100 * level:g}% interval", *(["truth"] if truth else [])]
    rows = []
    clipped = {name: found for name, found in report.metrics.items() if found.clipped}
    for name, found in report.metrics.items():
        mark = "*" if found.clipped else " " if clipped else ""
        row = [
            METRICS[name].label,
            f"{found.value:.3f}{mark}",
            f"{found.low:.3f} to {found.high:.3f}",
        ]
        if truth is not None:
            row.append(f"{truth[name]:.3f}")
        rows.append(row)
    raw = ", ".join(f"{METRICS[n].label} {found.unclipped:.4g}" for n, found in clipped.items())
    footnote = f"* clipped to the possible range; raw estimates: {raw}" if clipped else ""
    console.rows(title, header, rows, footnote)
    clear = clear_notes(report)
    more = (
        f" ({len(clear) - 1} more with --verbose)" if len(clear) > 1 and not console.verbose else ""
    )
    for note in clear if console.verbose else clear[:1]:
        console.warning(note + more)
    for note in report.notes:
        if CHANCE in note:
            console.detail(note)
    if report.trivial:
        console.warning(report.trivial.message)


def clear_notes(report: ClassificationReport) -> list[str]:
    """Select the notes on deviations that chance does not explain."""
    return [note for note in report.notes if CHANCE not in note]


def as_json(report: ClassificationReport) -> dict[str, Any]:
    """Convert a report to JSON, without prior, scenario and row counts."""
    fields = report.as_dict()
    return {
        "metrics": fields["metrics"],
        "notes": fields["notes"],
        "trivial": bool(report.trivial),
    }
