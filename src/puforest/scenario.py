"""How the data came about, as the weights that rows bring to a node.

Every row brings two weights, and the masses of a node are their sums over its rows:

===================  ====================  ==================  ================
scenario             labeled row          unlabeled row      known negative
===================  ====================  ==================  ================
case-control         (π / n_p, 0)          (0, 1 / n_u)
single-training-set  (π / n_p, 1 / n)      (0, 1 / n)
PN                   (π / n_p, π / n_p)                        (0, (1-π) / n_n)
===================  ====================  ==================  ================

Sample weights turn the counts into sums of weights. Propensities, the probabilities with which
positives like this one get labeled, divide the first weight of a labeled row. Within a group
the weights are thus fixed up to a factor, and three totals say everything: `GroupMasses`.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from puforest import _validation as check

__all__ = ["DESCRIPTIONS", "SCENARIOS", "GroupMasses", "group_masses"]

SCENARIOS = ("case-control", "single-training-set")

# One sentence each for descriptions, the command line and reports.
DESCRIPTIONS = {
    "case-control": "the labeled positives were collected separately; "
    "the unlabeled rows are a sample of the population",
    "single-training-set": "all rows are one sample of the population, "
    "and some of its positives are labeled",
}


@dataclass(frozen=True)
class GroupMasses:
    """Masses of all labeled and of all unlabeled rows.

    Attributes
    ----------
    labeled_p : float
        Positive mass of the labeled rows: the class prior.
    labeled_u : float
        Their share of the population.
    unlabeled_u : float
        The share of the unlabeled rows (with ``risk="pn"``: of the negatives) of it.
    """

    labeled_p: float
    labeled_u: float
    unlabeled_u: float


def group_masses(
    *,
    risk: str,
    scenario: str,
    prior: float | None,
    labeled: NDArray[np.float64],
    unlabeled: NDArray[np.float64],
    propensity: NDArray[np.float64] | None = None,
) -> GroupMasses:
    """Masses of the two groups of rows.

    Parameters
    ----------
    risk : {"nnpu", "upu", "pn"}
        Risk estimator; "pn" takes the unlabeled rows as negatives.
    scenario : {"case-control", "single-training-set"}
        How the rows were drawn.
    prior : float or None
        Share of positives in the population. None is the class frequency with ``risk="pn"``,
        and the sum of the inverse propensities where there are propensities.
    labeled, unlabeled : ndarray
        Sample weights of the rows of each group.
    propensity : ndarray, optional
        Probability of each labeled row to be labeled, given that it is positive.

    Returns
    -------
    GroupMasses

    Examples
    --------
    >>> group_masses(risk="nnpu", scenario="single-training-set", prior=0.4,
    ...              labeled=np.ones(20), unlabeled=np.ones(80))
    GroupMasses(labeled_p=0.4, labeled_u=0.2, unlabeled_u=0.8)
    """
    share = float(labeled.sum() / (labeled.sum() + unlabeled.sum()))
    if risk == "pn":
        prior = _prior_from_weights(share) if prior is None else prior
        return GroupMasses(prior, prior, 1 - prior)
    if prior is None:
        prior = _prior_from_propensity(scenario, labeled, unlabeled, propensity)
    if scenario == "case-control":
        return GroupMasses(prior, 0.0, 1.0)
    require_possible(prior, share)
    return GroupMasses(prior, share, 1 - share)


def require_possible(prior: float, labeled_share: float) -> None:
    """Refuse a prior below the share of a single training set that is labeled."""
    if prior < labeled_share:
        raise ValueError(
            f"prior={prior:g} is impossible with scenario='single-training-set': "
            f"{labeled_share:g} of the rows are labeled, and those alone are positive. Give a "
            "larger prior, or scenario='case-control' if the labeled rows were collected "
            "separately."
        )


def _prior_from_weights(share: float) -> float:
    if not check.TINY < share < 1:
        raise ValueError(
            f"sample_weight: positive rows have {share:g} of the weight, which is too extreme "
            "for a class prior. Give prior, for example prior=0.3, or other weights."
        )
    return share


def _prior_from_propensity(
    scenario: str,
    labeled: NDArray[np.float64],
    unlabeled: NDArray[np.float64],
    propensity: NDArray[np.float64] | None,
) -> float:
    if propensity is None:
        raise ValueError(
            "prior=None: the share of positives in the population is needed to learn from "
            "unlabeled rows. Give it, for example prior=0.3, or estimate it with "
            "puforest.prior.estimate_prior."
        )
    if scenario == "case-control":
        raise ValueError(
            "prior=None: propensities reveal the prior only with scenario='single-training-set'. "
            "With scenario='case-control' give the prior too, for example prior=0.3."
        )
    prior = float((labeled / propensity).sum() / (labeled.sum() + unlabeled.sum()))
    if prior <= check.TINY:
        raise ValueError(
            f"sample_weight and propensity: the labeled rows stand for {prior:g} of the "
            "population, which is too extreme for a class prior. Give prior, or other weights."
        )
    if prior >= 1:
        raise ValueError(
            f"propensity: the labeled rows stand for {prior:.3g} times as many positives as there "
            "are rows. The propensities are too small for this data."
        )
    return prior
