"""Baseline of a report: an ordinary classifier of labeled against unlabeled rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from puforest import _core
from puforest._cross_fitting import Indices, cross_fitted_scores
from puforest._duplicate_rows import duplicate_groups
from puforest._label_forest import label_forest
from puforest._sample import PUSample, pu_sample
from puforest.metrics import ClassificationReport, Interval
from puforest.metrics._prior import MetricPrior
from puforest.metrics.classification import ACCURACY, F1, PRECISION, RECALL
from puforest.metrics.intervals import IntervalSettings
from puforest.metrics.ranking import ROC_AUC
from puforest.metrics.report import report_of_sample
from puforest.model_selection import PUStratifiedKFold
from puforest.report._rows import LabeledRows

Array = NDArray[np.float64]

# Small, since it only sets a mark: three folds of at most this many rows of each group.
MAX_ROWS = 4000
N_FOLDS = 3
N_TREES = 100
MIN_SAMPLES_LEAF = 5

METRICS = (PRECISION, RECALL, F1, ACCURACY, ROC_AUC)


def baseline_part(
    rows: LabeledRows,
    model: ClassificationReport,
    prior: MetricPrior,
    n_jobs: int | None,
    rng: np.random.RandomState,
) -> dict[str, Any]:
    """Compare the model with a random forest of labeled against unlabeled rows.

    The forest ignores the prior. It is cross-fitted, and cut where it considers a row more likely
    labeled than not, or so that it predicts as many positives as there are.
    """
    kept, metadata = rows.subsample(np.arange(len(rows.sample)), MAX_ROWS, rng)
    sample = pu_sample(rows.y[kept], scenario=rows.sample.scenario, **metadata)
    scores = _scores(rows, kept, metadata.get("sample_weight"), n_jobs, rng)
    value = max(prior.value, sample.least_prior)  # subsamples round the fraction of labeled rows
    assumed = MetricPrior(value, prior.interval, prior.bound, prior.reason)
    cuts = {"prior": _quantile(scores, sample, value), "half": 0.5}
    table = [{"name": "model", "metrics": _metrics(model)}]
    settings = IntervalSettings.for_prior(assumed)
    for name, cut in cuts.items():
        values = {"prediction": (scores > cut).astype(float), "score": scores}
        found, _ = report_of_sample(sample, values, assumed, settings)
        table.append({"name": name, "metrics": _metrics(found)})
    return {
        "columns": [metric.label for metric in METRICS],
        "rows": table,
        "n_rows": len(kept),
        "n_folds": N_FOLDS,
    }


def can_have_baseline(rows: LabeledRows) -> bool:
    """Return True if each fold can have a labeled and an unlabeled row of its own."""
    group, labeled = duplicate_groups(rows.X), rows.sample.labeled
    return all(len(np.unique(group[kind])) >= N_FOLDS for kind in (labeled, ~labeled))


def _metrics(report: ClassificationReport) -> list[dict[str, Any]]:
    def part(found: Interval) -> dict[str, Any]:
        names = ("value", "low", "high", "is_range")
        return {name: getattr(found, name) for name in names}

    return [part(report.metrics[metric.name]) for metric in METRICS]


def _scores(
    rows: LabeledRows,
    kept: Indices,
    weight: Array | None,
    n_jobs: int | None,
    rng: np.random.RandomState,
) -> Array:
    X, labeled = rows.X[kept], rows.sample.labeled[kept]
    splitter = PUStratifiedKFold(N_FOLDS, random_state=rng, group_duplicates=True)

    def fit(train: Indices) -> Any:
        return label_forest(
            X[train],
            labeled[train],
            sample_weight=None if weight is None else weight[train],
            thresholds=_core.Thresholds.optimal,
            scenario="single-training-set",
            bootstrap=True,
            n_estimators=N_TREES,
            min_samples_leaf=MIN_SAMPLES_LEAF,
            n_jobs=n_jobs,
            random_state=rng,
        )

    return cross_fitted_scores(fit, X, splitter.split(X, labeled.astype(int)))


def _quantile(scores: Array, sample: PUSample, fraction: float) -> float:
    """Return the threshold above which a fraction of the population scores, or slightly less."""
    order = np.argsort(scores)
    below = np.cumsum(sample.population[order])
    place = int(np.searchsorted(below, 1 - fraction))
    return float(scores[order[min(place, len(order) - 1)]])
