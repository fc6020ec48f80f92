"""The model in a report: importances, dependence, parameters and versions."""

from __future__ import annotations

import inspect
import platform
from dataclasses import asdict
from typing import Any

import numpy as np
import scipy
import sklearn
from numpy.typing import NDArray

import puforest
from puforest._base import PUClassifier
from puforest._comparison import Comparison
from puforest._encoded import EncodedTable
from puforest._fit_record import RecordedFitMixin
from puforest._threshold import rule_text
from puforest._unwrap import fit_record
from puforest.inspection import PartialDependence, importances, partial_dependence
from puforest.inspection._grid import DAY, is_missing, shown_value
from puforest.report._subject import Subject
from puforest.scenario import DESCRIPTIONS

Array = NDArray[np.float64]

N_IMPORTANCES = 20
N_DEPENDENCES = 6
MAX_ROWS, MIN_ROWS = 500, 100  # averaged over at each value of a feature
MAX_PATHS = 100_000  # rows times trees, to save time; forests with many trees get fewer rows
GRID = 30
MAX_CATEGORIES = 12  # bars of a categorical feature
MAX_PARAMETER = 1000  # characters of the value of a parameter, such as a vocabulary


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
    subject: Subject, X: EncodedTable, names: list[str], weight: Array | None, rng: Any
) -> dict[str, Any]:
    """Partial dependence on the most important features, over a sample of the population."""
    rows = np.arange(len(X)) if weight is None else np.flatnonzero(weight > 0)
    most = min(MAX_ROWS, max(MIN_ROWS, MAX_PATHS // subject.forest._forest.n_trees))
    if len(rows) > most:
        rows = np.sort(rng.choice(rows, most, replace=False))
    X, weights = X[rows], None if weight is None else weight[rows]
    schema = subject.forest._record.schema
    curves = []
    for i in most_important(subject.forest, N_DEPENDENCES):
        points = MAX_CATEGORIES if schema.kind(i) == "category" else GRID
        found = partial_dependence(
            subject.model, X, i, sample_weight=weights, grid_resolution=points
        )
        curves.append({"name": names[i]} | _curve(found))
    return {"curves": curves, "n_rows": len(rows), "max_categories": MAX_CATEGORIES}


def _curve(found: PartialDependence) -> dict[str, Any]:
    """Convert a curve for a chart: labels or numbers, with dates as days since 1970."""
    grid, kind, average = found.grid[0], found.kinds[0], np.asarray(found.average)
    missing = is_missing(grid)
    known = grid[~missing]
    curve = {"kind": kind, "y": average[~missing], "missing": average[missing].tolist()}
    if kind in ("category", "boolean") or len(known) == 0:
        return curve | {"labels": [shown_value(label) for label in known]}
    if kind in ("datetime", "duration"):
        known = known.astype(np.int64) / DAY
    return curve | {"x": known}


def threshold_part(subject: Subject) -> dict[str, Any]:
    """Threshold of `predict`, and how it was set."""
    fraction = None if subject.calibrated else subject.forest._fraction_above(subject.threshold)
    return {
        "value": subject.threshold,
        "rule": rule_text(getattr(subject.model, "threshold", subject.threshold)),
        "flagged": fraction,
    }


def candidate_part(comparison: Comparison) -> list[dict[str, Any]]:
    """Candidates of a `PUForestClassifier`, the best first."""
    return [
        asdict(row) | {"recipe": str(row.recipe)}
        for row in sorted(comparison, key=lambda row: row.behind)
    ]


# Parameters


def parameter_part(subject: Subject) -> list[dict[str, Any]]:
    """Parameters by class, and whether they differ from their defaults."""
    return [
        {
            "class": type(layer).__name__,
            "parameters": [
                {
                    "name": name,
                    "value": _shortened(repr(value)),
                    "changed": repr(value) != repr(_default(layer, name)),
                }
                for name, value in _fitted_parameters(layer).items()
                if name != "estimator"  # which follows
            ],
        }
        for layer in subject.layers
    ]


def _shortened(text: str) -> str:
    return text if len(text) <= MAX_PARAMETER else f"{text[:MAX_PARAMETER]}…"


def _fitted_parameters(layer: Any) -> dict[str, Any]:
    """Return the parameters at the time of the fit."""
    current: dict[str, Any] = layer.get_params(deep=False)
    record = fit_record(layer)
    if record is not None:
        return current | record.parameters
    return current | ({"method": layer._record.method} if hasattr(layer, "calibrator_") else {})


def _default(layer: Any, name: str) -> Any:
    parameter = inspect.signature(type(layer)).parameters.get(name)
    return None if parameter is None else parameter.default


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
        "class": _class_names(subject),
        "transformers": _transformers(subject),
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
        "calibrated": subject.calibrated or model._record.calibrator is not None,
    }
    if hasattr(model, "oob_risk_"):
        part["oob_risk"] = np.maximum(0, model.oob_risk_)
    return part


def _class_names(subject: Subject) -> str:
    """Return the classes of the transformers and of the model, such as "PCA, A of B"."""
    own = [layer for layer in subject.layers if isinstance(layer, RecordedFitMixin)]
    model = " of ".join(type(layer).__name__ for layer in own)
    return ", ".join([*_transformers(subject), model])


def _transformers(subject: Subject) -> list[str]:
    """Return the classes of the transformers of a pipeline."""
    others = (layer for layer in subject.layers if not isinstance(layer, RecordedFitMixin))
    return [type(layer).__name__ for layer in others]
