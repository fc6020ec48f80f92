"""``puforest evaluate``: evaluate a model on held-out PU data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from puforest.cli import _options as o
from puforest.cli._app import command
from puforest.cli._console import Console

if TYPE_CHECKING:
    from puforest.checking import CheckedEstimates
    from puforest.metrics import ClassificationReport


@command(
    "puforest evaluate model.puf later.csv --label known_fraud",
    "puforest evaluate model.puf later.csv --label known_fraud --checked checked.csv",
)
def evaluate(
    console: Console,
    model: o.ModelFile,
    data: o.Data,
    label: o.Label = None,
    positive: o.Positive = None,
    truth: Annotated[
        str | None,
        typer.Option(
            "--truth",
            metavar="COLUMN",
            help="Column with the true classes, 1 and 0, to compare the estimates with.",
            rich_help_panel=o.COLUMNS,
        ),
    ] = None,
    prior: Annotated[
        float | None,
        typer.Option(
            "--prior",
            callback=o.between_0_and_1,
            help="Class prior; that of the model by default.",
        ),
    ] = None,
    scenario: Annotated[
        o.Scenario | None,
        typer.Option(
            "--scenario", help="Sampling scenario of these rows; that of the model by default."
        ),
    ] = None,
    threshold: o.Threshold = None,
    threads: o.Threads = None,
    *,
    checks: o.CheckOptions,
    reading: o.Reading,
) -> dict[str, Any]:
    """Estimate the quality of a model on held-out rows.

    Training rows are scored out of bag if the model is a forest with out-of-bag predictions;
    otherwise, estimates on them are too optimistic. Precision, recall and the other metrics follow
    from the class prior and the fractions of labeled rows and of all rows that are predicted
    positive.

    With --checked, estimates from rows that were looked at by hand are printed beside them. They
    do not depend on the class prior; see puforest check.
    """
    import numpy as np

    from puforest._prior_estimate import contradiction
    from puforest._unwrap import fitted_trees, known_scenario
    from puforest.cli import _quality
    from puforest.cli._checks import CheckedTable, read_checks
    from puforest.cli._model_columns import match_columns, report_columns
    from puforest.cli._model_rows import ModelRows
    from puforest.cli._prior_text import prior_text
    from puforest.cli._scoring import report_missing, report_unknown, score_table
    from puforest.cli.tables._arrow import arrow
    from puforest.cli.tables._labels import read_labels, true_classes
    from puforest.cli.tables._pu_table import label_column

    checks.refuse_unused()
    forest = o.load_for(model, threads)
    limit = o.threshold_for(forest, threshold)
    source = reading.open(data, forest)
    name = label_column(source, label)
    others = [name] if truth is None else [name, truth]
    if truth is not None:
        source.require_columns([truth], "--truth")
        if truth == name:
            raise ValueError(f"--truth {truth}: this is the label column, not the true classes")
    columns = match_columns(o.schema_of(forest), source, others)
    report_columns(console, columns, source.path)
    rows = ModelRows(source, columns)
    scored = score_table(console, forest, rows, others, "evaluate on")
    report_missing(console, source.path, rows.gaps)
    report_unknown(console, source.path, rows.gaps)
    table = scored.others
    rule, labeled = read_labels(source, name, table.column(name), positive)
    of_checks = CheckedTable(source, name, labeled, reading, threads)
    verdicts = read_checks(console, checks, of_checks, model=model)
    if verdicts is not None:
        labeled = verdicts.labeled
    out_of_bag = scored.held_out(labeled)
    score = scored.score if out_of_bag is None else out_of_bag
    estimate = fitted_trees(forest)._record.prior_estimate
    if prior is not None and estimate is not None:
        wrong = contradiction(prior, estimate)
        if wrong is not None:
            console.warning(f"--prior {prior:g}: {wrong}")
    assumed = prior or estimate or forest.prior_
    report = _quality.quality(
        labeled,
        score,
        threshold=limit,
        prior=assumed,
        scenario=scenario or str(known_scenario(forest)),
    )
    found = None
    if verdicts is not None:
        found = verdicts.estimates(score, report.scenario, limit)
        if prior is None and out_of_bag is not None:
            found = found.with_prior_of_fit(fitted_trees(forest)._record)
    known = None
    if truth is not None:
        # Labeled rows that were collected separately are not part of the population.
        population = (labeled == 0) | (report.scenario == "single-training-set")
        classes = true_classes(truth, table.column(truth).filter(arrow().array(population)))
        if len(np.unique(classes)) == 2:
            known = _quality.true_quality(classes, score[population], limit)
        else:
            console.warning(
                f"--truth {truth}: all {len(classes):,} rows of the population are of class "
                f"{classes[0]}, so the estimates cannot be compared with the truth"
            )
    n = len(score)
    console.facts(
        "Held-out rows" if out_of_bag is None else "Training rows, scored out of bag",
        {
            "file": f"{source.path} ({source.kind})",
            "rows": f"{n:,}: {labeled.sum():,} labeled, {n - labeled.sum():,} unlabeled",
            "labels": str(rule),
            "prior": prior_text(report.prior, estimate if prior is None else None),
            "scenario": report.scenario,
            "threshold": f"{limit:.3g}; {_quality.positive_text(labeled, score, limit)}",
        },
    )
    title = "Quality, estimated without labeled negatives"
    if out_of_bag is not None:
        title += " (out of bag)"
    _quality.show_quality(console, title, report, known, found)
    if found is not None:
        compare_prior(console, report.prior, found)
    if out_of_bag is None:
        warn_of_training_rows(console, scored.is_training_data(labeled), report)
    return {
        "model": str(model),
        "file": str(data),
        "rows": n,
        "out_of_bag": out_of_bag is not None,
        "labeled": int(labeled.sum()),
        "prior": report.prior,
        "scenario": report.scenario,
        "threshold": limit,
        "predicted_positive": _quality.predicted_positive(labeled, score, limit),
        **rows.gaps.as_json(),
        **_quality.as_json(report, found),
        "truth": known,
        "checked": None if verdicts is None else verdicts.as_json(),
    }


def compare_prior(console: Console, prior: float, found: CheckedEstimates) -> None:
    """Warn if the prior of the metrics contradicts checked rows, and print what they lack."""
    from puforest._prior_estimate import contradiction

    for note in found.notes:
        console.info(note)
    wrong = None if found.prior is None else contradiction(prior, found.prior)
    if wrong is not None:
        console.warning(f"{wrong}. The estimates without checked rows depend on it")


def warn_of_training_rows(
    console: Console, is_training_data: bool, report: ClassificationReport
) -> None:
    """Warn of training rows that were not scored out of bag, or estimates that are too good."""
    from puforest.cli import _quality

    too_good = "estimates on them are too optimistic; puforest fit prints held-out ones"
    if is_training_data:
        console.warning(f"these are the training rows: {too_good}")
    elif _quality.clear_notes(report):
        console.warning(f"check that these are not the training rows: {too_good}")
