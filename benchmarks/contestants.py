"""Who runs: each contestant is a way to make an estimator for a task.

A task is "pn" (true classes), or "pu" (labelled against unlabelled rows).
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from puforest import PUExtraTreesClassifier, PURandomForestClassifier


@dataclass(frozen=True)
class Contestant:
    """`make(n_trees, n_jobs, prior, n_labelled)` gives an estimator to fit."""

    name: str
    task: str
    make: Callable[[int, int, float, int], Any]


def contestants() -> list[Contestant]:
    """All that can be imported here."""
    return [
        Contestant(
            "puforest extra trees, PN",
            "pn",
            lambda t, j, prior, n: PUExtraTreesClassifier(risk="pn", n_estimators=t, n_jobs=j),
        ),
        Contestant(
            "puforest random forest, PN",
            "pn",
            lambda t, j, prior, n: PURandomForestClassifier(risk="pn", n_estimators=t, n_jobs=j),
        ),
        Contestant(
            "scikit-learn ExtraTrees",
            "pn",
            lambda t, j, prior, n: ExtraTreesClassifier(t, n_jobs=j),
        ),
        Contestant(
            "scikit-learn RandomForest",
            "pn",
            lambda t, j, prior, n: RandomForestClassifier(t, n_jobs=j),
        ),
        *sklearnex(),
        Contestant(
            "puforest extra trees, nnPU",
            "pu",
            lambda t, j, prior, n: PUExtraTreesClassifier(prior, n_estimators=t, n_jobs=j),
        ),
        Contestant(
            "puforest extra trees, nnPU, max_unlabeled = 10 n_p",
            "pu",
            lambda t, j, prior, n: PUExtraTreesClassifier(
                prior, n_estimators=t, n_jobs=j, max_unlabeled=10 * n
            ),
        ),
        Contestant(
            "scikit-learn ExtraTrees, P against U",
            "pu",
            lambda t, j, prior, n: ExtraTreesClassifier(t, n_jobs=j),
        ),
        *pulearn(),
    ]


def sklearnex() -> list[Contestant]:
    if importlib.util.find_spec("sklearnex") is None:
        return []
    from sklearnex.ensemble import ExtraTreesClassifier as FastExtraTrees
    from sklearnex.ensemble import RandomForestClassifier as FastRandomForest

    return [
        Contestant(
            "scikit-learn-intelex ExtraTrees",
            "pn",
            lambda t, j, prior, n: FastExtraTrees(t, n_jobs=j),
        ),
        Contestant(
            "scikit-learn-intelex RandomForest",
            "pn",
            lambda t, j, prior, n: FastRandomForest(t, n_jobs=j),
        ),
    ]


def pulearn() -> list[Contestant]:
    if importlib.util.find_spec("pulearn") is None:
        return []
    from pulearn import BaggingPuClassifier

    return [
        Contestant(
            "pulearn bagging of trees, K = n_p",
            "pu",
            lambda t, j, prior, n: BaggingPuClassifier(
                DecisionTreeClassifier(), n_estimators=t, n_jobs=j, max_samples=n
            ),
        )
    ]


class AuthorsExtraTrees:
    """The paper authors' PUExtraTrees out of a local checkout of their repository."""

    def __init__(self, checkout: Path, n_trees: int, n_jobs: int, prior: float) -> None:
        self.checkout, self.n_trees, self.n_jobs, self.prior = checkout, n_trees, n_jobs, prior

    def fit(self, X: Any, labelled: Any) -> AuthorsExtraTrees:
        sys.path.insert(0, str(self.checkout))
        from trees import PUExtraTrees

        self.model = PUExtraTrees(
            n_estimators=self.n_trees,
            risk_estimator="nnPU",
            loss="quadratic",
            n_jobs=self.n_jobs,
        )
        self.model.fit(P=X[labelled == 1], U=X[labelled == 0], pi=self.prior)
        return self

    def predict(self, X: Any) -> Any:
        return (self.model.predict(X) > 0).astype(int)


def authors(checkout: Path) -> Contestant:
    return Contestant(
        "the authors' PUExtraTrees",
        "pu",
        lambda t, j, prior, n: AuthorsExtraTrees(checkout, t, j, prior),
    )
