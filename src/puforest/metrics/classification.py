"""Judge predicted classes: all follows from the recall r and the share q that is called positive.

r is a mean over the labeled positives, q a mean over the population, and neither needs a negative.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import UndefinedMetricWarning

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
    """An estimate from a function of (r, q, prior) and its derivatives by r and q."""

    def estimate(sample: PUSample, positive: Array, prior: float) -> Estimate:
        r, q = sample.of_positives(positive), sample.of_population(positive)
        if divides_by_q and q == 0:
            return _of_nothing_called(r, positive)
        by_r, by_q = slopes(r, q, prior)
        return Estimate(value(r, q, prior), by_r * positive, by_q * positive)

    return estimate


def _of_nothing_called(r: float, positive: Array) -> Estimate:
    unknown = np.full(len(positive), np.nan)
    if r == 0:
        warning = UndefinedMetricWarning("no row is predicted positive: the score is set to 0")
        return Estimate(0.0, unknown, unknown, warning)
    warning = UndefinedMetricWarning(
        f"{r:.3g} of the labeled rows are predicted positive, but no row of the population is: "
        "the score is nan. There are too few unlabeled rows, or they do not hold such positives."
    )
    return Estimate(np.nan, unknown, unknown, warning)


RECALL = Metric(
    "pu_recall",
    "prediction",
    _of_rates(lambda r, q, prior: r, lambda r, q, prior: (1.0, 0.0)),
    needs_prior=False,
)
PRECISION = Metric(
    "pu_precision",
    "prediction",
    _of_rates(
        lambda r, q, prior: prior * r / q,
        lambda r, q, prior: (prior / q, -prior * r / q**2),
        divides_by_q=True,
    ),
)
F1 = Metric(
    "pu_f1",
    "prediction",
    _of_rates(
        lambda r, q, prior: 2 * prior * r / (prior + q),
        lambda r, q, prior: (2 * prior / (prior + q), -2 * prior * r / (prior + q) ** 2),
    ),
)
FALSE_POSITIVE_RATE = Metric(
    "pu_false_positive_rate",
    "prediction",
    _of_rates(
        lambda r, q, prior: (q - prior * r) / (1 - prior),
        lambda r, q, prior: (-prior / (1 - prior), 1 / (1 - prior)),
    ),
    greater_is_better=False,
)
ACCURACY = Metric(
    "pu_accuracy",
    "prediction",
    _of_rates(
        lambda r, q, prior: 1 - prior - q + 2 * prior * r, lambda r, q, prior: (2 * prior, -1.0)
    ),
)
BALANCED_ACCURACY = Metric(
    "pu_balanced_accuracy",
    "prediction",
    _of_rates(
        lambda r, q, prior: 0.5 + (r - q) / (2 * (1 - prior)),
        lambda r, q, prior: (0.5 / (1 - prior), -0.5 / (1 - prior)),
    ),
)
LEE_LIU = Metric(
    "lee_liu",
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
) -> float:
    """Share of the positives that are predicted positive: r.

    It is the share of the labeled rows, and needs no prior. Rows must be held out from the fit.

    Parameters
    ----------
    %y_true, y_pred, scenario, sample_weight, propensity%

    Returns
    -------
    float
        A number between 0 and 1.

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
) -> float:
    """Share of the rows predicted positive that are: πr / q.

    Above 1 it is clipped, with a `PriorMismatchWarning`: a prior too large does that. Where no row
    is predicted positive it is 0, with a warning.

    Parameters
    ----------
    %y_true, y_pred, prior, scenario, sample_weight, propensity%

    Returns
    -------
    float
        A number between 0 and 1.

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
) -> float:
    """Harmonic mean of precision and recall: 2πr / (π + q).

    Unlike the precision, it is known where no row is predicted positive: it is 0 there.

    Parameters
    ----------
    %y_true, y_pred, prior, scenario, sample_weight, propensity%

    Returns
    -------
    float
        A number between 0 and 1.

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
) -> float:
    """Share of the negatives that are predicted positive: (q - πr) / (1 - π).

    Below 0 it is clipped, with a `PriorMismatchWarning`: a prior too large does that.

    Parameters
    ----------
    %y_true, y_pred, prior, scenario, sample_weight, propensity%

    Returns
    -------
    float
        A number between 0 and 1; less is better.

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
) -> float:
    """Share of the rows predicted right: 1 - (π + q - 2πr).

    Clipped to [0, 1], with a `PriorMismatchWarning`.

    Parameters
    ----------
    %y_true, y_pred, prior, scenario, sample_weight, propensity%

    Returns
    -------
    float
        A number between 0 and 1.

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
) -> float:
    """Mean of recall and specificity: 1/2 + (r - q) / (2 (1 - π)).

    Comparisons between classifiers do not depend on the prior: r - q orders them all the same.

    Parameters
    ----------
    %y_true, y_pred, prior, scenario, sample_weight, propensity%

    Returns
    -------
    float
        A number between 0 and 1; 1/2 is chance.

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
    )


@documented
def lee_liu_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    scenario: str = "case-control",
    sample_weight: ArrayLike | None = None,
    propensity: ArrayLike | None = None,
) -> float:
    """Criterion of Lee and Liu: r² / q.

    It is recall times precision divided by the prior, which it therefore does not need: it orders
    classifiers on the same data, but is no share of anything.

    Parameters
    ----------
    %y_true, y_pred, scenario, sample_weight, propensity%

    Returns
    -------
    float
        At least 0; a classifier at chance has its share of rows called positive.

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
    )
