"""Kernel mean embedding: how far the positives can be taken out of the unlabelled data."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.preprocessing import StandardScaler

from puforest import _validation as check
from puforest.prior._base import Array, PriorEstimator, Rows, Share
from puforest.prior._intervals import half_width

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

    Takes ever more of the positives out of the unlabelled data, and sees how far the rest is from
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
        Level of the interval, from the spread over the draws.
    random_state : int, RandomState instance or None, default=None
        Seed of the draws.

    Attributes
    ----------
    prior_ : float
        The estimate.
    interval_ : tuple of float
        Where it lies.
    estimate_ : PriorEstimate
        All about it. Its evidence holds the share that each draw found (``draws``).
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

        def drawn(group: NDArray[np.bool_]) -> NDArray[Any]:
            # In proportion to unequal weights, so that they need no place further on.
            weight = rows.weight[group]
            size = min(most, len(weight))
            unequal = bool((weight != weight[0]).any())
            share = weight / weight.sum()
            return rng.choice(np.flatnonzero(group), size, replace=unequal, p=share)

        draws = []
        for _ in range(repeats):
            positive, mixed = drawn(rows.labelled), drawn(~rows.labelled)
            X = StandardScaler().fit_transform(rows.X[np.concatenate([positive, mixed])])
            draws.append(removable_share(X, len(positive)))
        shares = np.array(draws)
        mean, half = float(shares.mean()), half_width(shares, self.confidence)
        return Share(mean, mean - half, mean + half, {"draws": shares})


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
        if distance < NEAR * apart:
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
