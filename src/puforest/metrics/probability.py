"""Metrics of probabilities and decision values: proper scoring rules and PU risks."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logit

from puforest import _validation as check
from puforest._sample import PUSample
from puforest.metrics._docs import documented
from puforest.metrics._metric import Array, Estimate, Metric, score
from puforest.risk import loss_value

__all__ = [
    "pu_brier_score",
    "pu_log_loss",
    "pu_risk_score",
]

EPSILON = np.finfo(float).eps


def _of_sums(sample: PUSample, on_positives: Array, on_population: Array) -> Estimate:
    """Sum of a mean over the positives and one over the population."""
    value = sample.of_positives(on_positives) + sample.of_population(on_population)
    return Estimate(value, on_positives, on_population)


def _brier(sample: PUSample, prob: Array, prior: float) -> Estimate:
    return _of_sums(sample, prior * (1 - 2 * prob), prob**2)


def _log_loss(sample: PUSample, prob: Array, prior: float) -> Estimate:
    p = np.clip(prob, EPSILON, 1 - EPSILON)
    return _of_sums(sample, -prior * logit(p), -np.log1p(-p))


def _risk(
    sample: PUSample, decision: Array, prior: float, *, risk: str = "nnpu", loss: str = "quadratic"
) -> Estimate:
    check.one_of("risk", risk, ("nnpu", "upu"))
    as_positive, as_negative = (loss_value(sign * decision, loss=loss) for sign in (1, -1))
    of_negatives = _of_sums(sample, -prior * as_negative, as_negative)
    if risk == "nnpu" and of_negatives.value < 0:
        return _of_sums(sample, prior * as_positive, np.zeros(len(sample)))
    return _of_sums(sample, prior * (as_positive - as_negative), as_negative)


BRIER = Metric(
    "pu_brier",
    "Brier score",
    "Mean squared error of the predicted probabilities.",
    "probability",
    _brier,
    greater_is_better=False,
)
LOG_LOSS = Metric(
    "pu_log_loss",
    "Log loss",
    "Mean negative log-likelihood of the predicted probabilities.",
    "probability",
    _log_loss,
    high=np.inf,
    greater_is_better=False,
)
# The unbiased risk may be negative, which is informative: it is not clipped.
RISK = Metric(
    "pu_risk",
    "Risk",
    "PU risk of the decision values.",
    "decision",
    _risk,
    low=-np.inf,
    high=np.inf,
    greater_is_better=False,
    monotone_in_prior=False,
    options=("risk", "loss"),
)


@documented
def pu_brier_score(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    prior: float,
    scenario: str = "case-control",
    sample_weight: ArrayLike | None = None,
    propensity: ArrayLike | None = None,
    checked: ArrayLike | None = None,
    check_probability: ArrayLike | None = None,
) -> float:
    """Brier score, the mean squared error of the probabilities.

    It is the mean of p² over the population plus π (1 - 2 mean of p over the positives). Values
    outside [0, 1] are clipped with a `PriorMismatchWarning`.

    Parameters
    ----------
    %y_true, y_prob, prior, scenario, sample_weight, propensity, checked, check_probability%

    Returns
    -------
    float
        Between 0 and 1; lower is better.

    Examples
    --------
    >>> from puforest.metrics import pu_brier_score
    >>> y_true, y_prob = [1, 1, 0, 0, 0, 0], [0.9, 0.6, 0.8, 0.3, 0.2, 0.1]
    >>> round(pu_brier_score(y_true, y_prob, prior=0.3), 3)
    0.045
    """
    return score(
        BRIER,
        y_true,
        y_prob,
        prior=prior,
        scenario=scenario,
        sample_weight=sample_weight,
        propensity=propensity,
        checked=checked,
        check_probability=check_probability,
    )


@documented
def pu_log_loss(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    prior: float,
    scenario: str = "case-control",
    sample_weight: ArrayLike | None = None,
    propensity: ArrayLike | None = None,
    checked: ArrayLike | None = None,
    check_probability: ArrayLike | None = None,
) -> float:
    """Log loss, the mean negative log-likelihood of the probabilities.

    It is the mean of -ln(1 - p) over the population minus π times the mean of logit p over the
    positives. Probabilities of exactly 0 or 1, such as unanimous votes, are clipped by the machine
    epsilon, as in scikit-learn. They make the estimate very noisy: smooth them first.

    Parameters
    ----------
    %y_true, y_prob, prior, scenario, sample_weight, propensity, checked, check_probability%

    Returns
    -------
    float
        At least 0; lower is better. Negative estimates are clipped with a
        `PriorMismatchWarning`.

    Examples
    --------
    >>> from puforest.metrics import pu_log_loss
    >>> y_true, y_prob = [1, 1, 0, 0, 0, 0], [0.9, 0.6, 0.8, 0.3, 0.2, 0.1]
    >>> round(pu_log_loss(y_true, y_prob, prior=0.3), 3)
    0.183
    """
    return score(
        LOG_LOSS,
        y_true,
        y_prob,
        prior=prior,
        scenario=scenario,
        sample_weight=sample_weight,
        propensity=propensity,
        checked=checked,
        check_probability=check_probability,
    )


@documented
def pu_risk_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    prior: float,
    scenario: str = "case-control",
    sample_weight: ArrayLike | None = None,
    propensity: ArrayLike | None = None,
    checked: ArrayLike | None = None,
    check_probability: ArrayLike | None = None,
    risk: str = "nnpu",
    loss: str = "quadratic",
) -> float:
    """PU risk of decision values; rows with values above 0 are predicted positive.

    The unbiased risk is π times the mean of l(s) - l(-s) over the positives plus the mean of l(-s)
    over the population. The non-negative risk replaces the estimated risk of the negatives by 0 if
    it is negative.

    Parameters
    ----------
    %y_true, y_score, prior, scenario, sample_weight, propensity, checked, check_probability%
    risk : {"nnpu", "upu"}, default="nnpu"
        Non-negative or unbiased estimator. The unbiased one may be negative and is not clipped.
    loss : str, default="quadratic"
        A key of `puforest.risk.LOSSES`.

    Returns
    -------
    float
        Lower is better.

    Examples
    --------
    >>> from puforest.metrics import pu_risk_score
    >>> y_true, y_score = [1, 1, 0, 0, 0, 0], [0.9, -0.1, 0.8, -0.3, -0.2, -0.7]
    >>> round(pu_risk_score(y_true, y_score, prior=0.4, loss="zero-one"), 3)
    0.25
    """
    return score(
        RISK,
        y_true,
        y_score,
        prior=prior,
        scenario=scenario,
        sample_weight=sample_weight,
        propensity=propensity,
        checked=checked,
        check_probability=check_probability,
        risk=risk,
        loss=loss,
    )
