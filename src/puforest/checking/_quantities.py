"""Class prior, precision, recall, F1 and AUC as equations for totals over the positives.

With d_i = 1 for rows predicted positive, D the number of them, and F_i the fraction of the
population with smaller scores (half of those with equal ones), sums over the positives yield

    prior      Σ y_i = v n
    precision  Σ y_i d_i = v D
    recall     Σ y_i d_i = v Σ y_i
    F1         2 Σ y_i d_i = v (Σ y_i + D)
    AUC        Σ y_i F_i = Σ y_i (v (1 - π) + π/2), as pairs of positives count one half each

The last one is linearized in the prior π. Labeled rows of a single training set are known terms.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.stats import norm

from puforest._prior_estimate import ESTIMATE, PriorEstimate
from puforest.checking._rows import CheckedRows
from puforest.checking._totals import CheckedTotals, Equation, Reference, Solution

Array = NDArray[np.float64]


def class_prior(rows: CheckedRows, z: float, confidence: float) -> PriorEstimate:
    """Estimate the class prior."""
    totals = _totals(rows, np.zeros(rows.n_unlabeled))
    known, n, n_u = len(rows.known_score), rows.n_population, rows.n_unlabeled

    def equation(v: Array) -> Equation:
        return Equation(np.ones(len(v)), 0.0, -v * n_u)

    found = Solution(totals, equation)
    value, low, high = found.value, found.low(z), found.high(z)
    upper = found.high(float(norm.ppf(confidence)))
    if rows.n_positive in (0, rows.n_checked) and (rows.probability < 1).any():
        value = _median(totals, equation, totals.y == totals.y[0]) or value
    # No forest can learn from a prior of exactly 0 or 1.
    least = 0.5 / n_u
    value = float(np.clip(value, least, 1 - least))

    def prior(unlabeled: float) -> float:
        return float(np.clip((known + n_u * unlabeled) / n, *rows.prior_bounds))

    return PriorEstimate(
        value=(known + n_u * value) / n,
        interval=(prior(min(low, value)), prior(max(high, value))),
        upper=prior(max(upper, value)),
        kind=ESTIMATE,
        reason=f"{rows.n_checked} rows that were selected with known probabilities were checked.",
        confidence=confidence,
        method="checks",
        scenario=rows.scenario,
        unlabeled_prior=value,
        label_frequency=len(rows.labeled_score) / (len(rows.labeled_score) + n_u * value),
        evidence={"n_checked": rows.n_checked, "n_positive": rows.n_positive},
    )


def _median(
    totals: CheckedTotals, equation: Callable[[Array], Equation], agreeing: NDArray[np.bool_]
) -> float | None:
    """Find the value at which verdicts that all agree would have a probability of one half.

    `agreeing` marks them among the checked rows. None if there is no such value.
    """
    y, bins = totals.y[agreeing], totals.bin[agreeing]

    def excess(v: float) -> float:
        p = np.clip(totals.tilted(equation(np.array([v])))[0, bins], 1e-12, 1 - 1e-12)
        return float(np.log(np.where(y == 1, p, 1 - p)).sum() - np.log(0.5))

    ends = (1e-9, 1 - 1e-9)
    if excess(ends[0]) * excess(ends[1]) > 0:
        return None
    return float(brentq(excess, *ends))


def precision(rows: CheckedRows, threshold: float) -> Solution:
    """Estimate the precision."""
    totals = _totals(rows, rows.score > threshold)
    known = np.count_nonzero(rows.known_score > threshold)
    n = np.count_nonzero(rows.score > threshold) + known

    def equation(v: Array) -> Equation:
        return Equation(0 * v, 1.0, known - v * n)

    return Solution(totals, equation)


def recall(rows: CheckedRows, threshold: float, *, n_positive: float | None = None) -> Solution:
    """Estimate the recall, using that of labeled rows if the number of positives is given.

    That no checked row is a missed positive does not show that there are none: the recall is then
    the value for which this happens half of the time.
    """
    n, known = len(rows.known_score), np.count_nonzero(rows.known_score > threshold)

    def equation(v: Array) -> Equation:
        return Equation(-v, 1.0, known - v * n)

    totals = _totals(rows, rows.score > threshold)
    found = Solution(totals, equation, _recall_of_labeled(rows, threshold, n_positive))
    rejected = totals.g == 0
    if found.value == 1 and (totals.y[rejected] == 0).all() and (totals.e[rejected] < 1).any():
        found.value = _median(totals, equation, rejected) or found.value
    return found


def f1(rows: CheckedRows, threshold: float, *, n_positive: float | None = None) -> Solution:
    """Estimate F1, using the recall of labeled rows if the number of positives is given."""
    known = np.count_nonzero(rows.known_score > threshold)
    n = len(rows.known_score) + np.count_nonzero(rows.score > threshold) + known

    def equation(v: Array) -> Equation:
        return Equation(-v, 2.0, 2 * known - v * n)

    reference = _recall_of_labeled(rows, threshold, n_positive)
    return Solution(_totals(rows, rows.score > threshold), equation, reference)


def auc(rows: CheckedRows, prior: float, *, n_positive: float | None = None) -> Solution:
    """Estimate the AUC, using ranks of labeled rows if the number of positives is given."""
    g = _fraction_below(rows, rows.score)
    n, known = rows.n_population, _fraction_below(rows, rows.known_score)

    def equation(v: Array) -> Equation:
        # Σ yF - v Σ y - (1/2 - v) (Σ y)²/n, with (Σ y)² linearized at the prior
        constant = -v - (1 - 2 * v) * prior
        offset = known.sum() + constant * len(known) + (0.5 - v) * n * prior**2
        return Equation(constant, 1.0, offset)

    return Solution(_totals(rows, g), equation, _rank_of_labeled(rows, n_positive))


def difference_to_labeled(rows: CheckedRows, n_positive: float) -> float:
    """Mean rank of the positives among unlabeled rows minus that of labeled rows.

    The result is in standard errors.
    """
    reference = _rank_of_labeled(rows, n_positive)
    assert reference is not None
    totals = _totals(rows, _fraction_below(rows, rows.score))
    p = totals.tilted(Equation(np.ones(1), 0.0, np.array([-n_positive])))
    (difference,), (noise,) = totals.compared(p, reference)
    at = reference.equation()
    noise += totals.dispersion(p, at) * totals.covariance(p, at, at)[0]
    return float(difference / np.sqrt(noise)) if noise > 0 else 0.0


def _totals(rows: CheckedRows, g: NDArray[np.generic]) -> CheckedTotals:
    return CheckedTotals(rows.verdict, rows.probability, rows.score, g.astype(np.float64))


def _fraction_below(rows: CheckedRows, score: Array) -> Array:
    """Fraction of the population with smaller scores, and half of that with equal ones."""
    population = np.sort(np.concatenate([rows.score, rows.known_score]))
    left, right = (np.searchsorted(population, score, side) for side in ("left", "right"))
    fraction: Array = (left + right) / (2 * len(population))
    return fraction


def _rank_of_labeled(rows: CheckedRows, n_positive: float | None) -> Reference | None:
    if n_positive is None:
        return None
    g = _fraction_below(rows, rows.labeled_score)
    return Reference(float(g.mean()), float(g.var(ddof=1)), len(g), n_positive)


def _recall_of_labeled(
    rows: CheckedRows, threshold: float, n_positive: float | None
) -> Reference | None:
    """Recall of labeled rows, with the variance after adding two found and two missed ones."""
    if n_positive is None:
        return None
    n, k = len(rows.labeled_score), np.count_nonzero(rows.labeled_score > threshold)
    center = (k + 2) / (n + 4)
    return Reference(k / n, center * (1 - center), n, n_positive)
