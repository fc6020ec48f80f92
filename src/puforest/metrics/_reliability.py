"""Reliability curves with intervals."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from puforest.metrics._metric import Array, EvaluationSet
from puforest.metrics.calibration import probability_bins
from puforest.metrics.classification import PRECISION
from puforest.metrics.intervals import IntervalSettings, estimate_interval


@dataclass(frozen=True)
class Reliability:
    """Non-empty bins of predicted probabilities.

    Attributes
    ----------
    population : ndarray
        Fraction of the population in each bin.
    predicted : ndarray
        Mean predicted probability.
    observed, low, high : ndarray
        Estimated fraction of positives and its interval.
    """

    population: Array
    predicted: Array
    observed: Array
    low: Array
    high: Array


def reliability(data: EvaluationSet, settings: IntervalSettings, **binning: Any) -> Reliability:
    """Compare predicted probabilities with fractions of positives, bin by bin.

    The fraction of positives in a bin is the precision of a classifier that predicts positive for
    exactly the rows of that bin, and so is its interval.
    """
    bins = probability_bins(data.sample, data.values, data.prior, **binning)
    filled = np.flatnonzero(bins.population)
    by_bin = (replace(data, values=(bins.of_row == k).astype(float)) for k in filled)
    found = [estimate_interval(PRECISION, in_bin, settings)[1] for in_bin in by_bin]
    observed, low, high = np.transpose([(f.value, f.low, f.high) for f in found])
    population = bins.population[filled]
    return Reliability(population, bins.predicted[filled] / population, observed, low, high)
