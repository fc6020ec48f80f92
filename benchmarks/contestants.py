"""The contestants: named functions that create an estimator for a task.

The task is "pn" (true classes) or "pu" (labeled against unlabeled rows). Except for the parameters
in a Setting, all estimators have their defaults.
"""

from __future__ import annotations

import contextlib
import importlib.util
import logging
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

from puforest import PUExtraTreesClassifier, PURandomForestClassifier


@dataclass(frozen=True)
class Setting:
    """Parameters shared by all contestants of a round."""

    n_estimators: int
    n_jobs: int
    random_state: int
    prior: float
    n_labeled: int

    @property
    def common(self) -> dict[str, int]:
        """Parameters with the same name in all estimators."""
        return {
            "n_estimators": self.n_estimators,
            "n_jobs": self.n_jobs,
            "random_state": self.random_state,
        }


@dataclass(frozen=True)
class Contestant:
    """`make` creates the estimator; with `processes`, its jobs are processes, not threads."""

    name: str
    task: str
    make: Callable[[Setting], Any]
    processes: bool = False


def contestants(checkout: Path | None = None) -> list[Contestant]:
    """All contestants that can be imported, and the authors' code if there is a checkout."""
    return [
        Contestant(
            "puforest extra trees, PN",
            "pn",
            lambda s: PUExtraTreesClassifier(risk="pn", **s.common),
        ),
        Contestant(
            "puforest random forest, PN",
            "pn",
            lambda s: PURandomForestClassifier(risk="pn", **s.common),
        ),
        Contestant("scikit-learn ExtraTrees", "pn", lambda s: ExtraTreesClassifier(**s.common)),
        Contestant("scikit-learn RandomForest", "pn", lambda s: RandomForestClassifier(**s.common)),
        *intelex(),
        Contestant(
            "puforest extra trees, nnPU",
            "pu",
            lambda s: PUExtraTreesClassifier(s.prior, **s.common),
        ),
        Contestant(
            "puforest extra trees, nnPU, max_unlabeled = 10 n_p",
            "pu",
            lambda s: PUExtraTreesClassifier(s.prior, max_unlabeled=10 * s.n_labeled, **s.common),
        ),
        Contestant(
            "scikit-learn ExtraTrees, P against U",
            "pu",
            lambda s: ExtraTreesClassifier(**s.common),
        ),
        *pulearn(),
        *([authors(checkout)] if checkout else []),
    ]


def intelex() -> list[Contestant]:
    """Classes of scikit-learn-intelex, imported without patching scikit-learn."""
    if importlib.util.find_spec("sklearnex") is None:
        return []
    from sklearnex import ensemble

    return [
        Contestant(
            "scikit-learn-intelex ExtraTrees",
            "pn",
            lambda s: ensemble.ExtraTreesClassifier(**s.common),
        ),
        Contestant(
            "scikit-learn-intelex RandomForest",
            "pn",
            lambda s: ensemble.RandomForestClassifier(**s.common),
        ),
    ]


class Listener(logging.Handler):
    """Collects the log messages of scikit-learn-intelex about the implementations it uses."""

    def __init__(self) -> None:
        super().__init__()
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())

    def fell_back(self) -> bool | None:
        """Whether any call fell back to scikit-learn; None without messages."""
        if not self.messages:
            return None
        return not all("running accelerated version" in message for message in self.messages)


@contextlib.contextmanager
def listening() -> Iterator[Listener]:
    """Redirect the logger of scikit-learn-intelex to a `Listener`."""
    logger, listener = logging.getLogger("sklearnex"), Listener()
    before = logger.level, logger.propagate, logger.handlers
    logger.handlers, logger.propagate = [listener], False
    logger.setLevel(logging.INFO)
    try:
        yield listener
    finally:
        logger.handlers, logger.propagate = before[2], before[1]
        logger.setLevel(before[0])


def pulearn() -> list[Contestant]:
    """Bagging of trees, each fitted to n_p labeled against n_p unlabeled rows.

    The out-of-bag score, on by default, is disabled, because no other contestant computes one.
    """
    if importlib.util.find_spec("pulearn") is None:
        return []
    from pulearn import BaggingPuClassifier

    return [
        Contestant(
            "pulearn bagging of trees, K = n_p",
            "pu",
            lambda s: BaggingPuClassifier(max_samples=s.n_labeled, oob_score=False, **s.common),
            processes=True,
        )
    ]


class AuthorsExtraTrees:
    """The paper authors' PUExtraTrees, which has no random_state."""

    def __init__(self, forest: type, setting: Setting) -> None:
        np.random.seed(setting.random_state)  # noqa: NPY002 (used by their code)
        self.prior = setting.prior
        self.model = forest(
            n_estimators=setting.n_estimators,
            risk_estimator="nnPU",
            loss="quadratic",
            n_jobs=setting.n_jobs,
        )

    def fit(self, X: np.ndarray, labeled: np.ndarray) -> AuthorsExtraTrees:
        self.model.fit(P=X[labeled == 1], U=X[labeled == 0], pi=self.prior)
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        return (np.asarray(self.model.predict(X)) > 0).astype(int)


def authors(checkout: Path) -> Contestant:
    """The authors' repository, a folder of modules that is not a package."""
    if not (checkout / "trees.py").exists():
        raise SystemExit(f"--authors: no trees.py in {checkout}")
    if str(checkout) not in sys.path:
        sys.path.insert(0, str(checkout))
    from trees import PUExtraTrees

    return Contestant(
        "the authors' PUExtraTrees", "pu", lambda s: AuthorsExtraTrees(PUExtraTrees, s)
    )
