"""Export to ONNX.

The trees become one ``TreeEnsemble`` of ai.onnx.ml 5, the first version that sums in the dtype of
its input. ``_onnx_outputs`` turns the sum into labels and probabilities.

Rows go left where ``x <= t``, with ``t`` in float64. A float64 graph compares the same numbers. For
float32, thresholds are rounded down to float32: no float32 lies between the two, so every float32
compares with the rounded threshold as with ``t``. The sum is then also in float32, which is exact
for votes (integers up to 2²⁴) but not for fractions; for these, the graph casts X to float64.

Splits on categories test whether X is in a set. The graph adds 1 to all category numbers first: the
reference implementation in onnx 1.23 takes the member 0 for the end of a set.
"""

from __future__ import annotations

import json
import os
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
from puforest._warnings import warn
from puforest.calibration import PUCalibratedClassifier
from puforest.export._matrix import DTYPES
from puforest.export._onnx_check import check_exported
from puforest.export._onnx_outputs import (
    Graph,
    Prediction,
    outputs_from_mean,
    outputs_from_votes,
)
from puforest.export._trees import fitted, leaf_values
from puforest.io._columns import column_entries

if TYPE_CHECKING:
    import onnx

# The first opsets with TreeEnsemble.
OPSETS = {"": 21, "ai.onnx.ml": 5}
IR_VERSION = 10

# onnxruntime 1.31 loads trees recursively. With a stack of 8 MB it handles a depth of 10,000 and
# crashes at 20,000.
DEEPEST = 5_000

# Categories in all sets. onnxruntime 1.31 keeps a hash set for each split: 5 s and 900 MB for this
# many.
MOST_LISTED = 10_000_000

LESS_OR_EQUAL, MEMBER = 0, 6  # modes of nodes


