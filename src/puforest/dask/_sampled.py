"""Sampled mode: trees that are grown on samples of the unlabeled rows, as tasks of a cluster.

The numbers of the rows that the fit needs follow from the first pass (`_overview.py`). A second
pass gathers these rows, and each partition is forgotten as soon as it is read. Unlabeled rows are
gathered by groups of samples, so that a worker needs the rows of one group at a time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from dask import delayed
from distributed import Future
from numpy.typing import NDArray

from puforest._candidates import N_SAMPLES
from puforest._masses import GroupMasses
from puforest._model import Forest
from puforest._needed_rows import NeededRows
from puforest._progress import Progress
from puforest._training_rows import TrainingRows
from puforest.dask import _tasks
from puforest.dask._cluster import LostDataError, TaskError, Tasks
from puforest.dask._overview import Overview, of_partitions
from puforest.dask._partitions import TrainingPartitions
from puforest.recipes import Recipe

Array = NDArray[np.float64]

# Groups of samples have about this many unlabeled rows. More groups mean less memory, but also more
# tables that the partitions are cut into, and more messages.
GROUP_ROWS = 100_000
MAX_GROUPS = 24
MAX_TABLES = 20_000

# Groups share rows if samples are large. The number of groups is such that at most this many times
# the needed rows are moved.
MAX_COPIES = 2.0

# Rows are scored out of bag in slices of this size; there are at most as many chunks of them.
SLICE = 20_000
MAX_CHUNKS = 64

# Trees that a task grows at most.
TREES_PER_TASK = 5

# Attempts to send a forest to the workers, if they die.
MAX_SENDS = 10


def sample_groups(needed: NeededRows, n_unlabeled: int, n_partitions: int) -> list[range]:
    """Divide the samples of trees into groups whose rows are gathered together."""
    samples = needed.samples

    def drawn(n_samples: float) -> float:
        """Fraction of the rows that are in some of the samples."""
        return float(1 - (1 - needed.fraction) ** n_samples)

    def copies(n_groups: int) -> float:
        """Rows moved with this number of groups, per needed row."""
        return n_groups * drawn(len(samples) / n_groups) / drawn(len(samples))

    enough = math.ceil(n_unlabeled * drawn(len(samples)) / GROUP_ROWS)
    most = min(enough, MAX_GROUPS, len(samples), max(2, MAX_TABLES // n_partitions))
    n_groups = max(n for n in range(1, most + 1) if n == 1 or copies(n) <= MAX_COPIES)
    ends = np.linspace(0, len(samples), n_groups + 1).round().astype(int).tolist()
    return [samples[first:last] for first, last in pairwise(ends)]


@dataclass(frozen=True, eq=False)
class Gathered:
    """Rows on the cluster that a fit needs.

    Attributes
    ----------
    dtype : dtype
        Type of the encoded features.
    labeled : Future of Rows
        All labeled rows.
    chunks : list of Future of Rows
        Unlabeled rows that may be evaluated.
    groups : list of range
        Numbers of the samples of each group.
    samples : list of list of Future of Rows
        Rows of each group, by partition.
    """

    dtype: np.dtype[Any]
    labeled: Future
    chunks: list[Future]
    groups: list[range]
    samples: list[list[Future]]


def gather(
    tasks: Tasks,
    partitions: TrainingPartitions,
    found: Overview,
    needed: NeededRows,
    *,
    estimator: str,
) -> Gathered:
    """Gather the needed rows in a pass over the partitions."""
    groups = sample_groups(needed, found.totals.n_unlabeled, partitions.n)
    reader = _tasks.NeededReader(
        found.schema,
        partitions.feature_columns,
        partitions.columns,
        found.labels,
        found.exponent,
        estimator,
        needed,
        groups,
    )
    read = delayed(reader.read, pure=False, traverse=False)
    parts = tasks.compute(
        [
            read(X, delayed(others), first, last - first, dask_key_name=tasks.key("read", k))
            for k, ((X, others), (first, last)) in enumerate(
                zip(partitions.whole(), pairwise(found.first_ids), strict=True)
            )
        ]
    )

    def pieces(name: str, number: int = 0) -> list[Future]:
        return [tasks.submit("piece", _tasks.piece, part, name, number) for part in parts]

    labeled, evaluated = pieces("labeled"), pieces("evaluated")
    samples = [pieces("samples", g) for g in range(len(groups))]
    types = pieces("dtype")
    dtype = np.result_type(*of_partitions(tasks, parts, partitions, then=types))
    tasks.release(parts)
    ends = np.linspace(0, len(evaluated), min(MAX_CHUNKS, len(evaluated)) + 1).astype(int)
    chunks = [
        tasks.submit("join", _tasks.joined, evaluated[first:last], dtype)
        for first, last in pairwise(ends.tolist())
    ]
    return Gathered(
        dtype, tasks.submit("join", _tasks.joined, labeled, dtype), chunks, groups, samples
    )


class SampledData:
    """Training data of candidates on a cluster, as `CandidateData` describes it.

    Parameters
    ----------
    tasks : Tasks
        Tasks of the fit.
    gathered : Gathered
        Rows that the fit needs.
    found : Overview
        Size and schema of the data.
    needed : NeededRows
        Samples of rows.
    settings : GrowthSettings
        Settings of all candidates.
    n_candidates : int
        Number of candidates.
    """

    def __init__(
        self,
        tasks: Tasks,
        gathered: Gathered,
        found: Overview,
        needed: NeededRows,
        *,
        settings: _tasks.GrowthSettings,
        n_candidates: int,
    ) -> None:
        self._tasks = tasks
        self._gathered = gathered
        self._settings = settings
        self.n_folds = settings.n_folds
        self.seed = settings.seed
        outlines = [
            tasks.submit("outline", _tasks.without_values, rows)
            for rows in (gathered.labeled, *gathered.chunks)
        ]
        evaluation = tasks.submit(
            "evaluation",
            _tasks.evaluation,
            outlines[0],
            outlines[1:],
            found.classes,
            found.totals,
            needed,
            n_candidates,
            settings.n_folds,
        )
        self._samples = sample_futures(tasks, gathered, found, needed, evaluation)
        (known,) = tasks.results([evaluation])
        self.evaluated: TrainingRows = known.rows
        self.compared: NDArray[np.intp] = known.compared
        sizes = tasks.results([tasks.submit("count", len, outline) for outline in outlines])
        self._chunk_ends = np.cumsum(sizes)
        self._growing: dict[tuple[Any, ...], list[tuple[int, Future]]] = {}

    def expect(
        self, recipe: Recipe, masses: GroupMasses, seed: int, first_tree: int, n_trees: int
    ) -> None:
        """Start to grow trees."""
        key = (recipe, masses, seed, first_tree, n_trees)
        self._growing[key] = [
            (
                run.stop - run.start,
                self._tasks.submit(
                    "grow",
                    _tasks.grow_candidate,
                    self._samples[group],
                    self._settings,
                    recipe,
                    masses,
                    seed,
                    run.start,
                    run.stop - run.start,
                ),
            )
            for group, run in runs(self._gathered.groups, first_tree, n_trees, N_SAMPLES)
        ]

    def grow(
        self,
        recipe: Recipe,
        masses: GroupMasses,
        seed: int,
        first_tree: int,
        n_trees: int,
        progress: Progress | None = None,
    ) -> Forest:
        """Grow trees by a recipe."""
        key = (recipe, masses, seed, first_tree, n_trees)
        if key not in self._growing:
            self.expect(*key)
        return collected(self._tasks, self._growing.pop(key), progress)

    def out_of_bag(self, forest: Forest, rows: TrainingRows | None = None) -> Array:
        """Score training rows out of bag, by position; the evaluated ones by default."""
        rows = self.evaluated if rows is None else rows
        for attempt in range(MAX_SENDS):
            sent = self._tasks.send(forest)
            scores = [
                self._tasks.submit(
                    "out-of-bag",
                    _tasks.out_of_bag,
                    sent,
                    chunk,
                    rows.order[first:last] - np.uint32(offset),
                    fold_of(rows)[first:last],
                    self.n_folds,
                )
                for chunk, offset, first, last in self._slices(rows)
            ]
            try:
                found = self._tasks.results(scores)
            except LostDataError:
                if attempt + 1 == MAX_SENDS:
                    raise
                continue
            finally:
                self._tasks.release([sent, *scores])
            return np.concatenate(found)
        raise AssertionError

    def _slices(self, rows: TrainingRows) -> list[tuple[Future, int, int, int]]:
        """Cut rows into slices: chunk, number of its first row, positions of the slice."""
        slices = []
        first = 0
        chunks = [self._gathered.labeled, *self._gathered.chunks]
        starts = [0, *self._chunk_ends[:-1].tolist()]
        for chunk, start, end in zip(chunks, starts, self._chunk_ends.tolist(), strict=True):
            last = int(np.searchsorted(rows.order, end))
            slices += [
                (chunk, start, at, min(at + SLICE, last)) for at in range(first, last, SLICE)
            ]
            first = last
        return slices


def fold_of(rows: TrainingRows) -> NDArray[np.uint8]:
    """Return the folds of rows that have some."""
    assert rows.fold is not None
    return rows.fold


def sample_futures(
    tasks: Tasks,
    gathered: Gathered,
    found: Overview,
    needed: NeededRows,
    evaluation: Future | None,
) -> list[Future]:
    """Join the rows of each group of samples."""
    return [
        tasks.submit(
            "sample",
            _tasks.sampled_rows,
            gathered.labeled,
            parts,
            gathered.dtype,
            found.schema.categorical,
            found.classes,
            found.totals,
            needed.fraction,
            evaluation,
        )
        for parts in gathered.samples
    ]


def runs(
    groups: Sequence[range], first_tree: int, n_trees: int, n_samples: int
) -> list[tuple[int, range]]:
    """Divide trees into short runs whose samples belong to the same group.

    Examples
    --------
    >>> from puforest.dask._sampled import runs
    >>> runs([range(0, 4), range(4, 10)], 2, 10, 10)
    [(0, range(2, 4)), (1, range(4, 7)), (1, range(7, 10)), (0, range(10, 12))]
    """
    group_of = np.repeat(np.arange(len(groups)), list(map(len, groups)))
    trees = np.arange(first_tree, first_tree + n_trees)
    group = group_of[trees % n_samples]
    starts = [0, *(np.flatnonzero(np.diff(group)) + 1).tolist(), n_trees]
    found = []
    for first, last in pairwise(starts):
        n_tasks = -(-(last - first) // TREES_PER_TASK)
        ends = np.linspace(first_tree + first, first_tree + last, n_tasks + 1).round().astype(int)
        found += [(int(group[first]), range(*run)) for run in pairwise(ends.tolist())]
    return found


def collected(
    tasks: Tasks, growing: Sequence[tuple[int, Future]], progress: Progress | None
) -> Forest:
    """Wait for runs of trees, given their numbers and futures, and join them."""
    sizes, futures = [n for n, _ in growing], [future for _, future in growing]
    done, total = 0, sum(sizes)

    def report(number: int) -> None:
        nonlocal done
        done += sizes[number]
        if progress is not None:
            progress(done, total)

    try:
        forest = Forest.joined(tasks.results(futures, report))
    except TaskError as failure:
        raise failure.error from None
    tasks.release(futures)
    if progress is not None:
        progress.finish(total)
    return forest


def labeled_rows(tasks: Tasks, gathered: Gathered, found: Overview) -> TrainingRows:
    """Return the labeled rows without features, as a part of the training data."""
    outline = tasks.submit("outline", _tasks.without_values, gathered.labeled)
    (labeled,) = tasks.results([outline])
    return _tasks.training_rows_of(labeled, [], found.classes, found.totals)


def grown_forest(
    tasks: Tasks,
    gathered: Gathered,
    samples: Sequence[Future],
    settings: tuple[Any, ...],
    n_trees: int,
    progress: Progress | None,
) -> Forest:
    """Grow a forest, given the other arguments of `grow_forest`."""
    growing = []
    for group, run in runs(gathered.groups, 0, n_trees, n_trees):
        n = run.stop - run.start
        args = (samples[group], *settings, run.start, n)
        growing.append((n, tasks.submit("grow", _tasks.grow_forest, *args)))
    return collected(tasks, growing, progress)
