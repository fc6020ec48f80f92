"""Folds of labeled and unlabeled rows in which duplicates stay together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def shared_folds(
    group: NDArray[np.intp],
    labeled: NDArray[np.bool_],
    n_folds: int,
    rng: np.random.RandomState,
    confirmed: NDArray[np.bool_] | None = None,
) -> NDArray[np.intp]:
    """Assign a fold to each row, stratified by label, given its group of duplicates.

    `confirmed` marks unlabeled rows that were found positive, which are a stratum too.

    Duplicate rows share a fold; otherwise one would be scored by a classifier trained on the
    other. This includes unlabeled rows without a labeled duplicate: if only they were split, only
    their scores would be pulled down by their duplicates. On UNSW-NB15, where four rows in ten
    have duplicates, that makes priors 0.05 too low.
    """
    fold = np.empty(len(labeled), dtype=np.intp)
    strata = [labeled, ~labeled]
    if confirmed is not None and confirmed.any():
        strata = [labeled, confirmed, ~labeled & ~confirmed]
    for part in strata:
        n = np.count_nonzero(part)
        fold[part] = rng.permutation(np.arange(n) % n_folds)
    home = np.empty(group.max() + 1, dtype=np.intp)
    for part in reversed(strata):
        home[group[part]] = fold[part]
    together = home[group]
    # With few distinct rows the folds may be too uneven; then duplicates are split up.
    most = max(0.5, 1.5 / n_folds)
    sizes = [np.bincount(together[part], minlength=n_folds) for part in (labeled, strata[-1])]
    return together if all(n.min() > 0 and n.max() <= most * n.sum() for n in sizes) else fold
