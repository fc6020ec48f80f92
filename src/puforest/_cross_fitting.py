"""Held-out scores by cross-fitting: each row is scored by a model fitted to the other folds."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from puforest._rows import take_rows

Indices = NDArray[np.intp]
Split = tuple[Indices, Indices]


def cross_fitted_scores(
    fit: Callable[[Indices], Any],
    X: Any,
    splits: Iterable[Split],
    after_fold: Callable[[int], None] | None = None,
) -> NDArray[np.float64]:
    """Score each row with a model that was fitted without its fold.

    Parameters
    ----------
    fit : callable
        Fit a new classifier to the rows with the given indices and return it.
    X : table of shape (n_samples, n_features)
        The rows.
    splits : iterable of (train, test)
        Row indices of each split. The test parts must cover every row once.
    after_fold : callable, optional
        Called with the number of folds finished so far.

    Returns
    -------
    ndarray of shape (n_samples,)
        Held-out ``predict_proba`` of the positive class.
    """
    scores = np.empty(X.shape[0])
    for n_done, (train, test) in enumerate(splits, start=1):
        scores[test] = fit(train).predict_proba(take_rows(X, test))[:, 1]
        if after_fold is not None:
            after_fold(n_done)
    return scores
