"""The PU data of a report and its held-out scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from puforest import _validation as check
from puforest._checks import read_checks, verdicts
from puforest._cross_fitting import Indices, cross_fitted_scores
from puforest._encoded import EncodedTable
from puforest._row_digest import digest_of_table
from puforest._rows import take_rows
from puforest._sample import PUSample, pu_sample
from puforest._unwrap import fit_params
from puforest.model_selection import PUStratifiedKFold
from puforest.report._subject import Subject

Array = NDArray[np.float64]

# Scores and fractions of rows that differ by less than this are equal.
ROUNDING = 1e-9


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
    checked, check_probability : ndarray or None
        Verdicts on rows that were checked, and the probability of checking each row.
    """

    X: EncodedTable
    source: Any
    sample: PUSample
    weight: Array | None
    propensity: Array | None
    checked: Array | None = None
    check_probability: Array | None = None

    @property
    def y(self) -> NDArray[np.intp]:
        return self.sample.labeled.astype(np.intp)

    def training_sample(self, prior: float) -> PUSample:
        """Sample with the weights that rows have in a fit, which uses checked rows."""
        return pu_sample(self.y, scenario=self.sample.scenario, **self.fit_metadata()).at(prior)

    def metadata(self, rows: Indices | None = None) -> dict[str, Any]:
        """Sample weights and propensities of some rows, or all, as keyword arguments."""
        return _at(rows, sample_weight=self.weight, propensity=self.propensity)

    def fit_metadata(self, rows: Indices | None = None) -> dict[str, Any]:
        """Arguments of ``fit`` for some rows, or all: metadata, verdicts and their probability."""
        verdicts = _at(rows, checked=self.checked, check_probability=self.check_probability)
        return self.metadata(rows) | verdicts

    def subsample(
        self, rows: Indices, most: int, rng: np.random.RandomState
    ) -> tuple[Indices, dict[str, Any]]:
        """Draw labeled and unlabeled rows, with metadata that makes them represent all."""
        labeled = self.sample.labeled[rows]
        groups = [rows[labeled], rows[~labeled]]
        if max(len(group) for group in groups) <= most:
            return rows, self.metadata(rows)
        kept = [rng.choice(g, most, replace=False) if len(g) > most else g for g in groups]
        factors = [len(g) / len(k) for g, k in zip(groups, kept, strict=True)]
        chosen = np.concatenate(kept)
        metadata = self.metadata(chosen)
        factor = np.repeat(factors, [len(k) for k in kept])
        return chosen, metadata | {"sample_weight": factor * metadata.get("sample_weight", 1.0)}


def _at(rows: Indices | None, **values: Array | None) -> dict[str, Any]:
    """Values of some rows, or all, of those that are given."""
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
    checked: Any = None,
    check_probability: Any = None,
) -> LabeledRows:
    sample = pu_sample(y, scenario=scenario, sample_weight=sample_weight, propensity=propensity)
    n = len(sample)
    if n != len(X):
        raise ValueError(f"y has {n} rows, but X has {len(X)}")
    weight = None if sample_weight is None else check.weights(sample_weight, n)
    verdict = probability = None
    ones = np.ones(n) if weight is None else weight
    if read_checks(checked, check_probability, sample.labeled, ones) is not None:
        verdict = verdicts(checked, n)
        probability = _probability(check_probability, verdict, sample.labeled)
    return LabeledRows(
        X,
        source,
        sample,
        weight,
        None if propensity is None else check.vector("propensity", propensity, n, finite=False),
        verdict,
        probability,
    )


def _probability(given: Any, verdict: Array, labeled: NDArray[np.bool_]) -> Array:
    """Return the probability of checking each row; by default, that of a random sample."""
    if given is None:
        given = np.mean(np.isfinite(verdict[~labeled]))
    return np.broadcast_to(np.asarray(given, dtype=float), verdict.shape)


@dataclass(frozen=True)
class HeldOutScores:
    """Scores of rows from models or trees that were not fitted to them.

    Attributes
    ----------
    scores : ndarray
        Scores between 0 and 1.
    parts : list of tuple
        Each model, and the indices of the rows it scored.
    table : table
        Rows that these models take: encoded ones for the model itself, else those given.
    source : {"model", "out-of-bag", "folds"}
        Origin of the scores: the model itself, because the rows are new to it; its trees that were
        grown without the row; or models fitted to the other folds.
    """

    scores: Array
    parts: list[tuple[Any, Indices]]
    table: Any
    source: str


def held_out_scores(
    subject: Subject,
    rows: LabeledRows,
    *,
    held_out: bool,
    cv: int,
    n_jobs: int | None,
    rng: np.random.RandomState,
) -> HeldOutScores:
    """Score rows with the model if they are new to it, otherwise out of bag or by cross-fitting.

    For cross-fitting, models of the same kind are fitted to all folds but one, with the prior of
    the model. Duplicate rows share a fold, so that no model scores a duplicate of a training row.
    """
    if held_out:
        scores = np.asarray(subject.model.predict_proba(rows.X)[:, 1])
        parts = [(subject.model, np.arange(len(rows.X)))]
        return HeldOutScores(scores, parts, rows.X, "model")
    out_of_bag = out_of_bag_scores(subject, rows)
    if out_of_bag is not None:
        parts = [(subject.model, np.arange(len(rows.X)))]
        return HeldOutScores(out_of_bag, parts, rows.X, "out-of-bag")
    splitter = PUStratifiedKFold(cv, random_state=rng, group_duplicates=True)
    splits = list(splitter.split(rows.X, rows.y))
    models = []

    def fit(train: Indices) -> Any:
        model = subject.unfitted(n_jobs, rng)
        metadata = fit_params(model, rows.fit_metadata(train))
        models.append(model.fit(take_rows(rows.source, train), rows.y[train], **metadata))
        return model

    scores = cross_fitted_scores(fit, rows.source, splits)
    parts = [(model, test) for model, (_, test) in zip(models, splits, strict=True)]
    return HeldOutScores(scores, parts, rows.source, "folds")


def out_of_bag_scores(subject: Subject, rows: LabeledRows) -> Array | None:
    """Return the out-of-bag scores of a `PUForestClassifier` if these are the rows of its fit.

    They are recognized by their digest; without one, by the distribution of the scores in both
    groups of rows. Scores of other forests are not used: duplicates distort them. Nor are those of
    pipelines, whose transformers have seen all rows.
    """
    forest, record = subject.forest, subject.forest._record
    curve, evaluated = record.curve, record.out_of_bag
    wrapped = subject.calibrated or subject.parts.transformers
    if wrapped or record.comparison is None or curve is None or evaluated is None:
        return None
    scores = np.nan_to_num((evaluated.decision_function + 1) / 2)  # nan: rows of weight zero
    if len(scores) != len(rows.X):
        return None
    if record.digest is not None:
        labeled = rows.sample.labeled & (True if rows.weight is None else rows.weight > 0)
        is_same = record.digest == digest_of_table(rows.X, labeled)
        return forest._calibrated(scores) if is_same else None
    sample = rows.training_sample(subject.prior)
    place = np.minimum(np.searchsorted(curve.score, scores), len(curve) - 1)
    for weight, expected in (
        (sample.positive, curve.positive),
        (sample.population, curve.population),
    ):
        found = np.bincount(place, weights=weight / weight.sum(), minlength=len(curve))
        if np.abs(found - expected).max() > ROUNDING:
            return None
    return forest._calibrated(scores)
