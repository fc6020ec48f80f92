"""Selection of the rows to check."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from puforest import _validation as check
from puforest._checks import verdicts
from puforest._masses import ROUNDING
from puforest._threshold import threshold_of
from puforest.checking._design import DESIGNS, CheckDesign, spread
from puforest.checking._rows import labeled_rows

Array = NDArray[np.float64]

# Least standard deviation that the design "score" assumes for the class of a row, relative to the
# mean over all rows: no check represents more than about 2.5 times as many rows as the mean. With
# half of it, intervals missed more often on data sets with rare errors (83 to 89% coverage).
FLOOR = 0.4
# Expected number of checks among the rows with similar scores that are shuffled
PER_BLOCK = 2


@dataclass(frozen=True, eq=False)
class Checks:
    """Rows to check by hand, and the probability with which each was selected.

    Attributes
    ----------
    rows : ndarray of int
        Indices of the selected rows. In random order, so that the first few are also a sample if
        the checker stops early; for the design "top", by descending score.
    probability : ndarray
        Probability of each selected row to be selected.
    score : ndarray
        Predicted probability of each selected row.
    design : CheckDesign
        Design, from which the probability of any row can be computed.
    check_probability : ndarray of shape (n_samples,)
        Probability of each row of `X` to be selected; for labeled rows, that of an unlabeled row
        with the same score.
    predicted : ndarray of shape (n_samples,)
        Predicted probability of each row of `X`.
    """

    rows: NDArray[np.intp]
    probability: Array
    score: Array
    design: CheckDesign
    check_probability: Array = field(repr=False)
    predicted: Array = field(repr=False)

    def __len__(self) -> int:
        return len(self.rows)

    def verdicts(self, answers: Any) -> tuple[Array, Array]:
        """Arrange the answers for the selected rows by row of `X`.

        Parameters
        ----------
        answers : array-like
            Answer for each of `rows`: 1 (or True) for positives, 0 (or False) for negatives, NaN or
            None if the row was not looked at.

        Returns
        -------
        checked : ndarray of shape (n_samples,)
            Verdict for each row of `X`, nan for rows that were not checked.
        check_probability : ndarray of shape (n_samples,)
            Probability of each row to have a verdict: `check_probability`, times the fraction of
            the selected rows that have an answer. Rows of the design "top" after the last one with
            an answer count as not selected.
        """
        given = verdicts(answers, len(self.rows))
        checked = np.full(len(self.check_probability), np.nan)
        checked[self.rows] = given
        answered = np.flatnonzero(np.isfinite(given))
        design = self.design
        if design.name == "top" and len(answered):
            design = self._first(int(answered[-1]) + 1)
        return checked, design.probability(self.predicted, len(answered))

    def _first(self, n: int) -> CheckDesign:
        """Return the design "top" that selects only the first `n` of the rows."""
        cut, parameters = float(self.score[n - 1]), self.design.parameters
        above, equal = np.count_nonzero(self.score > cut), np.count_nonzero(self.score == cut)
        # Of the rows at the old cut, only some were selected.
        tie = parameters["tie"] if cut == parameters["cut"] else 1.0
        return CheckDesign("top", n, {"cut": cut, "tie": tie * (n - above) / equal})


def select_checks(
    model: Any,
    X: check.MatrixLike | None,
    n: int,
    *,
    y: Any = None,
    design: str = "score",
    random_state: int | np.random.RandomState | None = None,
) -> Checks:
    """Select rows to check by hand.

    Exactly `n` different rows are selected, each with a known probability, so that
    `estimate_from_checks` can generalize from them to all rows.

    Parameters
    ----------
    model : estimator
        Fitted classifier with ``predict_proba``. Its probabilities should be calibrated, like those
        of `PUForestClassifier` and `PUCalibratedClassifier`; otherwise more checks are needed for
        the same accuracy.
    X : array-like of shape (n_samples, n_features) or None
        Rows to select from. None for the training rows of `model`, with out-of-bag predictions.
    n : int
        Number of rows to select.
    y : array-like of shape (n_samples,), optional
        Labels: two values, the larger for labeled rows, which are not selected. By default, all
        rows are unlabeled.
    design : {"score", "random", "top"}, default="score"
        "score" selects rows with a probability proportional to the standard deviation of their
        class, ``sqrt(p * (1 - p))``, where p is the predicted probability, but no row with a
        probability of zero; it yields the shortest intervals. "random" selects all rows with the
        same probability. "top" selects the rows with the largest predicted probability: it finds
        the most positives, but tells nothing about the other rows, and so does not yield the prior.
    random_state : int, RandomState instance or None, default=None
        Seed of the selection.

    Returns
    -------
    Checks

    Examples
    --------
    >>> from puforest import PUForestClassifier
    >>> from puforest.checking import estimate_from_checks, select_checks
    >>> from puforest.datasets import load_mushrooms, make_pu
    >>> X, truth = load_mushrooms(return_X_y=True)
    >>> scenario = "single-training-set"
    >>> _, y = make_pu(X, truth, n_labeled=500, scenario=scenario, random_state=0)
    >>> forest = PUForestClassifier(0.4, scenario=scenario, candidates="fast", random_state=0)
    >>> checks = select_checks(forest.fit(X, y), None, 50, y=y, random_state=0)
    >>> checked, probability = checks.verdicts(truth[checks.rows])  # by an expert, in practice
    >>> found = estimate_from_checks(
    ...     checked, probability, y=y, score=checks.predicted, scenario=scenario
    ... )
    >>> low, high = found.prior.interval
    >>> bool(low < truth.mean() < high)
    True
    """
    check.one_of("design", design, DESIGNS)
    n = check.integer("n", n, 1)
    score = _predicted(model, X)
    return checks_by_score(score, n, labeled_rows(y, len(score)), design, random_state)


def checks_by_score(
    score: Array,
    n: int,
    excluded: NDArray[np.bool_],
    design: str,
    random_state: int | np.random.RandomState | None,
) -> Checks:
    """Select rows by their predicted probabilities, other than the excluded ones."""
    rng = check.random_state(random_state)
    candidates = np.flatnonzero(~excluded)
    if n > len(candidates):
        raise ValueError(f"n={n} is more than the {len(candidates)} unlabeled rows")
    found = _design(design, n, score[candidates])
    probability = found.probability(score)
    if design == "top":
        rows = _top_rows(score, candidates, n, rng)
    else:
        drawn = _draw(probability[candidates], score[candidates], n, rng)
        rows = rng.permutation(candidates[drawn])
    return Checks(rows, probability[rows], score[rows], found, probability, score)


def _predicted(model: Any, X: check.MatrixLike | None) -> Array:
    if X is not None:
        score = np.asarray(model.predict_proba(X), dtype=np.float64)[:, 1]
    else:
        if not hasattr(model, "oob_decision_function_"):
            raise ValueError(
                "X=None selects from the training rows by their out-of-bag predictions, which "
                f"{type(model).__name__} does not have: pass X"
            )
        decision = np.asarray(model.oob_decision_function_, dtype=np.float64)
        score = threshold_of(model) + decision / 2
    missing = np.flatnonzero(~np.isfinite(score))
    if len(missing):
        raise ValueError(
            f"{len(missing)} rows have no prediction, the first is row {missing[0]}: remove rows "
            "of weight 0, or grow more trees"
        )
    clipped: Array = np.clip(score, 0, 1)
    return clipped


def _design(name: str, n: int, score: Array) -> CheckDesign:
    """Choose the parameters of a design that selects `n` of the rows with the given scores."""
    if name == "random":
        return CheckDesign(name, n, {"rate": n / len(score)})
    if name == "top":
        cut = np.sort(score)[len(score) - n]
        above, equal = np.count_nonzero(score > cut), np.count_nonzero(score == cut)
        return CheckDesign(name, n, {"cut": float(cut), "tie": (n - above) / equal})
    # If all rows are certain, they differ in nothing, and their probabilities are equal.
    size = spread(score)
    floor = float(FLOOR * size.mean()) or 1.0
    return CheckDesign(name, n, {"scale": _scale(np.maximum(size, floor), n), "floor": floor})


def _scale(size: Array, n: int) -> float:
    """Find the scale for which ``min(1, scale * size)`` sums to `n`."""
    size = np.sort(size)[::-1]
    if n == len(size):
        return float(1 / size[-1])
    # With the k largest certain to be selected, the others share what is left.
    rest = np.cumsum(size[::-1])[::-1][:n]
    scale = (n - np.arange(n)) / rest
    return float(scale[np.argmax(scale * size[:n] <= 1)])


def _draw(probability: Array, score: Array, n: int, rng: np.random.RandomState) -> NDArray[np.intp]:
    """Draw `n` rows with the given probabilities, which sum to `n`.

    Rows with equal probabilities are a simple random sample. Otherwise, the sample is systematic:
    rows are lined up by score, so that rows of all scores are drawn, and shuffled among those with
    similar scores, so that the order has no pattern.
    """
    if np.ptp(probability) == 0:
        return rng.choice(len(probability), n, replace=False)
    certain = probability > 1 - ROUNDING
    rest = np.flatnonzero(~certain)
    m = n - np.count_nonzero(certain)
    rest = rest[np.lexsort((rng.uniform(size=len(rest)), score[rest]))]
    block = np.cumsum(probability[rest]) // PER_BLOCK
    rest = rest[np.lexsort((rng.uniform(size=len(rest)), block))]
    total = np.cumsum(probability[rest])
    points = (np.arange(m) + rng.uniform()) * total[-1] / m if m else np.empty(0)
    drawn = rest[np.searchsorted(total, points, side="right")]
    return np.concatenate([np.flatnonzero(certain), drawn])


def _top_rows(
    score: Array, candidates: NDArray[np.intp], n: int, rng: np.random.RandomState
) -> NDArray[np.intp]:
    shuffled = rng.permutation(candidates)
    return shuffled[np.argsort(-score[shuffled], kind="stable")][:n]
