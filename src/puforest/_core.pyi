"""Compiled core of puforest."""

from collections.abc import Callable, Sequence
import enum
from typing import Annotated, Any, overload

import numpy
from numpy.typing import NDArray

class Risk(enum.Enum):
    upu = 0

    nnpu = 1

    pn = 2

class Loss(enum.Enum):
    quadratic = 0

    logistic = 1

    savage = 2

    sigmoid = 3

    zero_one = 4

    ramp = 5

    hinge = 6

    double_hinge = 7

    exponential = 8

class Thresholds(enum.Enum):
    random = 0

    optimal = 1

class GroupMasses:
    def __init__(
        self,
        labeled_p: float,
        labeled_u: float,
        unlabeled_u: float,
        confirmed_p: float = 0.0,
        confirmed_u: float = 0.0,
    ) -> None: ...

class Sampling:
    def __init__(
        self,
        replace: bool,
        together: bool,
        labeled: int,
        unlabeled: int,
        n_folds: int = 0,
        confirmed: int = 0,
    ) -> None: ...

class TrainParams:
    def __init__(self) -> None: ...
    @property
    def risk(self) -> Risk: ...
    @risk.setter
    def risk(self, arg: Risk, /) -> None: ...
    @property
    def loss(self) -> Loss: ...
    @loss.setter
    def loss(self, arg: Loss, /) -> None: ...
    @property
    def thresholds(self) -> Thresholds: ...
    @thresholds.setter
    def thresholds(self, arg: Thresholds, /) -> None: ...
    @property
    def n_thresholds(self) -> int: ...
    @n_thresholds.setter
    def n_thresholds(self, arg: int, /) -> None: ...
    @property
    def max_features(self) -> int: ...
    @max_features.setter
    def max_features(self, arg: int, /) -> None: ...
    @property
    def max_depth(self) -> int: ...
    @max_depth.setter
    def max_depth(self, arg: int, /) -> None: ...
    @property
    def min_samples_split(self) -> int: ...
    @min_samples_split.setter
    def min_samples_split(self, arg: int, /) -> None: ...
    @property
    def min_samples_leaf(self) -> int: ...
    @min_samples_leaf.setter
    def min_samples_leaf(self, arg: int, /) -> None: ...
    @property
    def max_leaf_nodes(self) -> int: ...
    @max_leaf_nodes.setter
    def max_leaf_nodes(self, arg: int, /) -> None: ...
    @property
    def min_risk_reduction(self) -> float: ...
    @min_risk_reduction.setter
    def min_risk_reduction(self, arg: float, /) -> None: ...
    @property
    def masses(self) -> GroupMasses: ...
    @masses.setter
    def masses(self, arg: GroupMasses, /) -> None: ...
    @property
    def sampling(self) -> Sampling: ...
    @sampling.setter
    def sampling(self, arg: Sampling, /) -> None: ...
    @property
    def seed(self) -> int: ...
    @seed.setter
    def seed(self, arg: int, /) -> None: ...
    @property
    def first_tree(self) -> int: ...
    @first_tree.setter
    def first_tree(self, arg: int, /) -> None: ...
    @property
    def n_trees(self) -> int: ...
    @n_trees.setter
    def n_trees(self, arg: int, /) -> None: ...
    @property
    def n_threads(self) -> int: ...
    @n_threads.setter
    def n_threads(self, arg: int, /) -> None: ...
    @property
    def categorical_features(self) -> list[int]: ...
    @categorical_features.setter
    def categorical_features(self, arg: Sequence[int], /) -> None: ...
    @property
    def increasing_features(self) -> list[int]: ...
    @increasing_features.setter
    def increasing_features(self, arg: Sequence[int], /) -> None: ...
    @property
    def decreasing_features(self) -> list[int]: ...
    @decreasing_features.setter
    def decreasing_features(self, arg: Sequence[int], /) -> None: ...

class TrainingRows:
    def __init__(
        self,
        order: Annotated[
            NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        n_labeled: int,
        positive: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ]
        | None = None,
        sample: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ]
        | None = None,
        fold: Annotated[
            NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)
        ]
        | None = None,
        n_confirmed: int = 0,
    ) -> None: ...

class Codes:
    """Codes of the training rows of a matrix."""

    @property
    def n_features(self) -> int: ...

