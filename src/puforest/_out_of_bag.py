"""Out-of-bag evaluation: the rows that can be evaluated, and their zero-one risk."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from puforest._masses import GroupMasses
from puforest._sample import PUSample
from puforest._training_rows import TrainingRows
from puforest.risk import classification_risk

Array = NDArray[np.float64]


def out_of_bag_risk(decision: Array, rows: TrainingRows, masses: GroupMasses, risk: str) -> float:
    """Estimate the zero-one risk from out-of-bag decisions.

    Rows that are in the bag of every tree are left out; the others of their group then represent
    the whole group.

    Parameters
    ----------
    decision : ndarray of shape (n_samples,)
        Mean out-of-bag votes from -1 to 1, positive above 0; nan for rows without one.
    rows : TrainingRows
        Labels and weights of the fit.
    masses : GroupMasses
        Masses of the labeled and of the unlabeled rows.
    risk : {"nnpu", "upu", "pn"}
        Risk estimator.

    Returns
    -------
    float
        Estimated error rate; nan if no row of one group is out of bag.
    """
    decision = decision[rows.order]
    out_of_bag, positive = np.isfinite(decision), decision > 0
    n = rows.n_labeled
    if not (out_of_bag[:n].any() and out_of_bag[n:].any()):
        return np.nan

    def positive_fraction(weight: Array, group: slice) -> float:
        weight = weight * out_of_bag[group]
        return float((weight * positive[group]).sum() / weight.sum())

    labeled, unlabeled = slice(None, n), slice(n, None)
    w_p = masses.labeled_p * positive_fraction(rows.positive_weight, labeled)
    w_u = masses.labeled_u * positive_fraction(rows.labeled_weight, labeled)
    w_u += masses.unlabeled_u * positive_fraction(rows.unlabeled_weight, unlabeled)
    return float(classification_risk(w_p, w_u, prior=masses.labeled_p, risk=risk))


def out_of_bag_sample(sample: PUSample, out_of_bag: NDArray[np.bool_]) -> PUSample:
    """Restrict a sample to its out-of-bag rows; each group keeps its total weight."""
    positive = np.where(out_of_bag, sample.positive, 0)
    population = np.where(out_of_bag, sample.population, 0)
    for group, name in ((sample.labeled, "labeled"), (~sample.labeled, "unlabeled")):
        total = sample.population[group].sum()
        if not (positive if name == "labeled" else population)[group].any():
            raise ValueError(
                f"no {name} row is out of bag in any tree: fit the forest with bootstrap=True, or "
                "with max_labeled and max_unlabeled, and with more trees"
            )
        if total > 0:
            population[group] *= total / population[group].sum()
    return PUSample(
        sample.labeled[out_of_bag],
        positive[out_of_bag] / positive.sum(),
        population[out_of_bag],
        sample.scenario,
    )
