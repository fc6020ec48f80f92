"""``puforest predict``: score the rows of a table of any size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from puforest.cli import _options as o
from puforest.cli._app import command
from puforest.cli._console import Console
from puforest.cli.tables import OUTPUT_EXTENSIONS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from puforest.cli._model_rows import ModelRows
    from puforest.cli.tables._source import Source

SCORE, PROBABILITY, PREDICTED = "score", "probability", "predicted"
HITS = ("hits", "hits_low", "hits_high")
TOP_COLUMNS = ("rank", "row", SCORE, PROBABILITY, *HITS)
NO_HITS = (
    "How many positives to expect among them is not known, since the model has no out-of-bag "
    "predictions: fit a model with --model forest"
)
STANDARD_OUTPUT = Path("-")
NEW_DATA = "New data"


@command(
    "puforest predict model.puf new.csv -o scored.parquet",
    "puforest predict model.puf new.csv --keep id -o scored.csv",
    "puforest predict model.puf new.csv --keep id -o -",
    "puforest predict model.puf new.csv --threshold cost:10 -o scored.csv",
    "puforest predict model.puf new.csv --top 500 --keep id -o top.csv",
    "puforest predict model.puf new.csv --check-drift --adapt-prior -o scored.csv",
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
    top: Annotated[
        int | None,
        typer.Option(
            "--top",
            min=1,
            metavar="N",
            help="Write only the N rows with the highest scores, ranked, and the number of "
            "positives to expect down to each of them.",
        ),
    ] = None,
    label: Annotated[
        str | None,
        typer.Option(
            "--label",
            metavar="COLUMN",
            help="Column that marks labeled rows, which --top leaves out: they are known already.",
            rich_help_panel=o.COLUMNS,
        ),
    ] = None,
    positive: o.Positive = None,
    threshold: o.Threshold = None,
    prior: Annotated[
        float | None,
        typer.Option(
            "--prior",
            callback=o.between_0_and_1,
            help="Class prior of these rows, if it differs from that of the training data.",
            rich_help_panel=NEW_DATA,
        ),
    ] = None,
    adapt_prior: Annotated[
        bool,
        typer.Option(
            "--adapt-prior",
            help="Estimate the class prior of these rows, assuming that nothing else has changed "
            "since training.",
            rich_help_panel=NEW_DATA,
        ),
    ] = False,
    check_drift: Annotated[
        bool,
        typer.Option(
            "--check-drift",
            help="Warn if these rows differ from the training data by more than chance.",
            rich_help_panel=NEW_DATA,
        ),
    ] = False,
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

    With --top, it has the columns rank, row (the number of the row in DATA), score, probability if
    the scores are calibrated, and if the model has out-of-bag predictions, hits, hits_low and
    hits_high: how many of the rows down to this one are expected to be positive, with an interval.
    With --label, labeled rows are left out.
    """
    from puforest.cli._model_columns import match_columns, report_columns
    from puforest.cli._model_rows import ModelRows
    from puforest.cli._scoring import report_missing, report_unknown
    from puforest.cli.tables._write import output_extension, refuse_existing

    if output == STANDARD_OUTPUT and console.json:
        raise ValueError("-o - and --json both print to standard output: write to a file instead")
    if prior is not None and adapt_prior:
        raise ValueError("--prior and --adapt-prior contradict each other: choose one of them")
    if top is not None and threshold is not None:
        raise ValueError("--threshold has no effect on the ranking of --top: omit it")
    if label is not None and top is None:
        raise ValueError("--label leaves labeled rows out of the ranking of --top: add --top N")
    if positive is not None and label is None:
        raise ValueError("--positive requires --label, the column to look for it in")
    if output != STANDARD_OUTPUT:
        output_extension(output)
        refuse_existing(output, force=force, inputs=[model, data])
    forest = o.load_for(model, threads)
    o.threshold_for(forest, threshold)  # fail early
    source = reading.open(data, forest)
    label = label or source.label
    source.require_columns([label] if label else [], "--label")
    kept = kept_columns(source, keep, keep_all, TOP_COLUMNS if top else (SCORE, PREDICTED))
    # For a model without feature names, all columns but those given by --keep are features.
    schema = o.schema_of(forest)
    others = [*(keep or [] if schema.names is None else kept), *([label] if label else [])]
    columns = match_columns(schema, source, others)
    report_columns(console, columns, source.path)
    console.detail(f"{len(columns.features):,} features matched by name ({source.kind})")
    rows = ModelRows(source, columns)
    forest, compared = compare_rows(console, forest, rows, prior, adapt_prior, check_drift)
    place = Output(output, force)
    rows = ModelRows(source, columns)  # which counts missing values anew
    if top is None:
        result = write_scores(console, forest, rows, kept, place, batch_rows, threshold)
    else:
        labeled = labeled_rows(source, label, positive)
        result = write_top(console, forest, rows, kept, place, batch_rows, top, labeled)
    report_missing(console, source.path, rows.gaps)
    report_unknown(console, source.path, rows.gaps)
    console.info(result.pop("text"))
    return {
        "output": str(output),
        **result,
        **compared,
        "prior": forest.prior_,
        "extra_columns": columns.extra,
        "n_extra_columns": columns.n_extra,
        "absent_columns": columns.absent,
        **rows.gaps.as_json(),
    }


