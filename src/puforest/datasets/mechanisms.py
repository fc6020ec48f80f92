"""Labeling mechanisms: propensities that depend on the features.

Each function returns ``e(x)``, the probability that a row is labeled given that it is positive,
above 0 and at most 1, for ``make_pu(..., propensity=e)`` and ``fit(..., propensity=e)``.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq
from scipy.special import expit
from sklearn.utils import check_random_state, column_or_1d
from sklearn.utils.validation import check_array

from puforest import _validation as check
from puforest._columns import is_missing
from puforest._indicators import numbers_and_indicators
from puforest._schema import FeatureSchema, number_matrix
from puforest.datasets._docs import documented

__all__ = ["group_propensity", "linear_propensity", "score_propensity"]

Array = NDArray[np.float64]


@documented
def score_propensity(
    score: ArrayLike,
    *,
    y: ArrayLike | None = None,
    frequency: float = 0.5,
    strength: float = 2.0,
    minimum: float = 0.01,
) -> Array:
    """Compute propensities that increase with a score, such as the probability of the class.

    They are ``minimum + (1 - minimum) / (1 + exp(-(strength * z + b)))``, where ``z`` is the
    standardized score, and ``b`` is chosen such that the mean propensity is `frequency`.

    Parameters
    ----------
    score : array-like of shape (n_samples,)
        Score of each row.
    %y, frequency, strength, minimum%

    Returns
    -------
    ndarray of shape (n_samples,)

    Examples
    --------
    >>> from puforest.datasets import score_propensity
    >>> score_propensity([0.1, 0.5, 0.9], frequency=0.3).round(2)
    array([0.03, 0.17, 0.7 ])
    """
    z = check_array(score, ensure_2d=False, dtype=np.float64, input_name="score")
    if z.ndim != 1:
        raise ValueError(f"score must be one-dimensional, got the shape {z.shape}")
    for name, value, low in (("minimum", minimum, 0.0), ("frequency", frequency, minimum)):
        if not check.is_real(value) or not low < value < 1:
            raise ValueError(f"{name} must be a number between {low!r} and 1, got {value!r}")
    if not check.is_real(strength) or not np.isfinite(strength):
        raise ValueError(f"strength must be a finite number, got {strength!r}")
    among = np.ones(len(z), dtype=bool)
    if y is not None:
        _, among = check.labels(column_or_1d(y), "positive", "negative")
        if len(among) != len(z):
            raise ValueError(f"y must have the shape ({len(z)},), got ({len(among)},)")
    spread = z[among].std()
    z = strength * (z - z[among].mean()) / (spread if spread > 0 else 1.0)
    target = (frequency - minimum) / (1 - minimum)
    reach = np.abs(z).max() + 50  # 1 / (1 + exp(50)) is 2e-22, below any fraction of rows
    b = brentq(lambda shift: expit(z[among] + shift).mean() - target, -reach, reach)
    return np.asarray(minimum + (1 - minimum) * expit(z + b), dtype=np.float64)


@documented
def linear_propensity(
    X: check.MatrixLike,
    coef: ArrayLike | None = None,
    *,
    y: ArrayLike | None = None,
    frequency: float = 0.5,
    strength: float = 2.0,
    minimum: float = 0.01,
    random_state: int | np.random.RandomState | None = None,
) -> Array:
    """Compute propensities with a linear combination of the features as the score.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Features.
    coef : array-like of shape (n_features,), optional
        Coefficients of the features, which must be numbers; only their ratios matter. None draws
        coefficients of the standardized features from a normal distribution, one for each category
        of categorical features, and one for missing values.
    %y, frequency, strength, minimum%
    random_state : int, RandomState instance or None, default=None
        Seed of the coefficients.

    Returns
    -------
    ndarray of shape (n_samples,)

    See Also
    --------
    score_propensity : The formula, for any score.

    Examples
    --------
    >>> from puforest.datasets import load_mushrooms, linear_propensity, make_pu
    >>> X, y = load_mushrooms(return_X_y=True)
    >>> e = linear_propensity(X, y=y, frequency=0.2, random_state=0)
    >>> round(float(e[y == 1].mean()), 3)
    0.2
    >>> X, labeled = make_pu(X, y, propensity=e, scenario="single-training-set", random_state=0)
    """
    if coef is None:
        matrix = _numbers_and_indicators(X)
        spread = matrix.std(axis=0)
        drawn = check_random_state(random_state).normal(size=matrix.shape[1])
        weight = np.divide(drawn, spread, out=np.zeros_like(drawn), where=spread > 0)
    else:
        matrix = number_matrix(X, "linear_propensity").astype(np.float64, copy=False)
        weight = check.vector("coef", coef, matrix.shape[1], finite=True)
    return score_propensity(
        matrix @ weight, y=y, frequency=frequency, strength=strength, minimum=minimum
    )


def _numbers_and_indicators(X: check.MatrixLike) -> Array:
    """Convert a table to numbers: means for missing ones, and indicators of categories and gaps."""
    _, table = FeatureSchema.of_table(X, estimator="linear_propensity")
    numbers, indicators = numbers_and_indicators(table, np.arange(table.shape[1]), 1)
    numbers = numbers.astype(np.float64, copy=False)
    if not indicators.shape[1]:
        return numbers
    missing = np.isnan(numbers)
    filled = np.where(missing, 0.0, numbers)
    mean = filled.sum(axis=0) / np.maximum(1, (~missing).sum(axis=0))
    return np.column_stack([np.where(missing, mean, numbers), indicators])


def group_propensity(groups: ArrayLike, frequencies: Mapping[Hashable, float]) -> Array:
    """Compute propensities from groups.

    Parameters
    ----------
    groups : array-like of shape (n_samples,)
        Group of each row: numbers or strings. Missing values are the group None.
    frequencies : mapping
        Expected fraction of labeled positives of each group, above 0 and at most 1.

    Returns
    -------
    ndarray of shape (n_samples,)

    Examples
    --------
    >>> from puforest.datasets import group_propensity
    >>> group_propensity(["north", "south", "north"], {"north": 0.6, "south": 0.1})
    array([0.6, 0.1, 0.6])
    """
    cells = [None if is_missing(cell) else cell for cell in column_or_1d(groups).tolist()]
    names = sorted(dict.fromkeys(cells), key=lambda name: (name is None, name))
    missing = [name for name in names if name not in frequencies]
    if missing:
        raise ValueError(
            f"frequencies has no entry for the group {missing[0]!r}: pass one for each of {names}"
        )
    for name, value in frequencies.items():
        if not check.is_real(value) or not check.TINY < value <= 1:
            raise ValueError(
                f"frequencies must be above 0 and at most 1, got {value!r} for the group {name!r}"
            )
    return np.array([frequencies[name] for name in cells], dtype=np.float64)
