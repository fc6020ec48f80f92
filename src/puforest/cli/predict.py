"""``puforest predict``: score the rows of a table of any size."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from puforest.cli import _options as o
from puforest.cli._app import command
from puforest.cli._console import Console
from puforest.cli.tables import OUTPUT_EXTENSIONS

if TYPE_CHECKING:
    from puforest.cli.tables._source import Source

SCORE, PREDICTED = "score", "predicted"
STANDARD_OUTPUT = Path("-")


@command(
    "puforest predict model.puf new.csv -o scored.parquet",
    "puforest predict model.puf new.csv --keep id -o scored.csv",
    "puforest predict model.puf new.csv --keep id -o -",
    "puforest predict model.puf new.csv --threshold cost:10 -o scored.csv",
)
def predict(
    console: Console,
    model: o.ModelFile,
    data: Annotated[
        Path, typer.Argument(metavar="DATA", help="Table of rows to score, of any size.")
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            help=f"File to write, with the extension {', '.join(OUTPUT_EXTENSIONS)}; - prints CSV.",
        ),
    ],
    keep: Annotated[
        list[str] | None,
        typer.Option(
            "--keep",
            metavar="COLUMN",
            help="Column to copy to the output, such as an identifier; repeat the option for more. "
            "Text is copied unchanged, and numeric features are written as numbers.",
            rich_help_panel=o.COLUMNS,
        ),
    ] = None,
    keep_all: Annotated[
        bool,
        typer.Option(
            "--keep-all", help="Copy all columns to the output.", rich_help_panel=o.COLUMNS
        ),
    ] = False,
    threshold: o.Threshold = None,
    batch_rows: Annotated[
        int | None,
        typer.Option(
            "--batch-rows",
            min=1,
            help="Number of rows per batch; by default, about two million values.",
            rich_help_panel=o.READING,
        ),
    ] = None,
    threads: o.Threads = None,
    force: o.Force = False,
    *,
    reading: o.Reading,
) -> dict[str, Any]:
    """Score new rows with a model.

    Files are read in batches, so they may be larger than memory. Columns are matched by name, in
    any order. Missing values, and categories that the model does not know, are counted.

    The output has the columns score, from 0 to 1, and predicted, 1 if the score is above the
    threshold of the model. It is written atomically: an interrupted run leaves no incomplete file.
    """
    import numpy as np

    from puforest.cli._model_columns import match_columns, report_columns
    from puforest.cli._model_rows import ModelRows
    from puforest.cli._scoring import report_missing, report_unknown, scored_batches
    from puforest.cli.tables._arrow import arrow
    from puforest.cli.tables._write import (
        atomic_output,
        open_writer,
        output_extension,
        refuse_existing,
    )
    from puforest.io._trees import MOST_FEATURES

    printed = output == STANDARD_OUTPUT
    if printed and console.json:
        raise ValueError("-o - and --json both print to standard output: write to a file instead")
    extension = ".csv" if printed else output_extension(output)
    if not printed:
        refuse_existing(output, force=force, inputs=[model, data])
    forest = o.load_for(model, threads)
    limit = o.threshold_for(forest, threshold)
    source = reading.open(data, forest)
    if keep_all and len(source.names) > MOST_FEATURES:
        raise ValueError(
            f"--keep-all: {source.path} has {len(source.names):,} columns, but at most "
            f"{MOST_FEATURES:,} can be kept: list them with --keep"
        )
    kept = list(dict.fromkeys(source.names if keep_all else keep or []))
    source.require_columns(kept, "--keep")
    taken = [name for name in kept if name in (SCORE, PREDICTED)]
    if taken:
        raise ValueError(
            f"--keep {taken[0]}: the output already has a column {taken[0]}; rename the one in "
            f"{source.path}"
        )
    # For a model without feature names, all columns but those given by --keep are features.
    schema = o.schema_of(forest)
    columns = match_columns(schema, source, keep or [] if schema.names is None else kept)
    report_columns(console, columns, source.path)
    console.detail(f"{len(columns.features):,} features matched by name ({source.kind})")
    rows = ModelRows(source, columns)
    n_rows = positive = 0
    with (
        nullcontext(None) if printed else atomic_output(output, force=force) as part,
        console.progress(f"Scoring {source.path.name}") as done,
    ):
        types = output_schema(forest, source, rows.numbers, kept)
        with open_writer(part, extension, types) as writer:
            for scored in scored_batches(forest, rows, kept, batch_rows):
                is_positive = scored.score > limit
                predictions = [scored.score, forest.classes_[is_positive.astype(np.intp)]]
                arrays = [*scored.others.columns, *map(arrow().array, predictions)]
                writer.write_batch(arrow().record_batch(arrays, schema=types))
                n_rows += len(is_positive)
                positive += int(np.count_nonzero(is_positive))
                done(source.progress)
    report_missing(console, source.path, rows.gaps)
    report_unknown(console, source.path, rows.gaps)
    fraction = f" ({o.percent(positive / n_rows)})" if n_rows else ""
    where = "" if printed else f" to {output}"
    scored_rows = f"{o.plural(n_rows, 'row')} scored{where}"
    above = f"predicted positive, with a score above {limit:.3g}"
    console.info(f"{scored_rows}; {positive:,}{fraction} {above}")
    return {
        "output": str(output),
        "rows": n_rows,
        "threshold": limit,
        "predicted_positive": positive,
        "extra_columns": columns.extra,
        "n_extra_columns": columns.n_extra,
        "absent_columns": columns.absent,
        **rows.gaps.as_json(),
    }


def output_schema(forest: Any, source: Source, numbers: list[str], kept: list[str]) -> Any:
    """Return the names and types of the output columns."""
    from puforest.cli.tables._arrow import arrow

    pa = arrow()
    predictions = [(SCORE, pa.float64()), (PREDICTED, pa.array(forest.classes_).type)]
    return pa.schema([*zip(kept, source.types(numbers, kept), strict=True), *predictions])