@dataclass(frozen=True)
class Output:
    """File to write, or standard output."""

    path: Path
    force: bool

    def __str__(self) -> str:
        return "" if self.path == STANDARD_OUTPUT else f" to {self.path}"

    @contextmanager
    def writer(self, schema: Any) -> Iterator[Any]:
        """Yield an object with ``write_batch``."""
        from puforest.cli.tables._write import atomic_output, open_writer, output_extension

        if self.path == STANDARD_OUTPUT:
            with open_writer(None, ".csv", schema) as writer:
                yield writer
            return
        extension = output_extension(self.path)
        with (
            atomic_output(self.path, force=self.force) as part,
            open_writer(part, extension, schema) as writer,
        ):
            yield writer


def kept_columns(
    source: Source, keep: list[str] | None, keep_all: bool, taken: Sequence[str]
) -> list[str]:
    """Return the columns to copy to the output, which has columns of its own."""
    from puforest.io._trees import MOST_FEATURES

    if keep_all and len(source.names) > MOST_FEATURES:
        raise ValueError(
            f"--keep-all: {source.path} has {len(source.names):,} columns, but at most "
            f"{MOST_FEATURES:,} can be kept: list them with --keep"
        )
    kept = list(dict.fromkeys(source.names if keep_all else keep or []))
    source.require_columns(kept, "--keep")
    for name in kept:
        if name in taken:
            raise ValueError(
                f"--keep {name}: the output already has a column {name}; rename the one in "
                f"{source.path}"
            )
    return kept


def compare_rows(
    console: Console,
    forest: Any,
    rows: ModelRows,
    prior: float | None,
    adapt_prior: bool,
    check_drift: bool,
) -> tuple[Any, dict[str, Any]]:
    """Compare the rows with the training data, and adapt the model to their class prior."""
    result: dict[str, Any] = {"drift": None, "adapted_prior": None}
    if adapt_prior or check_drift:
        from puforest.cli._new_rows import adapted, sampled, show_drift

        X = sampled(console, rows)
        if check_drift:
            result["drift"] = show_drift(console, forest, X)
        if adapt_prior:
            forest, result["adapted_prior"] = adapted(console, forest, X)
    if prior is not None:
        forest = forest.with_shifted_prior(prior)
    return forest, result


