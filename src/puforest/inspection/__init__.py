"""Feature importances, partial dependence and feature selection."""

from puforest.inspection._importances import (
    FeatureImportances,
    importances,
    permutation_importance,
)
from puforest.inspection._partial_dependence import PartialDependence, partial_dependence
from puforest.inspection._selection import FeatureSelectionCurve, feature_selection_curve

__all__ = [
    "FeatureImportances",
    "FeatureSelectionCurve",
    "PartialDependence",
    "feature_selection_curve",
    "importances",
    "partial_dependence",
    "permutation_importance",
]
