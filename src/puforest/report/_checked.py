"""Checked rows in a report: the verdicts, and estimates from them next to those from labels."""

from __future__ import annotations

from typing import Any

from puforest._fit_record import FitRecord
from puforest.checking import CheckedEstimate, CheckedEstimates, estimate_from_checks
from puforest.metrics import ClassificationReport
from puforest.metrics.classification import F1, PRECISION, RECALL
from puforest.metrics.ranking import ROC_AUC
from puforest.prior import PriorEstimate
from puforest.report._rows import Array, LabeledRows

METRICS = {"precision": PRECISION, "recall": RECALL, "f1": F1, "auc": ROC_AUC}


def check_estimates(
    rows: LabeledRows | None, scores: Array | None, threshold: float
) -> CheckedEstimates | None:
    """Estimate prior and quality from the checked rows; None if there are none, or weights."""
    if rows is None or rows.checked is None or rows.weight is not None:
        return None
    assert rows.check_probability is not None
    return estimate_from_checks(
        rows.checked,
        rows.check_probability,
        y=rows.y,
        score=scores,
        threshold=threshold,
        scenario=rows.sample.scenario,
    )


def checked_part(
    record: FitRecord,
    rows: LabeledRows | None,
    found: CheckedEstimates | None,
    quality: ClassificationReport | None,
    prior: PriorEstimate | None,
    notes: list[str],
) -> dict[str, Any] | None:
    """Describe the checked rows of the fit and of the report; None if there are none.

    `prior` is the estimate of the class prior that does not use them.
    """
    part: dict[str, Any] = {
        "fitted": {"positive": record.n_confirmed, "negative": record.n_refuted},
        "notes": notes,
    }
    if found is not None and quality is not None:
        part |= {
            "n_checked": found.n_checked,
            "n_positive": found.n_positive,
            "n_unlabeled": found.n_unlabeled,
            "confidence": found.confidence,
            "estimates": [_of_prior(found, prior), *_of_metrics(found, quality)],
            "notes": [*found.notes, *notes],
        }
    elif rows is not None and rows.checked is not None:
        part["notes"] = ["Estimates from checked rows are not available with sample weights."]
    return part if len(part) > 2 or part["notes"] or record.n_confirmed + record.n_refuted else None


def _of_prior(found: CheckedEstimates, prior: PriorEstimate | None) -> dict[str, Any]:
    from_labels = from_checks = None
    if found.prior is not None:
        from_checks = _prior_interval(found.prior)
    if prior is not None and prior.method != "checks":
        from_labels = _prior_interval(prior) | {"upper": prior.upper, "is_range": prior.is_bound}
    return {
        "name": "Class prior",
        "from_labels": from_labels,
        "from_checks": from_checks,
        "bounds": found.prior_bounds,
    }


def _prior_interval(prior: PriorEstimate) -> dict[str, Any]:
    return _interval(CheckedEstimate(prior.value, *prior.interval))


def _of_metrics(found: CheckedEstimates, quality: ClassificationReport) -> list[dict[str, Any]]:
    table = []
    for name, metric in METRICS.items():
        of_labels, of_checks = quality.metrics[metric.name], getattr(found, name)
        table.append(
            {
                "name": metric.label,
                "from_labels": _interval(of_labels) | {"is_range": of_labels.is_range},
                "from_checks": None if of_checks is None else _interval(of_checks),
            }
        )
    return table


def _interval(found: Any) -> dict[str, Any]:
    return {name: getattr(found, name) for name in ("value", "low", "high")}
