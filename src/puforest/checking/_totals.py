"""Estimates and intervals of totals over the positives of a population, from checked rows.

Prior, precision, recall, F1 and AUC are solutions v of ``h(v) = Σ y_i a_i(v) + b(v) = 0``, a sum
over the population in which only the classes y_i are unknown. To test a value v, predicted
probabilities p_i are tilted until they satisfy the equation: ``logit p_i(v) = logit p_i + λ a_i``,
with λ such that ``Σ p_i(v) a_i + b = 0``. Then

    T(v) = Σ_checked a_i (y_i - p_i(v)) / e_i

estimates h(v) if row i was checked with probability e_i, whatever the probabilities p_i are. If
they are right, its variance is ``Σ (1/e_i - 1) a_i² p_i(v) (1 - p_i(v))``, and smallest for e_i
proportional to ``sqrt(p_i (1 - p_i))``. The interval consists of the values that are not rejected.
With constant probabilities and a simple random sample, it is Wilson's interval.

Probabilities are not quite right. The verdicts correct them twice: by a slope of the logits, and by
the ratio of the squared differences of verdicts and probabilities to their expectation. Both are
shrunk toward 1, because a few checks say little about rare errors.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

Array = NDArray[np.float64]

# Predicted probabilities are averaged in this many bins of the population.
BINS = 60
# They are mixed with the mean, so that no row is certain.
MIXED = 0.01
# Degrees of freedom that the variance under the predicted probabilities counts as.
MODEL_DF = 10.0
# Values to test first; the interval between two of them is divided in the next rounds.
GRID = np.concatenate([[0.0], expit(np.linspace(-12, 12, 49)), [1.0]])
ROUNDS = 3
POINTS = 11
# Newton's method, and the error of a fraction of the population at which it stops
MAX_STEPS = 80
MAX_SHIFT = 1.0
# Recalibration: slopes of the logits, and standard deviations of their logarithm and of the shift
SLOPES = np.geomspace(1 / 8, 8, 31)
SLOPE_SD = 0.5
SHIFT_SD = 3.0
TOLERANCE = 1e-8


@dataclass(frozen=True)
class Equation:
    """Coefficients of ``h(v) = Σ y_i (constant + slope g_i) + offset``, for several values v."""

    constant: Array
    slope: float
    offset: Array

    def weights(self, g: Array) -> Array:
        """Coefficients of the classes, by value and row."""
        a: Array = self.constant[:, None] + self.slope * g
        return a


@dataclass(frozen=True)
class Reference:
    """Mean and variance of g over `n` positives that are not in the population."""

    mean: float
    variance: float
    n: int
    n_positive: float  # in the population

    def equation(self) -> Equation:
        """Equation that says that g has this mean over the positives."""
        return Equation(np.array([-self.mean]), 1.0, np.zeros(1))


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
        checked = np.flatnonzero(np.isfinite(verdict))
        self.y = verdict[checked]
        self.e = probability[checked]
        self.g = g[checked]
        bins, n_bins = _bins(score, g)

        def in_bins(values: Array) -> Array:
            return np.bincount(bins, values, minlength=n_bins).astype(np.float64)

        self.bin = bins[checked]
        self.size = in_bins(np.ones(len(score)))
        mean = in_bins(score) / self.size
        predicted = logit((1 - MIXED) * mean + MIXED * np.clip(score.mean(), 1e-6, 1 - 1e-6))
        self.logit = predicted * _slope(predicted[self.bin], self.y)
        self.mean_g = in_bins(g) / self.size
        # Rows that cannot be checked count only where g is 0.
        excess = 1 / np.where(probability > 0, probability, 1.0) - 1
        self.moments = [in_bins(excess * g**k) for k in range(3)]

    def tilted(self, at: Equation) -> Array:
        """Probabilities of the bins for which the equation holds, by value.

        If none do, those that come closest.
        """
        a = at.weights(self.mean_g)

        def tilted(strength: Array) -> tuple[Array, Array]:
            p: Array = expit(self.logit + strength[:, None] * a)
            return p, (p * a) @ self.size + at.offset

        high = 60 / np.maximum(np.abs(a).max(axis=1), 1e-12)
        low = -high
        # Out of reach, the two ends meet.
        high = np.where(tilted(low)[1] >= 0, low, high)
        low = np.where(tilted(high)[1] <= 0, high, low)
        strength = np.clip(0.0, low, high)
        for _ in range(MAX_STEPS):
            p, excess = tilted(strength)
            high = np.where(excess > 0, strength, high)
            low = np.where(excess < 0, strength, low)
            if ((np.abs(excess) <= TOLERANCE * self.size.sum()) | (low >= high)).all():
                break
            slope = (p * (1 - p) * a**2) @ self.size
            newton = strength - excess / np.maximum(slope, 1e-300)
            inside = (newton > low) & (newton < high)
            strength = np.where(inside, newton, (low + high) / 2)
        return p

    def residuals(self, p: Array) -> Array:
        """Differences of verdicts and probabilities, weighted to represent the population."""
        weighted: Array = (self.y - p[:, self.bin]) / self.e
        return weighted

    def covariance(self, p: Array, at: Equation, other: Equation) -> Array:
        """Covariance of two totals under the given probabilities."""
        m0, m1, m2 = ((p * (1 - p)) @ m for m in self.moments)
        cross = at.constant * other.slope + at.slope * other.constant
        found: Array = at.constant * other.constant * m0 + cross * m1 + at.slope * other.slope * m2
        return found

    def compared(self, p: Array, reference: Reference) -> tuple[Array, Array]:
        """Total of ``g - mean`` over the positives, which should be 0, and its variance.

        The variance is that due to the reference and to the positives of the population, who are
        themselves a sample.
        """
        total = (p * self.size) @ (self.mean_g - reference.mean)
        total += self.residuals(p) @ (self.g - reference.mean)
        n = reference.n_positive
        return total, np.full(len(p), reference.variance * (n**2 / reference.n + n))

    def dispersion(self, p: Array, at: Equation) -> float:
        """Ratio of the variance in the sample to that under the probabilities, shrunk toward 1.

        `at` has one value.
        """
        c = at.weights(self.g)[0] ** 2 * (1 - self.e) / self.e**2
        q = p[0, self.bin]
        variance = q * (1 - q)
        expected = c @ variance
        # Variance of the sum of squares under the probabilities
        noise = c**2 @ (variance * (1 - 2 * q) ** 2)
        if noise <= 0 or expected <= 0:
            return 1.0
        df = 2 * expected**2 / noise
        ratio = c @ (self.y - q) ** 2 / expected
        return float((df * ratio + MODEL_DF) / (df + MODEL_DF))


class Solution:
    """Solution of an equation, between 0 and 1.

    Parameters
    ----------
    totals : CheckedTotals
        Checked rows and their population.
    equation : callable
        Equation at an array of values.
    reference : Reference, optional
        Sample of positives that shortens the interval.

    Attributes
    ----------
    value : float
        Estimate.
    """

    def __init__(
        self,
        totals: CheckedTotals,
        equation: Callable[[Array], Equation],
        reference: Reference | None = None,
    ) -> None:
        self.totals, self.equation, self.reference = totals, equation, reference
        self._dispersion = 1.0
        self._on_grid = totals.tilted(equation(GRID))
        self.value = self._root(0, last=True)
        at = equation(np.array([self.value]))
        self._dispersion = totals.dispersion(totals.tilted(at), at)

    def low(self, z: float) -> float:
        """Smallest value that is not rejected, at most `value`."""
        return min(self.value, self._root(-z, last=False))

    def high(self, z: float) -> float:
        """Largest value that is not rejected, at least `value`."""
        return max(self.value, self._root(z, last=True))

    def _test(self, values: Array) -> tuple[Array, Array]:
        """Estimate ``h`` and its standard error at each value, if that is the right one."""
        totals, at = self.totals, self.equation(values)
        p = self._on_grid if values is GRID else totals.tilted(at)
        total = (totals.residuals(p) * at.weights(totals.g)).sum(axis=1)
        variance = self._dispersion * totals.covariance(p, at, at)
        if self.reference is not None:
            # Subtract what is known to be error: the part that goes with the difference to the
            # reference.
            also = self.reference.equation()
            difference, noise = totals.compared(p, self.reference)
            noise = noise + self._dispersion * totals.covariance(p, also, also)
            shared = self._dispersion * totals.covariance(p, at, also)
            part = np.divide(shared, noise, out=np.zeros_like(noise), where=noise > 0)
            total = total - part * difference
            variance = variance - part * shared
        return total, np.sqrt(np.maximum(0, variance))

    def _root(self, z: float, *, last: bool) -> float:
        """Find the last (or first) value at which ``h`` plus z standard errors turns negative."""
        values = GRID
        for _ in range(ROUNDS):
            total, error = self._test(values)
            found = total + z * error
            if last:
                k = int(np.append(-1, np.flatnonzero(found > 0))[-1])
            else:
                k = int(np.append(np.flatnonzero(found <= 0), len(values))[0]) - 1
            if k < 0:
                return float(values[0])
            if k == len(values) - 1:
                return float(values[-1])
            low, high, f_low, f_high = values[k], values[k + 1], found[k], found[k + 1]
            values = np.linspace(low, high, POINTS)
        return float(low + (high - low) * f_low / (f_low - f_high))


def _slope(predicted: Array, y: Array) -> float:
    """Slope by which predicted logits fit the verdicts best: above 1 if they are too cautious.

    The result is a posterior mean. The logarithm of the slope is normal in advance, and the
    intercept is the most likely one for each slope.
    """
    x = SLOPES[:, None] * predicted
    shift = np.zeros((len(SLOPES), 1))
    for _ in range(MAX_STEPS):
        p = expit(x + shift)
        gradient = (y - p).sum(axis=1, keepdims=True) - shift / SHIFT_SD**2
        step = gradient / ((p * (1 - p)).sum(axis=1, keepdims=True) + 1 / SHIFT_SD**2)
        shift = shift + np.clip(step, -MAX_SHIFT, MAX_SHIFT)
        if np.abs(step).max() < TOLERANCE:
            break
    logits = x + shift
    likelihood = (y * logits - np.logaddexp(0, logits)).sum(axis=1)
    likelihood -= (shift[:, 0] / SHIFT_SD) ** 2 / 2 + (np.log(SLOPES) / SLOPE_SD) ** 2 / 2
    weight = np.exp(likelihood - likelihood.max())
    return float(np.exp(weight @ np.log(SLOPES) / weight.sum()))


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
