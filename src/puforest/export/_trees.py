"""Validation of the model to export, and its trees and leaf values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from puforest import _validation as check
from puforest._base import PUClassifier
from puforest._model import Forest
from puforest.calibration import PUCalibratedClassifier


def fitted(model: Any, function: str) -> PUClassifier:
    """Return the model if it is a fitted puforest forest or tree."""
    if isinstance(model, PUCalibratedClassifier):
        raise TypeError(
            f"{function} does not export calibration, got PUCalibratedClassifier: pass its "
            "estimator_, whose predictions are not calibrated, or use to_onnx, which exports both"
        )
    if not isinstance(model, PUClassifier):
        got = f"the class {model.__name__}" if isinstance(model, type) else type(model).__name__
        raise TypeError(
            f"{function} requires a fitted puforest forest or tree, got {got}: for a pipeline, "
            "pass its last step; for a search, its best_estimator_"
        )
    check_is_fitted(model)
    return model


def leaf_values(model: PUClassifier) -> NDArray[np.float64]:
    """Return the prediction of each node as a leaf, such as its vote or its posterior."""
    return model._forest.values(model._leaf_values())


@dataclass(frozen=True)
class MeanOutput:
    """Probability as a function of the mean leaf value v: link(scale * v + offset).

    Attributes
    ----------
    link : {"identity", "sigmoid"}
        The function.
    scale, offset : float
        Its argument.
    """

    link: str
    scale: float
    offset: float


def mean_output(model: PUClassifier) -> MeanOutput:
    """Return how the mean leaf value becomes a probability."""
    calibrator = model._record.calibrator
    if calibrator is None:
        return MeanOutput("identity", 1.0, 0.0)
    return MeanOutput("sigmoid", calibrator.slope, calibrator.intercept)


def single_tree(model: PUClassifier, tree: Any) -> Forest:
    """Return one tree of a model."""
    t = check.integer("tree", tree, 0)
    n = model._forest.n_trees
    if t >= n:
        last = "0" if n == 1 else f"0 to {n - 1}"
        raise ValueError(f"tree must be the index of a tree, {last}, got {tree!r}")
    return model._forest.tree(t)
