"""PU data out of labeled data."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array

from puforest import _validation as check
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
) -> tuple[NDArray[Any], ...]:
    """Hide most labels: draw labeled positives, and call the rest unlabeled.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The rows.
    y : array-like of shape (n_samples,)
        Their classes, two values; the larger is positive.
    n_labeled : int, float or None, default=None
        Number, or share, of the positives to label. None is half of them; with `propensity`, each
        positive is labeled or not by its own probability, and their number is random.
    scenario : {"case-control", "single-training-set"}, default="case-control"
        "case-control" returns the labeled positives followed by the unlabeled rows: all rows,
        the labeled ones among them again (the setting of the paper), unless `prior` or
        `n_unlabeled` choose fewer. "single-training-set" returns the rows as they are.
    prior : float, optional
        Share of positives in the population that the data are to come from, where it is not that
        of `y`. In case-control data it is their share among the unlabeled rows, of which no
        labeled row is one then; in a single training set their share among all rows. Rows of
        one class are left out at random, as few as possible.
    n_unlabeled : int, optional
        Number of unlabeled rows of case-control data, drawn at random; None is as many as there
        are. A single training set has the rows that are not labeled.
    propensity : array-like of shape (n_samples,), optional
        Probability of each row to be labeled, given that it is positive; values of negatives are
        not used. With `n_labeled` the probabilities are proportional to it instead, and add up to
        that number. `linear_propensity` and others make them.
    return_index : bool, default=False
        Whether to return the index too.
    random_state : int, RandomState instance or None, default=None
        Seed of the draw.

    Returns
    -------
    X : ndarray
        The rows of the PU data.
    labeled : ndarray
        1 for labeled positives, 0 for unlabeled rows.
    index : ndarray
        Which row of the given `X` each row is: ``y[index]`` is the truth about them. Only with
        `return_index`.

    Examples
    --------
    >>> import numpy as np
    >>> from puforest.datasets import make_pu
    >>> X, labeled = make_pu([[1], [2], [3], [4]], [0, 0, 1, 1], n_labeled=1, random_state=0)
    >>> labeled
    array([1, 0, 0, 0, 0])

    Fewer positives among the unlabeled rows than in the data:

    >>> X, y = np.arange(120)[:, None], np.arange(120) % 2
    >>> X_pu, labeled, index = make_pu(
    ...     X, y, n_labeled=20, prior=0.25, return_index=True, random_state=0
    ... )
    >>> float(y[index][labeled == 0].mean())
    0.25
    """
    check.refuse_masked(X, "X")
    check.refuse_masked(y, "y")
    X = check_array(X, dtype=None, ensure_all_finite=False)
    y = check_array(y, ensure_2d=False, dtype=None, input_name="y")
    if y.shape != (len(X),):
        raise ValueError(f"y must have the shape ({len(X)},), got {y.shape}")
    check.one_of("scenario", scenario, SCENARIOS)
    target = check.class_prior(prior)
    _, positive = check.labels(y, "positive", "negative")
    positives, negatives = np.flatnonzero(positive), np.flatnonzero(~positive)
    e = None
    if propensity is not None:
        e = np.ones(len(X))
        e[positives] = check.propensities(propensity, len(X), positives)
    rng = check_random_state(random_state)
    if scenario == "case-control":
        draw = n_labeled, target, n_unlabeled, e
        index, labeled = _case_control(positives, negatives, *draw, rng)
        X = X[index]
    else:
        if n_unlabeled is not None:
            raise ValueError(
                f"n_unlabeled={n_unlabeled!r} goes with scenario='case-control': a single training "
                "set has as many unlabeled rows as are not labeled. Give fewer rows instead."
            )
        index = np.arange(len(X))
        if target is not None:
            positives, negatives = _with_share(target, positives, negatives, None, rng)
            index = np.sort(np.concatenate([positives, negatives]))
            X = X[index]
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
            "prior and propensity together go with scenario='single-training-set' only: in "
            "case-control data, positives taken out by their propensity would leave others among "
            "the unlabeled rows than the population has"
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
        unlabeled = np.concatenate(_with_share(prior, rest, negatives, n_unlabeled, rng))
    index = np.concatenate([chosen, unlabeled])
    return index, np.arange(len(index)) < len(chosen)


def _to_label(
    positives: Index,
    n_labeled: int | float | None,
    propensity: NDArray[np.float64] | None,
    rng: np.random.RandomState,
) -> Index:
    """The positives that get a label."""
    if propensity is not None and n_labeled is None:
        drawn = positives[rng.random_sample(len(positives)) < propensity[positives]]
        if not len(drawn):
            raise ValueError(
                f"propensity: none of the {len(positives)} positives was drawn to be labeled. "
                "Give larger propensities, or n_labeled."
            )
        return drawn
    share = 0.5 if n_labeled is None else n_labeled
    size = check.number_of("n_labeled", share, len(positives), "positives")
    if propensity is None:
        return rng.choice(positives, size, replace=False)
    order = rng.permutation(positives)
    probability = propensity[order] * (size / propensity[order].sum())
    # Rounding may take a probability of 1 a little above it.
    if probability.max() > 1 + 1e-9:
        raise ValueError(
            f"n_labeled={n_labeled!r} is too many for propensities this uneven: that of a positive "
            f"would be {probability.max():.3g}. At most "
            f"{int(size / probability.max())} can be labeled in proportion to them."
        )
    # Systematic sampling: the rows are laid end to end, each as long as its probability, and a
    # comb with teeth one apart picks those that it hits, so that each is hit by its probability.
    teeth = rng.random_sample() + np.arange(size)
    return order[np.searchsorted(np.cumsum(probability)[:-1], teeth, side="right")]


def _with_share(
    prior: float,
    positives: Index,
    negatives: Index,
    size: int | None,
    rng: np.random.RandomState,
) -> tuple[Index, Index]:
    """Rows of both classes, `prior` of them positive: `size` rows, or as many as there can be."""
    n = int(min(len(positives) / prior, len(negatives) / (1 - prior)) + 1e-9)
    n = n if size is None else check.integer("n_unlabeled", size, 1)
    n_positives = round(prior * n)
    for name, needed, there in (
        ("positives", n_positives, len(positives)),
        ("negatives", n - n_positives, len(negatives)),
    ):
        if not 0 < needed <= there:
            raise ValueError(
                f"prior={prior:g} among {n} rows needs {needed} {name}, and {there} are left: "
                "give another prior, fewer labeled or unlabeled rows, or more data"
            )
    return (
        rng.choice(positives, n_positives, replace=False),
        rng.choice(negatives, n - n_positives, replace=False),
    )
