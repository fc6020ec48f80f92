"""Difference of estimated densities (DEDPUL), from the density ratio of the scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.ndimage import median_filter
from sklearn.isotonic import isotonic_regression

from puforest._confidence import CONFIDENCE
from puforest.prior._base import Array, PriorSample, UnlabeledPrior
from puforest.prior._docs import documented
from puforest.prior._intervals import bootstrapped
from puforest.prior._limits import effective_size, identified
from puforest.prior._scores import ScoredPriorEstimator, smoothed_logit

__all__ = ["DEDPUL"]

CELLS = 512
LARGEST_RATIO = 50.0
MEDIAN_WIDTH = 5  # cells
CANDIDATES = np.linspace(0.01, 1, 100)
TOLERANCE = 0.05  # by which the mean posterior may fall short of a candidate


@documented
class DEDPUL(ScoredPriorEstimator):
    """Difference of estimated densities (Ivanov, ICMLA 2020).

    The method estimates the densities of the scores of labeled and of unlabeled rows. With their
    ratio r, the posterior of a row is min(1, prior * r), and the prior must equal the mean
    posterior of the unlabeled rows. This equation is solved by expectation maximization, starting
    from 1. Because noise in r may let the solution slide toward zero, the candidate beyond which
    the mean posterior falls short of the prior is used if it is larger.

    Parameters
    ----------
    %parameters%

    Attributes
    ----------
    %attributes%
    estimate_ : PriorEstimate
        The estimate with its evidence: the ``cells`` of the logit scores, the two densities
        (``labeled_density``, ``unlabeled_density``), their ``ratio``, the ``candidates``, and the
        mean posterior at each candidate minus the candidate (``difference``).

    Examples
    --------
    >>> from puforest.datasets import load_mushrooms, make_pu
    >>> from puforest.prior import DEDPUL
    >>> X, y = load_mushrooms(return_X_y=True)
    >>> X_pu, labeled = make_pu(X, y, n_labeled=1000, random_state=0)
    >>> bool(abs(DEDPUL(random_state=0).fit(X_pu, labeled).prior_ - y.mean()) < 0.05)
    True
    """

    _method = "dedpul"

    def __init__(
        self,
        *,
        scenario: str = "case-control",
        estimator: Any = None,
        cv: int = 5,
        confidence: float = CONFIDENCE,
        n_resamples: int = 200,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.scenario = scenario
        self.estimator = estimator
        self.cv = cv
        self.confidence = confidence
        self.n_resamples = n_resamples
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _unlabeled_prior(self, sample: PriorSample) -> UnlabeledPrior:
        groups = sample.by_group(smoothed_logit(self._scores(sample)))
        value, low = bootstrapped(
            lambda *given: explaining_prior(*density_ratio(*given)[1:3]),
            *groups,
            confidence=self.confidence,
            n_resamples=self.n_resamples,
            random_state=self.random_state,
        )
        cells, ratio, mass, densities = density_ratio(*groups)
        evidence = {
            "cells": cells,
            "labeled_density": densities[0],
            "unlabeled_density": densities[1],
            "ratio": ratio,
            "candidates": CANDIDATES,
            "difference": mean_posterior(ratio, mass, CANDIDATES) - CANDIDATES,
        }
        return identified(value, low, *groups, confidence=self.confidence, evidence=evidence)


def density_ratio(
    positive: Array, unlabeled: Array, w_p: Array, w_u: Array
) -> tuple[Array, Array, Array, tuple[Array, Array]]:
    """Midpoints of the cells, monotone density ratio, unlabeled mass, and both densities."""
    both = np.concatenate([positive, unlabeled])
    edges = np.linspace(both.min() - 1, both.max() + 1, CELLS + 1)
    p, _ = density(positive, w_p, edges)
    u, mass = density(unlabeled, w_u, edges)
    with np.errstate(over="ignore"):  # far from all unlabeled rows; clipped below
        ratio = np.divide(p, u, out=np.zeros(CELLS), where=u > 0)
    ratio = median_filter(np.minimum(LARGEST_RATIO, ratio), MEDIAN_WIDTH, mode="constant")
    # Cells without unlabeled rows get a tiny weight, which isotonic regression requires.
    ratio = isotonic_regression(ratio, sample_weight=mass + 1e-9)
    return (edges[1:] + edges[:-1]) / 2, ratio, mass, (p, u)


def density(scores: Array, weight: Array, edges: Array) -> tuple[Array, Array]:
    """Gaussian kernel density estimate on the cells, and the mass of each before smoothing."""
    counts, _ = np.histogram(scores, edges, weights=weight)
    mass = counts / weight.sum()
    cell = edges[1] - edges[0]
    # Silverman's rule with the weighted spread.
    mean = mass @ (edges[1:] + edges[:-1]) / 2
    spread = np.sqrt(mass @ ((edges[1:] + edges[:-1]) / 2 - mean) ** 2)
    quartiles = np.interp([0.25, 0.75], np.cumsum(mass), edges[1:])
    spread = min(spread, (quartiles[1] - quartiles[0]) / 1.349) or spread
    bandwidth = max(0.9 * spread * effective_size(weight) ** -0.2, cell)
    offset = cell * np.arange(-CELLS, CELLS + 1)
    kernel = np.exp(-0.5 * (offset / bandwidth) ** 2)
    smooth = np.convolve(mass, kernel / kernel.sum())[CELLS : 2 * CELLS]
    return smooth, mass


def mean_posterior(ratio: Array, mass: Array, prior: Array) -> Array:
    """Mean of min(1, prior * ratio) over the unlabeled rows."""
    result: Array = np.minimum(1, np.multiply.outer(prior, ratio)) @ mass
    return result


def explaining_prior(ratio: Array, mass: Array) -> float:
    """Prior that equals its mean posterior, or beyond which it does not, if that is larger."""
    prior = 1.0
    for _ in range(1000):
        previous, prior = prior, float(mean_posterior(ratio, mass, np.array([prior]))[0])
        if previous - prior < 1e-6:
            break
    shortfall = CANDIDATES - mean_posterior(ratio, mass, CANDIDATES)
    bend = np.where(shortfall[1:-1] < TOLERANCE, np.diff(shortfall, 2), -np.inf)
    return max(prior, float(CANDIDATES[1:-1][np.argmax(bend)]))
