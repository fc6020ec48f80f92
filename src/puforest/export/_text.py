"""Trees as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from puforest.export._nodes import Node, Reader
from puforest.export._trees import fitted

# Beyond this, the figures of a node come right behind it instead of in columns.
WIDEST = 60

# Deeper nodes are indented no further and say their depth instead: the text of a tree with one
# long path would otherwise grow with the square of its nodes.
DEEPEST_INDENT = 30

COLUMNS = ("W_p", "W_u", "posterior", "labeled", "unlabeled", "vote")


def to_text(
    model: Any,
    tree: int = 0,
    *,
    max_depth: int | None = None,
    feature_names: Iterable[str] | None = None,
    digits: int | None = 4,
) -> str:
    """Write a tree as text, a line for each node.

    A line says under which condition its parent sends rows there; the masses ``W_p`` and ``W_u``,
    estimated shares of the population that are "here and positive" and "here"; the posterior,
    ``W_p / W_u`` within 0 and 1; the labeled and unlabeled rows of the fit; and for leaves the
    class that they vote for. Nodes below depth 30 are indented like those at depth 30, and their
    depth is written out, as in ``|--[31] x0 <= 4``.

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
        Significant digits of thresholds, masses and posteriors. None writes them exactly: the
        fewest digits that read back as the same float64.

    Returns
    -------
    str
        The text.

    See Also
    --------
    text_lines : The same line by line, for texts that are too long to hold in memory.

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
        As for `to_text`.

    Returns
    -------
    iterator of str
        The lines, without line ends.

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
    """Two passes over the nodes: the first one finds the widths of the columns."""

    def entries() -> Iterator[tuple[str, tuple[str, ...]]]:
        return chain([(reader.title, COLUMNS)], map(_entry, reader.nodes()))

    wide, widths = 0, [0] * (len(COLUMNS) - 1)
    for place, figures in entries():
        wide = max(wide, len(place)) if len(place) <= WIDEST else wide
        widths = [max(w, len(figure)) for w, figure in zip(widths, figures[:-1], strict=True)]
    for place, figures in entries():
        columns = map(str.rjust, figures, widths)
        yield "  ".join([place.ljust(wide), *columns, figures[-1]]).rstrip()


def _entry(node: Node) -> tuple[str, tuple[str, ...]]:
    """Where a node is, and its figures."""
    end = f"... {node.n_below} nodes below" if node.n_below else node.vote
    figures = (node.w_p, node.w_u, node.posterior, node.labeled, node.unlabeled, end)
    return _indent(node.depth) + node.condition, figures


def _indent(depth: int) -> str:
    if depth == 0:
        return ""
    if depth <= DEEPEST_INDENT:
        return "|   " * (depth - 1) + "|-- "
    return "|   " * (DEEPEST_INDENT - 1) + f"|--[{depth}] "
