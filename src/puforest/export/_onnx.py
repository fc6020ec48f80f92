"""ONNX.

The trees become one ``TreeEnsemble`` of ai.onnx.ml 5, the first version that adds up in the type of
its input. What its sum means is in ``_onnx_answers``.

Rows go left where ``x <= t``, with ``t`` in float64. A graph for float64 compares the same numbers.
For float32, thresholds are rounded down to the next float32: no float32 lies between the two, so
that all compare with it as with ``t``. The sum is then one of float32 too, which is exact for
votes, whole numbers up to 2²⁴, and not for posteriors: for these the graph widens X to float64.
"""

from __future__ import annotations

import json
import os
import warnings
from importlib.metadata import version
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from puforest import _validation as check
from puforest._atomic_write import atomic_write, require_place
from puforest._base import PUClassifier
from puforest._optional_imports import optional_import
from puforest.calibration import PUCalibratedClassifier
from puforest.export._onnx_answers import Graph, answers_of_counts, answers_of_shares
from puforest.export._trees import fitted, leaf_answers

if TYPE_CHECKING:
    import onnx

DTYPES = ("float32", "float64")

# The first that have TreeEnsemble.
OPSETS = {"": 21, "ai.onnx.ml": 5}
IR_VERSION = 10

# onnxruntime 1.31 walks down trees by recursion. With a stack of 8 MB it does so for 10,000 splits,
# and crashes for 20,000.
DEEPEST = 5_000


def to_onnx(
    model: Any, path: str | os.PathLike[str] | None = None, *, dtype: str = "float64"
) -> onnx.ModelProto:
    """Write a forest, a tree, or a calibrated one as an ONNX model.

    The ONNX model takes ``X`` of shape (rows, features) and gives ``label``, in the coding of
    ``classes_``, and ``probabilities`` of shape (rows, 2), as `predict` and `predict_proba` do.
    Labels are equal to those of `predict` with hard voting, always; with soft voting, unless the
    mean posterior of a row is within rounding, about 1e-15, of one half. The page
    ``docs/exports.md`` has the differences of probabilities. The model carries the feature names,
    the prior, the classes, the voting and the version of puforest as metadata.

    It needs onnxruntime 1.21, or another runtime with ``TreeEnsemble`` of ai.onnx.ml 5. NaN and
    infinity, which puforest refuses, are not refused by runtimes.

    Parameters
    ----------
    model : fitted estimator
        A forest or tree of puforest, or a `PUCalibratedClassifier` around one.
    path : str or path-like, optional
        A file to write the model to; it is written atomically.
    dtype : {"float64", "float32"}, default="float64"
        The type of the cells of X that the ONNX model will be given, and of ``probabilities``.

    Returns
    -------
    onnx.ModelProto
        The model.

    Examples
    --------
    >>> import numpy as np
    >>> import onnxruntime
    >>> from puforest import PUExtraTreesClassifier
    >>> from puforest.export import to_onnx
    >>> X = np.array([[0.1], [0.2], [0.3], [0.6], [0.7], [0.9]])
    >>> y = ["unknown"] * 4 + ["yes"] * 2
    >>> forest = PUExtraTreesClassifier(prior=0.5, random_state=0).fit(X, y)
    >>> onnx_model = to_onnx(forest)
    >>> session = onnxruntime.InferenceSession(onnx_model.SerializeToString())
    >>> label, probabilities = session.run(None, {"X": X[[0, 5]]})
    >>> label
    array(['unknown', 'yes'], dtype=object)
    """
    onnx = optional_import("onnx", extra="export", purpose="to_onnx")
    calibrator = None
    estimator = model
    if isinstance(model, PUCalibratedClassifier):
        check_is_fitted(model)
        calibrator, estimator = model.calibrator_, model.estimator_
    forest = fitted(estimator, "to_onnx")
    out = np.dtype(check.one_of("dtype", dtype, DTYPES))
    if path is not None:
        require_place(Path(path))
    if (depth := forest.get_depth()) > DEEPEST:
        warnings.warn(
            f"model has a tree of depth {depth:,}: onnxruntime may crash when "
            f"it loads the ONNX model. Fit with max_depth={DEEPEST:_} or less, or with a larger "
            "min_samples_leaf.",
            stacklevel=2,
        )
    hard = forest.voting == "hard"
    within = out if hard else np.dtype(np.float64)

    graph = Graph(onnx)
    rows = "X" if within == out else graph.cast("X", within)
    total = graph.add("TreeEnsemble", rows, domain="ai.onnx.ml", **_ensemble(onnx, forest, within))
    total = graph.add("Squeeze", total, graph.constant(np.array([1])))
    answers = answers_of_counts if hard else answers_of_shares
    answers(graph, total, forest._forest.n_trees, forest.classes_, calibrator, out)
    made = graph.model(
        inputs={"X": (out, ["rows", forest._forest.n_features])},
        opsets=OPSETS,
        ir_version=IR_VERSION,
        producer_version=version("puforest"),
    )
    onnx.helper.set_model_props(
        made,
        {
            "puforest_version": version("puforest"),
            "estimator": type(model).__name__,
            "feature_names": json.dumps(check.feature_names(forest)),
            "classes": json.dumps(forest.classes_.tolist()),
            "prior": repr(float(model.prior_)),
            "voting": forest.voting,
        },
    )
    onnx.checker.check_model(made)
    if path is not None:
        with atomic_write(Path(path)) as part:
            part.write_bytes(made.SerializeToString())
    return made  # type: ignore[no-any-return]