@overload
def train(
    codes: Codes,
    rows: TrainingRows,
    params: TrainParams,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """
    Grow trees on the same rows as were encoded; their categorical features are known.
    """

@overload
def train(
    x: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device="cpu", writable=False)],
    rows: TrainingRows,
    params: TrainParams,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Any]: ...
@overload
def train(
    x: SparseMatrix32,
    rows: TrainingRows,
    params: TrainParams,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Any]: ...
@overload
def train(
    x: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device="cpu", writable=False)],
    rows: TrainingRows,
    params: TrainParams,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Any]: ...
@overload
def train(
    x: SparseMatrix64,
    rows: TrainingRows,
    params: TrainParams,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """Grow trees on the given rows of x and return the arrays of the forest."""

LEAF: int = -1

class NodeField:
    @property
    def name(self) -> str: ...
    @property
    def dtype(self) -> str: ...
    @property
    def in_leaves(self) -> float | None:
        """
        Value in leaves; None if the value at a node is the sum of its children's.
        """

    @property
    def meaning(self) -> str: ...

def node_fields() -> list[NodeField]:
    """Table of the node fields."""

class NodeArrays:
    """Node fields, as arrays over all nodes."""

    def __init__(self, arrays: dict[str, Any]) -> None: ...
    @property
    def feature(
        self,
    ) -> Annotated[
        NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ]:
        """Feature to split on, an index of a column of X."""

    @property
    def threshold(
        self,
    ) -> Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ]:
        """
        Samples with `x <= threshold` go left, larger values right. Finite; infinity if only missing values go right; 0 if the feature is categorical.
        """

    @property
    def missing_left(
        self,
    ) -> Annotated[
        NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)
    ]:
        """1 if missing values go left, 0 if they go right."""

    @property
    def n_categories(
        self,
    ) -> Annotated[
        NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ]:
        """
        Number of categories listed for the node; 0 if the feature is not categorical. Samples of a listed category go to the side opposite that of missing values, all others to the same side.
        """

    @property
    def left(
        self,
    ) -> Annotated[
        NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ]:
        """
        Left child, as an index within the tree, greater than that of its parent. The right child is `left + 1`.
        """

    @property
    def w_p(
        self,
    ) -> Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ]:
        """
        Mass W_p: estimated probability that a sample reaches the node and is positive. `prior` at roots.
        """

    @property
    def w_u(
        self,
    ) -> Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ]:
        """
        Mass W_u: estimated probability that a sample reaches the node. 1 at roots.
        """

    @property
    def n_labeled(
        self,
    ) -> Annotated[
        NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ]:
        """Labeled training samples (positives, if supervised)."""

    @property
    def n_unlabeled(
        self,
    ) -> Annotated[
        NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ]:
        """Unlabeled training samples (negatives, if supervised)."""

class SparseMatrix32:
    """Sparse matrix by rows (CSR, sorted indices)."""

    def __init__(
        self,
        data: Annotated[
            NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        indices: Annotated[
            NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        indptr: Annotated[
            NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        n_columns: int,
    ) -> None: ...

@overload
def encode(
    x: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device="cpu", writable=False)],
    rows: TrainingRows,
    categorical_features: Sequence[int],
    n_threads: int,
    progress: Callable[[int, int], None] | None = None,
) -> Codes: ...
@overload
def encode(
    x: SparseMatrix32,
    rows: TrainingRows,
    categorical_features: Sequence[int],
    n_threads: int,
    progress: Callable[[int, int], None] | None = None,
) -> Codes: ...
@overload
def encode(
    x: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device="cpu", writable=False)],
    rows: TrainingRows,
    categorical_features: Sequence[int],
    n_threads: int,
    progress: Callable[[int, int], None] | None = None,
) -> Codes: ...
@overload
def encode(
    x: SparseMatrix64,
    rows: TrainingRows,
    categorical_features: Sequence[int],
    n_threads: int,
    progress: Callable[[int, int], None] | None = None,
) -> Codes:
    """Encode the given rows of x, to train several forests on them."""

