"""Metrics of predicted classes: functions of the recall r and the fraction q predicted positive.

r is a mean over the labeled positives and q a mean over the population; neither needs a negative.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import UndefinedMetricWarning

from puforest._rates import accuracy, f1, precision
from puforest._sample import PUSample
from puforest.metrics._docs import documented
from puforest.metrics._metric import Array, Estimate, Metric, score

__all__ = [
    "lee_liu_score",
    "pu_accuracy_score",
    "pu_balanced_accuracy_score",
    "pu_f1_score",
    "pu_false_positive_rate",
    "pu_precision_score",
    "pu_recall_score",
]

Value = Callable[[float, float, float], float]
Slopes = Callable[[float, float, float], tuple[float, float]]


def _of_rates(
    value: Value, slopes: Slopes, *, divides_by_q: bool = False
) -> Callable[[PUSample, Array, float], Estimate]:
    """Make an estimate from a function of (r, q, prior) and its derivatives by r and q."""

    def estimate(sample: PUSample, positive: Array, prior: float) -> Estimate:
        r, q = sample.of_positives(positive), sample.of_population(positive)
        if divides_by_q and q == 0:
            return _without_predicted_positives(r, positive)
        by_r, by_q = slopes(r, q, prior)
        return Estimate(value(r, q, prior), by_r * positive, by_q * positive)

    return estimate


def _without_predicted_positives(r: float, positive: Array) -> Estimate:
    unknown = np.full(len(positive), np.nan)
    if r == 0:
        warning = UndefinedMetricWarning("no row is predicted positive: the score is set to 0")
        return Estimate(0.0, unknown, unknown, warning)
    warning = UndefinedMetricWarning(
        f"{r:.0%} of the labeled rows are predicted positive, but no row of the population is: the "
        "score is nan. There are too few unlabeled rows, or they contain no such positives."
    )
    return Estimate(np.nan, unknown, unknown, warning)


RECALL = Metric(
    "pu_recall",
    "Recall",
    "Fraction of the positives that are predicted positive.",
    "prediction",
    _of_rates(lambda r, q, prior: r, lambda r, q, prior: (1.0, 0.0)),
    needs_prior=False,
)
PRECISION = Metric(
    "pu_precision",
    "Precision",
    "Fraction of the predicted positives that are positive.",
    "prediction",
    _of_rates(
        precision,
        lambda r, q, prior: (prior / q, -prior * r / q**2),
        divides_by_q=True,
    ),
)
F1 = Metric(
    "pu_f1",
    "F1 score",
    "Harmonic mean of precision and recall.",
    "prediction",
    _of_rates(
        f1,
        lambda r, q, prior: (2 * prior / (prior + q), -2 * prior * r / (prior + q) ** 2),
    ),
)
FALSE_POSITIVE_RATE = Metric(
    "pu_false_positive_rate",
    "False positive rate",
    "Fraction of the negatives that are predicted positive.",
    "prediction",
    _of_rates(
        lambda r, q, prior: (q - prior * r) / (1 - prior),
        lambda r, q, prior: (-prior / (1 - prior), 1 / (1 - prior)),
    ),
    greater_is_better=False,
)
ACCURACY = Metric(
    "pu_accuracy",
    "Accuracy",
    "Fraction of all rows that are predicted correctly.",
    "prediction",
    _of_rates(accuracy, lambda r, q, prior: (2 * prior, -1.0)),
)
BALANCED_ACCURACY = Metric(
    "pu_balanced_accuracy",
    "Balanced accuracy",
    "Mean of recall and specificity; 0.5 is chance level.",
    "prediction",
    _of_rates(
        lambda r, q, prior: 0.5 + (r - q) / (2 * (1 - prior)),
        lambda r, q, prior: (0.5 / (1 - prior), -0.5 / (1 - prior)),
    ),
)
LEE_LIU = Metric(
    "lee_liu",
    "Lee-Liu score",
    "Squared recall divided by the fraction predicted positive; needs no prior.",
    "prediction",
    _of_rates(
        lambda r, q, prior: r**2 / q,
        lambda r, q, prior: (2 * r / q, -(r**2) / q**2),
        divides_by_q=True,
    ),
    high=np.inf,
    needs_prior=False,
)


@documented
def pu_recall_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    scenario: str = "case-control",
    sample_weight: ArrayLike | None = None,
    propensity: ArrayLike | None = None,
    checked: ArrayLike | None = None,
    check_probability: ArrayLike | None = None,
) -> float:
    """Recall: the fraction of positives that are predicted positive, r.

    It is estimated by the fraction of labeled rows that are predicted positive, and does not
    require a prior. Use held-out rows.

    Parameters
    ----------
    %y_true, y_pred, scenario, sample_weight, propensity, checked, check_probability%

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> from puforest.metrics import pu_recall_score
    >>> y_true, y_pred = [1, 1, 1, 1, 0, 0, 0, 0, 0, 0], [1, 1, 1, 0, 1, 1, 0, 0, 0, 0]
    >>> float(round(pu_recall_score(y_true, y_pred), 3))
    0.75
    """
    return score(
        RECALL,
        y_true,
        y_pred,
        prior=None,
        scenario=scenario,
        sample_weight=sample_weight,
        propensity=propensity,
        checked=checked,
        check_probability=check_probability,
    )


@documented
def pu_precision_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    prior: float,
    scenario: str = "case-control",
    sample_weight: ArrayLike | None = None,
    propensity: ArrayLike | None = None,
    checked: ArrayLike | None = None,
    check_probability: ArrayLike | None = None,
) -> float:
    """Precision: the fraction of predicted positives that are positive, πr / q.

    Values above 1, which occur if the prior is too large, are clipped with a
    `PriorMismatchWarning`. If no row is predicted positive, the precision is 0, with a warning.

    Parameters
    ----------
    %y_true, y_pred, prior, scenario, sample_weight, propensity, checked, check_probability%

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> from puforest.metrics import pu_precision_score
    >>> y_true, y_pred = [1, 1, 1, 1, 0, 0, 0, 0, 0, 0], [1, 1, 1, 0, 1, 1, 0, 0, 0, 0]
    >>> float(round(pu_precision_score(y_true, y_pred, prior=0.4), 3))
    0.9
    """
    return score(
        PRECISION,
        y_true,
        y_pred,
        prior=prior,
        scenario=scenario,
        sample_weight=sample_weight,
        propensity=propensity,
        checked=checked,
        check_probability=check_probability,
    )


@documented
def pu_f1_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    prior: float,
    scenario: str = "case-control",
    sample_weight: ArrayLike | None = None,
    propensity: ArrayLike | None = None,
    checked: ArrayLike | None = None,
    check_probability: ArrayLike | None = None,
) -> float:
    """F1 score, the harmonic mean of precision and recall: 2πr / (π + q).

    Unlike the precision, it is defined even if no row is predicted positive, as 0.

    Parameters
    ----------
    %y_true, y_pred, prior, scenario, sample_weight, propensity, checked, check_probability%

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> from puforest.metrics import pu_f1_score
    >>> y_true, y_pred = [1, 1, 1, 1, 0, 0, 0, 0, 0, 0], [1, 1, 1, 0, 1, 1, 0, 0, 0, 0]
    >>> float(round(pu_f1_score(y_true, y_pred, prior=0.4), 3))
    0.818
    """
    return score(
        F1,
        y_true,
        y_pred,
        prior=prior,
        scenario=scenario,
        sample_weight=sample_weight,
        propensity=propensity,
        checked=checked,
        check_probability=check_probability,
    )


@documented
def pu_false_positive_rate(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    prior: float,
    scenario: str = "case-control",
    sample_weight: ArrayLike | None = None,
    propensity: ArrayLike | None = None,
    checked: ArrayLike | None = None,
    check_probability: ArrayLike | None = None,
) -> float:
    """False positive rate: the fraction of negatives predicted positive, (q - πr) / (1 - π).

    Values below 0, which occur if the prior is too large, are clipped with a
    `PriorMismatchWarning`.

    Parameters
    ----------
    %y_true, y_pred, prior, scenario, sample_weight, propensity, checked, check_probability%

    Returns
    -------
    float
        Between 0 and 1; lower is better.

    Examples
    --------
    >>> from puforest.metrics import pu_false_positive_rate
    >>> y_true, y_pred = [1, 1, 1, 1, 0, 0, 0, 0, 0, 0], [1, 1, 1, 0, 1, 1, 0, 0, 0, 0]
    >>> float(round(pu_false_positive_rate(y_true, y_pred, prior=0.4), 3))
    0.056
    """
    return score(
        FALSE_POSITIVE_RATE,
        y_true,
        y_pred,
        prior=prior,
        scenario=scenario,
        sample_weight=sample_weight,
        propensity=propensity,
        checked=checked,
        check_probability=check_probability,
    )


@documented
def pu_accuracy_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    prior: float,
    scenario: str = "case-control",
    sample_weight: ArrayLike | None = None,
    propensity: ArrayLike | None = None,
    checked: ArrayLike | None = None,
    check_probability: ArrayLike | None = None,
) -> float:
    """Accuracy: the fraction of rows predicted correctly, 1 - (π + q - 2πr).

    Values outside [0, 1] are clipped with a `PriorMismatchWarning`.

    Parameters
    ----------
    %y_true, y_pred, prior, scenario, sample_weight, propensity, checked, check_probability%

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> from puforest.metrics import pu_accuracy_score
    >>> y_true, y_pred = [1, 1, 1, 1, 0, 0, 0, 0, 0, 0], [1, 1, 1, 0, 1, 1, 0, 0, 0, 0]
    >>> float(round(pu_accuracy_score(y_true, y_pred, prior=0.4), 3))
    0.867
    """
    return score(
        ACCURACY,
        y_true,
        y_pred,
        prior=prior,
        scenario=scenario,
        sample_weight=sample_weight,
        propensity=propensity,
        checked=checked,
        check_probability=check_probability,
    )


@documented
def pu_balanced_accuracy_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    prior: float,
    scenario: str = "case-control",
    sample_weight: ArrayLike | None = None,
    propensity: ArrayLike | None = None,
    checked: ArrayLike | None = None,
    check_probability: ArrayLike | None = None,
) -> float:
    """Mean of recall and specificity: 1/2 + (r - q) / (2 (1 - π)).

    The ranking of classifiers does not depend on the prior: it is the ranking by r - q.

    Parameters
    ----------
    %y_true, y_pred, prior, scenario, sample_weight, propensity, checked, check_probability%

    Returns
    -------
    float
        Between 0 and 1; 1/2 is chance level.

    Examples
    --------
    >>> from puforest.metrics import pu_balanced_accuracy_score
    >>> y_true, y_pred = [1, 1, 1, 1, 0, 0, 0, 0, 0, 0], [1, 1, 1, 0, 1, 1, 0, 0, 0, 0]
    >>> float(round(pu_balanced_accuracy_score(y_true, y_pred, prior=0.4), 3))
    0.847
    """
    return score(
        BALANCED_ACCURACY,
        y_true,
        y_pred,
        prior=prior,
        scenario=scenario,
        sample_weight=sample_weight,
        propensity=propensity,
        checked=checked,
        check_probability=check_probability,
    )


@documented
def lee_liu_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    scenario: str = "case-control",
    sample_weight: ArrayLike | None = None,
    propensity: ArrayLike | None = None,
    checked: ArrayLike | None = None,
    check_probability: ArrayLike | None = None,
) -> float:
    """Criterion of Lee and Liu (2003): r² / q.

    It equals recall times precision divided by the prior, and can be computed without the prior.
    Use it to rank classifiers on the same data; the value itself has no absolute scale.

    Parameters
    ----------
    %y_true, y_pred, scenario, sample_weight, propensity, checked, check_probability%

    Returns
    -------
    float
        At least 0; a random classifier scores the fraction of rows it predicts positive.

    Examples
    --------
    >>> from puforest.metrics import lee_liu_score
    >>> y_true, y_pred = [1, 1, 1, 1, 0, 0, 0, 0, 0, 0], [1, 1, 1, 0, 1, 1, 0, 0, 0, 0]
    >>> float(round(lee_liu_score(y_true, y_pred), 3))
    1.688
    """
    return score(
        LEE_LIU,
        y_true,
        y_pred,
        prior=None,
        scenario=scenario,
        sample_weight=sample_weight,
        propensity=propensity,
        checked=checked,
        check_probability=check_probability,
    )
