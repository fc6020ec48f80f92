"""Check sheets survive spreadsheet programs, and never match another row."""

import csv
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from check_sheets import Sheet, fill, read_sheet, save_sheet
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from table_files import opened

from puforest.cli.sheets._layout import (
    RESERVED,
    Origin,
)
from puforest.cli.sheets._match import match_verdicts
from puforest.cli.sheets._read import holds_verdicts, read_verdicts
from puforest.cli.sheets._write import ChosenRow, write_sheet

ORIGIN = Origin(6, 12, "rows.csv", "model.puf", "bcdfghjklm", 3)
DESIGN = "random n=6 rate=0.5"
CHOSEN = (1, 2, 5, 8, 9, 12)
POSITIVE = {2, 8, 12}

YES = ("yes", "Yes", "Y", "1", "1.0", "1,0", "TRUE", "true", "Positive", " yes ", "t")
NO = ("no", "NO", "n", "0", "0.0", "0,0", "FALSE", "False", "negative", "neg ", "-1")


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """A table with cells that spreadsheet programs change."""
    n = np.arange(12)
    columns = {
        "id": [f"{i:03}" for i in n],
        "size": n / 7,
        "day": [f"2024-01-{i + 1:02}" for i in n],
        "part": [f"{i}-{i + 1}" for i in n],
        "note": [f'=x, "{i}"; ünt' for i in n],
        "row": n * 10,
        "flag": [str(i % 2 == 0).lower() for i in n],
    }
    path = tmp_path_factory.mktemp("sheets") / "rows.csv"
    pyarrow.csv.write_csv(pa.table(columns), path)
    return path


@pytest.fixture(scope="module")
def sheet(table):
    """The sheet that asks for verdicts on some rows of the table."""
    cells = pa.csv.read_csv(
        table,
        convert_options=pa.csv.ConvertOptions(
            column_types=dict.fromkeys(
                ["id", "size", "day", "part", "note", "row", "flag"], "string"
            )
        ),
    ).to_pylist()
    rows = [ChosenRow(i, 0.25, 0.5, cells[i - 1]) for i in CHOSEN]
    path = table.parent / "to-check.csv"
    write_sheet(path, rows, DESIGN, ORIGIN, delimiter=",", point=".")
    return read_sheet(path)


def verdicts_of(path, table, labeled=None):
    labeled = np.zeros(12, int) if labeled is None else labeled
    return match_verdicts([path], opened(table), labeled)


def expected(rows=CHOSEN):
    checked = np.full(12, np.nan)
    for row in rows:
        checked[row - 1] = row in POSITIVE
    return checked


def answer(row):
    return "yes" if row in POSITIVE else "no"


def test_what_a_sheet_shows(sheet):
    shown = ["id", "size", "day", "part", "note", "row (data)", "flag"]
    assert sheet.header == [
        "verdict", "row", *shown, "probability", "selection_probability", "design", "origin", "code"
    ]  # fmt: skip
    assert sheet.rows[0]["verdict"] == ""
    assert sheet.column("row") == [str(i) for i in CHOSEN]
    assert sheet.rows[1]["id"] == "001"
    assert sheet.rows[1]["day"] == "2024-01-02"
    assert sheet.rows[1]["note"] == '\'=x, "1"; ünt'  # not a formula
    assert sheet.rows[1]["row (data)"] == "10"
    assert set(sheet.column("design")) == {DESIGN}
    assert set(sheet.column("origin")) == {str(ORIGIN)}


def comma(text):
    return text.replace(".", ",")


