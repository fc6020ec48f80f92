"""Conditions of splits in words."""

import numpy as np
import pytest
from export_cases import forest_of

from puforest._conditions import condition, label_text
from puforest._kinds import BOOLEAN, DATETIME, DURATION, ColumnKind
from puforest._model import Forest
from puforest._schema import FeatureSchema
from puforest._text import rounded

ODORS = ("almond", "anise", "creosote", "fishy", "foul")
NAMES = ("age", "odor", "flag", "seen", "wait", "code", "word")
LONG_WORDS = tuple(f"word-{i:03d}" for i in range(200))
COLUMNS = {
    1: ColumnKind("category", ODORS),
    2: BOOLEAN,
    3: DATETIME,
    4: DURATION,
    5: ColumnKind("category", (1, 2.5, 30)),
    6: ColumnKind("category", LONG_WORDS),
}
SCHEMA = FeatureSchema(len(NAMES), NAMES, COLUMNS)

LARGER_LEFT, LARGER_RIGHT = 0.7, 0.3  # fractions of the mass that goes left


def stump(feature, threshold=0.0, listed=(), *, missing_left=True, left=LARGER_LEFT):
    split = {"feature": feature, "threshold": threshold, "left": 1, "missing_left": missing_left}
    root = {**split, "categories": listed, "w_p": 0.5, "w_u": 1.0}
    leaves = [{"w_p": 0.25, "w_u": left}, {"w_p": 0.25, "w_u": 1 - left}]
    return forest_of([[root, *leaves]], n_features=len(NAMES))


def texts(forest, node=0, **options):
    found = condition(SCHEMA, forest, node, **options)
    assert found.missing_left == bool(forest.missing_left[node])
    return found.left, found.right


@pytest.mark.parametrize(
    ("forest", "left", "right"),
    [
        (stump(0, 41.5), "age <= 41.5", "age > 41.5"),
        (stump(0, 41.54321), "age <= 41.54", "age > 41.54"),
        (stump(0, 1, missing_left=False), "age <= 1", "age > 1 or missing"),
        (stump(0, 1, left=LARGER_RIGHT), "age <= 1 or missing", "age > 1"),
        (stump(0, 1, missing_left=False, left=LARGER_RIGHT), "age <= 1", "age > 1"),
        (stump(0, 1, left=0.5), "age <= 1", "age > 1"),
        (stump(0, np.inf, missing_left=False), "age is not missing", "age is missing"),
        (
            stump(1, listed=[0, 1], missing_left=False),
            "odor in {almond, anise}",
            "odor not in {almond, anise}",
        ),
        (stump(1, listed=[0, 1]), "odor not in {almond, anise}", "odor in {almond, anise}"),
        (stump(1, listed=[4], missing_left=False), "odor = foul", "odor != foul"),
        (stump(2, 0.5), "flag = False", "flag = True"),
        (stump(2, 0.0, missing_left=False), "flag = False", "flag = True or missing"),
        (stump(2, 3.0), "flag <= 3", "flag > 3"),
        (stump(3, 18_690.0), "seen <= 2021-03-04", "seen > 2021-03-04"),
        (stump(3, 18_690.5), "seen <= 2021-03-04 12:00:00", "seen > 2021-03-04 12:00:00"),
        (stump(3, -0.25), "seen <= 1969-12-31 18:00:00", "seen > 1969-12-31 18:00:00"),
        (
            stump(3, 1e9),
            "seen <= 1e+09 days since 1970-01-01",
            "seen > 1e+09 days since 1970-01-01",
        ),
        (stump(4, 3.5), "wait <= 3.5 days", "wait > 3.5 days"),
        (stump(5, listed=[0, 1], missing_left=False), "code in {1, 2.5}", "code not in {1, 2.5}"),
    ],
)
def test_wording(forest, left, right):
    assert texts(forest) == (left, right)


def test_long_lists_are_shortened():
    forest = stump(6, listed=range(1, 161), missing_left=False)
    short, full = texts(forest)[0], texts(forest, full=True)[0]
    listed = ", ".join(LONG_WORDS[1:7])
    assert short == f"word in {{{listed}, and 154 more}}"
    assert full == f"word in {{{', '.join(LONG_WORDS[1:161])}}}"


def test_thresholds_are_exact_on_request():
    for feature, threshold, text in [
        (0, 1 / 3, "age <= 0.3333333333333333"),
        (3, 18_690.0, "seen <= 2021-03-04"),
        (3, 18_690 + 1 / 7, "seen <= 2021-03-04 03:25:42.857143"),
        (3, 18_690 + 2**-38, "seen <= 18690.000000000004 days since 1970-01-01"),
        (4, 1 / 3, "wait <= 0.3333333333333333 days"),
    ]:
        assert texts(stump(feature, threshold), digits=None)[0] == text


def test_names():
    forest = stump(0, 1.0)
    assert condition(SCHEMA, forest, 0).feature == "age"
    assert condition(SCHEMA, forest, 0, name="a\nb").left == "a\\nb <= 1"
    assert condition(FeatureSchema(7), forest, 0).left == "x0 <= 1"


def test_nodes_of_later_trees():
    forest = Forest.joined([stump(0, 1.0), stump(1, listed=[2], missing_left=False)])
    assert texts(forest, 3) == ("odor = creosote", "odor != creosote")
    with pytest.raises(ValueError, match="node 4 is a leaf"):
        condition(SCHEMA, forest, 4)


@pytest.mark.parametrize(
    ("label", "text"),
    [
        ("plain label", "plain label"),
        ("", '""'),
        (" a", '" a"'),
        ("a, b", '"a, b"'),
        ('say "x"', '"say \\"x\\""'),
        ("two\nlines", '"two\\nlines"'),
        (True, "True"),
        (7, "7"),
        (0.1, "0.1"),
    ],
)
def test_labels_are_printable_and_cannot_be_misread(label, text):
    assert label_text(label) == text


def test_long_labels_are_shortened():
    assert label_text("a" * 1000, full=False) == "a" * 37 + "..."
    assert label_text("a" * 1000) == "a" * 1000


def test_digits_before_the_point_are_kept():
    assert [rounded(x) for x in (1234.56, -50_000.4, 10_119, 2e9)] == [
        "1235",
        "-50000",
        "10119",
        "2e+09",
    ]
    assert [rounded(x) for x in (0.0, 1 / 3, 1e-9, np.inf)] == ["0", "0.3333", "1e-09", "inf"]
