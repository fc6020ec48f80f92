"""Sums of floats without rounding errors, so that they do not depend on the order of the terms."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

# Floats are integers below 2**53 times a power of two. The integers are cut into two parts, whose
# sums over a block are exact as floats.
DIGITS = 53
LOW_DIGITS = 27
BLOCK = 2**20


def exact_sum(values: NDArray[np.float64]) -> Fraction:
    """Return the exact sum of finite floats.

    Examples
    --------
    >>> from puforest._exact_sum import exact_sum
    >>> float(exact_sum(np.array([1e16, 1.0, -1e16])))
    1.0
    """
    if len(values) and (values == values[0]).all():
        return len(values) * Fraction(float(values[0]))
    blocks = (values[first : first + BLOCK] for first in range(0, len(values), BLOCK))
    return sum(map(_sum_of_block, blocks), Fraction(0))


def _sum_of_block(values: NDArray[np.float64]) -> Fraction:
    mantissa, exponent = np.frexp(values)
    integers = np.ldexp(mantissa, DIGITS).astype(np.int64)
    exponents, group = np.unique(exponent, return_inverse=True)
    high, low = integers >> LOW_DIGITS, integers & (2**LOW_DIGITS - 1)
    total = Fraction(0)
    sums = zip(exponents.tolist(), *(np.bincount(group, part) for part in (high, low)), strict=True)
    for power, sum_high, sum_low in sums:
        integer = (int(sum_high) << LOW_DIGITS) + int(sum_low)
        total += integer * Fraction(2) ** (power - DIGITS)
    return total
