"""The rows that a report judges a model by, and honest scores of them."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from puforest import _validation as check
from puforest._base import PUClassifier
from puforest._sample import PUSample, pu_sample
from puforest.model_selection import PUStratifiedKFold

Array = NDArray[np.float64]


@dataclass(frozen=True)
class LabelledRows:
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
        return self.sample.labelled.astype(np.intp)

    def of(self, rows: NDArray[np.intp]) -> dict[str, Any]:
        """Weights and propensities of some rows, as arguments."""
        values = {"sample_weight": self.weight, "propensity": self.propensity}
        return {name: value[rows] for name, value in values.items() if value is not None}

    @property
    def arguments(self) -> dict[str, Any]:
        return self.of(np.arange(len(self.sample)))


def labelled_rows(
    X: NDArray[Any],
    y: ArrayLike,
    *,
    scenario: str,
    sample_weight: ArrayLike | None,
    propensity: ArrayLike | None,
) -> LabelledRows:
    sample = pu_sample(y, scenario=scenario, sample_weight=sample_weight, propensity=propensity)
    n = len(sample)
    if n != len(X):
        raise ValueError(f"y has {n} rows, but X has {len(X)}")
    return LabelledRows(
        X,
        sample,
        None if sample_weight is None else check.weights(sample_weight, n),
        None if propensity is None else check.vector("propensity", propensity, n, finite=False),
    )


@dataclass(frozen=True)
class Judged:
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
    parts: list[tuple[PUClassifier, NDArray[np.intp]]]
    held_out: bool


def without_names(model: PUClassifier) -> PUClassifier:
    """A view of the model that takes arrays where it was fitted to a table."""
    plain = copy.copy(model)
    plain.__dict__.pop("feature_names_in_", None)
    return plain


def judge(
    model: PUClassifier,
    rows: LabelledRows,
    *,
    held_out: bool,
    cv: int,
    n_jobs: int | None,
    rng: np.random.RandomState,
) -> Judged:
    """Scores by the model itself if rows are new to it, else by models of the same kind.

    Each of these is fitted to all folds but one, for the prior of the model, and judges that one.
    Equal rows share a fold: else one would be learnt from while the other is judged.
    """
    if held_out:
        return Judged(model.predict_proba(rows.X)[:, 1], [(model, np.arange(len(rows.X)))], True)
    scores = np.empty(len(rows.X))
    parts = []
    splitter = PUStratifiedKFold(cv, random_state=rng, group_copies=True)
    for train, test in splitter.split(rows.X, rows.y):
        part = _unfitted(model, n_jobs, rng).fit(rows.X[train], rows.y[train], **rows.of(train))
        scores[test] = part.predict_proba(rows.X[test])[:, 1]
        parts.append((part, test))
    return Judged(scores, parts, False)


def _unfitted(model: PUClassifier, n_jobs: int | None, rng: np.random.RandomState) -> PUClassifier:
    known = model.get_params(deep=False)
    quiet: dict[str, Any] = {"oob_score": False, "warm_start": False, "verbose": 0}
    if n_jobs is not None:
        quiet["n_jobs"] = n_jobs
    new: PUClassifier = clone(model)
    new.set_params(
        prior=model.prior_,
        random_state=rng.randint(np.iinfo(np.int32).max),
        **{name: value for name, value in quiet.items() if name in known},
    )
    return new
