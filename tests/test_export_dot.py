"""DOT export: Graphviz reads it, and it shows the splits and leaves of the tree."""

import shutil
import subprocess
import xml.etree.ElementTree as ET

import pydot
import pytest
from export_cases import CODINGS, chain, constants, fitted

from puforest.export import to_dot, to_text
from puforest.export._dot import color

pytestmark = pytest.mark.filterwarnings(
    "ignore:.* deprecated - use:DeprecationWarning"  # pydot 4.0 with pyparsing 3.3
)

YES_NO = ((0, "yes"), (1, "no"))
SPECIAL_NAMES = ['say "x"', "back\\slash\\", "<b>&lt;</b>", "naïve β 数", "two\nlines", "\\N & \\l"]


def parsed(text):
    """Return the labels of the nodes, and the edges."""
    (graph,) = pydot.graph_from_dot_data(text)
    nodes = {
        node.get_name(): node.get_label()
        for node in graph.get_nodes()
        if node.get_name().startswith("n") and node.get_name()[1:].isdigit()
    }
    edges = [(e.get_source(), e.get_destination(), e.get_label()) for e in graph.get_edges()]
    return nodes, edges


@pytest.mark.parametrize("coding", CODINGS)
def test_nodes_and_edges_are_those_of_the_tree(coding):
    model = fitted("decision-tree", coding=coding)
    forest = model._forest
    nodes, edges = parsed(to_dot(model, digits=None))
    assert len(nodes) == len(forest.feature)
    expected = set()
    for k in range(len(forest.feature)):
        label = nodes[f"n{k}"]
        assert f"mass {float(forest.w_u[k])!r}, positive {float(forest.w_p[k])!r}" in label
        assert f"{forest.n_labeled[k]} labeled, {forest.n_unlabeled[k]} unlabeled" in label
        if forest.is_leaf[k]:
            vote = model.classes_[int(2 * forest.w_p[k] > forest.w_u[k])]
            assert label.startswith(f'"vote: {vote}\\n')
        else:
            assert label.startswith(f'"x{forest.feature[k]} <= {float(forest.threshold[k])!r}\\n')
            expected |= {(f"n{k}", f"n{forest.left[k] + i}", f'" {a} "') for i, a in YES_NO}
    assert set(edges) == expected


def test_special_characters_in_names_are_escaped():
    model = fitted("decision-tree", coding="objects")
    nodes, _ = parsed(to_dot(model, feature_names=SPECIAL_NAMES))
    assert len(nodes) == len(model._forest.feature)
    written = [
        r"say \"x\"",
        r"back\\slash\\",
        "<b>&amp;lt;</b>",
        "naïve β 数",
        r"two\\nlines",
        r"\\N &amp; \\l",
    ]
    used = set(model._forest.feature[~model._forest.is_leaf])
    assert len(used) > 3
    for name in (written[i] for i in used):
        assert any(label.startswith(f'"{name} <= ') for label in nodes.values()), name


@pytest.mark.skipif(not shutil.which("dot"), reason="Graphviz is not installed")
def test_graphviz_renders_names_verbatim():
    model = fitted("decision-tree")
    svg = subprocess.run(
        ["dot", "-Tsvg"],
        input=to_dot(model, feature_names=SPECIAL_NAMES),
        capture_output=True,
        check=True,
        encoding="utf-8",
    )
    assert svg.stderr == ""
    texts = [t.text for t in ET.fromstring(svg.stdout).iter("{http://www.w3.org/2000/svg}text")]
    shown = {t.replace("\xa0", " ").rsplit(" <= ")[0] for t in texts if " <= " in t}
    used = set(model._forest.feature[~model._forest.is_leaf])
    assert shown == {SPECIAL_NAMES[i].replace("\n", "\\n") for i in used}


def test_max_depth():
    model = fitted("decision-tree")
    text = to_dot(model, max_depth=1)
    assert len(parsed(text)[0]) == 3
    assert "nodes below" in text
    assert "dashed" in text
    assert "nodes below" not in to_dot(model)


def test_extreme_shapes():
    nodes, edges = parsed(to_dot(constants()))
    assert len(nodes) == 1
    assert not edges
    assert to_dot(chain(1500)).count("->") == 3000


def test_colors_go_from_orange_through_white_to_blue():
    assert color(0.5) == "#ffffff"
    red, blue = ([int(color(p / 10)[i : i + 2], 16) for p in range(11)] for i in (1, 5))
    assert red == sorted(red[:6]) + sorted(red[6:], reverse=True)
    assert red[10] < blue[10]
    assert red[0] > blue[0]


def test_tree_and_digits():
    model = fitted("random-forest")
    assert "tree 2 of 0 to 11" in to_dot(model, 2)
    assert to_dot(model, 2) != to_dot(model, 3)
    assert to_dot(model, digits=2) != to_dot(model)
    assert to_text(model, 2) != to_text(model, 3)