class Predictor32:
    def __init__(
        self,
        offset: Annotated[
            NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        categories: Annotated[
            NDArray[numpy.uint16], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        nodes: NodeArrays,
        value: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        n_features: int,
    ) -> None: ...
    @overload
    def mean(
        self,
        x: Annotated[
            NDArray[numpy.float32], dict(shape=(None, None), device="cpu", writable=False)
        ],
        n_threads: int,
    ) -> NDArray[numpy.float64]: ...
    @overload
    def mean(self, x: SparseMatrix32, n_threads: int) -> NDArray[numpy.float64]:
        """Mean leaf value over the trees, for each row."""

    @overload
    def leaves(
        self,
        x: Annotated[
            NDArray[numpy.float32], dict(shape=(None, None), device="cpu", writable=False)
        ],
        n_threads: int,
    ) -> NDArray[numpy.int32]: ...
    @overload
    def leaves(self, x: SparseMatrix32, n_threads: int) -> NDArray[numpy.int32]:
        """Index of the leaf that each row reaches in each tree."""

    @overload
    def mean_at(
        self,
        x: Annotated[
            NDArray[numpy.float32], dict(shape=(None, None), device="cpu", writable=False)
        ],
        varied: Annotated[
            NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        points: Annotated[
            NDArray[numpy.float32], dict(shape=(None, None), device="cpu", writable=False)
        ],
        n_threads: int,
    ) -> NDArray[numpy.float64]: ...
    @overload
    def mean_at(
        self,
        x: SparseMatrix32,
        varied: Annotated[
            NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        points: Annotated[
            NDArray[numpy.float32], dict(shape=(None, None), device="cpu", writable=False)
        ],
        n_threads: int,
    ) -> NDArray[numpy.float64]:
        """
        Mean leaf value over the trees, for each row and each point, a row of values that the features `varied` are set to.
        """

    @overload
    def mean_held_out(
        self,
        x: Annotated[
            NDArray[numpy.float32], dict(shape=(None, None), device="cpu", writable=False)
        ],
        rows: TrainingRows,
        params: TrainParams,
    ) -> NDArray[numpy.float64]: ...
    @overload
    def mean_held_out(
        self, x: SparseMatrix32, rows: TrainingRows, params: TrainParams
    ) -> NDArray[numpy.float64]:
        """
        Mean leaf value over the trees that did not train on a row or on its fold, or NaN.
        """

class SparseMatrix64:
    """Sparse matrix by rows (CSR, sorted indices)."""

    def __init__(
        self,
        data: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        indices: Annotated[
            NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        indptr: Annotated[
            NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        n_columns: int,
    ) -> None: ...

class Predictor64:
    def __init__(
        self,
        offset: Annotated[
            NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        categories: Annotated[
            NDArray[numpy.uint16], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        nodes: NodeArrays,
        value: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        n_features: int,
    ) -> None: ...
    @overload
    def mean(
        self,
        x: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), device="cpu", writable=False)
        ],
        n_threads: int,
    ) -> NDArray[numpy.float64]: ...
    @overload
    def mean(self, x: SparseMatrix64, n_threads: int) -> NDArray[numpy.float64]:
        """Mean leaf value over the trees, for each row."""

    @overload
    def leaves(
        self,
        x: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), device="cpu", writable=False)
        ],
        n_threads: int,
    ) -> NDArray[numpy.int32]: ...
    @overload
    def leaves(self, x: SparseMatrix64, n_threads: int) -> NDArray[numpy.int32]:
        """Index of the leaf that each row reaches in each tree."""

    @overload
    def mean_at(
        self,
        x: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), device="cpu", writable=False)
        ],
        varied: Annotated[
            NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        points: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), device="cpu", writable=False)
        ],
        n_threads: int,
    ) -> NDArray[numpy.float64]: ...
    @overload
    def mean_at(
        self,
        x: SparseMatrix64,
        varied: Annotated[
            NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        points: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), device="cpu", writable=False)
        ],
        n_threads: int,
    ) -> NDArray[numpy.float64]:
        """
        Mean leaf value over the trees, for each row and each point, a row of values that the features `varied` are set to.
        """

    @overload
    def mean_held_out(
        self,
        x: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), device="cpu", writable=False)
        ],
        rows: TrainingRows,
        params: TrainParams,
    ) -> NDArray[numpy.float64]: ...
    @overload
    def mean_held_out(
        self, x: SparseMatrix64, rows: TrainingRows, params: TrainParams
    ) -> NDArray[numpy.float64]:
        """
        Mean leaf value over the trees that did not train on a row or on its fold, or NaN.
        """

def instruction_set() -> str:
    """Instruction set that fits use on this machine."""
