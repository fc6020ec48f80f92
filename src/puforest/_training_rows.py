"""Labels and weights as the rows of a fit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from puforest import _core
from puforest import _validation as check
from puforest._warnings import warn

# Larger fractions of labeled rows cause a warning.
MAX_LABELED_FRACTION = 0.9


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """Rows of a fit, labeled ones first, and their weights."""

    classes: NDArray[Any]
    order: NDArray[np.uint32]
    n_labeled: int
    weight: NDArray[np.float64]  # by position in order
    propensity: NDArray[np.float64] | None  # of the labeled rows
    fold: NDArray[np.uint8] | None = None  # by position in order

    @property
    def n_unlabeled(self) -> int:
        return len(self.order) - self.n_labeled

    @property
    def labeled_weight(self) -> NDArray[np.float64]:
        return self.weight[: self.n_labeled]

    @property
    def positive_weight(self) -> NDArray[np.float64]:
        """Weights of the labeled rows as a sample of the positives."""
        w = self.labeled_weight
        return w if self.propensity is None else w / self.propensity

    @property
    def unlabeled_weight(self) -> NDArray[np.float64]:
        return self.weight[self.n_labeled :]

    def at(self, positions: NDArray[np.intp]) -> TrainingRows:
        """Return the rows at ascending positions."""
        n = int(np.searchsorted(positions, self.n_labeled))
        return replace(
            self,
            order=self.order[positions],
            n_labeled=n,
            weight=self.weight[positions],
            propensity=None if self.propensity is None else self.propensity[positions[:n]],
            fold=None if self.fold is None else self.fold[positions],
        )

    def native(self) -> _core.TrainingRows:
        """Convert to the core's type, without weights if they are constant within each group."""
        groups = (self.labeled_weight, self.unlabeled_weight)
        if self.propensity is None and all((g == g[0]).all() for g in groups):
            return _core.TrainingRows(self.order, self.n_labeled, fold=self.fold)
        return _core.TrainingRows(
            self.order, self.n_labeled, self.positive_weight, self.weight, self.fold
        )


def training_rows(
    y: NDArray[Any], sample_weight: ArrayLike | None, propensity: ArrayLike | None, *, risk: str
) -> TrainingRows:
    """Read labels and weights; rows of weight zero are left out."""
    larger, smaller = ("positive", "negative") if risk == "pn" else ("labeled", "unlabeled")
    classes, labeled = check.labels(y, larger, smaller)
    n = len(labeled)
    weight = np.ones(n) if sample_weight is None else check.weights(sample_weight, n)
    for name, group in ((larger, labeled), (smaller, ~labeled)):
        if not weight[group].any():
            raise ValueError(
                f"sample_weight is zero for all {name} rows: that leaves only one class"
            )
    seen = weight > 0
    order = np.concatenate([np.flatnonzero(labeled & seen), np.flatnonzero(~labeled & seen)])
    n_labeled = int(np.count_nonzero(labeled & seen))
    e = None
    if propensity is not None:
        if risk == "pn":
            raise ValueError(
                "propensity is the probability that a positive row is labeled, and cannot be used "
                "with risk='pn', where all rows are labeled"
            )
        e = check.propensities(propensity, n, order[:n_labeled])
    return TrainingRows(classes, order.astype(np.uint32), n_labeled, weight[order], e)


def warn_if_swapped(rows: TrainingRows) -> None:
    """Warn if nearly all rows are labeled, which suggests that the labels are swapped."""
    n, n_labeled = len(rows.order), rows.n_labeled
    if n_labeled > MAX_LABELED_FRACTION * n:
        warn(
            f"y marks {n_labeled:,} of {n:,} rows as labeled positives "
            f"(y == {rows.classes.tolist()[1]!r}). If these are the unlabeled rows, swap the "
            "labels: the larger value of y means labeled."
        )
