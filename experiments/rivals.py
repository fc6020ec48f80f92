"""Methods of the leaderboard: puforest's and what people use instead.

Methods without a threshold of their own are cut at the class prior on the test rows, which is a
slight advantage: a threshold from training rows would be less accurate.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import check_random_state

from experiments.methods import METHODS, Method, Setting, bagging, forest, network

Make = Callable[[Setting], Any]


class DownSampledForest(ClassifierMixin, BaseEstimator):
    """Random forest for rare classes, as ecologists use it for presence-only data.

    Each tree is grown on as many labeled as unlabeled rows, drawn with replacement. See Valavi et
    al. (2021): Modelling species presence-only data with random forests. Ecography 44.
    """

    def __init__(self, n_estimators: int = 300, random_state: int | None = None) -> None:
        self.n_estimators = n_estimators
        self.random_state = random_state

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        rng = check_random_state(self.random_state)
        self.classes_ = np.unique(y)
        groups = [np.flatnonzero(y == label) for label in self.classes_]
        size = len(groups[1])
        self.estimators_ = []
        for _ in range(self.n_estimators):
            rows = np.concatenate([rng.choice(group, size) for group in groups])
            tree = DecisionTreeClassifier(max_features="sqrt", random_state=rng.randint(2**31))
            self.estimators_.append(tree.fit(X[rows], y[rows]))
        return self

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        X = np.asarray(X, dtype=np.float32)  # the type of the trees, converted only once
        return np.mean([tree.predict_proba(X) for tree in self.estimators_], axis=0)

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.classes_[np.argmax(self.predict_proba(X), axis=1)]


def pu_forest(*, knows_prior: bool = True, **params: Any) -> Make:
    def make(setting: Setting) -> Any:
        from puforest import PUForestClassifier

        return PUForestClassifier(
            setting.prior if knows_prior else None,
            scenario=setting.run.scenario,
            **params,
            n_jobs=setting.threads,
            random_state=setting.run.draw,
        )

    return make


def _leafy_extra_trees(setting: Setting) -> Any:
    """Extra trees whose probabilities are not only zeros and ones."""
    return ExtraTreesClassifier(100, min_samples_leaf=5, n_jobs=setting.threads)


def elkan_noto(*, knows_prior: bool = True) -> Make:
    """The weighted variant of Elkan and Noto (2008)."""

    def make(setting: Setting) -> Any:
        from puforest.baselines import ElkanNotoClassifier

        return ElkanNotoClassifier(
            _leafy_extra_trees(setting),
            variant="weighted",
            prior=setting.prior if knows_prior else None,
            scenario=setting.run.scenario,
            random_state=setting.run.draw,
        )

    return make


def spies(setting: Setting) -> Any:
    from puforest.baselines import SpyTwoStepClassifier

    return SpyTwoStepClassifier(
        _leafy_extra_trees(setting),
        prior=setting.prior,
        scenario=setting.run.scenario,
        random_state=setting.run.draw,
    )


def histogram_boosting(setting: Setting) -> Any:
    return HistGradientBoostingClassifier(random_state=setting.run.draw)


def lightgbm(setting: Setting) -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_jobs=setting.threads, random_state=setting.run.draw, verbose=-1)


def down_sampled_forest(setting: Setting) -> Any:
    return DownSampledForest(random_state=setting.run.draw)


def pulearn_elkan_noto(setting: Setting) -> Any:
    from pulearn import ElkanotoPuClassifier

    return ElkanotoPuClassifier(_random_forest(setting), random_state=setting.run.draw)


def pulearn_weighted(setting: Setting) -> Any:
    from pulearn import WeightedElkanotoPuClassifier

    n_labeled = setting.run.n_labeled
    return WeightedElkanotoPuClassifier(
        _random_forest(setting),
        labeled=n_labeled,
        unlabeled=n_labeled,  # it cancels out in the predictions
        random_state=setting.run.draw,
    )


def _random_forest(setting: Setting) -> Any:
    return RandomForestClassifier(n_jobs=setting.threads, random_state=setting.run.draw)


def pulearn_bagging(setting: Setting) -> Any:
    """Trees on all labeled rows and as many unlabeled ones, as pulearn's examples use them."""
    from pulearn import BaggingPuClassifier

    return BaggingPuClassifier(
        DecisionTreeClassifier(),
        n_estimators=100,
        max_samples=setting.run.n_labeled,
        oob_score=False,
        n_jobs=1,
        random_state=setting.run.draw,
    )


OURS = "PUForest"
FAST = "PUForest, fast"
PAPER = "PU ET (paper)"
BAGGING = "PU bagging"
NETWORK = "nnPU network"

# Methods of the leaderboard that know the class prior.
KNOWN_PRIOR: dict[str, Method] = {
    OURS: Method(pu_forest(), takes_tables=True, has_probabilities=True),
    FAST: Method(pu_forest(candidates="fast"), takes_tables=True, has_probabilities=True),
    PAPER: Method(forest(), takes_tables=True, has_probabilities=True),
    BAGGING: Method(bagging(None, knows_prior=True)),
    "Elkan-Noto, weighted": Method(elkan_noto(), has_probabilities=True),
    "spies": Method(spies, has_probabilities=True),
    "HistGradientBoosting": Method(histogram_boosting, takes_tables=True, cut_at_prior=True),
    "LightGBM": Method(lightgbm, takes_tables=True, cut_at_prior=True),
    "down-sampled forest": Method(down_sampled_forest, cut_at_prior=True),
    "pulearn Elkan-Noto": Method(pulearn_elkan_noto, cut_at_prior=True, has_probabilities=True),
    "pulearn weighted": Method(pulearn_weighted, cut_at_prior=True, has_probabilities=True),
    "pulearn bagging": Method(pulearn_bagging, cut_at_prior=True),
    NETWORK: Method(network("nnpu", stops_early=True)),
}

# Methods that estimate the class prior, or do without it.
UNKNOWN = ", prior unknown"
UNKNOWN_PRIOR: dict[str, Method] = {
    OURS + UNKNOWN: Method(pu_forest(knows_prior=False), takes_tables=True, has_probabilities=True),
    PAPER + UNKNOWN: Method(forest(prior=None), takes_tables=True, has_probabilities=True),
    BAGGING + UNKNOWN: Method(bagging(None)),
    "Elkan-Noto, weighted" + UNKNOWN: Method(elkan_noto(knows_prior=False), has_probabilities=True),
    "pulearn Elkan-Noto" + UNKNOWN: Method(pulearn_elkan_noto, has_probabilities=True),
}

METHODS.update(KNOWN_PRIOR | UNKNOWN_PRIOR)
