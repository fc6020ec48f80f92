"""The class prior: how many of the rows are positive, from positive and unlabeled data alone.

Every method asks how much of the unlabeled data the positives can make up: no region can hold a
smaller share of the unlabeled rows than its share of the positives times the prior.
"""

from puforest.prior._base import PriorEstimate, PriorEstimatedWarning
from puforest.prior._estimate import METHODS, estimate_prior
from puforest.prior.bbe import BBE
from puforest.prior.dedpul import DEDPUL
from puforest.prior.elkan_noto import ElkanNoto
from puforest.prior.kernel_mean import KernelMean
from puforest.prior.tice import TIcE

__all__ = [
    "BBE",
    "DEDPUL",
    "METHODS",
    "ElkanNoto",
    "KernelMean",
    "PriorEstimate",
    "PriorEstimatedWarning",
    "TIcE",
    "estimate_prior",
]
