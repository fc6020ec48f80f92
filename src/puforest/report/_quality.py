"""What positive and unlabeled rows tell about scores, as plain numbers for the page."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import UndefinedMetricWarning

from puforest.metrics import ClassificationReport, _reliability, pu_classification_report
from puforest.metrics._metric import Judged, Metric, PriorMismatchWarning
from puforest.metrics.calibration import CALIBRATION_ERROR
from puforest.metrics.classification import F1, FALSE_POSITIVE_RATE, PRECISION, RECALL
from puforest.metrics.intervals import IntervalSettings, estimate_interval
from puforest.metrics.ranking import thresholds
from puforest.report._rows import LabeledRows

Array = NDArray[np.float64]

THRESHOLD = 0.5  # above which `predict` says positive
CONFIDENCE = 0.95
N_BINS = 40
N_STEPS = 100
FINE_ROWS = 50_000  # more of them are judged at half as many thresholds, to save time

# Name on the page, what it says, and whether more is better.
METRICS = {
    "pu_precision": ("Precision", "of the rows called positive, the share that is", True),
    "pu_recall": ("Recall", "of the positives, the share that is called positive", True),
    "pu_f1": ("F1", "one number for the two, low if either is", True),
    "pu_false_positive_rate": (
        "False positive rate",
        "of the negatives, the share called positive",
        False,
    ),
    "pu_accuracy": ("Accuracy", "share of all rows called rightly", True),
    "pu_balanced_accuracy": (
        "Balanced accuracy",
        "the same with both classes counting alike; 0.5 is chance",
        True,
    ),
    "pu_roc_auc": (
        "Area under ROC",
        "chance that a positive scores above a negative; 0.5 is chance",
        True,
    ),
    "pu_average_precision": (
        "Average precision",
        "mean precision down the ranking; the prior is chance",
        True,
    ),
    "pu_brier": ("Brier score", "mean squared error of the scores as probabilities", False),
    "pu_log_loss": ("Log-loss", "the same by logarithms: sure and wrong costs much", False),
    "pu_calibration_error": (
        "Calibration error",
        "mean distance of scores and shares of positives",
        False,
    ),
}


def classification(
    rows: LabeledRows, scores: Array, prior: float, interval: tuple[float, float] | None
) -> ClassificationReport:
    """All metrics at the threshold of the model."""
    return pu_classification_report(
        rows.y,
        (scores > THRESHOLD).astype(np.intp),
        scores,
        prior=prior,
        prior_interval=interval,
        scenario=rows.sample.scenario,
        confidence=CONFIDENCE,
        **rows.arguments,
    )


def clear_mismatch(rows: LabeledRows, scores: Array, prior: float) -> PriorMismatchWarning | None:
    """What contradicts the prior by more than chance explains."""
    return thresholds(rows.sample, scores).mismatch(rows.sample, prior)


def metric_table(report: ClassificationReport) -> list[dict[str, Any]]:
    """The metrics that a reader can make sense of, with what they mean."""
    return [
        {
            "key": key,
            "name": name,
            "says": says,
            "up": up,
            "value": report.metrics[key].value,
            "low": report.metrics[key].low,
            "high": report.metrics[key].high,
        }
        for key, (name, says, up) in METRICS.items()
        if key in report.metrics
    ]


def _settings(interval: tuple[float, float] | None) -> IntervalSettings:
    return IntervalSettings(CONFIDENCE, "delta", interval, 2, None)


def threshold_table(
    rows: LabeledRows, scores: Array, prior: float, interval: tuple[float, float] | None
) -> dict[str, Any]:
    """Quality of "positive above this score" for many scores.

    Shares of errors are those of the population: false alarms are (1 - π) times the false positive
    rate, missed positives π times what recall lacks.
    """
    settings = _settings(interval)
    grid = _grid(rows, scores)
    table: dict[str, list[Any]] = {"threshold": grid.tolist()}

    def add(name: str, value: Any) -> None:
        table.setdefault(name, []).append(value)

    for t in grid:
        called = Judged(rows.sample, (scores > t).astype(float), prior)
        for metric, name in ((PRECISION, "precision"), (RECALL, "recall"), (F1, "f1")):
            value, low, high = _with_interval(metric, called, settings)
            add(name, value)
            add(f"{name}_low", low)
            add(f"{name}_high", high)
        fpr = FALSE_POSITIVE_RATE.clip(called.estimate(FALSE_POSITIVE_RATE).value)
        add("false_alarms", (1 - prior) * fpr)
        add("missed", prior * (1 - table["recall"][-1]))
        add("flagged", rows.sample.of_population(called.values))
        add("flagged_unlabeled", int(np.count_nonzero(called.values[~rows.sample.labeled])))
    return table


def _with_interval(
    metric: Metric, called: Judged, settings: IntervalSettings
) -> tuple[float | None, float | None, float | None]:
    found, interval = estimate_interval(metric, called, settings)
    if isinstance(found.warning, UndefinedMetricWarning):
        return None, None, None
    return interval.value, interval.low, interval.high


def _grid(rows: LabeledRows, scores: Array) -> Array:
    """Even steps, with more where the scores of the population lie close together."""
    n = N_STEPS if len(scores) <= FINE_ROWS else N_STEPS // 2
    of_population = scores[rows.sample.population > 0]
    close = np.quantile(of_population, np.linspace(0, 1, n // 2))
    return np.unique(np.append(np.arange(n) / n, close[close < 1].round(4)))


def score_histogram(rows: LabeledRows, scores: Array, prior: float) -> dict[str, Any]:
    """Shares of rows by score: each group on its own, and both as parts of the population."""
    edges = np.linspace(0, 1, N_BINS + 1)
    sample = rows.sample
    unlabeled = np.where(sample.labeled, 0, sample.population)

    def shares(weight: Array) -> Array:
        return np.histogram(scores, edges, weights=weight)[0].astype(np.float64)

    return {
        "edges": edges,
        "labeled": shares(sample.positive),
        "unlabeled": shares(unlabeled / unlabeled.sum()),
        "population": shares(sample.population),
        "positives": shares(prior * sample.positive),
    }


def reliability(
    rows: LabeledRows, scores: Array, prior: float, interval: tuple[float, float] | None
) -> dict[str, Any]:
    """Share of positives among rows of like scores."""
    judged = Judged(rows.sample, scores, prior)
    settings = _settings(interval)
    found = _reliability.reliability(judged, settings)
    error = estimate_interval(CALIBRATION_ERROR, judged, settings)[1]
    return asdict(found) | {"error": error.value}
