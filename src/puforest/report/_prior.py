"""The class prior on the page: where it is from, its evidence, and what hangs on it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from puforest._sample import pu_sample
from puforest.model_selection import prior_sensitivity
from puforest.prior import PriorEstimate
from puforest.report._evidence import evidence_chart
from puforest.report._rows import LabeledRows, Scored

Array = NDArray[np.float64]

# How far the priors tried are from that of the fit, in logits: odds from a quarter to fourfold.
REACH = np.log(4)
N_PRIORS = 21

MOST_ROWS = 20_000  # of a kind, that are asked for other priors


def holds(estimate: PriorEstimate, prior: float) -> bool:
    """Whether a prior is within the interval of an estimate."""
    low, high = estimate.interval
    return low <= prior <= high


def prior_part(prior: float, estimate: PriorEstimate | None, source: str) -> dict[str, Any]:
    """What is known about the prior; `source` is "fit", "given" or "check"."""
    part: dict[str, Any] = {"value": prior, "source": source}
    if estimate is not None:
        part["estimate"] = {
            "value": estimate.value,
            "low": estimate.interval[0],
            "high": estimate.interval[1],
            "confidence": estimate.confidence,
            "method": estimate.method,
            "unlabeled_prior": estimate.unlabeled_prior,
            "label_frequency": estimate.label_frequency,
            "evidence": evidence_chart(estimate),
        }
    return part


def sensitivity_part(
    scored: Scored,
    rows: LabeledRows,
    prior: float,
    estimate: PriorEstimate | None,
    rng: np.random.RandomState,
) -> dict[str, Any]:
    """Shares and metrics by prior: means over the models that have judged rows.

    Models answer for other priors with the same trees, on rows that they have not seen.
    """
    priors = _priors(scored, rows, prior, estimate)
    found = []
    for model, test in scored.parts:
        kept, weights = _some(rows, test, MOST_ROWS // len(scored.parts), rng)
        found.append(prior_sensitivity(model, rows.X[kept], rows.y[kept], priors=priors, **weights))

    def mean(name: str) -> Array:
        by_part: list[Array] = [getattr(part, name) for part in found]
        return np.asarray(np.mean(by_part, axis=0))

    names = ("positive_share", "flipped_share", "precision", "recall", "f1", "error")
    return {"prior": prior, "priors": priors} | {name: mean(name) for name in names}


def _some(
    rows: LabeledRows, test: NDArray[np.intp], most: int, rng: np.random.RandomState
) -> tuple[NDArray[np.intp], dict[str, Any]]:
    """Some rows of each kind, and weights by which they stand for all of them."""
    labeled = rows.sample.labeled[test]
    groups = [test[labeled], test[~labeled]]
    if max(len(group) for group in groups) <= most:
        return test, rows.of(test)
    kept = [rng.choice(g, most, replace=False) if len(g) > most else g for g in groups]
    factors = [len(g) / len(k) for g, k in zip(groups, kept, strict=True)]
    chosen = np.concatenate(kept)
    weights = rows.of(chosen)
    factor = np.repeat(factors, [len(k) for k in kept])
    return chosen, weights | {"sample_weight": factor * weights.get("sample_weight", 1.0)}


def _priors(
    scored: Scored, rows: LabeledRows, prior: float, estimate: PriorEstimate | None
) -> Array:
    """Priors around that of the fit and over its interval, as far as all models allow them."""
    low, high = expit(logit(prior) - REACH), expit(logit(prior) + REACH)
    if estimate is not None:
        low, high = min(low, estimate.interval[0]), max(high, estimate.interval[1])
    least = max(
        max(
            model._record.masses.labeled_u,
            pu_sample(rows.y[test], scenario=rows.sample.scenario, **rows.of(test)).least_prior,
        )
        for model, test in scored.parts
    )
    grid = np.append(expit(np.linspace(logit(low), logit(high), N_PRIORS)), prior)
    return np.unique(grid[(grid >= least) & (grid < 1)])
