"""Folds of training rows that depend on their contents, so that duplicates share a fold.

Rows that a fit knows from the start, the labeled ones and those it is evaluated on, are divided
evenly. The fold of any other row is that of its duplicate among them, or else a hash of its
contents. So it can be computed for each row by itself, wherever the row is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Hashes = NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class FoldTable:
    """Folds of rows, by a hash of their contents or by their number.

    Attributes
    ----------
    by_content : bool
        Whether rows are looked up by their contents. Otherwise, duplicates may be in different
        folds.
    keys : ndarray of uint64
        Contents or numbers of known rows, in ascending order.
    folds : ndarray of uint8
        Their folds.
    n_folds : int
        Number of folds.
    seed : int
        Seed of the folds of other rows.
    """

    by_content: bool
    keys: Hashes
    folds: NDArray[np.uint8]
    n_folds: int
    seed: int

    def of(self, contents: Hashes, ids: Hashes) -> NDArray[np.uint8]:
        """Return the folds of rows."""
        key = contents if self.by_content else ids
        place = np.minimum(np.searchsorted(self.keys, key), len(self.keys) - 1)
        hashed = mixed(key, self.seed) % np.uint64(self.n_folds)
        is_known = self.keys[place] == key
        return np.where(is_known, self.folds[place], hashed).astype(np.uint8)


def fold_table(strata: Sequence[tuple[Hashes, Hashes]], n_folds: int, seed: int) -> FoldTable:
    """Divide known rows into folds, stratum by stratum: contents and ids of each.

    Duplicates share a fold, that of the first stratum they are in; otherwise one would be scored
    by trees that were grown on the other. This includes unlabeled rows without a labeled duplicate:
    if only they were split, only their scores would be pulled down by their duplicates. On
    UNSW-NB15, where four rows in ten have duplicates, that makes priors 0.05 too low. If there are
    so few distinct rows that the folds would be too uneven, duplicates are split up.
    """
    table = _divided(strata, n_folds, seed, by_content=True)
    most = max(0.5, 1.5 / n_folds)
    for contents, ids in (strata[0], strata[-1]):
        n = np.bincount(table.of(contents, ids), minlength=n_folds)
        if n.min() == 0 or n.max() > most * n.sum():
            by_id = [(ids, ids) for _, ids in strata]
            return _divided(by_id, n_folds, seed, by_content=False)
    return table


def _divided(
    strata: Sequence[tuple[Hashes, Hashes]], n_folds: int, seed: int, *, by_content: bool
) -> FoldTable:
    """Deal the distinct keys of each stratum out to the folds, in random order.

    The order depends on ids only, so that it is the same if features are rescaled.
    """
    keys, folds = np.empty(0, np.uint64), np.empty(0, np.uint8)
    for stratum, ids in strata:
        distinct, first = np.unique(stratum, return_index=True)
        is_new = ~np.isin(distinct, keys)
        distinct, first = distinct[is_new], first[is_new]
        rank = np.argsort(np.argsort(mixed(ids[first], seed)))
        keys = np.concatenate([keys, distinct])
        folds = np.concatenate([folds, (rank % n_folds).astype(np.uint8)])
    order = np.argsort(keys)
    return FoldTable(by_content, keys[order], folds[order], n_folds, seed)


def mixed(keys: Hashes, seed: int) -> Hashes:
    """Hash 64-bit integers, as `mix` in core/include/puforest/rng.hpp does."""
    with np.errstate(over="ignore"):
        z = keys + np.uint64(0x9E3779B97F4A7C15 * (seed + 1) % 2**64)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
