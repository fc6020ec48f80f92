"""Tasks that the workers run: pure functions of partitions and of the results of other tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from puforest import _core
from puforest import _validation as check
from puforest._candidates import TrainingSet, evaluated_rows, held_out_scores
from puforest._duplicate_rows import row_contents
from puforest._encoded import EncodedTable
from puforest._exact_sum import exact_sum
from puforest._fold_table import FoldTable
from puforest._masses import GroupMasses
from puforest._model import Forest
from puforest._needed_rows import NeededRows
from puforest._rows import take_rows
from puforest._schema import FeatureSchema
from puforest._schema_parts import PartOfSchema, part_of_schema
from puforest._training import encode, grow, set_masses, train_params
from puforest._training_rows import Totals, TrainingRows
from puforest.pu_forest import folds_of_evaluated
from puforest.recipes import Recipe

Array = NDArray[np.float64]

# Distinct labels to return; with more than two, the client refuses them.
MOST_LABELS = 20


# First pass: labels, weights and kinds of columns


@dataclass(frozen=True, eq=False)
class Summary:
    """Summary of a partition.

    Attributes
    ----------
    n_rows : int
        Number of rows.
    labels : ndarray
        Distinct labels; missing ones as they are.
    n_seen : list of int
        Number of rows with a positive weight, by label.
    weight : list of Fraction
        Sum of their weights, by label.
    weights : list of tuple of float
        Their smallest and their largest weight, by label.
    schema : PartOfSchema or None
        Kinds of the columns, if they were read.
    """

    n_rows: int
    labels: NDArray[Any]
    n_seen: list[int]
    weight: list[Fraction]
    weights: list[tuple[float, float]]
    schema: PartOfSchema | None


def summary(
    X: Any, others: Mapping[str, Any], estimator: str, categorical_features: Any
) -> Summary:
    """Summarize a partition: its labels and weights, and its columns if X is not None."""
    y = check.raw_labels(others["y"])
    n = len(y)
    weight = raw_weights(others.get("sample_weight"), n)
    labels, number = distinct_labels(y)
    groups = [weight[(number == k) & (weight > 0)] for k in range(len(labels))]
    schema = None
    if X is not None and n > 0:
        refuse_other_length(X, n)
        schema = part_of_schema(X, estimator=estimator, categorical_features=categorical_features)
    return Summary(
        n,
        labels,
        [len(group) for group in groups],
        [exact_sum(group) for group in groups],
        [(group.min(), group.max()) if len(group) else (0.0, 0.0) for group in groups],
        schema,
    )


def distinct_labels(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the first distinct labels, and the number of the label of each row."""
    if y.dtype.kind != "O":
        labels, number = np.unique(y, return_inverse=True)
    else:
        numbers: dict[Any, int] = {}
        keys = [None if check.is_missing(value) else value for value in y.tolist()]
        number = np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.intp)
        labels = np.empty(len(numbers), dtype=object)
        labels[:] = list(numbers)
    return labels[:MOST_LABELS], number


def raw_weights(given: Any, n: int) -> Array:
    """Read sample weights as they are; ones if there are none."""
    if given is None:
        return np.ones(n)
    weight = check.vector("sample_weight", given, n, finite=True)
    if (weight < 0).any():
        raise ValueError(f"sample_weight must not be negative, got {weight.min():g}")
    return weight


def refuse_other_length(X: Any, n: int) -> None:
    if len(X) != n:
        raise ValueError(
            f"X has {len(X)} rows and y has {n}: rows of X and y must match in every partition"
        )


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
class PartitionReader:
    """Reads the rows of partitions that a fit needs.

    Attributes
    ----------
    schema : FeatureSchema
        Schema of the whole table.
    features : list or None
        Columns of the features; None if X is an array.
    columns : dict of str to str
        Other arguments of ``fit`` that are columns of X.
    labels : ndarray
        All distinct labels of the data.
    exponent : int
        Weights are divided by two to this power.
    needed : NeededRows
        Samples of rows that are needed.
    groups : list of range
        Numbers of the samples of each group.
    estimator : str
        Class name in error messages.
    """

    schema: FeatureSchema
    features: list[Any] | None
    columns: Mapping[str, str]
    labels: NDArray[Any]
    exponent: int
    needed: NeededRows
    groups: list[range]
    estimator: str

    def read(self, X: Any, others: Mapping[str, Any], first_id: int, n_rows: int) -> NeededPart:
        """Read a partition, whose first row has this number."""
        given = {**others, **{name: X[column] for name, column in self.columns.items()}}
        X = X if self.features is None else X[self.features]
        refuse_other_length(X, n_rows)
        if n_rows == 0:
            empty = Rows(np.empty((0, self.schema.n_features), np.float32), *_no_rows())
            return NeededPart(np.dtype(np.float32), empty, empty, [empty] * len(self.groups))
        y = np.concatenate([self.labels, check.raw_labels(given["y"])])
        _, labeled = check.labels(check.filled_labels(y), "labeled", "unlabeled")
        labeled = labeled[len(self.labels) :]
        weight = np.ldexp(raw_weights(given.get("sample_weight"), n_rows), -self.exponent)
        seen = weight > 0
        marks = [self.needed.part(group).mark(first_id, n_rows) for group in self.groups]
        evaluated = np.zeros(n_rows, dtype=bool)
        if self.needed.evaluated > 0:
            evaluated = self.needed.only_evaluated().mark(first_id, n_rows)
        used = np.flatnonzero(seen & np.logical_or.reduce([labeled, evaluated, *marks]))
        table = (
            self.schema.table(take_rows(X, used), estimator=self.estimator)
            if len(used)
            else (EncodedTable(np.empty((0, self.schema.n_features), np.float32)))
        )
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
