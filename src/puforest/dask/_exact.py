"""Exact forests on a cluster: every tree is grown on all rows.

The client keeps the trees and sends the parts that lead to open nodes, with the statistics that
these need next, to the workers; see ``core/include/puforest/levels.hpp``. The answers of the
partitions are merged on the way back. Only the rows of small nodes move, once for each tree: one
task has all rows of some of these nodes, and grows their subtrees. Every task is a pure function of
a partition and of what the client sent, so that a task of a lost worker can run again anywhere.

Counts of rows are integers and ranges are exact, so the forest is the same as on one machine,
except for optimal thresholds of columns with very many values (`_bins.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from distributed import Future
from numpy.typing import NDArray

from puforest import _core
from puforest._model import Forest
from puforest._progress import Progress
from puforest.dask import _bins as bins
from puforest.dask import _exact_tasks as tasks
from puforest.dask._cluster import Tasks
from puforest.dask._exact_tasks import Frontier, Part, array_bytes
from puforest.dask._graft import Arrays, graft
from puforest.dask._prune import pruned

# Nodes of at most this many rows, or this fraction of all rows, are gathered.
HAND_OVER = 50_000
HAND_OVER_FRACTION = 1 / 64

# Partial answers merged by one task.
FAN_IN = 8

MAX_ROWS = (1 << 30) - 1


@dataclass
class Traffic:
    """Bytes that a fit moved, at most: tasks that run on the same worker move nothing.

    Attributes
    ----------
    passes : int
        Passes over all rows for statistics of nodes.
    nodes : int
        Nodes split by these statistics, or found to be leaves.
    requests : int
        Bytes of the trees and requests sent to the workers.
    answers : int
        Bytes of statistics, including those merged on the way.
    gathers : int
        Passes over the rows to gather those of small nodes.
    gathered_rows : int
        Rows gathered, once for each tree that needs them.
    rows : int
        Bytes of these rows.
    subtrees : int
        Bytes of the subtrees grown on them.
    """

    passes: int = 0
    nodes: int = 0
    requests: int = 0
    answers: int = 0
    gathers: int = 0
    gathered_rows: int = 0
    rows: int = 0
    subtrees: int = 0


@dataclass(frozen=True, eq=False)
class Wave:
    """Tasks that grow subtrees, and tasks whose results they need."""

    growing: list[Future]
    needed: list[Future]


def grow_exact(
    cluster: Tasks,
    parts: Sequence[Future],
    params: _core.TrainParams,
    *,
    hand_over: int | None = None,
    traffic: Traffic | None = None,
    progress: Progress | None = None,
) -> Forest:
    """Grow a forest on all rows of a cluster.

    All rows must have the same weight within their group, labeled or unlabeled.

    Parameters
    ----------
    cluster : Tasks
        Tasks of the fit.
    parts : sequence of Future
        Partitions, each a `Part`. Parts may be empty or of a single class.
    params : TrainParams
        Parameters of a fit to all rows. The sampling and the number of threads are ignored.
    hand_over : int, optional
        Nodes of at most this many rows are gathered by one task each, which grows their subtrees.
        By default 50,000 rows or 1/64 of all, whichever is more. The forest does not depend on it.
    traffic : Traffic, optional
        Counters to add to.
    progress : Progress, optional
        Told how many trees' worth of small nodes have been replaced by their subtrees.

    Returns
    -------
    Forest
        The same as on one machine, unless thresholds are optimal and a numeric column has more
        than 65,536 values: then only 1,024 quantiles of its values are tried as thresholds.
    """
    if params.max_leaf_nodes:
        refuse_max_leaf_nodes(params.max_leaf_nodes)
    traffic = Traffic() if traffic is None else traffic
    sizing = [cluster.submit("size", Part.size, part) for part in parts]
    sizes = cluster.results(sizing)
    cluster.release(sizing)
    n_labeled, n_unlabeled = (sum(size[group] for size in sizes) for group in (0, 1))
    if n_labeled + n_unlabeled > MAX_ROWS:
        raise ValueError(
            f"the data has {n_labeled + n_unlabeled:,} rows, but trees on all rows take at most "
            f"{MAX_ROWS:,}. Pass max_unlabeled to sample rows for each tree."
        )
    if hand_over is None:
        hand_over = max(HAND_OVER, int(HAND_OVER_FRACTION * (n_labeled + n_unlabeled)))
    n_features = sizes[0][2]
    edges: bins.Edges = {}
    if params.thresholds == _core.Thresholds.optimal:
        summaries = [cluster.submit("summary", bins.summaries, part) for part in parts]
        edges = bins.edges_of(_merged(cluster, summaries, bins.merge_summaries))
    if edges:
        sent = cluster.submit("send", tasks.same, edges)
        parts = [cluster.submit("bin", bins.binned, part, sent) for part in parts]
    growth = _core.LevelGrowth(params, n_features, n_labeled, n_unlabeled, hand_over)
    forest = _grown(cluster, parts, params, growth, n_features, traffic, progress)
    return bins.with_edges(forest, edges) if edges else forest


def refuse_max_leaf_nodes(value: int) -> None:
    """Refuse a limit of the number of leaves."""
    raise ValueError(
        f"max_leaf_nodes={value}: best-first trees cannot be grown on distributed rows. Pass "
        "max_unlabeled to sample rows for each tree, or limit the trees by max_depth or "
        "min_samples_leaf."
    )


def _grown(
    cluster: Tasks,
    parts: Sequence[Future],
    params: _core.TrainParams,
    growth: _core.LevelGrowth,
    n_features: int,
    traffic: Traffic,
    progress: Progress | None,
) -> Forest:
    """Grow the trees, level by level down to small nodes."""
    for_tasks = {name: getattr(params, name) for name in tasks.TASK_PARAMS}
    while growth.n_open:
        request = growth.request()
        trees = Forest(n_features=n_features, **growth.trees())
        place = trees.offset[request.pop("tree")] + request.pop("node")
        frontier = _frontier(trees, place, request)
        sent = cluster.submit("send", tasks.same, frontier)
        answers = [cluster.submit("scan", tasks.answer_of, part, sent, for_tasks) for part in parts]
        answer = _merged(cluster, answers, tasks.merge)
        cluster.release([sent])
        traffic.passes += 1
        traffic.requests += frontier.nbytes * len(cluster.threads())
        traffic.answers += answer.moved
        growth.advance(answer.arrays)
    trees = Forest(n_features=n_features, **growth.trees())
    handed = growth.handed_over()
    traffic.nodes += len(trees.feature) - len(handed["node"])
    factors = (growth.factors.p, growth.factors.l, growth.factors.u)
    return _finished(cluster, parts, trees, handed, (factors, for_tasks), traffic, progress)


def _finished(
    cluster: Tasks,
    parts: Sequence[Future],
    trees: Forest,
    handed: Arrays,
    for_tasks: tuple[Any, ...],
    traffic: Traffic,
    progress: Progress | None,
) -> Forest:
    """Grow the subtrees of all nodes that were handed over."""
    by_tree = np.argsort(handed["tree"], kind="stable")
    batches = _batches(by_tree, handed)
    per_wave = 2 * max(1, sum(cluster.threads().values()))
    waves = [batches[i : i + per_wave] for i in range(0, len(batches), per_wave)]
    subtrees: list[Arrays] = []
    running: list[Wave] = []
    for number, wave in enumerate([*waves, None]):
        if wave is not None:
            running.append(_start_wave(cluster, parts, trees, handed, wave, for_tasks, traffic))
        if running and (wave is None or len(running) > 1):
            oldest = running.pop(0)
            for grown in cluster.results(oldest.growing):
                subtrees.append(grown.arrays)
                traffic.gathered_rows += grown.n_rows
                traffic.rows += grown.row_bytes
                traffic.subtrees += array_bytes(grown.arrays)
            cluster.release([*oldest.growing, *oldest.needed])
            if progress is not None:
                progress(number * trees.n_trees // len(waves), trees.n_trees)
    if progress is not None:
        progress.finish(trees.n_trees)
    nodes = (trees.offset[handed["tree"]] + handed["node"])[by_tree]
    return graft(trees, nodes, subtrees)


def _batches(order: NDArray[np.intp], handed: Arrays) -> list[NDArray[np.intp]]:
    """Divide nodes, in this order, into batches of about `HAND_OVER` rows."""
    rows = (handed["n_labeled"].astype(np.int64) + handed["n_unlabeled"])[order]
    batch = (np.cumsum(rows) - rows) // HAND_OVER
    return np.split(order, np.flatnonzero(np.diff(batch)) + 1) if len(order) else []


def _start_wave(
    cluster: Tasks,
    parts: Sequence[Future],
    trees: Forest,
    handed: Arrays,
    batches: list[NDArray[np.intp]],
    for_tasks: tuple[Any, ...],
    traffic: Traffic,
) -> Wave:
    """Gather the rows of some batches of nodes in one pass, and start to grow their subtrees."""
    nodes = np.concatenate(batches)
    place = trees.offset[handed["tree"][nodes]] + handed["node"][nodes]
    ends = np.cumsum([len(batch) for batch in batches])
    frontier = _frontier(trees, place, {"batch_end": ends})
    sent = cluster.submit("send", tasks.same, frontier)
    gathered = [cluster.submit("gather", tasks.gather, part, sent) for part in parts]
    traffic.gathers += 1
    traffic.requests += frontier.nbytes * len(cluster.threads())
    needed, growing = [sent, *gathered], []
    for b, batch in enumerate(batches):
        pieces = [cluster.submit("piece", tasks.item, part, b) for part in gathered]
        args = (pieces, _selected(handed, batch), *for_tasks)
        growing.append(cluster.submit("grow", tasks.grow_subtrees, *args))
        needed += pieces
    return Wave(growing, needed)


def _selected(handed: Arrays, nodes: NDArray[np.intp]) -> dict[str, NDArray[Any]]:
    """Return the arrays of some nodes that were handed over."""
    begin = handed["feature_begin"]
    features = [handed["feature"][begin[i] : begin[i + 1]] for i in nodes]
    ends = np.cumsum([0, *map(len, features)])
    names = ("key", "depth", "low", "high", "n_labeled", "n_unlabeled")
    return {name: handed[name][nodes] for name in names} | {
        "feature_begin": ends.astype(np.uint32),
        "feature": np.concatenate(features),
    }


def _frontier(trees: Forest, place: NDArray[np.int64], wanted: Arrays) -> Frontier:
    """Tell what is wanted of the nodes at these indices into the arrays of the trees."""
    trees, place = pruned(trees, place)
    node_at = np.full(len(trees.feature), -1, dtype=np.int32)
    node_at[place] = np.arange(len(place))
    return Frontier(trees, {**wanted, "offset": trees.offset, "node_at": node_at})


def _merged(cluster: Tasks, futures: list[Future], merge: Callable[[Sequence[Any]], Any]) -> Any:
    """Return the merged results of tasks, which are then forgotten."""
    submitted = list(futures)
    while len(futures) > 1:
        groups = [futures[i : i + FAN_IN] for i in range(0, len(futures), FAN_IN)]
        futures = [cluster.submit("merge", merge, group) for group in groups]
        submitted += futures
    (merged,) = cluster.results(futures)
    cluster.release(submitted)
    return merged
