"""PU data out of labeled data."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array

from puforest import _validation as check
from puforest._columns import is_data_frame
from puforest._matrix import as_array
from puforest._rows import take_rows
from puforest.scenario import SCENARIOS

__all__ = ["make_pu"]

Index = NDArray[np.int64]


def make_pu(
    X: check.MatrixLike,
    y: Any,
    *,
    n_labeled: int | float | None = None,
    scenario: str = "case-control",
    prior: float | None = None,
    n_unlabeled: int | None = None,
    propensity: ArrayLike | None = None,
    return_index: bool = False,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[Any, ...]:
    """Make PU data from fully labeled data: draw labeled positives, and hide all other labels.

    Parameters
    ----------
    X : array, sparse matrix or table of shape (n_samples, n_features)
        Features: a NumPy array, a SciPy sparse matrix, or a pandas, polars or Arrow table.
    y : array-like of shape (n_samples,)
        Classes, two values; the larger one is positive.
    n_labeled : int, float or None, default=None
        Number or fraction of the positives to label. None labels half of them or, with
        `propensity`, each positive independently with its own probability.
    scenario : {"case-control", "single-training-set"}, default="case-control"
        "case-control" returns the labeled positives followed by the unlabeled rows. These are all
        rows, including the labeled ones (the setting of the paper), unless `prior` or
        `n_unlabeled` select fewer. "single-training-set" returns the rows in their order.
    prior : float, optional
        Class prior of the population to sample from, if it differs from that of `y`: the fraction
        of positives among the unlabeled rows of case-control data, which then do not include the
        labeled rows, or among all rows of a single training set. As few rows as possible of one
        class are dropped at random.
    n_unlabeled : int, optional
        Number of unlabeled rows of case-control data, drawn at random; None uses as many as
        possible. In a single training set all rows that are not labeled are unlabeled.
    propensity : array-like of shape (n_samples,), optional
        Probability that each row is labeled, given that it is positive; values of negatives are
        not used. With `n_labeled`, the probabilities are rescaled to sum to that number. See
        `linear_propensity`, `score_propensity` and `group_propensity`.
    return_index : bool, default=False
        Whether to return the index as well.
    random_state : int, RandomState instance or None, default=None
        Seed of the random draws.

    Returns
    -------
    X : array, sparse matrix or table
        Rows of the PU data. Tables stay tables of the same library, with their columns and types;
        the index of pandas is kept, so that labels repeat where rows do.
    labeled : ndarray
        1 for labeled positives, 0 for unlabeled rows.
    index : ndarray
        Position of each row in the given `X`, so that ``y[index]`` are the true classes. Only
        returned with `return_index`.

    Examples
    --------
    >>> import numpy as np
    >>> from puforest.datasets import make_pu
    >>> X, labeled = make_pu([[1], [2], [3], [4]], [0, 0, 1, 1], n_labeled=1, random_state=0)
    >>> labeled
    array([1, 0, 0, 0, 0])

    Lower the class prior of the unlabeled rows:

    >>> X, y = np.arange(120)[:, None], np.arange(120) % 2
    >>> X_pu, labeled, index = make_pu(
    ...     X, y, n_labeled=20, prior=0.25, return_index=True, random_state=0
    ... )
    >>> float(y[index][labeled == 0].mean())
    0.25
    """
    check.refuse_masked(y, "y")
    if not is_data_frame(X):
        X = check_array(as_array(X), dtype=None, ensure_all_finite=False, accept_sparse=True)
    n = X.shape[0]
    y = check_array(y, ensure_2d=False, dtype=None, input_name="y")
    if y.shape != (n,):
        raise ValueError(f"y must have the shape ({n},), got {y.shape}")
    check.one_of("scenario", scenario, SCENARIOS)
    target = check.class_prior(prior)
    _, positive = check.labels(y, "positive", "negative")
    positives, negatives = np.flatnonzero(positive), np.flatnonzero(~positive)
    e = None
    if propensity is not None:
        e = np.ones(n)
        e[positives] = check.propensities(propensity, n, positives)
    rng = check_random_state(random_state)
    if scenario == "case-control":
        draw = n_labeled, target, n_unlabeled, e
        index, labeled = _case_control(positives, negatives, *draw, rng)
        X = take_rows(X, index)
    else:
        if n_unlabeled is not None:
            raise ValueError(
                f"n_unlabeled={n_unlabeled!r} requires scenario='case-control': in a single "
                "training set all rows that are not labeled are unlabeled. Pass fewer rows instead."
            )
        index = np.arange(n)
        if target is not None:
            positives, negatives = _with_prior(target, positives, negatives, None, rng)
            index = np.sort(np.concatenate([positives, negatives]))
            X = take_rows(X, index)
        labeled = np.isin(index, _to_label(positives, n_labeled, e, rng))
    labels = labeled.astype(np.int64)
    return (X, labels, index) if return_index else (X, labels)


def _case_control(
    positives: Index,
    negatives: Index,
    n_labeled: int | float | None,
    prior: float | None,
    n_unlabeled: int | None,
    propensity: NDArray[np.float64] | None,
    rng: np.random.RandomState,
) -> tuple[Index, NDArray[np.bool_]]:
    if prior is not None and propensity is not None:
        raise ValueError(
            "prior and propensity together require scenario='single-training-set': in case-control "
            "data, removing positives by their propensity would bias the unlabeled rows"
        )
    chosen = _to_label(positives, n_labeled, propensity, rng)
    if prior is None:
        unlabeled = np.arange(len(positives) + len(negatives))
        if n_unlabeled is not None:
            size = check.integer("n_unlabeled", n_unlabeled, 1)
            size = check.number_of("n_unlabeled", size, len(unlabeled), "rows")
            unlabeled = rng.choice(unlabeled, size, replace=False)
    else:
        rest = np.setdiff1d(positives, chosen)
        unlabeled = np.concatenate(_with_prior(prior, rest, negatives, n_unlabeled, rng))
    index = np.concatenate([chosen, unlabeled])
    return index, np.arange(len(index)) < len(chosen)


def _to_label(
    positives: Index,
    n_labeled: int | float | None,
    propensity: NDArray[np.float64] | None,
    rng: np.random.RandomState,
) -> Index:
    """Draw the positives to label."""
    if propensity is not None and n_labeled is None:
        drawn = positives[rng.random_sample(len(positives)) < propensity[positives]]
        if not len(drawn):
            raise ValueError(
                f"propensity: none of the {len(positives)} positives was drawn to be labeled. "
                "Pass larger propensities, or n_labeled."
            )
        return drawn
    wanted = 0.5 if n_labeled is None else n_labeled
    size = check.number_of("n_labeled", wanted, len(positives), "positives")
    if propensity is None:
        return rng.choice(positives, size, replace=False)
    order = rng.permutation(positives)
    probability = propensity[order] * (size / propensity[order].sum())
    # Rounding may push a probability of 1 slightly above it.
    if probability.max() > 1 + 1e-9:
        raise ValueError(
            f"n_labeled={n_labeled!r} is too large for propensities this uneven: the probability "
            f"of a positive would be {probability.max():.3g}. At most "
            f"{int(size / probability.max())} can be labeled in proportion to them."
        )
    # Systematic sampling: the rows are intervals as long as their probabilities, laid end to end,
    # and equally spaced points, one apart, select each row with its probability.
    points = rng.random_sample() + np.arange(size)
    return order[np.searchsorted(np.cumsum(probability)[:-1], points, side="right")]


def _with_prior(
    prior: float,
    positives: Index,
    negatives: Index,
    size: int | None,
    rng: np.random.RandomState,
) -> tuple[Index, Index]:
    """Draw rows with a class prior: `size` rows, or as many as possible."""
    n = int(min(len(positives) / prior, len(negatives) / (1 - prior)) + 1e-9)
    n = n if size is None else check.integer("n_unlabeled", size, 1)
    n_positives = round(prior * n)
    for name, needed, there in (
        ("positives", n_positives, len(positives)),
        ("negatives", n - n_positives, len(negatives)),
    ):
        if not 0 < needed <= there:
            raise ValueError(
                f"prior={prior:g} among {n} rows needs {needed} {name}, but {there} are left: "
                "pass another prior, fewer labeled or unlabeled rows, or more data"
            )
    return (
        rng.choice(positives, n_positives, replace=False),
        rng.choice(negatives, n - n_positives, replace=False),
    )