@st.composite
def saved_sheets(draw):
    """Ways to fill in and to save a sheet, and the rows that have a verdict."""
    answered = draw(st.sets(st.sampled_from(CHOSEN), min_size=1))
    words = {
        row: draw(st.sampled_from(YES if row in POSITIVE else NO)) if row in answered else
        draw(st.sampled_from(["", " ", "\u00a0"]))
        for row in CHOSEN
    }  # fmt: skip
    delimiter = draw(st.sampled_from([",", ";", "\t", "|"]))
    encoding = draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "cp1252"]))
    return {
        "words": words,
        "left_out": draw(st.sets(st.sampled_from(CHOSEN))) - answered,
        "order": draw(st.permutations(range(len(CHOSEN)))),
        "columns": draw(st.randoms(use_true_random=False)),
        "decimal_commas": draw(st.booleans()),
        "extra": draw(st.booleans()),
        "capitals": draw(st.booleans()),
        "dialect": {
            "delimiter": delimiter,
            "encoding": encoding,
            "end": draw(st.sampled_from(["\n", "\r\n", "\r"])),
            "quoting": draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])),
            "before": draw(st.sampled_from(["", "Please check these rows\n", "\n\n"])),
            "blank_lines": draw(st.sampled_from([0, 1, 2000])),
        },
    }, answered


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(case=saved_sheets())
def test_round_trips(case, table, sheet, tmp_path):
    how, answered = case
    numbers = ("size", "probability", "selection_probability")
    rows = []
    for i in how["order"]:
        row = dict(sheet.rows[i])
        if int(row["row"]) in how["left_out"]:
            continue
        row["verdict"] = how["words"][int(row["row"])]
        if how["decimal_commas"]:
            row |= {name: comma(row[name]) for name in numbers}
            row["row"] += ",0"
        # What Excel makes of the cells.
        row["day"] = ".".join(reversed(row["day"].split("-")))
        row["part"] = "04. Mrz"
        row["flag"] = "WAHR"
        if how["extra"]:
            row["remark"] = "looks odd; very"
        rows.append(row)
    header = list(rows[0])
    how["columns"].shuffle(header)
    if how["capitals"]:
        rows = [
            {name.upper() if name in RESERVED else name: c for name, c in r.items()} for r in rows
        ]
        header = [name.upper() if name in RESERVED else name for name in header]
    path = save_sheet(Sheet(header, rows), tmp_path / "filled.csv", **how["dialect"])
    found = verdicts_of(path, table)
    np.testing.assert_array_equal(found.checked, expected(answered))
    assert found.rounds[0].n_answered == len(answered)
    assert holds_verdicts(path)


def test_hints_for_excel(sheet, table, tmp_path):
    path = save_sheet(sheet.answered(answer), tmp_path / "f.csv", delimiter=";", before="sep=;\r\n")
    np.testing.assert_array_equal(verdicts_of(path, table).checked, expected())


def test_probabilities_account_for_missing_verdicts(sheet, table, tmp_path):
    path = save_sheet(sheet.answered(answer), tmp_path / "all.csv")
    everything = verdicts_of(path, table)
    assert not everything.remarks
    np.testing.assert_allclose(everything.probability({}), 0.5)
    half = sheet.answered(lambda row: answer(row) if row < 8 else "")
    some = verdicts_of(save_sheet(half, tmp_path / "half.csv"), table)
    np.testing.assert_allclose(some.probability({}), 0.25)
    assert "3 of 6 rows that were chosen have no verdict" in some.remarks[0]


def test_parts_of_a_round_are_one_round(sheet, table, tmp_path):
    """Two people share the work."""
    full = sheet.answered(answer)
    parts = [
        save_sheet(Sheet(full.header, full.rows[i : i + 3]), tmp_path / f"{i}.csv") for i in (0, 3)
    ]
    found = match_verdicts(parts, opened(table), np.zeros(12, int))
    np.testing.assert_array_equal(found.checked, expected())
    assert [chosen.n_answered for chosen in found.rounds] == [6]


def test_rounds_combine_their_probabilities(sheet, table, tmp_path):
    first = save_sheet(sheet.answered(answer), tmp_path / "1.csv")
    rows = [
        row | {"origin": str(replace(ORIGIN, seed=4)), "design": "random n=6 rate=0.25"}
        for row in sheet.rows
    ]
    second = save_sheet(Sheet(sheet.header, rows).answered(answer), tmp_path / "2.csv")
    found = match_verdicts([first, second], opened(table), np.zeros(12, int))
    np.testing.assert_allclose(found.probability({}), 1 - 0.5 * 0.75)
    # In one file as well.
    both = Sheet(sheet.header, [*sheet.rows, *rows]).answered(answer)
    found = verdicts_of(save_sheet(both, tmp_path / "both.csv"), table)
    np.testing.assert_allclose(found.probability({}), 1 - 0.5 * 0.75)


def test_appended_sheets(sheet, table, tmp_path):
    """One after the other, with both headers."""
    full = sheet.answered(answer)
    parts = [Sheet(full.header, full.rows[i : i + 3]) for i in (0, 3)]
    text = b"".join(save_sheet(part, tmp_path / "f.csv").read_bytes() for part in parts)
    (tmp_path / "f.csv").write_bytes(text)
    np.testing.assert_array_equal(verdicts_of(tmp_path / "f.csv", table).checked, expected())


