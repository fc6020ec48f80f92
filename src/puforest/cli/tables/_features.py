"""Use of columns as features: their kinds, and the reasons to leave some out."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from puforest._kinds import MAX_CATEGORIES
from puforest._text import looks_like_date, reads_as_number
from puforest.cli.tables._kinds import BOOLEAN, CATEGORY, DATETIME, DURATION, is_string
from puforest.cli.tables._labels import as_text
from puforest.cli.tables._names import LONGEST, alternatives, cut, name_list
from puforest.cli.tables._number_columns import MANY_ROWS, NumberColumns
from puforest.cli.tables._numbers import Words
from puforest.cli.tables._source import Source
from puforest.cli.tables._values import ValueColumn

DECIMAL_COMMA = "If these are numbers with a decimal comma, use --decimal ,"

CONSTANT = "constant, always "
EMPTY = "empty"
IDENTIFIER = "text that differs in every row, probably an identifier or free text"
NO_NAME = "without a name, probably an index"


@dataclass(frozen=True)
class LeftOut:
    """A column that is not used as a feature, and the reason."""

    name: str
    reason: str


@dataclass(frozen=True)
class Features:
    """Features of a table.

    Attributes
    ----------
    X : NamedTable or pyarrow.Table
        The features: an array if all of them are plain numbers, else a table.
    names : list of str
        Their names.
    kinds : dict of str to str
        Kinds of the features that are not plain numbers.
    missing, infinite : dict of str to int
        Number of missing and of infinite cells of each feature that has any.
    left_out : list of LeftOut
        Columns that are not used as features.
    identifiers : list of str
        Features of integers that look like identifiers.
    remarks : list of str
        Warnings about features.
    """

    X: Any = field(repr=False)
    names: list[str]
    kinds: dict[str, str] = field(default_factory=dict)
    missing: dict[str, int] = field(default_factory=dict)
    infinite: dict[str, int] = field(default_factory=dict)
    left_out: list[LeftOut] = field(default_factory=list)
    identifiers: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class ColumnChoice:
    """Columns that the user chose.

    Attributes
    ----------
    features : sequence of str
        The features; if empty, all columns that can be.
    drop : sequence of str
        Columns to leave out.
    keep : sequence of str
        Columns to use even if they look like identifiers or are constant.
    categorical : sequence of str
        Columns of numbers that are categories.
    """

    features: Sequence[str] = ()
    drop: Sequence[str] = ()
    keep: Sequence[str] = ()
    categorical: Sequence[str] = ()

    @property
    def required(self) -> set[str]:
        """Columns that must be used."""
        return {*self.features, *self.keep, *self.categorical}

    def check(self, source: Source, label: str) -> None:
        """Raise an error for columns that do not exist or contradict each other."""
        options = {
            "--features": self.features,
            "--keep": self.keep,
            "--categorical": self.categorical,
        }
        for option, names in {**options, "--drop": self.drop}.items():
            if label in names:
                raise ValueError(f"{label} is the label column: it cannot be in {option}")
        features, drop = {*self.features}, {*self.drop}
        for option, names in options.items():
            source.require_columns(names, option)
            for name in names:
                if name in drop:
                    raise ValueError(f"{option} {name} contradicts --drop {name}")
                if features and name not in features:
                    raise ValueError(
                        f"{option} {name}: the column is not among those of --features: add it"
                    )
        unknown = [column for column in self.drop if column not in source.names]
        if unknown:
            raise ValueError(
                f"--drop {unknown[0]}: no such column in {source.path}, which has "
                f"{alternatives(unknown[0], source.names)}"
            )


# Text files


def text_kinds(
    source: Source, columns: NumberColumns, categorical: Iterable[str]
) -> tuple[dict[str, str], list[str]]:
    """Return the kinds of columns of a text file that are not numbers, and remarks on them."""
    kinds, remarks = {}, []
    for i, words in sorted(columns.words.items()):
        name, n_numbers = columns.names[i], int(columns.n_present[i])
        given = n_numbers + words.others
        if words.others == 0:
            if words.booleans == given and name not in categorical:
                kinds[name] = BOOLEAN
        elif name in categorical:
            kinds[name] = CATEGORY
        elif words.dates.n == given:
            kinds[name] = DATETIME
        elif words.durations.n == given:
            kinds[name] = DURATION
        else:
            _refuse_mixed(source, name, words, n_numbers)
            kinds[name] = CATEGORY
            if n_numbers:
                remarks.append(
                    f"the column {name} is read as categories, since only {n_numbers:,} of its "
                    f"{given:,} values are numbers"
                )
    return kinds, remarks


def _refuse_mixed(source: Source, name: str, words: Words, n_numbers: int) -> None:
    """Raise an error if a column holds numbers, dates or durations with a few exceptions."""
    given = n_numbers + words.others
    if source.decimal == "." and 2 * words.with_comma > words.others:
        raise ValueError(
            f"{source.path}, {source.line_of(name, words.example)}the column {name} holds "
            f"{cut(words.example)!r}. {DECIMAL_COMMA}; if they are categories, use --categorical "
            f"{shlex.quote(name)}"
        )
    odd, usual, n_usual = words.example, "numbers", n_numbers
    for times, name_of_times in ((words.dates, "dates"), (words.durations, "durations")):
        if 2 * times.n > given:
            odd, usual, n_usual = times.other or "", name_of_times, times.n
    if 2 * n_usual > given and odd:
        column = shlex.quote(name)
        raise ValueError(
            f"{source.path}, {source.line_of(name, odd)}the column {name} holds {cut(odd)!r}, but "
            f"{n_usual:,} of its {given:,} values are {usual}. Use {missing_option(odd)} if this "
            f"marks missing values, --categorical {column} if the values are categories, or --drop "
            f"{column} to leave the column out"
        )


def missing_option(cell: str) -> str:
    """Return the option that declares a cell as missing."""
    return f"--missing {shlex.quote(cell.strip()) if len(cell) < LONGEST else 'VALUE'}"


# Columns to leave out


def why_numbers_left_out(
    source: Source, columns: NumberColumns, kinds: Mapping[str, str], required: set[str]
) -> dict[int, str]:
    """Return the reasons to leave out columns of numbers and booleans, by position.

    Columns of matrices are features even if they are constant.
    """
    is_empty = columns.n_present == 0
    is_out = is_empty if source.is_matrix else is_empty | columns.is_constant
    reasons = {}
    for i in is_out.nonzero()[0].tolist():
        words = columns.words.get(i)
        if words is not None and words.others:
            continue
        if is_empty[i]:
            reasons[i] = EMPTY
        elif columns.names[i] not in required:
            value = columns.first(i)
            is_boolean = kinds.get(columns.names[i]) == BOOLEAN
            reasons[i] = CONSTANT + as_text(bool(value) if is_boolean else value)
    return reasons


def why_values_left_out(column: ValueColumn, values: Any, *, is_required: bool) -> str | None:
    """Return the reason to leave out categories or dates, None if there is none."""
    is_category = column.kind == CATEGORY
    n_present = column.n_rows - column.n_missing
    if n_present == 0:
        return EMPTY
    if column.has_too_many:
        many = f"text with more than {MAX_CATEGORIES:,} different values"
        return IDENTIFIER if column.differs and not is_required else many
    distinct = column.distinct(values)
    if len(distinct) > MAX_CATEGORIES and is_category:
        many = f"text with {len(distinct):,} different values, more than {MAX_CATEGORIES:,}"
        differs = len(distinct) == n_present
        return IDENTIFIER if differs and not is_required else many
    if is_required:
        return None
    if len(distinct) == 1 and not column.n_missing:
        return f"{CONSTANT}{cut(str(distinct[0]))}"
    is_text = is_category and is_string(distinct.type)
    return IDENTIFIER if is_text and n_present == len(distinct) >= MANY_ROWS else None


def remark_on_categories(name: str, column: ValueColumn, values: Any) -> str | None:
    """Return a remark on categories that are probably not, None if there is none."""
    labels, n_present = values.dictionary, column.n_rows - column.n_missing
    if not is_string(labels.type):
        return None
    if all(map(reads_as_number, labels.to_pylist())):
        return (
            f"the column {name} holds numbers stored as text, and is read as categories: store "
            "them as numbers if they are not codes"
        )
    if len(labels) > 1 and all(map(looks_like_date, labels.to_pylist())):
        return (
            f"the column {name} holds dates such as {cut(labels[0].as_py())!r}, and is read as "
            "categories: write dates as 2024-12-31, or use --categorical "
            f"{shlex.quote(name)} if they are categories"
        )
    if n_present >= MANY_ROWS and 2 * len(labels) > n_present:
        return (
            f"the column {name} has {len(labels):,} different values in {n_present:,} rows. If it "
            f"is an identifier or free text, leave it out: --drop {shlex.quote(name)}"
        )
    return None


def refuse_infinite(infinite: dict[str, int], n_rows: int, where: str) -> None:
    """Raise an error that names the columns with infinite values, if any."""
    if infinite:
        counts = name_list([f"{cut(name)} ({count:,})" for name, count in infinite.items()])
        raise ValueError(
            f"{where}: infinite values in {counts}; in parentheses, how many of {n_rows:,} rows. "
            "Correct them, or read them as missing: --missing inf --missing=-inf"
        )
