"""Ranking metrics: the recall r and the fraction q predicted positive at every threshold."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.isotonic import isotonic_regression

from puforest._sample import PUSample
from puforest._warnings import warn
from puforest.metrics._docs import documented
from puforest.metrics._metric import (
    Array,
    Estimate,
    Metric,
    PriorMismatchWarning,
    evaluation_set,
    excess_warning,
    score,
)

__all__ = [
    "pu_average_precision_score",
    "pu_precision_recall_curve",
    "pu_roc_auc_score",
    "pu_roc_curve",
]


@dataclass(frozen=True)
class Thresholds:
    """Fractions with a score of at least each threshold, from the highest threshold down.

    Attributes
    ----------
    threshold : ndarray
        The distinct scores.
    r, q : ndarray
        Fractions of the positives and of the population at or above each threshold.
    of_row : ndarray of int
        Index of the threshold of each row.
    """

    threshold: Array
    r: Array
    q: Array
    of_row: NDArray[np.intp]

    def mismatch(self, sample: PUSample, prior: float) -> PriorMismatchWarning | None:
        return excess_warning(
            sample, prior, self.r, self.q, lambda k: f"Above a score of {self.threshold[k]:.4g}"
        )

    def precision(self, prior: float) -> Array:
        """Precision, not yet clipped; infinite where only labeled rows are predicted positive."""
        precision = np.full(len(self.q), np.inf)
        np.divide(prior * self.r, self.q, out=precision, where=self.q > 0)
        return precision

    def false_positive_rate(self, prior: float) -> Array:
        """Closest curve that never decreases as the threshold decreases."""
        raw = (self.q - prior * self.r) / (1 - prior)
        return np.asarray(isotonic_regression(raw, y_min=0, y_max=1), dtype=float)


def thresholds(sample: PUSample, scores: Array) -> Thresholds:
    distinct, index = np.unique(scores, return_inverse=True)
    return thresholds_of_ranks(sample, distinct[::-1], len(distinct) - 1 - index)


def thresholds_of_ranks(sample: PUSample, distinct: Array, rank: NDArray[np.intp]) -> Thresholds:
    """Thresholds for scores given by their rank among the `distinct` ones."""

    def fraction(weight: Array) -> Array:
        above = np.cumsum(np.bincount(rank, weights=weight, minlength=len(distinct)))
        return np.minimum(above, 1.0)

    positive = sample.positive / sample.positive_total
    return Thresholds(distinct, fraction(positive), fraction(sample.population), rank)


def _middles(fractions: Array) -> Array:
    """Fractions above each threshold, plus half of those at it."""
    return fractions - np.diff(fractions, prepend=0.0) / 2


def _roc_auc(sample: PUSample, scores: Array, prior: float) -> Estimate:
    """Probability that a positive outscores a row of the population, corrected for its positives.

    The contribution of a row is its placement: the fraction of the other sample that it beats, or
    is beaten by.
    """
    at = thresholds(sample, scores)
    beaten_by = _middles(at.r)[at.of_row] / (1 - prior)
    beats = (1 - _middles(at.q)[at.of_row]) / (1 - prior)
    value = sample.of_population(beaten_by) - prior / 2 / (1 - prior)
    return Estimate(value, _of_normalized(sample, beats), beaten_by)


def _of_normalized(sample: PUSample, on_positives: Array) -> Array:
    """Contributions to a mean over the positives whose weights were divided by their sum."""
    if sample.checks is None:  # the sum is fixed
        return on_positives
    total = sample.positive_total
    return (on_positives - sample.of_positives(on_positives) / total) / total


def _average_precision(sample: PUSample, scores: Array, prior: float) -> Estimate:
    """Mean over the positives of the precision at their scores, each clipped to 1.

    With steps Δr, AP = Σ Δr · πr/q. A positive at a threshold contributes its own precision and
    adds π/q to all precisions from there down; a row of the population subtracts πr/q² from them.
    """
    at = thresholds(sample, scores)
    precision = at.precision(prior)
    step = np.diff(at.r, prepend=0.0)
    free = precision < 1
    slope = np.divide(step, at.q, out=np.zeros(len(step)), where=free)

    def from_there_down(by_threshold: Array) -> Array:
        below: Array = np.cumsum(by_threshold[::-1])[::-1]
        return below[at.of_row]

    clipped = np.minimum(precision, 1)
    on_population = from_there_down(-slope * np.where(free, precision, 0.0))
    return Estimate(
        float(step @ clipped),
        _of_normalized(sample, clipped[at.of_row] + from_there_down(slope * prior)),
        on_population,
        at.mismatch(sample, prior),
    )


ROC_AUC = Metric(
    "pu_roc_auc",
    "ROC AUC",
    "Probability that a positive scores above a negative; 0.5 is chance level.",
    "score",
    _roc_auc,
)
AVERAGE_PRECISION = Metric(
    "pu_average_precision",
    "Average precision",
    "Mean precision at the scores of the positives; the prior is chance level.",
    "score",
    _average_precision,
)


@documented
def pu_roc_auc_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    prior: float,
    scenario: str = "case-control",
    sample_weight: ArrayLike | None = None,
    propensity: ArrayLike | None = None,
    checked: ArrayLike | None = None,
    check_probability: ArrayLike | None = None,
) -> float:
    """Area under the ROC curve: (A - π/2) / (1 - π), where A is the area for P against U.

    The prior scales the area but does not change the ranking of classifiers. Values above 1 are
    clipped with a `PriorMismatchWarning`.

    Parameters
    ----------
    %y_true, y_score, prior, scenario, sample_weight, propensity, checked, check_probability%

    Returns
    -------
    float
        Between 0 and 1; 1/2 is chance level.

    Examples
    --------
    >>> from puforest.metrics import pu_roc_auc_score
    >>> y_true, y_score = [1, 1, 0, 0, 0, 0], [0.9, 0.4, 0.8, 0.3, 0.2, 0.1]
    >>> round(pu_roc_auc_score(y_true, y_score, prior=0.25), 3)
    1.0
    """
    return score(
        ROC_AUC,
        y_true,
        y_score,
        prior=prior,
        scenario=scenario,
        sample_weight=sample_weight,
        propensity=propensity,
        checked=checked,
        check_probability=check_probability,
    )


@documented
def pu_average_precision_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    prior: float,
    scenario: str = "case-control",
    sample_weight: ArrayLike | None = None,
    propensity: ArrayLike | None = None,
    checked: ArrayLike | None = None,
    check_probability: ArrayLike | None = None,
) -> float:
    """Average precision: the mean precision at the scores of the positives.

    The precision at each threshold is clipped to 1, which biases the mean slightly downward if the
    top of the ranking is nearly pure. A `PriorMismatchWarning` is issued only if some precision
    significantly exceeds 1.

    Parameters
    ----------
    %y_true, y_score, prior, scenario, sample_weight, propensity, checked, check_probability%

    Returns
    -------
    float
        Between 0 and 1; the prior is chance level.

    Examples
    --------
    >>> from puforest.metrics import pu_average_precision_score
    >>> y_true, y_score = [1, 1, 0, 0, 0, 0], [0.9, 0.4, 0.8, 0.3, 0.2, 0.1]
    >>> round(pu_average_precision_score(y_true, y_score, prior=0.25), 3)
    1.0
    """
    return score(
        AVERAGE_PRECISION,
        y_true,
        y_score,
        prior=prior,
        scenario=scenario,
        sample_weight=sample_weight,
        propensity=propensity,
        checked=checked,
        check_probability=check_probability,
    )


@documented
def pu_roc_curve(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    prior: float,
    scenario: str = "case-control",
    sample_weight: ArrayLike | None = None,
    propensity: ArrayLike | None = None,
    checked: ArrayLike | None = None,
    check_probability: ArrayLike | None = None,
) -> tuple[Array, Array, Array]:
    """ROC curve: false and true positive rates at all thresholds.

    Raw estimates of the false positive rate are not always monotonic in the threshold, so the curve
    is their isotonic regression. A `PriorMismatchWarning` is issued if any of them is significantly
    below 0.

    Parameters
    ----------
    %y_true, y_score, prior, scenario, sample_weight, propensity, checked, check_probability%

    Returns
    -------
    fpr, tpr : ndarray of shape (n_thresholds,)
        The rates, from (0, 0) to (1, 1).
    thresholds : ndarray of shape (n_thresholds,)
        Decreasing thresholds: rows with a score of at least the threshold are predicted positive.
        The first one is infinite.

    Examples
    --------
    >>> from puforest.metrics import pu_roc_curve
    >>> fpr, tpr, _ = pu_roc_curve([1, 1, 0, 0, 0, 0], [4, 3, 4, 2, 1, 0], prior=0.25)
    >>> tpr.tolist()
    [0.0, 0.5, 1.0, 1.0, 1.0, 1.0]
    """
    at, known = _curve(
        y_true,
        y_score,
        prior,
        scenario,
        sample_weight=sample_weight,
        propensity=propensity,
        checked=checked,
        check_probability=check_probability,
    )
    fpr, tpr = roc_points(at, known)
    return fpr, tpr, np.append(np.inf, at.threshold)


def roc_points(at: Thresholds, prior: float) -> tuple[Array, Array]:
    """Points of the ROC curve, starting at (0, 0)."""
    return np.append(0.0, at.false_positive_rate(prior)), np.append(0.0, at.r)


@documented
def pu_precision_recall_curve(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    prior: float,
    scenario: str = "case-control",
    sample_weight: ArrayLike | None = None,
    propensity: ArrayLike | None = None,
    checked: ArrayLike | None = None,
    check_probability: ArrayLike | None = None,
) -> tuple[Array, Array, Array]:
    """Precision-recall curve: precision and recall at all thresholds.

    Precisions are clipped to 1. A `PriorMismatchWarning` is issued if one significantly exceeds 1.

    Parameters
    ----------
    %y_true, y_score, prior, scenario, sample_weight, propensity, checked, check_probability%

    Returns
    -------
    precision, recall : ndarray of shape (n_thresholds + 1,)
        Recall is decreasing; the last point is precision 1 at recall 0, as in scikit-learn.
    thresholds : ndarray of shape (n_thresholds,)
        Increasing thresholds: rows with a score of at least the threshold are predicted positive.

    Examples
    --------
    >>> from puforest.metrics import pu_precision_recall_curve
    >>> precision, recall, thresholds = pu_precision_recall_curve(
    ...     [1, 1, 0, 0, 0, 0], [4, 3, 4, 2, 1, 0], prior=0.25
    ... )
    >>> precision.tolist()
    [0.25, 0.3333333333333333, 0.5, 1.0, 0.5, 1.0]
    """
    at, known = _curve(
        y_true,
        y_score,
        prior,
        scenario,
        sample_weight=sample_weight,
        propensity=propensity,
        checked=checked,
        check_probability=check_probability,
    )
    precision, recall = precision_recall_points(at, known)
    return precision, recall, at.threshold[::-1]


def precision_recall_points(at: Thresholds, prior: float) -> tuple[Array, Array]:
    """Points of the precision-recall curve, ending at recall 0."""
    precision = np.minimum(at.precision(prior), 1)
    return np.append(precision[::-1], 1.0), np.append(at.r[::-1], 0.0)


def _curve(
    y_true: ArrayLike,
    y_score: ArrayLike,
    prior: float,
    scenario: str,
    *,
    sample_weight: ArrayLike | None,
    propensity: ArrayLike | None,
    checked: ArrayLike | None,
    check_probability: ArrayLike | None,
) -> tuple[Thresholds, float]:
    data = evaluation_set(
        ROC_AUC,
        y_true,
        y_score,
        prior=prior,
        scenario=scenario,
        sample_weight=sample_weight,
        propensity=propensity,
        checked=checked,
        check_probability=check_probability,
    )
    at = thresholds(data.sample, data.values)
    mismatch = at.mismatch(data.sample, data.prior)
    if mismatch is not None:
        warn(mismatch)
    return at, data.prior
