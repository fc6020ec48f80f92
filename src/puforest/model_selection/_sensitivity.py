"""Sensitivity of predictions and metrics to the class prior."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from puforest import _validation as check
from puforest._base import PUClassifier
from puforest._rates import accuracy, f1, precision
from puforest._sample import PUSample, pu_sample
from puforest._unwrap import uncalibrated
from puforest._warnings import warn

__all__ = ["PriorSensitivity", "prior_sensitivity"]

Array = NDArray[np.float64]

# Fraction of the population in mixed leaves below which the prior has almost no effect.
FEW_MIXED = 0.05


@dataclass(frozen=True)
class PriorSensitivity:
    """Predictions and metrics by prior.

    Attributes
    ----------
    prior : float
        Prior of the fit.
    priors : ndarray of shape (n_priors,)
        Priors evaluated, in increasing order.
    decisions : ndarray of shape (n_priors, n_samples)
        Decision function for each prior; rows above 0 are predicted positive.
    predictions : ndarray of shape (n_priors, n_samples)
        Predicted classes, encoded as in the fit.
    positive_fraction : ndarray of shape (n_priors,)
        Fraction of the rows predicted positive; with `y`, of the population.
    flipped_fraction : ndarray of shape (n_priors,)
        Fraction of the same rows whose prediction differs from that under the prior of the fit.
    flip_prior : ndarray of shape (n_samples,)
        Prior at which the prediction turns positive, interpolated between `priors`; nan for rows
        with the same prediction for all `priors`.
    precision, recall, f1, error : ndarray of shape (n_priors,) or None
        Metrics under the assumption that each prior is correct; None without `y`. A precision
        clipped to 1 or an error close to 0 indicates that the prior is too large for the data.
    """

    prior: float
    priors: Array
    decisions: Array
    predictions: NDArray[np.generic]
    positive_fraction: Array
    flipped_fraction: Array
    flip_prior: Array
    precision: Array | None = None
    recall: Array | None = None
    f1: Array | None = None
    error: Array | None = None


def prior_sensitivity(
    estimator: Any,
    X: check.MatrixLike,
    y: ArrayLike | None = None,
    *,
    priors: ArrayLike | None = None,
    scenario: str | None = None,
    sample_weight: ArrayLike | None = None,
    propensity: ArrayLike | None = None,
    checked: ArrayLike | None = None,
    check_probability: ArrayLike | None = None,
) -> PriorSensitivity:
    """Evaluate how predictions and metrics depend on the class prior, without refitting.

    The trees stay the same; see ``with_prior`` of the estimator. Pure leaves predict the same class
    for most priors, so grow the forest with ``min_samples_leaf``; a warning is issued if nearly all
    leaves are pure. A `PUForestClassifier` is calibrated for each prior, and its threshold follows
    it.

    Parameters
    ----------
    estimator : PUClassifier or Pipeline
        Fitted tree or forest of puforest, or a pipeline that ends in one.
    X : array-like of shape (n_samples, n_features)
        Held-out rows.
    y : array-like of shape (n_samples,), optional
        PU labels of `X`, to estimate precision, recall, F1 and error at each prior.
    priors : array-like, optional
        Priors to evaluate. By default 0.05, 0.1, ..., 0.95, without those that are impossible in a
        single training set: below its fraction of labeled rows, in the fit or in `y`.
    scenario : {"case-control", "single-training-set"} or None, default=None
        Sampling scenario of `X`; that of the fit by default. Only used with `y`.
    sample_weight, propensity : array-like of shape (n_samples,), optional
        Sample weights and propensities. Only used with `y`.
    checked, check_probability : array-like of shape (n_samples,), optional
        Verdicts on unlabeled rows and the probabilities of checking them, as in ``fit``. Only used
        with `y`.

    Returns
    -------
    PriorSensitivity

    See Also
    --------
    puforest.plots.sensitivity.plot_prior_sensitivity : Plot of the result.

    Examples
    --------
    >>> from puforest import PUExtraTreesClassifier
    >>> from puforest.datasets import load_mushrooms, make_pu
    >>> from puforest.model_selection import prior_sensitivity
    >>> X, y = load_mushrooms(return_X_y=True)
    >>> X_pu, labeled = make_pu(X[::2], y[::2], n_labeled=500, random_state=0)
    >>> forest = PUExtraTreesClassifier(prior=0.52, min_samples_leaf=100, random_state=0)
    >>> by_prior = prior_sensitivity(forest.fit(X_pu, labeled), X[1::2], priors=[0.2, 0.52, 0.8])
    >>> by_prior.positive_fraction.round(1)
    array([0. , 0.5, 0.5])
    """
    found = uncalibrated("estimator", estimator, "its calibration is for one prior only")
    trees = found.trees
    given = {
        "sample_weight": sample_weight,
        "propensity": propensity,
        "checked": checked,
        "check_probability": check_probability,
    }
    for name, value in given.items():
        if y is None and value is not None:
            raise ValueError(f"{name} is only used with y: pass y too")
    sample = None
    if y is not None:
        if trees._record.is_supervised:
            raise ValueError(
                "risk='pn' treats the data as fully labeled: omit y, and evaluate predictions with "
                "scikit-learn's metrics"
            )
        sample = pu_sample(
            y,
            scenario=trees._record.scenario if scenario is None else scenario,
            **given,
        )
    grid = _grid(trees, priors, sample)
    if trees._record.calibrator is None:  # otherwise the calibration depends on the prior
        _warn_if_pure(trees)
    rows = found.rows(X)
    return sensitivity_of(trees, lambda model: model.decision_function(rows), grid, sample)


def sensitivity_of(
    trees: PUClassifier,
    decide: Callable[[PUClassifier], Array],
    grid: Array,
    sample: PUSample | None,
) -> PriorSensitivity:
    """Evaluate the decisions of a forest for each prior in the grid."""
    decisions = np.stack([decide(trees.with_prior(p)) for p in grid.tolist()])
    positive = decisions > 0
    if sample is None:
        population = np.full(positive.shape[1], 1 / positive.shape[1])
        metrics = {}
    else:
        if len(sample) != positive.shape[1]:
            raise ValueError(f"y has {len(sample)} rows, but X has {positive.shape[1]}")
        sample.class_prior(grid[0])
        population = sample.population
        r = [sample.at(p).of_positives(row) for p, row in zip(grid, positive, strict=True)]
        metrics = _metrics(grid, np.array(r), positive @ population)
    fitted = decide(trees) > 0
    return PriorSensitivity(
        prior=trees.prior_,
        priors=grid,
        decisions=decisions,
        predictions=trees.classes_[positive.astype(np.intp)],
        positive_fraction=positive @ population,
        flipped_fraction=(positive != fitted) @ population,
        flip_prior=_flip_prior(grid, decisions),
        **metrics,
    )


def _metrics(prior: Array, r: Array, q: Array) -> dict[str, Array]:
    """Metrics from the fractions of positives and of the population predicted positive."""
    return {
        "precision": np.minimum(1, precision(r, np.where(q > 0, q, np.nan), prior)),
        "recall": r,
        "f1": np.minimum(1, f1(r, q, prior)),
        "error": np.maximum(0, 1 - accuracy(r, q, prior)),
    }


def _grid(trees: PUClassifier, priors: ArrayLike | None, sample: PUSample | None) -> Array:
    if priors is None:
        grid = np.arange(1, 20) / 20
        least = 0.0 if trees._record.is_supervised else trees._record.masses.labeled_u
        return grid[grid >= max(least, 0.0 if sample is None else sample.least_prior)]
    grid = np.unique(check.vector("priors", priors, np.size(priors), finite=True))
    if len(grid) == 0:
        raise ValueError("priors is empty: pass at least one")
    return grid


def _flip_prior(priors: Array, decisions: Array) -> Array:
    """Prior at which each decision crosses 0; decisions never decrease with the prior."""
    positive = decisions > 0
    flip = np.full(decisions.shape[1], np.nan)
    rows = np.flatnonzero(~positive[0] & positive[-1])
    after = positive[:, rows].argmax(axis=0)
    d0, d1 = decisions[after - 1, rows], decisions[after, rows]
    flip[rows] = priors[after - 1] + (priors[after] - priors[after - 1]) * -d0 / (d1 - d0)
    return flip


def _warn_if_pure(trees: PUClassifier) -> None:
    forest = trees._forest
    w_p, w_u = forest.w_p[forest.is_leaf], forest.w_u[forest.is_leaf]
    mixed = float(w_u[(w_p > 0) & (w_p < w_u)].sum() / w_u.sum())
    if mixed < FEW_MIXED:
        warn(
            f"only {mixed:.1%} of the population is in leaves with both classes; pure leaves "
            "predict the same class for most priors. Fit the estimator with min_samples_leaf, "
            "max_leaf_nodes or max_depth to see the sensitivity to the prior.",
        )
