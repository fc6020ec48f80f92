"""``puforest predict``: score the rows of a table of any size."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from puforest.cli import _options as o
from puforest.cli._app import command
from puforest.cli._say import Say
from puforest.cli._scoring import match_columns, scored_batches, tell_columns
from puforest.cli.tables import (
    WRITABLE,
    Source,
    atomic_write,
    open_writer,
    refuse_existing,
    written_format,
)
from puforest.cli.tables._arrow import arrow
from puforest.io._trees import MOST_FEATURES

SCORE, PREDICTED = "score", "predicted"
STANDARD_OUTPUT = Path("-")


@command(
    "puforest predict model.puf new.csv -o scored.parquet",
    "puforest predict model.puf new.csv --keep id -o scored.csv",
    "puforest predict model.puf new.csv --keep id -o -",
)
def predict(
    say: Say,
    reading: o.Reading,
    model: o.ModelFile,
    data: Annotated[
        Path, typer.Argument(metavar="DATA", help="Table of rows to score, of any size.")
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            help=f"Where to write the scores; ends in {', '.join(WRITABLE)}. Or -, which prints "
            "them as CSV.",
        ),
    ],
    keep: Annotated[
        list[str] | None,
        typer.Option(
            "--keep",
            metavar="COLUMN",
            help="Column to write beside the scores, such as an identifier; repeat it for more. "
            "What comes from text stays as it is, unless it is a feature.",
            rich_help_panel=o.COLUMNS,
        ),
    ] = None,
    keep_all: Annotated[
        bool,
        typer.Option("--keep-all", help="Write all columns.", rich_help_panel=o.COLUMNS),
    ] = False,
    batch_rows: Annotated[
        int | None,
        typer.Option(
            "--batch-rows",
            min=1,
            help="Rows to hold at a time; without it, about two million values.",
            rich_help_panel=o.READING,
        ),
    ] = None,
    threads: o.Threads = None,
    force: o.Force = False,
) -> dict[str, Any]:
    """Score new rows with a model, batch by batch: files may be larger than memory.

    Columns are found by name, in any order. The output has the columns score, from 0 to 1, and
    predicted, 1 where the score is above one half. It takes its place only when it is whole: a run
    that is interrupted or killed leaves no file that looks like one.
    """
    printed = output == STANDARD_OUTPUT
    if printed and say.json:
        raise ValueError("-o - prints the scores where --json prints its answer: name a file")
    suffix = ".csv" if printed else written_format(output)
    if not printed:
        refuse_existing(output, force=force)
    forest = o.load_for(model, threads)
    source = reading.open(data)
    if keep_all and len(source.names) > MOST_FEATURES:
        raise ValueError(
            f"--keep-all: {source.path} has {len(source.names):,} columns, and at most "
            f"{MOST_FEATURES:,} are kept: name them by --keep"
        )
    kept = list(dict.fromkeys(source.names if keep_all else keep or []))
    source.require(kept, "--keep")
    taken = [name for name in kept if name in (SCORE, PREDICTED)]
    if taken:
        raise ValueError(
            f"--keep {taken[0]}: the output has a column {taken[0]} of its own; rename that of "
            f"{source.path}"
        )
    # A model without names takes all columns for features but those that --keep names.
    named = hasattr(forest, "feature_names_in_")
    columns = match_columns(forest, source, kept if named else keep or [])
    tell_columns(say, columns, source.path)
    say.detail(f"{len(columns.features):,} features were found by name, in {source.kind}")
    rows = positive = 0
    with (
        nullcontext(None) if printed else atomic_write(output, force=force) as part,
        say.progress(f"Scoring {source.path.name}") as done,
    ):
        schema = output_schema(forest, source, columns.features, kept)
        with open_writer(part, suffix, schema) as writer:
            for scored in scored_batches(forest, source, columns, kept, batch_rows):
                called = scored.score > 0.5
                answer = [scored.score, forest.classes_[called.astype(np.intp)]]
                arrays = [*scored.others.columns, *map(arrow().array, answer)]
                writer.write_batch(arrow().record_batch(arrays, schema=schema))
                rows += len(called)
                positive += int(np.count_nonzero(called))
                done(source.progress)
    share = f", {o.percent(positive / rows)} of them" if rows else ""
    where = "" if printed else f": {output}"
    say.info(f"{o.plural(rows, 'row')} scored, {positive:,} called positive{share}{where}")
    return {
        "output": str(output),
        "rows": rows,
        "called_positive": positive,
        "extra_columns": columns.extra,
        "n_extra_columns": columns.n_extra,
        "absent_columns": columns.absent,
    }


def output_schema(forest: Any, source: Source, features: list[str], kept: list[str]) -> Any:
    """Names and types of the columns of the output."""
    pa = arrow()
    answer = [(SCORE, pa.float64()), (PREDICTED, pa.array(forest.classes_).type)]
    return pa.schema([*zip(kept, source.types(features, kept), strict=True), *answer])