def write_scores(
    console: Console,
    forest: Any,
    rows: ModelRows,
    kept: list[str],
    output: Output,
    batch_rows: int | None,
    threshold: Any,
) -> dict[str, Any]:
    """Write the score and the prediction of each row."""
    import numpy as np

    from puforest.cli._scoring import scored_batches
    from puforest.cli.tables._arrow import arrow

    pa, source = arrow(), rows.source
    limit = o.threshold_for(forest, threshold)
    n_rows = positive = 0
    predictions = [(SCORE, pa.float64()), (PREDICTED, pa.array(forest.classes_).type)]
    types = pa.schema([*zip(kept, source.types(rows.numbers, kept), strict=True), *predictions])
    with (
        output.writer(types) as writer,
        console.progress(f"Scoring {source.path.name}") as done,
    ):
        for scored in scored_batches(forest, rows, kept, batch_rows):
            is_positive = scored.score > limit
            found = [scored.score, forest.classes_[is_positive.astype(np.intp)]]
            arrays = [*scored.others.columns, *map(pa.array, found)]
            writer.write_batch(pa.record_batch(arrays, schema=types))
            n_rows += len(is_positive)
            positive += int(np.count_nonzero(is_positive))
            done(source.progress)
    fraction = f" ({o.percent(positive / n_rows)})" if n_rows else ""
    return {
        "rows": n_rows,
        "threshold": limit,
        "predicted_positive": positive,
        "text": f"{o.plural(n_rows, 'row')} scored{output}; {positive:,}{fraction} predicted "
        f"positive, with a score above {limit:.3g}",
    }


def labeled_rows(
    source: Source, label: str | None, positive: str | None
) -> NDArray[np.bool_] | None:
    """Read which rows are labeled; None without a label column."""
    from puforest.cli.tables._arrow import arrow
    from puforest.cli.tables._labels import label_rule
    from puforest.cli.tables._source import rows_at_a_time

    if label is None:
        return None
    batches = source.batches([], [label], rows_at_a_time(1))
    column = arrow().chunked_array([batch.others.column(label) for batch in batches])
    return label_rule(label, column, positive).apply(column).astype(bool)


def write_top(
    console: Console,
    forest: Any,
    rows: ModelRows,
    kept: list[str],
    output: Output,
    batch_rows: int | None,
    n: int,
    labeled: NDArray[np.bool_] | None,
) -> dict[str, Any]:
    """Write the unlabeled rows with the highest scores, and the number of positives to expect."""
    import numpy as np

    from puforest._unwrap import unwrapped
    from puforest.cli._scoring import scored_batches
    from puforest.cli._top import TopRows
    from puforest.cli.tables._arrow import arrow
    from puforest.metrics import expected_gains

    pa, source = arrow(), rows.source
    best = TopRows(n)
    with console.progress(f"Scoring {source.path.name}") as done:
        for scored in scored_batches(forest, rows, kept, batch_rows):
            is_left = None
            if labeled is not None:
                is_left = ~labeled[best.n_seen : best.n_seen + len(scored.score)]
            best.add(scored.score, scored.others, is_left)
            done(source.progress)
    if best.others is None:
        raise ValueError(f"{source.path} has columns but no rows: there is nothing to rank")
    n, n_labeled = len(best.score), 0 if labeled is None else int(np.count_nonzero(labeled))
    n_ranked = best.n_seen - n_labeled
    if n_ranked == 0:
        raise ValueError(f"{source.path}: all rows are labeled: there is nothing to rank")
    gains = expected_gains(forest, n_ranked, n_labeled=n_labeled, n_top=n)
    found = unwrapped(forest)
    has_probabilities = found is not None and found.has_probabilities
    if gains is not None and has_probabilities:
        gains = gains.agreeing_with(best.score)
    columns: dict[str, Any] = {"rank": np.arange(1, n + 1), "row": best.row}
    columns |= {name: best.others.column(name) for name in kept}
    columns[SCORE] = best.score
    if has_probabilities:
        columns[PROBABILITY] = best.score
    if gains is not None:
        hits = (gains.expected, gains.low, gains.high)
        columns |= {name: part.round(1) for name, part in zip(HITS, hits, strict=True)}
    table = pa.table(columns)
    with output.writer(table.schema) as writer:
        for batch in table.combine_chunks().to_batches():
            writer.write_batch(batch)
    ranked = o.plural(n_ranked, "row" if labeled is None else "unlabeled row")
    text = f"The top {n:,} of {ranked} written{output}. "
    if n_labeled:
        text += f"{o.plural(n_labeled, 'labeled row')} left out. "
    text += NO_HITS if gains is None else gains.describe(n)
    return {
        "rows": best.n_seen,
        "labeled": None if labeled is None else n_labeled,
        "top": n,
        "hits": None if gains is None else dict(zip(HITS, gains.at(n), strict=True)),
        "text": text,
    }
