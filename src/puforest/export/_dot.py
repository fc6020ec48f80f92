"""Trees as pictures, in the language of Graphviz."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from puforest.export._nodes import Node, Reader
from puforest.export._trees import fitted

# Those of the plots, for posteriors of 1 and 0; white is one half.
POSITIVE = (0x0B, 0x6E, 0x99)
NEGATIVE = (0xD9, 0x73, 0x0D)
# How much of the color: little enough to read black on it.
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
    """Write a tree in the language of Graphviz.

    Nodes say what leaves vote for or which rows go left; the posterior; the mass W_u and the
    positive mass W_p; the labeled and unlabeled rows of the fit. They are the bluer the more is
    positive, and the more orange the less. ``dot -Tsvg tree.dot -o tree.svg`` draws it.

    Parameters
    ----------
    model : fitted estimator
        A forest or tree of puforest.
    tree : int, default=0
        Which tree of a forest.
    max_depth : int, optional
        Stop after so many splits; None shows all.
    feature_names : list of str, optional
        Names of the features; None takes those of the fit, or x0, x1 and so on.
    digits : int or None, default=4
        Significant digits of thresholds, masses and posteriors; None writes them exactly.

    Returns
    -------
    str
        The picture.

    See Also
    --------
    dot_lines : The same line by line, for pictures that are too long to hold in memory.

    Examples
    --------
    >>> from puforest import PUDecisionTreeClassifier
    >>> from puforest.export import to_dot
    >>> X = [[0.1], [0.2], [0.3], [0.6], [0.7], [0.9]]
    >>> tree = PUDecisionTreeClassifier(prior=0.5).fit(X, [0, 0, 0, 0, 1, 1])
    >>> picture = to_dot(tree, feature_names=["length"])
    >>> print(picture[:14], picture.count("->"), "length <= 0.25" in picture)
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
        As for `to_dot`.

    Returns
    -------
    iterator of str
        The lines, without line ends.

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
    left_seen = set()
    for node in reader.nodes():
        yield f"  n{node.number} [{_look(node)}]"
        if node.parent is not None:
            answer = "no" if node.parent in left_seen else "yes"
            left_seen.add(node.parent)
            yield f'  n{node.parent} -> n{node.number} [label=" {answer} "]'
    yield "}"


def quoted(*lines: str) -> str:
    """A string of Graphviz with these lines.

    It reads ``&lt;`` and its like as characters, also in strings, and a backslash as the
    beginning of a code.
    """
    escaped = (
        line.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;") for line in lines
    )
    return '"' + "\\n".join(escaped) + '"'


def _look(node: Node) -> str:
    head = f"vote: {node.vote}" if node.vote else node.test or f"{node.n_below} nodes below"
    label = quoted(
        head,
        f"posterior {node.posterior}",
        f"mass {node.w_u}, positive {node.w_p}",
        f"{node.labeled} labeled, {node.unlabeled} unlabeled",
    )
    style = ', style="filled,rounded,dashed"' if node.n_below else ""
    width = ", penwidth=2" if node.vote else ""
    return f'label={label}, fillcolor="{color(node.share)}"{style}{width}'


def color(posterior: float) -> str:
    """From orange for 0 over white for one half to blue for 1."""
    end = POSITIVE if posterior > 0.5 else NEGATIVE
    strength = STRONGEST * abs(2 * posterior - 1)
    mixed = (round(255 + strength * (channel - 255)) for channel in end)
    return "#" + "".join(f"{channel:02x}" for channel in mixed)
