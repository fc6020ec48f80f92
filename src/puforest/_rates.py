"""Formulas in the recall r and the fraction q predicted positive, for numbers and for arrays."""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Number = TypeVar("Number", float, NDArray[np.float64])


def precision(r: Number, q: Number, prior: Number) -> Number:
    return prior * r / q


def f1(r: Number, q: Number, prior: Number) -> Number:
    return 2 * prior * r / (prior + q)


def accuracy(r: Number, q: Number, prior: Number) -> Number:
    return 1 - prior - q + 2 * prior * r
