"""Kinds of columns, and the labels of categories."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Label: TypeAlias = str | int | float | bool

KINDS = ("category", "boolean", "datetime", "duration")

# Category numbers are stored as 16-bit integers, and one of them means "missing".
MAX_CATEGORIES = 65_535


def label_family(label: Label) -> type:
    """Return the type of a label; all numbers count as floats."""
    return type(label) if isinstance(label, str | bool) else float


@dataclass(frozen=True)
class ColumnKind:
    """Kind of a column whose values are not plain numbers.

    Attributes
    ----------
    kind : {"category", "boolean", "datetime", "duration"}
        Meaning of the numbers that encode the column: positions in `categories`, 0 and 1, days
        since 1970-01-01 (UTC), or days.
    categories : tuple or None
        Labels of a categorical or boolean column, in ascending order; None for other columns. A
        categorical column without labels had only missing values in training.
    """

    kind: str
    categories: tuple[Label, ...] | None = None

    @cached_property
    def _code(self) -> dict[Label, float]:
        """Category number of each label."""
        return {label: float(code) for code, label in enumerate(self.categories or ())}

    def codes(self, labels: Iterable[Any]) -> NDArray[np.float64]:
        """Return the category number of each label; NaN for unknown labels."""
        code = self._code
        return np.array([code.get(label, np.nan) for label in labels], dtype=np.float64)

    def __getstate__(self) -> dict[str, Any]:
        return {"kind": self.kind, "categories": self.categories}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)


BOOLEAN = ColumnKind("boolean", (False, True))
DATETIME = ColumnKind("datetime")
DURATION = ColumnKind("duration")
