"""Estimates of the class prior from positive and unlabeled data.

All methods rest on one inequality: the fraction of the unlabeled rows that lie in a region is at
least the class prior times the fraction of the positives that do.
"""

from puforest._prior_estimate import PriorEstimate, contradiction
from puforest.prior._base import PriorEstimatedWarning
from puforest.prior._estimate import estimate_prior
from puforest.prior.bbe import BBE
from puforest.prior.dedpul import DEDPUL
from puforest.prior.elkan_noto import ElkanNoto
from puforest.prior.kernel_mean import KernelMean
from puforest.prior.tice import TIcE

__all__ = [
    "BBE",
    "DEDPUL",
    "ElkanNoto",
    "KernelMean",
    "PriorEstimate",
    "PriorEstimatedWarning",
    "TIcE",
    "contradiction",
    "estimate_prior",
]
