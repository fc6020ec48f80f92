"""The model in a report: importances, trees, parameters and versions."""

from __future__ import annotations

import inspect
import platform
from typing import Any

import numpy as np
import scipy
import sklearn
from numpy.typing import NDArray
from scipy.stats.mstats import mquantiles

import puforest
from puforest._base import PUClassifier
from puforest._model import LEAF, Forest
from puforest._unwrap import fit_record
from puforest.inspection import importances, partial_dependence
from puforest.report._subject import Subject
from puforest.risk import posterior
from puforest.scenario import DESCRIPTIONS

Array = NDArray[np.float64]

MAX_NODES = 6000
MAX_NODES_PER_TREE = 1500
MAX_TREES = 50
N_IMPORTANCES = 20
N_DEPENDENCES = 6
MAX_ROWS = 500  # averaged over at each value of a feature
GRID = 30


def most_important(model: PUClassifier, n: int) -> list[int]:
    """Indices of the features with the largest risk reduction, in decreasing order."""
    order: list[int] = np.argsort(-model.feature_importances_, kind="stable")[:n].tolist()
    return order


def importance_part(model: PUClassifier, names: list[str]) -> dict[str, Any]:
    """Importances of the most important features, with the spread over trees."""
    found = importances(model, top=N_IMPORTANCES)
    return {
        "names": [names[i] for i in most_important(model, N_IMPORTANCES)],
        "mean": found.mean,
        "std": found.std,
        "n_features": len(names),
        "n_trees": len(found.values),
        "infinite": int(model.infinite_reductions_.sum()),
    }


def dependence_part(
    subject: Subject, X: NDArray[Any], names: list[str], weight: Array | None, rng: Any
) -> dict[str, Any]:
    """Partial dependence on the most important features, over a sample of the population."""
    rows = np.arange(len(X)) if weight is None else np.flatnonzero(weight > 0)
    if len(rows) > MAX_ROWS:
        rows = np.sort(rng.choice(rows, MAX_ROWS, replace=False))
    X, weights = X[rows], None if weight is None else weight[rows]
    curves, left_out = [], []
    for i in most_important(subject.forest, N_DEPENDENCES):
        ends = _percentiles(X[:, i])
        if ends is None:
            left_out.append(names[i])
            continue
        found = partial_dependence(
            subject.model, X, i, sample_weight=weights, grid_resolution=GRID, percentiles=ends
        )
        curves.append({"name": names[i], "x": found.grid[0], "y": found.average})
    return {"curves": curves, "left_out": left_out, "n_rows": len(rows)}


def _percentiles(values: NDArray[Any]) -> tuple[float, float] | None:
    """Choose the central 90%, or the full range if that is a single value; None if it is too.

    scikit-learn requires distinct ends of the grid unless there are few values.
    """
    few = len(np.unique(values)) < GRID
    for ends in ((0.05, 0.95), (0.0, 1.0)):
        low, high = mquantiles(values.astype(np.float64), prob=ends)
        if few or not np.allclose(low, high):
            return ends
    return None


# Trees


def tree_part(model: PUClassifier, names: list[str]) -> dict[str, Any]:
    """Nodes of the first trees, from the roots down, within a budget."""
    forest = model._forest
    trees: list[dict[str, Any]] = []
    budget = MAX_NODES
    for t in range(min(forest.n_trees, MAX_TREES)):
        if budget <= 0:
            break
        tree = _nodes(forest.tree(t), min(budget, MAX_NODES_PER_TREE))
        budget -= len(tree["feature"])
        trees.append(tree)
    used = np.unique([i for tree in trees for i in tree["feature"] if i != LEAF]).astype(int)
    return {
        "trees": trees,
        "n_trees": forest.n_trees,
        "names": {int(i): names[i] for i in used},
    }


def _nodes(tree: Forest, most: int) -> dict[str, Any]:
    """First nodes in level order; `left` refers to this order, LEAF if the child is not kept."""
    kept = [0]
    left = []
    for node in kept:  # grows during the loop
        child = int(tree.left[node])
        if child == LEAF or len(kept) + 2 > most:
            left.append(LEAF)
        else:
            left.append(len(kept))
            kept += [child, child + 1]
    nodes = np.array(kept)
    return {
        "feature": tree.feature[nodes],
        "threshold": tree.threshold[nodes],
        "left": left,
        "w_p": tree.w_p[nodes],
        "w_u": tree.w_u[nodes],
        "posterior": posterior(tree.w_p[nodes], tree.w_u[nodes]),
        "labeled": tree.n_labeled[nodes],
        "unlabeled": tree.n_unlabeled[nodes],
        "n_nodes": len(tree.feature),
        "depth": tree.depth(),
    }


# Parameters


def parameter_part(subject: Subject) -> list[dict[str, Any]]:
    """Parameters by class, and whether they differ from their defaults."""
    return [
        {
            "class": type(layer).__name__,
            "parameters": [
                {
                    "name": name,
                    "value": repr(value),
                    "changed": repr(value) != repr(_default(layer, name)),
                }
                for name, value in _fitted_parameters(layer).items()
                if name != "estimator"  # which follows
            ],
        }
        for layer in subject.layers
    ]


def _fitted_parameters(layer: Any) -> dict[str, Any]:
    """Return the parameters at the time of the fit."""
    current: dict[str, Any] = layer.get_params(deep=False)
    record = fit_record(layer)
    return current | ({"method": layer._record.method} if record is None else record.parameters)


def _default(layer: Any, name: str) -> Any:
    return inspect.signature(type(layer)).parameters[name].default


def version_part() -> list[tuple[str, str]]:
    return [
        ("puforest", puforest.__version__),
        ("Python", platform.python_version()),
        ("NumPy", np.__version__),
        ("SciPy", scipy.__version__),
        ("scikit-learn", sklearn.__version__),
        ("system", f"{platform.system()} {platform.machine()}"),
    ]


def model_part(subject: Subject) -> dict[str, Any]:
    """Structure and training data of the model."""
    model, forest = subject.forest, subject.forest._forest
    part: dict[str, Any] = {
        "class": " of ".join(type(layer).__name__ for layer in subject.layers),
        "n_trees": forest.n_trees,
        "n_leaves": forest.n_leaves(),
        "depth": forest.depth(),
        "n_features": forest.n_features,
        "labeled": int(forest.n_labeled[0]),
        "unlabeled": int(forest.n_unlabeled[0]),
        "scenario": subject.scenario,
        "scenario_description": DESCRIPTIONS[subject.scenario],
        "risk": model._record.risk,
        "loss": model._record.loss,
        "hard_votes": model.voting == "hard" and not subject.calibrated,
    }
    if hasattr(model, "oob_risk_"):
        part["oob_risk"] = model.oob_risk_
    return part
