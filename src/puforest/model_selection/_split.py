"""Splitters that preserve the fraction of labeled rows and can keep duplicate rows together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit, check_cv
from sklearn.utils import check_consistent_length

from puforest import _validation as check
from puforest._checks import verdicts
from puforest._cross_fitting import Split
from puforest._duplicate_rows import duplicate_groups
from puforest._rows import take_rows

__all__ = ["PUShuffleSplit", "PUStratifiedKFold", "pu_train_test_split"]

# Strata of the rows; 0 for unlabeled rows that were not checked.
FOUND_NEGATIVE, FOUND_POSITIVE, LABELED = 1, 2, 3


class _PUSplit:
    """Mixin that lets a stratified splitter of scikit-learn split by PU label."""

    group_duplicates: bool

    def split(
        self,
        X: check.MatrixLike,
        y: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        *,
        checked: ArrayLike | None = None,
    ) -> Iterator[Split]:
        """Generate row indices of training and test sets.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data to split.
        y : array-like of shape (n_samples,)
            PU labels: two values, the larger for labeled rows.
        groups : ignored
            For API compatibility.
        checked : array-like of shape (n_samples,), optional
            Verdicts on unlabeled rows, as in ``fit``. Rows found positive and rows found negative
            are then divided evenly too, if each part can have one.

        Yields
        ------
        train, test : ndarray
            Row indices.
        """
        _, labeled = check.labels(check.label_vector(y), "labeled", "unlabeled")
        check_consistent_length(X, labeled)
        stratum = _strata(labeled, checked)
        if not check.boolean("group_duplicates", self.group_duplicates):
            self._require_enough(labeled.sum(), (~labeled).sum())
            for split in self._split_strata(stratum, groups):
                yield _with_both_kinds(split, labeled)
            return
        group = duplicate_groups(X)
        with_label = np.bincount(group, weights=labeled) > 0
        with_unlabeled = np.bincount(group, weights=~labeled) > 0
        self._require_enough(with_label.sum(), with_unlabeled.sum())
        of_group = np.zeros(len(with_label), dtype=np.intp)
        np.maximum.at(of_group, group, stratum)
        for train, test in self._split_strata(of_group, groups):
            split = np.flatnonzero(np.isin(group, train)), np.flatnonzero(np.isin(group, test))
            yield _with_both_kinds(split, labeled)

    def get_n_splits(
        self,
        X: check.MatrixLike | None = None,
        y: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        *,
        checked: ArrayLike | None = None,
    ) -> int:
        """Return the number of splits.

        Parameters
        ----------
        X, y, groups, checked : ignored
            For API compatibility.

        Returns
        -------
        int
            Number of splits.
        """
        return int(cast(Any, self).n_splits)

    def _split_strata(self, stratum: NDArray[np.intp], groups: Any) -> Iterator[Split]:
        sizes = np.bincount(stratum, minlength=LABELED + 1)
        for checked in (FOUND_NEGATIVE, FOUND_POSITIVE):
            if sizes[checked] < self._n_parts():
                stratum = np.where(stratum == checked, 0, stratum)
        return cast(
            Iterator[Split],
            super().split(np.zeros(len(stratum)), stratum, groups),  # type: ignore[misc]
        )

    def _n_parts(self) -> int:
        return int(self.n_splits) if isinstance(self, StratifiedKFold) else 2

    def _require_enough(self, labeled: int, unlabeled: int) -> None:
        """Refuse data with fewer labeled or unlabeled rows than parts."""
        parts = self._n_parts()
        distinct = "distinct " if self.group_duplicates else ""
        for kind, number in (("labeled", labeled), ("unlabeled", unlabeled)):
            if number < parts:
                name = f"n_splits={parts}" if isinstance(self, StratifiedKFold) else "two parts"
                raise ValueError(
                    f"y has {number} {distinct}{kind} rows, too few for {name}: each part needs "
                    "at least one. Use fewer folds, or the out-of-bag risk of a forest."
                )


def _strata(labeled: NDArray[np.bool_], checked: ArrayLike | None) -> NDArray[np.intp]:
    """Return the stratum of each row; that of a group of duplicates is the largest."""
    stratum = np.where(labeled, LABELED, 0)
    if checked is not None:
        verdict = verdicts(checked, len(labeled))
        stratum[~labeled & (verdict == 0)] = FOUND_NEGATIVE
        stratum[~labeled & (verdict == 1)] = FOUND_POSITIVE
    return stratum


def _with_both_kinds(split: Split, labeled: NDArray[np.bool_]) -> Split:
    """Refuse splits with a part that lacks labeled or unlabeled rows."""
    for part, name in zip(split, ("training", "test"), strict=True):
        n_labeled = np.count_nonzero(labeled[part])
        if n_labeled in (0, len(part)):
            kind = "unlabeled" if n_labeled else "labeled"
            raise ValueError(
                f"a {name} part of {len(part)} rows has no {kind} rows; the data has "
                f"{np.count_nonzero(labeled)} labeled and {np.count_nonzero(~labeled)} unlabeled "
                "rows: make this part larger, or use fewer folds"
            )
    return split


class PUStratifiedKFold(_PUSplit, StratifiedKFold):
    """K-fold splitter that preserves the fraction of labeled rows.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds.
    shuffle : bool, default=True
        Whether to shuffle the rows first. PU data is often sorted, labeled rows first.
    random_state : int, RandomState instance or None, default=None
        Seed of the shuffling.
    group_duplicates : bool, default=False
        Whether to put duplicate rows into the same fold. Set it if labeled rows also appear in the
        unlabeled set, as in the data of the paper: otherwise a model is evaluated on duplicates of
        its training rows. Fractions are then those of distinct rows.

    See Also
    --------
    PUShuffleSplit : Random splits whose test sets may overlap.

    Examples
    --------
    >>> import numpy as np
    >>> from puforest.model_selection import PUStratifiedKFold
    >>> X, y = np.arange(20).reshape(10, 2), np.array([1, 1, 0, 0, 0, 0, 0, 0, 0, 0])
    >>> folds = PUStratifiedKFold(2, random_state=0).split(X, y)
    >>> [y[test].tolist() for train, test in folds]
    [[1, 0, 0, 0, 0], [1, 0, 0, 0, 0]]
    """

    def __init__(
        self,
        n_splits: int = 5,
        *,
        shuffle: bool = True,
        random_state: int | np.random.RandomState | None = None,
        group_duplicates: bool = False,
    ) -> None:
        super().__init__(n_splits=n_splits, shuffle=shuffle, random_state=random_state)
        self.group_duplicates = group_duplicates


class PUShuffleSplit(_PUSplit, StratifiedShuffleSplit):
    """Random splits that preserve the fraction of labeled rows.

    Parameters
    ----------
    n_splits : int, default=10
        Number of splits.
    test_size : int, float or None, default=None
        Number or fraction of test rows. None means the complement of `train_size`, or 0.1. With
        ``group_duplicates=True`` it refers to distinct rows.
    train_size : int, float or None, default=None
        Number or fraction of training rows. None means the complement of `test_size`.
    random_state : int, RandomState instance or None, default=None
        Seed of the splits.
    group_duplicates : bool, default=False
        Whether to keep duplicate rows in the same part; see `PUStratifiedKFold`.

    Examples
    --------
    >>> import numpy as np
    >>> from puforest.model_selection import PUShuffleSplit
    >>> X, y = np.arange(20).reshape(10, 2), np.array([1, 1, 1, 1, 0, 0, 0, 0, 0, 0])
    >>> splits = PUShuffleSplit(2, test_size=0.5, random_state=0).split(X, y)
    >>> [y[test].tolist().count(1) for train, test in splits]
    [2, 2]
    """

    def __init__(
        self,
        n_splits: int = 10,
        *,
        test_size: int | float | None = None,
        train_size: int | float | None = None,
        random_state: int | np.random.RandomState | None = None,
        group_duplicates: bool = False,
    ) -> None:
        super().__init__(
            n_splits=n_splits,
            test_size=test_size,
            train_size=train_size,
            random_state=random_state,
        )
        self.group_duplicates = group_duplicates


def pu_train_test_split(
    X: check.MatrixLike,
    y: ArrayLike,
    *more: Any,
    test_size: int | float | None = None,
    train_size: int | float | None = None,
    random_state: int | np.random.RandomState | None = None,
    group_duplicates: bool = False,
    checked: ArrayLike | None = None,
) -> list[Any]:
    """Split data into a training and a test set with the same fraction of labeled rows.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Data to split.
    y : array-like of shape (n_samples,)
        PU labels: two values, the larger for labeled rows.
    *more : array-like of length n_samples
        Further arrays to split, such as sample weights.
    test_size : int, float or None, default=None
        Number or fraction of test rows. None means the complement of `train_size`, or 0.25. With
        ``group_duplicates=True`` it refers to distinct rows.
    train_size : int, float or None, default=None
        Number or fraction of training rows. None means the complement of `test_size`.
    random_state : int, RandomState instance or None, default=None
        Seed of the split.
    group_duplicates : bool, default=False
        Whether to keep duplicate rows in the same part; see `PUStratifiedKFold`.
    checked : array-like of shape (n_samples,), optional
        Verdicts on unlabeled rows, as in ``fit``, to divide them evenly too. Pass them among `more`
        as well to split them.

    Returns
    -------
    list
        ``[X_train, X_test, y_train, y_test, ...]``

    Examples
    --------
    >>> import numpy as np
    >>> from puforest.model_selection import pu_train_test_split
    >>> X, y = np.arange(16).reshape(8, 2), [1, 1, 1, 1, 0, 0, 0, 0]
    >>> X_train, X_test, y_train, y_test = pu_train_test_split(X, y, random_state=0)
    >>> len(y_train), sorted(y_test.tolist())
    (6, [0, 1])
    """
    if test_size is None and train_size is None:
        test_size = 0.25
    splitter = PUShuffleSplit(
        1,
        test_size=test_size,
        train_size=train_size,
        random_state=random_state,
        group_duplicates=group_duplicates,
    )
    arrays = (X, y, *more)
    check_consistent_length(*arrays)
    parts = next(splitter.split(X, y, checked=checked))
    return [take_rows(array, part) for array in arrays for part in parts]


def pu_cv(
    cv: Any, X: check.MatrixLike = None, y: ArrayLike | None = None, checked: Any = None
) -> Any:
    """Make a splitter; None and integers become `PUStratifiedKFold`.

    Its seed is fixed, so that estimators are compared on the same folds. With checked rows, a
    splitter of this module is replaced by its splits, which are stratified by verdict.
    """
    if cv is None or check.is_integer(cv):
        cv = PUStratifiedKFold(5 if cv is None else cv, random_state=0)
    if checked is not None and isinstance(cv, _PUSplit):
        return list(cv.split(X, y, checked=checked))
    return check_cv(cv)
