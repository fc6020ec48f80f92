"""Outputs of the ONNX model: labels and probabilities from the sum over the trees.

Votes are integers, so a forest of n trees has n + 1 possible predictions. They are looked up in a
table computed by puforest, and are therefore identical, calibrated or not. Other leaf values are
averaged and calibrated by the graph, in float64.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.isotonic import IsotonicRegression

from puforest._calibrators import Calibrator, Sigmoid

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Prediction:
    """Prediction from the sum of the leaf values.

    Attributes
    ----------
    n_trees : int
        Number of trees.
    classes : ndarray of shape (2,)
        The classes; the second one is positive.
    calibrator : Calibrator or None
        Map from twice the mean leaf value minus 1 to a probability.
    threshold : float
        Rows with a larger probability are labeled positive.
    """

    n_trees: int
    classes: NDArray[Any]
    calibrator: Calibrator | None
    threshold: float


class Graph:
    """Builder of an ONNX graph; values are referred to by name."""

    def __init__(self, onnx: Any) -> None:
        self._onnx = onnx
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._outputs: list[Any] = []

    def add(self, operator: str, *inputs: str, name: str = "", **attributes: Any) -> str:
        """Add an operator and return the name of its output."""
        result = name or f"{operator}_{len(self._nodes)}"
        node = self._onnx.helper.make_node(operator, inputs, [result], name=result, **attributes)
        self._nodes.append(node)
        return result

    def constant(self, value: NDArray[Any] | float) -> str:
        """Add a constant; Python floats become float64."""
        name = f"constant_{len(self._constants)}"
        self._constants.append(self._onnx.numpy_helper.from_array(np.asarray(value), name))
        return name

    def cast(self, value: str, dtype: np.dtype[Any], name: str = "") -> str:
        """Cast to another dtype."""
        return self.add("Cast", value, name=name, to=self._code(dtype))

    def returns(self, name: str, dtype: np.dtype[Any], shape: list[int | str]) -> None:
        """Declare an output of the graph."""
        self._outputs.append(self._value(name, dtype, shape))

    def model(
        self,
        inputs: Mapping[str, tuple[np.dtype[Any], list[int | str]]],
        opsets: Mapping[str, int],
        ir_version: int,
        producer_version: str,
    ) -> Any:
        """Return the ONNX model."""
        helper = self._onnx.helper
        graph = helper.make_graph(
            self._nodes,
            "puforest",
            [self._value(name, dtype, shape) for name, (dtype, shape) in inputs.items()],
            self._outputs,
            initializer=self._constants,
        )
        return helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid(*opset) for opset in opsets.items()],
            ir_version=ir_version,
            producer_name="puforest",
            producer_version=producer_version,
        )

    def _value(self, name: str, dtype: np.dtype[Any], shape: list[int | str]) -> Any:
        return self._onnx.helper.make_tensor_value_info(name, self._code(dtype), shape)

    def _code(self, dtype: np.dtype[Any]) -> int:
        if dtype.kind == "O":
            return int(self._onnx.TensorProto.STRING)
        return int(self._onnx.helper.np_dtype_to_tensor_dtype(dtype))


def outputs_from_votes(
    graph: Graph, total: str, prediction: Prediction, dtype: np.dtype[Any]
) -> None:
    """Look up the outputs by the number of positive votes."""
    positive = np.arange(prediction.n_trees + 1) / prediction.n_trees
    if prediction.calibrator is not None:
        positive = prediction.calibrator.predict(2 * positive - 1)
    count = graph.cast(total, np.dtype(np.int64))
    table = np.column_stack([1 - positive, positive]).astype(dtype)
    is_positive = positive > prediction.threshold
    labels = _exportable(prediction.classes)[is_positive.astype(np.intp)]
    graph.add("Gather", graph.constant(labels), count, name="label")
    graph.add("Gather", graph.constant(table), count, name="probabilities")
    _declare(graph, labels.dtype, dtype)


def outputs_from_mean(
    graph: Graph, total: str, prediction: Prediction, dtype: np.dtype[Any]
) -> None:
    """Compute the outputs from the mean leaf value."""
    positive = graph.add("Div", total, graph.constant(float(prediction.n_trees)))
    if prediction.calibrator is not None:
        double = graph.add("Mul", positive, graph.constant(2.0))
        score = graph.add("Sub", double, graph.constant(1.0))
        positive = _calibrated(graph, score, prediction.calibrator)
    labels = _exportable(prediction.classes)
    above = graph.add("Greater", positive, graph.constant(prediction.threshold))
    above = graph.cast(above, np.dtype(np.int64))
    graph.add("Gather", graph.constant(labels), above, name="label")
    negative = graph.add("Sub", graph.constant(1.0), positive)
    axis = graph.constant(np.array([1]))
    columns = [graph.add("Unsqueeze", column, axis) for column in (negative, positive)]
    both = graph.add("Concat", *columns, axis=1)
    graph.cast(both, dtype, name="probabilities")
    _declare(graph, labels.dtype, dtype)


def _declare(graph: Graph, label: np.dtype[Any], dtype: np.dtype[Any]) -> None:
    graph.returns("label", label, ["rows"])
    graph.returns("probabilities", dtype, ["rows", 2])


def _exportable(classes: NDArray[Any]) -> NDArray[Any]:
    """Return the classes in a dtype that ONNX has; strings become objects."""
    labels = np.array(classes.tolist()) if classes.dtype.kind == "O" else classes
    if labels.dtype.kind == "U":
        return labels.astype(object)
    if labels.dtype.kind in "biuf" and labels.dtype.itemsize <= 8:
        return labels.astype(labels.dtype.newbyteorder("="))
    raise TypeError(
        "to_onnx supports classes that are numbers, strings or booleans, got "
        f"{classes.tolist()}: encode y as one of these"
    )


def _calibrated(graph: Graph, score: str, calibrator: Calibrator) -> str:
    if isinstance(calibrator, Sigmoid):
        scaled = graph.add("Mul", score, graph.constant(calibrator.slope))
        shifted = graph.add("Add", scaled, graph.constant(calibrator.intercept))
        return graph.add("Sigmoid", shifted)
    assert isinstance(calibrator, IsotonicRegression)
    return _interpolated(graph, score, calibrator.X_thresholds_, calibrator.y_thresholds_)


def _interpolated(graph: Graph, score: str, x: Array, y: Array) -> str:
    """Interpolate linearly between the points (x, y), constant on either side."""
    if len(x) == 1:
        nothing = graph.add("Mul", score, graph.constant(0.0))
        return graph.add("Add", nothing, graph.constant(float(y[0])))
    inside = graph.add("Clip", score, graph.constant(x[0]), graph.constant(x[-1]))
    column = graph.add("Unsqueeze", inside, graph.constant(np.array([1])))
    beyond = graph.cast(graph.add("Less", graph.constant(x[1:-1]), column), np.dtype(np.int64))
    piece = graph.add("ReduceSum", beyond, graph.constant(np.array([1])), keepdims=0)
    slope = np.diff(y) / np.diff(x)
    start, height, steepness = (
        graph.add("Gather", graph.constant(ends), piece) for ends in (x[:-1], y[:-1], slope)
    )
    along = graph.add("Sub", inside, start)
    return graph.add("Add", height, graph.add("Mul", steepness, along))
