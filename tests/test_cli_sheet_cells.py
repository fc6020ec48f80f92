"""Cells, names and codes of check sheets."""

from dataclasses import replace

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from puforest.cli.sheets._cells import readable, row_code
from puforest.cli.sheets._layout import (
    RESERVED,
    Origin,
    as_plain_text,
    fingerprint,
    name_in_sheet,
    name_in_table,
)
from puforest.cli.sheets._match import same_cell

ORIGIN = Origin(6, 12, "rows.csv", "model.puf", "bcdfghjklm", 3)


@pytest.mark.parametrize(
    ("shown", "stored", "same"),
    [
        ("1", "1.0", True),
        ("0,33", "0.3333333", True),
        ("0.33", "0.36", False),
        ("1,23457E+15", "1234567890123456", True),
        ("7", "007", True),
        ("'-x", "-x", True),
        ("", "", True),
        ("", "0", False),
        ("a", "A ", True),
        ("a", "b", False),
        ("nan", "1", False),
        ("1e999999999", "1", False),
        ("1e-999999999", "0", False),
        ("TRUE", "true", True),
    ],
)
def test_cells_that_stand_for_each_other(shown, stored, same):
    assert same_cell(shown, stored) == same


@given(name=st.sampled_from([*RESERVED, "Row", "=a", "-", "age"]), n=st.integers(0, 3))
def test_names_of_columns(name, n):
    name += " (data)" * n
    shown = name_in_sheet(name)
    assert shown.lower() not in RESERVED
    assert not shown.startswith("=")
    assert name_in_table(shown) == name


def test_origins():
    for origin in (ORIGIN, replace(ORIGIN, n_before=7), replace(ORIGIN, out_of_bag=True)):
        assert Origin.parse(str(origin)) == origin
        assert Origin.parse(f"  {origin}".replace(" ", "  ")) == origin
    odd = replace(ORIGIN, table="a, chosen by b (bcdfghjklm), seed 1.csv")
    assert Origin.parse(str(odd)).n_rows == 12


@given(st.dictionaries(st.text(), st.one_of(st.text(), st.none(), st.floats())))
def test_codes_do_not_depend_on_the_order(cells):
    code = row_code(cells)
    assert code == row_code(dict(reversed(cells.items())))
    assert code != row_code(cells | {"another": 1})
    assert code.isalpha()
    assert len(code) == 10


def test_fingerprints_tell_files_apart(tmp_path):
    (tmp_path / "a").write_bytes(b"x" * 3_000_000)
    (tmp_path / "b").write_bytes(b"x" * 2_999_999 + b"y")
    assert fingerprint(tmp_path / "a") != fingerprint(tmp_path / "b")


def test_readable_cells():
    values = pa.array([1_700_000_000_000_000, 86_400_000_000 * 3], pa.timestamp("us")).to_pylist()
    assert [readable(value) for value in values] == ["2023-11-14 22:13:20", "1970-01-04"]
    assert readable(pa.scalar(3, pa.date32()).as_py()) == "1970-01-04"
    assert [readable(v) for v in (1 / 3, 2.0, None, True, " a ", 5, float("nan"))] == [
        "0.333333", "2", "", "true", "a", "5", ""
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["=1+1", "+x", "@sum", "-cmd"])
def test_formulas_are_text(text):
    assert as_plain_text(text) == "'" + text
    assert as_plain_text("-1.5") == "-1.5"
