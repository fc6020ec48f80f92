"""How good a model is, by PU metrics, and how that is shown."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from puforest._sample import pu_sample
from puforest.cli._console import Console
from puforest.metrics import ClassificationReport, PriorMismatchWarning, pu_classification_report
from puforest.model_selection import PUStratifiedKFold

Split = tuple[NDArray[np.intp], NDArray[np.intp]]

# What notes say of values that left their range by no more than chance explains.
CHANCE = "may be chance"


NAMES = {
    "pu_precision": "precision",
    "pu_recall": "recall",
    "pu_f1": "F1",
    "pu_false_positive_rate": "false positive rate",
    "pu_accuracy": "accuracy",
    "pu_balanced_accuracy": "balanced accuracy",
    "pu_roc_auc": "area under the ROC curve",
    "pu_average_precision": "average precision",
    "pu_brier": "Brier score",
    "pu_calibration_error": "calibration error",
    "pu_log_loss": "log-loss",
    "lee_liu": "Lee-Liu score",
}


def folds(X: NDArray[Any], labeled: NDArray[np.int64], n: int, seed: int) -> list[Split]:
    """Splits that keep copies of a row together."""
    try:
        return list(PUStratifiedKFold(n, random_state=seed, group_copies=True).split(X, labeled))
    except ValueError as error:
        raise ValueError(f"--folds {n}: {error} Or give --no-quality.") from error


def cross_fitted(
    forest: Any,
    X: NDArray[Any],
    labeled: NDArray[np.int64],
    splits: list[Split],
    done: Callable[[float], None],
) -> NDArray[np.float64]:
    """Scores of all rows, each by a forest that has not seen it."""
    score = np.empty(len(X))
    for i, (train, test) in enumerate(splits):
        copy = clone(forest).fit(X[train], labeled[train])
        score[test] = copy.predict_proba(X[test])[:, 1]
        done((i + 1) / len(splits))
    return score


def judge(
    labeled: NDArray[np.int64],
    score: NDArray[np.float64],
    *,
    prior: float,
    prior_interval: tuple[float, float] | None,
    scenario: str,
) -> ClassificationReport:
    """All PU metrics; what they warn of is in the notes of the report."""
    if prior_interval is not None:
        sample = pu_sample(labeled, scenario=scenario)
        prior_interval = sample.prior_interval(prior_interval, prior)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PriorMismatchWarning)
        return pu_classification_report(
            labeled,
            (score > 0.5).astype(int),
            score,
            prior=prior,
            prior_interval=prior_interval,
            scenario=scenario,
        )


def show_quality(
    say: Console,
    title: str,
    report: ClassificationReport,
    truth: dict[str, float] | None = None,
) -> None:
    """A table of the metrics with intervals, beside the truth where it is known."""
    level = next(iter(report.metrics.values())).confidence
    header = ["", "estimate", f"{100 * level:g}% interval", *(["truth"] if truth else [])]
    rows = []
    clipped = {name: found for name, found in report.metrics.items() if found.clipped}
    for name, found in report.metrics.items():
        mark = "*" if found.clipped else " " if clipped else ""
        value = f"{found.value:.3f}{mark}"
        row = [NAMES.get(name, name), value, f"{found.low:.3f} to {found.high:.3f}"]
        if truth is not None:
            row.append(f"{truth[name]:.3f}" if name in truth else "")
        rows.append(row)
    came_out = ", ".join(f"{NAMES.get(n, n)} {found.unclipped:.4g}" for n, found in clipped.items())
    footnote = f"* estimate clipped to what is possible; came out as: {came_out}"
    say.rows(title, header, rows, footnote if clipped else "")
    clear = clear_notes(report)
    more = f" ({len(clear) - 1} more with --verbose)" if len(clear) > 1 and not say.verbose else ""
    for note in clear if say.verbose else clear[:1]:
        say.warning(note + more)
    for note in report.notes:
        if CHANCE in note:
            say.detail(note)
    if report.trivial:
        say.warning(report.trivial.message)


def clear_notes(report: ClassificationReport) -> list[str]:
    """Notes on what chance does not explain."""
    return [note for note in report.notes if CHANCE not in note]


def true_quality(truth: NDArray[np.int64], score: NDArray[np.float64]) -> dict[str, float]:
    """What the PU metrics estimate, by the true classes."""
    from sklearn import metrics

    called = (score > 0.5).astype(int)
    return {
        "pu_precision": metrics.precision_score(truth, called, zero_division=0),
        "pu_recall": metrics.recall_score(truth, called),
        "pu_f1": metrics.f1_score(truth, called, zero_division=0),
        "pu_false_positive_rate": float(called[truth == 0].mean()),
        "pu_accuracy": metrics.accuracy_score(truth, called),
        "pu_balanced_accuracy": metrics.balanced_accuracy_score(truth, called),
        "pu_roc_auc": metrics.roc_auc_score(truth, score),
        "pu_average_precision": metrics.average_precision_score(truth, score),
    }


def as_json(report: ClassificationReport) -> dict[str, Any]:
    """The report without what the caller says anyway."""
    said = report.as_dict()
    return {"metrics": said["metrics"], "notes": said["notes"], "trivial": bool(report.trivial)}
