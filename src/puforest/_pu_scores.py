"""Forests that estimate the probability of being labeled rather than unlabeled."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


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
) -> Any:
    """Fit extra-trees in which labeled and unlabeled rows have the same total weight.

    Returns a classifier with a ``predict_proba`` method.
    """
    from puforest.forest import PUExtraTreesClassifier

    forest = PUExtraTreesClassifier(
        prior=0.5,
        risk="pn",
        voting="soft",
        n_estimators=n_estimators,
        min_samples_leaf=min_samples_leaf,
        max_unlabeled=max_unlabeled,
        n_jobs=n_jobs,
        random_state=random_state,
    )
    return forest.fit(X, labeled, sample_weight)


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
    from puforest.forest import PURandomForestClassifier

    forest = PURandomForestClassifier(
        risk="pn",
        scenario="single-training-set",
        voting="soft",
        n_estimators=n_estimators,
        min_samples_leaf=min_samples_leaf,
        oob_score=True,
        n_jobs=n_jobs,
        random_state=random_state,
    ).fit(X, labeled)
    return (1 + forest.oob_decision_function_) / 2, forest.feature_importances_
