"""Masses of the labeled and the unlabeled rows in each scenario.

Every row has two weights, and the masses of a node are their sums over its rows:

===================  ====================  ==================  ================
scenario             labeled row           unlabeled row       known negative
===================  ====================  ==================  ================
case-control         (π / n_p, 0)          (0, 1 / n_u)
single-training-set  (π / n_p, 1 / n)      (0, 1 / n)
PN                   (π / n_p, π / n_p)                        (0, (1-π) / n_n)
===================  ====================  ==================  ================

With sample weights, the counts are sums of weights. The first weight of a labeled row is divided by
its propensity, the probability that it is labeled given that it is positive. Within a group the
weights are known up to a factor, so three totals are sufficient: `GroupMasses`. Checked rows change
the first weight (`_checks.py`); `_row_weights.py` computes both weights of each row.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from puforest import _validation as check

# Rounding error of sums of a few million numbers.
ROUNDING = 1e-9


@dataclass(frozen=True)
class GroupMasses:
    """Masses of the labeled and the unlabeled rows.

    Attributes
    ----------
    labeled_p : float
        Positive mass of the labeled rows: the class prior.
    labeled_u : float
        Fraction of the population that the labeled rows represent.
    unlabeled_u : float
        Fraction that the unlabeled rows (with ``risk="pn"``: the negatives) represent.
    confirmed_p, confirmed_u : float
        Masses of the unlabeled rows that were found positive, if they are a group of their own, as
        in the growth of trees. ``unlabeled_u`` is then without them.
    """

    labeled_p: float
    labeled_u: float
    unlabeled_u: float
    confirmed_p: float = 0.0
    confirmed_u: float = 0.0


def group_masses(
    *,
    risk: str,
    scenario: str,
    prior: float | None,
    labeled: NDArray[np.float64],
    unlabeled: NDArray[np.float64] | float,
    propensity: NDArray[np.float64] | None = None,
) -> GroupMasses:
    """Compute the masses of the two groups of rows.

    Parameters
    ----------
    risk : {"nnpu", "upu", "pn"}
        Risk estimator; "pn" treats the unlabeled rows as negatives.
    scenario : {"case-control", "single-training-set"}
        Sampling scenario of the data.
    prior : float or None
        Class prior. If None, use the class frequency with ``risk="pn"``, and otherwise the sum of
        the inverse propensities.
    labeled : ndarray
        Sample weights of the labeled rows.
    unlabeled : ndarray or float
        Sample weights of the unlabeled rows, or their sum.
    propensity : ndarray, optional
        Probability that each labeled row is labeled given that it is positive.

    Returns
    -------
    GroupMasses

    Examples
    --------
    >>> group_masses(risk="nnpu", scenario="single-training-set", prior=0.4,
    ...              labeled=np.ones(20), unlabeled=np.ones(80))
    GroupMasses(labeled_p=0.4, labeled_u=0.2, unlabeled_u=0.8, confirmed_p=0.0, confirmed_u=0.0)
    """
    total = labeled.sum() + np.sum(unlabeled)
    fraction = float(labeled.sum() / total)
    if risk == "pn":
        prior = _prior_from_weights(fraction) if prior is None else prior
        return GroupMasses(prior, prior, 1 - prior)
    if prior is None:
        prior = _prior_from_propensity(scenario, labeled, float(total), propensity)
    if scenario == "case-control":
        return GroupMasses(prior, 0.0, 1.0)
    refuse_impossible_prior(prior, fraction)
    return GroupMasses(prior, fraction, 1 - fraction)


def refuse_impossible_prior(prior: float, labeled: float, confirmed: float = 0.0) -> None:
    """Refuse a prior below the fraction of the population that is known to be positive.

    `labeled` is the fraction of labeled rows, and `confirmed` that of checked rows.
    """
    if prior < labeled:
        raise ValueError(
            f"prior={prior:g} is impossible with scenario='single-training-set': {labeled:g} of "
            "the rows are labeled, so at least that fraction is positive. Pass a larger prior, "
            "scenario='case-control' if the labeled rows were collected separately, or swapped "
            "labels if the larger value of y marks unlabeled rows."
        )
    if prior < (labeled + confirmed) * (1 - ROUNDING):
        raise ValueError(
            f"prior={prior:g} is impossible: {confirmed:g} of the population was checked and found "
            f"positive{f', and {labeled:g} is labeled' if labeled else ''}. Pass a larger prior, "
            "or prior=None to estimate it from the checked rows."
        )


def _prior_from_weights(fraction: float) -> float:
    if not check.TINY < fraction < 1:
        raise ValueError(
            f"sample_weight: positive rows have {fraction:g} of the weight, which is too extreme "
            "for a class prior. Pass prior, for example prior=0.3, or other weights."
        )
    return fraction


def _prior_from_propensity(
    scenario: str,
    labeled: NDArray[np.float64],
    total: float,
    propensity: NDArray[np.float64] | None,
) -> float:
    if propensity is None:
        raise ValueError(
            "prior=None: learning from unlabeled rows needs the class prior. Pass it, for example "
            "prior=0.3, or estimate it with puforest.prior.estimate_prior."
        )
    if scenario == "case-control":
        raise ValueError(
            "prior=None: propensities imply the prior only with scenario='single-training-set'. "
            "With scenario='case-control' pass the prior too, for example prior=0.3."
        )
    prior = float((labeled / propensity).sum() / total)
    if prior <= check.TINY:
        raise ValueError(
            f"sample_weight and propensity: the labeled rows represent {prior:g} of the "
            "population, which is too extreme for a class prior. Pass prior, or other weights."
        )
    if prior >= 1:
        raise ValueError(
            f"propensity: the labeled rows represent {prior:.3g} times as many positives as there "
            "are rows. The propensities are too small for this data."
        )
    return prior
