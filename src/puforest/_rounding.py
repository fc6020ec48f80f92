"""Rounding of estimates to the digits that their intervals support."""

import math

# Decimals of fractions. Fewer than two look like counts; more are never supported by data.
LEAST, MOST = 2, 4


def decimals(low: float, high: float) -> int:
    """Return the number of decimals for a fraction that is estimated between `low` and `high`.

    The last digit is worth at most a quarter of the interval, except that there are at least two.
    """
    return min(MOST, max(LEAST, _supported(low, high, 4)))


def _supported(low: float, high: float, parts: int) -> int:
    """Return the fewest decimals, negative for zeros before the point, that tell `parts` apart."""
    width = high - low
    return math.ceil(-math.log10(width / parts)) if 0 < width < math.inf else MOST


def fraction_text(value: float, low: float, high: float) -> str:
    """Write a fraction that is estimated to be between `low` and `high`."""
    return f"{value:.{decimals(low, high)}f}"


def range_text(low: float, high: float) -> str:
    """Write an interval of a fraction."""
    digits = decimals(low, high)
    return f"{low:.{digits}f} to {high:.{digits}f}"


def count_text(value: float, low: float, high: float) -> str:
    """Write a count that is estimated to be between `low` and `high`."""
    return f"{round(value, min(0, _supported(low, high, 10))):,.0f}"
