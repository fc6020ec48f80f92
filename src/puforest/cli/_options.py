"""Options that several commands share."""

from __future__ import annotations

import copy
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from puforest.cli.tables import (
    COMPRESSED_EXTENSIONS,
    EXTENSIONS,
    FORMATS,
    TEXT_EXTENSIONS,
    Format,
)
from puforest.scenario import DESCRIPTIONS

if TYPE_CHECKING:
    from puforest._schema import FeatureSchema
    from puforest.cli.tables._features import ColumnChoice
    from puforest.cli.tables._missing import MissingMarkers
    from puforest.cli.tables._pu_table import PUTable
    from puforest.cli.tables._source import Source

READING = "File format"
COLUMNS = "Columns"
TRAINING = "Training"
CHECKING = "Checked rows"

Scenario = Literal["case-control", "single-training-set"]

Data = Annotated[
    Path,
    typer.Argument(
        metavar="DATA",
        help="Table with a label column: CSV (any delimiter, compressed or not), Parquet, "
        "Arrow/Feather, LIBSVM or NPZ; a folder, or a pattern such as 'part-*.parquet' in quotes, "
        "for a table in several files; - reads standard input.",
    ),
]
ModelFile = Annotated[
    Path, typer.Argument(metavar="MODEL", help="Model file, as written by puforest fit.")
]
Label = Annotated[
    str | None,
    typer.Option(
        "--label",
        "-l",
        help="Label column: 1, true or yes marks labeled positives; 0, false, no or an empty cell "
        "marks unlabeled rows. Not required for LIBSVM and NPZ files.",
        rich_help_panel=COLUMNS,
    ),
]
Positive = Annotated[
    str | None,
    typer.Option(
        "--positive",
        metavar="VALUE",
        help="Value of the label column that marks labeled positives, if it is none of the above. "
        "Rows with any other value are unlabeled.",
        rich_help_panel=COLUMNS,
    ),
]
Features = Annotated[
    list[str] | None,
    typer.Option(
        "--features",
        metavar="COLUMN",
        help="Feature column; repeat the option for more. By default, all that can be used.",
        rich_help_panel=COLUMNS,
    ),
]
Drop = Annotated[
    list[str] | None,
    typer.Option(
        "--drop",
        metavar="COLUMN",
        help="Column to exclude, such as an identifier; repeat the option for more.",
        rich_help_panel=COLUMNS,
    ),
]
Keep = Annotated[
    list[str] | None,
    typer.Option(
        "--keep",
        metavar="COLUMN",
        help="Column to use even if it is constant or looks like an identifier; repeat the option "
        "for more.",
        rich_help_panel=COLUMNS,
    ),
]
Categorical = Annotated[
    list[str] | None,
    typer.Option(
        "--categorical",
        metavar="COLUMN",
        help="Column whose numbers are codes of categories; repeat the option for more. Text is "
        "read as categories anyway.",
        rich_help_panel=COLUMNS,
    ),
]


def between_0_and_1(fraction: float | None) -> float | None:
    """Validate a prior."""
    if fraction is not None and not 0 < fraction < 1:
        raise typer.BadParameter(f"{fraction:g} is not between 0 and 1")
    return fraction


def threshold_rule(text: str) -> Any:
    """Read a threshold: a number, prior, f1, or cost:RATIO."""
    from puforest._threshold import checked_threshold

    rule, _, number = text.rpartition(":")
    try:
        value: Any = float(number)
    except ValueError:
        value = number
    try:
        return checked_threshold((rule, value) if rule else value)
    except ValueError as error:
        raise typer.BadParameter(
            f"{text} is neither a number between 0 and 1, nor prior, f1, or cost:RATIO, such as "
            "cost:10"
        ) from error


def threshold_text(threshold: Any) -> str:
    """Write a threshold as on the command line."""
    return f"{threshold[0]}:{threshold[1]:g}" if isinstance(threshold, tuple) else str(threshold)


