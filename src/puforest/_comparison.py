"""Comparison of the candidates of a `PUForestClassifier`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from puforest.recipes import Recipe


@dataclass(frozen=True)
class Compared:
    """A candidate in the comparison.

    Attributes
    ----------
    recipe : Recipe
        The recipe.
    auc : float
        Out-of-bag estimate of the area under the ROC curve, with the highest-ranked rows tied: as
        many as there are positives.
    standard_error : float
        Standard error of the AUC.
    behind : float
        AUC of the best candidate minus that of this one.
    behind_error : float
        Standard error of that difference.
    seconds : float
        Time spent on the candidate.
    n_trees : int
        Number of its trees in the model; 0 if it was not kept.
    """

    recipe: Recipe
    auc: float
    standard_error: float
    behind: float
    behind_error: float
    seconds: float
    n_trees: int

    @property
    def kept(self) -> bool:
        """True if the trees of the candidate are part of the model."""
        return self.n_trees > 0


class Comparison(tuple[Compared, ...]):
    """Candidates of a fit, as a tuple that prints as a table.

    ``pandas.DataFrame(list(comparison))`` makes a data frame of it.
    """

    def with_trees(self, n_trees: Mapping[Recipe, int]) -> Comparison:
        """Return the same comparison with other numbers of trees, 0 for recipes not listed."""
        return Comparison(replace(row, n_trees=n_trees.get(row.recipe, 0)) for row in self)

    def __str__(self) -> str:
        head = ("recipe", "AUC", "behind the best", "seconds", "trees")
        lines = [head, *map(_cells, self)]
        widths = [max(len(line[j]) for line in lines) for j in range(len(head))]
        return "\n".join(
            "  ".join(
                cell.ljust(width) if j == 0 else cell.rjust(width)
                for j, (cell, width) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in lines
        )


def _cells(row: Compared) -> tuple[str, ...]:
    return (
        str(row.recipe),
        f"{row.auc:.4f} ± {row.standard_error:.4f}",
        f"{row.behind:.4f} ± {row.behind_error:.4f}" if row.behind > 0 else "best",
        f"{row.seconds:.2f}",
        f"{row.n_trees}" if row.kept else "not kept",
    )
