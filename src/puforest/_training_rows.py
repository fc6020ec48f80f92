"""Labels and weights as the rows of a fit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from puforest import _core
from puforest import _validation as check
from puforest._checks import read_checks
from puforest._exact_sum import exact_sum
from puforest._warnings import warn

# Larger fractions of labeled rows cause a warning.
MAX_LABELED_FRACTION = 0.9


@dataclass(frozen=True)
class Totals:
    """Size of the training data.

    Attributes
    ----------
    labeled, unlabeled : float
        Sum of the sample weights of each group.
    n_unlabeled : int
        Number of unlabeled rows.
    is_weighted : bool
        True if the sample weights within a group differ.
    """

    labeled: float
    unlabeled: float
    n_unlabeled: int
    is_weighted: bool = False


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """Rows of a fit and their weights.

    Labeled rows come first, then unlabeled ones that were checked and found positive, then those
    found negative, then the others. The unlabeled rows can be a part of those of the training data:
    the ones that some tree or the evaluation uses. All labeled rows are there.
    """

    classes: NDArray[Any]
    order: NDArray[np.uint32]
    n_labeled: int
    weight: NDArray[np.float64]  # by position in order
    propensity: NDArray[np.float64] | None  # of the labeled rows
    fold: NDArray[np.uint8] | None = None  # by position in order
    check_probability: NDArray[np.float64] | None = None  # of the labeled rows; None: no checks
    n_confirmed: int = 0  # unlabeled rows found positive
    n_refuted: int = 0  # unlabeled rows found negative
    growth_weights: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None  # by position
    ids: NDArray[np.uint64] | None = None  # by position, in the whole data; None: those of `order`
    whole: Totals | None = None  # of the whole data, if these rows are a part of it
    # Fractions of the hashes whose rows are in this part, of the samples of trees and of the rows
    # to evaluate.
    complete: float = 1.0
    complete_evaluation: float = 1.0

    @property
    def totals(self) -> Totals:
        """Size of the training data, of which these rows may be a part."""
        if self.whole is not None:
            return self.whole
        sums = (float(self.labeled_weight.sum()), float(exact_sum(self.unlabeled_weight)))
        return Totals(*sums, self.n_unlabeled, self.is_weighted)

    @property
    def is_weighted(self) -> bool:
        """Whether sample weights within a group of the training data differ."""
        if self.whole is not None:
            return self.whole.is_weighted
        groups = (self.labeled_weight, self.unlabeled_weight)
        return not all((g == g[0]).all() for g in groups)

    @property
    def n_unlabeled_in_all(self) -> int:
        """Number of unlabeled rows in the training data."""
        return self.n_unlabeled if self.whole is None else self.whole.n_unlabeled

    @property
    def row_ids(self) -> NDArray[np.uint64]:
        """Numbers of the rows in the whole data, by position."""
        return self.order.astype(np.uint64) if self.ids is None else self.ids

    @property
    def known(self) -> NDArray[np.float64] | None:
        """Probability by position that a positive of these features is known to be positive."""
        if self.check_probability is None:
            return None
        known = np.zeros(len(self.order))
        known[: self.n_labeled] = self.check_probability
        known[self.n_labeled : self.n_labeled + self.n_confirmed] = 1
        return known

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
        ends = np.cumsum([self.n_labeled, self.n_confirmed, self.n_refuted])
        n, confirmed, refuted = np.searchsorted(positions, ends).tolist()
        e = self.check_probability
        return replace(
            self,
            order=self.order[positions],
            n_labeled=n,
            weight=self.weight[positions],
            propensity=None if self.propensity is None else self.propensity[positions[:n]],
            fold=None if self.fold is None else self.fold[positions],
            check_probability=None if e is None else e[positions[:n]],
            n_confirmed=confirmed - n,
            n_refuted=refuted - confirmed,
            ids=None if self.ids is None else self.ids[positions],
            whole=self.totals,
        )

    def native(self) -> _core.TrainingRows:
        """Convert to the core's type, without weights if they are constant within each group."""
        positive: NDArray[np.float64] | None
        sample: NDArray[np.float64] | None
        if self.growth_weights is not None:
            positive, sample = self.growth_weights
        elif self.propensity is None and not self.is_weighted:
            positive, sample = None, None
        else:
            positive, sample = self.positive_weight, self.weight
        return _core.TrainingRows(
            self.order,
            self.n_labeled,
            positive,
            sample,
            self.fold,
            self.n_confirmed,
            self.ids,
            self.complete,
        )


def training_rows(
    y: NDArray[Any],
    sample_weight: ArrayLike | None,
    propensity: ArrayLike | None,
    *,
    risk: str,
    checked: Any = None,
    check_probability: Any = None,
) -> TrainingRows:
    """Read labels, weights and verdicts; rows of weight zero are left out."""
    classes, labeled = check.labels(y, *group_names(risk))
    n = len(labeled)
    weight = np.ones(n) if sample_weight is None else check.weights(sample_weight, n)
    refuse_empty_groups(weight, labeled, risk)
    if risk == "pn" and checked is not None:
        raise ValueError(
            "checked holds the classes of unlabeled rows, and cannot be used with risk='pn', where "
            "all classes are known: use risk='nnpu', or put the classes into y"
        )
    checks = read_checks(checked, check_probability, labeled, weight)
    seen = weight > 0
    groups = [labeled & seen]
    if checks is not None:
        groups += [checks.confirmed, checks.refuted]
    groups.append(seen & ~np.logical_or.reduce(groups))
    order = np.concatenate(list(map(np.flatnonzero, groups)))
    n_labeled = int(np.count_nonzero(groups[0]))
    e = None
    if propensity is not None:
        if risk == "pn":
            raise ValueError(
                "propensity is the probability that a positive row is labeled, and cannot be used "
                "with risk='pn', where all rows are labeled"
            )
        e = check.propensities(propensity, n, order[:n_labeled])
    rows = TrainingRows(classes, order.astype(np.uint32), n_labeled, weight[order], e)
    if checks is None:
        return rows
    return replace(
        rows,
        check_probability=checks.known[order[:n_labeled]],
        n_confirmed=int(np.count_nonzero(checks.confirmed)),
        n_refuted=int(np.count_nonzero(checks.refuted)),
    )


def group_names(risk: str) -> tuple[str, str]:
    """Return what the rows of the larger and of the smaller label are called in messages."""
    return ("positive", "negative") if risk == "pn" else ("labeled", "unlabeled")


def refuse_empty_groups(weight: NDArray[np.float64], labeled: NDArray[np.bool_], risk: str) -> None:
    """Refuse weights that are zero for a whole group of rows."""
    for name, group in zip(group_names(risk), (labeled, ~labeled), strict=True):
        if not weight[group].any():
            raise ValueError(
                f"sample_weight is zero for all {name} rows: that leaves only one class"
            )


def warn_if_swapped(rows: TrainingRows) -> None:
    """Warn if nearly all rows are labeled, which suggests that the labels are swapped."""
    n_labeled = rows.n_labeled
    n = n_labeled + rows.n_unlabeled_in_all
    if n_labeled > MAX_LABELED_FRACTION * n:
        warn(
            f"y marks {n_labeled:,} of {n:,} rows as labeled positives "
            f"(y == {rows.classes.tolist()[1]!r}). If these are the unlabeled rows, swap the "
            "labels: the larger value of y means labeled."
        )
