"""``puforest report``: write an HTML report on a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from puforest.cli import _options as o
from puforest.cli._app import command
from puforest.cli._console import Console


@command(
    "puforest report model.puf payments.csv --label known_fraud -o report.html",
    "puforest report model.puf payments.csv --label known_fraud --checked checked.csv "
    "-o report.html",
    "puforest report model.puf -o report.html",
)
def report(
    console: Console,
    model: o.ModelFile,
    data: Annotated[
        Path | None,
        typer.Argument(
            metavar="DATA", help="Table of labeled and unlabeled rows to evaluate the model on."
        ),
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="HTML file to write.")] = Path(
        "report.html"
    ),
    label: o.Label = None,
    positive: o.Positive = None,
    held_out: Annotated[
        bool,
        typer.Option(
            "--held-out",
            help="The model was not trained on these rows. Without this option, they are scored "
            "out of bag (--model forest) or by cross-validation.",
        ),
    ] = False,
    folds: Annotated[
        int | None,
        typer.Option(
            "--folds", min=2, help="Number of folds if rows are cross-validated; by default, 5."
        ),
    ] = None,
    title: Annotated[str | None, typer.Option("--title", help="Title of the report.")] = None,
    seed: o.Seed = 0,
    threads: o.Threads = None,
    force: o.Force = False,
    *,
    checks: o.CheckOptions,
    reading: o.Reading,
) -> dict[str, Any]:
    """Write a self-contained HTML report on a model.

    With data, it shows the quality of the model, estimated without labeled negatives, the
    sensitivity to the prior, and the most important features. With --checked, it also shows what
    rows that were looked at by hand tell; see puforest check. Without data, it only describes the
    model.
    """
    from puforest._unwrap import fitted_trees, known_scenario
    from puforest.cli._checks import CheckedTable, read_checks
    from puforest.cli._model_columns import match_columns
    from puforest.cli._model_rows import ModelRows
    from puforest.cli._scoring import report_unknown
    from puforest.cli._summary import print_summary
    from puforest.cli.tables._write import refuse_existing
    from puforest.report import write_report

    checks.refuse_unused()
    refuse_existing(output, force=force, inputs=[model, data, *checks.files()])
    fitted = o.load_for(model, threads)
    X = y = verdicts = file = None
    if data is not None:
        source = reading.open(data, fitted)
        columns = match_columns(o.schema_of(fitted), source, [label] if label else [])
        rows = ModelRows(source, columns)
        table = rows.read(label, positive)
        print_summary(console, source, table, str(known_scenario(fitted)))
        report_unknown(console, source.path, rows.gaps)
        X, y = table.features.X, table.labeled
        file = data if source.spooled is None and data.is_file() else None
        of_checks = CheckedTable(source, table.rule.column, y, reading, threads)
        verdicts = read_checks(console, checks, of_checks, model=model)
        if verdicts is not None:
            y = verdicts.labeled
        record = fitted_trees(fitted)._record
        n_rows = (y.sum(), len(y) - y.sum())
        if not held_out and n_rows != (record.n_labeled, record.n_unlabeled):
            console.warning(
                "these are not the training rows: there are other numbers of labeled and unlabeled "
                "ones. Without --held-out, the report evaluates models that are fitted to these "
                "rows instead of this one"
            )
    else:
        data_options = {
            "--label": label,
            "--positive": positive,
            "--held-out": held_out,
            "--folds": folds,
            "--checked": checks.checked,
        }
        given = [option for option, value in data_options.items() if value] + reading.given()
        if given:
            raise ValueError(
                f"{', '.join(given)} requires DATA: name the file after the model, as in puforest "
                "report MODEL DATA"
            )
    with console.progress("Writing the report") as done:
        write_report(
            fitted,
            output,
            X,
            y,
            checked=None if verdicts is None else verdicts.checked,
            check_probability=None if verdicts is None else verdicts.probability,
            held_out=held_out,
            cv=folds or 5,
            data_file=file,
            title=title or f"Report on {model.name}",
            overwrite=force,
            n_jobs=o.n_jobs(threads),
            random_state=seed,
        )
        done(1.0)
    console.info(f"Report written to {output}")
    return {"model": str(model), "data": None if data is None else str(data), "report": str(output)}
