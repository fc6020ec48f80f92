"""Words and numbers that mark missing values in files."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from puforest._text import reads_as_number
from puforest.cli.tables._arrow import arrow

# The words of pandas.read_csv, "?" and "-".
_WORDS = {"", "?", "-", "NA", "N/A", "NaN", "NULL", "None", "<NA>", "#N/A", "#NA", "#N/A N/A"}
_WORDS |= {"-NaN", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"}
DEFAULT_WORDS = frozenset(
    form for word in _WORDS for form in (word, word.lower(), word.upper(), word.capitalize())
)


@dataclass(frozen=True)
class MissingMarkers:
    """Values that mark missing cells.

    Attributes
    ----------
    words : frozenset of str
        Text, compared without the spaces around it.
    numbers : frozenset of float
        Numbers, such as -999.
    """

    words: frozenset[str] = DEFAULT_WORDS
    numbers: frozenset[float] = frozenset()

    def changed(self, add: Iterable[str], remove: Iterable[str]) -> MissingMarkers:
        """Return these markers with some added and some removed."""
        added = {word.strip() for word in add}
        removed = {word.strip() for word in remove}
        return MissingMarkers(
            (self.words - removed) | added, (self.numbers - _numbers(removed)) | _numbers(added)
        )

    def among(self, words: Any) -> Any:
        """Return which cells of an Arrow array of text are missing; nulls are not."""
        return arrow("compute").is_in(words, arrow().array(sorted(self.words), words.type))

    def as_null(self, words: Any) -> Any:
        """Replace the markers in an Arrow array of text with nulls."""
        return arrow("compute").if_else(self.among(words), None, words)

    def clear(self, X: NDArray[Any]) -> None:
        """Replace the markers in an array of floats with nan, in place."""
        for number in self.numbers:
            X[np.equal(X, number)] = np.nan


def _numbers(words: Iterable[str]) -> frozenset[float]:
    """Return the numbers among words; nan is always missing."""
    numbers = {float(word) for word in words if reads_as_number(word)}
    return frozenset(number for number in numbers if not math.isnan(number))
