"""PU data out of labelled data."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array

from puforest import _validation as check
from puforest.scenario import SCENARIOS

__all__ = ["make_pu"]


def make_pu(
    X: check.MatrixLike,
    y: Any,
    *,
    n_labeled: int | float = 0.5,
    scenario: str = "case-control",
    random_state: int | np.random.RandomState | None = None,
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Hide most labels: draw labelled positives at random, and call the rest unlabelled.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The rows.
    y : array-like of shape (n_samples,)
        Their classes, two values; the larger is positive.
    n_labeled : int or float, default=0.5
        Number, or share, of the positives to label.
    scenario : {"case-control", "single-training-set"}, default="case-control"
        "case-control" returns the labelled positives followed by all rows, unlabelled, the
        positives drawn among them (the setting of the paper). "single-training-set" returns
        the rows as they are.
    random_state : int, RandomState instance or None, default=None
        Seed of the draw.

    Returns
    -------
    X : ndarray
        The rows of the PU data.
    labelled : ndarray
        1 for labelled positives, 0 for unlabelled rows.

    Examples
    --------
    >>> from puforest.datasets import make_pu
    >>> X, labelled = make_pu([[1], [2], [3], [4]], [0, 0, 1, 1], n_labeled=1, random_state=0)
    >>> labelled
    array([1, 0, 0, 0, 0])
    """
    X = check_array(X, dtype=None, ensure_all_finite=False)
    y = check_array(y, ensure_2d=False, dtype=None, input_name="y")
    if y.shape != (len(X),):
        raise ValueError(f"y must have the shape ({len(X)},), got {y.shape}")
    check.one_of("scenario", scenario, SCENARIOS)
    _, positive = check.labels(y, "positive", "negative")
    positives = np.flatnonzero(positive)
    size = check.number_of("n_labeled", n_labeled, len(positives), "positives")
    chosen = check_random_state(random_state).choice(positives, size, replace=False)
    if scenario == "case-control":
        return np.concatenate([X[chosen], X]), np.repeat([1, 0], [size, len(X)])
    labelled = np.zeros(len(X), dtype=np.int64)
    labelled[chosen] = 1
    return X, labelled
