"""Text export: following the text by hand gives the same predictions."""

import re
import tracemalloc

import numpy as np
import pytest
from export_cases import CODINGS, KINDS, chain, constants, edge_rows, fitted
from feature_names import with_names
from numpy.testing import assert_array_equal

from puforest.export import dot_lines, text_lines, to_dot, to_text

COLUMNS = r"\s+(\S+)\s+(\S+)\s+(\S+)\s+(\d+)\s+(\d+)(?:  (\S.*))?$"


def read(text):
    """Parse the nodes: depth, feature name, sign, threshold, and the columns."""
    nodes = []
    for line in text.splitlines()[1:]:
        bars, depth, label, *columns = re.match(
            r"((?:\|   )*(?:\|-- )?)(?:\|--\[(\d+)\] )?(.*?)" + COLUMNS, line
        ).groups()
        name, sign, threshold = re.fullmatch(r"(.*?)(?: (<=|>) (\S+))?", label).groups()
        level = int(depth or len(bars) // 4)
        nodes.append((level, name, sign, threshold and float(threshold), *columns))
    return nodes


def follow(nodes, row, names):
    """Return the leaf of a row, taking the sibling whose condition holds at each step."""
    at = 0
    while at + 1 < len(nodes) and nodes[at + 1][0] > nodes[at][0]:
        depth = nodes[at][0] + 1
        at += 1
        while True:
            level, name, sign, threshold = nodes[at][:4]
            if level == depth and (row[names.index(name)] <= threshold) == (sign == "<="):
                break
            at += 1
    return nodes[at]


@pytest.mark.parametrize("coding", CODINGS)
@pytest.mark.parametrize("kind", KINDS)
def test_text_gives_the_same_predictions(kind, coding):
    model = fitted(kind, coding=coding)
    names = ["a", "b <= 2", "c d", "|-- e", "f > 1", "γ"]
    tree = 3 if "n_estimators" in model.get_params() else 0
    alone = model.estimators_[tree] if "n_estimators" in model.get_params() else model
    nodes = read(to_text(model, tree, feature_names=names, digits=None))
    X = edge_rows(alone, np.dtype(float), n=300)
    leaves = [follow(nodes, row, names) for row in X]
    assert_array_equal([leaf[-1] for leaf in leaves], alone.predict(X).astype(str))
    alone.voting = "soft"
    assert_array_equal([float(leaf[6]) for leaf in leaves], alone.predict_proba(X)[:, 1])


def test_columns_match_the_node_fields():
    model = fitted("decision-tree")
    forest = model._forest
    nodes = read(to_text(model, digits=None))
    key = np.lexsort((forest.w_u, forest.w_p))
    ours = np.column_stack([forest.w_p, forest.w_u, forest.n_labeled, forest.n_unlabeled])[key]
    read_back = np.array([[float(node[i]) for i in (4, 5, 7, 8)] for node in nodes])
    assert_array_equal(read_back[np.lexsort((read_back[:, 1], read_back[:, 0]))], ours)


def test_digits():
    model = fitted("decision-tree")
    thresholds = {node[3] for node in read(to_text(model, digits=2))} - {None}
    assert thresholds == {
        float(f"{t:.2g}") for t in model._forest.threshold[~model._forest.is_leaf]
    }
    assert to_text(model, digits=17) != to_text(model)
    for digits in (17, 400):
        exact = {node[3] for node in read(to_text(model, digits=digits))} - {None}
        assert exact == set(model._forest.threshold[~model._forest.is_leaf])


def test_max_depth():
    model = fitted("decision-tree")
    whole = read(to_text(model))
    shown = read(to_text(model, max_depth=1))
    assert [node[:4] for node in shown] == [node[:4] for node in whole if node[0] <= 1]
    hidden = [re.fullmatch(r"\.\.\. (\d+) nodes below", node[-1] or "") for node in shown]
    assert sum(int(match[1]) for match in hidden if match) == len(whole) - len(shown) > 0
    assert len(read(to_text(model, max_depth=0))) == 1


def test_feature_names():
    model = fitted("decision-tree")
    assert "x0 <= " in to_text(model)
    with_names(model, [f"column {i}" for i in range(6)])
    assert "column 0 <= " in to_text(model)
    text = to_text(model, feature_names=["two\nlines", *"bcdef"])
    assert "two\\nlines <= " in text
    assert len(text.splitlines()) == len(to_text(model).splitlines())


def test_lines_match_the_text():
    model = fitted("random-forest")
    options = {"max_depth": 3, "digits": 2, "feature_names": list("abcdef")}
    assert "\n".join(text_lines(model, 2, **options)) == to_text(model, 2, **options)
    with pytest.raises(ValueError, match="tree must be"):
        text_lines(model, 99)  # before the first line is requested


def test_extreme_shapes():
    deep = chain(1200)
    nodes = read(to_text(deep, digits=None))
    assert len(nodes) == 2401
    assert [node[0] for node in nodes] == [0, *np.repeat(range(1, 1201), 2)]
    X = np.array([[-1.0], [28.5], [29.0], [30.0], [31.5], [1199.0], [1200.0]])
    leaves = [follow(nodes, row, ["x0"]) for row in X]
    assert_array_equal([leaf[-1] for leaf in leaves], deep.predict(X).astype(str))
    text = to_text(constants(), tree=1)
    assert text.splitlines()[0].startswith("PUExtraTreesClassifier, tree 1 of 0 to 3")
    assert read(text) == [(0, "all rows", None, None, "0.7", "1", "0.7", "1", "1", "1")]


@pytest.mark.parametrize("export", [to_text, to_dot])
def test_memory_is_linear_in_the_length_of_a_path(export):
    tree = chain(10_000)
    tracemalloc.start()
    try:
        text = export(tree)
        assert tracemalloc.get_traced_memory()[1] < 20 * 2**20  # 200 MB for 100,000 splits
    finally:
        tracemalloc.stop()
    assert len(text) < 400 * 20_000


@pytest.mark.parametrize("lines", [text_lines, dot_lines])
def test_lines_are_not_held_in_memory(lines):
    tree = chain(2000)
    tracemalloc.start()
    try:
        for _ in lines(tree):
            pass
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()
