"""PU metrics of a model, as tables and JSON."""

from __future__ import annotations

import warnings
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from puforest._cross_fitting import Split
from puforest._encoded import EncodedTable
from puforest._rounding import fraction_text, range_text
from puforest.checking import CheckedEstimate, CheckedEstimates
from puforest.cli._console import Console
from puforest.cli._options import percent
from puforest.cli._prior_text import estimate_json
from puforest.metrics import ClassificationReport, PriorMismatchWarning, pu_classification_report
from puforest.metrics._registry import METRICS
from puforest.model_selection import PUStratifiedKFold
from puforest.prior import PriorEstimate

# Metrics that checked rows yield too, and their names there.
CHECKED_METRICS = {
    "pu_precision": "precision",
    "pu_recall": "recall",
    "pu_f1": "f1",
    "pu_roc_auc": "auc",
}

PRIOR, PRIOR_NAME = "Class prior", "prior"

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
    prior: float | PriorEstimate,
    scenario: str,
    weight: NDArray[np.float64] | None = None,
) -> ClassificationReport:
    """Compute all PU metrics; warnings go to the notes of the report."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PriorMismatchWarning)
        return pu_classification_report(
            labeled,
            (score > threshold).astype(int),
            score,
            prior=prior,
            scenario=scenario,
            sample_weight=weight,
        )


def true_quality(
    truth: NDArray[np.int64], score: NDArray[np.float64], threshold: float
) -> dict[str, float]:
    """Compute the class prior and the same metrics from the true classes.

    Data in which every positive is labeled is a census: PU metrics equal the supervised ones.
    """
    report = quality(
        truth,
        score,
        threshold=threshold,
        prior=float(truth.mean()),
        scenario="single-training-set",
    )
    found = {name: found.value for name, found in report.metrics.items()}
    return {PRIOR_NAME: report.prior, **found}


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
    checks: CheckedEstimates | None = None,
) -> None:
    """Show the metrics with intervals, next to estimates from checked rows and to the truth."""
    interval = f"{100 * next(iter(report.metrics.values())).confidence:g}% interval"
    header = ["", "estimate", interval]
    if checks is not None:
        header += ["checked rows", f"{100 * checks.confidence:g}% interval"]
    if truth is not None:
        header.append("truth")
    clipped = {name: found for name, found in report.metrics.items() if found.clipped}
    rows = []
    if checks is not None or truth is not None:
        prior = f"{report.prior:.3g}" if report.prior_bound is None else report.prior_text
        rows.append([PRIOR, prior, ""])
        if checks is not None:
            rows[0] += prior_cells(checks)
        if truth is not None:
            rows[0].append(f"{truth[PRIOR_NAME]:.3f}")
    for name, found in report.metrics.items():
        mark = "*" if found.clipped else " " if clipped else ""
        row = [METRICS[name].label, f"{found.value_text}{mark}", found.range_text]
        if checks is not None:
            row += from_checks(getattr(checks, CHECKED_METRICS.get(name, ""), None))
        if truth is not None:
            row.append(f"{truth[name]:.3f}")
        rows.append(row)
    raw = ", ".join(f"{METRICS[n].label} {found.unclipped:.4g}" for n, found in clipped.items())
    footnote = f"* clipped to the possible range; raw estimates: {raw}" if clipped else ""
    console.rows(title, header, rows, footnote)
    if report.range_note:
        console.warning(report.range_note)
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


def prior_cells(checks: CheckedEstimates) -> list[str]:
    """Return the cells of the class prior that checked rows show."""
    if checks.prior is None:
        return ["unknown", range_text(*checks.prior_bounds)]
    return from_checks(CheckedEstimate(checks.prior.value, *checks.prior.interval))


def from_checks(found: CheckedEstimate | None) -> list[str]:
    """Return the cells of an estimate from checked rows."""
    if found is None:
        return ["", ""]
    return [fraction_text(found.value, found.low, found.high), range_text(found.low, found.high)]


def clear_notes(report: ClassificationReport) -> list[str]:
    """Select the notes on deviations that chance does not explain."""
    return [note for note in report.notes if CHANCE not in note]


def as_json(report: ClassificationReport, checks: CheckedEstimates | None = None) -> dict[str, Any]:
    """Convert estimates to JSON, without prior, scenario and row counts."""
    fields = report.as_dict()
    return {
        "metrics": fields["metrics"],
        "notes": fields["notes"],
        "trivial": bool(report.trivial),
        "checked_estimates": None if checks is None else checks_json(checks),
    }


def checks_json(checks: CheckedEstimates) -> dict[str, Any]:
    """Convert estimates from checked rows to JSON."""
    found = {name: getattr(checks, name) for name in CHECKED_METRICS.values()}
    return {
        "prior": None if checks.prior is None else estimate_json(checks.prior),
        "prior_bounds": checks.prior_bounds,
        "confidence": checks.confidence,
        **{name: None if value is None else asdict(value) for name, value in found.items()},
        "notes": checks.notes,
    }
