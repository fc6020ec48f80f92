"""One function for all methods."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from puforest import _validation as check
from puforest._warnings import warn
from puforest.prior._base import PriorEstimate, PriorEstimatedWarning, PriorEstimator
from puforest.prior.bbe import BBE
from puforest.prior.dedpul import DEDPUL
from puforest.prior.elkan_noto import ElkanNoto
from puforest.prior.kernel_mean import KernelMean
from puforest.prior.tice import TIcE

METHODS: MappingProxyType[str, type[PriorEstimator]] = MappingProxyType(
    {
        "bbe": BBE,
        "dedpul": DEDPUL,
        "tice": TIcE,
        "elkan-noto": ElkanNoto,
        "km2": KernelMean,
    }
)


def estimate_prior(
    X: check.MatrixLike,
    y: Any,
    *,
    method: str = "bbe",
    scenario: str = "case-control",
    sample_weight: ArrayLike | None = None,
    random_state: int | np.random.RandomState | None = None,
    **options: Any,
) -> PriorEstimate:
    """Estimate the share of positives in the population.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The rows.
    y : array-like of shape (n_samples,)
        Two values, the larger for labeled rows.
    method : {"bbe", "dedpul", "tice", "elkan-noto", "km2"}, default="bbe"
        The class of `puforest.prior` to use. "bbe" is fast, has a bound for its error, and is
        among the most exact.
    scenario : {"case-control", "single-training-set"}, default="case-control"
        How the rows came about.
    sample_weight : array-like of shape (n_samples,), optional
        A row of weight 2 counts as two.
    random_state : int, RandomState instance or None, default=None
        Seed of all that is random.
    **options
        Further parameters of the class.

    Returns
    -------
    PriorEstimate

    Examples
    --------
    >>> from puforest.datasets import load_mushrooms, make_pu
    >>> from puforest.prior import estimate_prior
    >>> X, y = load_mushrooms(return_X_y=True)
    >>> X_pu, labeled = make_pu(X, y, n_labeled=1000, random_state=0)
    >>> estimate = estimate_prior(X_pu, labeled, random_state=0)
    >>> bool(abs(estimate.value - y.mean()) < 0.03)
    True
    """
    check.one_of("method", method, METHODS)
    estimator = METHODS[method](scenario=scenario, random_state=random_state, **options)
    return estimator.fit(X, y, sample_weight).estimate_


def missing_prior(
    X: Any,
    y: Any,
    *,
    scenario: str,
    sample_weight: ArrayLike | None = None,
    n_jobs: int | None,
    random_state: Any,
) -> PriorEstimate:
    """The prior for a fit with prior=None, with a warning that says so."""
    method = BBE(scenario=scenario, n_jobs=n_jobs, random_state=random_state)
    estimate = method.fit(X, y, sample_weight).estimate_
    warn(
        f"prior=None: the share of positives is estimated as {estimate}. The classifier depends "
        "on it: compare it with what you know, or give prior= yourself.",
        PriorEstimatedWarning,
    )
    return estimate
