"""Five fits whose trees must never change: a refactoring or a faster loop keeps every bit."""

import hashlib

import numpy as np
import pytest

from puforest import (
    PUDecisionTreeClassifier,
    PUExtraTreesClassifier,
    PURandomForestClassifier,
)
from puforest.datasets import load_mushrooms, make_pu

PINNED = {
    "paper": (
        PUExtraTreesClassifier(prior=0.5, n_estimators=10, random_state=0),
        "f21752e7a319fa19",
    ),
    "best first": (
        PUExtraTreesClassifier(
            prior=0.4, n_estimators=10, n_thresholds=3, max_leaf_nodes=50, random_state=1
        ),
        "1049d139d6f8a2ee",
    ),
    "subsampled uPU": (
        PUExtraTreesClassifier(
            prior=0.5,
            n_estimators=10,
            risk="upu",
            loss="logistic",
            max_unlabeled=500,
            scenario="single-training-set",
            random_state=2,
        ),
        "ade1b86adea32944",
    ),
    "random forest": (
        PURandomForestClassifier(prior=0.5, n_estimators=10, random_state=3),
        "a11e93005d846164",
    ),
    "one tree": (
        PUDecisionTreeClassifier(prior=0.5, loss="savage", min_samples_leaf=5, random_state=4),
        "eb1992912205f68e",
    ),
}

# Part of the pinned digests: fields added later are not.
ARRAYS = ("offset", "feature", "threshold", "left", "w_p", "w_u", "n_labeled", "n_unlabeled")


@pytest.fixture(scope="module")
def rows():
    X, y = load_mushrooms(return_X_y=True)
    X_pu, labeled = make_pu(X, y, n_labeled=500, random_state=0)
    # Values of several sizes instead of zeros and ones, so that thresholds matter.
    scale = np.random.RandomState(0).uniform(0.5, 2, X_pu.shape)
    return X_pu * scale, labeled


@pytest.mark.parametrize("name", PINNED)
def test_a_pinned_fit_is_unchanged(name, rows):
    model, pinned = PINNED[name]
    forest = model.fit(*rows)._forest
    digest = hashlib.sha256()
    for array in ARRAYS:
        digest.update(getattr(forest, array).tobytes())
    digest.update(model.predict_proba(rows[0]).tobytes())
    assert digest.hexdigest()[:16] == pinned
