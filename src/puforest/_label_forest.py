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
from puforest._encoded import EncodedTable
from puforest._masses import group_masses
from puforest._model import Forest
from puforest._training import draw_seed, grow, set_masses, train_params
from puforest._training_rows import TrainingRows, training_rows

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LabelForest:
    """Soft-voting forest of labeled against unlabeled rows."""

    X: EncodedTable
    rows: TrainingRows
    params: _core.TrainParams
    forest: Forest

    def predict_proba(self, X: EncodedTable) -> Array:
        """Predict the probability of being unlabeled and of being labeled."""
        labeled = self.forest.predictor("soft", X.dtype).mean(X.native(), self.params.n_threads)
        return np.column_stack([1 - labeled, labeled])

    def oob_probabilities(self) -> Array:
        """Predict the probability of being labeled for the training rows, out of bag."""
        predictor = self.forest.predictor("soft", self.X.dtype)
        votes = predictor.mean_held_out(self.X.native(), self.rows.native(), self.params)
        return (1 + (2 * votes - 1)) / 2  # rounded as the decision function is

    def importances(self) -> Array:
        """Compute the mean risk reduction of each feature."""
        return self.forest.importances("pn", "quadratic", normalized=False)


def label_forest(
    X: EncodedTable,
    labeled: NDArray[np.bool_],
    *,
    thresholds: _core.Thresholds,
    random_state: Any,
    prior: float | None = None,
    sample_weight: Array | None = None,
    scenario: str = "case-control",
    **parameters: Any,
) -> LabelForest:
    """Fit a forest; `parameters` are those of the estimators.

    `prior` is the total weight of the labeled rows; None means their frequency.
    """
    rows = training_rows(labeled, sample_weight, None, risk="pn")
    parameters |= {"risk": "pn", "scenario": scenario}
    params = train_params(parameters, thresholds=thresholds, rows=rows, table=X)
    masses = group_masses(
        risk="pn",
        scenario=scenario,
        prior=prior,
        labeled=rows.labeled_weight,
        unlabeled=rows.unlabeled_weight,
    )
    set_masses(params, masses)
    params.seed = draw_seed(random_state)
    return LabelForest(X, rows, params, grow(X, rows, params))
