"""Exact forests on a cluster: every tree is grown on all rows, without moving most of them.

The rows stay in their partitions. The client keeps the trees and sends them, with the statistics
that open nodes need next, to the workers; see ``core/include/puforest/levels.hpp``. The answers of
the partitions are merged on the way back. Small nodes are gathered: one task has all rows of some
of them, and grows their subtrees. Every task is a pure function of a partition and of what the
client sent, so that a task of a lost worker can run again anywhere.

Counts of rows are integers and ranges are exact, so the forest is the same as on one machine.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from puforest import _core
from puforest._encoded import EncodedTable
from puforest._model import Forest
from puforest.dask._graft import Arrays, graft
from puforest.dask._prune import pruned

# Nodes of at most this many rows are gathered.
HAND_OVER = 50_000

# Partial answers merged by one task.
FAN_IN = 8

# Leaves of this many pairs of a row and a tree are found at a time.
PAIRS_AT_ONCE = 1 << 22

MAX_ROWS = (1 << 30) - 1

# Parameters of the core that the tasks use; the client keeps masses, seed and number of trees.
_TASK_PARAMS = (
    "risk",
    "loss",
    "thresholds",
    "n_thresholds",
    "max_features",
    "max_depth",
    "min_samples_split",
    "min_samples_leaf",
    "min_risk_reduction",
    "categorical_features",
    "increasing_features",
    "decreasing_features",
)


@dataclass(frozen=True, eq=False)
class Part:
    """Rows of a partition.

    Attributes
    ----------
    table : EncodedTable
        Features.
    labeled : ndarray of bool
        True for labeled rows.
    """

    table: EncodedTable
    labeled: NDArray[np.bool_]

    def size(self) -> tuple[int, int, int]:
        """Return the numbers of labeled rows, of unlabeled rows and of features."""
        n_labeled = int(np.count_nonzero(self.labeled))
        return n_labeled, len(self.labeled) - n_labeled, self.table.shape[1]


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
class _Frontier:
    """Trees, the nodes whose rows are wanted, and what of them."""

    trees: Forest
    wanted: Arrays

    @property
    def nbytes(self) -> int:
        return _nbytes(self.trees.__getstate__()) + _nbytes(self.wanted)

    def leaves(self, table: EncodedTable) -> Iterator[tuple[slice, NDArray[np.int32]]]:
        """Iterate over slices of the rows and the leaf that each row reaches in each tree."""
        step = max(1024, PAIRS_AT_ONCE // self.trees.n_trees)
        predictor = self.trees.predictor("hard", table.dtype)
        for first in range(0, max(1, len(table)), step):
            some = slice(first, first + step)
            yield some, predictor.leaves(table[some].native(), 1)


@dataclass(frozen=True, eq=False)
class _Answer:
    """Statistics of some partitions, and the bytes of all answers that led to them."""

    arrays: Arrays
    moved: int


@dataclass(frozen=True, eq=False)
class _Piece:
    """Rows of some nodes from one partition."""

    values: NDArray[Any] | sp.csr_array
    labeled: NDArray[np.bool_]
    node: NDArray[np.int32]  # that each row belongs to

    @property
    def nbytes(self) -> int:
        v = self.values
        size = v.nbytes if isinstance(v, np.ndarray) else _nbytes(vars(v))
        return size + self.labeled.nbytes + self.node.nbytes


@dataclass(frozen=True, eq=False)
class _Grown:
    """Subtrees, and the rows and bytes gathered for them."""

    arrays: Arrays
    n_rows: int
    row_bytes: int


def grow_exact(
    client: Any,
    parts: Sequence[Any],
    params: _core.TrainParams,
    *,
    hand_over: int = HAND_OVER,
    traffic: Traffic | None = None,
) -> Forest:
    """Grow a forest on all rows of a cluster.

    All rows must have the same weight within their group, labeled or unlabeled.

    Parameters
    ----------
    client : distributed.Client
        Client of the cluster.
    parts : sequence of Future
        Partitions, each a `Part`. Parts may be empty or of a single class.
    params : TrainParams
        Parameters of a fit to all rows. The sampling and the number of threads are ignored.
    hand_over : int, default=50_000
        Nodes of at most this many rows are gathered by one task each, which grows their subtrees.
        The forest does not depend on it.
    traffic : Traffic, optional
        Counters to add to.

    Returns
    -------
    Forest
        The same as on one machine.
    """
    if params.max_leaf_nodes:
        raise ValueError(
            f"max_leaf_nodes={params.max_leaf_nodes}: best-first trees cannot be grown on "
            "distributed rows. Pass max_unlabeled to sample rows for each tree, or limit the trees "
            "by max_depth or min_samples_leaf."
        )
    traffic = Traffic() if traffic is None else traffic
    sizes = client.gather(client.map(Part.size, parts, pure=False))
    n_labeled, n_unlabeled = (sum(size[group] for size in sizes) for group in (0, 1))
    if n_labeled + n_unlabeled > MAX_ROWS:
        raise ValueError(
            f"the data has {n_labeled + n_unlabeled:,} rows, but trees on all rows take at most "
            f"{MAX_ROWS:,}. Pass max_unlabeled to sample rows for each tree."
        )
    n_features = sizes[0][2]
    growth = _core.LevelGrowth(params, n_features, n_labeled, n_unlabeled, hand_over)
    for_tasks = {name: getattr(params, name) for name in _TASK_PARAMS}
    while growth.n_open:
        request = growth.request()
        trees = Forest(n_features=n_features, **growth.trees())
        place = trees.offset[request.pop("tree")] + request.pop("node")
        frontier = _frontier(trees, place, request)
        sent = client.submit(_same, frontier, pure=False)
        answers = [client.submit(_answer, part, sent, for_tasks, pure=False) for part in parts]
        answer = _merged(client, answers).result()
        traffic.passes += 1
        traffic.requests += frontier.nbytes * _n_workers(client)
        traffic.answers += answer.moved
        growth.advance(answer.arrays)
        del sent, answers
    trees = Forest(n_features=n_features, **growth.trees())
    handed = growth.handed_over()
    traffic.nodes = len(trees.feature) - len(handed["node"])
    factors = (growth.factors.p, growth.factors.l, growth.factors.u)
    return _finished(client, parts, trees, handed, (factors, for_tasks), traffic)


def _finished(
    client: Any,
    parts: Sequence[Any],
    trees: Forest,
    handed: Arrays,
    for_tasks: tuple[Any, ...],
    traffic: Traffic,
) -> Forest:
    """Grow the subtrees of all nodes that were handed over."""
    by_tree = np.argsort(handed["tree"], kind="stable")
    batches = _batches(by_tree, handed)
    per_wave = 2 * max(1, sum(client.nthreads().values()))
    waves = [batches[i : i + per_wave] for i in range(0, len(batches), per_wave)]
    subtrees: list[Arrays] = []
    running: list[list[Any]] = []
    for wave in [*waves, None]:
        if wave is not None:
            running.append(_start_wave(client, parts, trees, handed, wave, for_tasks, traffic))
        if running and (wave is None or len(running) > 1):
            for grown in client.gather(running.pop(0)):
                subtrees.append(grown.arrays)
                traffic.gathered_rows += grown.n_rows
                traffic.rows += grown.row_bytes
                traffic.subtrees += _nbytes(grown.arrays)
    nodes = (trees.offset[handed["tree"]] + handed["node"])[by_tree]
    return graft(trees, nodes, subtrees)


def _batches(order: NDArray[np.intp], handed: Arrays) -> list[NDArray[np.intp]]:
    """Divide nodes, in this order, into batches of about `HAND_OVER` rows."""
    rows = (handed["n_labeled"].astype(np.int64) + handed["n_unlabeled"])[order]
    batch = (np.cumsum(rows) - rows) // HAND_OVER
    return np.split(order, np.flatnonzero(np.diff(batch)) + 1) if len(order) else []


def _start_wave(
    client: Any,
    parts: Sequence[Any],
    trees: Forest,
    handed: Arrays,
    batches: list[NDArray[np.intp]],
    for_tasks: tuple[Any, ...],
    traffic: Traffic,
) -> list[Any]:
    """Gather the rows of some batches of nodes in one pass, and start to grow their subtrees."""
    nodes = np.concatenate(batches)
    place = trees.offset[handed["tree"][nodes]] + handed["node"][nodes]
    ends = np.cumsum([len(batch) for batch in batches])
    frontier = _frontier(trees, place, {"batch_end": ends})
    sent = client.submit(_same, frontier, pure=False)
    gathered = [client.submit(_gather, part, sent, pure=False) for part in parts]
    traffic.gathers += 1
    traffic.requests += frontier.nbytes * _n_workers(client)
    return [
        client.submit(
            _grow_subtrees,
            [client.submit(_item, pieces, b, pure=False) for pieces in gathered],
            _selected(handed, batch),
            *for_tasks,
            pure=False,
        )
        for b, batch in enumerate(batches)
    ]


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


def _frontier(trees: Forest, place: NDArray[np.int64], wanted: Arrays) -> _Frontier:
    """Tell what is wanted of the nodes at these indices into the arrays of the trees."""
    trees, place = pruned(trees, place)
    node_at = np.full(len(trees.feature), -1, dtype=np.int32)
    node_at[place] = np.arange(len(place))
    return _Frontier(trees, {**wanted, "offset": trees.offset, "node_at": node_at})


def _merged(client: Any, futures: list[Any]) -> Any:
    while len(futures) > 1:
        groups = [futures[i : i + FAN_IN] for i in range(0, len(futures), FAN_IN)]
        futures = [client.submit(_merge, group, pure=False) for group in groups]
    return futures[0]


def _n_workers(client: Any) -> int:
    return len(client.nthreads())


def _nbytes(arrays: Mapping[str, Any]) -> int:
    return sum(a.nbytes for a in arrays.values() if isinstance(a, np.ndarray))


# Tasks


def _same(value: Any) -> Any:
    """Return what was sent with the task: unlike scattered data, it survives a lost worker."""
    return value


def _item(items: Sequence[Any], i: int) -> Any:
    return items[i]


def _params(values: Mapping[str, Any]) -> _core.TrainParams:
    params = _core.TrainParams()
    for name, value in values.items():
        setattr(params, name, value)
    return params


def _answer(part: Part, frontier: _Frontier, params: Mapping[str, Any]) -> _Answer:
    """Compute the statistics of the rows of a partition."""
    answers = []
    for some, leaves in frontier.leaves(part.table):
        x, labeled = part.table[some].native(), part.labeled[some].view(np.uint8)
        arrays = _core.scan_part(x, labeled, leaves, frontier.wanted, _params(params))
        answers.append(_Answer(arrays, 0))
    arrays = _merge(answers).arrays
    return _Answer(arrays, _nbytes(arrays))


def _merge(answers: Sequence[_Answer]) -> _Answer:
    """Merge the statistics of several sets of rows."""
    moved = sum(answer.moved for answer in answers)
    if len(answers) == 1:
        return answers[0]
    parts = [answer.arrays for answer in answers]

    def merged(name: str, merge: np.ufunc) -> NDArray[Any]:
        return reduce(merge, (arrays[name] for arrays in parts))

    arrays = {
        "low": merged("low", np.minimum),
        "high": merged("high", np.maximum),
        "missing": merged("missing", np.add),
        "left": merged("left", np.add),
        **_merged_bins(parts),
    }
    return _Answer(arrays, moved + _nbytes(arrays))


def _merged_bins(parts: Sequence[Arrays]) -> dict[str, NDArray[Any]]:
    ranges, values, rows = (
        np.concatenate([arrays[name] for arrays in parts])
        for name in ("bin_range", "bin_value", "bin_rows")
    )
    order = np.lexsort((values, ranges))
    ranges, values, rows = ranges[order], values[order], rows[order]
    is_first = np.ones(len(order), dtype=bool)
    is_first[1:] = (np.diff(ranges) != 0) | (np.diff(values) != 0)
    first = np.flatnonzero(is_first)
    if len(first):
        rows = np.add.reduceat(rows, first, axis=0, dtype=rows.dtype)
    return {"bin_range": ranges[first], "bin_value": values[first], "bin_rows": rows}


def _gather(part: Part, frontier: _Frontier) -> list[_Piece]:
    """Collect the rows of nodes, for each batch of nodes."""
    trees, node_at = frontier.trees, frontier.wanted["node_at"]
    rows, nodes = [], []
    for some, leaves in frontier.leaves(part.table):
        node = node_at[leaves + trees.offset[:-1]]
        row, tree = np.nonzero(node >= 0)
        rows.append(row + some.start)
        nodes.append(node[row, tree])
    row, node = np.concatenate(rows), np.concatenate(nodes)
    by_node = np.argsort(node, kind="stable")
    row, node = row[by_node], node[by_node]
    pieces, first = [], 0
    for end in frontier.wanted["batch_end"]:
        here = slice(*np.searchsorted(node, [first, end]))
        wanted = row[here]
        pieces.append(_Piece(part.table.values[wanted], part.labeled[wanted], node[here] - first))
        first = end
    return pieces


def _grow_subtrees(
    pieces: Sequence[_Piece],
    subtrees: Arrays,
    factors: tuple[float, float, float],
    params: Mapping[str, Any],
) -> _Grown:
    """Grow the subtrees of nodes on their rows."""
    labeled = np.concatenate([piece.labeled for piece in pieces])
    node = np.concatenate([piece.node for piece in pieces])
    values = [piece.values for piece in pieces]
    if all(isinstance(v, np.ndarray) for v in values):
        table = EncodedTable(np.concatenate(values))
    else:
        table = EncodedTable(sp.csr_array(sp.vstack(values, format="csr")))
    order = np.lexsort((node, ~labeled)).astype(np.uint32)
    arrays = _core.train_subtrees(
        table.native(), order, subtrees, _core.MassFactors(*factors), _params(params)
    )
    return _Grown(arrays, len(node), sum(piece.nbytes for piece in pieces))
