"""Difference of estimated densities: the prior that explains the ratio of two densities."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.ndimage import median_filter
from sklearn.isotonic import isotonic_regression

from puforest.prior._base import Array, Rows, Share
from puforest.prior._intervals import bootstrap_interval
from puforest.prior._scores import ScoredPriorEstimator, smoothed_logit
from puforest.prior.bbe import effective_size

__all__ = ["DEDPUL"]

CELLS = 512
LARGEST_RATIO = 50.0
MEDIAN_WIDTH = 5  # cells
CANDIDATES = np.linspace(0.01, 1, 100)
CLOSE = 0.05  # how far the mean posterior may be from a candidate


class DEDPUL(ScoredPriorEstimator):
    """Difference of estimated densities (Ivanov, ICMLA 2020).

    Estimates the densities of the scores of labeled and of unlabeled rows, and from their
    ratio r the prior: the posterior of a row is min(1, prior * r), and its mean over the
    unlabeled rows must be the prior again. It is solved by expectation maximization from
    above. Noise in r may let that slide towards zero, so the candidate from which on the mean
    falls behind is taken where it is larger.

    Parameters
    ----------
    scenario : {"case-control", "single-training-set"}, default="case-control"
        How the rows came about.
    estimator : classifier, default=None
        What tells labeled from unlabeled rows; with ``predict_proba``. None is a forest.
    cv : int, default=5
        Number of folds: each row is scored by a classifier that has not seen it.
    confidence : float, default=0.9
        Level of the interval, which comes from resampled scores.
    n_resamples : int, default=100
        Number of resamples.
    n_jobs : int or None, default=None
        Threads of the forest.
    random_state : int, RandomState instance or None, default=None
        Seed of all that is random.

    Attributes
    ----------
    prior_ : float
        The estimate.
    interval_ : tuple of float
        Where it lies.
    estimate_ : PriorEstimate
        All about it. Its evidence holds the ``cells`` of the logit scores, the two densities
        (``labeled_density``, ``unlabeled_density``), their ``ratio``, the ``candidates`` and
        what the mean posterior at each is above them (``difference``).

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
        confidence: float = 0.9,
        n_resamples: int = 100,
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

    def _share(self, rows: Rows) -> Share:
        scores, labeled = smoothed_logit(self._scores(rows)), rows.labeled
        groups = (
            scores[labeled],
            scores[~labeled],
            rows.weight[labeled],
            rows.weight[~labeled],
        )
        value, low, high = bootstrap_interval(
            lambda *given: explaining_share(*density_ratio(*given)[1:3]),
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
            "scores": groups[:2],
        }
        return Share(value, low, high, evidence)


def density_ratio(
    positive: Array, unlabeled: Array, w_p: Array, w_u: Array
) -> tuple[Array, Array, Array, tuple[Array, Array]]:
    """Middles of cells, the monotone ratio of the densities in each, U's mass, both densities."""
    both = np.concatenate([positive, unlabeled])
    edges = np.linspace(both.min() - 1, both.max() + 1, CELLS + 1)
    p, _ = density(positive, w_p, edges)
    u, mass = density(unlabeled, w_u, edges)
    with np.errstate(over="ignore"):  # far from all unlabeled rows: as large as can be
        ratio = np.divide(p, u, out=np.zeros(CELLS), where=u > 0)
    ratio = median_filter(np.minimum(LARGEST_RATIO, ratio), MEDIAN_WIDTH, mode="constant")
    # Cells without unlabeled rows decide nothing, but need some weight to be in order.
    ratio = isotonic_regression(ratio, sample_weight=mass + 1e-9)
    return (edges[1:] + edges[:-1]) / 2, ratio, mass, (p, u)


def density(scores: Array, weight: Array, edges: Array) -> tuple[Array, Array]:
    """A Gaussian kernel estimate on the cells, and the mass in each before smoothing."""
    counts, _ = np.histogram(scores, edges, weights=weight)
    mass = counts / weight.sum()
    cell = edges[1] - edges[0]
    # Silverman's rule, of the weighted spread.
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
    """Mean over the unlabeled rows of min(1, prior * ratio)."""
    result: Array = np.minimum(1, np.multiply.outer(prior, ratio)) @ mass
    return result


def explaining_share(ratio: Array, mass: Array) -> float:
    """The prior that is the mean of its posteriors, or from which on it is not, if larger."""
    prior = 1.0
    for _ in range(1000):
        previous, prior = prior, float(mean_posterior(ratio, mass, np.array([prior]))[0])
        if previous - prior < 1e-6:
            break
    behind = CANDIDATES - mean_posterior(ratio, mass, CANDIDATES)
    bend = np.where(behind[1:-1] < CLOSE, np.diff(behind, 2), -np.inf)
    return max(prior, float(CANDIDATES[1:-1][np.argmax(bend)]))
