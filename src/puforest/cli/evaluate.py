"""``puforest evaluate``: judge a model by rows it has not seen, without negatives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from puforest.cli import _options as o
from puforest.cli._app import command
from puforest.cli._console import Console

if TYPE_CHECKING:
    from puforest.metrics import ClassificationReport


@command(
    "puforest evaluate model.puf later.csv --label known_fraud",
)
def evaluate(
    say: Console,
    model: o.ModelFile,
    data: o.Data,
    label: o.Label = None,
    positive: o.Positive = None,
    truth: Annotated[
        str | None,
        typer.Option(
            "--truth",
            metavar="COLUMN",
            help="Column with the true classes, 1 and 0, to compare with, if they are known.",
            rich_help_panel=o.COLUMNS,
        ),
    ] = None,
    prior: Annotated[
        float | None,
        typer.Option(
            "--prior",
            callback=o.between_0_and_1,
            help="Share of positives in the population; that of the model.",
        ),
    ] = None,
    scenario: Annotated[
        o.Scenario | None,
        typer.Option("--scenario", help="How these rows came about; that of the model."),
    ] = None,
    threads: o.Threads = None,
    *,
    reading: o.Reading,
) -> dict[str, Any]:
    """Estimate how good a model is, from positive and unlabeled rows that it has not seen.

    Rows that it was fitted to would flatter it: puforest fit estimates the quality on them by
    folds. Precision, recall and the rest follow from the share of labeled rows that are called
    positive, that of all rows, and the prior.
    """
    import numpy as np

    from puforest._unwrap import known_scenario
    from puforest.cli import _quality
    from puforest.cli._scoring import match_columns, report_columns, scored_batches
    from puforest.cli.tables._arrow import arrow
    from puforest.cli.tables._labels import read_labels, true_classes
    from puforest.cli.tables._pu_table import label_column

    forest = o.load_for(model, threads)
    source = reading.open(data)
    name = label_column(source, label)
    others = [name] if truth is None else [name, truth]
    if truth is not None:
        source.require_columns([truth], "--truth")
        if truth == name:
            raise ValueError(f"--truth {truth} is the label column: give a column of true classes")
    columns = match_columns(forest, source, others)
    report_columns(say, columns, source.path)
    scores, kept = [], []
    with say.progress(f"Scoring {source.path.name}") as done:
        for scored in scored_batches(forest, source, columns, others, None):
            scores.append(scored.score)
            kept.append(scored.others)
            done(source.progress)
    if not scores:
        raise ValueError(f"{source.path} has columns but no rows: there is nothing to judge by")
    score = np.concatenate(scores)
    table = arrow().Table.from_batches(kept)
    rule, labeled = read_labels(source, name, table.column(name), positive)
    estimate = getattr(getattr(forest, "estimator_", forest), "prior_estimate_", None)
    report = _quality.judge(
        labeled,
        score,
        prior=forest.prior_ if prior is None else prior,
        prior_interval=estimate.interval if estimate is not None and prior is None else None,
        scenario=scenario or str(known_scenario(forest)),
    )
    known = None
    if truth is not None:
        # Labeled rows that were collected on their own are no part of the population.
        population = (labeled == 0) | (report.scenario == "single-training-set")
        classes = true_classes(truth, table.column(truth).filter(arrow().array(population)))
        known = _quality.true_quality(classes, score[population])
    n = len(score)
    say.facts(
        "Rows to judge by",
        {
            "file": f"{source.path} ({source.kind})",
            "rows": f"{n:,}: {labeled.sum():,} labeled, {n - labeled.sum():,} unlabeled",
            "labels": str(rule),
            "prior": f"{report.prior:.3g}",
            "scenario": report.scenario,
        },
    )
    _quality.show_quality(say, "Quality, estimated without negatives", report, known)
    ask_where_rows_come_from(say, forest, report)
    return {
        "model": str(model),
        "file": str(data),
        "rows": n,
        "labeled": int(labeled.sum()),
        "prior": report.prior,
        "scenario": report.scenario,
        **_quality.as_json(report),
        "truth": known,
    }


def ask_where_rows_come_from(say: Console, forest: Any, report: ClassificationReport) -> None:
    """Warn of rows that the model has learned from, by their numbers or by too good a quality."""
    from puforest._describe import rows_learned_from
    from puforest.cli import _quality

    rows = (report.n_labeled, report.n_unlabeled)
    if rows == rows_learned_from(getattr(forest, "estimator_", forest)):
        say.warning(
            "these look like the rows the model was fitted to, which flatter it: there are as many "
            "labeled and unlabeled ones. puforest fit has judged those already, by folds"
        )
    elif _quality.clear_notes(report):
        say.warning(
            "or has the model learned from these rows? They flatter it: puforest fit has judged "
            "those already, by folds"
        )
