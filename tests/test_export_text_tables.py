"""Text and DOT of trees with categories, dates and missing values: they can be followed by hand."""

import re

import numpy as np
import pytest
from export_cases import KINDS, fitted, forest_of
from mixed_forests import NAMES, SCHEMA, WORDS, mixed_model, mixed_rows, walked
from numpy.testing import assert_array_equal

from puforest._conditions import label_text
from puforest.export import to_dot, to_text

LINE = r"((?:\|   )*(?:\|-- )?)(.*?)  +(\S+) +(\S+) +(\S+) +(\d+) +(\d+)(?:  (\S.*))?$"


def read(text):
    """Parse the nodes: depth, condition, W_u, posterior."""
    nodes = []
    for line in text.splitlines()[1:]:
        bars, condition, *columns = re.match(LINE, line).groups()
        nodes.append((len(bars) // 4, condition, float(columns[1]), float(columns[2])))
    return nodes


def holds(condition, row):
    """Evaluate a condition; None if the value is missing and the condition does not mention it."""
    condition, mentions = re.fullmatch(r"(.*?)( or missing)?", condition).groups()
    name = next(name for name in NAMES if condition.startswith(f"{name} "))
    j, rest = NAMES.index(name), condition[len(name) + 1 :]
    value = row[j]
    if rest.startswith("is "):
        return np.isnan(value) == (rest == "is missing")
    negated = rest.startswith(("not in ", "!= "))
    if SCHEMA.kind(j) == "category":
        listed = re.fullmatch(r"(?:(?:not )?in \{(.*)\}|!?= (.*))", rest).groups()
        labels = (listed[0] or listed[1]).split(", ")
        is_listed = not np.isnan(value) and label_text(SCHEMA.categories(j)[int(value)]) in labels
        return is_listed != negated
    if np.isnan(value):
        return True if mentions else None
    if SCHEMA.kind(j) == "boolean":
        return rest == f"= {bool(value)}"
    sign, threshold = re.fullmatch(r"(<=|>) (.*?)", rest).groups()
    return (value <= days(threshold)) == (sign == "<=")


def days(text):
    """Read a number, or a date as days since 1970-01-01."""
    if re.match(r"\d{4}-", text):
        time = np.datetime64(text.replace(" ", "T"), "us").astype(np.int64)
        return time / 86_400_000_000
    return float(re.sub(" days.*", "", text))


def follow(nodes, row):
    """Return the leaf of a row."""
    at = 0
    while at + 1 < len(nodes) and nodes[at + 1][0] > nodes[at][0]:
        depth = nodes[at][0] + 1
        left = at + 1
        right = next(k for k in range(left + 1, len(nodes)) if nodes[k][0] == depth)
        answers = [holds(nodes[k][1], row) for k in (left, right)]
        if None in answers and True not in answers:  # missing: to the larger child
            answers = [nodes[left][2] >= nodes[right][2], None]
        at = left if answers[0] else right
    return nodes[at]


@pytest.mark.parametrize("seed", range(4))
def test_text_gives_the_same_predictions(seed):
    model = mixed_model("decision-tree", seed=seed)
    nodes = read(to_text(model, digits=None))
    X = mixed_rows(60, seed=seed)
    assert_array_equal([follow(nodes, row)[3] for row in X], walked(model, X))


@pytest.mark.parametrize("kind", KINDS)
def test_trees_grown_without_missing_values_do_not_mention_them(kind):
    model = fitted(kind)
    for t in range(model._forest.n_trees):
        assert "missing" not in to_text(model, t)


def stump(split, left_mass):
    nodes = [split | {"left": 1, "w_p": 0.4, "w_u": 1.0}]
    nodes += [{"w_p": 0.2, "w_u": mass} for mass in (left_mass, 1 - left_mass)]
    model = mixed_model("decision-tree")
    model._forest = forest_of([nodes], len(NAMES))
    return model


def test_long_lists_are_shortened_unless_the_text_is_exact():
    model = stump({"feature": 6, "categories": range(300)}, 0.5)
    assert f"word in {{{', '.join(WORDS[:6])}, and 294 more}}" in to_text(model)
    assert f"word in {{{', '.join(WORDS[:300])}}}" in to_text(model, digits=None)
    assert "and 294 more" in to_dot(model)


@pytest.mark.parametrize(
    ("split", "left_mass", "label", "answers"),
    [
        ({"threshold": 1.5, "missing_left": 1}, 0.7, "size <= 1.5", ("yes", "no")),
        ({"threshold": 1.5, "missing_left": 1}, 0.3, "size <= 1.5 or missing", ("yes", "no")),
        ({"threshold": 1.5, "missing_left": 0}, 0.7, "size <= 1.5", ("yes", "no or missing")),
        ({"threshold": np.inf}, 0.7, "size is not missing", ("yes", "no")),
        ({"feature": 1, "categories": [1, 2]}, 0.7, "odor in {anise, fishy}", ("yes", "no")),
        (
            {"feature": 1, "categories": [1], "missing_left": 1},
            0.7,
            "odor != anise",
            ("yes", "no"),
        ),
    ],
)
def test_dot_shows_tests_and_answers(split, left_mass, label, answers):
    dot = to_dot(stump({"feature": 0} | split, left_mass))
    assert f'n0 [label="{label}\\n' in dot
    for child, answer in enumerate(answers, start=1):
        assert f'n0 -> n{child} [label=" {answer} "]' in dot


def test_feature_names_replace_those_of_the_model():
    model = stump({"feature": 1, "categories": [1]}, 0.7)
    names = [f"f{i}" for i in range(len(NAMES))]
    assert "f1 = anise" in to_text(model, feature_names=names)
    assert "f1 = anise" in to_dot(model, feature_names=names)
