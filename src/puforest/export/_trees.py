"""What all exports ask of a model: its trees, their answers and the names of the features."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from puforest import _validation as check
from puforest._base import PUClassifier
from puforest._model import Forest
from puforest.calibration import PUCalibratedClassifier


def fitted(model: Any, function: str) -> PUClassifier:
    """The model, if it is a fitted forest or tree of puforest."""
    if isinstance(model, PUCalibratedClassifier):
        raise TypeError(
            f"{function} takes the trees alone, got PUCalibratedClassifier: give its estimator_, "
            "whose answers are not calibrated, or use to_onnx, which exports the calibration too"
        )
    if not isinstance(model, PUClassifier):
        got = f"the class {model.__name__}" if isinstance(model, type) else type(model).__name__
        raise TypeError(
            f"{function} takes a fitted forest or tree of puforest, got {got}: of a pipeline give "
            "the last step, of a search its best_estimator_"
        )
    check_is_fitted(model)
    return model


def leaf_answers(model: PUClassifier) -> NDArray[np.float64]:
    """What each node of all trees would answer as a leaf: its vote, 0 or 1, or its posterior."""
    return model._forest.answers(check.one_of("voting", model.voting, check.VOTINGS))


def single_tree(model: PUClassifier, tree: Any) -> Forest:
    """One tree of a model."""
    t = check.integer("tree", tree, 0)
    n = model._forest.n_trees
    if t >= n:
        last = "0" if n == 1 else f"0 to {n - 1}"
        raise ValueError(f"tree must be the number of one of the trees, {last}, got {tree!r}")
    return model._forest.tree(t)
