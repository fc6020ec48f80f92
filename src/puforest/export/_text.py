"""Trees as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from puforest.export._nodes import Node, Reader
from puforest.export._trees import fitted

# Longer node labels do not widen the column; their numbers follow without alignment.
WIDEST = 60

# Deeper nodes show their depth instead of more indentation: otherwise the text of a tree with one
# long path would grow with the square of its nodes.
DEEPEST_INDENT = 30

COLUMNS = ("W_p", "W_u", "posterior", "labeled", "unlabeled")


def to_text(
    model: Any,
    tree: int = 0,
    *,
    max_depth: int | None = None,
    feature_names: Iterable[str] | None = None,
    digits: int | None = 4,
) -> str:
    """Export a tree as text, one line per node.

    Each line shows the condition for a row to reach the node from its parent; the masses ``W_p``
    and ``W_u``, the estimated fractions of the population that reach the node and are positive, and
    that reach it at all; the posterior, ``W_p / W_u`` clipped to [0, 1]; the numbers of labeled and
    unlabeled training rows; and, for leaves, the class they vote for. Leaves of a
    `PUForestClassifier` do not vote; the last column is their value, the fraction of the labeled
    rows in the leaf divided by the sum of this and the fraction of the population. Nodes below
    depth 30 are indented like those at depth 30, with their depth in brackets, as in
    ``|--[31] x0 <= 4``.

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
        Significant digits of thresholds, masses and posteriors. None writes exact values: the
        fewest digits that restore the same float64.

    Returns
    -------
    str
        The text.

    See Also
    --------
    text_lines : Iterate over the lines, for trees too large to hold as one string.

    Examples
    --------
    >>> from puforest import PUDecisionTreeClassifier
    >>> from puforest.export import to_text
    >>> X = [[0.1], [0.2], [0.3], [0.6], [0.7], [0.9]]
    >>> tree = PUDecisionTreeClassifier(prior=0.5).fit(X, [0, 0, 0, 0, 1, 1])
    >>> print(to_text(tree, feature_names=["length"]))
    PUDecisionTreeClassifier  W_p  W_u  posterior  labeled  unlabeled  vote
    all rows                  0.5    1        0.5        2          4
    |-- length <= 0.25          0  0.5          0        0          2  0
    |-- length > 0.25         0.5  0.5          1        2          2  1
    """
    reader = Reader(fitted(model, "to_text"), tree, max_depth, feature_names, digits)
    return "\n".join(_lines(reader))


def text_lines(
    model: Any,
    tree: int = 0,
    *,
    max_depth: int | None = None,
    feature_names: Iterable[str] | None = None,
    digits: int | None = 4,
) -> Iterator[str]:
    """Iterate over the lines of `to_text`.

    Parameters
    ----------
    model, tree, max_depth, feature_names, digits
        See `to_text`.

    Returns
    -------
    iterator of str
        Lines without newline characters.

    Examples
    --------
    >>> from puforest import PUDecisionTreeClassifier
    >>> from puforest.export import text_lines
    >>> X = [[0.1], [0.2], [0.3], [0.6], [0.7], [0.9]]
    >>> tree = PUDecisionTreeClassifier(prior=0.5).fit(X, [0, 0, 0, 0, 1, 1])
    >>> sum(1 for line in text_lines(tree))
    4
    """
    return _lines(Reader(fitted(model, "text_lines"), tree, max_depth, feature_names, digits))


def _lines(reader: Reader) -> Iterator[str]:
    """Format the nodes in two passes: the first one finds the column widths."""

    def entries() -> Iterator[tuple[str, tuple[str, ...]]]:
        return chain([(reader.title, (*COLUMNS, reader.outcome))], map(_entry, reader.nodes()))

    wide, widths = 0, [0] * len(COLUMNS)
    for label, columns in entries():
        wide = max(wide, len(label)) if len(label) <= WIDEST else wide
        widths = [max(w, len(cell)) for w, cell in zip(widths, columns[:-1], strict=True)]
    for label, columns in entries():
        aligned = map(str.rjust, columns, widths)
        yield "  ".join([label.ljust(wide), *aligned, columns[-1]]).rstrip()


def _entry(node: Node) -> tuple[str, tuple[str, ...]]:
    """Return the label of a node and its columns."""
    end = f"... {node.n_below} nodes below" if node.n_below else node.outcome
    columns = (node.w_p, node.w_u, node.posterior, node.labeled, node.unlabeled, end)
    return _indent(node.depth) + node.condition, columns


def _indent(depth: int) -> str:
    if depth == 0:
        return ""
    if depth <= DEEPEST_INDENT:
        return "|   " * (depth - 1) + "|-- "
    return "|   " * (DEEPEST_INDENT - 1) + f"|--[{depth}] "
