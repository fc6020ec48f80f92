"""Tasks that the workers run: pure functions of partitions and of the results of other tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from puforest import _core
from puforest import _validation as check
from puforest._candidates import TrainingSet, evaluated_rows, held_out_scores
from puforest._duplicate_rows import row_contents
from puforest._encoded import EncodedTable
from puforest._fold_table import FoldTable
from puforest._masses import GroupMasses
from puforest._model import Forest
from puforest._needed_rows import NeededRows
from puforest._training import encode, grow, set_masses, train_params
from puforest._training_rows import Totals, TrainingRows
from puforest.dask._reading import Reader
from puforest.pu_forest import folds_of_evaluated
from puforest.recipes import Recipe

Array = NDArray[np.float64]


# Second pass: rows that the fit needs


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of the training data, in ascending order of their numbers.

    Attributes
    ----------
    values : ndarray of shape (n_rows, n_features)
        Encoded features.
    ids : ndarray of uint64
        Numbers of the rows in the whole data.
    weight : ndarray
        Sample weights.
    propensity : ndarray or None
        Propensities, if these rows are labeled.
    contents : ndarray of uint64 or None
        Hashes of the rows, once they are joined.
    """

    values: NDArray[Any]
    ids: NDArray[np.uint64]
    weight: Array
    propensity: Array | None = None
    contents: NDArray[np.uint64] | None = None

    def __len__(self) -> int:
        return len(self.ids)

    def __sizeof__(self) -> int:
        """Return the size in bytes, for Dask's memory management."""
        return int(self.values.nbytes + 32 * len(self.ids))

    def at(self, positions: NDArray[np.intp]) -> Rows:
        """Return some of the rows."""
        e = self.propensity
        return Rows(
            self.values[positions],
            self.ids[positions],
            self.weight[positions],
            None if e is None else e[positions],
        )


@dataclass(frozen=True, eq=False)
class NeededPart:
    """Rows of a partition that a fit needs: labeled, evaluated, and those of groups of samples."""

    dtype: np.dtype[Any]
    labeled: Rows
    evaluated: Rows
    samples: list[Rows]

    def __sizeof__(self) -> int:
        """Return the size in bytes, for Dask's memory management."""
        return sum(part.__sizeof__() for part in (self.labeled, self.evaluated, *self.samples))


@dataclass(frozen=True, eq=False)
class NeededReader(Reader):
    """Reads the rows of partitions that a fit needs.

    Attributes
    ----------
    needed : NeededRows
        Samples of rows that are needed.
    groups : list of range
        Numbers of the samples of each group.
    """

    needed: NeededRows
    groups: list[range]

    def read(self, X: Any, others: Mapping[str, Any], first_id: int, n_rows: int) -> NeededPart:
        """Read a partition, whose first row has this number."""
        opened = self.opened(X, others, n_rows)
        if n_rows == 0:
            empty = Rows(self.encoded(opened, np.empty(0, np.intp)).values, *_no_rows())
            return NeededPart(empty.values.dtype, empty, empty, [empty] * len(self.groups))
        given, labeled, weight = opened.given, opened.labeled, opened.weight
        seen = weight > 0
        marks = [self.needed.part(group).mark(first_id, n_rows) for group in self.groups]
        evaluated = np.zeros(n_rows, dtype=bool)
        if self.needed.evaluated > 0:
            evaluated = self.needed.only_evaluated().mark(first_id, n_rows)
        used = np.flatnonzero(seen & np.logical_or.reduce([labeled, evaluated, *marks]))
        table = self.encoded(opened, used)
        propensity = None
        if given.get("propensity") is not None:
            in_use = np.flatnonzero(labeled & seen)
            propensity = np.ones(n_rows)
            propensity[in_use] = check.propensities(given["propensity"], n_rows, in_use)
        rows = Rows(
            np.asarray(table.values),
            used.astype(np.uint64) + np.uint64(first_id),
            weight[used],
            None if propensity is None else propensity[used],
        )
        is_labeled = labeled[used]

        def unlabeled(mark: NDArray[np.bool_]) -> Rows:
            found = rows.at(np.flatnonzero(mark[used] & ~is_labeled))
            return replace(found, propensity=None)

        return NeededPart(
            rows.values.dtype,
            rows.at(np.flatnonzero(is_labeled)),
            unlabeled(evaluated),
            [unlabeled(mark) for mark in marks],
        )


def _no_rows() -> tuple[NDArray[np.uint64], Array]:
    return np.empty(0, np.uint64), np.empty(0)


def piece(part: NeededPart, name: str, number: int = 0) -> Any:
    """Return one of the tables of a partition, or the type of its numbers."""
    return part.samples[number] if name == "samples" else getattr(part, name)


def joined(parts: Sequence[Rows], dtype: np.dtype[Any]) -> Rows:
    """Join rows of consecutive partitions."""
    values = np.concatenate([part.values.astype(dtype, copy=False) for part in parts])
    e = [part.propensity for part in parts if part.propensity is not None]
    return Rows(
        values,
        np.concatenate([part.ids for part in parts]),
        np.concatenate([part.weight for part in parts]),
        np.concatenate(e) if e else None,
        row_contents(EncodedTable(values)) if len(values) else np.empty(0, np.uint64),
    )


def without_values(rows: Rows) -> Rows:
    """Return rows without their features."""
    return replace(rows, values=np.empty((len(rows), 0), np.float32))


