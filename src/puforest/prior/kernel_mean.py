"""Kernel mean embedding: how far the positives can be taken out of the unlabeled data."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.preprocessing import StandardScaler

from puforest import _validation as check
from puforest.prior._base import Array, PriorEstimator, Rows, Share, within_one
from puforest.prior.bbe import effective_size

__all__ = ["KernelMean"]

# A distance is said to grow where its slope is above this share of the final slope, plus that
# share of the distance by which the means of two samples differ by chance.
OF_FINAL = 0.2
OF_CHANCE = 1.0
LARGEST = 50.0  # lambda: a prior of 0.98
STEPS = 10
NEAR = 0.01  # a distance, beside that of the two means, that is nothing but rounding


class KernelMean(PriorEstimator):
    """KM2 of Ramaswamy, Scott and Tewari (ICML 2016).

    Takes ever more of the positives out of the unlabeled data, and sees how far the rest is from
    any distribution in a space of kernel functions. From the true prior on the distance grows.
    Its time and memory grow with the square of the rows, so it looks at a few at a time.

    Parameters
    ----------
    scenario : {"case-control", "single-training-set"}, default="case-control"
        How the rows came about.
    max_rows : int, default=200
        Rows of each group to look at, drawn at random.
    n_repeats : int, default=3
        Number of draws, which are averaged.
    confidence : float, default=0.9
        Level of the interval, from the differences between the halves of each draw.
    random_state : int, RandomState instance or None, default=None
        Seed of the draws.

    Attributes
    ----------
    prior_ : float
        The estimate.
    interval_ : tuple of float
        Where it lies.
    estimate_ : PriorEstimate
        All about it. Its evidence holds the share that each draw found (``draws``), and those of
        its two halves (``halves``).
    """

    _method = "km2"

    def __init__(
        self,
        *,
        scenario: str = "case-control",
        max_rows: int = 200,
        n_repeats: int = 3,
        confidence: float = 0.9,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.scenario = scenario
        self.max_rows = max_rows
        self.n_repeats = n_repeats
        self.confidence = confidence
        self.random_state = random_state

    def _share(self, rows: Rows) -> Share:
        most = check.integer("max_rows", self.max_rows, 2)
        repeats = check.integer("n_repeats", self.n_repeats, 2)
        rng = check.random_state(self.random_state)
        available = [effective_size(rows.weight[g]) for g in (rows.labeled, ~rows.labeled)]
        sizes = [min(most, max(2, round(n))) for n in available]

        def drawn(group: NDArray[np.bool_], size: int) -> NDArray[np.intp]:
            # In proportion to unequal weights, so that they need no place further on.
            weight = rows.weight[group]
            unequal = bool((weight != weight[0]).any())
            share = weight / weight.sum()
            return rng.choice(np.flatnonzero(group), size, replace=unequal, p=share)

        def found_in(positive: NDArray[np.intp], mixed: NDArray[np.intp]) -> float:
            X = StandardScaler().fit_transform(
                within_one(rows.X[np.concatenate([positive, mixed])])
            )
            return removable_share(X, len(positive))

        draws, halves = np.empty(repeats), np.empty((repeats, 2))
        for i in range(repeats):
            positive, mixed = drawn(rows.labeled, sizes[0]), drawn(~rows.labeled, sizes[1])
            draws[i] = found_in(positive, mixed)
            halves[i] = [found_in(positive[k::2], mixed[k::2]) for k in range(2)]
        mean = float(draws.mean())
        overlap = max(size / max(n, size) for size, n in zip(sizes, available, strict=True))
        error = standard_error(draws, halves, overlap, rows.n_unlabeled)
        half = float(student.ppf((1 + self.confidence) / 2, repeats)) * error
        return Share(mean, mean - half, mean + half, {"draws": draws, "halves": halves.ravel()})


def standard_error(draws: Array, halves: Array, overlap: float, n_unlabeled: int) -> float:
    """Root mean squared error of the mean over the draws, from the two halves of each.

    The halves of a draw have no row in common, so that ``E[(a - b)²] / 2`` is the variance V of
    what half of the rows tell, and half of that the variance of a draw. Draws that share a part f
    of their rows have the covariance f V / 2. Small samples are biased; by how much is seen from
    what the halves find on average. The error is never less than for rows whose classes are
    known: small halves may agree because neither tells anything.
    """
    mean = float(draws.mean())
    of_draw = float(np.mean(np.diff(halves, axis=1) ** 2)) / 4
    variance = of_draw * (overlap + (1 - overlap) / len(draws))
    bias = float(halves.mean()) - mean
    known = (mean * n_unlabeled + 1) / (n_unlabeled + 2)
    return float(np.sqrt(max(variance + bias**2, known * (1 - known) / n_unlabeled)))


def removable_share(X: Array, n_positive: int) -> float:
    """Share of the positives, the first rows, that can be taken out of the others."""
    squared = euclidean_distances(X, squared=True)
    mean_p = np.repeat([1 / n_positive, 0], [n_positive, len(X) - n_positive])
    mean_u = np.repeat([0, 1 / (len(X) - n_positive)], [n_positive, len(X) - n_positive])
    kernel, apart = widest_gap(squared, mean_u - mean_p)
    chance = np.sqrt(mean_p.max() + mean_u.max())
    steep = OF_FINAL * apart + OF_CHANCE * chance
    step = 1 / kernel.sum(axis=1).max()  # its largest eigenvalue is at most that
    start = mean_u

    def slope(stretch: float) -> float:
        """How fast the distance to the nearest distribution grows at lambda = stretch."""
        nonlocal start
        target = stretch * mean_u + (1 - stretch) * mean_p
        start = nearest_distribution(kernel, target, start, step)
        residual = target - start
        distance = np.sqrt(max(float(residual @ kernel @ residual), 0.0))
        if distance <= NEAR * apart:
            return 0.0
        return float((residual @ kernel @ (mean_u - mean_p)) / distance)

    low, high = 1.0, LARGEST
    if slope(high) < steep:
        return 1 - 1 / high
    for _ in range(STEPS):  # the distance is convex in lambda: its slope grows
        middle = float(np.sqrt(low * high))
        low, high = (low, middle) if slope(middle) >= steep else (middle, high)
    return float(1 - 1 / np.sqrt(low * high))


def widest_gap(squared: Array, difference: Array) -> tuple[Array, float]:
    """The Gaussian kernel, of several widths, in which the two means are farthest apart."""
    median = float(np.median(squared[squared > 0])) if (squared > 0).any() else 1.0
    kernels = [np.exp(-squared / (median * width)) for width in (0.1, 0.3, 1.0, 3.0, 10.0)]
    own = float(difference @ difference)  # what a sample has in common with itself alone
    gaps = [float(np.sqrt(max(float(difference @ k @ difference) - own, 0.0))) for k in kernels]
    best = int(np.argmax(gaps))
    return kernels[best], gaps[best]


def nearest_distribution(kernel: Array, target: Array, start: Array, step: float) -> Array:
    """Weights, not negative and adding up to 1, whose embedding is nearest that of `target`.

    Accelerated projected gradients, started from the answer for a target nearby.
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
    """The nearest point with no negative entries that add up to 1."""
    descending = np.sort(weights)[::-1]
    above = (np.cumsum(descending) - 1) / np.arange(1, len(weights) + 1)
    shift = above[np.flatnonzero(descending > above)[-1]]
    result: Array = np.maximum(weights - shift, 0)
    return result
