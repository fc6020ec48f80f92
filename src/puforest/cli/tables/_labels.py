"""Interpretation of label columns."""

from __future__ import annotations

import math
import shlex
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from puforest._validation import NEGATIVE
from puforest.cli.tables._arrow import arrow
from puforest.cli.tables._kinds import decoded, is_number, is_string
from puforest.cli.tables._missing import DEFAULT_WORDS
from puforest.cli.tables._names import LONGEST, cut
from puforest.cli.tables._source import Source

YES = {"1", "true", "t", "yes", "y", "positive", "pos"}
NO = {"0", "-1", "false", "f", "no", "n"}
POSITIVE = YES | {"labeled", "labelled"}
UNLABELED = NO | {"unlabeled", "unlabelled", "unknown"}

# A column with more values than this is probably not a label column.
MANY_VALUES = 20


@dataclass(frozen=True)
class LabelRule:
    """Values of a column that mark labeled positives.

    Attributes
    ----------
    column : str
        Name of the column.
    positive : frozenset of str
        Values of labeled rows, as text.
    unlabeled : frozenset of str
        Values of unlabeled rows, as text; "" is a missing value.
    """

    column: str
    positive: frozenset[str]
    unlabeled: frozenset[str]

    def __str__(self) -> str:
        yes = " or ".join(sorted(self.positive))
        others = sorted(self.unlabeled)
        no = " or ".join(value or "empty" for value in others[:3])
        more = f" or one of {len(others) - 3:,} others" if len(others) > 3 else ""
        return f"{self.column} = {yes} is labeled, {no}{more} is not"

    def apply(self, column: Any) -> NDArray[np.int64]:
        """Return 1 for labeled and 0 for unlabeled rows."""
        values, codes = encoded(self.column, column)
        marks = np.array([value in self.positive for value in values], dtype=np.int64)
        return marks[codes]


def read_labels(
    source: Source, name: str, column: Any, positive: str | None
) -> tuple[LabelRule, NDArray[np.int64]]:
    """Infer the rule and apply it; there must be labeled and unlabeled rows."""
    try:
        rule = label_rule(name, column, positive)
        labeled = rule.apply(column)
        require_both(rule, labeled)
    except ValueError as error:
        raise ValueError(f"{source.path}: {error}") from error
    return rule, labeled


def label_rule(name: str, column: Any, positive: str | None) -> LabelRule:
    """Infer which values mark labeled rows; raise an error if that is ambiguous."""
    counts = _counts(name, column)
    values = set(counts)
    if positive is not None:
        wanted = as_text(positive)
        if wanted not in values:
            raise ValueError(
                f"--positive {shlex.quote(positive)}: the column {name} has no such value; it has "
                f"{_some(values)}"
            )
        return LabelRule(name, frozenset({wanted}), frozenset(values - {wanted}))
    empty = {value for value in values if value in DEFAULT_WORDS}
    given = values - empty
    if len(given) == 1 and empty and not any(map(_looks_unlabeled, given)):
        return LabelRule(name, frozenset(given), frozenset(empty))
    yes = {value for value in given if value.lower() in POSITIVE}
    no = {value for value in given if value.lower() in UNLABELED}
    if given - yes - no or len(yes) > 1 or len(no) > 1:
        raise ValueError(
            f"the column {name} has the values {_some(values)}: specify which one marks the "
            f"labeled positives, {_suggestion({value: counts[value] for value in given})}"
        )
    return LabelRule(name, frozenset(yes), frozenset(no | empty))


def _looks_unlabeled(value: str) -> bool:
    """Tell whether a value probably does not mark labeled positives."""
    try:
        return float(value) <= 0
    except ValueError:
        return value.lower() in UNLABELED or bool(NEGATIVE.match(value))


def _suggestion(counts: dict[str, int]) -> str:
    """Suggest an option: a word for positives if there is one, else the rarest value."""
    likely = [v for v in counts if v.isprintable() and len(v) <= LONGEST]
    likely = [v for v in likely if not _looks_unlabeled(v)]
    if not likely or len(counts) > MANY_VALUES:
        return "with --positive VALUE, or choose another column with --label"
    best = min(likely, key=lambda value: (value.lower() not in POSITIVE, counts[value], value))
    return f"for example --positive {shlex.quote(best)}"


def require_both(rule: LabelRule, labeled: NDArray[np.int64]) -> None:
    """Raise an error if all rows are labeled, or none is."""
    n, marked = len(labeled), int(labeled.sum())
    if n and 0 < marked < n:
        return
    if marked:
        raise ValueError(
            f"the column {rule.column} marks all {n:,} rows as labeled, but unlabeled rows are "
            "required too: set this column to 0 or leave it empty for them"
        )
    raise ValueError(
        f"the column {rule.column} marks none of the {n:,} rows as labeled: is it the right "
        "column? Use --positive VALUE to specify which value marks them"
    )


def true_classes(name: str, column: Any) -> NDArray[np.int64]:
    """Read a column of true classes, none of which may be missing."""
    values, codes = encoded(name, column)
    unknown = {value for value in values if value.lower() not in YES | NO}
    if unknown:
        raise ValueError(
            f"--truth {name}: the column holds {_some(unknown)}. True classes must be 1 and 0, "
            "true and false, or yes and no: recode them, and remove rows whose class is unknown"
        )
    return np.array([value.lower() in YES for value in values], dtype=np.int64)[codes]


def _counts(name: str, column: Any) -> dict[str, int]:
    """Count the distinct values, as text."""
    values, codes = encoded(name, column)
    counts: Counter[str] = Counter()
    for value, times in zip(values, np.bincount(codes, minlength=len(values)), strict=True):
        counts[value] += int(times)
    return counts


def encoded(name: str, column: Any) -> tuple[list[str], NDArray[np.intp]]:
    """Return the distinct values as text, and the index of the value of each row."""
    pa, compute = arrow(), arrow("compute")
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    column = decoded(column)
    kind = column.type
    is_text = is_string(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind)
    if not (is_number(kind) or is_text or pa.types.is_null(kind)):
        raise ValueError(
            f"the column {name} has the type {str(kind)[:100]}, but labels must be numbers, "
            "booleans or text"
        )
    if pa.types.is_decimal(kind) or is_text:
        try:
            column = compute.cast(column, pa.large_string())
        except pa.ArrowInvalid as error:
            raise ValueError(f"the column {name} holds bytes that are not UTF-8 text") from error
    coded = compute.dictionary_encode(column, null_encoding="encode")
    values = [as_text(value) for value in coded.dictionary.to_pylist()]
    return values, np.asarray(coded.indices.to_numpy(zero_copy_only=False)).astype(np.intp)


def as_text(value: Any) -> str:
    """Convert a value to text: "1" for both 1 and 1.0, "" for missing values."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    text = str(value).strip()
    try:
        number = math.nan if "_" in text else float(text)
    except ValueError:
        return text
    # Larger integers would lose digits as floats.
    is_exact = number.is_integer() and abs(number) < 2**53
    return str(int(number)) if is_exact else text


def _some(values: Iterable[str]) -> str:
    """List a few values for a message."""
    ordered = sorted(values)
    some = ", ".join(cut(value) or "missing values" for value in ordered[:5])
    return some + (f" and {len(ordered) - 5:,} more" if len(ordered) > 5 else "") or "no values"
