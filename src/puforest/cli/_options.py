"""Options that several commands have."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from puforest.cli.tables import FORMATS, Source, TextOptions, open_table
from puforest.cli.tables._open import COMPRESSED, SUFFIXES

READING = "How the file is read"
COLUMNS = "Columns"
LEARNING = "Learning"

FORMAT_HELP = (
    f"What kind of file it is ({', '.join(FORMATS)}), where its name does not say so: .csv, .tsv, "
    ".txt with .gz, .bz2, .zst or .xz, .parquet, .arrow, .feather, .libsvm, .svm, .npz."
)


# Endings of tables, which are not those of models.
TABLES = {*SUFFIXES, *COMPRESSED, ".csv", ".tsv", ".txt"}

Scenario = Literal["case-control", "single-training-set"]
FileFormat = Literal["csv", "parquet", "arrow", "libsvm", "npz"]

Data = Annotated[
    Path,
    typer.Argument(
        metavar="DATA",
        help="Table with a column of labels: CSV (any delimiter, compressed or not), Parquet, "
        "Arrow/Feather, LIBSVM or NPZ; - reads standard input.",
    ),
]
ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", help="Model written by puforest fit.")]
Label = Annotated[
    str | None,
    typer.Option(
        "--label",
        "-l",
        help="Column that marks the known positives, by 1, true or yes; 0, false, no or nothing "
        "is unlabeled. LIBSVM and NPZ files have one of their own.",
        rich_help_panel=COLUMNS,
    ),
]
Positive = Annotated[
    str | None,
    typer.Option(
        "--positive",
        metavar="VALUE",
        help="The value of the label column that marks known positives, where it is none of "
        "those. All other values are unlabeled.",
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


def between_0_and_1(share: float | None) -> float | None:
    """Refuse a share that leaves nothing to tell apart."""
    if share is not None and not 0 < share < 1:
        raise typer.BadParameter(f"{share:g} is not between 0 and 1")
    return share


ScenarioOption = Annotated[
    Scenario,
    typer.Option(
        "--scenario",
        help="case-control: the known positives were collected on their own, and the unlabeled "
        "rows are a sample of everybody. single-training-set: one sample was drawn, and some of "
        "its positives carry a label.",
        rich_help_panel=LEARNING,
    ),
]
Seed = Annotated[
    int,
    typer.Option(
        "--seed",
        min=0,
        max=2**32 - 1,
        help="Same seed, same answer, on any machine.",
        rich_help_panel=LEARNING,
    ),
]
Threads = Annotated[
    int | None,
    typer.Option(
        "--threads", min=1, help="Threads to use; all cores by default.", rich_help_panel=LEARNING
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


@dataclass(frozen=True)
class Reading:
    """How a file is read: the options of all commands that read a table."""

    format: Format = None
    delimiter: Delimiter = None
    decimal: Decimal = "."
    encoding: Encoding = "utf-8"
    no_header: NoHeader = False

    def open(self, path: Path) -> Source:
        """The table that the options are about."""
        text = TextOptions(self.delimiter, self.decimal, self.encoding, not self.no_header)
        return open_table(path, format=self.format, text=text)

    def given(self) -> list[str]:
        """Those that are not left as they are."""
        return [
            "--" + option.name.replace("_", "-")
            for option in fields(self)
            if getattr(self, option.name) != option.default
        ]


def n_jobs(threads: int | None) -> int:
    """Threads as the estimators count them: -1 is all."""
    return -1 if threads is None else threads


def plural(number: int, what: str) -> str:
    """A number and what it counts."""
    return f"{number:,} {what}" + ("" if number == 1 else "s")


def percent(share: float) -> str:
    """A share with as many digits as tell it from 0."""
    return f"{100 * share:.3g}%"


def load(path: Path) -> Any:
    """A fitted model, with an error that names the file where there is none."""
    import puforest

    if not path.exists():
        raise FileNotFoundError(f"{path}: there is no such model; puforest fit writes one")
    try:
        return puforest.load(path)
    except ValueError as error:
        if path.suffix.lower() in TABLES:
            raise ValueError(
                f"{path} is not a puforest model but seems to be a table. The model comes first, "
                "as in puforest predict MODEL DATA"
            ) from error
        raise


def load_for(path: Path, threads: int | None) -> Any:
    """A fitted model that answers on so many threads."""
    model = load(path)
    return model.set_params(n_jobs=n_jobs(threads)) if "n_jobs" in model.get_params() else model
