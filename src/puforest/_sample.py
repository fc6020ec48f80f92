"""PU data as two weighted samples: means over the positives and over the population."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from puforest import _validation as check
from puforest._checks import read_checks
from puforest._masses import ROUNDING, refuse_impossible_prior
from puforest.scenario import SCENARIOS

Array = NDArray[np.float64]


@dataclass(frozen=True)
class PUSample:
    """Weights of the rows in the sample of the positives and in that of the population.

    Each of the two adds up to 1. If some rows were checked, the first only does so on average, and
    the weights of the positives depend on the class prior: see `at`.

    Attributes
    ----------
    labeled : ndarray of bool
        Mask of the labeled rows.
    positive : ndarray
        Weights in the sample of the positives; 0 for unlabeled rows, unless they were checked and
        found positive.
    population : ndarray
        Weights in the sample of the population: the unlabeled rows of case-control data, or all
        rows of a single training set.
    scenario : str
        How the data was collected.
    checks : SampleChecks, optional
        What `positive` is computed from, if some rows were checked.
    """

    labeled: NDArray[np.bool_]
    positive: Array
    population: Array
    scenario: str
    checks: SampleChecks | None = None

    def __len__(self) -> int:
        return len(self.labeled)

    @property
    def positive_rows(self) -> NDArray[np.bool_]:
        """Mask of the labeled rows and of those found positive."""
        if self.checks is None:
            return self.labeled
        found: NDArray[np.bool_] = self.checks.known == 1
        return self.labeled | found

    @property
    def positive_total(self) -> float:
        """Sum of the weights of the positives: 1, or about 1 if some rows were checked."""
        return 1.0 if self.checks is None else float(self.positive.sum())

    def with_checks(self, known: Array) -> PUSample:
        """Use checked rows; `known` as in `CheckOutcome`.

        The prior is first that implied by the checks; see `at_implied_prior`.
        """
        checks = SampleChecks(self.positive, known, np.inf, is_implied=True)
        return replace(self, checks=checks).at_implied_prior()

    def at_implied_prior(self) -> PUSample:
        """Return the sample with the weights of the positives for the prior that checks imply.

        This is the fraction of the population found positive, divided by the fraction of the
        positives that was checked. It makes the weights of the positives add up to 1. If nothing
        was found, they are those of the labeled rows.
        """
        if self.checks is None:
            return self
        known, labeled = self.checks.known, self.checks.labeled_weight
        found, expected = float(self.population @ known), float(labeled @ known)
        if found == 0 or expected == 0:
            checks = replace(self.checks, prior=np.inf, is_implied=True)
            return replace(self, positive=labeled, checks=checks)
        sample = self.at(found / expected)
        assert sample.checks is not None
        return replace(sample, checks=replace(sample.checks, is_implied=True))

    def at(self, prior: float) -> PUSample:
        """Return the sample with the weights of the positives for a class prior.

        A row that is known to be positive with the probability k has the weight k of its weight in
        the population divided by the prior, plus 1 - k of its weight as a labeled row.
        """
        if self.checks is None or np.isnan(prior):
            return self
        known, labeled = self.checks.known, self.checks.labeled_weight
        positive = (1 - known) * labeled + known * self.population / prior
        checks = replace(self.checks, prior=prior, is_implied=False)
        return replace(self, positive=positive, checks=checks)

    def reweighted(self, labeled_weight: Array, population: Array) -> PUSample:
        """Return the sample with other weights of the same rows, which need not be normalized.

        `labeled_weight` are those of the labeled rows as a sample of the positives.
        """
        positive = labeled_weight / labeled_weight.sum()
        sample = replace(self, positive=positive, population=population / population.sum())
        if self.checks is None:
            return sample
        checks = replace(self.checks, labeled_weight=positive)
        sample = replace(sample, checks=checks)
        return sample.at_implied_prior() if checks.is_implied else sample.at(checks.prior)

    def at_rows(self, rows: NDArray[np.bool_]) -> PUSample:
        """Return the sample of some rows, which have all of the weight."""
        checks = self.checks
        return replace(
            self,
            labeled=self.labeled[rows],
            positive=self.positive[rows],
            population=self.population[rows],
            checks=checks
            and replace(
                checks, labeled_weight=checks.labeled_weight[rows], known=checks.known[rows]
            ),
        )

    @property
    def labeled_weight(self) -> Array:
        """Weights of the labeled rows as a sample of the positives, without checked rows."""
        return self.positive if self.checks is None else self.checks.labeled_weight

    @property
    def labeled_fraction(self) -> float:
        """Fraction of the population that is labeled."""
        return float(self.population[self.labeled].sum())

    @property
    def least_prior(self) -> float:
        """Fraction of the population that is known to be positive."""
        return float(self.population[self.positive_rows].sum())

    def class_prior(self, prior: Any) -> float:
        """Validate a prior and return it as a float."""
        value = check.class_prior(prior)
        if value is None:
            raise TypeError(
                "prior must be the fraction of positives in the population, between 0 and 1, got "
                "None: pass it, or estimate it with puforest.prior.estimate_prior"
            )
        labeled = self.labeled_fraction
        # If all positives are labeled, the two are equal up to rounding.
        refuse_impossible_prior(value, labeled * (1 - ROUNDING), self.least_prior - labeled)
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
        if self.checks is not None:
            # Rows found positive are part of the sample of the population. With the implied prior,
            # their number does not matter, only their mean.
            known = self.checks.known
            found = float(self.population @ known)
            if self.checks.is_implied and found > 0:
                a = a - (self.population * known) @ a / found
            b = b + known * a / self.checks.prior
            a = (1 - known) * a
        labeled = self.labeled_weight
        influence = labeled * (a - labeled @ a)
        influence += self.population * (b - self.of_population(b))
        return float(np.sqrt(influence @ influence))

    def with_pseudo_rows(self) -> PUSample:
        """Append two rows to the sample of the positives and two to that of the population.

        Each has the weighted mean weight of the rows of its sample.
        """
        positive = self.labeled_weight
        p, u = positive @ positive, self.population @ self.population
        positive = np.append(positive, [p, p, 0, 0]) / (1 + 2 * p)
        sample = PUSample(
            np.append(self.labeled, [True, True, False, False]),
            positive,
            np.append(self.population, [0, 0, u, u]) / (1 + 2 * u),
            self.scenario,
        )
        if self.checks is None:
            return sample
        sample = sample.with_checks(np.append(self.checks.known, np.zeros(4)))
        return sample if self.checks.is_implied else sample.at(self.checks.prior)


@dataclass(frozen=True)
class SampleChecks:
    """Checked rows of a sample.

    Attributes
    ----------
    labeled_weight : ndarray
        Weights of the labeled rows as a sample of the positives, without checks. They sum to 1.
    known : ndarray
        Probability that a positive of the features of each row is known to be positive.
    prior : float
        Class prior that the weights of the positives are computed with.
    is_implied : bool
        True if the prior is the one that the checks imply.
    """

    labeled_weight: Array
    known: Array
    prior: float
    is_implied: bool


def pu_sample(
    y: ArrayLike,
    *,
    scenario: str = "case-control",
    sample_weight: ArrayLike | None = None,
    propensity: ArrayLike | None = None,
    checked: Any = None,
    check_probability: Any = None,
) -> PUSample:
    """Turn labels and weights into a sample of the positives and one of the population.

    `y` holds two values, the larger for labeled rows. With propensities, for positives that are not
    labeled at random, each labeled row is weighted by the number of positives it represents. Rows
    that were checked and found positive are positives too; see `_checks.py`.
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
    sample = PUSample(labeled, positive / positive.sum(), population / population.sum(), scenario)
    checks = read_checks(checked, check_probability, labeled, weight)
    return sample if checks is None else sample.with_checks(checks.known)
