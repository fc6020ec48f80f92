"""Tests of the assumptions behind a model: random labels, and new data like the training data."""

from puforest.diagnostics._drift import ColumnChange, DriftReport, drift_report
from puforest.diagnostics._prior_shift import adapt_prior
from puforest.diagnostics._scar import ScarTest, scar_test

__all__ = ["ColumnChange", "DriftReport", "ScarTest", "adapt_prior", "drift_report", "scar_test"]
