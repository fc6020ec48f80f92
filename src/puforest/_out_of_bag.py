"""Out-of-bag evaluation: the rows that can be evaluated, and their zero-one risk."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from puforest._masses import GroupMasses
from puforest._row_weights import training_sample
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
    out_of_bag = np.flatnonzero(np.isfinite(decision))
    n = np.searchsorted(out_of_bag, rows.n_labeled)
    if n in (0, len(out_of_bag)):
        return np.nan
    sample = training_sample(rows.at(out_of_bag), masses)
    positive = decision[out_of_bag] > 0
    w_p = masses.labeled_p * sample.of_positives(positive)
    w_u = sample.of_population(positive)
    return float(classification_risk(w_p, w_u, prior=masses.labeled_p, risk=risk))


def out_of_bag_sample(sample: PUSample, out_of_bag: NDArray[np.bool_]) -> PUSample:
    """Restrict a sample to its out-of-bag rows; each group keeps its total weight.

    Rows that were found positive are a group, as in the sampling of trees.
    """
    positive = np.where(out_of_bag, sample.labeled_weight, 0)
    population = np.where(out_of_bag, sample.population, 0)
    found = sample.positive_rows & ~sample.labeled
    for group, name in (
        (sample.labeled, "labeled"),
        (~sample.labeled & ~found, "unlabeled"),
        (found, "checked"),
    ):
        total = sample.population[group].sum()
        if not (positive if name == "labeled" else population)[group].any():
            if name == "checked":
                continue
            raise ValueError(
                f"no {name} row is out of bag in any tree: fit the forest with bootstrap=True, or "
                "with max_labeled and max_unlabeled, and with more trees"
            )
        if total > 0:
            population[group] *= total / population[group].sum()
    return sample.reweighted(positive, population).at_rows(out_of_bag)
