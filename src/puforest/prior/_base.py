"""Base class of the prior estimators, and their result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from puforest import _validation as check
from puforest._atomic_fit import atomic_fit
from puforest._encoded import EncodedTable
from puforest._prior_estimate import ESTIMATE, PriorEstimate
from puforest._rows import take_rows
from puforest._schema import FeatureSchema
from puforest._training_rows import TrainingRows, training_rows, warn_if_swapped
from puforest.prior._docs import documented
from puforest.scenario import SCENARIOS

Array = NDArray[np.float64]

# More rows of either group would only cost time and memory: the fraction of 100,000 rows that lie
# in a region has a standard error below 0.002.
MAX_ROWS = 100_000


BELOW_ONE = float(np.nextafter(1, 0))


class PriorEstimatedWarning(UserWarning):
    """Warning that the class prior was estimated because none was given."""


@dataclass(frozen=True)
class WeightedLabels:
    """Labels of the rows that a prior is estimated from, and how many rows each one counts as."""

    labeled: NDArray[np.bool_]
    weight: Array
    labeled_total: float  # total weights in the data, including rows that were not drawn
    unlabeled_total: float

    @property
    def n_labeled(self) -> int:
        return int(np.count_nonzero(self.labeled))

    @property
    def n_unlabeled(self) -> int:
        return len(self.labeled) - self.n_labeled

    @property
    def odds(self) -> float:
        """Number of labeled rows per unlabeled row."""
        labeled = self.weight[self.labeled].sum()
        return float(labeled / self.weight[~self.labeled].sum())

    def by_group(self, scores: Array) -> tuple[Array, Array, Array, Array]:
        """Scores of labeled and of unlabeled rows, followed by the weights of both."""
        p, u = self.labeled, ~self.labeled
        return scores[p], scores[u], self.weight[p], self.weight[u]


@dataclass(frozen=True)
class PriorSample(WeightedLabels):
    """Rows that a prior is estimated from."""

    X: EncodedTable
    table: Any  # all rows, as the user passed them
    drawn: NDArray[np.intp]  # the rows of `X` in `table`

    def original(self) -> Any:
        """Rows in the form that the user passed, for other estimators."""
        return take_rows(self.table, self.drawn)


def weighted_labels(rows: TrainingRows, kept: NDArray[np.intp]) -> WeightedLabels:
    """Return the labels of the rows at the given positions.

    Only ratios of weights matter. They are scaled to sum to the effective sample size, so that
    equal weights become 1.
    """
    weight = check.at_most_one(rows.weight[kept])
    weight *= weight.sum() / (weight @ weight)
    totals = rows.totals
    return WeightedLabels(kept < rows.n_labeled, weight, totals.labeled, totals.unlabeled)


@dataclass(frozen=True)
class UnlabeledPrior:
    """Fraction of positives among the unlabeled rows, as a method estimates it."""

    value: float
    low: float  # of the interval; 0 if only an upper bound is known
    upper: float
    kind: str
    reason: str
    evidence: dict[str, Any]


class PriorEstimator(BaseEstimator):
    """Base class of the methods: `fit` sets `prior_`, `interval_` and `estimate_`."""

    _method: str

    prior_: float
    interval_: tuple[float, float]
    estimate_: PriorEstimate
    scenario: str
    confidence: float
    random_state: int | np.random.RandomState | None

    @atomic_fit
    @documented
    def fit(self, X: check.MatrixLike, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Estimate the class prior.

        Parameters
        ----------
        %X, y, sample_weight%

        Returns
        -------
        self
        """
        check.one_of("scenario", self.scenario, SCENARIOS)
        check.fraction("confidence", self.confidence)
        schema, encoded, y = FeatureSchema.of_training_data(X, y, estimator=type(self).__name__)
        rows = training_rows(y, sample_weight, None, risk="nnpu")
        warn_if_swapped(rows)
        sample = self._sample(X, encoded, rows)
        self.n_features_in_ = schema.n_features
        self.__dict__.pop("feature_names_in_", None)
        if schema.names is not None:
            self.feature_names_in_ = np.array(schema.names, dtype=object)
        self.estimate_ = population_prior(
            sample,
            self._unlabeled_prior(sample),
            method=self._method,
            scenario=self.scenario,
            confidence=self.confidence,
        )
        self.prior_ = self.estimate_.value
        self.interval_ = self.estimate_.interval
        return self

    def _sample(self, X: Any, encoded: EncodedTable, rows: TrainingRows) -> PriorSample:
        """Draw up to `MAX_ROWS` rows of each group, among those with nonzero weight."""
        for name, n in (("labeled", rows.n_labeled), ("unlabeled", rows.n_unlabeled)):
            if n < 2:
                raise ValueError(
                    f"y: a prior cannot be estimated from {n} {name} row; at least two labeled "
                    "and two unlabeled rows are needed. Give the prior instead, for example "
                    "prior=0.3."
                )
        rng = check.random_state(self.random_state)

        def drawn(n: int) -> NDArray[np.intp]:
            return np.sort(rng.choice(n, MAX_ROWS, replace=False)) if n > MAX_ROWS else np.arange(n)

        n = rows.n_labeled
        kept = np.concatenate([drawn(n), n + drawn(rows.n_unlabeled)])
        chosen = rows.order[kept].astype(np.intp)
        labels = weighted_labels(rows, kept)
        return PriorSample(**vars(labels), X=encoded[chosen], table=X, drawn=chosen)

    def _unlabeled_prior(self, sample: PriorSample) -> UnlabeledPrior:
        raise NotImplementedError


def population_prior(
    labels: WeightedLabels,
    found: UnlabeledPrior,
    *,
    method: str,
    scenario: str,
    confidence: float,
) -> PriorEstimate:
    """Convert the prior of the unlabeled rows to that of the population."""
    w_p, w_u = labels.labeled_total, labels.unlabeled_total
    known = w_p / (w_p + w_u) if scenario == "single-training-set" else 0.0
    # No forest can learn from a prior of exactly 0 or 1, so limits are not 0 or 1 either.
    least = 0.5 / labels.n_unlabeled

    def prior(value: float) -> float:
        return min(known + (1 - known) * float(np.clip(value, least, 1 - least)), BELOW_ONE)

    unlabeled_prior = float(np.clip(found.value, least, 1 - least))
    low = prior(found.low) if found.kind == ESTIMATE else known or least
    upper = min(known + (1 - known) * max(found.upper, unlabeled_prior), BELOW_ONE)
    return PriorEstimate(
        value=prior(found.value),
        interval=(low, upper),
        upper=upper,
        kind=found.kind,
        reason=found.reason,
        confidence=confidence,
        method=method,
        scenario=scenario,
        unlabeled_prior=unlabeled_prior,
        label_frequency=w_p / (w_p + unlabeled_prior * w_u),
        evidence=found.evidence,
    )


def within_one(X: NDArray[Any]) -> Array:
    """Divide each column by a power of two so that no value exceeds 1 and squares stay finite."""
    exponent = np.frexp(np.fmax.reduce(np.abs(X), axis=0, initial=0.0))[1]
    scaled: Array = np.ldexp(X.astype(np.float64), -exponent)
    return scaled
