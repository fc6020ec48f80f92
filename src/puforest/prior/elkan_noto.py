"""Elkan and Noto's estimators of the label frequency."""

from __future__ import annotations

from typing import Any

import numpy as np

from puforest import _validation as check
from puforest._confidence import CONFIDENCE
from puforest.prior._base import Array, PriorSample, UnlabeledPrior
from puforest.prior._docs import documented
from puforest.prior._intervals import bootstrapped
from puforest.prior._limits import identified
from puforest.prior._scores import ScoredPriorEstimator

__all__ = ["ElkanNoto"]

VARIANTS = ("e1", "e2", "e3")


@documented
class ElkanNoto(ScoredPriorEstimator):
    """Label frequency from the probability of being labeled (Elkan and Noto, KDD 2008).

    The `estimator` predicts g(x), the probability that a row is labeled. For a row that is certain
    to be positive, g(x) is the label frequency. The estimators assume that all labeled rows are,
    so they overestimate the prior if the classes overlap. They are provided for comparison.

    Parameters
    ----------
    variant : {"e1", "e2", "e3"}, default="e1"
        Estimator of the label frequency: the mean of g over the labeled rows ("e1"), the sum of g
        over the labeled rows divided by its sum over all rows ("e2"), or the maximum of g ("e3").
    %scenario, estimator, cv, confidence, n_resamples, n_jobs, random_state%

    Attributes
    ----------
    %attributes%
    estimate_ : PriorEstimate
        The estimate with its evidence: the ``scores`` of both groups, and the label frequency
        among the rows used (``frequencies``, a single number).
    """

    _method = "elkan-noto"

    def __init__(
        self,
        *,
        variant: str = "e1",
        scenario: str = "case-control",
        estimator: Any = None,
        cv: int = 5,
        confidence: float = CONFIDENCE,
        n_resamples: int = 200,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.variant = variant
        self.scenario = scenario
        self.estimator = estimator
        self.cv = cv
        self.confidence = confidence
        self.n_resamples = n_resamples
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _unlabeled_prior(self, sample: PriorSample) -> UnlabeledPrior:
        check.one_of("variant", self.variant, VARIANTS)
        scores = self._scores(sample)
        if self.estimator is None:
            scores = unbalanced(scores, sample.odds)

        def unlabeled_prior(positive: Array, unlabeled: Array, w_p: Array, w_u: Array) -> float:
            total = float(w_p @ positive)
            if total == 0:
                return 1.0  # no row is likely to be labeled, so all of them may be positive
            if self.variant == "e1":
                c = total / w_p.sum()
            elif self.variant == "e2":
                c = total / (total + w_u @ unlabeled)
            else:
                c = max(positive.max(), unlabeled.max())
            return float(w_p.sum() / w_u.sum() * (1 - c) / c)

        groups = sample.by_group(scores)
        value, low = bootstrapped(
            unlabeled_prior,
            *groups,
            confidence=self.confidence,
            n_resamples=self.n_resamples,
            random_state=self.random_state,
        )
        evidence = {
            "scores": groups[:2],
            "frequencies": np.array([sample.odds / (sample.odds + value)]),
            "variant": self.variant,
        }
        return identified(value, low, *groups, confidence=self.confidence, evidence=evidence)


def unbalanced(scores: Array, odds: float) -> Array:
    """Convert probabilities for balanced groups to those for the given odds."""
    probability: Array = scores * odds / (scores * odds + 1 - scores)
    return probability
