"""Splitters, cross-validation, out-of-bag evaluation and sensitivity analysis for PU data.

Each fold is a PU data set of its own: estimators and metrics use the labels, weights and
propensities of the rows they are given.
"""

from puforest.model_selection._cross_validation import cross_val_score, cross_validate
from puforest.model_selection._out_of_bag import OutOfBagRisk, oob_risk
from puforest.model_selection._sensitivity import PriorSensitivity, prior_sensitivity
from puforest.model_selection._split import PUShuffleSplit, PUStratifiedKFold, pu_train_test_split

__all__ = [
    "OutOfBagRisk",
    "PUShuffleSplit",
    "PUStratifiedKFold",
    "PriorSensitivity",
    "cross_val_score",
    "cross_validate",
    "oob_risk",
    "prior_sensitivity",
    "pu_train_test_split",
]
