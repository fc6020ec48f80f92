"""Checked rows, other unlabeled rows, and labeled rows, as a population."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from puforest import _validation as check
from puforest._checks import consistent_verdicts, probability_vector

Array = NDArray[np.float64]


@dataclass(frozen=True)
class CheckedRows:
    """Unlabeled rows of which some are checked, and labeled rows.

    Attributes
    ----------
    verdict, probability, score : ndarray of shape (n_unlabeled,)
        Verdict (nan for rows that were not checked), probability to be checked and predicted
        probability of the unlabeled rows.
    labeled_score : ndarray of shape (n_labeled,)
        Predicted probabilities of the labeled rows.
    scenario : str
        Sampling scenario: labeled rows of a single training set are part of the population.
    """

    verdict: Array
    probability: Array
    score: Array
    labeled_score: Array
    scenario: str

    @property
    def n_unlabeled(self) -> int:
        return len(self.verdict)

    @property
    def n_checked(self) -> int:
        return int(np.isfinite(self.verdict).sum())

    @property
    def n_positive(self) -> int:
        """Number of positive verdicts."""
        return int((self.verdict == 1).sum())

    @property
    def known_score(self) -> Array:
        """Predicted probabilities of the known positives in the population."""
        in_population = self.scenario == "single-training-set"
        return self.labeled_score if in_population else np.empty(0)

    @property
    def n_population(self) -> int:
        return self.n_unlabeled + len(self.known_score)

    @property
    def prior_bounds(self) -> tuple[float, float]:
        """Smallest and largest fraction of positives in the population that are possible."""
        n, negative = self.n_population, self.n_checked - self.n_positive
        known = len(self.known_score) + self.n_positive
        return known / n, (n - negative) / n


def checked_rows(
    checked: Any,
    check_probability: ArrayLike | None,
    *,
    y: Any,
    score: ArrayLike | None,
    scenario: str,
) -> CheckedRows:
    """Validate verdicts, probabilities, labels and scores of all rows."""
    n = len(checked)
    labeled = labeled_rows(y, n)
    verdict = consistent_verdicts(checked, labeled)
    rows = np.flatnonzero(~labeled)
    given = rows[np.isfinite(verdict[rows])]
    if not len(given):
        raise ValueError("checked has no verdict on an unlabeled row")
    if check_probability is None:
        check_probability = len(given) / len(rows)
    e = probability_vector(check_probability, n)
    _require("check_probability", e, rows)
    impossible = given[e[given] == 0]
    if len(impossible):
        raise ValueError(
            f"check_probability is 0 for row {impossible[0]}, which was checked: pass the "
            "probability with which each row was selected"
        )
    # Without scores, all rows are equally likely to be positive.
    scores = np.full(n, 0.5) if score is None else check.vector("score", score, n, finite=True)
    _require("score", scores, np.arange(n))
    return CheckedRows(verdict[rows], e[rows], scores[rows], scores[labeled], scenario)


def _require(name: str, values: Array, rows: NDArray[np.intp]) -> None:
    wrong = rows[~((values[rows] >= 0) & (values[rows] <= 1))]
    if len(wrong):
        raise ValueError(f"{name} must be from 0 to 1, got {values[wrong[0]]:g} in row {wrong[0]}")


def labeled_rows(y: Any, n: int) -> NDArray[np.bool_]:
    """Return a mask of the labeled rows; none without `y`."""
    if y is None:
        return np.zeros(n, dtype=bool)
    _, labeled = check.labels(check.label_vector(y), "labeled", "unlabeled")
    if len(labeled) != n:
        raise ValueError(f"y has {len(labeled)} labels, but there are {n} rows")
    return labeled
