"""``puforest describe``: summarize a model."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from puforest.cli import _options as o
from puforest.cli._app import command
from puforest.cli._console import Console


@command("puforest describe model.puf", "puforest describe model.puf --json")
def describe(
    console: Console,
    model: o.ModelFile,
    top: Annotated[int, typer.Option("--top", min=0, help="Number of features to list.")] = 10,
) -> dict[str, Any]:
    """Summarize a model.

    Lists its training data, parameters and most important features. Loading a model file executes
    no code, so files from untrusted sources are safe to describe.
    """
    from puforest._threshold import threshold_of
    from puforest._unwrap import fitted_trees
    from puforest.cli._prior_text import prior_json
    from puforest.inspection import importances

    fitted = o.load(model)
    trees = fitted_trees(fitted)
    console.text(fitted.describe())
    listed = importances(trees, top=top).sorted() if top else []
    if listed:
        console.text("")
        console.rows(
            "Feature importances",
            ["feature", "risk reduction", "std over trees"],
            [[name, f"{mean:.4f}", f"{std:.4f}"] for name, mean, std in listed],
        )
    estimate, schema = trees._record.prior_estimate, trees._record.schema
    names = schema.feature_names() if schema.columns else []
    return {
        "model": str(model),
        "class": type(fitted).__name__,
        "parameters": fitted.get_params(deep=False),
        **prior_json(fitted.prior_, estimate),
        "threshold": threshold_of(fitted),
        "classes": fitted.classes_,
        "n_features": fitted.n_features_in_,
        "features": schema.names,
        "kinds": {names[j]: kind.kind for j, kind in schema.columns.items()},
        "missing": trees._record.added_missing,
        "not_missing": trees._record.removed_missing,
        "importances": {name: mean for name, mean, _ in listed},
    }
