"""One function for all methods of prior estimation."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from puforest import _validation as check
from puforest._prior_estimate import PriorEstimate
from puforest._warnings import warn
from puforest.checking._prior import prior_of_fit
from puforest.prior._base import PriorEstimatedWarning, PriorEstimator
from puforest.prior._docs import documented
from puforest.prior.bbe import BBE
from puforest.prior.dedpul import DEDPUL
from puforest.prior.elkan_noto import ElkanNoto
from puforest.prior.kernel_mean import KernelMean
from puforest.prior.tice import TIcE

METHODS: MappingProxyType[str, type[PriorEstimator]] = MappingProxyType(
    {method._method: method for method in (BBE, DEDPUL, TIcE, ElkanNoto, KernelMean)}
)


@documented
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
    """Estimate the class prior, the fraction of positives in the population.

    PU data bounds the prior from above, and determines it only if some region of the data is purely
    positive. The result is an "estimate" if there is evidence of such a region, and otherwise an
    "upper bound", with a point estimate that is likely to be too large.

    Parameters
    ----------
    %X, y%
    method : {"bbe", "dedpul", "tice", "elkan-noto", "km2"}, default="bbe"
        Estimation method: `BBE`, `DEDPUL`, `TIcE`, `ElkanNoto` or `KernelMean`. "bbe" is fast and
        among the most accurate. All methods rest on the same assumptions, and all but "km2" on the
        same scores: that they agree is no evidence that they are right.
    %scenario, sample_weight, random_state%
    **options
        Other parameters of the method's class, such as ``confidence``, the confidence level of the
        interval and of the upper limit (0.95 by default).

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
    checked: Any = None,
    check_probability: ArrayLike | None = None,
    n_jobs: int | None,
    random_state: Any,
) -> PriorEstimate:
    """Estimate the prior for a fit with ``prior=None``, and warn about it."""
    estimate = prior_of_fit(y, sample_weight, checked, check_probability, scenario=scenario)
    if estimate is None:
        method = BBE(scenario=scenario, n_jobs=n_jobs, random_state=random_state)
        estimate = method.fit(X, y, sample_weight).estimate_
    warn_of_estimate(estimate)
    return estimate


def warn_of_estimate(estimate: PriorEstimate) -> None:
    """Warn that a fit estimated the prior, or that only an upper bound of it is known."""
    if estimate.is_bound:
        message = (
            f"prior=None: the class prior is {estimate}, and the point estimate is used. "
            f"{estimate.reason} Predictions depend on the prior: set it if it is known, or check "
            "some rows by hand (puforest.checking) to estimate it."
        )
    else:
        message = (
            f"prior=None: the class prior is estimated as {estimate}. Predictions depend on it: "
            "check that it is plausible, or set prior."
        )
    warn(message, PriorEstimatedWarning)
