"""Options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from puforest.cli.tables import FORMATS, Source, TextOptions, open_table

READING = "How the file is read"
COLUMNS = "Columns"
LEARNING = "Learning"

FORMAT_HELP = (
    f"What kind of file it is ({', '.join(FORMATS)}), where its name does not say so: .csv, .tsv, "
    ".txt with .gz, .bz2, .zst or .xz, .parquet, .arrow, .feather, .libsvm, .svm, .npz."
)


Scenario = Literal["case-control", "single-training-set"]
FileFormat = Literal["csv", "parquet", "arrow", "libsvm", "npz"]

Data = Annotated[
    Path,
    typer.Argument(
        metavar="DATA",
        help="Table with a column of labels: CSV (any delimiter, compressed or not), Parquet, "
        "Arrow/Feather, LIBSVM or NPZ.",
    ),
]
ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", help="Model written by puforest fit.")]
Label = Annotated[
    str | None,
    typer.Option(
        "--label",
        "-l",
        help="Column that marks the known positives, by 1, true or yes; 0, false, no or nothing "
        "is unlabelled. LIBSVM and NPZ files have one of their own.",
        rich_help_panel=COLUMNS,
    ),
]
Positive = Annotated[
    str | None,
    typer.Option(
        "--positive",
        metavar="VALUE",
        help="The value of the label column that marks known positives, where it is none of "
        "those. All other values are unlabelled.",
        rich_help_panel=COLUMNS,
    ),
]
Features = Annotated[
    list[str] | None,
    typer.Option(
        "--features",
        metavar="COLUMN",
        help="Learn from this column; repeat it for more. Without it, from all of numbers.",
        rich_help_panel=COLUMNS,
    ),
]
Drop = Annotated[
    list[str] | None,
    typer.Option(
        "--drop",
        metavar="COLUMN",
        help="Do not learn from this column, such as an identifier; repeat it for more.",
        rich_help_panel=COLUMNS,
    ),
]
ScenarioOption = Annotated[
    Scenario,
    typer.Option(
        "--scenario",
        help="case-control: the known positives were collected on their own, and the unlabelled "
        "rows are a sample of everybody. single-training-set: one sample was drawn, and some of "
        "its positives carry a label.",
        rich_help_panel=LEARNING,
    ),
]
Seed = Annotated[
    int,
    typer.Option(
        "--seed", help="Same seed, same answer, on any machine.", rich_help_panel=LEARNING
    ),
]
Threads = Annotated[
    int | None,
    typer.Option(
        "--threads", help="Threads to use; all cores by default.", rich_help_panel=LEARNING
    ),
]
Format = Annotated[
    FileFormat | None, typer.Option("--format", help=FORMAT_HELP, rich_help_panel=READING)
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        "--delimiter",
        help="What stands between values, where it is not found out.",
        rich_help_panel=READING,
    ),
]
Decimal = Annotated[
    str, typer.Option("--decimal", help="The decimal point.", rich_help_panel=READING)
]
Encoding = Annotated[
    str,
    typer.Option("--encoding", help="Encoding, such as latin-1.", rich_help_panel=READING),
]
NoHeader = Annotated[
    bool,
    typer.Option(
        "--no-header",
        help="The first line is a row; columns are called f0, f1 and so on.",
        rich_help_panel=READING,
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")]


def opened(
    path: Path,
    format: FileFormat | None,  # noqa: A002
    delimiter: str | None,
    decimal: str,
    encoding: str,
    no_header: bool,
) -> Source:
    """The table that the options are about."""
    text = TextOptions(delimiter, decimal, encoding, not no_header)
    return open_table(path, format=format, text=text)


def n_jobs(threads: int | None) -> int:
    """Threads as the estimators count them: -1 is all."""
    return -1 if threads is None else threads


def plural(number: int, what: str) -> str:
    """A number and what it counts."""
    return f"{number:,} {what}" + ("" if number == 1 else "s")


def percent(share: float) -> str:
    """A share with as many digits as tell it from 0."""
    return f"{100 * share:.3g} %"


def load(path: Path) -> Any:
    """A fitted model, with an error that names the file where there is none."""
    import puforest

    if not path.exists():
        raise FileNotFoundError(f"{path}: there is no such model; puforest fit writes one")
    return puforest.load(path)


def load_for(path: Path, threads: int | None) -> Any:
    """A fitted model that answers on so many threads."""
    model = load(path)
    return model.set_params(n_jobs=n_jobs(threads)) if "n_jobs" in model.get_params() else model