def test_designs_by_score(sheet, table, tmp_path):
    rows = [row | {"design": "top n=6 cut=0.7 tie=0.5"} for row in sheet.rows]
    path = save_sheet(Sheet(sheet.header, rows).answered(answer), tmp_path / "top.csv")
    found = verdicts_of(path, table)
    assert found.rounds[0].needs_scores
    score = np.repeat([0.9, 0.7, 0.1], 4)
    np.testing.assert_allclose(
        found.probability({ORIGIN.scored_by: score}), np.repeat([1, 0.5, 0], 4)
    )


def refused(path, table, labeled=None):
    with pytest.raises((ValueError, OSError)) as error:
        verdicts_of(path, table, labeled)
    return str(error.value)


@pytest.mark.parametrize("word", ["x", "?", "maybe", "2", "ja", "yes!", "n/a", "1e400", "-"])
def test_unknown_verdicts_name_the_row(sheet, table, tmp_path, word):
    path = save_sheet(sheet.answered(lambda row: word if row == 8 else ""), tmp_path / "f.csv")
    assert f"line 5, row 8: the verdict {word!r} is neither yes nor no" in refused(path, table)


def test_verdicts_that_contradict_labels(sheet, table, tmp_path):
    labeled = np.zeros(12, int)
    labeled[[1, 4]] = 1
    path = save_sheet(sheet.answered(answer), tmp_path / "f.csv")
    said = refused(path, table, labeled)
    assert "row 5: the verdict is negative, but the row is labeled positive" in said
    labeled[4] = 0
    found = verdicts_of(path, table, labeled)
    assert "labeled after they were chosen count as checked: row 2" in found.remarks[0]
    assert found.checked[1] == 1
    assert found.labeled[1] == 0
    assert labeled[1] == 1  # the caller's array stays as it is


def test_contradicting_verdicts(sheet, table, tmp_path):
    one = save_sheet(sheet.answered(answer), tmp_path / "1.csv")
    two = save_sheet(sheet.answered(lambda row: "no"), tmp_path / "2.csv")
    with pytest.raises(
        ValueError, match=r"2\.csv, line 3, row 2: the verdict is negative, but pos"
    ):
        match_verdicts([one, two], opened(table), np.zeros(12, int))


def changed(table, path, change):
    read = pa.csv.read_csv(
        table, convert_options=pa.csv.ConvertOptions(column_types={"id": pa.string()})
    )
    pyarrow.csv.write_csv(change(read), path)
    return path


def test_changed_tables_are_refused(sheet, table, tmp_path):
    path = save_sheet(sheet.answered(answer), tmp_path / "f.csv")
    swapped = changed(table, tmp_path / "s.csv", lambda t: t.take([0, 2, 1, *range(3, 12)]))
    said = refused(path, swapped)
    assert "row 2 is another row now: the column id holds '001' in the sheet, but '002'" in said
    longer = changed(table, tmp_path / "l.csv", lambda t: pa.concat_tables([t, t.slice(0, 1)]))
    assert "had 12 rows, but" in refused(path, longer)
    shorter = changed(table, tmp_path / "h.csv", lambda t: t.slice(0, 11))
    assert "had 12 rows, but" in refused(path, shorter)


def test_tables_in_another_form(sheet, table, tmp_path):
    """Codes do not match the cells, but what the sheet shows does."""
    path = save_sheet(sheet.answered(answer), tmp_path / "f.csv")
    read = pa.csv.read_csv(
        table, convert_options=pa.csv.ConvertOptions(column_types={"id": pa.string()})
    )
    pyarrow.parquet.write_table(read, tmp_path / "rows.parquet")
    found = verdicts_of(path, tmp_path / "rows.parquet")
    np.testing.assert_array_equal(found.checked, expected())
    assert "Rows were identified by id, size" in found.remarks[0]


def test_columns_removed_from_the_sheet(sheet, table, tmp_path):
    few = ["verdict", "row", "design", "origin", "id"]

    def kept(names):
        rows = [{name: row[name] for name in names} for row in sheet.answered(answer).rows]
        return save_sheet(Sheet(names, rows), tmp_path / "f.csv")

    found = verdicts_of(kept(few), table)
    np.testing.assert_array_equal(found.checked, expected())
    assert "Rows were identified by id" in found.remarks[0]
    assert "cannot be identified" in refused(kept(few[:-1]), table)
    for name in few[:2]:
        assert "not a check sheet" in refused(kept([n for n in few if n != name]), table)
    for name in few[2:4]:
        assert f"lacks the column {name}" in refused(kept([n for n in few if n != name]), table)


