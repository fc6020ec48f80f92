"""Which rows of a column of labels are labeled positives."""

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
from puforest.cli.tables._names import LONGEST, cut
from puforest.cli.tables._numbers import MISSING, decoded, is_number, is_string
from puforest.cli.tables._source import Source

YES = {"1", "true", "t", "yes", "y", "positive", "pos"}
NO = {"0", "-1", "false", "f", "no", "n"}
POSITIVE = YES | {"labeled", "labelled"}
UNLABELED = NO | {"unlabeled", "unlabelled", "unknown"}

# Labels are few.
MANY = 20


@dataclass(frozen=True)
class LabelRule:
    """Which values of a column mark labeled positives.

    Attributes
    ----------
    column : str
        The column.
    positive : frozenset of str
        The values that mark labeled rows, as text.
    unlabeled : frozenset of str
        Those that mark unlabeled ones, as met so far; "" is empty.
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
        """1 where a row is labeled, else 0."""
        values, codes = encoded(self.column, column)
        marks = np.array([value in self.positive for value in values], dtype=np.int64)
        return marks[codes]


def read_labels(
    source: Source, name: str, column: Any, positive: str | None
) -> tuple[LabelRule, NDArray[np.int64]]:
    """How labels are read, and 1 for the rows that are labeled; there must be both kinds."""
    try:
        rule = label_rule(name, column, positive)
        labeled = rule.apply(column)
        require_both(rule, labeled)
    except ValueError as error:
        raise ValueError(f"{source.path}: {error}") from error
    return rule, labeled


def label_rule(name: str, column: Any, positive: str | None) -> LabelRule:
    """Find out which values mark labeled rows, or refuse to guess."""
    counts = _counts(name, column)
    values = set(counts)
    if positive is not None:
        wanted = as_text(positive)
        if wanted not in values:
            raise ValueError(
                f"--positive {positive}: the column {name} holds no such value, but {_some(values)}"
            )
        return LabelRule(name, frozenset({wanted}), frozenset(values - {wanted}))
    empty = {value for value in values if value.lower() in MISSING}
    said = values - empty
    if len(said) == 1 and empty and not any(map(_looks_unlabeled, said)):
        return LabelRule(name, frozenset(said), frozenset(empty))
    yes = {value for value in said if value.lower() in POSITIVE}
    no = {value for value in said if value.lower() in UNLABELED}
    if said - yes - no or len(yes) > 1 or len(no) > 1:
        raise ValueError(
            f"the column {name} holds {_some(values)}: say which value marks the labeled "
            f"positives, {_suggestion({value: counts[value] for value in said})}"
        )
    return LabelRule(name, frozenset(yes), frozenset(no | empty))


def _looks_unlabeled(value: str) -> bool:
    """Whether a value seems to mark anything but labeled positives."""
    try:
        return float(value) <= 0
    except ValueError:
        return value.lower() in UNLABELED or bool(NEGATIVE.match(value))


def _suggestion(counts: dict[str, int]) -> str:
    """The option to give: with a word for positives, or else with the rarest value."""
    likely = [v for v in counts if v.isprintable() and len(v) <= LONGEST]
    likely = [v for v in likely if not _looks_unlabeled(v)]
    if not likely or len(counts) > MANY:
        return "by --positive VALUE, or name another column by --label"
    best = min(likely, key=lambda value: (value.lower() not in POSITIVE, counts[value], value))
    return f"for example --positive {shlex.quote(best)}"


def require_both(rule: LabelRule, labeled: NDArray[np.int64]) -> None:
    """Refuse labels of one kind only."""
    n, marked = len(labeled), int(labeled.sum())
    if n and 0 < marked < n:
        return
    if marked:
        raise ValueError(
            f"the column {rule.column} marks all {n:,} rows as labeled: unlabeled rows are "
            "needed too, with 0 or nothing in this column"
        )
    raise ValueError(
        f"the column {rule.column} marks none of the {n:,} rows as labeled: is it the right "
        "column? --positive VALUE says which value marks them"
    )


def true_classes(name: str, column: Any) -> NDArray[np.int64]:
    """1 and 0 of a column of true classes, all of which must be known."""
    values, codes = encoded(name, column)
    unknown = {value for value in values if value.lower() not in YES | NO}
    if unknown:
        raise ValueError(
            f"--truth {name}: the column holds {_some(unknown)} for some rows. True classes are 1 "
            "and 0, true and false or yes and no: leave out the rows for which they are not known"
        )
    return np.array([value.lower() in YES for value in values], dtype=np.int64)[codes]


def _counts(name: str, column: Any) -> dict[str, int]:
    """The distinct values as text, and how often they occur."""
    values, codes = encoded(name, column)
    counts: Counter[str] = Counter()
    for value, times in zip(values, np.bincount(codes, minlength=len(values)), strict=True):
        counts[value] += int(times)
    return counts


def encoded(name: str, column: Any) -> tuple[list[str], NDArray[np.intp]]:
    """The distinct values as text, and which of them each row has."""
    pa, compute = arrow(), arrow("compute")
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    column = decoded(column)
    kind = column.type
    is_text = is_string(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind)
    if not (is_number(kind) or is_text or pa.types.is_null(kind)):
        raise ValueError(
            f"the column {name} holds {str(kind)[:100]}, which are no labels: they are numbers, "
            "booleans or text"
        )
    if pa.types.is_decimal(kind) or is_text:
        try:
            column = compute.cast(column, pa.large_string())
        except pa.ArrowInvalid as error:
            raise ValueError(f"the column {name} holds bytes that are no text") from error
    coded = compute.dictionary_encode(column, null_encoding="encode")
    values = [as_text(value) for value in coded.dictionary.to_pylist()]
    return values, np.asarray(coded.indices.to_numpy(zero_copy_only=False)).astype(np.intp)


def as_text(value: Any) -> str:
    """A value as text: 1 and 1.0 alike, nothing for what is missing."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    text = str(value).strip()
    try:
        number = math.nan if "_" in text else float(text)
    except ValueError:
        return text
    # Numbers beyond this are better told apart by their digits.
    whole = number.is_integer() and abs(number) < 2**53
    return str(int(number)) if whole else text


def _some(values: Iterable[str]) -> str:
    """A few values, for messages."""
    ordered = sorted(values)
    some = ", ".join(cut(value) or "nothing" for value in ordered[:5])
    return some + (f" and {len(ordered) - 5:,} more" if len(ordered) > 5 else "") or "nothing"
