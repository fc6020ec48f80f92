"""Labeled and unlabeled rows to judge by: means over the positives and over the population."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import column_or_1d

from puforest import _validation as check
from puforest._masses import refuse_impossible_prior
from puforest.scenario import SCENARIOS

Array = NDArray[np.float64]

# What sums of a few million numbers may be off by.
ROUNDING = 1e-9


@dataclass(frozen=True)
class PUSample:
    """Weights by which sums over rows become means; each of the two adds up to 1.

    Attributes
    ----------
    labeled : ndarray of bool
        The labeled rows.
    positive : ndarray
        Weights of the rows as a sample of the positives: 0 for unlabeled rows.
    population : ndarray
        Weights as a sample of the population: those of the unlabeled rows in case-control data,
        of all rows of a single training set.
    """

    labeled: NDArray[np.bool_]
    positive: Array
    population: Array
    scenario: str

    def __len__(self) -> int:
        return len(self.labeled)

    @property
    def least_prior(self) -> float:
        """Share of the population that is known to be positive."""
        return float(self.population[self.labeled].sum())

    def class_prior(self, prior: Any) -> float:
        """The prior as a number that this sample allows."""
        value = check.class_prior(prior)
        if value is None:
            raise TypeError(
                "prior must be a number between 0 and 1, the share of positives in the population, "
                "got None: give what is known, or estimate it with puforest.prior.estimate_prior"
            )
        # All positives labeled makes the two equal, up to rounding.
        if value < self.least_prior * (1 - ROUNDING):
            refuse_impossible_prior(value, self.least_prior)
        return value

    def prior_interval(
        self, interval: tuple[float, float], prior: float
    ) -> tuple[float, float] | None:
        """The part of an interval that this sample allows; None if `prior` is outside of it."""
        low, high = interval
        return (max(low, min(prior, self.least_prior)), high) if low <= prior <= high else None

    def of_positives(self, values: ArrayLike) -> float:
        """Mean over the positives."""
        return float(self.positive @ np.asarray(values, dtype=float))

    def of_population(self, values: ArrayLike) -> float:
        """Mean over the population."""
        return float(self.population @ np.asarray(values, dtype=float))

    def standard_error(self, on_positives: ArrayLike, on_population: ArrayLike) -> float:
        """Standard error of the mean of one quantity over P plus that of another over U.

        The two are what each row adds to a statistic to first order: derivatives of the statistic
        by the means, times the row's own value. The rows of a single training set that stand in
        both samples add to both, which is why they are added before they are squared.
        """
        a, b = (np.asarray(v, dtype=float) for v in (on_positives, on_population))
        influence = self.positive * (a - self.of_positives(a))
        influence += self.population * (b - self.of_population(b))
        return float(np.sqrt(influence @ influence))

    def with_pseudo_rows(self) -> PUSample:
        """The sample with two more rows of positives and two of the population at the end.

        Each weighs as much as a row of its sample does on average over the weight there.
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
    """Read labels and weights as a sample of the positives and one of the population.

    `y` holds two values, the larger for labeled rows. Propensities, where positives are not
    labeled at random, weigh each labeled row by the positives it stands for.
    """
    check.one_of("scenario", scenario, SCENARIOS)
    check.refuse_masked(y, "y")
    with check.data_errors("y"):
        _, labeled = check.labels(check.filled_labels(column_or_1d(y)), "labeled", "unlabeled")
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