def _ensemble(onnx: Any, model: PUClassifier, within: np.dtype[Any]) -> dict[str, Any]:
    """The attributes of TreeEnsemble, which numbers inner nodes and leaves apart.

    onnxruntime 1.21 to 1.23 take a root whose two children have the same number for a leaf, also
    where one is an inner node and the other a leaf (its issue 24679), and then take the wrong
    leaf. So no root here has such children: there are unused leaves before all others, and a tree
    that is but a leaf becomes a node with two leaves that answer the same.
    """
    forest = model._forest
    is_leaf, root = forest.is_leaf, forest.offset[:-1]
    left = forest.left_children()
    inner, leaves = np.flatnonzero(~is_leaf), np.flatnonzero(is_leaf)
    number = np.where(is_leaf, np.cumsum(is_leaf), np.cumsum(~is_leaf)) - 1
    n_unused = _first_leaf(left[root[~is_leaf[root]]], number, is_leaf)
    number[leaves] += n_unused

    bare = root[is_leaf[root]]
    roots = number[root]
    roots[is_leaf[root]] = len(inner) + np.arange(len(bare))
    twins = n_unused + len(leaves) + np.arange(len(bare))
    goes_left = np.concatenate([left[inner], bare])
    goes_right = np.concatenate([left[inner] + 1, bare])
    right_number = np.concatenate([number[left[inner] + 1], twins])
    feature = np.concatenate([forest.feature[inner], np.zeros(len(bare), dtype=np.int32)])
    threshold = np.concatenate([forest.threshold[inner], np.zeros(len(bare))])
    answer = leaf_answers(model)
    weights = np.concatenate([np.zeros(n_unused), answer[leaves], answer[bare]])

    tensor = onnx.numpy_helper.from_array
    return {
        "n_targets": 1,
        "aggregate_function": 1,  # the sum
        "tree_roots": roots.tolist(),
        "nodes_featureids": feature.tolist(),
        "nodes_splits": tensor(rounded_down(threshold, within), "nodes_splits"),
        "nodes_modes": tensor(np.zeros(len(feature), dtype=np.uint8), "nodes_modes"),  # x <= t
        "nodes_truenodeids": number[goes_left].tolist(),
        "nodes_trueleafs": is_leaf[goes_left].astype(int).tolist(),
        "nodes_falsenodeids": right_number.tolist(),
        "nodes_falseleafs": is_leaf[goes_right].astype(int).tolist(),
        "leaf_targetids": [0] * len(weights),
        "leaf_weights": tensor(weights.astype(within), "leaf_weights"),
    }


def _first_leaf(
    left: NDArray[np.int64], number: NDArray[np.int64], is_leaf: NDArray[np.bool_]
) -> int:
    """The least number to count leaves from at which no leaf has that of its inner sibling."""
    mixed = left[is_leaf[left] != is_leaf[left + 1]]
    leaf = np.where(is_leaf[mixed], mixed, mixed + 1)
    sibling = 2 * mixed + 1 - leaf
    taken = set((number[sibling] - number[leaf]).tolist())
    return next(start for start in count() if start not in taken)


def rounded_down(threshold: NDArray[np.float64], dtype: np.dtype[Any]) -> NDArray[Any]:
    """The largest numbers of the type that are at most `threshold`; -inf below all of them."""
    with np.errstate(over="ignore"):
        rounded = threshold.astype(dtype)
    down = np.nextafter(rounded, dtype.type(-np.inf))
    return np.where(rounded > threshold, down, rounded)