def to_onnx(
    model: Any, path: str | os.PathLike[str] | None = None, *, dtype: str = "float64"
) -> onnx.ModelProto:
    """Export a forest or tree, calibrated or not, as an ONNX model.

    The ONNX model takes ``X`` of shape (rows, features) and returns ``label``, one of
    ``classes_``, and ``probabilities`` of shape (rows, 2), like `predict` and `predict_proba`.
    With hard voting, labels are always equal to those of `predict`; otherwise, they are equal
    unless the probability of a row is within rounding error, about 1e-15, of the threshold.
    ``docs/exports.md`` lists how much probabilities can differ. Feature names, prior, classes,
    voting, threshold and the puforest version are stored as metadata.

    ``X`` is a matrix of numbers, with NaN for missing values and category numbers for categories;
    `to_matrix` encodes tables. Unlike puforest, runtimes do not reject infinity.

    The model requires onnxruntime 1.21, or 1.23 if it has splits on categories, or another runtime
    with ``TreeEnsemble`` of ai.onnx.ml 5. Models with splits on categories are compared with
    puforest on random rows before they are returned: with onnxruntime if it is installed, else by
    evaluating the written trees with NumPy.

    Parameters
    ----------
    model : fitted estimator
        A puforest forest or tree, or a `PUCalibratedClassifier` of one.
    path : str or path-like, optional
        File to write the model to. It is written atomically.
    dtype : {"float64", "float32"}, default="float64"
        Dtype of the X that the ONNX model takes, and of ``probabilities``.

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
    estimator = model
    if isinstance(model, PUCalibratedClassifier):
        check_is_fitted(model)
        estimator = model.estimator_
    forest = fitted(estimator, "to_onnx")
    prediction = _prediction(model, forest)
    out = np.dtype(check.one_of("dtype", dtype, DTYPES))
    if path is not None:
        require_place(Path(path))
    if (depth := forest.get_depth()) > DEEPEST:
        warn(
            f"model has a tree of depth {depth:,}: onnxruntime may crash when it loads the ONNX "
            f"model. Fit with max_depth={DEEPEST:_} or less, or with a larger min_samples_leaf.",
        )
    _refuse_large_sets(forest)
    hard = forest._leaf_values() == "hard"
    within = out if hard else np.dtype(np.float64)

    graph = Graph(onnx)
    rows = "X" if within == out else graph.cast("X", within)
    if forest._forest.n_categories.any():
        first = np.zeros(forest._forest.n_features, dtype=within)
        first[list(forest._record.schema.categorical)] = 1
        rows = graph.add("Add", rows, graph.constant(first))
    total = graph.add("TreeEnsemble", rows, domain="ai.onnx.ml", **_ensemble(onnx, forest, within))
    total = graph.add("Squeeze", total, graph.constant(np.array([1])))
    add_outputs = outputs_from_votes if hard else outputs_from_mean
    add_outputs(graph, total, prediction, out)
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
            "columns": json.dumps(column_entries(forest._record.schema)),
            "classes": json.dumps(forest.classes_.tolist()),
            "prior": repr(float(model.prior_)),
            "voting": forest.voting,
            "threshold": repr(prediction.threshold),
        },
    )
    onnx.checker.check_model(made)
    if forest._forest.n_categories.any():
        threshold, run = prediction.threshold, depth <= DEEPEST
        check_exported(onnx, made, model, forest, threshold=threshold, run=run)
    if path is not None:
        with atomic_write(Path(path)) as part:
            part.write_bytes(made.SerializeToString())
    return made  # type: ignore[no-any-return]


def _prediction(model: Any, forest: PUClassifier) -> Prediction:
    """Return how the sum of the leaf values becomes labels and probabilities."""
    calibrator, threshold = forest._record.calibrator, forest.threshold_
    if isinstance(model, PUCalibratedClassifier):
        return Prediction(forest._forest.n_trees, forest.classes_, model.calibrator_, 0.5)
    if calibrator is not None:
        calibrator = calibrator.of_margin()
    return Prediction(forest._forest.n_trees, forest.classes_, calibrator, threshold)


def _ensemble(onnx: Any, model: PUClassifier, within: np.dtype[Any]) -> dict[str, Any]:
    """Return the attributes of TreeEnsemble, which numbers internal nodes and leaves separately.

    onnxruntime 1.21 to 1.23 mistake a root whose two children have the same number for a leaf, even
    if one child is an internal node and the other a leaf (issue 24679), and then predict from the
    wrong leaf. To avoid such roots, the leaves start with unused ones, and a tree of a single leaf
    becomes a split with two equal leaves.
    """
    forest = model._forest
    is_leaf, root = forest.is_leaf, forest.offset[:-1]
    left = forest.left_children()
    inner, leaves = np.flatnonzero(~is_leaf), np.flatnonzero(is_leaf)
    number = np.where(is_leaf, np.cumsum(is_leaf), np.cumsum(~is_leaf)) - 1
    n_unused = _first_leaf(left[root[~is_leaf[root]]], number, is_leaf)
    number[leaves] += n_unused

    single = root[is_leaf[root]]
    roots = number[root]
    roots[is_leaf[root]] = len(inner) + np.arange(len(single))
    twins = n_unused + len(leaves) + np.arange(len(single))
    # The true branch of a set is that of its members, the false branch that of missing values.
    is_set = forest.n_categories[inner] > 0
    missing_left = forest.missing_left[inner]
    true_child = left[inner] + np.where(is_set, missing_left, 0)
    false_child = 2 * left[inner] + 1 - true_child
    if_true = np.concatenate([true_child, single])
    if_false = np.concatenate([false_child, single])
    false_number = np.concatenate([number[false_child], twins])

    def with_single(values: NDArray[Any]) -> NDArray[Any]:
        """Append the splits of the trees of a single leaf."""
        return np.concatenate([values, np.zeros(len(single), dtype=values.dtype)])

    feature = with_single(forest.feature[inner])
    threshold = with_single(forest.threshold[inner])
    mode = with_single(np.where(is_set, MEMBER, LESS_OR_EQUAL).astype(np.uint8))
    missing = with_single(np.where(is_set, 0, missing_left))
    value = leaf_values(model)
    weights = np.concatenate([np.zeros(n_unused), value[leaves], value[single]])

    tensor = onnx.numpy_helper.from_array
    sets = {}
    if is_set.any():
        ends = np.cumsum(forest.n_categories[inner][is_set], dtype=np.int64)
        members = np.insert(forest.categories.astype(within) + within.type(1), ends, np.nan)
        sets["membership_values"] = tensor(members, "membership_values")
    return {
        "n_targets": 1,
        "aggregate_function": 1,  # the sum
        "tree_roots": roots.tolist(),
        "nodes_featureids": feature.tolist(),
        "nodes_splits": tensor(rounded_down(threshold, within), "nodes_splits"),
        "nodes_modes": tensor(mode, "nodes_modes"),
        "nodes_missing_value_tracks_true": missing.tolist(),
        "nodes_truenodeids": number[if_true].tolist(),
        "nodes_trueleafs": is_leaf[if_true].astype(int).tolist(),
        "nodes_falsenodeids": false_number.tolist(),
        "nodes_falseleafs": is_leaf[if_false].astype(int).tolist(),
        "leaf_targetids": [0] * len(weights),
        "leaf_weights": tensor(weights.astype(within), "leaf_weights"),
    } | sets


def _refuse_large_sets(model: PUClassifier) -> None:
    n_listed = len(model._forest.categories)
    if n_listed > MOST_LISTED:
        raise ValueError(
            f"the splits of the model list {n_listed:,} categories, and to_onnx writes at most "
            f"{MOST_LISTED:,}: fit fewer trees, or with a smaller max_depth or a larger "
            "min_samples_leaf, merge rare categories, or use to_treelite"
        )


def _first_leaf(
    left: NDArray[np.int64], number: NDArray[np.int64], is_leaf: NDArray[np.bool_]
) -> int:
    """Return the smallest first leaf number such that no leaf shares that of its sibling."""
    mixed = left[is_leaf[left] != is_leaf[left + 1]]
    leaf = np.where(is_leaf[mixed], mixed, mixed + 1)
    sibling = 2 * mixed + 1 - leaf
    taken = set((number[sibling] - number[leaf]).tolist())
    return next(start for start in count() if start not in taken)


def rounded_down(threshold: NDArray[np.float64], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Round down to the largest values of the dtype at most `threshold`; -inf if none."""
    with np.errstate(over="ignore"):
        rounded = threshold.astype(dtype)
    down = np.nextafter(rounded, dtype.type(-np.inf))
    return np.where(rounded > threshold, down, rounded)
