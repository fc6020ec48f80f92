"""Estimates and intervals of totals over the positives of a population, from checked rows.

Prior, precision, recall, F1 and AUC are solutions v of ``h(v) = Σ y_i a_i(v) + b(v) = 0``, a sum
over the population in which only the classes y_i are unknown. To test a value v, predicted
probabilities p_i are tilted until they satisfy the equation: ``logit p_i(v) = logit p_i + λ a_i``,
with λ such that ``Σ p_i(v) a_i + b = 0``. Then

    T(v) = Σ_checked a_i (y_i - p_i(v)) / e_i

estimates h(v) without bias, whatever the probabilities are, if row i was checked with probability
e_i. If they are right, its variance is ``Σ (1/e_i - 1) a_i² p_i(v) (1 - p_i(v))``, so that it is
smallest for e_i proportional to ``sqrt(p_i (1 - p_i))``. The interval consists of the values that
are not rejected. With constant probabilities and a simple random sample, it is Wilson's interval.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit, logit

Array = NDArray[np.float64]

# Predicted probabilities are averaged in this many bins of the population.
BINS = 200
# They are mixed with the mean, so that no row is certain.
MIXED = 0.05
# Degrees of freedom that the variance under the predicted probabilities counts as.
MODEL_DF = 10.0
# Grid on which roots are bracketed.
GRID = expit(np.linspace(-14, 14, 141))


@dataclass(frozen=True)
class Equation:
    """Coefficients of ``h = Σ y_i (constant + slope g_i) + offset`` at a value."""

    constant: float
    slope: float
    offset: float


@dataclass(frozen=True)
class Reference:
    """Mean and variance of g over a separate sample of `n` positives."""

    mean: float
    variance: float
    n: int


class CheckedTotals:
    """Totals over a population of rows, some of which are checked.

    Parameters
    ----------
    verdict : ndarray
        1 for checked positives, 0 for checked negatives, nan for other rows.
    probability : ndarray
        Probability of each row to be checked.
    score : ndarray
        Predicted probability of each row.
    g : ndarray
        Quantity whose total over the positives is estimated.
    """

    def __init__(self, verdict: Array, probability: Array, score: Array, g: Array) -> None:
        self.checked = np.flatnonzero(np.isfinite(verdict))
        self.y = verdict[self.checked]
        self.e = probability[self.checked]
        self.g = g[self.checked]
        self.bin, n_bins = _bins(score, g)

        def in_bins(values: Array) -> Array:
            summed: Array = np.bincount(self.bin, values, minlength=n_bins).astype(np.float64)
            return summed

        self.size = in_bins(np.ones(len(score)))
        mean = in_bins(score) / self.size
        mean = (1 - MIXED) * mean + MIXED * np.clip(score.mean(), 1e-6, 1 - 1e-6)
        self.logit = logit(mean)
        self.mean_g = in_bins(g) / self.size
        # Rows that cannot be checked count only where g is 0.
        excess = 1 / np.where(probability > 0, probability, 1.0) - 1
        self.moments = [in_bins(excess * g**k) for k in range(3)]
        self.bin = self.bin[self.checked]

    def tilted(self, at: Equation) -> Array:
        """Probabilities of the bins for which the equation holds."""
        a = at.constant + at.slope * self.mean_g

        def excess(strength: float) -> float:
            p = expit(self.logit + strength * a)
            return float(self.size @ (p * a) + at.offset)

        reach = 60 / np.abs(a).max()
        low, high = excess(-reach), excess(reach)
        if low >= 0 or high <= 0:  # out of reach: as far as possible
            found = -reach if low >= 0 else reach
        else:
            found = brentq(excess, -reach, reach, xtol=1e-12 * reach)
        p: Array = expit(self.logit + found * a)
        return p

    def residuals(self, p: Array) -> Array:
        """Differences of verdicts and probabilities, weighted to represent the population."""
        weighted: Array = (self.y - p[self.bin]) / self.e
        return weighted

    def variance(self, p: Array, at: Equation, other: Equation) -> float:
        """Covariance of two totals under the given probabilities."""
        m0, m1, m2 = (float((p * (1 - p)) @ m) for m in self.moments)
        cross = at.constant * other.slope + at.slope * other.constant
        return at.constant * other.constant * m0 + cross * m1 + at.slope * other.slope * m2

    def dispersion(self, p: Array, at: Equation) -> float:
        """Ratio of the variance in the sample to that under the probabilities, shrunk toward 1."""
        c = (at.constant + at.slope * self.g) ** 2 * (1 - self.e) / self.e**2
        q = p[self.bin]
        expected = c * q * (1 - q)
        if expected.sum() <= 0:
            return 1.0
        # Variance of the sum of squares under the probabilities.
        noise = c @ (c * q * (1 - q) * (1 - 2 * q) ** 2)
        df = np.inf if noise <= 0 else 2 * expected.sum() ** 2 / noise
        if np.isinf(df):
            return 1.0
        ratio = c @ (self.y - q) ** 2 / expected.sum()
        return float((df * ratio + MODEL_DF) / (df + MODEL_DF))

    def compared(self, p: Array, reference: Reference) -> tuple[float, float]:
        """Total of ``g - mean`` over the positives, which should be 0, and its variance.

        The variance is that due to the reference and to the positives of the population, who are
        themselves a sample.
        """
        n = float(self.size @ p)
        total = self.size @ (p * (self.mean_g - reference.mean))
        total += self.residuals(p) @ (self.g - reference.mean)
        return float(total), reference.variance * (n**2 / reference.n + n)


def solve(
    totals: CheckedTotals,
    equation: Callable[[float], Equation],
    z: float,
    reference: Reference | None = None,
) -> tuple[float, float, float]:
    """Solve an equation for a value between 0 and 1; return it and the ends of its interval."""

    def test(v: float, dispersion: float) -> tuple[float, float]:
        at = equation(v)
        p = totals.tilted(at)
        total = float(totals.residuals(p) @ (at.constant + at.slope * totals.g))
        variance = dispersion * totals.variance(p, at, at)
        if reference is not None:
            # Subtract what is known to be error: the part that goes with the difference to the
            # reference.
            also = Equation(-reference.mean, 1.0, 0.0)
            difference, noise = totals.compared(p, reference)
            noise += dispersion * totals.variance(p, also, also)
            shared = dispersion * totals.variance(p, at, also)
            if noise > 0:
                total -= shared / noise * difference
                variance -= shared**2 / noise
        return total, max(0.0, variance)

    def root(sign: int, dispersion: float) -> float:
        def bound(v: float) -> float:
            total, variance = test(v, dispersion)
            return total + sign * z * float(np.sqrt(variance))

        return _root(bound)

    center = root(0, 1.0)
    at = equation(center)
    dispersion = totals.dispersion(totals.tilted(at), at)
    return root(0, dispersion), root(-1, dispersion), root(1, dispersion)


def _root(function: Callable[[float], float]) -> float:
    """Find where a function that is positive on the left becomes negative."""
    positive = np.flatnonzero([function(v) > 0 for v in GRID])
    if not len(positive):
        return 0.0
    last = int(positive[-1])
    if last == len(GRID) - 1:
        return 1.0
    return float(brentq(function, GRID[last], GRID[last + 1], xtol=1e-9))


def _bins(score: Array, g: Array) -> tuple[NDArray[np.intp], int]:
    """Assign rows to bins of similar scores, and of equal g if it has two values."""
    order = np.lexsort((g, score))
    rank = np.empty(len(score), dtype=np.intp)
    rank[order] = np.arange(len(score))
    bins = rank * BINS // len(score)
    if len(np.unique(g)) == 2:
        bins = 2 * bins + (g == g.max())
    _, found = np.unique(bins, return_inverse=True)
    return found, int(found.max()) + 1
