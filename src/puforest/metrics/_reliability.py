"""Shares of positives among rows of like probabilities, with intervals."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from puforest.metrics._metric import Array, Judged
from puforest.metrics.calibration import probability_bins
from puforest.metrics.classification import PRECISION
from puforest.metrics.intervals import IntervalSettings, estimate_interval


@dataclass(frozen=True)
class Reliability:
    """Bins of probabilities that hold some of the population.

    Attributes
    ----------
    population : ndarray
        Share of the population in each bin.
    predicted : ndarray
        Its mean probability.
    observed, low, high : ndarray
        Share of positives, and ends of its interval.
    """

    population: Array
    predicted: Array
    observed: Array
    low: Array
    high: Array


def reliability(rows: Judged, settings: IntervalSettings, **binning: Any) -> Reliability:
    """Judge probabilities bin by bin.

    The share of positives in a bin is the precision of a classifier that calls just these rows
    positive, and so is its interval.
    """
    bins = probability_bins(rows.sample, rows.values, rows.prior, **binning)
    there = np.flatnonzero(bins.population)
    called = (replace(rows, values=(bins.of_row == k).astype(float)) for k in there)
    found = [estimate_interval(PRECISION, judged, settings)[1] for judged in called]
    observed, low, high = np.transpose([(share.value, share.low, share.high) for share in found])
    population = bins.population[there]
    return Reliability(population, bins.predicted[there] / population, observed, low, high)
