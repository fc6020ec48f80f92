"""Tell classifiers that say the same about every row, or nothing about the labels."""

from __future__ import annotations

from dataclasses import dataclass

from numpy.typing import ArrayLike
from scipy.stats import norm

from puforest import _validation as check
from puforest._sample import pu_sample
from puforest.metrics._docs import documented
from puforest.metrics._metric import Judged, called_positive

__all__ = ["Triviality", "detect_trivial"]


@dataclass(frozen=True)
class Triviality:
    """Whether and how a classifier is trivial; true if it is.

    Attributes
    ----------
    kind : {"all-positive", "none-positive", "chance"} or None
        What is wrong; None if nothing is.
    message : str
        What was seen, and what to try.
    recall : float
        Share of the labeled rows that are called positive.
    positive_share : float
        Share of the population that is.
    standard_error : float
        Standard error of the difference of the two.
    """

    kind: str | None
    message: str
    recall: float
    positive_share: float
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
    margin: float = 0.01,
    confidence: float = 0.95,
) -> Triviality:
    """Detect a classifier that calls (nearly) all rows the same, or is no better than chance.

    Chance calls as many of the labeled rows positive as of the population, so a classifier is
    better only if its recall is clearly above the share that it calls positive. No prior is needed.

    Parameters
    ----------
    %y_true, y_pred, scenario, sample_weight, propensity%
    margin : float, default=0.01
        Share of rows, in both samples, that may be called otherwise by a trivial classifier.
    confidence : float, default=0.95
        How sure the difference of recall and share must be to count as more than chance.

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
            raise ValueError(f"{name} must be a number from 0 up to below 1, got {value!r}")
    sample = pu_sample(
        y_true, scenario=scenario, sample_weight=sample_weight, propensity=propensity
    )
    return triviality(
        Judged(sample, called_positive(y_true, y_pred), prior=float("nan")), margin, confidence
    )


def triviality(rows: Judged, margin: float = 0.01, confidence: float = 0.95) -> Triviality:
    positive = rows.values
    r, q = rows.sample.of_positives(positive), rows.sample.of_population(positive)
    soft = rows.softened()
    error = soft.sample.standard_error(soft.values, -soft.values)
    kind: str | None = None
    message = f"recall {r:.3f} is above the {q:.3f} of the population that is called positive"
    if max(r, q) <= margin:
        kind = "none-positive"
        message = (
            f"(nearly) nothing is called positive: {r:.3f} of the labeled rows and {q:.3f} of the "
            "population. Lower the threshold, or check that the prior is not too small."
        )
    elif min(r, q) >= 1 - margin:
        kind = "all-positive"
        message = (
            f"(nearly) everything is called positive: {r:.3f} of the labeled rows and {q:.3f} of "
            "the population. Recall alone looks perfect then. Raise the threshold, or check that "
            "the prior is not too large and that unlabeled rows do weigh in the fit."
        )
    elif r - q <= norm.ppf(confidence) * error:
        kind = "chance"
        message = (
            f"no better than chance: recall {r:.3f} is not clearly above the {q:.3f} of the "
            f"population that is called positive (standard error {error:.3f}). The features may "
            "not tell positives from others, or there are too few labeled rows to see it."
        )
    return Triviality(kind, message, r, q, error)