# Rows to evaluate


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Rows on which candidates are evaluated, and the folds of all rows.

    Attributes
    ----------
    rows : TrainingRows
        The evaluated rows. Their ``order`` is that of the labeled rows and then of all chunks of
        rows that may be evaluated.
    compared : ndarray of int
        Positions of those on which candidates are compared.
    folds : FoldTable
        Folds of these and all other rows.
    """

    rows: TrainingRows
    compared: NDArray[np.intp]
    folds: FoldTable


def evaluation(
    labeled: Rows,
    chunks: Sequence[Rows],
    classes: NDArray[Any],
    totals: Totals,
    needed: NeededRows,
    n_candidates: int,
    n_folds: int,
) -> Evaluation:
    """Choose the rows to evaluate, and divide them into folds."""
    rows = training_rows_of(labeled, chunks, classes, totals)
    rows = replace(rows, complete_evaluation=needed.evaluated)
    contents = np.concatenate([_contents(part) for part in (labeled, *chunks)])
    evaluated, compared = evaluated_rows(rows, n_candidates, needed.seed)
    folds = folds_of_evaluated(rows, contents, evaluated, n_folds, needed.seed)
    rows = replace(rows, fold=folds.of(contents, rows.row_ids))
    return Evaluation(rows.at(evaluated), compared, folds)


def training_rows_of(
    labeled: Rows, unlabeled: Sequence[Rows], classes: NDArray[Any], totals: Totals
) -> TrainingRows:
    """Return labeled and unlabeled rows as a part of the training data."""
    parts = [labeled, *unlabeled]
    n = sum(map(len, parts))
    return TrainingRows(
        classes,
        np.arange(n, dtype=np.uint32),
        len(labeled),
        np.concatenate([part.weight for part in parts]),
        labeled.propensity,
        ids=np.concatenate([part.ids for part in parts]),
        whole=totals,
    )


def _contents(rows: Rows) -> NDArray[np.uint64]:
    assert rows.contents is not None
    return rows.contents


def out_of_bag(
    forest: Forest, rows: Rows, positions: NDArray[np.uint32], fold: NDArray[np.uint8], n_folds: int
) -> Array:
    """Score some of the rows by the trees that leave out their folds."""
    return held_out_scores(forest, EncodedTable(rows.values), positions, fold, n_folds, 1)


# Trees


@dataclass(eq=False)
class SampledRows:
    """Labeled rows and the unlabeled rows of a group of samples, on which trees are grown.

    The codes of the rows are computed once on each worker, and are not sent to others.
    """

    values: NDArray[Any]
    categorical: tuple[int, ...]
    rows: TrainingRows
    codes: _core.Codes | None = field(default=None, repr=False)
    lock: Lock = field(default_factory=Lock, repr=False)

    def __sizeof__(self) -> int:
        """Return the size in bytes, for Dask's memory management."""
        return int(1.5 * self.values.nbytes + 32 * len(self.rows.order))

    def __reduce__(self) -> tuple[Any, ...]:
        return SampledRows, (self.values, self.categorical, self.rows)

    @property
    def table(self) -> EncodedTable:
        """The rows as a table."""
        return EncodedTable(self.values, self.categorical)

    def encoded(self) -> _core.Codes:
        """Return the codes of the rows."""
        with self.lock:  # several threads may need them first
            if self.codes is None:
                self.codes = encode(self.table, self.rows, 1)
            return self.codes


def sampled_rows(
    labeled: Rows,
    parts: Sequence[Rows],
    dtype: np.dtype[Any],
    categorical: tuple[int, ...],
    classes: NDArray[Any],
    totals: Totals,
    complete: float,
    folds: Evaluation | None,
) -> SampledRows:
    """Join the rows of a group of samples."""
    unlabeled = joined(parts, dtype)
    rows = training_rows_of(labeled, [unlabeled], classes, totals)
    rows = replace(rows, complete=complete)
    if folds is not None:
        contents = np.concatenate([_contents(labeled), _contents(unlabeled)])
        rows = replace(rows, fold=folds.folds.of(contents, rows.row_ids))
    values = np.concatenate([labeled.values, unlabeled.values])
    return SampledRows(values, categorical, rows)


@dataclass(frozen=True)
class GrowthSettings:
    """Settings of all candidates, as in `TrainingSet`."""

    n_folds: int
    scenario: str
    monotone: tuple[list[int], list[int]]
    seed: int


def grow_candidate(
    sample: SampledRows,
    settings: GrowthSettings,
    recipe: Recipe,
    masses: GroupMasses,
    seed: int,
    first_tree: int,
    n_trees: int,
) -> Forest:
    """Grow trees by a recipe."""
    data = TrainingSet(
        table=sample.table,
        codes=sample.encoded(),
        rows=sample.rows,
        evaluated=sample.rows,
        compared=np.empty(0, dtype=np.intp),
        n_threads=1,
        n_folds=settings.n_folds,
        scenario=settings.scenario,
        monotone=settings.monotone,
        seed=settings.seed,
    )
    return data.grow(recipe, masses, seed, first_tree, n_trees)


def grow_forest(
    sample: SampledRows,
    parameters: Mapping[str, Any],
    thresholds: str,
    monotone: tuple[list[int], list[int]],
    masses: GroupMasses,
    seed: int,
    first_tree: int,
    n_trees: int,
) -> Forest:
    """Grow trees with the parameters of an estimator."""
    params = train_params(
        parameters,
        thresholds=_core.Thresholds[thresholds],
        rows=sample.rows,
        table=sample.table,
    )
    params.increasing_features, params.decreasing_features = monotone
    set_masses(params, masses)
    params.seed, params.first_tree, params.n_trees = seed, first_tree, n_trees
    params.n_threads = 1
    return grow(sample.encoded(), sample.rows, params)
