"""``puforest fit``: learn from a table, and say how good it is."""

from __future__ import annotations

import time
import warnings
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import typer
from sklearn.base import clone

from puforest import PUExtraTreesClassifier, PURandomForestClassifier
from puforest._cross_fitting import cross_fitted_scores
from puforest._progress import progress_shown_by
from puforest.cli import _options as o
from puforest.cli import _quality, _understood
from puforest.cli._app import command
from puforest.cli._say import Say
from puforest.cli.tables import PUTable, read_pu, refuse_existing
from puforest.prior import PriorEstimatedWarning
from puforest.risk import LOSSES

# Typer takes literals only where they are written out.
Loss = Enum("Loss", {name: name for name in LOSSES}, type=str)  # type: ignore[misc]

MODELS = {"extra-trees": PUExtraTreesClassifier, "random-forest": PURandomForestClassifier}


@command(
    "puforest fit payments.csv --label known_fraud -o model.puf",
    "puforest fit payments.csv --label known_fraud --prior 0.03 --drop id -o model.puf",
    "puforest fit payments.csv --label known_fraud --scenario single-training-set -o model.puf",
)
def fit(
    say: Say,
    reading: o.Reading,
    data: o.Data,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Where to write the model, such as model.puf.")
    ],
    label: o.Label = None,
    positive: o.Positive = None,
    features: o.Features = None,
    drop: o.Drop = None,
    prior: Annotated[
        float | None,
        typer.Option(
            "--prior",
            callback=o.between_0_and_1,
            help="Share of positives in the population, between 0 and 1; estimated if not given.",
            rich_help_panel=o.LEARNING,
        ),
    ] = None,
    scenario: o.ScenarioOption = "case-control",
    model: Annotated[
        Literal["extra-trees", "random-forest"],
        typer.Option("--model", help="Kind of forest.", rich_help_panel=o.LEARNING),
    ] = "extra-trees",
    trees: Annotated[
        int, typer.Option("--trees", min=1, help="Number of trees.", rich_help_panel=o.LEARNING)
    ] = 100,
    risk: Annotated[
        Literal["nnpu", "upu"],
        typer.Option("--risk", help="Risk to minimize.", rich_help_panel=o.LEARNING),
    ] = "nnpu",
    loss: Annotated[
        Loss,
        typer.Option(
            "--loss",
            metavar="NAME",
            help=f"Loss within the risk: {', '.join(LOSSES)}.",
            rich_help_panel=o.LEARNING,
        ),
    ] = Loss["quadratic"],
    voting: Annotated[
        Literal["hard", "soft"],
        typer.Option(
            "--voting",
            help="hard: scores are shares of trees. soft: means of what leaves say; best with "
            "--min-samples-leaf.",
            rich_help_panel=o.LEARNING,
        ),
    ] = "hard",
    max_depth: Annotated[
        int | None,
        typer.Option(
            "--max-depth", min=1, help="Deepest level of a tree.", rich_help_panel=o.LEARNING
        ),
    ] = None,
    min_samples_leaf: Annotated[
        int,
        typer.Option(
            "--min-samples-leaf", min=1, help="Fewest rows of a leaf.", rich_help_panel=o.LEARNING
        ),
    ] = 1,
    folds: Annotated[
        int,
        typer.Option(
            "--folds",
            min=2,
            help="Folds to estimate the quality with: each is scored by a forest of the others.",
            rich_help_panel=o.LEARNING,
        ),
    ] = 5,
    no_quality: Annotated[
        bool,
        typer.Option(
            "--no-quality",
            help="Do not estimate the quality, which takes as long as --folds more fits.",
            rich_help_panel=o.LEARNING,
        ),
    ] = False,
    seed: o.Seed = 0,
    threads: o.Threads = None,
    force: o.Force = False,
) -> dict[str, Any]:
    """Learn which unlabeled rows are positive, and write a model.

    Tells what it understood of the file, estimates the prior (the share of positives) unless
    you give it, grows the forest, and estimates its quality without a single known negative, on
    rows that each forest has not seen.

    Columns that hold no numbers are left out, and named.
    """
    started = time.perf_counter()
    refuse_existing(output, force=force)
    source = reading.open(data)
    table = read_pu(
        source, label=label, positive=positive, features=features or [], drop=drop or []
    )
    say.detail(f"read in {time.perf_counter() - started:.2f} s")
    _understood.tell(say, source, table, scenario)
    forest = MODELS[model](
        prior,
        scenario=scenario,
        risk=risk,
        loss=loss.value,
        voting=voting,
        n_estimators=trees,
        max_depth=max_depth,
        min_samples_leaf=min_samples_leaf,
        n_jobs=o.n_jobs(threads),
        random_state=seed,
    )
    splits = [] if no_quality else _quality.folds(table.X, table.labeled, folds, seed)
    grow(say, forest, table)
    known = prior_facts(forest)
    say.facts("The forest", {"prior": known["text"], "trees": describe_trees(forest)})
    # Before its quality is estimated: what happens to the estimate does not cost the model.
    refuse_existing(output, force=force)
    forest.save(output)
    say.info(f"The model is in {output}. Next: puforest predict {output} NEW_ROWS -o SCORED")
    result = {"model": str(output), **_understood.as_json(source, table, scenario)}
    result |= {"prior": known["value"], "prior_interval": known["interval"], "quality": None}
    if splits:
        result["quality"] = estimate_quality(say, forest, table, splits)
    say.detail(f"done in {time.perf_counter() - started:.2f} s")
    return result


def grow(say: Say, forest: Any, table: PUTable) -> None:
    """Fit the forest with a progress bar, and have it know its features by name."""
    what = "Growing trees" if forest.prior else "Estimating the prior, growing trees"
    with say.progress(what) as done, progress_shown_by(done), warnings.catch_warnings():
        # The prior is shown with the forest.
        warnings.simplefilter("ignore", PriorEstimatedWarning)
        forest.set_params(verbose=1).fit(table.X, table.labeled)
    forest.set_params(verbose=0)
    forest.feature_names_in_ = np.array(table.names, dtype=object)


def prior_facts(forest: Any) -> dict[str, Any]:
    """The prior of a forest, as numbers and in words."""
    estimate = getattr(forest, "prior_estimate_", None)
    if estimate is None:
        return {"value": forest.prior_, "interval": None, "text": f"{forest.prior_:.3g}, as given"}
    return {
        "value": estimate.value,
        "interval": estimate.interval,
        "text": f"{estimate.value:.3f}, estimated; {100 * estimate.confidence:g}% interval "
        f"{estimate.interval[0]:.3f} to {estimate.interval[1]:.3f}. The model depends on it: "
        "compare it with what you know",
    }


def describe_trees(forest: Any) -> str:
    """Number and size of the trees."""
    leaves = [tree.get_n_leaves() for tree in forest.estimators_]
    return f"{len(leaves):,} with {sum(leaves) / len(leaves):,.0f} leaves on average"


def estimate_quality(say: Say, forest: Any, table: PUTable, splits: Any) -> dict[str, Any]:
    """PU metrics of forests like this one on rows they have not seen."""
    known = prior_facts(forest)
    like = clone(forest).set_params(prior=forest.prior_)
    with say.progress(f"Estimating its quality, {len(splits)} folds") as done:
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
    title = f"Quality, estimated without negatives ({len(splits)} folds)"
    _quality.show_quality(say, title, report)
    return _quality.as_json(report)
