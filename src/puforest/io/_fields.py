"""Strict reading of JSON objects: every field has a type and a range, and none is unknown."""

from __future__ import annotations

import sys
from collections.abc import Collection
from typing import Any


class Fields:
    """A JSON object whose fields are taken one by one; `finish` rejects the rest."""

    def __init__(self, name: str, value: Any) -> None:
        if not isinstance(value, dict):
            raise ValueError(f"{name} is not an object")
        self._name = name
        self._left = dict(value)

    def has(self, key: str) -> bool:
        """Return whether an optional field is present."""
        return key in self._left

    def take(self, key: str) -> Any:
        """Take a value of any type."""
        if key not in self._left:
            raise ValueError(f"{self._name} has no {key!r}")
        return self._left.pop(key)

    def fields(self, key: str) -> Fields:
        """Take an object."""
        return Fields(f"{self._name}.{key}", self.take(key))

    def optional_fields(self, key: str) -> Fields | None:
        """Take an object or null."""
        value = self.take(key)
        return None if value is None else Fields(f"{self._name}.{key}", value)

    def text(self, key: str) -> str:
        """Take a string."""
        value = self.take(key)
        if not isinstance(value, str):
            raise ValueError(f"{self._name}.{key} is not a string")
        return value

    def texts(self, key: str) -> list[str]:
        """Take a list of strings."""
        value = self.take(key)
        if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
            raise ValueError(f"{self._name}.{key} is not a list of strings")
        return value

    def choice(self, key: str, allowed: Collection[str]) -> str:
        """Take one of the allowed strings."""
        value = self.text(key)
        if value not in allowed:
            raise ValueError(
                f"{self._name}.{key} is {short_repr(value)}, not one of {sorted(allowed)}"
            )
        return value

    def number(self, key: str, low: float, high: float) -> float:
        """Take a number from `low` to `high`."""
        value = self.take(key)
        if not is_number(value) or not low <= value <= high:
            raise ValueError(
                f"{self._name}.{key} is {short_repr(value)}, not a number from {low:g} to {high:g}"
            )
        return float(value)

    def integer(self, key: str, low: int, high: int) -> int:
        """Take an integer from `low` to `high`."""
        value = self.take(key)
        if not is_integer(value) or not low <= value <= high:
            raise ValueError(
                f"{self._name}.{key} is {short_repr(value)}, not an integer from {low} to {high}"
            )
        return int(value)

    def integers(self, key: str, length: int) -> list[int]:
        """Take a list of `length` nonnegative integers."""
        value = self.take(key)
        if (
            not isinstance(value, list)
            or len(value) != length
            or not all(is_integer(v) and v >= 0 for v in value)
        ):
            raise ValueError(f"{self._name}.{key} is not a list of {length} nonnegative integers")
        return value

    def pair(self, key: str) -> list[Any]:
        """Take a list of two values."""
        value = self.take(key)
        if not isinstance(value, list) or len(value) != 2:
            raise ValueError(f"{self._name}.{key} is not a list of two values")
        return value

    def optional_number(self, key: str) -> float | None:
        """Take a finite number or null."""
        if self._left.get(key, 0) is None:
            del self._left[key]
            return None
        return self.number(key, -sys.float_info.max, sys.float_info.max)

    def numbers(self) -> dict[str, float]:
        """Take all remaining fields, which must be finite numbers."""
        limit = sys.float_info.max
        return {key: self.number(key, -limit, limit) for key in list(self._left)}

    def integers_by_name(self, low: int, high: int) -> dict[str, int]:
        """Take all remaining fields, which must be integers from `low` to `high`."""
        return {key: self.integer(key, low, high) for key in list(self._left)}

    def finish(self) -> None:
        """Reject fields that have not been taken."""
        if self._left:
            raise ValueError(
                f"{self._name} has the unknown field {short_repr(next(iter(self._left)))}"
            )


def ensure(condition: bool, problem: str) -> None:
    """Reject a file unless the condition holds."""
    if not condition:
        raise ValueError(problem)


def is_integer(value: Any) -> bool:
    """Return whether a JSON value is an integer."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value: Any) -> bool:
    """Return whether a JSON value is a number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def short_repr(value: Any) -> str:
    """Return the repr of a value for a message, truncated if it is long."""
    text = repr(value) if not is_integer(value) or abs(value) < 10**30 else "a huge number"
    return text if len(text) <= 60 else f"{text[:60]}..."
