"""Kernel mean embedding (KM2), from the positives that can be removed from the unlabeled data."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.preprocessing import StandardScaler

from puforest import _validation as check
from puforest._confidence import CONFIDENCE
from puforest._encoded import EncodedTable
from puforest._indicators import numbers_and_indicators
from puforest.prior._base import Array, PriorEstimator, PriorSample, UnlabeledPrior, within_one
from puforest.prior._docs import documented
from puforest.prior._limits import effective_size, identified
from puforest.prior._scores import held_out_scores

__all__ = ["KernelMean"]

# The distance counts as growing where its slope exceeds this fraction of the final slope plus this
# multiple of the distance expected by chance between the means of two samples.
FINAL_SLOPE_FRACTION = 0.2
CHANCE_MULTIPLE = 1.0
MAX_LAMBDA = 50.0  # corresponds to a prior of 0.98
STEPS = 10
ROUNDING = 0.01  # distances below this fraction of the distance of the two means count as zero


@documented
class KernelMean(PriorEstimator):
    """KM2 of Ramaswamy, Scott and Tewari (ICML 2016).

    An increasing multiple of the positives is removed from the unlabeled data, and the distance of
    the remainder to the nearest distribution is measured in a reproducing kernel Hilbert space.
    The distance starts to grow at the true prior. Because time and memory grow quadratically with
    the number of rows, the method uses small random subsets. The interval is based on the
    differences between the two halves of each subset. Features are standardized; categories and
    missing values become indicators.

    Parameters
    ----------
    %scenario%
    max_rows : int, default=200
        Number of rows to draw from each group.
    n_repeats : int, default=3
        Number of draws to average over.
    %confidence, random_state%

    Attributes
    ----------
    %attributes%
    estimate_ : PriorEstimate
        The estimate with its evidence: the fraction of positives among the unlabeled rows that
        each draw (``draws``) and each half of it (``halves``) yields.
    """

    _method = "km2"

    def __init__(
        self,
        *,
        scenario: str = "case-control",
        max_rows: int = 200,
        n_repeats: int = 3,
        confidence: float = CONFIDENCE,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.scenario = scenario
        self.max_rows = max_rows
        self.n_repeats = n_repeats
        self.confidence = confidence
        self.random_state = random_state

    def _unlabeled_prior(self, sample: PriorSample) -> UnlabeledPrior:
        most = check.integer("max_rows", self.max_rows, 2)
        repeats = check.integer("n_repeats", self.n_repeats, 2)
        rng = check.random_state(self.random_state)
        available = [effective_size(sample.weight[g]) for g in (sample.labeled, ~sample.labeled)]
        sizes = [min(most, max(2, round(n))) for n in available]

        def drawn(group: NDArray[np.bool_], size: int) -> NDArray[np.intp]:
            # Rows are drawn in proportion to their weights, which are then accounted for.
            weight = sample.weight[group]
            unequal = bool((weight != weight[0]).any())
            p = weight / weight.sum()
            return rng.choice(np.flatnonzero(group), size, replace=unequal, p=p)

        def estimated(positive: NDArray[np.intp], mixed: NDArray[np.intp]) -> float:
            X = standardized(sample.X[np.concatenate([positive, mixed])])
            return removable_fraction(X, len(positive))

        draws, halves = np.empty(repeats), np.empty((repeats, 2))
        for i in range(repeats):
            positive, mixed = drawn(sample.labeled, sizes[0]), drawn(~sample.labeled, sizes[1])
            draws[i] = estimated(positive, mixed)
            halves[i] = [estimated(positive[k::2], mixed[k::2]) for k in range(2)]
        mean = float(draws.mean())
        overlap = max(size / max(n, size) for size, n in zip(sizes, available, strict=True))
        error = standard_error(draws, halves, overlap, sample.n_unlabeled)
        low = mean - float(student.ppf((1 + self.confidence) / 2, repeats)) * error
        evidence = {"draws": draws, "halves": halves.ravel()}
        scores = held_out_scores(sample, rng)
        groups = sample.by_group(scores)
        return identified(mean, low, *groups, confidence=self.confidence, evidence=evidence)


def standardized(table: EncodedTable) -> Array:
    """Standardize numbers, and add indicators of categories and of missing values.

    Missing numbers become the mean. Indicators are not standardized, which would give rare
    categories a huge distance: the squared distance of two categories is 2, that of two numbers
    with variance 1 is 2 on average.
    """
    # Columns without stored entries are constant, and constant columns are 0 when standardized.
    values: Any = table.values
    features = np.unique(values.indices) if table.is_sparse else np.arange(table.shape[1])
    numbers, indicators = numbers_and_indicators(table, features, 1)
    if numbers.shape[1]:
        numbers = np.nan_to_num(StandardScaler().fit_transform(within_one(numbers)))
    return np.column_stack([numbers, indicators.astype(np.float64)])


def standard_error(draws: Array, halves: Array, overlap: float, n_unlabeled: int) -> float:
    """Root mean squared error of the mean over the draws, from the two halves of each draw.

    The halves of a draw have no rows in common, so ``E[(a - b)²] / 2`` is the variance V of the
    estimate from half the rows, and V / 2 is the variance of the estimate from a draw. Draws that
    have a fraction f of their rows in common have covariance f V / 2. The bias of small samples is
    estimated by the mean over the halves minus the mean over the draws. The error is at least the
    one for rows of known classes: small halves may agree because neither is informative.
    """
    mean = float(draws.mean())
    of_draw = float(np.mean(np.diff(halves, axis=1) ** 2)) / 4
    variance = of_draw * (overlap + (1 - overlap) / len(draws))
    bias = float(halves.mean()) - mean
    known = (mean * n_unlabeled + 1) / (n_unlabeled + 2)
    return float(np.sqrt(max(variance + bias**2, known * (1 - known) / n_unlabeled)))


def removable_fraction(X: Array, n_positive: int) -> float:
    """Largest multiple of the positives (the first rows) that the other rows may contain."""
    squared = euclidean_distances(X, squared=True)
    mean_p = np.repeat([1 / n_positive, 0], [n_positive, len(X) - n_positive])
    mean_u = np.repeat([0, 1 / (len(X) - n_positive)], [n_positive, len(X) - n_positive])
    kernel, apart = widest_gap(squared, mean_u - mean_p)
    chance = np.sqrt(mean_p.max() + mean_u.max())
    steep = FINAL_SLOPE_FRACTION * apart + CHANCE_MULTIPLE * chance
    step = 1 / kernel.sum(axis=1).max()  # the largest row sum bounds the eigenvalues
    start = mean_u

    def slope(stretch: float) -> float:
        """Slope of the distance to the nearest distribution at lambda = stretch."""
        nonlocal start
        target = stretch * mean_u + (1 - stretch) * mean_p
        start = nearest_distribution(kernel, target, start, step)
        residual = target - start
        distance = np.sqrt(max(float(residual @ kernel @ residual), 0.0))
        if distance <= ROUNDING * apart:
            return 0.0
        return float((residual @ kernel @ (mean_u - mean_p)) / distance)

    low, high = 1.0, MAX_LAMBDA
    if slope(high) < steep:
        return 1 - 1 / high
    for _ in range(STEPS):  # the distance is convex in lambda, so its slope increases
        middle = float(np.sqrt(low * high))
        low, high = (low, middle) if slope(middle) >= steep else (middle, high)
    return float(1 - 1 / np.sqrt(low * high))


def widest_gap(squared: Array, difference: Array) -> tuple[Array, float]:
    """Gaussian kernel, among several widths, that maximizes the distance of the two means."""
    median = float(np.median(squared[squared > 0])) if (squared > 0).any() else 1.0
    kernels = [np.exp(-squared / (median * width)) for width in (0.1, 0.3, 1.0, 3.0, 10.0)]
    own = float(difference @ difference)  # contribution of the diagonal of the kernel
    gaps = [float(np.sqrt(max(float(difference @ k @ difference) - own, 0.0))) for k in kernels]
    best = int(np.argmax(gaps))
    return kernels[best], gaps[best]


def nearest_distribution(kernel: Array, target: Array, start: Array, step: float) -> Array:
    """Weights on the simplex whose embedding is nearest to that of `target`.

    Uses accelerated projected gradients, starting from the solution for a nearby target.
    """
    weights = ahead = start
    momentum = 1.0
    for _ in range(150):
        previous = weights
        weights = on_simplex(ahead - step * (kernel @ (ahead - target)))
        change = weights - previous
        if np.abs(change).max() < 1e-7:
            break
        following = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead = weights + (momentum - 1) / following * change
        momentum = following
    return weights


def on_simplex(weights: Array) -> Array:
    """Project the weights onto the probability simplex."""
    descending = np.sort(weights)[::-1]
    above = (np.cumsum(descending) - 1) / np.arange(1, len(weights) + 1)
    shift = above[np.flatnonzero(descending > above)[-1]]
    result: Array = np.maximum(weights - shift, 0)
    return result
