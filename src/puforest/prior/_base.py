"""What all estimators of the prior share: the rows, the result, and the scenario."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from puforest import _validation as check
from puforest._atomic_fit import atomic_fit
from puforest._matrix import validated
from puforest._training_rows import TrainingRows, training_rows
from puforest.scenario import SCENARIOS

Array = NDArray[np.float64]

# More rows of a kind would cost time and memory, and tell nothing: the share of 100,000 rows in any
# region is known to 0.002.
MOST_ROWS = 100_000


class PriorEstimatedWarning(UserWarning):
    """Says that a class prior was estimated, which the result depends on."""


@dataclass(frozen=True)
class PriorEstimate:
    """A class prior, how sure it is, and what it rests on.

    Attributes
    ----------
    value : float
        Share of positives in the population.
    interval : tuple of float
        Where it lies with the probability `confidence`, as far as chance goes. It does not cover
        what no method can know: positives that all look like some negatives.
    confidence : float
        The level of `interval`.
    method : str
        Name of the method.
    scenario : str
        How the rows came about.
    unlabeled_prior : float
        Share of positives among the unlabeled rows.
    label_frequency : float
        Share of the positives of the whole data that are labeled.
    evidence : dict
        What the method looked at; `puforest.plots.plot_prior_evidence` draws it.
    """

    value: float
    interval: tuple[float, float]
    confidence: float
    method: str
    scenario: str
    unlabeled_prior: float
    label_frequency: float
    evidence: dict[str, Any] = field(repr=False, compare=False, default_factory=dict)

    def __str__(self) -> str:
        low, high = self.interval
        return (
            f"{self.value:.3f} ({100 * self.confidence:g}% interval {low:.3f} to {high:.3f}, "
            f"{self.method}, {self.scenario})"
        )


@dataclass(frozen=True)
class Rows:
    """Rows to look at: X, which are labeled, and how many rows each counts as."""

    X: NDArray[Any]
    labeled: NDArray[np.bool_]
    weight: Array
    labeled_total: float  # weights of all rows of the fit, those left out included
    unlabeled_total: float

    @property
    def n_labeled(self) -> int:
        return int(np.count_nonzero(self.labeled))

    @property
    def n_unlabeled(self) -> int:
        return len(self.labeled) - self.n_labeled

    @property
    def odds(self) -> float:
        """Labeled rows for each unlabeled one."""
        labeled = self.weight[self.labeled].sum()
        return float(labeled / self.weight[~self.labeled].sum())


@dataclass(frozen=True)
class Share:
    """What a method finds: the share of positives among the unlabeled rows."""

    value: float
    low: float
    high: float
    evidence: dict[str, Any]


class PriorEstimator(BaseEstimator):
    """Base of the methods: `fit` finds `prior_`, `interval_` and `estimate_`."""

    _method: str

    prior_: float
    interval_: tuple[float, float]
    estimate_: PriorEstimate
    scenario: str
    confidence: float
    random_state: int | np.random.RandomState | None

    @atomic_fit
    def fit(self, X: check.MatrixLike, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Estimate the class prior.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Two values, the larger for labeled rows.
        sample_weight : array-like of shape (n_samples,), optional
            A row of weight 2 counts as two.

        Returns
        -------
        self
        """
        check.one_of("scenario", self.scenario, SCENARIOS)
        check.fraction("confidence", self.confidence)
        X, y = validated(self, X, y=y)
        rows = self._rows(X, training_rows(y, sample_weight, None, risk="nnpu"))
        self.estimate_ = self._as_estimate(rows, self._share(rows))
        self.prior_ = self.estimate_.value
        self.interval_ = self.estimate_.interval
        return self

    def _rows(self, X: NDArray[Any], given: TrainingRows) -> Rows:
        """Rows that weigh something, of each kind up to a number."""
        for name, n in (("labeled", given.n_labeled), ("unlabeled", given.n_unlabeled)):
            if n < 2:
                raise ValueError(
                    f"y: a prior cannot be estimated from {n} {name} row; at least two of each "
                    "kind are needed. Give the prior instead, for example prior=0.3."
                )
        rng = check.random_state(self.random_state)

        def some(n: int) -> NDArray[np.intp]:
            return (
                np.sort(rng.choice(n, MOST_ROWS, replace=False)) if n > MOST_ROWS else np.arange(n)
            )

        n = given.n_labeled
        total = (float(given.labeled_weight.sum()), float(given.unlabeled_weight.sum()))
        kept = np.concatenate([some(n), n + some(given.n_unlabeled)])
        # Weights are known up to a factor: they are to add up to as many rows of equal weight as
        # would be as informative, which makes equal ones 1.
        weight = check.at_most_one(given.weight[kept])
        weight *= weight.sum() / (weight @ weight)
        return Rows(X[given.order[kept]], kept < n, weight, *total)

    def _share(self, rows: Rows) -> Share:
        raise NotImplementedError

    def _as_estimate(self, rows: Rows, share: Share) -> PriorEstimate:
        """From the share among the unlabeled rows to that of the population."""
        w_p, w_u = rows.labeled_total, rows.unlabeled_total
        known = w_p / (w_p + w_u) if self.scenario == "single-training-set" else 0.0
        # Neither all rows nor none, which no forest could learn from.
        least = 0.5 / rows.n_unlabeled

        def prior(value: float) -> float:
            return known + (1 - known) * float(np.clip(value, least, 1 - least))

        found = float(np.clip(share.value, least, 1 - least))
        return PriorEstimate(
            value=prior(share.value),
            interval=(prior(min(share.low, share.value)), prior(max(share.high, share.value))),
            confidence=self.confidence,
            method=self._method,
            scenario=self.scenario,
            unlabeled_prior=found,
            label_frequency=w_p / (w_p + found * w_u),
            evidence=share.evidence,
        )


def within_one(X: NDArray[Any]) -> Array:
    """Columns divided by powers of two that leave no value above 1: their squares stay finite."""
    exponent = np.frexp(np.abs(X).max(axis=0))[1]
    scaled: Array = np.ldexp(X.astype(np.float64), -exponent)
    return scaled
