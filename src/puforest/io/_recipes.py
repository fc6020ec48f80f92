"""Recipes of candidate forests and their comparison in model files."""

from __future__ import annotations

import sys
from dataclasses import fields
from typing import Any

from puforest import _validation as check
from puforest._comparison import Compared, Comparison
from puforest.io._fields import Fields, ensure
from puforest.io._values import restored_value, stored_value
from puforest.recipes import Recipe, checked_candidates

RECIPE = tuple(field.name for field in fields(Recipe))

# Numbers in the comparison, and the least value of each.
NUMBERS = {
    "auc": -sys.float_info.max,
    "standard_error": 0.0,
    "behind": 0.0,
    "behind_error": 0.0,
    "seconds": 0.0,
}


def stored_candidates(value: Any) -> Any:
    """Convert the parameter ``candidates`` to JSON."""
    if isinstance(value, Recipe):
        return _stored_recipe(value)
    if isinstance(value, tuple | list) and all(isinstance(recipe, Recipe) for recipe in value):
        return [_stored_recipe(recipe) for recipe in value]
    return stored_value("candidates", value)


def restored_candidates(stored: Any) -> Any:
    """Invert `stored_candidates`; sequences become lists."""
    value = stored
    if isinstance(stored, dict):
        value = _restored_recipe(Fields("candidates", stored))
    elif isinstance(stored, list):
        value = [_restored_recipe(Fields("a candidate", recipe)) for recipe in stored]
    checked_candidates(value)
    return value


def stored_comparison(comparison: Comparison | None) -> list[dict[str, Any]] | None:
    """Convert the comparison of the candidates to JSON."""
    if comparison is None:
        return None
    return [
        {
            "recipe": _stored_recipe(row.recipe),
            **{name: float(getattr(row, name)) for name in NUMBERS},
            "n_trees": row.n_trees,
        }
        for row in comparison
    ]


def restored_comparison(stored: Any, n_trees: int) -> Comparison | None:
    """Invert `stored_comparison` for a model of this many trees."""
    if stored is None:
        return None
    ensure(isinstance(stored, list), "model.comparison is not a list")
    rows = [Fields(f"model.comparison[{i}]", row) for i, row in enumerate(stored)]
    comparison = Comparison(tuple(map(_restored_row, rows)))
    recipes = {row.recipe for row in comparison}
    ensure(len(recipes) == len(comparison), "model.comparison has a recipe twice")
    total = sum(row.n_trees for row in comparison)
    ensure(total == n_trees, f"model.comparison has {total} trees, and the model has {n_trees}")
    return comparison


def _restored_row(stored: Fields) -> Compared:
    row = Compared(
        recipe=_restored_recipe(stored.fields("recipe")),
        n_trees=stored.integer("n_trees", 0, check.MAX_UINT32),
        **{name: stored.number(name, least, sys.float_info.max) for name, least in NUMBERS.items()},
    )
    stored.finish()
    return row


def _stored_recipe(recipe: Recipe) -> dict[str, Any]:
    return {name: stored_value(name, getattr(recipe, name)) for name in RECIPE}


def _restored_recipe(stored: Fields) -> Recipe:
    values = {name: restored_value(stored.take(name)) for name in RECIPE}
    stored.finish()
    try:
        return Recipe(**values)
    except TypeError as error:
        raise ValueError(str(error)) from error
