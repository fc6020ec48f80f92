"""Lower limits of estimates, from bootstrap samples and from repeated estimates."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.stats import t as student

from puforest import _validation as check
from puforest.prior._base import Array

Statistic = Callable[[Array, Array, Array, Array], float]


def bootstrapped(
    statistic: Statistic,
    positive: Array,
    unlabeled: Array,
    w_p: Array,
    w_u: Array,
    *,
    confidence: float,
    n_resamples: int,
    random_state: int | np.random.RandomState | None,
) -> tuple[float, float]:
    """Statistic of both groups' scores and weights, and the lower end of its bootstrap interval.

    The interval is two-sided, and its ends are percentiles.
    """
    rng = check.random_state(random_state)

    def resampled() -> float:
        p, u = (rng.randint(n, size=n) for n in (len(positive), len(unlabeled)))
        return statistic(positive[p], unlabeled[u], w_p[p], w_u[u])

    values = [resampled() for _ in range(check.integer("n_resamples", n_resamples, 10))]
    low = np.quantile(values, (1 - confidence) / 2)
    return statistic(positive, unlabeled, w_p, w_u), float(low)


def half_width(values: Array, confidence: float) -> float:
    """Half the width of Student's interval for the mean of the values."""
    quantile = student.ppf((1 + confidence) / 2, len(values) - 1)
    return float(quantile * values.std(ddof=1) / np.sqrt(len(values)))
