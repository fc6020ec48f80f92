"""Comparison of an ONNX model with the model it was exported from, on random rows."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from puforest._base import PUClassifier
from puforest._encoded import EncodedTable
from puforest._model import Forest
from puforest._schema import FeatureSchema
from puforest.export._trees import leaf_values

MOST_ROWS = 64
MOST_CELLS = 10_000_000
MISSING = 0.2  # fraction of missing cells

# Largest difference of probabilities: the order of summation, and rounding to float32.
TOLERANCE = 1e-6


def check_exported(
    onnx: Any, made: Any, model: Any, estimator: PUClassifier, *, threshold: float, run: bool
) -> None:
    """Raise an error if the ONNX model `made` does not predict as `model` does.

    `threshold` is that of the labels. `run` allows the use of onnxruntime. Without it, only the sum
    over the trees is compared.
    """
    dtype = onnx.helper.tensor_dtype_to_np_dtype(made.graph.input[0].type.tensor_type.elem_type)
    rows = random_rows(estimator._forest, estimator._record.schema, dtype)
    if run and find_spec("onnxruntime") is not None:
        runtime = import_module("onnxruntime")
        by = f"onnxruntime {runtime.__version__}"
        session = runtime.InferenceSession(made.SerializeToString())
        label, probabilities = session.run(["label", "probabilities"], {"X": rows})
        table = _encoded(estimator, rows)
        found, expected = probabilities[:, 1], model.predict_proba(table)[:, 1]
        clear = np.abs(expected - threshold) > TOLERANCE
        differs = clear & (label != model.predict(table))
    else:
        by = "NumPy"
        found = evaluated(onnx, made, rows)
        expected = leaf_values(estimator)[_leaves(estimator, rows)].sum(axis=1)
        differs = np.zeros(len(rows), dtype=bool)
    differs |= ~(np.abs(found - expected) <= TOLERANCE * max(1.0, expected.max()))
    if differs.any():
        raise RuntimeError(
            f"the ONNX model, evaluated by {by}, differs from puforest for {differs.sum()} of "
            f"{len(rows)} random rows: upgrade onnxruntime, or use to_treelite"
        )


def random_rows(forest: Forest, schema: FeatureSchema, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return rows with category numbers, thresholds, numbers next to them, and missing values."""
    rng = np.random.default_rng(0)
    n = max(1, min(MOST_ROWS, MOST_CELLS // forest.n_features))
    rows = np.zeros((n, forest.n_features), dtype=dtype)
    for j in schema.categorical:
        rows[:, j] = rng.integers(max(1, len(schema.categories(j) or ())), size=n)
    with np.errstate(over="ignore"):
        threshold = forest.threshold.astype(dtype)
    is_number = ~forest.is_leaf & (forest.n_categories == 0) & np.isfinite(threshold)
    nodes = np.flatnonzero(is_number)
    nodes = nodes[np.argsort(forest.feature[nodes], kind="stable")]
    features, start = np.unique(forest.feature[nodes], return_index=True)
    for j, a, b in zip(features, start, [*start[1:], len(nodes)], strict=False):
        near = threshold[nodes[a:b]]
        above = np.nextafter(near, np.finfo(dtype).max)
        rows[:, j] = rng.choice(np.concatenate([near, above]), n)
    rows[rng.random(rows.shape) < MISSING] = np.nan
    return rows


def _encoded(estimator: PUClassifier, rows: NDArray[Any]) -> EncodedTable:
    return EncodedTable(rows, estimator._record.schema.categorical)


def _leaves(estimator: PUClassifier, rows: NDArray[Any]) -> NDArray[np.int64]:
    """Return the leaf of each row in each tree, as an index into the arrays of the forest."""
    leaves = estimator._leaves(_encoded(estimator, rows)).reshape(len(rows), -1)
    return leaves + estimator._forest.offset[:-1]


def evaluated(onnx: Any, made: Any, rows: NDArray[Any]) -> NDArray[np.float64]:
    """Evaluate the written trees with NumPy: the sum of their leaves, for each row."""
    node = next(node for node in made.graph.node if node.op_type == "TreeEnsemble")
    attribute = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
    array = onnx.numpy_helper.to_array
    mode, split = array(attribute["nodes_modes"]), array(attribute["nodes_splits"])
    weight = array(attribute["leaf_weights"])
    sets = _sets(array(attribute["membership_values"]), np.flatnonzero(mode))
    constants = {c.name: array(c) for c in made.graph.initializer}
    first = next(constants[n.input[1]] for n in made.graph.node if n.op_type == "Add")
    total = np.zeros(len(rows))
    for i, row in enumerate(rows + first):
        for root in attribute["tree_roots"]:
            at, is_leaf = root, False
            while not is_leaf:
                value = row[attribute["nodes_featureids"][at]]
                if np.isnan(value):
                    holds = bool(attribute["nodes_missing_value_tracks_true"][at])
                else:
                    holds = float(value) in sets[at] if mode[at] else value <= split[at]
                branch = "true" if holds else "false"
                is_leaf = bool(attribute[f"nodes_{branch}leafs"][at])
                at = attribute[f"nodes_{branch}nodeids"][at]
            total[i] += weight[at]
    return total


def _sets(members: NDArray[Any], nodes: NDArray[np.intp]) -> dict[int, frozenset[float]]:
    """Return the set of each node; in `members`, NaN ends a set."""
    ends = np.flatnonzero(np.isnan(members))
    starts = np.append(0, ends[:-1] + 1)
    lists = (members[a:b].tolist() for a, b in zip(starts, ends, strict=True))
    return {int(node): frozenset(found) for node, found in zip(nodes, lists, strict=True)}
