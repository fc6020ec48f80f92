"""``puforest fit``: train a model and estimate its quality."""

from __future__ import annotations

import shlex
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import typer

from puforest.cli import _options as o
from puforest.cli._app import command
from puforest.cli._console import Console

if TYPE_CHECKING:
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


@command(
    "puforest fit payments.csv --label known_fraud -o model.puf",
    "puforest fit payments.csv --label known_fraud --prior 0.03 --drop id -o model.puf",
    "puforest fit payments.csv --label known_fraud --scenario single-training-set -o model.puf",
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

    Columns that are not numeric are listed and ignored.
    """
    import puforest
    from puforest.cli._summary import print_summary, summary_json
    from puforest.cli.tables._write import refuse_existing

    started = time.perf_counter()
    refuse_existing(output, force=force)
    source = reading.open(data)
    table = columns.read(source)
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
        n_jobs=o.n_jobs(threads),
        random_state=seed,
    )
    splits = []
    if not no_quality:
        from puforest.cli import _quality

        splits = _quality.folds(table.X, table.labeled, folds, seed)  # fails before the training
    train(console, forest, table)
    known = prior_facts(forest)
    console.facts("Forest", {"prior": known["text"], "trees": describe_trees(forest)})
    # Saved before the quality is estimated, so that an interruption does not lose the model.
    refuse_existing(output, force=force)
    forest.save(output)
    quoted = shlex.quote(str(output))
    console.info(f"Model written to {output}")
    console.info(f"Next: puforest predict {quoted} NEW.csv -o SCORED.csv")
    result = {"model": str(output), **summary_json(source, table, scenario)}
    result |= {"prior": known["value"], "prior_interval": known["interval"], "quality": None}
    if splits:
        result["quality"] = estimate_quality(console, forest, table, splits)
    console.detail(f"finished in {time.perf_counter() - started:.2f} s")
    return result


def train(console: Console, forest: Any, table: PUTable) -> None:
    """Fit the forest with a progress bar."""
    from puforest.prior import PriorEstimatedWarning

    what = "Training" if forest.prior else "Estimating the prior and training"
    with console.progress(what) as done, warnings.catch_warnings():
        warnings.simplefilter("ignore", PriorEstimatedWarning)  # printed with the forest
        forest.fit(table.named, table.labeled, progress=done)


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


def estimate_quality(console: Console, forest: Any, table: PUTable, splits: Any) -> dict[str, Any]:
    """Estimate PU metrics by cross-validation with forests of the same parameters."""
    from sklearn.base import clone

    from puforest._cross_fitting import cross_fitted_scores
    from puforest.cli import _quality

    known = prior_facts(forest)
    like = clone(forest).set_params(prior=forest.prior_)
    with console.progress(f"Estimating the quality, {len(splits)} folds") as done:
        score = cross_fitted_scores(
            lambda train: clone(like).fit(table.X[train], table.labeled[train]),
            table.X,
            splits,
            lambda n_done: done(n_done / len(splits)),
        )
    report = _quality.quality(
        table.labeled,
        score,
        prior=known["value"],
        prior_interval=known["interval"],
        scenario=forest.scenario,
    )
    title = f"Quality, estimated without labeled negatives ({len(splits)} folds)"
    _quality.show_quality(console, title, report)
    return _quality.as_json(report)
