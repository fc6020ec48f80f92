"""Class prior of a fit from its checked rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import norm

from puforest import _validation as check
from puforest._checks import probability_vector, verdicts
from puforest._confidence import CONFIDENCE
from puforest._prior_estimate import PriorEstimate
from puforest._warnings import warn
from puforest.checking._quantities import class_prior
from puforest.checking._rows import checked_rows, labeled_rows


def prior_of_fit(
    y: Any,
    sample_weight: ArrayLike | None,
    checked: Any,
    check_probability: ArrayLike | None,
    *,
    scenario: str,
    score: NDArray[np.float64] | None = None,
) -> PriorEstimate | None:
    """Estimate the class prior from checked rows; None if there are none, or not of all rows.

    Arguments are those of ``fit``; `score` has predicted probabilities of all rows.
    """
    if checked is None:
        return None
    n = len(y)
    seen = np.ones(n, bool) if sample_weight is None else check.weights(sample_weight, n) > 0
    unlabeled = seen & ~labeled_rows(y, n)
    given = verdicts(checked, n)
    if np.isnan(given[unlabeled]).all():
        return None
    if sample_weight is not None and len(np.unique(np.asarray(sample_weight)[unlabeled])) > 1:
        warn(
            "prior=None: the class prior is not estimated from checked rows if unlabeled rows "
            "differ in sample_weight. Set prior, or leave out the weights."
        )
        return None
    if check_probability is not None:
        check_probability = probability_vector(check_probability, n)
        if (check_probability[unlabeled] == 0).any():
            return None
        check_probability = check_probability[seen]
    rows = checked_rows(
        given[seen],
        check_probability,
        y=np.asarray(y)[seen],
        score=None if score is None else score[seen],
        scenario=scenario,
    )
    return class_prior(rows, float(norm.ppf((1 + CONFIDENCE) / 2)), CONFIDENCE)
