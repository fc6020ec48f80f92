"""Partial dependence of predictions on one or two features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from puforest import _validation as check
from puforest._sample import pu_sample
from puforest._unwrap import known_scenario
from puforest.inspection._grid import axis_of, is_missing, shown_value
from puforest.inspection._table import InspectedTable

KINDS = ("average", "individual", "both")

Array = NDArray[np.float64]


@dataclass(frozen=True, repr=False)
class PartialDependence:
    """Predicted probabilities over a grid of values of one or two features.

    Attributes
    ----------
    features : list of str
        Names of the features.
    grid : list of ndarray
        Grid values of each feature: numbers, labels of categories, booleans, dates or durations. If
        the feature has missing values, the last one is missing (NaN, None or NaT).
    kinds : list of str
        Kind of each feature: "number", "category", "boolean", "datetime" or "duration".
    average : ndarray or None
        Mean prediction at each grid point; with two features, of shape (n_first, n_second).
    individual : ndarray or None
        Predictions of each row of the population, along an additional first axis.
    mean_prediction : float
        Mean prediction of the rows of the population as they are.
    """

    features: list[str]
    grid: list[NDArray[Any]]
    kinds: list[str]
    average: Array | None
    individual: Array | None
    mean_prediction: float

    def __repr__(self) -> str:
        axes = [
            f"{name} ({_extent(values, kind)})"
            for name, values, kind in zip(self.features, self.grid, self.kinds, strict=True)
        ]
        parts = [f"features: {' and '.join(axes)}"]
        if self.average is not None:
            low, high = self.average.min(), self.average.max()
            parts.append(f"average probability: {low:.3f} to {high:.3f}")
        if self.individual is not None:
            parts.append(f"individual rows: {len(self.individual)}")
        return f"PartialDependence({', '.join(parts)})"


def partial_dependence(
    estimator: Any,
    X: check.MatrixLike,
    features: int | str | Sequence[int | str],
    *,
    y: ArrayLike | None = None,
    scenario: str | None = None,
    sample_weight: ArrayLike | None = None,
    grid_resolution: int = 50,
    percentiles: tuple[float, float] = (0.05, 0.95),
    kind: str = "average",
) -> PartialDependence:
    """Compute the partial dependence of the probability of the positive class on features.

    For each grid value, the feature is set to this value in all rows of the population, and the
    predictions of ``predict_proba`` are averaged. With ``voting="soft"`` these are posteriors,
    otherwise fractions of votes.

    The grid of a categorical or boolean feature consists of its categories, and that of a date of
    dates. If a feature has missing values, the grid ends with a missing value.

    Parameters
    ----------
    estimator : estimator
        Fitted classifier. The features of a pipeline are the columns of X, before they are
        transformed.
    X : array-like of shape (n_samples, n_features)
        Rows to average over: an array, a sparse matrix, or a table of pandas, polars or Arrow.
    features : int, str or a pair of them
        Index or name of one feature, or of two.
    y : array-like of shape (n_samples,), optional
        PU labels. In case-control data, labeled rows are left out because they are not a sample of
        the population. Without `y`, all rows are used.
    scenario : {"case-control", "single-training-set"}, optional
        Sampling scenario of the data, by default that of the estimator, which may be inside a
        pipeline, a search or a calibrated model. Requires `y`.
    sample_weight : array-like of shape (n_samples,), optional
        Sample weights for the average. Rows of weight 0 are ignored.
    grid_resolution : int, default=50
        Number of grid values of each feature. If a feature has fewer distinct values, these are
        used. If it has more categories, the most frequent ones are used.
    percentiles : tuple of float, default=(0.05, 0.95)
        Lower and upper quantiles of each feature, the ends of the grid.
    kind : {"average", "individual", "both"}, default="average"
        Whether to return the average, the predictions of each row, or both.

    Returns
    -------
    PartialDependence

    Examples
    --------
    >>> import numpy as np
    >>> from puforest import PUExtraTreesClassifier
    >>> from puforest.inspection import partial_dependence
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(1000) < 0.5
    >>> X = rng.normal(size=(1000, 2)) + y[:, None] * [2, 0]
    >>> labeled = y & (rng.random(1000) < 0.3)
    >>> forest = PUExtraTreesClassifier(prior=0.5, scenario="single-training-set", random_state=0)
    >>> curve = partial_dependence(forest.fit(X, labeled), X, 0, y=labeled)
    >>> bool(curve.average[-1] - curve.average[0] > 0.8)
    True
    """
    check_is_fitted(estimator)
    check.one_of("kind", kind, KINDS)
    low, high = _percentiles(percentiles)
    resolution = check.integer("grid_resolution", grid_resolution, 2)
    table = InspectedTable.of(estimator, X)
    asked: Sequence[Any] = features if isinstance(features, list | tuple) else [features]
    if not 1 <= len(asked) <= 2:
        raise ValueError(f"features must be one feature or two, got {len(asked)}")
    which = [_index(f, table.names) for f in asked]
    n = table.n_rows
    weight = None if sample_weight is None else check.weights(sample_weight, n)
    population = np.ones(n) if weight is None else weight
    if y is not None:
        sample = pu_sample(y, scenario=_scenario(scenario, estimator), sample_weight=weight)
        if len(sample) != n:
            raise ValueError(f"y must have the shape ({n},), got ({len(sample)},)")
        population = sample.population
    elif scenario is not None:
        raise ValueError(f"scenario={scenario!r} requires y, the PU labels of the rows of X")
    rows = np.flatnonzero(population > 0)
    weight = None if weight is None else weight[rows]
    table = table.take(rows)
    columns = [table.column(j) for j in which]
    axes = [axis_of(column, weight, resolution, (low, high)) for column in columns]
    points = np.array(list(product(*(axis.codes.tolist() for axis in axes))))
    shape = tuple(len(axis.codes) for axis in axes)
    fraction = np.full(len(rows), 1 / len(rows)) if weight is None else weight / weight.sum()
    average = None if kind == "individual" else np.zeros(len(points))
    individual = None if kind == "average" else np.empty((len(rows), len(points)))
    for some_rows, some_points, scores in table.scores(columns, points):
        if average is not None:
            average[some_points] += fraction[some_rows] @ scores
        if individual is not None:
            individual[some_rows, some_points] = scores
    return PartialDependence(
        features=[table.names[j] for j in which],
        grid=[axis.values for axis in axes],
        kinds=[axis.kind for axis in axes],
        average=None if average is None else average.reshape(shape),
        individual=None if individual is None else individual.reshape(len(rows), *shape),
        mean_prediction=float(fraction @ table.estimator.predict_proba(table.table)[:, 1]),
    )


def _extent(values: NDArray[Any], kind: str) -> str:
    """Describe the grid of a feature."""
    missing = is_missing(values)
    known = values[~missing]
    text = f"{len(known)} {'categories' if kind == 'category' else 'values'}"
    if kind in ("number", "datetime", "duration") and len(known):
        text += f" from {shown_value(known[0])} to {shown_value(known[-1])}"
    return f"{text}, and missing" if missing.any() else text


def _percentiles(percentiles: Any) -> tuple[float, float]:
    message = f"percentiles must be two numbers, 0 <= low < high <= 1, got {percentiles!r}"
    if not isinstance(percentiles, list | tuple) or len(percentiles) != 2:
        raise ValueError(message)
    low, high = percentiles
    if not (check.is_real(low) and check.is_real(high) and 0 <= low < high <= 1):
        raise ValueError(message)
    return float(low), float(high)


def _scenario(scenario: str | None, estimator: Any) -> str:
    found = known_scenario(estimator) if scenario is None else scenario
    if found is None:
        raise ValueError(
            f"scenario=None, and {type(estimator).__name__} has none: set "
            "scenario='case-control' or scenario='single-training-set'"
        )
    return found


def _index(feature: int | str, names: list[str]) -> int:
    if isinstance(feature, str) and feature in names:
        return names.index(feature)
    if check.is_integer(feature) and 0 <= int(feature) < len(names):
        return int(feature)
    raise ValueError(
        f"features has {feature!r}, which is neither the index of one of the {len(names)} features "
        f"nor a name, such as {names[0]!r}"
    )
