"""Categories of a model in new columns: matched by label, whatever type the column has."""

import pyarrow as pa
import pytest

from puforest.cli.tables._missing import MissingMarkers
from puforest.cli.tables._values import KnownCategories


def matched(column, labels, missing=(), decimal="."):
    found = KnownCategories(labels, MissingMarkers().changed(missing, ()), decimal).match(column)
    assert found.column.dictionary.to_pylist() == list(labels)
    return found.column.to_pylist(), found.n_missing, found.n_unknown, found.example


@pytest.mark.parametrize(
    ("column", "labels", "expected"),
    [
        (["b", None, " a", "?", "c "], ("a", "b"), ["b", None, "a", None, None]),
        ([" a", "a", "NA"], (" a", "NA", "a"), [" a", "a", "NA"]),
        (["1", "02", "3.0", "x", "4"], (1, 2, 3), [1, 2, 3, None, None]),
        (["0.5", "1", ""], (0.5, 1.5), [0.5, None, None]),
        ([1, 2, None, 9], (1, 2), [1, 2, None, None]),
        ([1.0, float("nan"), 0.5], (1, 2), [1, None, None]),
        ([1, 2, 9], ("1", "2"), ["1", "2", None]),
        ([1.0, 2.5], ("1", "2.5"), ["1", "2.5"]),
        ([True, None], ("false", "true"), ["true", None]),
        ([True, False], (0, 1), [1, 0]),
        ([None, None], ("a",), [None, None]),
        (["a", "?"], (), [None, None]),
    ],
)
def test_categories(column, labels, expected):
    found, n_missing, n_unknown, _ = matched(pa.array(column), labels)
    assert found == expected
    assert n_missing + n_unknown == found.count(None)
    if isinstance(column[0], str):
        assert matched(pa.array(column).dictionary_encode(), labels)[0] == expected
        assert matched(pa.array(column, pa.large_string()), labels)[0] == expected


def test_missing_and_unknown_cells():
    column = pa.array(["a", "?", "new", None, " new ", "newer", "NA"])
    assert matched(column, ("a",)) == (["a", *[None] * 6], 3, 3, "new")
    assert matched(column, ("a",), ["new"]) == (["a", *[None] * 6], 5, 1, "newer")
    assert matched(column, ("a", "new"), ["new"])[0] == ["a", *[None] * 6]
    assert matched(pa.array([1, -9, 5]), (1, -9), ["-9"]) == ([1, None, None], 1, 1, 5)


def test_decimal_commas():
    assert matched(pa.array(["0,5", "1"]), (0.5, 1), decimal=",")[0] == [0.5, 1]
