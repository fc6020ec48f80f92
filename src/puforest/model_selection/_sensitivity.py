"""What the answers of one forest become under other class priors."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from puforest import _validation as check
from puforest._base import PUClassifier
from puforest._sample import PUSample, pu_sample

__all__ = ["PriorSensitivity", "prior_sensitivity"]

Array = NDArray[np.float64]

# Share of the rows in leaves of both classes below which other priors change next to nothing.
FEW_MIXED = 0.05


@dataclass(frozen=True)
class PriorSensitivity:
    """Answers by prior; the arrays have an entry, or a row, for each of `priors`.

    Attributes
    ----------
    prior : float
        That of the fit.
    priors : ndarray of shape (n_priors,)
        The priors asked for, in increasing order.
    decisions : ndarray of shape (n_priors, n_samples)
        Mean votes, positive above 0.
    predictions : ndarray of shape (n_priors, n_samples)
        Classes, in the coding of the fit.
    positive_share : ndarray of shape (n_priors,)
        Share of the rows that is called positive; with `y`, of the population.
    flipped_share : ndarray of shape (n_priors,)
        Share of the same rows whose class is not that under the prior of the fit.
    flip_prior : ndarray of shape (n_samples,)
        Prior at which a row turns positive, interpolated between `priors`; nan where it is the same
        at all of them.
    precision, recall, f1, error : ndarray of shape (n_priors,) or None
        What they are if the prior is the true one; None without `y`. A precision that had to be
        cut to 1, or an error that is next to 0, tells that the prior is too large for the data.
    """

    prior: float
    priors: Array
    decisions: Array
    predictions: NDArray[np.generic]
    positive_share: Array
    flipped_share: Array
    flip_prior: Array
    precision: Array | None = None
    recall: Array | None = None
    f1: Array | None = None
    error: Array | None = None


def prior_sensitivity(
    estimator: PUClassifier,
    X: check.MatrixLike,
    y: ArrayLike | None = None,
    *,
    priors: ArrayLike | None = None,
    scenario: str | None = None,
    sample_weight: ArrayLike | None = None,
    propensity: ArrayLike | None = None,
) -> PriorSensitivity:
    """Ask one fitted forest for other priors, and see which answers hang on the prior.

    The trees stay; see ``with_prior`` of the estimator. Leaves that hold one class only say the
    same for most priors, so grow the forest with ``min_samples_leaf`` (a warning tells).

    Parameters
    ----------
    estimator : PUClassifier
        A fitted tree or forest of this package.
    X : array-like of shape (n_samples, n_features)
        Rows to predict, not those of the fit.
    y : array-like of shape (n_samples,), optional
        Their labels, to estimate precision, recall, F1 and error at each prior.
    priors : array-like, optional
        The priors. By default 0.05, 0.1, ... 0.95, without those that are impossible in a single
        training set: below its share of labeled rows, in the fit or here.
    scenario : {"case-control", "single-training-set"} or None, default=None
        How the rows of `X` came about; None is that of the estimator. Only used with `y`.
    sample_weight, propensity : array-like of shape (n_samples,), optional
        Weights and labeling propensities of the rows. Only used with `y`.

    Returns
    -------
    PriorSensitivity

    See Also
    --------
    puforest.plots.sensitivity.plot_prior_sensitivity : Draws it.

    Examples
    --------
    >>> from puforest import PUExtraTreesClassifier
    >>> from puforest.datasets import load_mushrooms, make_pu
    >>> from puforest.model_selection import prior_sensitivity
    >>> X, y = load_mushrooms(return_X_y=True)
    >>> X_pu, labeled = make_pu(X[::2], y[::2], n_labeled=500, random_state=0)
    >>> forest = PUExtraTreesClassifier(prior=0.52, min_samples_leaf=100, random_state=0)
    >>> by_prior = prior_sensitivity(forest.fit(X_pu, labeled), X[1::2], priors=[0.2, 0.52, 0.8])
    >>> by_prior.positive_share.round(1)
    array([0. , 0.5, 0.5])
    """
    if not isinstance(estimator, PUClassifier):
        raise TypeError(
            f"estimator must be a tree or forest of puforest, got {type(estimator).__name__}: of a "
            "pipeline give the last step, and X as the steps before it transform it"
        )
    check_is_fitted(estimator)
    if y is None and (sample_weight is not None or propensity is not None):
        raise ValueError("sample_weight and propensity are only used with y: give y too")
    sample = None
    if y is not None:
        if estimator._record.is_supervised:
            raise ValueError(
                "risk='pn' takes the rows as fully labeled: leave y out, and compare predictions "
                "with it by scikit-learn's metrics"
            )
        sample = pu_sample(
            y,
            scenario=estimator._record.scenario if scenario is None else scenario,
            sample_weight=sample_weight,
            propensity=propensity,
        )
    grid = _grid(estimator, priors, sample)
    _warn_if_pure(estimator)
    decisions = np.stack([estimator.with_prior(p).decision_function(X) for p in grid.tolist()])
    positive = decisions > 0
    if sample is None:
        population = np.full(positive.shape[1], 1 / positive.shape[1])
        metrics = {}
    else:
        if len(sample) != positive.shape[1]:
            raise ValueError(f"y has {len(sample)} rows, but X has {positive.shape[1]}")
        sample.class_prior(grid[0])
        population = sample.population
        metrics = _metrics(grid, positive @ sample.positive, positive @ population)
    fitted = estimator.decision_function(X) > 0
    return PriorSensitivity(
        prior=estimator.prior_,
        priors=grid,
        decisions=decisions,
        predictions=estimator.classes_[positive.astype(np.intp)],
        positive_share=positive @ population,
        flipped_share=(positive != fitted) @ population,
        flip_prior=_flip_prior(grid, decisions),
        **metrics,
    )


def _metrics(prior: Array, r: Array, q: Array) -> dict[str, Array]:
    """From the shares of the positives and of the population that are called positive."""
    precision = np.divide(prior * r, q, out=np.full(len(prior), np.nan), where=q > 0)
    return {
        "precision": np.minimum(1, precision),
        "recall": r,
        "f1": np.minimum(1, 2 * prior * r / (prior + q)),
        "error": np.maximum(0, prior + q - 2 * prior * r),
    }


def _grid(estimator: PUClassifier, priors: ArrayLike | None, sample: PUSample | None) -> Array:
    if priors is None:
        grid = np.arange(1, 20) / 20
        least = estimator._record.masses.labeled_u if not estimator._record.is_supervised else 0.0
        return grid[grid >= max(least, 0.0 if sample is None else sample.least_prior)]
    grid = np.unique(check.vector("priors", priors, np.size(priors), finite=True))
    if len(grid) == 0:
        raise ValueError("priors is empty: give at least one")
    return grid


def _flip_prior(priors: Array, decisions: Array) -> Array:
    """Where the decision of each row crosses 0. It never falls as the prior grows."""
    positive = decisions > 0
    flip = np.full(decisions.shape[1], np.nan)
    rows = np.flatnonzero(~positive[0] & positive[-1])
    after = positive[:, rows].argmax(axis=0)
    d0, d1 = decisions[after - 1, rows], decisions[after, rows]
    flip[rows] = priors[after - 1] + (priors[after] - priors[after - 1]) * -d0 / (d1 - d0)
    return flip


def _warn_if_pure(estimator: PUClassifier) -> None:
    forest = estimator._forest
    w_p, w_u = forest.w_p[forest.is_leaf], forest.w_u[forest.is_leaf]
    mixed = float(w_u[(w_p > 0) & (w_p < w_u)].sum() / w_u.sum())
    if mixed < FEW_MIXED:
        warnings.warn(
            f"only {mixed:.1%} of the population is in leaves that hold both classes, and the "
            "others say the same for most priors. Grow the estimator with min_samples_leaf, "
            "max_leaf_nodes or max_depth to see what hangs on the prior.",
            stacklevel=3,
        )
