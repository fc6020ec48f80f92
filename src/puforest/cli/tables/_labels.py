"""Which rows of a column of labels are labelled positives."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from puforest.cli.tables._arrow import arrow
from puforest.cli.tables._source import is_dictionary

YES = {"1", "true", "t", "yes", "y", "positive", "pos"}
NO = {"0", "-1", "false", "f", "no", "n"}
POSITIVE = YES | {"labelled", "labeled"}
UNLABELLED = NO | {"unlabelled", "unlabeled", "unknown"}
EMPTY = {"", "na", "n/a", "nan", "null", "none", "?"}


@dataclass(frozen=True)
class LabelRule:
    """Which values of a column mark labelled positives.

    Attributes
    ----------
    column : str
        The column.
    positive : frozenset of str
        The values that mark labelled rows, as text.
    unlabelled : frozenset of str
        Those that mark unlabelled ones, as met so far; "" is empty.
    """

    column: str
    positive: frozenset[str]
    unlabelled: frozenset[str]

    def __str__(self) -> str:
        yes = " or ".join(sorted(self.positive))
        others = sorted(self.unlabelled)
        no = " or ".join(value or "empty" for value in others[:3])
        more = f" or one of {len(others) - 3:,} others" if len(others) > 3 else ""
        return f"{self.column} = {yes} is labelled, {no}{more} is not"

    def apply(self, column: Any) -> NDArray[np.int64]:
        """1 where a row is labelled, else 0."""
        values, codes = encoded(column)
        marks = np.array([value in self.positive for value in values], dtype=np.int64)
        return marks[codes]


def label_rule(name: str, column: Any, positive: str | None) -> LabelRule:
    """Find out which values mark labelled rows, or refuse to guess."""
    values = set(encoded(column)[0]) if len(column) else set()
    if positive is not None:
        wanted = as_text(positive)
        if wanted not in values:
            raise ValueError(
                f"--positive {positive}: the column {name} holds no such value, but {_some(values)}"
            )
        return LabelRule(name, frozenset({wanted}), frozenset(values - {wanted}))
    empty = {value for value in values if value.lower() in EMPTY}
    said = values - empty
    if len(said) == 1 and empty and not {value.lower() for value in said} & UNLABELLED:
        return LabelRule(name, frozenset(said), frozenset(empty))
    yes = {value for value in said if value.lower() in POSITIVE}
    no = {value for value in said if value.lower() in UNLABELLED}
    if said - yes - no or len(yes) > 1 or len(no) > 1:
        raise ValueError(
            f"the column {name} holds {_some(values)}: say which value marks the labelled "
            f"positives, for example --positive {next(iter(sorted(said)))}"
        )
    return LabelRule(name, frozenset(yes), frozenset(no | empty))


def require_both(rule: LabelRule, labelled: NDArray[np.int64]) -> None:
    """Refuse labels of one kind only."""
    n, marked = len(labelled), int(labelled.sum())
    if n and 0 < marked < n:
        return
    if marked:
        raise ValueError(
            f"the column {rule.column} marks all {n:,} rows as labelled: unlabelled rows are "
            "needed too, with 0 or nothing in this column"
        )
    raise ValueError(
        f"the column {rule.column} marks none of the {n:,} rows as labelled: is it the right "
        "column? --positive VALUE says which value marks them"
    )


def true_classes(name: str, column: Any) -> NDArray[np.int64]:
    """1 and 0 of a column of true classes, all of which must be known."""
    values, codes = encoded(column)
    unknown = {value for value in values if value.lower() not in YES | NO}
    if unknown:
        raise ValueError(
            f"--truth {name}: the column holds {_some(unknown)} for some rows. True classes are 1 "
            "and 0, true and false or yes and no: leave out the rows for which they are not known"
        )
    return np.array([value.lower() in YES for value in values], dtype=np.int64)[codes]


def encoded(column: Any) -> tuple[list[str], NDArray[np.intp]]:
    """The distinct values as text, and which of them each row has."""
    pa, compute = arrow(), arrow("compute")
    if is_dictionary(column.type):
        column = compute.cast(column, column.type.value_type)
    if not isinstance(column, pa.ChunkedArray):
        column = pa.chunked_array([column])
    coded = compute.dictionary_encode(column.combine_chunks(), null_encoding="encode")
    if isinstance(coded, pa.ChunkedArray):
        coded = coded.combine_chunks()
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
        number = float(text)
    except ValueError:
        return text
    # Numbers beyond this are better told apart by their digits.
    whole = number.is_integer() and abs(number) < 2**53
    return str(int(number)) if whole else text


def _some(values: Iterable[str]) -> str:
    """A few values, for messages."""
    ordered = sorted(values)
    some = ", ".join(value or "nothing" for value in ordered[:5])
    return some + (f" and {len(ordered) - 5:,} more" if len(ordered) > 5 else "") or "nothing"
