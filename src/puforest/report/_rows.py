"""The PU data of a report and its held-out scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from puforest import _validation as check
from puforest._cross_fitting import Indices, cross_fitted_scores
from puforest._encoded import EncodedTable
from puforest._rows import take_rows
from puforest._sample import PUSample, pu_sample
from puforest._unwrap import fit_params
from puforest.model_selection import PUStratifiedKFold
from puforest.report._subject import Subject

Array = NDArray[np.float64]


@dataclass(frozen=True)
class LabeledRows:
    """PU data of a report; labels are recoded as 1 and 0.

    Attributes
    ----------
    X : EncodedTable
        The rows as the forest sees them.
    source : table
        The rows as given.
    sample : PUSample
        Their labels and weights.
    weight, propensity : ndarray or None
        Sample weights and propensities, as given.
    """

    X: EncodedTable
    source: Any
    sample: PUSample
    weight: Array | None
    propensity: Array | None

    @property
    def y(self) -> NDArray[np.intp]:
        return self.sample.labeled.astype(np.intp)

    def metadata(self, rows: Indices | None = None) -> dict[str, Any]:
        """Sample weights and propensities of some rows, or all, as keyword arguments."""
        values = {"sample_weight": self.weight, "propensity": self.propensity}
        kept = slice(None) if rows is None else rows
        return {name: value[kept] for name, value in values.items() if value is not None}


def labeled_rows(
    X: EncodedTable,
    source: Any,
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
        source,
        sample,
        None if sample_weight is None else check.weights(sample_weight, n),
        None if propensity is None else check.vector("propensity", propensity, n, finite=False),
    )


@dataclass(frozen=True)
class HeldOutScores:
    """Scores of rows from models that were not fitted to them.

    Attributes
    ----------
    scores : ndarray
        Scores between 0 and 1; positive above 0.5.
    parts : list of tuple
        Each model, and the indices of the rows it scored.
    table : table
        Rows that these models take: encoded ones for the model itself, else those given.
    by_model : bool
        Whether the model itself scored all rows, because they are new to it.
    """

    scores: Array
    parts: list[tuple[Any, Indices]]
    table: Any
    by_model: bool


def held_out_scores(
    subject: Subject,
    rows: LabeledRows,
    *,
    held_out: bool,
    cv: int,
    n_jobs: int | None,
    rng: np.random.RandomState,
) -> HeldOutScores:
    """Score rows with the model if they are new to it, otherwise by cross-fitting.

    Models of the same kind are fitted to all folds but one, with the prior of the model. Duplicate
    rows share a fold, so that no model scores a duplicate of a training row.
    """
    if held_out:
        scores = np.asarray(subject.model.predict_proba(rows.X)[:, 1])
        parts = [(subject.model, np.arange(len(rows.X)))]
        return HeldOutScores(scores, parts, rows.X, by_model=True)
    splitter = PUStratifiedKFold(cv, random_state=rng, group_duplicates=True)
    splits = list(splitter.split(rows.X, rows.y))
    models = []

    def fit(train: Indices) -> Any:
        model = subject.unfitted(n_jobs, rng)
        metadata = fit_params(model, rows.metadata(train))
        models.append(model.fit(take_rows(rows.source, train), rows.y[train], **metadata))
        return model

    scores = cross_fitted_scores(fit, rows.source, splits)
    parts = [(model, test) for model, (_, test) in zip(models, splits, strict=True)]
    return HeldOutScores(scores, parts, rows.source, by_model=False)
