"""Duplicate rows of tables of every type."""

import numpy as np
import pandas as pd
import pytest
from messy_tables import FORMS, messy_frame
from numpy.testing import assert_array_equal

from puforest._duplicate_rows import duplicate_groups, labeled_duplicates
from puforest._encoded import EncodedTable
from puforest._named_table import NamedTable


@pytest.mark.parametrize("form", FORMS)
def test_groups_of_tables(form):
    frame, _, _ = messy_frame(30)
    rows = np.r_[0:30, 7, 3, 7]
    table = FORMS[form](frame.iloc[rows].reset_index(drop=True))
    assert_array_equal(duplicate_groups(table), rows)


def test_missing_values_are_equal():
    nans = np.array([0x7FF8000000000000, 0xFFF8000000000001, 0x7FF8000000000002], dtype="u8")
    X = np.column_stack([nans.view("f8"), [1.0, 1.0, 2.0]])
    assert duplicate_groups(X).tolist() == [0, 0, 1]
    assert duplicate_groups(EncodedTable(X)).tolist() == [0, 0, 1]
    assert duplicate_groups(NamedTable(X, ["a", "b"])).tolist() == [0, 0, 1]
    gaps = pd.DataFrame({"a": ["x", None, "", None], "b": [1, 2, 2, 2]})
    assert duplicate_groups(gaps).tolist() == [0, 1, 2, 1]


def test_zeros_are_equal():
    assert duplicate_groups([[0.0], [-0.0], [1.0]]).tolist() == [0, 0, 1]


def test_identifiers_are_compared_without_a_warning():
    ids = pd.DataFrame({"id": [f"{i}" for i in range(70_000)]})
    assert duplicate_groups(ids)[-1] == 69_999


def test_labeled_duplicates():
    labeled = np.array([True, True, False, False])
    frame = pd.DataFrame({"a": ["x", "y", "x", "z"]})
    assert labeled_duplicates(frame, labeled) == 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_groups_of_many_rows(dtype):
    rng = np.random.default_rng(0)
    distinct = rng.integers(0, 2, (3000, 40)).astype(dtype)
    distinct[:, :12] = np.arange(3000)[:, None] >> np.arange(12) & 1
    group = np.concatenate([np.arange(3000), rng.integers(0, 3000, 2000)])
    assert_array_equal(duplicate_groups(distinct[group]), group)
    assert_array_equal(duplicate_groups(np.asfortranarray(distinct[group])), group)
    mirrored = np.array([[1, 0], [0, 1], [1, 1], [0, 0]], dtype=dtype)
    assert_array_equal(duplicate_groups(mirrored), range(4))
