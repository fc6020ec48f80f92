"""PU data as two weighted samples: means over the positives and over the population."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from puforest import _validation as check
from puforest._masses import refuse_impossible_prior
from puforest.scenario import SCENARIOS

Array = NDArray[np.float64]

# Rounding error of sums of a few million numbers.
ROUNDING = 1e-9


@dataclass(frozen=True)
class PUSample:
    """Weights of the rows in the sample of the positives and in that of the population.

    Each of the two adds up to 1.

    Attributes
    ----------
    labeled : ndarray of bool
        Mask of the labeled rows.
    positive : ndarray
        Weights in the sample of the positives; 0 for unlabeled rows.
    population : ndarray
        Weights in the sample of the population: the unlabeled rows of case-control data, or all
        rows of a single training set.
    scenario : str
        How the data was collected.
    """

    labeled: NDArray[np.bool_]
    positive: Array
    population: Array
    scenario: str

    def __len__(self) -> int:
        return len(self.labeled)

    @property
    def least_prior(self) -> float:
        """Fraction of the population that is known to be positive."""
        return float(self.population[self.labeled].sum())

    def class_prior(self, prior: Any) -> float:
        """Validate a prior and return it as a float."""
        value = check.class_prior(prior)
        if value is None:
            raise TypeError(
                "prior must be the fraction of positives in the population, between 0 and 1, got "
                "None: pass it, or estimate it with puforest.prior.estimate_prior"
            )
        # If all positives are labeled, the two are equal up to rounding.
        if value < self.least_prior * (1 - ROUNDING):
            refuse_impossible_prior(value, self.least_prior)
        return value

    def prior_interval(
        self, interval: tuple[float, float], prior: float
    ) -> tuple[float, float] | None:
        """Restrict an interval to possible priors; None if it does not contain `prior`."""
        low, high = interval
        return (max(low, min(prior, self.least_prior)), high) if low <= prior <= high else None

    def of_positives(self, values: ArrayLike) -> float:
        """Mean over the positives."""
        return float(self.positive @ np.asarray(values, dtype=float))

    def of_population(self, values: ArrayLike) -> float:
        """Mean over the population."""
        return float(self.population @ np.asarray(values, dtype=float))

    def standard_error(self, on_positives: ArrayLike, on_population: ArrayLike) -> float:
        """Standard error of a mean over the positives plus another mean over the population.

        The arguments are the first-order contributions of each row to a statistic: derivatives with
        respect to the means, times the row's own values. Labeled rows of a single training set are
        in both samples, so their contributions are added before they are squared.
        """
        a, b = (np.asarray(v, dtype=float) for v in (on_positives, on_population))
        influence = self.positive * (a - self.of_positives(a))
        influence += self.population * (b - self.of_population(b))
        return float(np.sqrt(influence @ influence))

    def with_pseudo_rows(self) -> PUSample:
        """Append two rows to the sample of the positives and two to that of the population.

        Each has the weighted mean weight of the rows of its sample.
        """
        p, u = self.positive @ self.positive, self.population @ self.population
        return PUSample(
            np.append(self.labeled, [True, True, False, False]),
            np.append(self.positive, [p, p, 0, 0]) / (1 + 2 * p),
            np.append(self.population, [0, 0, u, u]) / (1 + 2 * u),
            self.scenario,
        )


def pu_sample(
    y: ArrayLike,
    *,
    scenario: str = "case-control",
    sample_weight: ArrayLike | None = None,
    propensity: ArrayLike | None = None,
) -> PUSample:
    """Turn labels and weights into a sample of the positives and one of the population.

    `y` holds two values, the larger for labeled rows. With propensities, for positives that are not
    labeled at random, each labeled row is weighted by the number of positives it represents.
    """
    check.one_of("scenario", scenario, SCENARIOS)
    _, labeled = check.labels(check.label_vector(y), "labeled", "unlabeled")
    n = len(labeled)
    weight = np.ones(n) if sample_weight is None else check.weights(sample_weight, n)
    positive = np.where(labeled, weight, 0.0)
    if propensity is not None:
        rows = np.flatnonzero(labeled)
        positive[rows] /= check.propensities(propensity, n, rows)
    population = weight if scenario == "single-training-set" else np.where(labeled, 0.0, weight)
    for name, part in (("labeled", positive), ("unlabeled", population[~labeled])):
        if not part.any():
            raise ValueError(f"sample_weight is zero for all {name} rows")
    return PUSample(labeled, positive / positive.sum(), population / population.sum(), scenario)
