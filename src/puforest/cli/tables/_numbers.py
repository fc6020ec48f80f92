"""Columns as a matrix of numbers, or a reason why not."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from puforest.cli.tables._arrow import arrow
from puforest.cli.tables._source import is_dictionary, is_number, plain, shown

# Fewer rows may well be different by chance.
MANY = 50

NUMBER = r"^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$"
WITH_COMMA = r"^\s*[+-]?\d*,\d+([eE][+-]?\d+)?\s*$"
DECIMAL_COMMA = "If these are numbers with a decimal comma, give --decimal ,"


@dataclass(frozen=True)
class LeftOut:
    """A column that is no feature, and why.

    Attributes
    ----------
    name : str
        The column.
    reason : str
        Why it was left out.
    suspicious : bool
        Whether it may well have been meant as a feature.
    decimal_comma : bool
        Whether most of it would be numbers if commas were decimal points.
    """

    name: str
    reason: str
    suspicious: bool = False
    decimal_comma: bool = False


def not_numeric(name: str, column: Any, decimal: str | None) -> LeftOut | None:
    """Why this column cannot be a feature; None if it can.

    `decimal` is the decimal point it was read with, None if it was not read from text.
    """
    pa, compute = arrow(), arrow("compute")
    kind = column.type
    if is_number(kind):
        return None
    if pa.types.is_null(kind):
        return LeftOut(name, "empty")
    if is_dictionary(kind):
        column = compute.cast(column, kind.value_type)
        kind = column.type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        return LeftOut(name, str(kind))
    given = compute.drop_null(column)
    is_text = compute.invert(compute.match_substring_regex(given, NUMBER))
    odd = compute.filter(given, is_text)
    if len(odd) == 0:
        return LeftOut(name, "numbers as text", suspicious=len(given) > 0)
    example = f"such as {odd[0].as_py()[:20]!r}"
    with_comma = compute.sum(compute.match_substring_regex(odd, WITH_COMMA)).as_py()
    if decimal == "." and 2 * with_comma > len(odd):
        return LeftOut(name, f"text, {example}", suspicious=True, decimal_comma=True)
    if 2 * len(odd) < len(given):
        some = f"{len(odd):,} of {len(given):,} values are no numbers"
        return LeftOut(name, f"{some}, {example}", suspicious=True)
    return LeftOut(name, f"text, {example}")


def looks_like_identifier(column: Any) -> bool:
    """Whether whole numbers are different in every row of many."""
    compute = arrow("compute")
    if not arrow().types.is_integer(column.type) or len(column) < MANY:
        return False
    return bool(compute.count_distinct(column).as_py() == len(column))


def matrix(columns: Any, names: Sequence[str], where: str) -> NDArray[Any]:
    """The columns of a table or batch side by side, or an error that says which have gaps.

    float32 where it holds every value, else float64.
    """
    taken = [columns.column(name) for name in names]
    kinds = [np.dtype(bool) if _is_boolean(c) else _numpy_type(c) for c in taken]
    single = all(np.can_cast(kind, np.float32) for kind in kinds)
    X = np.empty((columns.num_rows, len(names)), np.float32 if single else np.float64)
    gaps = {}
    for i, column in enumerate(taken):
        X[:, i] = _as_float(column)
        finite = np.isfinite(X[:, i])
        if not finite.all():
            gaps[names[i]] = int(np.count_nonzero(~finite))
    if gaps:
        refuse_gaps(gaps, len(X), where)
    return X


def _is_boolean(column: Any) -> bool:
    return bool(arrow().types.is_boolean(column.type))


def _numpy_type(column: Any) -> np.dtype[Any]:
    if arrow().types.is_decimal(column.type):
        return np.dtype(np.float64)
    kind: np.dtype[Any] = np.dtype(column.type.to_pandas_dtype())
    return kind


def _as_float(column: Any) -> NDArray[Any]:
    pa, compute = arrow(), arrow("compute")
    kind = pa.float32() if pa.types.is_float32(column.type) else pa.float64()
    values = compute.cast(plain(column), kind, safe=False)
    if isinstance(values, pa.Array):
        return np.asarray(values.to_numpy(zero_copy_only=False))
    return np.asarray(values.to_numpy())


def refuse_gaps(gaps: dict[str, int], n_rows: int, where: str) -> None:
    """Say which columns have missing or infinite values, and what to do."""
    counts = shown([f"{name} ({count:,})" for name, count in gaps.items()])
    drop = " ".join(f"--drop {quoted(name)}" for name in list(gaps)[:3])
    more = " and so on" if len(gaps) > 3 else ""
    raise ValueError(
        f"{where}: missing or infinite values in {len(gaps)} of the columns, in so many of "
        f"{n_rows:,} rows: {counts}. Fill them in beforehand, or fit without these columns: "
        f"{drop}{more}"
    )


def quoted(name: str) -> str:
    """A name as the shell takes it."""
    return shlex.quote(name)


def duplicates(names: Iterable[str]) -> list[str]:
    """Names that stand more than once, in order."""
    return [name for name, times in Counter(names).items() if times > 1]
