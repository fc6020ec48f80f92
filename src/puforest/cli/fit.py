"""``puforest fit``: train a model and estimate its quality."""

from __future__ import annotations

import shlex
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from puforest.cli import _options as o
from puforest.cli._app import command
from puforest.cli._console import Console
from puforest.cli._models import ModelOptions

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from puforest._comparison import Compared
    from puforest._cross_fitting import Split
    from puforest._encoded import EncodedTable
    from puforest._training_rows import TrainingRows
    from puforest.cli._checks import TableVerdicts
    from puforest.cli.tables._features import Features
    from puforest.cli.tables._pu_table import PUTable

N_FOLDS = 5

DIRECTIONS = {"+1": 1, "1": 1, "increasing": 1, "-1": -1, "decreasing": -1}


@command(
    "puforest fit payments.csv --label known_fraud -o model.puf",
    "puforest fit payments.csv --label known_fraud --prior 0.03 --drop id -o model.puf",
    "puforest fit payments.csv --label known_fraud --scenario single-training-set -o model.puf",
    "puforest fit payments.csv --label known_fraud --threshold cost:10 -o model.puf",
    "puforest fit payments.csv --label known_fraud --categorical shop --missing -1 -o model.puf",
    "puforest fit 'payments/*.parquet' --label known_fraud --stream -o model.puf",
    "puforest fit payments.csv --label known_fraud --checked checked.csv --checked-by model.puf "
    "-o better.puf",
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
    no_quality: Annotated[
        bool,
        typer.Option(
            "--no-quality",
            help="Skip the quality estimate.",
            rich_help_panel=o.TRAINING,
        ),
    ] = False,
    stream: Annotated[
        bool | None,
        typer.Option(
            "--stream/--in-memory",
            help="Keep only the rows that the forest needs, or all rows. By default, tables larger "
            "than a quarter of the available memory are streamed. The model is the same.",
            rich_help_panel=o.TRAINING,
        ),
    ] = None,
    seed: o.Seed = 0,
    threads: o.Threads = None,
    force: o.Force = False,
    *,
    checks: o.CheckOptions,
    options: ModelOptions,
    reading: o.Reading,
) -> dict[str, Any]:
    """Train a forest on labeled and unlabeled rows.

    Prints a summary of the data, estimates the class prior unless it is given, trains the forest,
    writes it to a file, and estimates its quality without labeled negatives: from out-of-bag
    predictions (--model forest) or by cross-validation.

    Text columns are read as categories. Empty cells, ?, NA and similar words are missing values.
    Columns that are not used, such as identifiers, are listed with the reason.

    Tables that do not fit into memory are streamed: the forest needs the labeled rows and a limited
    number of the unlabeled ones.

    With --checked, rows that were looked at by hand are used as known positives and negatives, and
    for the class prior, unless it is given; see puforest check.
    """
    from puforest._threshold import threshold_text
    from puforest.cli import _quality
    from puforest.cli._checks import CheckedTable, read_checks
    from puforest.cli._prior_text import HOW_TO_KNOW, prior_json, prior_text
    from puforest.cli._streaming import is_streamed, train_streamed
    from puforest.cli._summary import print_summary, summary_json
    from puforest.cli.tables._write import refuse_existing

    started = time.perf_counter()
    options.refuse_options_of_others()
    checks.refuse_unused()
    refuse_existing(output, force=force, inputs=[data, *checks.files()])
    directions = monotonic_directions(monotonic or ())
    source = reading.open(data)
    source.require_columns(directions, "--monotonic")
    common = {
        "scenario": scenario,
        "monotonic_cst": directions or None,
        "n_jobs": o.n_jobs(threads),
        "random_state": seed,
    }

    def show(table: PUTable) -> None:
        refuse_unordered(table.features, directions)
        console.detail(f"read in {time.perf_counter() - started:.2f} s")
        print_summary(console, source, table, scenario)

    X, splits, verdicts, evaluated = None, [], None, None
    if is_streamed(stream, source, options, checks):
        forest, table, evaluated = train_streamed(
            console, source, columns, options, common | {"prior": prior}, show
        )
    else:
        table = columns.read(source)
        show(table)
        of_checks = CheckedTable(source, table.rule.column, table.labeled, reading, threads)
        verdicts = read_checks(console, checks, of_checks)
        if verdicts is not None:
            table = replace(table, labeled=verdicts.labeled)
        known_prior: Any = prior
        if prior is None and verdicts is not None:
            known_prior = verdicts.estimates(verdicts.score, scenario).prior
        forest = options.estimator(
            table.n_labeled, len(table.labeled) - table.n_labeled, prior=known_prior, **common
        )
        if options.is_cross_validated and not no_quality:
            X = table.encoded()
            splits = _quality.folds(X, table.labeled, options.folds or N_FOLDS, seed)  # may fail
        train(console, forest, table, verdicts)
    reading.remember(forest)
    candidates = getattr(forest, "comparison_", ())
    show_candidates(console, candidates)
    estimate = forest._record.prior_estimate
    facts = {"prior": prior_text(forest.prior_, estimate), "trees": describe_trees(forest)}
    if estimate is not None and estimate.is_bound:
        reason = f" {estimate.reason}" if no_quality else ""
        facts["prior"] += f".{reason} {HOW_TO_KNOW}"
    facts["threshold"] = threshold_text(forest)
    labeled, score, weight = table.labeled, None, None
    if evaluated is not None:
        labeled, score, weight = evaluated.labeled, evaluated.score, evaluated.weight
    elif not options.is_cross_validated:
        score = forest._oob_probability()
    if score is not None:
        facts["predictions"] = _quality.positive_text(labeled, score, forest.threshold_)
    console.facts("Forest", facts)
    if prior is not None and score is not None:
        rows = None if evaluated is None else evaluated.rows
        warn_of_prior(console, prior, score, labeled, scenario, rows)
    # Saved before the quality is estimated, so that an interruption does not lose the model.
    refuse_existing(output, force=force)
    forest.save(output)
    console.info(f"Model written to {output}")
    console.info(f"Next: puforest predict {shlex.quote(str(output))} NEW.csv -o SCORED.csv")
    how = "out of bag"
    if X is not None:
        score, how = (
            cross_validated(console, forest, X, labeled, splits, verdicts),
            f"{len(splits)} folds",
        )
        console.info(_quality.positive_text(labeled, score, forest.threshold_))
    result = {"model": str(output), **summary_json(source, table, scenario)}
    result |= prior_json(forest.prior_, estimate)
    result["checked"] = None if verdicts is None else verdicts.as_json()
    result |= {"threshold": forest.threshold_, "predicted_positive": None, "quality": None}
    result["candidates"] = [asdict(row) | {"recipe": str(row.recipe)} for row in candidates]
    if score is not None:
        result["predicted_positive"] = _quality.predicted_positive(
            labeled, score, forest.threshold_
        )
        if not no_quality:
            result["quality"] = estimate_quality(
                console, forest, labeled, score, how, verdicts, weight
            )
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


