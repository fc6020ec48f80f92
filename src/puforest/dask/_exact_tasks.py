"""Tasks of exact growth, which run where the rows are; see `_exact.py`."""

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
from puforest.dask._graft import Arrays

# Leaves of this many pairs of a row and a tree are found at a time.
PAIRS_AT_ONCE = 1 << 22

# Parameters of the core that the tasks use; the client keeps masses, seed and number of trees.
TASK_PARAMS = (
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

    def __sizeof__(self) -> int:
        """Return the size in bytes, for Dask's memory management."""
        return values_bytes(self.table.values) + self.labeled.nbytes

    def size(self) -> tuple[int, int, int]:
        """Return the numbers of labeled rows, of unlabeled rows and of features."""
        n_labeled = int(np.count_nonzero(self.labeled))
        return n_labeled, len(self.labeled) - n_labeled, self.table.shape[1]


@dataclass(frozen=True, eq=False)
class Frontier:
    """Trees, the nodes whose rows are wanted, and what of them."""

    trees: Forest
    wanted: Arrays

    @property
    def nbytes(self) -> int:
        return array_bytes(self.trees.__getstate__()) + array_bytes(self.wanted)

    def leaves(self, table: EncodedTable) -> Iterator[tuple[slice, NDArray[np.int32]]]:
        """Iterate over slices of the rows and the leaf that each row reaches in each tree."""
        step = max(1024, PAIRS_AT_ONCE // self.trees.n_trees)
        predictor = self.trees.predictor("hard", table.dtype)
        for first in range(0, max(1, len(table)), step):
            some = slice(first, first + step)
            yield some, predictor.leaves(table[some].native(), 1)


@dataclass(frozen=True, eq=False)
class Answer:
    """Statistics of some partitions, and the bytes of all answers that led to them."""

    arrays: Arrays
    moved: int


@dataclass(frozen=True, eq=False)
class Piece:
    """Rows of some nodes from one partition."""

    values: NDArray[Any] | sp.csr_array
    labeled: NDArray[np.bool_]
    node: NDArray[np.int32]  # that each row belongs to

    @property
    def nbytes(self) -> int:
        return values_bytes(self.values) + self.labeled.nbytes + self.node.nbytes

    def __sizeof__(self) -> int:
        """Return the size in bytes, for Dask's memory management."""
        return self.nbytes


@dataclass(frozen=True, eq=False)
class Grown:
    """Subtrees, and the rows and bytes gathered for them."""

    arrays: Arrays
    n_rows: int
    row_bytes: int


def same(value: Any) -> Any:
    """Return what was sent with the task: unlike scattered data, it survives a lost worker."""
    return value


def item(items: Sequence[Any], i: int) -> Any:
    return items[i]


def core_params(values: Mapping[str, Any]) -> _core.TrainParams:
    params = _core.TrainParams()
    for name, value in values.items():
        setattr(params, name, value)
    return params


def answer_of(part: Part, frontier: Frontier, params: Mapping[str, Any]) -> Answer:
    """Compute the statistics of the rows of a partition."""
    answers = []
    for some, leaves in frontier.leaves(part.table):
        x, labeled = part.table[some].native(), part.labeled[some].view(np.uint8)
        arrays = _core.scan_part(x, labeled, leaves, frontier.wanted, core_params(params))
        answers.append(Answer(arrays, 0))
    arrays = merge(answers).arrays
    return Answer(arrays, array_bytes(arrays))


def merge(answers: Sequence[Answer]) -> Answer:
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
    return Answer(arrays, moved + array_bytes(arrays))


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


def gather(part: Part, frontier: Frontier) -> list[Piece]:
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
        pieces.append(Piece(part.table.values[wanted], part.labeled[wanted], node[here] - first))
        first = end
    return pieces


def grow_subtrees(
    pieces: Sequence[Piece],
    subtrees: Arrays,
    factors: tuple[float, float, float],
    params: Mapping[str, Any],
) -> Grown:
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
        table.native(), order, subtrees, _core.MassFactors(*factors), core_params(params)
    )
    return Grown(arrays, len(node), sum(piece.nbytes for piece in pieces))


def array_bytes(arrays: Mapping[str, Any]) -> int:
    return sum(a.nbytes for a in arrays.values() if isinstance(a, np.ndarray))


def values_bytes(values: NDArray[Any] | sp.csr_array) -> int:
    return values.nbytes if isinstance(values, np.ndarray) else array_bytes(vars(values))
