"""Monotone maps from scores to probabilities of being positive.

With labeled negatives they would minimize the Brier score or the log-loss. Up to a constant, both
can be written in terms of means over the positives and over the population:

* Brier score: ``mean_U p² - 2 π mean_P p``, minimized over monotone maps by isotonic regression;
* log-loss: ``mean_U softplus(a s + b) - π mean_P (a s + b)``, minimized over ``a`` and ``b`` of a
  sigmoid.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, logit
from sklearn.isotonic import IsotonicRegression

from puforest._sample import PUSample

Array = NDArray[np.float64]

# Prior standard deviation of the slope, in units of the standard deviation of the scores. It only
# matters if the labeled and the unlabeled rows are separable and the slope would be infinite.
SLOPE_SCALE = 10.0

# Limits of the slope for mean votes, so that probabilities differ wherever scores do.
SLOPES = (1e-3, 30.0)


class Calibrator(Protocol):
    """Monotone map from scores to probabilities."""

    def predict(self, score: Array) -> Array:
        """Map scores to probabilities."""


@dataclass(frozen=True)
class Sigmoid:
    """Platt scaling."""

    slope: float
    intercept: float

    def predict(self, score: Array) -> Array:
        """Map scores to probabilities."""
        return cast(Array, expit(self.slope * score + self.intercept))

    def of_margin(self) -> Sigmoid:
        """Return the same map for twice the score minus 1."""
        return Sigmoid(self.slope / 2, self.intercept + self.slope / 2)

    def at(self, score: float) -> float:
        """Map one score to a probability."""
        return float(expit(self.slope * score + self.intercept))


def shifted(calibrator: Calibrator, old: float, new: float) -> Calibrator:
    """Return the map for data in which only the class prior differs.

    By Bayes' rule, the odds are multiplied by the ratio of the prior odds.
    """
    shift = logit(new) - logit(old)
    if isinstance(calibrator, Sigmoid):
        return Sigmoid(calibrator.slope, float(calibrator.intercept + shift))
    isotonic = cast(IsotonicRegression, calibrator)
    with np.errstate(divide="ignore"):  # of probabilities 0 and 1, which stay the same
        moved = expit(logit(isotonic.y_thresholds_) + shift)
    regression = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip")
    return cast(Calibrator, regression.fit(isotonic.X_thresholds_, moved))


def fit_isotonic(score: Array, sample: PUSample, prior: float) -> Calibrator:
    """Fit the monotone map with the smallest PU Brier score.

    With masses u and w of the population and of the positives at each score, it minimizes
    ``sum u p² - 2 sum w p = sum u (p - w/u)² + const``: isotonic regression of ``w / u`` with
    weights ``u``. Labeled rows of case-control data have u = 0. Alone at their score they would
    increase p without bound, so at the optimum they are pooled with the next higher score of the
    unlabeled rows, or with the highest one.
    """
    seen = sample.population > 0
    at, place = np.unique(score[seen], return_inverse=True)
    u = np.bincount(place, weights=sample.population[seen])
    positive = sample.positive_rows
    above = np.minimum(np.searchsorted(at, score[positive]), len(at) - 1)
    w = prior * np.bincount(above, weights=sample.positive[positive], minlength=len(at))
    regression = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip")
    return cast(Calibrator, regression.fit(at, w / u, sample_weight=u))


def fit_sigmoid(
    score: Array, sample: PUSample, prior: float, slopes: tuple[float, float] = (0.0, np.inf)
) -> Sigmoid:
    """Fit the sigmoid with the smallest PU log-loss, with a wide normal prior on its slope.

    `slopes` are the least and the largest slope allowed.
    """
    center = sample.of_population(score)
    spread = np.sqrt(sample.of_population((score - center) ** 2)) or 1.0
    z = (score - center) / spread
    z_positive = prior * sample.of_positives(z) / sample.positive_total
    penalty = 1 / (SLOPE_SCALE**2 * np.count_nonzero(sample.positive))

    def objective(ab: Array) -> tuple[float, Array]:
        a, b = ab
        t = a * z + b
        p = expit(t)
        value = sample.of_population(np.logaddexp(0, t)) - a * z_positive - b * prior
        slope = sample.of_population(p * z) - z_positive + penalty * a
        return value + penalty * a * a / 2, np.array([slope, sample.of_population(p) - prior])

    best = minimize(
        objective,
        x0=[1.0, logit(prior)],
        jac=True,
        method="L-BFGS-B",
        bounds=[(slopes[0] * spread, slopes[1] * spread), (None, None)],
        options={"ftol": 1e-12, "gtol": 1e-8},
    )
    a, b = best.x
    return Sigmoid(float(a / spread), float(b - a * center / spread))