def train(console: Console, forest: Any, table: PUTable, checks: TableVerdicts | None) -> None:
    """Fit the forest with a progress bar."""
    from puforest.cli.tables._pu_table import NEARLY_UNIQUE
    from puforest.prior import PriorEstimatedWarning

    what = "Training" if forest.prior else "Estimating the prior and training"
    with console.progress(what) as done, warnings.catch_warnings():
        warnings.simplefilter("ignore", PriorEstimatedWarning)  # printed with the forest
        warnings.filterwarnings("ignore", NEARLY_UNIQUE)  # printed with the summary
        given = checks.fit_params() if checks is not None else {}
        forest.fit(table.features.X, table.labeled, **given, progress=done)


def warn_of_prior(
    console: Console,
    prior: float,
    score: NDArray[np.float64],
    labeled: NDArray[np.int64],
    scenario: str,
    rows: TrainingRows | None,
) -> None:
    """Warn of a given prior that the out-of-bag scores contradict; `rows` are those of a part."""
    from puforest._prior_estimate import contradiction
    from puforest._training_rows import training_rows
    from puforest.prior.bbe import prior_from_scores

    if rows is None:
        rows = training_rows(labeled, None, None, risk="nnpu")
        score = score[rows.order]
    wrong = contradiction(prior, prior_from_scores(score, rows, scenario))
    if wrong is not None:
        console.warning(f"--prior {prior:g}: {wrong}")


def describe_trees(forest: Any) -> str:
    """Describe the number and size of the trees."""
    n_trees, n_leaves = forest._forest.n_trees, forest.get_n_leaves()
    return f"{n_trees:,} with {n_leaves / n_trees:,.0f} leaves on average"


def show_candidates(console: Console, candidates: Sequence[Compared]) -> None:
    """Print the candidates, if several were compared."""
    if len(candidates) > 1:
        for line in ("Candidates, compared out of bag", *str(candidates).splitlines(), ""):
            console.info(line)


def cross_validated(
    console: Console,
    forest: Any,
    X: EncodedTable,
    labeled: NDArray[np.int64],
    splits: list[Split],
    checks: TableVerdicts | None,
) -> NDArray[np.float64]:
    """Score each row with a forest of the same parameters that was fitted without its fold."""
    from sklearn.base import clone

    from puforest._cross_fitting import cross_fitted_scores

    # Scores do not depend on the threshold.
    like = clone(forest).set_params(prior=forest.prior_, threshold=0.5, oob_score=False)
    if forest.monotonic_cst:  # by name, but the columns of an encoded table have none
        signs = [forest.monotonic_cst.get(name, 0) for name in forest.feature_names_in_]
        like.set_params(monotonic_cst=signs)
    given = checks.fit_params() if checks is not None else {}
    with console.progress(f"Estimating the quality, {len(splits)} folds") as done:
        return cross_fitted_scores(
            lambda train: clone(like).fit(
                X[train], labeled[train], **{name: part[train] for name, part in given.items()}
            ),
            X,
            splits,
            lambda n_done: done(n_done / len(splits)),
        )


def estimate_quality(
    console: Console,
    forest: Any,
    labeled: NDArray[np.int64],
    score: NDArray[np.float64],
    how: str,
    checks: TableVerdicts | None,
    weight: NDArray[np.float64] | None = None,
) -> dict[str, Any]:
    """Estimate PU metrics from held-out scores of the training rows."""
    from puforest.cli import _quality

    report = _quality.quality(
        labeled,
        score,
        threshold=forest.threshold_,
        prior=forest._record.prior_estimate or forest.prior_,
        scenario=forest.scenario,
        weight=weight,
    )
    found = None
    if checks is not None:
        found = checks.estimates(score, forest.scenario, forest.threshold_)
        found = found.with_prior_of_fit(forest._record)
    title = f"Quality, estimated without labeled negatives ({how})"
    _quality.show_quality(console, title, report, checks=found)
    return _quality.as_json(report, found)
