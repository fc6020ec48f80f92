"""How the answer of a classifier changes with a feature, on average over the population."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import sklearn.inspection
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from puforest import _validation as check
from puforest._matrix import matrix
from puforest._sample import pu_sample
from puforest.inspection._importances import read_once, refuse_other_tables

KINDS = ("average", "individual", "both")

Array = NDArray[np.float64]


@dataclass(frozen=True)
class PartialDependence:
    """Answers over a grid of values of one feature or two.

    Attributes
    ----------
    features : list of str
        Names of the features.
    grid : list of ndarray
        The values of each feature.
    average : ndarray or None
        Mean answer at each point of the grid; with two features, of shape (n_first, n_second).
    individual : ndarray or None
        The same for each row of the population: a first axis more.
    """

    features: list[str]
    grid: list[Array] = field(repr=False)
    average: Array | None = field(repr=False)
    individual: Array | None = field(repr=False)


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
    """Probability of being positive against one feature or two, averaged over the population.

    For each value of the grid the feature is set to it in all rows of the population, and the
    answers of ``predict_proba`` are averaged. Forests with ``voting="soft"`` answer with
    posteriors, others with shares of votes.

    Parameters
    ----------
    estimator : estimator
        A fitted classifier.
    X : array-like of shape (n_samples, n_features)
        The rows: an array or a pandas table.
    features : int, str or a pair of them
        A feature by its number or name, or two.
    y : array-like of shape (n_samples,), optional
        PU labels of the rows. In case-control data, labeled rows are no sample of the population
        and left out. Without it, all rows are used.
    scenario : {"case-control", "single-training-set"}, optional
        How the rows were drawn; that of the estimator by default. Only with `y`.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the rows in the average; rows of weight 0 are not there.
    grid_resolution : int, default=50
        Number of values of each feature; if there are fewer different ones, these are taken.
    percentiles : tuple of float, default=(0.05, 0.95)
        Shares of the population below the ends of the grid.
    kind : {"average", "individual", "both"}, default="average"
        The average, a curve for each row, or both.

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
        raise ValueError(f"features must be one or two, got {len(asked)}")
    which = [_number_of(f, names) for f in asked]
    weight = None if sample_weight is None else check.weights(sample_weight, len(X))
    population = np.ones(len(X)) if weight is None else weight
    if y is not None:
        sample = pu_sample(y, scenario=_scenario(scenario, estimator), sample_weight=weight)
        if len(sample) != len(X):
            raise ValueError(f"y must have the shape ({len(X)},), got ({len(sample)},)")
        population = sample.population
    elif scenario is not None:
        raise ValueError(f"scenario={scenario!r} says which rows of y to leave out: give y too")
    rows = np.flatnonzero(population > 0)
    n_rows = len(rows)
    if n_rows == 2:  # which scikit-learn 1.9 would take for two classes
        rows = np.tile(rows, 2)
    if hasattr(X, "columns"):
        X = X.iloc[rows]
        # Values of the grid may lie between those of a column of whole numbers.
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


def _scenario(scenario: str | None, estimator: Any) -> str:
    found = getattr(estimator, "scenario", None) if scenario is None else scenario
    if found is None:
        raise ValueError(
            f"scenario=None, and {type(estimator).__name__} knows none: say how the rows of y came "
            "about, for example scenario='case-control'"
        )
    return str(found)


def _number_of(feature: int | str, names: list[str]) -> int:
    if isinstance(feature, str) and feature in names:
        return names.index(feature)
    if check.is_integer(feature) and 0 <= int(feature) < len(names):
        return int(feature)
    raise ValueError(
        f"features has {feature!r}, which is neither one of the {len(names)} features by number "
        f"nor by name, such as {names[0]!r}"
    )
