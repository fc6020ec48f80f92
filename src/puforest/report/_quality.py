"""Metrics, thresholds, score distributions and reliability for the page."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import UndefinedMetricWarning

from puforest.metrics import ClassificationReport, _reliability
from puforest.metrics._metric import EvaluationSet, Metric, PriorMismatchWarning
from puforest.metrics._prior import MetricPrior
from puforest.metrics._registry import METRICS
from puforest.metrics.calibration import CALIBRATION_ERROR
from puforest.metrics.classification import F1, FALSE_POSITIVE_RATE, LEE_LIU, PRECISION, RECALL
from puforest.metrics.gains import gains_of_sample
from puforest.metrics.intervals import IntervalSettings, estimate_interval
from puforest.metrics.ranking import thresholds
from puforest.metrics.report import report_of_sample
from puforest.report._rows import LabeledRows

Array = NDArray[np.float64]

N_BINS = 40
N_STEPS = 100
N_GAINS = 100
FINE_ROWS = 50_000  # data with more rows gets half as many thresholds, to save time


def classification(
    rows: LabeledRows, scores: Array, threshold: float, prior: MetricPrior
) -> ClassificationReport:
    """Compute all metrics at the threshold of the model; warnings are in the notes."""
    predicted = (scores > threshold).astype(float)
    values = {"prediction": predicted, "score": scores, "probability": scores}
    return report_of_sample(rows.sample, values, prior, IntervalSettings.for_prior(prior))[0]


def clear_mismatch(rows: LabeledRows, scores: Array, prior: float) -> PriorMismatchWarning | None:
    """Warning about score regions that significantly contradict the prior."""
    return thresholds(rows.sample, scores).mismatch(rows.sample, prior)


def metric_table(report: ClassificationReport) -> list[dict[str, Any]]:
    """List metrics with interval and description; without `LEE_LIU`, which has no scale."""
    return [
        {
            "key": name,
            "name": METRICS[name].label,
            "description": METRICS[name].description,
            "greater_is_better": METRICS[name].greater_is_better,
            "value": found.value,
            "low": found.low,
            "high": found.high,
            "is_range": found.is_range,
        }
        for name, found in report.metrics.items()
        if name != LEE_LIU.name
    ]


def threshold_table(
    rows: LabeledRows, scores: Array, threshold: float, assumed: MetricPrior
) -> dict[str, Any]:
    """Compute metrics on a grid of thresholds, with that of the model among them.

    Errors are fractions of the population: false alarms are (1 - π) times the false positive rate,
    missed positives π times one minus the recall.
    """
    settings, prior = IntervalSettings.for_prior(assumed), assumed.value
    grid = np.unique(np.append(_grid(rows, scores), threshold))
    table: dict[str, list[Any]] = {"threshold": grid.tolist()}

    def add(name: str, value: Any) -> None:
        table.setdefault(name, []).append(value)

    for t in grid:
        predicted = EvaluationSet(rows.sample, (scores > t).astype(float), prior)
        for metric, name in ((PRECISION, "precision"), (RECALL, "recall"), (F1, "f1")):
            value, low, high = _with_interval(metric, predicted, settings)
            add(name, value)
            add(f"{name}_low", low)
            add(f"{name}_high", high)
        fpr = FALSE_POSITIVE_RATE.clip(predicted.estimate(FALSE_POSITIVE_RATE).value)
        add("false_alarms", (1 - prior) * fpr)
        add("missed", prior * (1 - table["recall"][-1]))
        add("flagged", rows.sample.of_population(predicted.values))
        add("flagged_unlabeled", int(np.count_nonzero(predicted.values[~rows.sample.labeled])))
    return table


def _with_interval(
    metric: Metric, predicted: EvaluationSet, settings: IntervalSettings
) -> tuple[float | None, float | None, float | None]:
    found, interval = estimate_interval(metric, predicted, settings)
    if isinstance(found.warning, UndefinedMetricWarning):
        return None, None, None
    return interval.value, interval.low, interval.high


def _grid(rows: LabeledRows, scores: Array) -> Array:
    """Choose even steps, plus quantiles of the scores of the population."""
    n = N_STEPS if len(scores) <= FINE_ROWS else N_STEPS // 2
    of_population = scores[rows.sample.population > 0]
    quantiles = np.quantile(of_population, np.linspace(0, 1, n // 2))
    return np.unique(np.append(np.arange(n) / n, quantiles[quantiles < 1].round(4)))


def score_histogram(rows: LabeledRows, scores: Array, prior: float) -> dict[str, Any]:
    """Histogram the scores: of each group, and as parts of the population."""
    edges = np.linspace(0, 1, N_BINS + 1)
    sample = rows.sample
    unlabeled = np.where(sample.labeled, 0, sample.population)

    def fractions(weight: Array) -> Array:
        return np.histogram(scores, edges, weights=weight)[0].astype(np.float64)

    return {
        "edges": edges,
        "labeled": fractions(sample.positive),
        "unlabeled": fractions(unlabeled / unlabeled.sum()),
        "population": fractions(sample.population),
        "positives": fractions(prior * sample.positive),
    }


def reliability(rows: LabeledRows, scores: Array, prior: MetricPrior) -> dict[str, Any]:
    """Compute the fraction of positives in bins of scores."""
    data = EvaluationSet(rows.sample, scores, prior.value)
    settings = IntervalSettings.for_prior(prior)
    found = _reliability.reliability(data, settings)
    error = estimate_interval(CALIBRATION_ERROR, data, settings)[1]
    return asdict(found) | {
        "error": error.value,
        "error_low": error.low,
        "error_high": error.high,
        "is_range": error.is_range,
    }


def gains(
    rows: LabeledRows, scores: Array, prior: MetricPrior, *, are_probabilities: bool
) -> dict[str, Any]:
    """Compute the number of positives among the top unlabeled rows, at few enough points.

    Weights are scaled so that their mean over the unlabeled rows is 1. Probabilities for this
    prior, and without weights, are summed, as on the command line.
    """
    unlabeled = ~rows.sample.labeled
    weight = np.ones(len(scores)) if rows.weight is None else rows.weight
    curve = gains_of_sample(rows.sample, scores, weight / weight[unlabeled].mean(), prior)
    if are_probabilities and rows.weight is None:
        curve = curve.agreeing_with(np.sort(scores[unlabeled])[::-1])
    # Even steps show the whole curve, and geometric ones its beginning, which matters most.
    last = len(curve) - 1
    steps = np.append(np.linspace(0, last, N_GAINS), np.geomspace(1, last + 1, N_GAINS) - 1)
    kept = np.unique(steps.round().astype(int))
    parts = {
        name: getattr(curve, name)[kept] for name in ("n", "expected", "low", "high", "random")
    }
    return parts | {"is_range": curve.prior_bound is not None, "confidence": curve.confidence}
