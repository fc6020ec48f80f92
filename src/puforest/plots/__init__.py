"""Plots with Matplotlib; install it with ``pip install 'puforest[plot]'``."""

from puforest.plots.curves import (
    plot_precision_recall,
    plot_reliability,
    plot_roc,
    plot_score_distributions,
)
from puforest.plots.dependence import plot_partial_dependence
from puforest.plots.drift import plot_drift
from puforest.plots.inspection import (
    plot_feature_selection,
    plot_importance_map,
    plot_importances,
)
from puforest.plots.prior import plot_prior_evidence
from puforest.plots.sensitivity import plot_prior_sensitivity

__all__ = [
    "plot_drift",
    "plot_feature_selection",
    "plot_importance_map",
    "plot_importances",
    "plot_partial_dependence",
    "plot_precision_recall",
    "plot_prior_evidence",
    "plot_prior_sensitivity",
    "plot_reliability",
    "plot_roc",
    "plot_score_distributions",
]
