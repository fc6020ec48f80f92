"""Models that ``puforest fit`` trains, and their options."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Annotated, Any, Literal, get_args

import typer

from puforest.cli import _options as o

Model = Literal["forest", "paper", "random-forest"]
CLASSES = {
    "forest": "PUForestClassifier",
    "paper": "PUExtraTreesClassifier",
    "random-forest": "PURandomForestClassifier",
}

# Options that only some models have; all models have the others.
MODELS_WITH = {
    "candidates": ("forest",),
    "risk": ("paper", "random-forest"),
    "voting": ("paper", "random-forest"),
    "max_depth": ("paper", "random-forest"),
    "folds": ("paper", "random-forest"),
}

# Models with out-of-bag predictions, from which thresholds such as "prior" are set.
OUT_OF_BAG = ("forest", "random-forest")

# Options that the model "forest" applies to all of its recipes.
OF_RECIPES = ("loss", "min_samples_leaf", "max_features")

# The losses of `puforest.risk`, which imports NumPy.
Loss = Literal[
    "quadratic",
    "logistic",
    "savage",
    "sigmoid",
    "zero-one",
    "ramp",
    "hinge",
    "double-hinge",
    "exponential",
]


def number_of_features(text: str) -> str | int | float:
    """Read a number or fraction of features."""
    if text in ("sqrt", "log2"):
        return text
    if text == "all":
        return 1.0
    try:
        number = float(text) if "." in text else int(text)
    except ValueError:
        number = 0
    if number >= 1 if isinstance(number, int) else 0 < number <= 1:
        return number
    raise typer.BadParameter(
        f"{text} is neither sqrt, log2, all, a number of features such as 10, nor a fraction such "
        "as 0.5"
    )


@dataclass(frozen=True)
class ModelOptions:
    """Options of the model; None stands for the default of its class."""

    model: Annotated[
        Model,
        typer.Option(
            "--model",
            metavar="NAME",
            help="forest: compares several kinds of forests and keeps the best. paper: PU extra "
            "trees as published. random-forest: their counterpart with optimal thresholds.",
            rich_help_panel=o.TRAINING,
        ),
    ] = "forest"
    threshold: o.Threshold = None
    trees: Annotated[
        int | None,
        typer.Option(
            "--trees",
            min=1,
            help="Number of trees. Model forest: as many as needed by default.",
            rich_help_panel=o.TRAINING,
        ),
    ] = None
    candidates: Annotated[
        Literal["auto", "fast"] | None,
        typer.Option(
            "--candidates",
            help="Model forest: candidates to compare. fast: only one.",
            rich_help_panel=o.TRAINING,
        ),
    ] = None
    max_unlabeled: Annotated[
        int | None,
        typer.Option(
            "--max-unlabeled",
            min=1,
            help="Maximum number of unlabeled rows per tree. Model forest: its candidates use no "
            "more than a few for each labeled row anyway.",
            rich_help_panel=o.TRAINING,
        ),
    ] = None
    max_features: Annotated[
        Any,
        typer.Option(
            "--max-features",
            parser=number_of_features,
            metavar="NUMBER",
            help="Number of features to try at each node: sqrt, log2, all, a number such as 10, or "
            "a fraction such as 0.5.",
            rich_help_panel=o.TRAINING,
        ),
    ] = None
    min_samples_leaf: Annotated[
        int | None,
        typer.Option(
            "--min-samples-leaf",
            min=1,
            help="Minimum number of rows in a leaf.",
            rich_help_panel=o.TRAINING,
        ),
    ] = None
    max_depth: Annotated[
        int | None,
        typer.Option(
            "--max-depth",
            min=1,
            help="Models paper and random-forest: maximum depth of a tree.",
            rich_help_panel=o.TRAINING,
        ),
    ] = None
    loss: Annotated[
        Loss | None,
        typer.Option(
            "--loss",
            metavar="NAME",
            help=f"Loss function of the risk: {', '.join(get_args(Loss))}.",
            rich_help_panel=o.TRAINING,
        ),
    ] = None
    risk: Annotated[
        Literal["nnpu", "upu"] | None,
        typer.Option(
            "--risk",
            help="Models paper and random-forest: risk estimator to minimize.",
            rich_help_panel=o.TRAINING,
        ),
    ] = None
    voting: Annotated[
        Literal["hard", "soft"] | None,
        typer.Option(
            "--voting",
            help="Models paper and random-forest. hard: the score is the fraction of trees that "
            "vote positive. soft: it is the mean leaf value; use it with --min-samples-leaf.",
            rich_help_panel=o.TRAINING,
        ),
    ] = None
    folds: Annotated[
        int | None,
        typer.Option(
            "--folds",
            min=2,
            help="Models paper and random-forest: number of cross-validation folds to estimate the "
            "quality; by default, 5. Model forest: estimated out of bag.",
            rich_help_panel=o.TRAINING,
        ),
    ] = None

    def given(self) -> dict[str, Any]:
        """Return the options that were given."""
        values = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "model"}
        return {name: value for name, value in values.items() if value is not None}

    def refuse_options_of_others(self) -> None:
        """Raise an error for options that the model does not have."""
        for name in self.given():
            models = MODELS_WITH.get(name, CLASSES)
            if self.model not in models:
                raise ValueError(
                    f"--{name.replace('_', '-')}: the model {self.model} does not have this "
                    f"option; use --model {' or --model '.join(models)}"
                )
        if self._sets_threshold() and self.model not in OUT_OF_BAG:
            raise ValueError(
                f"--threshold {o.threshold_text(self.threshold)} is set from out-of-bag "
                f"predictions, which the model {self.model} does not have: use --model "
                f"{' or --model '.join(OUT_OF_BAG)}, or a number"
            )

    @property
    def is_cross_validated(self) -> bool:
        """True if the quality is estimated by cross-validation, rather than out of bag."""
        return self.model in MODELS_WITH["folds"]

    def _sets_threshold(self) -> bool:
        """Return True if the fit sets the threshold from out-of-bag predictions."""
        from puforest._threshold import is_rule

        return self.threshold is not None and is_rule(self.threshold)

    def estimator(self, n_labeled: int, n_unlabeled: int, **common: Any) -> Any:
        """Return the unfitted model for a table with these numbers of rows."""
        import puforest

        given = self.given()
        given.pop("folds", None)
        if "trees" in given:
            given["n_estimators"] = given.pop("trees")
        if "max_unlabeled" in given:
            given["max_unlabeled"] = min(given["max_unlabeled"], n_unlabeled)
        if self.model == "forest":
            given = with_recipes(given, n_labeled)
        elif self._sets_threshold():
            given["oob_score"] = True
        return getattr(puforest, CLASSES[self.model])(**given, **common)


def with_recipes(given: dict[str, Any], n_labeled: int) -> dict[str, Any]:
    """Replace options of the trees by recipes that have them."""
    from puforest._candidates import labeled_per_tree
    from puforest.recipes import checked_candidates

    changes = {name: given[name] for name in OF_RECIPES if name in given}
    most = given.get("max_unlabeled", float("inf")) / labeled_per_tree(n_labeled)
    if not changes and most == float("inf"):
        return given
    recipes = [
        replace(recipe, **changes, unlabeled_per_labeled=min(recipe.unlabeled_per_labeled, most))
        for recipe in checked_candidates(given.get("candidates", "auto"))
    ]
    others = {n: v for n, v in given.items() if n not in (*OF_RECIPES, "max_unlabeled")}
    return others | {"candidates": list(dict.fromkeys(recipes))}
