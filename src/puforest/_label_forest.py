"""Forests that estimate the probability of being labeled rather than unlabeled.

Prior estimation and diagnostics use them. They come before the estimators, which estimate priors
and write reports, and therefore train forests without the estimators.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from puforest import _core
from puforest._masses import group_masses
from puforest._model import Forest
from puforest._training import draw_seed, grow, set_masses, train_params
from puforest._training_rows import TrainingRows, training_rows

Array = NDArray[np.float64]


@dataclass(frozen=True)
class LabelForest:
    """Soft-voting forest of labeled against unlabeled rows."""

    X: NDArray[Any]
    rows: TrainingRows
    params: _core.TrainParams
    forest: Forest

    def predict_proba(self, X: NDArray[Any]) -> Array:
        """Predict the probability of being unlabeled and of being labeled."""
        labeled = self.forest.predictor("soft", X.dtype).mean(X, self.params.n_threads)
        return np.column_stack([1 - labeled, labeled])

    def oob_decision_function(self) -> Array:
        """Compute the mean vote of the trees that were not grown on a training row."""
        predictor = self.forest.predictor("soft", self.X.dtype)
        return 2 * predictor.mean_held_out(self.X, self.rows.native(), self.params) - 1


def _fit(
    X: NDArray[Any],
    labeled: NDArray[np.bool_],
    sample_weight: Array | None,
    *,
    prior: float | None,
    thresholds: _core.Thresholds,
    random_state: Any,
    **parameters: Any,
) -> LabelForest:
    """Treat unlabeled rows as negatives; `prior` None means the frequency of labeled rows."""
    rows = training_rows(labeled, sample_weight, None, risk="pn")
    parameters |= {"risk": "pn"}
    params = train_params(parameters, thresholds=thresholds, rows=rows, d=X.shape[1])
    masses = group_masses(
        risk="pn",
        scenario=parameters["scenario"],
        prior=prior,
        labeled=rows.labeled_weight,
        unlabeled=rows.unlabeled_weight,
    )
    set_masses(params, masses)
    params.seed = draw_seed(random_state)
    return LabelForest(X, rows, params, grow(X, rows, params))


def label_forest(
    X: NDArray[Any],
    labeled: NDArray[np.bool_],
    *,
    sample_weight: Array | None,
    n_estimators: int,
    min_samples_leaf: int,
    max_unlabeled: int,
    n_jobs: int | None,
    random_state: int,
) -> LabelForest:
    """Fit extra-trees in which labeled and unlabeled rows have the same total weight."""
    return _fit(
        X,
        labeled,
        sample_weight,
        prior=0.5,
        thresholds=_core.Thresholds.random,
        scenario="case-control",
        n_estimators=n_estimators,
        min_samples_leaf=min_samples_leaf,
        max_unlabeled=max_unlabeled,
        n_jobs=n_jobs,
        random_state=random_state,
    )


def oob_label_probabilities(
    X: NDArray[Any],
    labeled: NDArray[np.bool_],
    *,
    n_estimators: int,
    min_samples_leaf: int,
    n_jobs: int | None,
    random_state: np.random.RandomState,
) -> tuple[Array, Array]:
    """Fit a random forest; return its out-of-bag predictions and feature importances."""
    found = _fit(
        X,
        labeled,
        None,
        prior=None,
        thresholds=_core.Thresholds.optimal,
        scenario="single-training-set",
        bootstrap=True,
        n_estimators=n_estimators,
        min_samples_leaf=min_samples_leaf,
        n_jobs=n_jobs,
        random_state=random_state,
    )
    importances = found.forest.importances("pn", "quadratic", normalized=False)
    return (1 + found.oob_decision_function()) / 2, importances
