"""Estimates of the class prior and of the quality of predictions from checked rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import norm

from puforest import _validation as check
from puforest._confidence import CONFIDENCE
from puforest._prior_estimate import PriorEstimate
from puforest._warnings import warn
from puforest.checking import _quantities as quantities
from puforest.checking._rows import CheckedRows, checked_rows
from puforest.checking._totals import Solution
from puforest.scenario import SCENARIOS

if TYPE_CHECKING:
    from puforest._fit_record import FitRecord

# Standard errors by which checked positives may differ from labeled rows; 1% do so by chance.
SIGNIFICANT = float(norm.ppf(0.995))


@dataclass(frozen=True)
class CheckedEstimate:
    """A quantity estimated from checked rows.

    Attributes
    ----------
    value : float
        Estimate.
    low, high : float
        Ends of the confidence interval.
    """

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, solution: Solution, z: float) -> CheckedEstimate:
        """Return a solution with its interval, of z standard errors."""
        return cls(solution.value, solution.low(z), solution.high(z))

    def moved_to(self, value: float) -> CheckedEstimate:
        """Return another value with the same interval, extended to the value if necessary."""
        return CheckedEstimate(value, min(self.low, value), max(self.high, value))

    def __str__(self) -> str:
        return f"{self.value:.3f} ({self.low:.3f} to {self.high:.3f})"


@dataclass(frozen=True)
class CheckedEstimates:
    """Result of `estimate_from_checks`; prints as a table.

    Attributes
    ----------
    prior : PriorEstimate or None
        Class prior. None if some rows had no chance to be checked, as with the design "top".
    prior_bounds : tuple of float
        Smallest and largest class prior that the labels and verdicts leave possible. They are
        certain, but far apart.
    precision, recall, f1 : CheckedEstimate or None
        Quality of the predictions at the threshold. F1 is that of the estimated precision and
        recall. None without scores or a threshold, or if it
        depends on rows that had no chance to be checked.
    auc : CheckedEstimate or None
        Area under the ROC curve of the scores. None without scores, or without `prior`.
    threshold : float or None
        Threshold: rows with larger scores are predicted positive.
    n_checked, n_positive : int
        Number of rows with a verdict, and of positive verdicts.
    n_unlabeled : int
        Number of unlabeled rows, checked or not.
    confidence : float
        Confidence level of the intervals.
    notes : tuple of str
        Reasons for what could not be estimated, and assumptions beyond the random selection.
    """

    prior: PriorEstimate | None
    prior_bounds: tuple[float, float]
    precision: CheckedEstimate | None
    recall: CheckedEstimate | None
    f1: CheckedEstimate | None
    auc: CheckedEstimate | None
    threshold: float | None
    n_checked: int
    n_positive: int
    n_unlabeled: int
    confidence: float
    notes: tuple[str, ...]

    def with_prior_of_fit(self, record: FitRecord) -> CheckedEstimates:
        """Use the prior of a fit to the same verdicts, so that there is only one.

        Other scores would lead to a slightly different one.
        """
        fitted = record.prior_estimate
        verdicts = (self.n_positive, self.n_checked - self.n_positive)
        if self.prior is None or fitted is None or fitted.method != self.prior.method:
            return self
        same = (record.n_confirmed, record.n_refuted) == verdicts
        return replace(self, prior=fitted) if same else self

    def __str__(self) -> str:
        lines = [
            f"{self.n_positive} of {self.n_checked} checked rows are positive "
            f"({self.n_unlabeled} unlabeled rows, {100 * self.confidence:g}% intervals)"
        ]
        if self.prior is None:
            low, high = self.prior_bounds
            lines.append(f"prior      unknown, between {low:.3f} and {high:.3f}")
        else:
            lines.append(f"prior      {CheckedEstimate(self.prior.value, *self.prior.interval)}")
        for name in ("precision", "recall", "f1", "auc"):
            if getattr(self, name) is not None:
                lines.append(f"{name:10} {getattr(self, name)}")
        return "\n".join([*lines, *self.notes])


def estimate_from_checks(
    checked: Any,
    check_probability: ArrayLike | None = None,
    *,
    y: Any = None,
    score: ArrayLike | None = None,
    threshold: float | None = None,
    scenario: str = "case-control",
    scar: bool = True,
    confidence: float = CONFIDENCE,
) -> CheckedEstimates:
    """Estimate the class prior and the quality of predictions from rows checked by hand.

    Estimates and intervals rely on the random selection of the rows that were checked. Scores make
    the intervals shorter, and need not be right. All of them refer to the rows that are passed; if
    those are themselves a small sample, a larger population may differ by more.

    All arrays have an entry for each row, and are those to pass to ``fit``.

    Parameters
    ----------
    checked : array-like of shape (n_samples,)
        Verdicts: 1 (or True) for positives, 0 (or False) for negatives, NaN or None for rows that
        were not checked. Rows that were labeled because they were checked must be unlabeled in `y`.
    check_probability : float or array-like of shape (n_samples,), optional
        Probability of each row to be checked, from `Checks.verdicts` or `CheckDesign.probability`.
        Values of labeled rows are ignored. By default, the checked rows are a simple random sample
        of the unlabeled rows.
    y : array-like of shape (n_samples,), optional
        Labels: two values, the larger for labeled rows. By default, all rows are unlabeled.
    score : array-like of shape (n_samples,), optional
        Predicted probabilities of all rows, held-out or out-of-bag. They make the interval of the
        prior shorter, and are required for all other quantities.
    threshold : float, optional
        Threshold for precision, recall and F1, such as ``threshold_`` of a `PUForestClassifier`:
        rows with larger scores are predicted positive.
    scenario : {"case-control", "single-training-set"}, default="case-control"
        Sampling scenario. In a single training set, labeled rows are part of the population.
    scar : bool, default=True
        If True, the labeled rows are considered a random sample of the positives, and their scores
        are used for recall, F1 and AUC, whose intervals become shorter. If checked positives
        clearly differ from them, there is a warning, and they are not used. The prior and the
        precision do not depend on it.
    confidence : float, default=0.95
        Confidence level of the intervals.

    Returns
    -------
    CheckedEstimates

    Examples
    --------
    A simple random sample of 50 of 1000 rows, of which 10 are positive:

    >>> import numpy as np
    >>> from puforest.checking import estimate_from_checks
    >>> checked = np.full(1000, np.nan)
    >>> checked[:50] = np.repeat([1, 0], [10, 40])
    >>> print(estimate_from_checks(checked))
    10 of 50 checked rows are positive (1000 unlabeled rows, 95% intervals)
    prior      0.200 (0.114 to 0.327)
    """
    check.one_of("scenario", scenario, SCENARIOS)
    check.boolean("scar", scar)
    z = float(norm.ppf((1 + check.fraction("confidence", confidence)) / 2))
    if threshold is not None:
        threshold = _checked_threshold(threshold)
    if threshold is not None and score is None:
        raise ValueError(f"threshold={threshold!r} requires score, the scores of all rows")
    rows = checked_rows(checked, check_probability, y=y, score=score, scenario=scenario)
    notes = []
    unreachable = int(np.count_nonzero(rows.probability == 0))
    prior = precision = recall = f1 = auc = None
    if unreachable:
        notes.append(
            f"{unreachable} unlabeled rows had no chance to be checked: what depends on them, such "
            "as the prior, is unknown. Select checks from all rows to estimate it."
        )
    else:
        prior = quantities.class_prior(rows, z, confidence)
    has_f1 = threshold is not None
    if threshold is not None:
        predicted = rows.score > threshold
        if not predicted.any():
            notes.append(f"No unlabeled row has a score above the threshold, {threshold:g}.")
        elif np.isnan(rows.verdict[predicted]).all():
            has_f1 = False
            notes.append(
                f"No checked row has a score above the threshold, {threshold:g}: precision and F1 "
                "are unknown."
            )
        elif (rows.probability[predicted] > 0).all():
            precision = CheckedEstimate.of(quantities.precision(rows, threshold), z)
    if prior is not None and score is not None:
        n_positive = None
        if scar and len(rows.labeled_score) > 1:
            n_positive = _number_if_alike(rows, prior)
        if rows.n_positive == 0 and len(rows.known_score) == 0 and n_positive is None:
            notes.append("No checked row is positive: recall and AUC are unknown.")
        else:
            auc = CheckedEstimate.of(quantities.auc(rows, prior.value, n_positive=n_positive), z)
            if threshold is not None:
                recall = CheckedEstimate.of(
                    quantities.recall(rows, threshold, n_positive=n_positive), z
                )
        if has_f1:
            assert threshold is not None
            f1 = CheckedEstimate.of(quantities.f1(rows, threshold, n_positive=n_positive), z)
            if precision is not None and recall is not None:
                f1 = f1.moved_to(_harmonic_mean(precision.value, recall.value))
    return CheckedEstimates(
        prior=prior,
        prior_bounds=rows.prior_bounds,
        precision=precision,
        recall=recall,
        f1=f1,
        auc=auc,
        threshold=threshold,
        n_checked=rows.n_checked,
        n_positive=rows.n_positive,
        n_unlabeled=rows.n_unlabeled,
        confidence=confidence,
        notes=tuple(notes),
    )


def _harmonic_mean(a: float, b: float) -> float:
    return 2 * a * b / (a + b) if a + b > 0 else 0.0


def _checked_threshold(threshold: Any) -> float:
    if not check.is_real(threshold) or not 0 <= threshold <= 1:
        raise ValueError(
            "threshold must be a number between 0 and 1, such as threshold_ of a forest, got "
            f"{threshold!r}"
        )
    return float(threshold)


def _number_if_alike(rows: CheckedRows, prior: PriorEstimate) -> float | None:
    """Number of unlabeled positives; None, with a warning, if they differ from labeled ones."""
    n_positive = prior.unlabeled_prior * rows.n_unlabeled
    difference = quantities.difference_to_labeled(rows, n_positive)
    if abs(difference) <= SIGNIFICANT:
        return n_positive
    warn(
        f"Positives among the checked rows have {'larger' if difference > 0 else 'smaller'} scores "
        f"than labeled rows, by {abs(difference):.1f} standard errors: either the labeled rows are "
        "not a random sample of the positives, or the scores are not held out. Recall, F1 and AUC "
        "are estimated from the verdicts only."
    )
    return None
