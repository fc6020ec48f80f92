"""Rows to check by hand, and estimates from the verdicts."""

from puforest.checking._design import CheckDesign
from puforest.checking._estimate import CheckedEstimate, CheckedEstimates, estimate_from_checks
from puforest.checking._select import Checks, select_checks

__all__ = [
    "CheckDesign",
    "CheckedEstimate",
    "CheckedEstimates",
    "Checks",
    "estimate_from_checks",
    "select_checks",
]
