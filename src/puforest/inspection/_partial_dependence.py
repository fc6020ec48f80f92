"""Partial dependence of predictions on one or two features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sklearn.inspection
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from puforest import _validation as check
from puforest._matrix import matrix
from puforest._sample import pu_sample
from puforest._unwrap import known_scenario
from puforest.inspection._importances import read_once, refuse_other_tables

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
        Grid values of each feature.
    average : ndarray or None
        Mean prediction at each grid point; with two features, of shape (n_first, n_second).
    individual : ndarray or None
        Predictions of each row of the population, along an additional first axis.
    """

    features: list[str]
    grid: list[Array]
    average: Array | None
    individual: Array | None

    def __repr__(self) -> str:
        axes = [
            f"{name} ({len(values)} values from {_short(values[0])} to {_short(values[-1])})"
            for name, values in zip(self.features, self.grid, strict=True)
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

    Parameters
    ----------
    estimator : estimator
        Fitted classifier.
    X : array-like of shape (n_samples, n_features)
        Rows to average over, an array or a pandas DataFrame.
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
        used.
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
    names = check.feature_names(estimator, X)
    refuse_other_tables(X)
    estimator, X = read_once(estimator, X)
    if not hasattr(X, "columns"):
        X = matrix(X)
    asked: Sequence[Any] = features if isinstance(features, list | tuple) else [features]
    if not 1 <= len(asked) <= 2:
        raise ValueError(f"features must be one feature or two, got {len(asked)}")
    which = [_index(f, names) for f in asked]
    weight = None if sample_weight is None else check.weights(sample_weight, len(X))
    population = np.ones(len(X)) if weight is None else weight
    if y is not None:
        sample = pu_sample(y, scenario=_scenario(scenario, estimator), sample_weight=weight)
        if len(sample) != len(X):
            raise ValueError(f"y must have the shape ({len(X)},), got ({len(sample)},)")
        population = sample.population
    elif scenario is not None:
        raise ValueError(f"scenario={scenario!r} requires y, the PU labels of the rows of X")
    rows = np.flatnonzero(population > 0)
    n_rows = len(rows)
    if n_rows == 2:  # scikit-learn 1.9 would mistake their predictions for two classes
        rows = np.tile(rows, 2)
    if hasattr(X, "columns"):
        X = X.iloc[rows]
        # Grid values of an integer column may lie between integers.
        X = X.astype({X.columns[i]: float for i in which if X.dtypes.iloc[i].kind in "iu"})
    else:
        X = X[rows]
    weight = None if weight is None else weight[rows]
    result = sklearn.inspection.partial_dependence(
        estimator,
        X,
        which,
        sample_weight=weight,
        response_method="predict_proba",
        percentiles=percentiles,
        grid_resolution=grid_resolution,
        method="brute",
        kind=kind,
    )
    return PartialDependence(
        features=[names[i] for i in which],
        grid=list(result.grid_values),
        average=result["average"][0] if kind != "individual" else None,
        individual=result["individual"][0][:n_rows] if kind != "average" else None,
    )


def _short(value: Any) -> str:
    return f"{value:.4g}" if check.is_real(value) else str(value)


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
