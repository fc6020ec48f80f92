"""Detection of trivial classifiers."""

from __future__ import annotations

from dataclasses import dataclass

from numpy.typing import ArrayLike
from scipy.stats import norm

from puforest import _validation as check
from puforest._confidence import CONFIDENCE
from puforest._sample import pu_sample
from puforest.metrics._docs import documented
from puforest.metrics._metric import EvaluationSet, predicted_positive

__all__ = ["Triviality", "detect_trivial"]


@dataclass(frozen=True)
class Triviality:
    """Result of `detect_trivial`; true if the classifier is trivial.

    Attributes
    ----------
    kind : {"all-positive", "none-positive", "chance"} or None
        Kind of triviality; None for a useful classifier.
    message : str
        Explanation and suggested remedies.
    recall : float
        Fraction of the labeled rows predicted positive.
    positive_fraction : float
        Fraction of the population predicted positive.
    standard_error : float
        Standard error of the difference of the two.
    """

    kind: str | None
    message: str
    recall: float
    positive_fraction: float
    standard_error: float

    def __bool__(self) -> bool:
        return self.kind is not None


@documented
def detect_trivial(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    scenario: str = "case-control",
    sample_weight: ArrayLike | None = None,
    propensity: ArrayLike | None = None,
    checked: ArrayLike | None = None,
    check_probability: ArrayLike | None = None,
    margin: float = 0.01,
    confidence: float = CONFIDENCE,
) -> Triviality:
    """Detect a classifier that predicts (nearly) one class only, or is no better than chance.

    A random classifier predicts the same fraction of the labeled rows and of the population
    positive, so a useful one must have a recall significantly above the fraction of the population
    it predicts positive. No prior is needed.

    Parameters
    ----------
    %y_true, y_pred, scenario, sample_weight, propensity, checked, check_probability%
    margin : float, default=0.01
        Fraction of rows, in both samples, that a trivial classifier may predict differently.
    confidence : float, default=0.95
        Confidence level of the test against chance.

    Returns
    -------
    Triviality

    Examples
    --------
    >>> from puforest.metrics import detect_trivial
    >>> found = detect_trivial([1, 1, 0, 0, 0, 0], [1, 1, 1, 1, 1, 1])
    >>> bool(found), found.kind
    (True, 'all-positive')
    """
    for name, value in (("margin", margin), ("confidence", confidence)):
        if not check.is_real(value) or not 0 <= value < 1:
            raise ValueError(f"{name} must be at least 0 and below 1, got {value!r}")
    sample = pu_sample(
        y_true,
        scenario=scenario,
        sample_weight=sample_weight,
        propensity=propensity,
        checked=checked,
        check_probability=check_probability,
    )
    return triviality(
        EvaluationSet(sample, predicted_positive(y_true, y_pred), prior=float("nan")),
        margin,
        confidence,
    )


def triviality(
    data: EvaluationSet, margin: float = 0.01, confidence: float = CONFIDENCE
) -> Triviality:
    positive = data.values
    r, q = data.sample.of_positives(positive), data.sample.of_population(positive)
    padded = data.with_pseudo_rows()
    error = padded.sample.standard_error(padded.values, -padded.values)
    kind: str | None = None
    message = f"recall {r:.3f} is above the fraction of the population predicted positive, {q:.3f}"
    if max(r, q) <= margin:
        kind = "none-positive"
        message = (
            f"(nearly) no row is predicted positive: {r:.3f} of the labeled rows and {q:.3f} of "
            "the population. Lower the threshold, or check that the prior is not too small."
        )
    elif min(r, q) >= 1 - margin:
        kind = "all-positive"
        message = (
            f"(nearly) every row is predicted positive: {r:.3f} of the labeled rows and {q:.3f} "
            "of the population, which makes the recall look perfect. Raise the threshold, or check "
            "that the prior is not too large and that unlabeled rows have weight in the fit."
        )
    elif r - q <= norm.ppf(confidence) * error:
        kind = "chance"
        message = (
            f"no better than chance: recall {r:.3f} is not significantly above the fraction of the "
            f"population predicted positive, {q:.3f} (standard error {error:.3f}). The features "
            "may not separate positives from negatives, or there are too few labeled rows."
        )
    return Triviality(kind, message, r, q, error)