@pytest.mark.parametrize(
    ("column", "cell", "message"),
    [
        ("row", "", "line 4: the column row is empty"),
        ("row", "5.5", "line 4: the column row holds '5.5', not a row number"),
        ("row", "five", "not a row number"),
        ("row", "inf", "not a row number"),
        ("row", "1e400", "not a row number"),
        ("row", "0", "from a table of 12 rows"),
        ("row", "13", "from a table of 12 rows"),
        ("row", "-5", "from a table of 12 rows"),
        ("design", "", "was not chosen by puforest check"),
        ("origin", "", "was not chosen by puforest check"),
        ("origin", "somewhere", "does not say where rows were chosen from"),
        ("design", "as I like", "column design: the text of a design must look like"),
        ("design", "random n=6 rate=nan", "column design"),
        ("design", "random n=0 rate=1", "column design"),
        ("design", "random n=1e9 rate=1", "column design"),
    ],
)
def test_damaged_cells(sheet, table, tmp_path, column, cell, message):
    filled = sheet.answered(answer)
    rows = [row | {column: cell} if row["row"] == "5" else row for row in filled.rows]
    path = save_sheet(Sheet(sheet.header, rows), tmp_path / "f.csv")
    assert message in refused(path, table)


def test_rows_that_were_added_by_hand(sheet, table, tmp_path):
    rows = [row | {"design": "random n=2 rate=0.5"} for row in sheet.answered(answer).rows]
    path = save_sheet(Sheet(sheet.header, rows), tmp_path / "f.csv")
    assert "6 rows have a verdict, but only 2 were chosen" in refused(path, table)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not a check sheet"),
        (b"a,b\n1,2\n", "not a check sheet"),
        (b"\xff\xfe", "not a check sheet"),
        (b"PK\x03\x04 spreadsheet", "not a check sheet"),
        (b"verdict,row,verdict\n", "2 columns named verdict"),
        (b"verdict,row,design,origin\n,1,,\n", "no verdicts"),
        (b"verdict,row,design,origin\nyes,1,,,,extra\n", "has 6 values, but the header has 4"),
        (b"verdict,row,design,origin\n" + b'"' + b"y" * 200_000 + b'"', "cannot be read"),
        (b"verdict,row,design,origin\nyes\n", "the column row is empty"),
    ],
)
def test_files_that_are_not_filled_sheets(table, tmp_path, content, message):
    path = tmp_path / "f.csv"
    path.write_bytes(content)
    assert message in refused(path, table)


def test_places_that_hold_no_sheet(table, tmp_path):
    assert "no such check sheet" in refused(tmp_path / "none.csv", table)
    assert "is a directory" in refused(tmp_path, table)


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_hostile_sheets_are_errors(data, sheet, table, tmp_path):
    """Bytes replaced, removed or inserted: verdicts, or an error in one line."""
    raw = save_sheet(sheet.answered(answer), tmp_path / "f.csv").read_bytes()
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(raw)))
        end = data.draw(st.integers(start, min(len(raw), start + 40)))
        raw = raw[:start] + data.draw(st.binary(max_size=20)) + raw[end:]
    path = tmp_path / "hostile.csv"
    path.write_bytes(raw)
    try:
        found = verdicts_of(path, table)
    except ValueError:
        return
    given = np.flatnonzero(~np.isnan(found.checked)) + 1
    assert {*given.tolist()} <= {*CHOSEN}


def test_sheets_without_verdicts_may_be_replaced(sheet, tmp_path):
    path = save_sheet(sheet, tmp_path / "empty.csv")
    assert not holds_verdicts(path)
    assert holds_verdicts(fill(path, lambda row: "whatever" if row == 9 else ""))
    damaged = tmp_path / "damaged.csv"
    damaged.write_bytes(b"verdict,row\n,1\n,2,,,x\n")
    assert holds_verdicts(damaged)  # perhaps


def test_reading_says_where(sheet, tmp_path):
    path = save_sheet(sheet.answered(answer), tmp_path / "f.csv")
    verdicts = read_verdicts(path)
    assert [v.row for v in verdicts] == list(CHOSEN)
    assert verdicts[0].where == f"{path}, line 2, row 1"
