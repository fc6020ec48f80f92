"""Growing forests: from rows and parameters to trees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple
from typing import Any

import numpy as np
import scipy.sparse as sp

from puforest import _core
from puforest import _validation as check
from puforest._encoded import EncodedTable
from puforest._masses import GroupMasses
from puforest._memory import require_memory_for_codes
from puforest._model import Forest
from puforest._progress import Progress
from puforest._training_rows import TrainingRows
from puforest.risk import LOSSES

# Parameters that not every estimator has.
DEFAULTS: dict[str, Any] = {
    "loss": "quadratic",
    "max_features": "sqrt",
    "n_thresholds": 1,
    "max_depth": None,
    "min_samples_split": 2,
    "min_samples_leaf": 1,
    "min_risk_reduction": None,
    "max_leaf_nodes": None,
    "n_estimators": 1,
    "bootstrap": False,
    "max_labeled": None,
    "max_unlabeled": None,
    "oob_score": False,
    "n_jobs": 1,
}


def train_params(
    parameters: Mapping[str, Any],
    *,
    thresholds: _core.Thresholds,
    rows: TrainingRows,
    table: EncodedTable,
) -> _core.TrainParams:
    """Check the parameters of an estimator for these rows of a table.

    Masses, seed and monotone features are left to the caller.
    """
    given = DEFAULTS | dict(parameters)
    n = rows.n_labeled + rows.n_unlabeled_in_all
    params = _core.TrainParams()
    params.risk = _core.Risk[given["risk"]]
    params.loss = _core.Loss[check.one_of("loss", given["loss"], LOSSES).replace("-", "_")]
    params.thresholds = thresholds
    params.max_features = check.features_to_draw(given["max_features"], table.shape[1])
    params.n_thresholds = check.integer("n_thresholds", given["n_thresholds"], 1)
    params.max_depth = check.optional_integer("max_depth", given["max_depth"], 1, check.MAX_UINT32)
    for name, low in (("min_samples_split", 2), ("min_samples_leaf", 1)):
        setattr(params, name, check.count_or_fraction(name, given[name], n, low))
    params.max_leaf_nodes = check.optional_integer("max_leaf_nodes", given["max_leaf_nodes"], 2, 0)
    params.min_risk_reduction = check.least_reduction(given["min_risk_reduction"])
    params.n_trees = check.integer("n_estimators", given["n_estimators"], 1)
    params.n_threads = check.threads(given["n_jobs"])
    params.sampling = _sampling(given, rows)
    params.categorical_features = table.categorical
    return params


def _sampling(given: dict[str, Any], rows: TrainingRows) -> _core.Sampling:
    replace = check.boolean("bootstrap", given["bootstrap"])
    n_unlabeled = rows.n_unlabeled_in_all
    labeled, unlabeled = (
        check.number_of(f"max_{group}", given[f"max_{group}"], n, f"{group} rows")
        for group, n in (("labeled", rows.n_labeled), ("unlabeled", n_unlabeled))
    )
    # Rows found positive are sampled like labeled rows, and the limits of the other unlabeled rows
    # are in proportion to their number.
    confirmed = -(-rows.n_confirmed * labeled // rows.n_labeled)
    others = n_unlabeled - rows.n_confirmed
    drawn = -(-others * unlabeled // n_unlabeled)
    all_rows = given["max_labeled"] is None and given["max_unlabeled"] is None
    together = replace and all_rows and given["scenario"] == "single-training-set"
    held_out = replace or labeled < rows.n_labeled or unlabeled < n_unlabeled
    if check.boolean("oob_score", given["oob_score"]) and not held_out:
        raise ValueError(
            "oob_score=True needs trees that do not see every row: set bootstrap=True, "
            "max_labeled or max_unlabeled"
        )
    return _core.Sampling(replace, together, labeled, drawn, confirmed=confirmed)


def draw_seed(random_state: Any) -> int:
    """Draw the seed of a fit."""
    return int(check.random_state(random_state).randint(np.iinfo(np.int32).max))


def set_masses(params: _core.TrainParams, masses: GroupMasses) -> None:
    """Set the masses of the groups of rows."""
    params.masses = _core.GroupMasses(*astuple(masses))


def encode(X: EncodedTable, rows: TrainingRows, n_threads: int) -> _core.Codes:
    """Encode the rows of a table once for several forests."""
    _require_memory(X, rows)
    return _core.encode(X.native(), rows.native(), X.categorical, n_threads)


def grow(
    X: EncodedTable | _core.Codes,
    rows: TrainingRows,
    params: _core.TrainParams,
    progress: Progress | None = None,
) -> Forest:
    """Grow the trees on rows of a table, or on their codes."""
    if isinstance(X, EncodedTable):
        _require_memory(X, rows)
        n_features = X.shape[1]
        arrays = _core.train(X.native(), rows.native(), params, progress)
    else:
        n_features = X.n_features
        arrays = _core.train(X, rows.native(), params, progress)
    if progress is not None:
        progress.finish(params.n_trees)
    return Forest(n_features=n_features, **arrays)


def _require_memory(X: EncodedTable, rows: TrainingRows) -> None:
    if isinstance(X.values, sp.csr_array):
        require_memory_for_codes(X.values, len(rows.order))