ScenarioOption = Annotated[
    Scenario,
    typer.Option(
        "--scenario",
        metavar="NAME",
        help=". ".join(f"{name}: {text}" for name, text in DESCRIPTIONS.items()) + ".",
        rich_help_panel=TRAINING,
    ),
]
Threshold = Annotated[
    Any,
    typer.Option(
        "--threshold",
        parser=threshold_rule,
        metavar="VALUE",
        help="Rows with a larger score are predicted positive: a number, or a rule. prior: the "
        "fraction of positives is that of the class prior. f1: largest F1. cost:10: least cost if "
        "a missed positive costs as much as 10 false positives. By default, that of the model.",
    ),
]
Seed = Annotated[
    int,
    typer.Option(
        "--seed",
        min=0,
        max=2**32 - 1,
        help="Random seed; results are reproducible on any machine.",
    ),
]
Threads = Annotated[
    int | None,
    typer.Option("--threads", min=1, help="Number of threads; by default, all cores."),
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite existing files.")]
Checked = Annotated[
    list[Path] | None,
    typer.Option(
        "--checked",
        metavar="SHEET",
        help="Check sheet with verdicts on rows of DATA, written by puforest check and filled in; "
        "repeat the option for more.",
        rich_help_panel=CHECKING,
    ),
]


@dataclass(frozen=True)
class TrainingColumns:
    """Options that choose the label column and the features."""

    label: Label = None
    positive: Positive = None
    features: Features = None
    drop: Drop = None
    keep: Keep = None
    categorical: Categorical = None

    @property
    def choice(self) -> ColumnChoice:
        """Columns that the user chose."""
        from puforest.cli.tables._features import ColumnChoice

        return ColumnChoice(
            self.features or (), self.drop or (), self.keep or (), self.categorical or ()
        )

    def read(self, source: Source) -> PUTable:
        """Read the labels and features of a table."""
        from puforest.cli.tables._pu_table import read_pu

        return read_pu(source, label=self.label, positive=self.positive, choice=self.choice)


@dataclass(frozen=True)
class CheckOptions:
    """Options for rows that were checked by hand."""

    checked: Checked = None
    checked_by: Annotated[
        list[Path] | None,
        typer.Option(
            "--checked-by",
            metavar="MODEL",
            help="Model that chose the rows of a check sheet by the design score or top, if it is "
            "not beside the sheet; repeat the option if several did.",
            rich_help_panel=CHECKING,
        ),
    ] = None

    def files(self) -> list[Path]:
        """Return the files to read."""
        return [*(self.checked or ()), *(self.checked_by or ())]

    def refuse_unused(self) -> None:
        """Raise an error for ``--checked-by`` without ``--checked``."""
        if self.checked_by and not self.checked:
            raise ValueError(
                f"--checked-by {self.checked_by[0]} requires --checked, a check sheet of rows that "
                "the model chose"
            )


@dataclass(frozen=True)
class Reading:
    """Options for reading a table."""

    format: Annotated[
        Format | None,
        typer.Option(
            "--format",
            metavar="NAME",
            help=f"File format ({', '.join(FORMATS)}), if the extension is none of these: "
            f"{', '.join(TEXT_EXTENSIONS)}, {', '.join(EXTENSIONS)}; text and LIBSVM also with "
            f"{', '.join(COMPRESSED_EXTENSIONS)}.",
            rich_help_panel=READING,
        ),
    ] = None
    delimiter: Annotated[
        str | None,
        typer.Option(
            "--delimiter",
            help="Delimiter of values; detected by default.",
            rich_help_panel=READING,
        ),
    ] = None
    decimal: Annotated[
        str, typer.Option("--decimal", help="Decimal separator.", rich_help_panel=READING)
    ] = "."
    encoding: Annotated[
        str,
        typer.Option(
            "--encoding", help="Character encoding, such as latin-1.", rich_help_panel=READING
        ),
    ] = "utf-8"
    no_header: Annotated[
        bool,
        typer.Option(
            "--no-header",
            help="The file has no header line; columns are named f0, f1 and so on.",
            rich_help_panel=READING,
        ),
    ] = False
    missing: Annotated[
        list[str] | None,
        typer.Option(
            "--missing",
            metavar="VALUE",
            help="Text or number that marks missing values, besides empty cells, ?, -, NA, NaN, "
            "null and none; repeat the option for more. The model remembers it.",
            rich_help_panel=READING,
        ),
    ] = None
    not_missing: Annotated[
        list[str] | None,
        typer.Option(
            "--not-missing",
            metavar="VALUE",
            help="Text that does not mark missing values, such as NA for Namibia; repeat the "
            "option for more. The model remembers it.",
            rich_help_panel=READING,
        ),
    ] = None

    def open(self, path: Path, model: Any = None) -> Source:
        """Open a table with these options, and with the markers of missing values of a model."""
        from puforest.cli.tables._dialect import TextOptions
        from puforest.cli.tables._open import open_table

        text = TextOptions(self.delimiter, self.decimal, self.encoding, not self.no_header)
        return open_table(path, format=self.format, text=text, missing=self._markers(model))

    def reopen(self, source: Source, model: Any) -> Source:
        """Return an open table with the markers of missing values of a model."""
        again = copy.copy(source)
        again.missing = self._markers(model)
        return again

    def _markers(self, model: Any) -> MissingMarkers:
        from puforest._unwrap import fitted_trees
        from puforest.cli.tables._missing import MissingMarkers

        missing = MissingMarkers()
        if model is not None:
            record = fitted_trees(model)._record
            missing = missing.changed(record.added_missing, record.removed_missing)
        return missing.changed(self.missing or (), self.not_missing or ())

    def remember(self, model: Any) -> None:
        """Let a fitted model know the markers of missing values, for the tables to come."""
        model._record = replace(
            model._record,
            added_missing=tuple(self.missing or ()),
            removed_missing=tuple(self.not_missing or ()),
        )

    def given(self) -> list[str]:
        """List the options that differ from their defaults."""
        return [
            "--" + option.name.replace("_", "-")
            for option in fields(self)
            if getattr(self, option.name) != option.default
        ]


def n_jobs(threads: int | None) -> int:
    """Convert a number of threads to the ``n_jobs`` of estimators."""
    return -1 if threads is None else threads


def plural(number: int, noun: str) -> str:
    """Format a number and a noun."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def percent(fraction: float) -> str:
    """Format a fraction as a percentage."""
    return f"{100 * fraction:.3g}%"


def load(path: Path) -> Any:
    """Load a fitted model; errors name the file."""
    import puforest

    if not path.exists():
        raise FileNotFoundError(f"{path}: no such model; create one with puforest fit")
    try:
        return puforest.load(path)
    except ValueError as error:
        if path.suffix.lower() in (*EXTENSIONS, *COMPRESSED_EXTENSIONS, *TEXT_EXTENSIONS):
            raise ValueError(
                f"{path} is not a puforest model, but looks like a table. The model comes first, "
                "as in puforest predict MODEL DATA"
            ) from error
        raise


def load_for(path: Path, threads: int | None) -> Any:
    """Load a fitted model that predicts with this number of threads."""
    model = load(path)
    return model.set_params(n_jobs=n_jobs(threads)) if "n_jobs" in model.get_params() else model


def threshold_for(model: Any, given: Any) -> float:
    """Return the threshold of a model, or the one given on the command line."""
    from puforest._threshold import threshold_of

    if given is None:
        return threshold_of(model)
    if isinstance(given, float):
        return given
    try:
        return float(model.set_params(threshold=given).threshold_)
    except ValueError as error:
        raise ValueError(
            f"--threshold {threshold_text(given)} is set from out-of-bag predictions, which this "
            "model does not have: use a number, or fit a model with --model forest"
        ) from error


def schema_of(model: Any) -> FeatureSchema:
    """Return the features that a model was fitted to."""
    from puforest._unwrap import fitted_trees

    schema: FeatureSchema = fitted_trees(model)._record.schema
    return schema
