"""Folds, cross-validation and out-of-bag judgment for labeled and unlabeled rows.

The rows of each fold are PU data of their own: estimators and metrics count labeled and
unlabeled rows, weights and propensities among the rows they get.
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
