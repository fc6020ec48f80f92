"""Columns as numbers: kinds and categories of training data, and new data that must match them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from puforest._columns import Column, as_categories, tidy_number
from puforest._kinds import (
    BOOLEAN,
    DATETIME,
    DURATION,
    MAX_CATEGORIES,
    ColumnKind,
    Label,
    label_family,
)
from puforest._text import looks_like_date, reads_as_number

Numbers = NDArray[Any]

# Smaller integers are exact as floats, to which some libraries convert columns with gaps.
MAX_EXACT = 2**53

# Columns with fewer values are not taken for identifiers.
MIN_IDENTIFIERS = 20
IDENTIFIER_FRACTION = 0.9

# Largest fraction of the labels of a column of numbers or dates in text that are something else.
MAX_EXCEPTIONS = 0.1


@dataclass(frozen=True, eq=False)
class TrainingColumn:
    """A column of training data.

    Attributes
    ----------
    kind : ColumnKind or None
        Kind of the column; None for plain numbers.
    values : ndarray
        Numbers that encode it, with NaN for missing values.
    doubt : str
        What the column looks like instead of categories: "numbers", "dates", "identifier" or "".
    """

    kind: ColumnKind | None
    values: Numbers
    doubt: str = ""


def training_column(column: Column, place: str, is_categorical: bool | None) -> TrainingColumn:
    """Encode a column of training data.

    Parameters
    ----------
    column : Column
        The column as read.
    place : str
        Its name in error messages.
    is_categorical : bool or None
        Whether the user requested categories. None means that the type of the column decides.
    """
    if column.kind == "missing":
        kind = None if is_categorical is False else ColumnKind("category", ())
        return TrainingColumn(kind, column.values)
    if is_categorical and column.kind == "number":
        column = as_categories(column)
    elif is_categorical and column.kind in ("datetime", "duration"):
        raise ValueError(
            f"categorical_features: {place} has dates or durations, which are ordered: remove "
            "the column from the list, or convert it to strings"
        )
    elif is_categorical is False and column.kind == "category":
        return TrainingColumn(None, _numbers_of_labels(column, place))
    if column.kind == "category":
        return _training_categories(column, place, requested=is_categorical is True)
    kinds = {"boolean": BOOLEAN, "datetime": DATETIME, "duration": DURATION}
    return TrainingColumn(kinds.get(column.kind), column.values)


def new_column(
    column: Column, kind: ColumnKind | None, place: str, estimator: str
) -> tuple[Numbers, int]:
    """Encode a column of new data; return it and the number of cells with unknown categories."""
    saw_no_value = kind is not None and kind.categories == ()
    if saw_no_value or _is_all_missing(column):
        return np.full(len(column.values), np.nan, dtype=np.float32), 0
    expected = "number" if kind is None else kind.kind
    if kind is not None and kind.categories and expected == "category":
        return _known_categories(column, kind, place, estimator)
    if column.kind == "category" and expected in ("number", "boolean"):
        labels = _present_labels(column)
        if all(isinstance(label, int | float) for label in labels.values()):
            column = Column("number", _by_code(column, labels, np.float64))
    allowed = {"number": ("number", "boolean"), "boolean": ("boolean", "number")}
    if column.kind not in allowed.get(expected, (expected,)):
        raise _other_kind(column, expected, place, estimator)
    if expected == "boolean" and column.kind == "number":
        values = column.values
        other = values[~((values == 0) | (values == 1) | np.isnan(values))]
        if len(other):
            raise _other_kind(Column("number", other), expected, place, estimator)
    return column.values, 0


def first_value(column: Column) -> str:
    """Describe the values of a column by its kind and its first value."""
    if column.kind == "category" and column.labels is not None:
        label = column.labels[int(column.values[column.values >= 0][0])]
        return f"{'text' if isinstance(label, str) else 'categories'}, such as {label!r:.40}"
    if column.kind == "number":
        value = column.values[~np.isnan(column.values)][0].item()
        return f"numbers, such as {tidy_number(value)!r}"
    return {"boolean": "booleans", "datetime": "dates", "duration": "durations"}[column.kind]


# Categories


def _training_categories(column: Column, place: str, *, requested: bool) -> TrainingColumn:
    """Number the labels that occur in ascending order."""
    labels = _present_labels(column)
    refuse_labels(list(labels.values()), place)
    if any(isinstance(label, bool) for label in labels.values()):
        return TrainingColumn(BOOLEAN, _by_code(column, labels))
    codes = sorted(labels, key=labels.__getitem__)
    kind = ColumnKind("category", tuple(labels[code] for code in codes))
    values = _by_code(column, {code: number for number, code in enumerate(codes)})
    n_values = int(np.count_nonzero(column.values >= 0))
    doubt = "" if requested else doubt_about(kind, column.is_text, n_values)
    return TrainingColumn(kind, values, doubt)


def _known_categories(
    column: Column, kind: ColumnKind, place: str, estimator: str
) -> tuple[Numbers, int]:
    """Match categories by label; unknown ones become NaN."""
    categories = kind.categories or ()
    is_text = isinstance(categories[0], str)
    if not is_text and column.kind in ("number", "boolean"):
        column = as_categories(column)
    if column.kind != "category":
        raise _other_kind(column, f"category {is_text}", place, estimator)
    labels = _present_labels(column)
    wrong = [code for code, label in labels.items() if isinstance(label, str) != is_text]
    if wrong:
        cells = column.values[np.isin(column.values, wrong)]
        offending = Column("category", cells, column.labels)
        raise _other_kind(offending, f"category {is_text}", place, estimator)
    values = _by_code(column, dict(zip(labels, kind.codes(labels.values()), strict=True)))
    return values, int(np.count_nonzero(np.isnan(values)) - np.count_nonzero(column.values < 0))


def _present_labels(column: Column) -> dict[int, Any]:
    """Return the labels that occur, by code."""
    labels = column.labels or ()
    count = np.bincount(_shifted(column), minlength=len(labels) + 1)[1:]
    return {code: tidy_number(labels[code]) for code in np.flatnonzero(count).tolist()}


def _by_code(
    column: Column, values: Mapping[int, float], dtype: type[np.floating[Any]] = np.float32
) -> Numbers:
    """Replace codes by these values, and -1 by NaN."""
    by_code = np.full(1 + len(column.labels or ()), np.nan, dtype=dtype)
    by_code[1 + np.fromiter(values, np.intp, len(values))] = list(values.values())
    result: Numbers = by_code[_shifted(column)]
    return result


def _shifted(column: Column) -> NDArray[np.intp]:
    """Return codes that are 0 for missing values, of the type of indices."""
    codes: NDArray[np.intp] = np.add(column.values, 1, dtype=np.intp)
    return codes


def _numbers_of_labels(column: Column, place: str) -> Numbers:
    """Read categories that are numbers as these numbers."""
    labels = _present_labels(column)
    text = next((label for label in labels.values() if not isinstance(label, int | float)), None)
    if text is not None:
        raise ValueError(
            f"{place} has text or categories, such as {text!r:.40}, but categorical_features does "
            "not include the column: leave categorical_features at 'from_dtype', add the column to "
            "it, or encode the column as numbers"
        )
    return _by_code(column, labels, np.float64)


def refuse_labels(labels: list[Any], place: str) -> None:
    """Refuse labels that are too many, not all of one type, or inexact numbers."""
    if len(labels) > MAX_CATEGORIES:
        raise ValueError(
            f"{place} has {len(labels):,} categories, more than {MAX_CATEGORIES:,}: drop the "
            "column if it identifies rows, or replace the categories, for example by their "
            "frequency or by a hash with fewer values"
        )
    first = labels[0] if labels else ""
    for label in labels:
        if not isinstance(label, Label):
            raise TypeError(
                f"{place} has categories of type {type(label).__name__}, such as {label!r:.40}: "
                "convert them to strings, for example with .cat.rename_categories(str)"
            )
        if isinstance(label, float) and not math.isfinite(label):
            raise ValueError(f"{place} has the category {label!r}: X contains infinity")
        if not isinstance(label, str) and abs(label) >= MAX_EXACT:
            raise ValueError(
                f"{place} has the category {label!r}, but only numbers below 2**53 are told apart "
                "in all types of columns: convert the categories to strings"
            )
        if label_family(label) is not label_family(first):
            raise TypeError(
                f"{place} mixes categories of several types, such as {first!r:.40} and "
                f"{label!r:.40}: convert them to strings"
            )


def doubt_about(kind: ColumnKind, is_text: bool, n_values: int) -> str:
    """Return what a column looks like instead of categories, or an empty string."""
    categories = kind.categories or ()
    if is_text:
        for doubt, is_like in (("numbers", reads_as_number), ("dates", looks_like_date)):
            n_like = sum(is_like(str(label)) for label in categories)
            if 2 <= n_like >= (1 - MAX_EXCEPTIONS) * len(categories) - 1:
                return doubt
    if n_values >= MIN_IDENTIFIERS and len(categories) >= IDENTIFIER_FRACTION * n_values:
        return "identifier"
    return ""


# New data


def _is_all_missing(column: Column) -> bool:
    values = column.values
    if column.kind == "category":
        return bool((values < 0).all())
    return bool(values.dtype.kind == "f" and np.isnan(values).all())


EXPECTED = {
    "number": "numbers",
    "boolean": "booleans",
    "datetime": "dates",
    "duration": "durations",
    "category True": "text",
    "category False": "categories that are numbers",
}


def _other_kind(column: Column, expected: str, place: str, estimator: str) -> TypeError:
    return TypeError(
        f"{place} has {first_value(column)}, but {estimator} was fitted to {EXPECTED[expected]} in "
        "this column: convert it to the type of the training data"
    )
