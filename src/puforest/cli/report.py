"""``puforest report``: one page about a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from puforest._unwrap import known_scenario
from puforest.cli import _options as o
from puforest.cli import _understood
from puforest.cli._app import command
from puforest.cli._say import Say
from puforest.cli._scoring import columns_in_order, match_columns, with_zeros
from puforest.cli.tables import read_pu, refuse_existing


@command(
    "puforest report model.puf payments.csv --label known_fraud -o report.html",
    "puforest report model.puf -o report.html",
)
def report(
    say: Say,
    reading: o.Reading,
    model: o.ModelFile,
    data: Annotated[
        Path | None,
        typer.Argument(
            metavar="DATA", help="Table of labeled and unlabeled rows to judge the model by."
        ),
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write the page.")] = Path(
        "report.html"
    ),
    label: o.Label = None,
    positive: o.Positive = None,
    held_out: Annotated[
        bool,
        typer.Option(
            "--held-out",
            help="The model has not seen these rows. Without it they are judged by forests of "
            "the same kind, fitted to folds.",
        ),
    ] = False,
    folds: Annotated[
        int | None,
        typer.Option("--folds", min=2, help="Number of these folds; 5 if not given."),
    ] = None,
    title: Annotated[str | None, typer.Option("--title", help="Title of the page.")] = None,
    seed: o.Seed = 0,
    threads: o.Threads = None,
    force: o.Force = False,
) -> dict[str, Any]:
    """Write one HTML page about a model that needs nothing else to be read.

    With data it tells how good the model is without a known negative, how much hangs on the prior,
    and which features matter; without, what the model knows by itself.
    """
    from puforest.report import write_report

    refuse_existing(output, force=force)
    fitted = o.load_for(model, threads)
    X = y = None
    if data is not None:
        source = reading.open(data)
        columns = match_columns(fitted, source, [label] if label else [])
        table = read_pu(source, label=label, positive=positive, features=columns.features, drop=[])
        _understood.tell(say, source, table, str(known_scenario(fitted)))
        places = {name: i for i, name in enumerate(table.names)}
        X = table.X[:, [places[name] for name in columns.features]]
        X = with_zeros(X, fitted, columns)
        y = table.labeled
    else:
        about_data = {
            "--label": label,
            "--positive": positive,
            "--held-out": held_out,
            "--folds": folds,
        }
        given = [option for option, value in about_data.items() if value] + reading.given()
        if given:
            raise ValueError(
                f"without DATA there is no use for {', '.join(given)}: name the file after the "
                "model"
            )
    with say.progress("Writing the report") as done, columns_in_order():
        write_report(
            fitted,
            output,
            X,
            y,
            held_out=held_out,
            cv=folds or 5,
            title=title or f"Report on {model.name}",
            overwrite=force,
            n_jobs=o.n_jobs(threads),
            random_state=seed,
        )
        done(1.0)
    say.info(f"The report is in {output}")
    return {"model": str(model), "data": None if data is None else str(data), "report": str(output)}
