"""Recipes for growing the candidate forests of `PUForestClassifier`."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

from puforest import _validation as check
from puforest.risk import LOSSES

__all__ = ["FAST", "RECIPES", "Recipe"]

SPLITS = ("random", "best")
GROWTHS = ("separation", "nnpu")


@dataclass(frozen=True)
class Recipe:
    """How to grow a forest.

    Parameters
    ----------
    splits : {"random", "best"}, default="random"
        Thresholds to try: a random one for each feature, as in extra-trees, or all of them, as in
        random forests, which are grown on bootstrap samples.
    growth : {"separation", "nnpu"}, default="separation"
        Risk that splits minimize. "separation" separates the labeled rows from the population, both
        with the same total weight: it does not depend on the class prior, and goes on where nnPU
        considers a node purely positive. "nnpu" minimizes the non-negative PU risk.
    loss : str, default="quadratic"
        Loss, as in `PUExtraTreesClassifier`.
    unlabeled_per_labeled : float, default=5
        Number of unlabeled rows that each tree is grown on, per labeled row or checked row that was
        found positive. Each tree draws its own.
    min_samples_leaf : int, default=5
        Minimum number of rows in a leaf.
    max_features : {"sqrt", "log2"}, int, float or None, default="sqrt"
        Number of features to try at each node, as in `PUExtraTreesClassifier`.

    Examples
    --------
    >>> from puforest import Recipe
    >>> print(Recipe(splits="best", min_samples_leaf=10))
    random forest, separation, 5 unlabeled per labeled row, leaves of 10
    """

    splits: str = "random"
    growth: str = "separation"
    loss: str = "quadratic"
    unlabeled_per_labeled: float = 5
    min_samples_leaf: int = 5
    max_features: str | int | float | None = "sqrt"

    def __post_init__(self) -> None:
        check.one_of("splits", self.splits, SPLITS)
        check.one_of("growth", self.growth, GROWTHS)
        check.one_of("loss", self.loss, LOSSES)
        check.integer("min_samples_leaf", self.min_samples_leaf, 1)
        check.features_to_draw(self.max_features, check.MAX_UINT32)
        if isinstance(self.max_features, float) and self.max_features == 1:
            object.__setattr__(self, "max_features", None)  # 1.0 would be equal to 1
        ratio = self.unlabeled_per_labeled
        if not check.is_real(ratio) or not 0 < ratio <= sys.float_info.max:
            raise ValueError(f"unlabeled_per_labeled must be a positive number, got {ratio!r}")

    def __str__(self) -> str:
        parts = [
            "extra trees" if self.splits == "random" else "random forest",
            "separation" if self.growth == "separation" else "nnPU",
            f"{self.unlabeled_per_labeled:g} unlabeled per labeled row",
            f"leaves of {self.min_samples_leaf}",
        ]
        if self.loss != "quadratic":
            parts.insert(2, f"{self.loss} loss")
        if self.max_features != "sqrt":
            some = "all" if self.max_features is None else f"{self.max_features}"
            parts.append(f"{some} features")
        return ", ".join(parts)


# One of the best single recipes in the study of defaults (experiments/defaults.py), which does not
# depend on the prior.
FAST = (Recipe(),)

# Different enough for some of them to fit each kind of data.
RECIPES = (
    *FAST,
    Recipe(unlabeled_per_labeled=2, min_samples_leaf=3),
    Recipe(unlabeled_per_labeled=2, min_samples_leaf=1),
    Recipe(unlabeled_per_labeled=2, min_samples_leaf=10, max_features=0.5),
    Recipe(growth="nnpu", min_samples_leaf=3),
    Recipe(growth="nnpu", splits="best", unlabeled_per_labeled=2, min_samples_leaf=10),
)


def is_fast(candidates: Any) -> bool:
    """Return True if ``candidates`` asks for a fast fit."""
    return isinstance(candidates, str) and candidates == "fast"


def checked_candidates(value: Any) -> tuple[Recipe, ...]:
    """Check the parameter ``candidates`` and return the recipes."""
    named = {"auto": RECIPES, "fast": FAST}
    if isinstance(value, str) and value in named:
        return named[value]
    if isinstance(value, Recipe):
        return (value,)
    listed = isinstance(value, list | tuple) and len(value) > 0
    if not listed or not all(isinstance(recipe, Recipe) for recipe in value):
        raise ValueError(
            "candidates must be 'auto', 'fast', or a list of puforest.Recipe, for example "
            f"[Recipe(), Recipe(splits='best')]; got {value!r}"
        )
    if len(set(value)) < len(value):
        raise ValueError("candidates contains the same recipe twice")
    return tuple(value)
