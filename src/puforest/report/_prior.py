"""The class prior in a report: its origin, its evidence, and the sensitivity to it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from puforest._rows import take_rows
from puforest._sample import pu_sample
from puforest._unwrap import fitted_trees
from puforest.model_selection import PriorSensitivity, prior_sensitivity
from puforest.model_selection._sensitivity import sensitivity_of
from puforest.prior import PriorEstimate
from puforest.prior._evidence import Curve, evidence_curves
from puforest.report._rows import HeldOutScores, LabeledRows

Array = NDArray[np.float64]

# Distance of the priors evaluated from that of the fit, in logits: odds from 1/4 to 4 times.
REACH = np.log(4)
N_PRIORS = 21
LEAST_PRIOR = 0.01  # shown of the interval of an upper bound, which may begin at 0

MAX_ROWS = 20_000  # labeled and unlabeled each, in the sensitivity analysis
MAX_POINTS = 300  # of a curve; charts have no more pixels to show them

COLORS = {"labeled": "labeled", "unlabeled": "unlabeled", "positives": "quiet"}


def prior_part(prior: float, estimate: PriorEstimate | None, source: str) -> dict[str, Any]:
    """Describe the prior; `source` is "fit", "given" or "check"."""
    part: dict[str, Any] = {"value": prior, "source": source}
    if estimate is not None:
        part["estimate"] = {
            "value": estimate.value,
            "low": estimate.interval[0],
            "high": estimate.interval[1],
            "upper": estimate.upper,
            "is_bound": estimate.is_bound,
            "reason": estimate.reason,
            "confidence": estimate.confidence,
            "method": estimate.method,
            "label_frequency": estimate.label_frequency,
            "evidence": _evidence_part(estimate),
        }
    return part


def _evidence_part(estimate: PriorEstimate) -> dict[str, Any] | None:
    evidence = evidence_curves(estimate)
    if evidence is None:
        return None
    return {
        "description": evidence.description,
        "x": _axis(evidence.x_label, evidence.x_range) | {"integer": evidence.curves[0].points},
        "y": {"min": 0} | _axis(evidence.y_label, evidence.y_range),
        "series": [_series(curve, estimate.confidence) for curve in evidence.curves],
        "marks": [asdict(mark) for mark in evidence.marks],
    }


def _axis(label: str, limits: tuple[float, float] | None) -> dict[str, Any]:
    return {"label": label} | ({"min": limits[0], "max": limits[1]} if limits else {})


def _series(curve: Curve, confidence: float) -> dict[str, Any]:
    """Convert a curve for a chart, in the order of x and with few enough points."""
    order = np.argsort(curve.x, kind="stable")[:: 1 + len(curve.x) // MAX_POINTS]
    series = {
        "name": curve.name,
        "color": COLORS[curve.group],
        "dots": curve.points,
        "x": curve.x[order],
        "y": curve.y[order],
    }
    if curve.low is None or curve.high is None:
        return series
    band = {"low": curve.low[order], "high": curve.high[order]}
    return series | band | {"band": f"{100 * confidence:g}% limits"}


def sensitivity_part(
    held_out: HeldOutScores,
    rows: LabeledRows,
    prior: float,
    estimate: PriorEstimate | None,
    rng: np.random.RandomState,
) -> dict[str, Any]:
    """Compute predictions and metrics by prior, averaged over the models.

    Each model keeps its trees and predicts held-out rows under other priors.
    """
    most = MAX_ROWS // len(held_out.parts)
    parts = [(model, *rows.subsample(test, most, rng)) for model, test in held_out.parts]
    least = max(
        max(
            fitted_trees(model)._record.masses.labeled_u,
            pu_sample(rows.y[kept], scenario=rows.sample.scenario, **weights).least_prior,
        )
        for model, kept, weights in parts
    )
    priors = _priors(prior, estimate, least)
    found = [
        _sensitivity(held_out, model, rows.y[kept], kept, priors, weights)
        for model, kept, weights in parts
    ]

    def mean(name: str) -> Array:
        by_part: list[Array] = [getattr(part, name) for part in found]
        return np.asarray(np.mean(by_part, axis=0))

    names = ("positive_fraction", "flipped_fraction", "precision", "recall", "f1", "error")
    return {"prior": prior, "priors": priors} | {name: mean(name) for name in names}


def _sensitivity(
    held_out: HeldOutScores,
    model: Any,
    y: NDArray[np.intp],
    kept: NDArray[np.intp],
    priors: Array,
    weights: dict[str, Any],
) -> PriorSensitivity:
    """Compute the sensitivity of a model on some rows, whose labels are `y`."""
    if held_out.source != "out-of-bag":
        X = take_rows(held_out.table, kept)
        return prior_sensitivity(model, X, y, priors=priors, **weights)
    sample = pu_sample(y, scenario=model.scenario, **weights)
    return sensitivity_of(model, lambda m: m.oob_decision_function_[kept], priors, sample)


def _priors(prior: float, estimate: PriorEstimate | None, least: float) -> Array:
    """Choose possible priors around that of the fit and over its interval."""
    low, high = expit(logit(prior) - REACH), expit(logit(prior) + REACH)
    if estimate is not None:
        low = min(low, max(estimate.interval[0], LEAST_PRIOR))
        high = max(high, estimate.interval[1])
    grid = np.append(expit(np.linspace(logit(low), logit(high), N_PRIORS)), prior)
    return np.unique(grid[(grid >= least) & (grid < 1)])
