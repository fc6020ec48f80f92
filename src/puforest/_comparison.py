"""Comparison of the candidates of a `PUForestClassifier`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from puforest.recipes import Recipe


@dataclass(frozen=True)
class Compared:
    """A candidate in the comparison.

    Attributes
    ----------
    recipe : Recipe
        The recipe.
    auc : float
        Out-of-bag estimate of the area under the ROC curve with infinitely many trees, where the
        highest-ranked rows are tied: as many as there are positives.
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
    seconds: float = field(compare=False)
    n_trees: int

    @property
    def kept(self) -> bool:
        """True if the trees of the candidate are part of the model."""
        return self.n_trees > 0


# Not a subclass of tuple, which skops would load as a plain tuple.
@dataclass(frozen=True)
class Comparison:
    """Candidates of a fit; prints as a table.

    ``pandas.DataFrame(list(comparison))`` makes a data frame of it.

    Attributes
    ----------
    rows : tuple of Compared
        The candidates.
    """

    rows: tuple[Compared, ...]

    def __iter__(self) -> Iterator[Compared]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, i: int) -> Compared:
        return self.rows[i]

    def completed(self, kept: Mapping[Recipe, tuple[int, float]]) -> Comparison:
        """Return the comparison with the final numbers of trees and seconds of the kept recipes."""
        return Comparison(
            tuple(
                replace(row, n_trees=kept[row.recipe][0], seconds=kept[row.recipe][1])
                if row.recipe in kept
                else row
                for row in self.rows
            )
        )

    def recipe_of_tree(self, t: int) -> Recipe:
        """Return the recipe of a tree of the model."""
        ends = np.cumsum([row.n_trees for row in self.rows])
        return self.rows[int(np.searchsorted(ends, t, side="right"))].recipe

    def __str__(self) -> str:
        columns = [
            [title, *map(cell, self.rows)]
            for title, cell in COLUMNS.items()
            if title not in OPTIONAL or any(cell(row) != OPTIONAL[title] for row in self.rows)
        ]
        widths = [max(map(len, column)) for column in columns]
        lines = zip(*columns, strict=True)
        return "\n".join("  ".join(map(str.rjust, line, widths)).rstrip() for line in lines)


# Titles and cells of the printed table.
COLUMNS: dict[str, Callable[[Compared], str]] = {
    "splits": lambda row: row.recipe.splits,
    "growth": lambda row: row.recipe.growth,
    "loss": lambda row: row.recipe.loss,
    "U per P": lambda row: f"{row.recipe.unlabeled_per_labeled:g}",
    "leaf": lambda row: f"{row.recipe.min_samples_leaf}",
    "features": lambda row: str(row.recipe.max_features),
    "AUC": lambda row: f"{row.auc:.4f} ± {row.standard_error:.4f}",
    "behind": lambda row: (
        f"{row.behind:.4f} ± {row.behind_error:.4f}" if row.behind > 0 else "best"
    ),
    "seconds": lambda row: f"{row.seconds:.2f}",
    "trees": lambda row: f"{row.n_trees}" if row.kept else "not kept",
}

# Columns that are left out if all of their cells have this value.
OPTIONAL = {"loss": "quadratic", "features": "sqrt"}
