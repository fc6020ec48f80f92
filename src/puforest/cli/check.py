"""``puforest check``: select rows to check by hand."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from puforest.cli import _options as o
from puforest.cli._app import command
from puforest.cli._console import Console

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from puforest.checking import Checks
    from puforest.cli._model_columns import Columns
    from puforest.cli._scoring import ScoredTable
    from puforest.cli.sheets._write import ChosenRow
    from puforest.cli.tables._source import Source

Design = Literal["score", "random", "top"]

MOST_SHOWN = 50


@command(
    "puforest check model.puf payments.csv --label known_fraud -n 50 -o to-check.csv",
    "puforest check model.puf payments.csv --label known_fraud -n 50 --design random "
    "-o to-check.csv",
    "puforest check model.puf payments.csv --label known_fraud -n 50 --checked round-1.csv "
    "-o round-2.csv",
)
def check(
    console: Console,
    model: o.ModelFile,
    data: Annotated[
        Path, typer.Argument(metavar="DATA", help="Table to select rows from, of any size.")
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Check sheet to write: a .csv or .tsv file.")
    ],
    n: Annotated[int, typer.Option("-n", "--number", min=1, help="Number of rows to select.")] = 50,
    design: Annotated[
        Design,
        typer.Option(
            "--design",
            metavar="NAME",
            help="score: uncertain rows are more likely to be selected, which yields the shortest "
            "intervals for the prior and the metrics. random: all rows are equally likely. top: "
            "the highest scores, which finds the most positives but does not yield the prior.",
        ),
    ] = "score",
    label: o.Label = None,
    positive: o.Positive = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(
            "--keep",
            metavar="COLUMN",
            help="Column to show besides the features, such as an identifier; repeat the option "
            "for more.",
            rich_help_panel=o.COLUMNS,
        ),
    ] = None,
    show: Annotated[
        int,
        typer.Option(
            "--show",
            min=0,
            help="Maximum number of features to show; the most important ones, if there are more.",
            rich_help_panel=o.COLUMNS,
        ),
    ] = MOST_SHOWN,
    checked: o.Checked = None,
    seed: o.Seed = 0,
    threads: o.Threads = None,
    force: o.Force = False,
    *,
    reading: o.Reading,
) -> dict[str, Any]:
    """Select unlabeled rows to check by hand, and write a sheet to fill in.

    Open the sheet in a spreadsheet program, write yes or no into the column verdict, leave it empty
    for rows that were not looked at, and save it as CSV. Then pass it to puforest fit, evaluate or
    report with --checked. Rows are in random order, so that you can stop at any time.

    With --label, labeled rows are not selected, and training rows are scored out of bag if the
    model is a forest. With --checked, rows that already have a verdict are not selected again.

    A sheet that holds verdicts is never overwritten, not even with --force.
    """
    import numpy as np

    from puforest.checking._select import checks_by_score
    from puforest.cli._model_columns import match_columns
    from puforest.cli._model_rows import ModelRows
    from puforest.cli._scoring import report_unknown, score_table
    from puforest.cli.sheets._layout import Origin, file_name, fingerprint
    from puforest.cli.sheets._match import match_verdicts
    from puforest.cli.sheets._write import write_sheet
    from puforest.cli.tables._write import atomic_output, refuse_existing

    delimiter = sheet_delimiter(output)
    refuse_existing(output, force=force, inputs=[model, data, *(checked or [])])
    forest = o.load_for(model, threads)
    source = reading.open(data, forest)
    kept = list(dict.fromkeys(keep or []))
    source.require_columns(kept, "--keep")
    label = label or source.label
    others = [label] if label else []
    source.require_columns(others, "--label")
    if positive is not None and not others:
        raise ValueError("--positive requires --label, the column to look for it in")
    schema = o.schema_of(forest)
    # For a model without feature names, all other columns are features.
    columns = match_columns(schema, source, [*others, *kept] if schema.names is None else others)
    rows = ModelRows(source, columns)
    table = score_table(console, forest, rows, others, "check")
    labeled = labels_of(table, label, positive)
    report_unknown(console, source.path, rows.gaps)
    out_of_bag = table.held_out(labeled)
    score = table.score if out_of_bag is None else out_of_bag
    n_before, excluded = 0, labeled.astype(bool)
    if checked:
        before = match_verdicts(checked, source, labeled)
        excluded |= ~np.isnan(before.checked)
        n_before = before.n_positive + before.n_negative
    n_left = len(score) - np.count_nonzero(excluded)
    if n > n_left:
        raise ValueError(
            f"-n {n}: only {n_left:,} of the {len(score):,} rows of {source.path} can be selected; "
            "the others are labeled, or were checked before"
        )
    checks = checks_by_score(score, n, excluded, design, seed)
    features = shown_features(forest, columns, show)
    chosen = chosen_rows(source, checks, list(dict.fromkeys([*kept, *features])))
    shuffled = np.random.default_rng(seed).permutation(n)
    origin = Origin(
        n_chosen=n,
        n_rows=len(score),
        table=file_name(source.path),
        model=file_name(model),
        fingerprint=fingerprint(model),
        seed=seed,
        out_of_bag=out_of_bag is not None,
        n_before=n_before,
    )
    text = str(checks.design)
    with atomic_output(output, force=force) as part:
        write_sheet(
            part,
            [chosen[i] for i in shuffled],  # rows of the design "top" are in order
            text,
            origin,
            delimiter=delimiter or source.delimiter or ",",
            point=source.decimal or ".",
        )
    name = shlex.quote(str(output))
    kind = "unlabeled rows" if labeled.any() else "rows"
    console.info(f"{n:,} of {n_left:,} {kind} written to {output}")
    if origin.out_of_bag:
        console.info("These are the training rows: they were scored out of bag")
    if len(features) < len(columns.features):
        console.info(
            f"The sheet shows the {len(features):,} most important of {len(columns.features):,} "
            "features; see --show"
        )
    console.info(
        f"Next: fill in the column verdict, and pass --checked {name} to puforest fit, evaluate or "
        "report"
    )
    return {
        "sheet": str(output),
        "rows": checks.rows + 1,
        "probability": checks.score,
        "selection_probability": checks.probability,
        "design": text,
        "origin": str(origin),
    }


def sheet_delimiter(path: Path) -> str | None:
    """Return the delimiter that the name of a sheet asks for; None if that of the table will do."""
    from puforest.cli.sheets._write import SHEET_EXTENSIONS

    extension = path.suffix.lower()
    if extension not in SHEET_EXTENSIONS:
        raise ValueError(f"{path}: the name of a check sheet must end in .csv or .tsv")
    return "\t" if extension == ".tsv" else None


def labels_of(table: ScoredTable, label: str | None, positive: str | None) -> NDArray[np.int64]:
    """Return 1 for labeled rows; no row is labeled without a label column."""
    import numpy as np

    from puforest.cli.tables._labels import label_rule

    if label is None:
        return np.zeros(len(table.score), np.int64)
    column = table.others.column(label)
    return label_rule(label, column, positive).apply(column)


def shown_features(forest: Any, columns: Columns, most: int) -> list[str]:
    """Return the features to show, in the order of the model: at most the most important ones."""
    import numpy as np

    from puforest._unwrap import fitted_trees

    order = np.argsort(-fitted_trees(forest).feature_importances_, kind="stable")
    present = {*columns.features}
    ranked = [columns.names[j] for j in order.tolist() if columns.names[j] in present]
    shown = {*ranked[:most]}
    return [name for name in columns.features if name in shown]


def chosen_rows(source: Source, checks: Checks, columns: list[str]) -> list[ChosenRow]:
    """Read the cells of the chosen rows."""
    from puforest.cli.sheets._cells import cells_of_rows
    from puforest.cli.sheets._write import ChosenRow

    cells: dict[int, dict[str, Any]] = {}
    for _, found in cells_of_rows(source, columns, sorted((checks.rows + 1).tolist())):
        cells |= found
    return [
        ChosenRow(row + 1, float(score), float(probability), cells[row + 1])
        for row, score, probability in zip(
            checks.rows.tolist(), checks.score, checks.probability, strict=True
        )
    ]
