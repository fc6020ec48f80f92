"""The rows that a report judges a model by, and honest scores of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from puforest import _validation as check
from puforest._sample import PUSample, pu_sample
from puforest.model_selection import PUStratifiedKFold
from puforest.report._subject import Subject

Array = NDArray[np.float64]


@dataclass(frozen=True)
class LabeledRows:
    """PU data of a report; all labels are 1 and 0, whatever they were.

    Attributes
    ----------
    X : ndarray
        The rows.
    sample : PUSample
        What they weigh as positives and as the population.
    weight, propensity : ndarray or None
        As given.
    """

    X: NDArray[Any]
    sample: PUSample
    weight: Array | None
    propensity: Array | None

    @property
    def y(self) -> NDArray[np.intp]:
        return self.sample.labeled.astype(np.intp)

    def of(self, rows: NDArray[np.intp]) -> dict[str, Any]:
        """Weights and propensities of some rows, as arguments."""
        values = {"sample_weight": self.weight, "propensity": self.propensity}
        return {name: value[rows] for name, value in values.items() if value is not None}

    @property
    def arguments(self) -> dict[str, Any]:
        return self.of(np.arange(len(self.sample)))


def labeled_rows(
    X: NDArray[Any],
    y: ArrayLike,
    *,
    scenario: str,
    sample_weight: ArrayLike | None,
    propensity: ArrayLike | None,
) -> LabeledRows:
    sample = pu_sample(y, scenario=scenario, sample_weight=sample_weight, propensity=propensity)
    n = len(sample)
    if n != len(X):
        raise ValueError(f"y has {n} rows, but X has {len(X)}")
    return LabeledRows(
        X,
        sample,
        None if sample_weight is None else check.weights(sample_weight, n),
        None if propensity is None else check.vector("propensity", propensity, n, finite=False),
    )


@dataclass(frozen=True)
class Scored:
    """Scores of rows by models that have not seen them.

    Attributes
    ----------
    scores : ndarray
        Between 0 and 1; above a half is called positive.
    parts : list of tuple
        The models, and the rows that each has judged.
    held_out : bool
        Whether one model has judged all rows, as they are new to it.
    """

    scores: Array
    parts: list[tuple[Any, NDArray[np.intp]]]
    held_out: bool


def judge(
    subject: Subject,
    rows: LabeledRows,
    *,
    held_out: bool,
    cv: int,
    n_jobs: int | None,
    rng: np.random.RandomState,
) -> Scored:
    """Scores by the model itself if rows are new to it, else by models of the same kind.

    Each of these is fitted to all folds but one, for the prior of the model, and judges that one.
    Equal rows share a fold: else one would be learned from while the other is judged.
    """
    if held_out:
        everything = np.arange(len(rows.X))
        return Scored(_score(subject.model, rows.X), [(subject.model, everything)], True)
    scores = np.empty(len(rows.X))
    parts = []
    splitter = PUStratifiedKFold(cv, random_state=rng, group_copies=True)
    for train, test in splitter.split(rows.X, rows.y):
        part = subject.unfitted(n_jobs, rng).fit(rows.X[train], rows.y[train], **rows.of(train))
        scores[test] = _score(part, rows.X[test])
        parts.append((part, test))
    return Scored(scores, parts, False)


def _score(model: Any, X: NDArray[Any]) -> Array:
    return np.asarray(model.predict_proba(X)[:, 1])
