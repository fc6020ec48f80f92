"""Trees in the DOT language of Graphviz."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from puforest.export._nodes import Node, Reader
from puforest.export._trees import fitted

# The colors of the plots, for posteriors of 1 and 0; one half is white.
POSITIVE = (0x0B, 0x6E, 0x99)
NEGATIVE = (0xD9, 0x73, 0x0D)
# Opacity at these ends; black text stays readable.
STRONGEST = 0.55

HEAD = """digraph tree {
  graph [label=%s, labelloc=t, fontname="Helvetica", fontsize=14, ranksep=0.4, nodesep=0.25]
  node [shape=box, style="filled,rounded", color="#8a8f98", fontname="Helvetica", fontsize=11,
    margin="0.14,0.07"]
  edge [color="#8a8f98", fontcolor="#5a5f68", fontname="Helvetica", fontsize=10, arrowsize=0.6]"""


def to_dot(
    model: Any,
    tree: int = 0,
    *,
    max_depth: int | None = None,
    feature_names: Iterable[str] | None = None,
    digits: int | None = 4,
) -> str:
    """Export a tree in DOT format for Graphviz.

    Each node shows its split (or, in a leaf, its vote or value, see `to_text`), the posterior, the
    masses W_u and W_p, and the numbers of labeled and unlabeled training rows. The color goes from
    orange (negative) to blue (positive). Render it with ``dot -Tsvg tree.dot -o tree.svg``.

    Parameters
    ----------
    model : fitted estimator
        A puforest forest or tree.
    tree : int, default=0
        Index of the tree in the forest.
    max_depth : int, optional
        Maximum depth to show; None shows the whole tree.
    feature_names : list of str, optional
        Feature names; None uses those seen during fit, or x0, x1, and so on.
    digits : int or None, default=4
        Significant digits of thresholds, masses and posteriors; None writes exact values.

    Returns
    -------
    str
        The tree in DOT format.

    See Also
    --------
    dot_lines : Iterate over the lines, for trees too large to hold as one string.

    Examples
    --------
    >>> from puforest import PUDecisionTreeClassifier
    >>> from puforest.export import to_dot
    >>> X = [[0.1], [0.2], [0.3], [0.6], [0.7], [0.9]]
    >>> tree = PUDecisionTreeClassifier(prior=0.5).fit(X, [0, 0, 0, 0, 1, 1])
    >>> dot = to_dot(tree, feature_names=["length"])
    >>> print(dot[:14], dot.count("->"), "length <= 0.25" in dot)
    digraph tree { 2 True
    """
    reader = Reader(fitted(model, "to_dot"), tree, max_depth, feature_names, digits)
    return "\n".join(_lines(reader))


def dot_lines(
    model: Any,
    tree: int = 0,
    *,
    max_depth: int | None = None,
    feature_names: Iterable[str] | None = None,
    digits: int | None = 4,
) -> Iterator[str]:
    """Iterate over the lines of `to_dot`.

    Parameters
    ----------
    model, tree, max_depth, feature_names, digits
        See `to_dot`.

    Returns
    -------
    iterator of str
        Lines without newline characters.

    Examples
    --------
    >>> from puforest import PUDecisionTreeClassifier
    >>> from puforest.export import dot_lines
    >>> X = [[0.1], [0.2], [0.3], [0.6], [0.7], [0.9]]
    >>> tree = PUDecisionTreeClassifier(prior=0.5).fit(X, [0, 0, 0, 0, 1, 1])
    >>> next(dot_lines(tree))
    'digraph tree {'
    """
    return _lines(Reader(fitted(model, "dot_lines"), tree, max_depth, feature_names, digits))


def _lines(reader: Reader) -> Iterator[str]:
    yield from (HEAD % quoted(reader.title)).split("\n")
    for node in reader.nodes():
        yield f"  n{node.number} [{_attributes(node, reader.outcome)}]"
        if node.parent is not None:
            yield f'  n{node.parent} -> n{node.number} [label=" {node.answer} "]'
    yield "}"


def quoted(*lines: str) -> str:
    """Quote lines as a DOT string.

    Graphviz interprets HTML entities such as ``&lt;`` and backslash escapes in strings.
    """
    escaped = (
        line.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;") for line in lines
    )
    return '"' + "\\n".join(escaped) + '"'


def _attributes(node: Node, outcome: str) -> str:
    leaf = f"{outcome}: {node.outcome}" if node.outcome else ""
    head = leaf or node.test or f"{node.n_below} nodes below"
    label = quoted(
        head,
        f"posterior {node.posterior}",
        f"mass {node.w_u}, positive {node.w_p}",
        f"{node.labeled} labeled, {node.unlabeled} unlabeled",
    )
    style = ', style="filled,rounded,dashed"' if node.n_below else ""
    width = ", penwidth=2" if leaf else ""
    return f'label={label}, fillcolor="{color(node.probability)}"{style}{width}'


def color(posterior: float) -> str:
    """Return the fill color: orange at 0, white at one half, blue at 1."""
    end = POSITIVE if posterior > 0.5 else NEGATIVE
    strength = STRONGEST * abs(2 * posterior - 1)
    mixed = (round(255 + strength * (channel - 255)) for channel in end)
    return "#" + "".join(f"{channel:02x}" for channel in mixed)
