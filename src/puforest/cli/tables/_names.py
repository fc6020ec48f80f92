"""Column names, of which there may be millions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

LONGEST = 40

# Number of names among which a similar one is searched.
SEARCHED = 10_000


class Names(Sequence[str]):
    """Column names in order, duplicates included.

    Examples
    --------
    >>> from puforest.cli.tables._names import Names
    >>> Names(["age", "age", "size"]).times("age")
    2
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._names = list(names)

    def __len__(self) -> int:
        return len(self._names)

    def __getitem__(self, place: Any) -> Any:
        return self._names[place]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __contains__(self, name: object) -> bool:
        return self.times(name) > 0

    @cached_property
    def _times(self) -> Counter[object]:
        return Counter(self._names)

    def times(self, name: object) -> int:
        """Count the columns of this name."""
        return self._times[name]

    def hold(self, names: Sequence[str]) -> NDArray[np.bool_]:
        """Tell which of the given names exist."""
        return np.fromiter((name in self for name in names), bool, len(names))

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self._names)}

    def place(self, name: str) -> int:
        """Return the position of a column whose name is unique."""
        return self._places[name]


class Numbered(Names):
    """A few names, and then names made of a prefix and a number, created on demand.

    Examples
    --------
    >>> from puforest.cli.tables._names import Numbered
    >>> names = Numbered(["y"], "x", range(50_000_000))
    >>> names[-1], names.times("x7"), names.times("x07")
    ('x49999999', 1, 0)
    """

    def __init__(self, others: Sequence[str], prefix: str, numbers: range) -> None:
        self._others = list(others)
        self._prefix = prefix
        self._numbers = numbers

    def __len__(self) -> int:
        return len(self._others) + len(self._numbers)

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [self[i] for i in range(*place.indices(len(self)))]
        i = range(len(self))[place] - len(self._others)
        return self._others[i] if i < 0 else f"{self._prefix}{self._numbers[i]}"

    def __iter__(self) -> Iterator[str]:
        yield from self._others
        for number in self._numbers:
            yield f"{self._prefix}{number}"

    def times(self, name: object) -> int:
        """Count the columns of this name."""
        return int(name in self._others or self._number(str(name)) in self._numbers)

    def place(self, name: str) -> int:
        """Return the position of a column."""
        if name in self._others:
            return self._others.index(name)
        return len(self._others) + self._numbers.index(self._number(name))

    def _number(self, name: str) -> int:
        """Return the number in a name, -1 if there is none."""
        digits = name.removeprefix(self._prefix)
        is_number = digits.isascii() and digits.isdigit() and len(digits) < 20
        return int(digits) if is_number and f"{self._prefix}{int(digits)}" == name else -1


def cut(text: str) -> str:
    """Shorten a long text for a message."""
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."


def name_list(names: Sequence[str], most: int = 10, n: int | None = None) -> str:
    """List the first names for a message; there are `n` in total if `names` is a part of them."""
    n = len(names) if n is None else n
    some = ", ".join(map(cut, names[:most]))
    return some if n <= most else f"{some} and {n - most:,} more"


def alternatives(name: str, names: Sequence[str]) -> str:
    """List the first names for a message, and the one that is most similar to an unknown name."""
    by_key = {other.casefold(): other for other in names[:SEARCHED]}
    similar = get_close_matches(name.casefold(), by_key, n=1)
    return name_list(names) + (f". Did you mean {cut(by_key[similar[0]])}?" if similar else "")


def duplicates(names: Sequence[str]) -> list[str]:
    """Return the names that occur more than once, in order."""
    if len(set(names)) == len(names):
        return []
    return [name for name, times in Counter(names).items() if times > 1]
