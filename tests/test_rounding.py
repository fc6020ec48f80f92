"""Rounding: no more digits than an interval supports."""

import pytest

from puforest._rounding import count_text, decimals, fraction_text, range_text
from puforest.metrics._prior import at_most


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(0.2, 0.9, 2), (0.83, 0.92, 2), (0.85, 0.88, 3), (0.851, 0.853, 4), (0.5, 0.5, 4)],
)
def test_decimals_follow_the_width(low, high, expected):
    assert decimals(low, high) == expected


def test_texts():
    assert fraction_text(0.8734, 0.832, 0.921) == "0.87"
    assert range_text(0.86312, 0.88279) == "0.863 to 0.883"
    assert count_text(74.3, 51, 98) == "74"
    assert count_text(12_345, 9_876, 15_432) == "12,300"
    assert at_most(0.3381) == "at most 0.34"
    assert at_most(0.34) == "at most 0.34"
    assert at_most(0.0212) == "at most 0.022"
