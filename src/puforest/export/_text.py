"""Trees as text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from puforest.export._nodes import Reader
from puforest.export._trees import fitted

# Beyond this, the figures of a node come right behind it instead of in columns.
WIDEST = 60


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
    ``W_p / W_u`` within 0 and 1; the labelled and unlabelled rows of the fit; and for leaves the
    class that they vote for.

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

    Examples
    --------
    >>> from puforest import PUDecisionTreeClassifier
    >>> from puforest.export import to_text
    >>> X = [[0.1], [0.2], [0.3], [0.6], [0.7], [0.9]]
    >>> tree = PUDecisionTreeClassifier(prior=0.5).fit(X, [0, 0, 0, 0, 1, 1])
    >>> print(to_text(tree, feature_names=["length"]))
    PUDecisionTreeClassifier  W_p  W_u  posterior  labelled  unlabelled  vote
    all rows                  0.5    1        0.5         2           4
    |-- length <= 0.25          0  0.5          0         0           2  0
    |-- length > 0.25         0.5  0.5          1         2           2  1
    """
    reader = Reader(fitted(model, "to_text"), tree, max_depth, feature_names, digits)
    head = ("W_p", "W_u", "posterior", "labelled", "unlabelled", "vote")
    lines = [(reader.title, head)]
    for node in reader.nodes():
        indent = "" if node.depth == 0 else "|   " * (node.depth - 1) + "|-- "
        end = f"... {node.n_below} nodes below" if node.n_below else node.vote
        figures = (node.w_p, node.w_u, node.posterior, node.labelled, node.unlabelled, end)
        lines.append((indent + node.condition, figures))
    wide = max((len(place) for place, _ in lines if len(place) <= WIDEST), default=0)
    widths = [max(len(figures[i]) for _, figures in lines) for i in range(len(head) - 1)]
    return "\n".join(
        "  ".join([place.ljust(wide), *map(str.rjust, figures, widths), figures[-1]]).rstrip()
        for place, figures in lines
    )
