"""Two overlapping clouds as PU data of both scenarios, and a small forest."""

import numpy as np

from puforest import PURandomForestClassifier

SCENARIOS = ["case-control", "single-training-set"]


def draw(n, scenario, seed=0, prior=0.4, label_frequency=0.3, shift=1.5):
    """Draw PU data of two clouds: X, labels and true classes.

    In case-control data the labeled rows are added to the n unlabeled ones.
    """
    rng = np.random.default_rng(seed)
    extra = int(n * prior * label_frequency) if scenario == "case-control" else 0
    y = np.concatenate([np.ones(extra), rng.random(n) < prior]).astype(int)
    X = rng.normal(size=(len(y), 3)) + shift * y[:, None]
    labeled = (np.arange(len(y)) < extra).astype(int)
    if not extra:
        labeled = (y & (rng.random(n) < label_frequency)).astype(int)
    return X, labeled, y


def forest(scenario="case-control", **params):
    defaults = {"prior": 0.4, "n_estimators": 30, "random_state": 0}
    return PURandomForestClassifier(**(defaults | params), scenario=scenario)
