"""``puforest fit``: train a model and estimate its quality."""

from __future__ import annotations

import shlex
import time
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import typer

from puforest.cli import _options as o
from puforest.cli._app import command
from puforest.cli._console import Console

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from puforest._encoded import EncodedTable
    from puforest.cli.tables._features import Features
    from puforest.cli.tables._pu_table import PUTable

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

DIRECTIONS = {"+1": 1, "1": 1, "increasing": 1, "-1": -1, "decreasing": -1}


@command(
    "puforest fit payments.csv --label known_fraud -o model.puf",
    "puforest fit payments.csv --label known_fraud --prior 0.03 --drop id -o model.puf",
    "puforest fit payments.csv --label known_fraud --scenario single-training-set -o model.puf",
    "puforest fit payments.csv --label known_fraud --categorical shop --missing -1 -o model.puf",
)
def fit(
    console: Console,
    data: o.Data,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Model file to write, such as model.puf.")
    ],
    columns: o.TrainingColumns,
    prior: Annotated[
        float | None,
        typer.Option(
            "--prior",
            callback=o.between_0_and_1,
            help="Class prior: the fraction of positives in the population, between 0 and 1. "
            "Estimated by default.",
            rich_help_panel=o.TRAINING,
        ),
    ] = None,
    scenario: o.ScenarioOption = "case-control",
    model: Annotated[
        Literal["extra-trees", "random-forest"],
        typer.Option(
            "--model",
            metavar="NAME",
            help="Type of forest: extra-trees or random-forest.",
            rich_help_panel=o.TRAINING,
        ),
    ] = "extra-trees",
    trees: Annotated[
        int, typer.Option("--trees", min=1, help="Number of trees.", rich_help_panel=o.TRAINING)
    ] = 100,
    risk: Annotated[
        Literal["nnpu", "upu"],
        typer.Option("--risk", help="Risk estimator to minimize.", rich_help_panel=o.TRAINING),
    ] = "nnpu",
    loss: Annotated[
        Loss,
        typer.Option(
            "--loss",
            metavar="NAME",
            help=f"Loss function of the risk: {', '.join(get_args(Loss))}.",
            rich_help_panel=o.TRAINING,
        ),
    ] = "quadratic",
    voting: Annotated[
        Literal["hard", "soft"],
        typer.Option(
            "--voting",
            help="hard: the score is the fraction of trees that vote positive. soft: it is the "
            "mean leaf value; use it with --min-samples-leaf.",
            rich_help_panel=o.TRAINING,
        ),
    ] = "hard",
    max_depth: Annotated[
        int | None,
        typer.Option(
            "--max-depth", min=1, help="Maximum depth of a tree.", rich_help_panel=o.TRAINING
        ),
    ] = None,
    min_samples_leaf: Annotated[
        int,
        typer.Option(
            "--min-samples-leaf",
            min=1,
            help="Minimum number of rows in a leaf.",
            rich_help_panel=o.TRAINING,
        ),
    ] = 1,
    monotonic: Annotated[
        list[str] | None,
        typer.Option(
            "--monotonic",
            metavar="COLUMN=DIRECTION",
            help="Let the score only increase (COLUMN=+1) or only decrease (COLUMN=-1) with a "
            "numeric feature; repeat the option for more.",
            rich_help_panel=o.TRAINING,
        ),
    ] = None,
    folds: Annotated[
        int,
        typer.Option(
            "--folds",
            min=2,
            help="Number of cross-validation folds to estimate the quality.",
            rich_help_panel=o.TRAINING,
        ),
    ] = 5,
    no_quality: Annotated[
        bool,
        typer.Option(
            "--no-quality",
            help="Skip the quality estimate, which fits one more forest per fold.",
            rich_help_panel=o.TRAINING,
        ),
    ] = False,
    seed: o.Seed = 0,
    threads: o.Threads = None,
    force: o.Force = False,
    *,
    reading: o.Reading,
) -> dict[str, Any]:
    """Train a forest on labeled and unlabeled rows.

    Prints a summary of the data, estimates the class prior unless it is given, trains the forest,
    writes it to a file, and estimates its quality by cross-validation, without labeled negatives.

    Text columns are read as categories. Empty cells, ?, NA and similar words are missing values.
    Columns that are not used, such as identifiers, are listed with the reason.
    """
    import puforest
    from puforest.cli._summary import print_summary, summary_json
    from puforest.cli.tables._write import refuse_existing

    started = time.perf_counter()
    refuse_existing(output, force=force)
    directions = monotonic_directions(monotonic or ())
    source = reading.open(data)
    source.require_columns(directions, "--monotonic")
    table = columns.read(source)
    refuse_unordered(table.features, directions)
    console.detail(f"read in {time.perf_counter() - started:.2f} s")
    print_summary(console, source, table, scenario)
    models = {
        "extra-trees": puforest.PUExtraTreesClassifier,
        "random-forest": puforest.PURandomForestClassifier,
    }
    forest = models[model](
        prior,
        scenario=scenario,
        risk=risk,
        loss=loss,
        voting=voting,
        n_estimators=trees,
        max_depth=max_depth,
        min_samples_leaf=min_samples_leaf,
        monotonic_cst=directions or None,
        n_jobs=o.n_jobs(threads),
        random_state=seed,
    )
    X, splits = None, []
    if not no_quality:
        from puforest.cli import _quality

        X = table.encoded()
        splits = _quality.folds(X, table.labeled, folds, seed)  # fails before the training
    train(console, forest, table)
    reading.remember(forest)
    known = prior_facts(forest)
    console.facts("Forest", {"prior": known["text"], "trees": describe_trees(forest)})
    # Saved before the quality is estimated, so that an interruption does not lose the model.
    refuse_existing(output, force=force)
    forest.save(output)
    console.info(f"Model written to {output}")
    console.info(f"Next: puforest predict {shlex.quote(str(output))} NEW.csv -o SCORED.csv")
    result = {"model": str(output), **summary_json(source, table, scenario)}
    result |= {"prior": known["value"], "prior_interval": known["interval"], "quality": None}
    if X is not None:
        result["quality"] = estimate_quality(console, forest, X, table.labeled, splits)
    console.detail(f"finished in {time.perf_counter() - started:.2f} s")
    return result


