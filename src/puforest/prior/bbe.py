"""Best bin estimation (BBE), from the rows with the highest scores."""

from __future__ import annotations

from typing import Any

import numpy as np

from puforest._confidence import CONFIDENCE
from puforest._prior_estimate import PriorEstimate
from puforest._training_rows import TrainingRows
from puforest.prior._base import (
    Array,
    PriorSample,
    UnlabeledPrior,
    population_prior,
    weighted_labels,
)
from puforest.prior._docs import documented
from puforest.prior._limits import best_threshold, identified, uniform_errors
from puforest.prior._scores import ScoredPriorEstimator

__all__ = ["BBE"]

MAX_POINTS = 1000  # on the curve kept as evidence


@documented
class BBE(ScoredPriorEstimator):
    """Best bin estimation (Garg, Wu, Smola, Balakrishnan and Lipton, NeurIPS 2021).

    The prior is estimated as the fraction of unlabeled rows with a score above a threshold,
    divided by the fraction of labeled rows above it. The threshold minimizes an upper confidence
    bound of this ratio: it must be high enough to exclude most negatives, and low enough for both
    fractions to be well estimated. As in the other methods, the value is reduced if the classes
    overlap, where it would be too large.

    Parameters
    ----------
    %parameters%

    Attributes
    ----------
    %attributes%
    estimate_ : PriorEstimate
        The estimate with its evidence: the ``thresholds``, the ``quotient`` at each of them with
        its ``lower`` and ``upper`` bounds, and the ``chosen`` threshold.

    Examples
    --------
    >>> from puforest.datasets import load_mushrooms, make_pu
    >>> from puforest.prior import BBE
    >>> X, y = load_mushrooms(return_X_y=True)
    >>> X_pu, labeled = make_pu(X, y, n_labeled=1000, random_state=0)
    >>> bool(abs(BBE(random_state=0).fit(X_pu, labeled).prior_ - y.mean()) < 0.03)
    True
    """

    _method = "bbe"

    def __init__(
        self,
        *,
        scenario: str = "case-control",
        estimator: Any = None,
        cv: int = 5,
        confidence: float = CONFIDENCE,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.scenario = scenario
        self.estimator = estimator
        self.cv = cv
        self.confidence = confidence
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _unlabeled_prior(self, sample: PriorSample) -> UnlabeledPrior:
        return best_bin(*sample.by_group(self._scores(sample)), confidence=self.confidence)


def prior_from_scores(scores: Array, rows: TrainingRows, scenario: str) -> PriorEstimate:
    """Estimate the prior from held-out scores of training rows, by position; nan for none."""
    scored = np.flatnonzero(np.isfinite(scores))
    labels = weighted_labels(rows, scored)
    found = best_bin(*labels.by_group(scores[scored]), confidence=CONFIDENCE)
    return population_prior(
        labels, found, method=BBE._method, scenario=scenario, confidence=CONFIDENCE
    )


def best_bin(
    positive: Array, unlabeled: Array, w_p: Array, w_u: Array, *, confidence: float
) -> UnlabeledPrior:
    """Ratio of the fractions above the threshold that minimizes its upper bound."""
    threshold, q_p, q_u, best = best_threshold(positive, unlabeled, w_p, w_u)
    e_p, e_u = uniform_errors(w_p, w_u, confidence)
    with np.errstate(divide="ignore", invalid="ignore"):
        quotient = q_u / q_p
        lower = np.maximum(0, q_u - e_u) / np.minimum(1, q_p + e_p)
        upper = np.where(q_p > e_p, (q_u + e_u) / (q_p - e_p), np.inf)
    spaced = np.arange(0, len(threshold), 1 + len(threshold) // MAX_POINTS)
    kept = np.unique(np.append(spaced, best))
    evidence = {
        "thresholds": threshold[kept],
        "quotient": quotient[kept],
        "lower": lower[kept],
        "upper": upper[kept],
        "labeled_above": q_p[kept],
        "unlabeled_above": q_u[kept],
        "chosen": float(threshold[best]),
    }
    value = float(quotient[best])
    groups = (positive, unlabeled, w_p, w_u)
    return identified(value, value, *groups, confidence=confidence, evidence=evidence)