def monotonic_directions(given: Sequence[str]) -> dict[str, int]:
    """Read the constraints of ``--monotonic``: 1 for increasing and -1 for decreasing."""
    directions = {}
    for option in given:
        column, _, word = option.rpartition("=")
        if not column or word not in DIRECTIONS:
            raise ValueError(
                f"--monotonic {option}: write COLUMN=+1 if the score must not decrease with the "
                "column, or COLUMN=-1 if it must not increase"
            )
        directions[column] = DIRECTIONS[word]
    return directions


def refuse_unordered(features: Features, directions: Mapping[str, int]) -> None:
    """Raise an error for constraints on columns that are categories or not used."""
    reasons = {column.name: f"it is not used: {column.reason}" for column in features.left_out}
    for name in directions:
        if features.kinds.get(name) == "category":
            raise ValueError(
                f"--monotonic {name}: the column holds categories, which have no order"
            )
        if name not in features.names:
            reason = reasons.get(name, "it is not a feature")
            raise ValueError(f"--monotonic {name}: the column cannot be constrained, as {reason}")


def train(console: Console, forest: Any, table: PUTable) -> None:
    """Fit the forest with a progress bar."""
    from puforest.cli.tables._pu_table import NEARLY_UNIQUE
    from puforest.prior import PriorEstimatedWarning

    what = "Training" if forest.prior else "Estimating the prior and training"
    with console.progress(what) as done, warnings.catch_warnings():
        warnings.simplefilter("ignore", PriorEstimatedWarning)  # printed with the forest
        warnings.filterwarnings("ignore", NEARLY_UNIQUE)  # printed with the summary
        forest.fit(table.features.X, table.labeled, progress=done)


def prior_facts(forest: Any) -> dict[str, Any]:
    """Return the class prior of a forest, its interval and a description."""
    estimate = forest._record.prior_estimate
    if estimate is None:
        return {"value": forest.prior_, "interval": None, "text": f"{forest.prior_:.3g}, as given"}
    return {
        "value": estimate.value,
        "interval": estimate.interval,
        "text": f"{estimate.value:.3f}, estimated; {100 * estimate.confidence:g}% interval "
        f"{estimate.interval[0]:.3f} to {estimate.interval[1]:.3f}. The model depends on it: "
        "check that it is plausible",
    }


def describe_trees(forest: Any) -> str:
    """Describe the number and size of the trees."""
    leaves = [tree.get_n_leaves() for tree in forest.estimators_]
    return f"{len(leaves):,} with {sum(leaves) / len(leaves):,.0f} leaves on average"


def estimate_quality(
    console: Console, forest: Any, X: EncodedTable, labeled: NDArray[np.int64], splits: Any
) -> dict[str, Any]:
    """Estimate PU metrics by cross-validation with forests of the same parameters."""
    from sklearn.base import clone

    from puforest._cross_fitting import cross_fitted_scores
    from puforest.cli import _quality

    known = prior_facts(forest)
    like = clone(forest).set_params(prior=forest.prior_)
    if forest.monotonic_cst:  # by name, but the columns of an encoded table have none
        signs = [forest.monotonic_cst.get(name, 0) for name in forest.feature_names_in_]
        like.set_params(monotonic_cst=signs)
    with console.progress(f"Estimating the quality, {len(splits)} folds") as done:
        score = cross_fitted_scores(
            lambda train: clone(like).fit(X[train], labeled[train]),
            X,
            splits,
            lambda n_done: done(n_done / len(splits)),
        )
    report = _quality.quality(
        labeled,
        score,
        prior=known["value"],
        prior_interval=known["interval"],
        scenario=forest.scenario,
    )
    title = f"Quality, estimated without labeled negatives ({len(splits)} folds)"
    _quality.show_quality(console, title, report)
    return _quality.as_json(report)
