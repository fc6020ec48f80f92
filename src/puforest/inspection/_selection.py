"""Scores of forests that use only the most important features."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import sklearn.metrics
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils import column_or_1d
from sklearn.utils.validation import check_consistent_length

from puforest import _validation as check
from puforest._base import PUClassifier
from puforest._monotone import monotone_features
from puforest._rows import sliceable, take_rows
from puforest._schema import FeatureSchema
from puforest._table_columns import take_columns
from puforest.inspection._importances import importances, scoring_name
from puforest.recipes import checked_candidates

ORDERS = ("risk-reduction", "normalized")

Array = NDArray[np.float64]


@dataclass(frozen=True)
class FeatureSelectionCurve:
    """Scores by number of features; prints as a table.

    Attributes
    ----------
    n_features : ndarray of shape (n_steps,)
        Numbers of features.
    scores : ndarray of shape (n_steps, n_draws)
        Scores with that many of the most important features, for each split and repeat.
    order : ndarray of shape (n_all_features,)
        Indices of the features by mean importance over the draws, the most important first.
    feature_names : list of str
        Names of all features.
    scoring : str
        Name of the metric.
    """

    n_features: NDArray[np.int64]
    scores: Array = field(repr=False)
    order: NDArray[np.intp] = field(repr=False)
    feature_names: list[str] = field(repr=False)
    scoring: str

    @property
    def mean(self) -> Array:
        """Mean score for each number of features."""
        return np.asarray(self.scores.mean(axis=1))

    @property
    def std(self) -> Array:
        """Standard deviation over the draws."""
        return np.asarray(self.scores.std(axis=1))

    @property
    def area(self) -> float:
        """Mean of the curve over the number of features."""
        if len(self.n_features) == 1:
            return float(self.mean[0])
        steps = np.diff(self.n_features)
        heights = (self.mean[1:] + self.mean[:-1]) / 2
        return float(steps @ heights / steps.sum())

    @property
    def smallest(self) -> int:
        """Smallest number of features whose mean score is within one standard error of the best."""
        best = int(self.mean.argmax())
        error = self.std[best] / np.sqrt(self.scores.shape[1])
        return int(self.n_features[self.mean >= self.mean[best] - error][0])

    def __str__(self) -> str:
        lines = [f"features  {self.scoring}: mean and standard deviation"]
        for k, mean, std in zip(self.n_features, self.mean, self.std, strict=True):
            lines.append(f"{k:8d}  {mean:10.4f}  {std:10.4f}")
        best = ", ".join(self.feature_names[i] for i in self.order[:5])
        return "\n".join([*lines, f"most important: {best}"])


def feature_selection_curve(
    estimator: Any,
    X: check.MatrixLike,
    y: ArrayLike,
    *,
    X_test: check.MatrixLike = None,
    y_test: ArrayLike | None = None,
    steps: int | Sequence[int] = 10,
    order_by: str | ArrayLike = "risk-reduction",
    scoring: str | Callable[..., float] | None = None,
    cv: Any = None,
    n_repeats: int = 1,
    random_state: int | np.random.RandomState | None = None,
) -> FeatureSelectionCurve:
    """Evaluate forests fitted to an increasing number of the most important features.

    In each split, features are ranked by their importances in a forest fitted to the training
    rows, so that the held-out rows do not influence the ranking.

    Parameters
    ----------
    estimator : estimator
        Forest or tree of puforest, which is cloned. If its prior is None, the prior is estimated
        once per split and repeat, with all features. An integer ``max_features`` is reduced if
        there are fewer features.
    X : array-like of shape (n_samples, n_features)
        Training rows: an array, a sparse matrix, or a table of pandas, polars or Arrow.
    y : array-like of shape (n_samples,)
        PU labels of the training rows.
    X_test, y_test : array-like, optional
        Test rows and their true classes, coded as in `y`. Without them, `X` and `y` are split.
    steps : int or sequence of int, default=10
        Numbers of features to evaluate; an integer is the number of steps, which are spaced
        logarithmically from 1 to all features.
    order_by : {"risk-reduction", "normalized"} or array-like of shape (n_features,)
        Importances to rank by, from the forest with all features; or given importances, such as
        those of another method.
    scoring : str or callable, optional
        Metric. Without test rows, a name from `puforest.metrics.get_scorer_names` ("pu_f1" by
        default); with test rows, a name from `sklearn.metrics.get_scorer_names` ("accuracy" by
        default); or a callable with the signature ``scorer(estimator, X, y)``.
    cv : int or splitter, optional
        Cross-validation splitter, or number of folds (5 by default) of
        `puforest.model_selection.PUStratifiedKFold`, which keeps duplicate rows of case-control
        data together. Not used with test rows.
    n_repeats : int, default=1
        Number of fits of each split, with different seeds.
    random_state : int, RandomState instance or None, default=None
        Seed of the random number generator.

    Returns
    -------
    FeatureSelectionCurve

    References
    ----------
    Wilton, Koay, Ko, Xu and Ye: Positive-Unlabeled Learning using Random Forests via Recursive
    Greedy Risk Minimization. NeurIPS 2022. Appendix on feature selection.

    Examples
    --------
    >>> from puforest import PUExtraTreesClassifier
    >>> from puforest.datasets import load_mushrooms, make_pu
    >>> from puforest.inspection import feature_selection_curve
    >>> X, y = load_mushrooms(return_X_y=True)
    >>> X_pu, labeled = make_pu(X[::4], y[::4], n_labeled=300, random_state=0)
    >>> forest = PUExtraTreesClassifier(prior=y.mean(), n_estimators=20)
    >>> curve = feature_selection_curve(
    ...     forest, X_pu, labeled, X_test=X[1::4], y_test=y[1::4], steps=[1, 30, 112],
    ...     random_state=0,
    ... )
    >>> bool(curve.mean[0] < 0.95 < curve.mean[1])
    True
    """
    model = _require_forest(estimator)
    X, X_test = sliceable(X), sliceable(X_test)
    schema, encoded = FeatureSchema.of_table(X, categorical_features=model.categorical_features)
    labels = check.label_vector(y)
    check_consistent_length(encoded, labels)
    sizes = _sizes(steps, schema.n_features)
    given = None
    if isinstance(order_by, str):
        check.one_of("order_by", order_by, ORDERS)
    else:
        given = check.vector("order_by", order_by, schema.n_features, finite=True)
    rng = check.random_state(random_state)
    repeats = check.integer("n_repeats", n_repeats, 1)

    if (X_test is None) != (y_test is None):
        raise ValueError("X_test and y_test must be given together")
    if X_test is not None:
        if cv is not None:
            raise ValueError(
                f"cv={cv!r} cannot be combined with X_test and y_test: pass one or the other"
            )
        truth = column_or_1d(y_test)
        _require_alike(schema, labels, X_test, truth)
        parts = [(X, labels, X_test, truth)]
    else:
        parts = [
            (take_rows(X, train), labels[train], take_rows(X, held_out), labels[held_out])
            for train, held_out in _splits(cv, model.scenario, X, labels, rng)
        ]
    score = _scorer(scoring, truth=X_test is not None)

    estimates = model.prior is None and model.risk != "pn"

    def fitted(
        X: Any, y: NDArray[Any], columns: NDArray[np.intp], seed: int, prior: Any
    ) -> PUClassifier:
        fresh: PUClassifier = clone(model).set_params(
            random_state=seed, prior=prior, **_parameters_for(columns, model, schema)
        )
        return fresh.fit(take_columns(X, columns), y)

    everything = np.arange(schema.n_features)
    scores, weights = [], []
    for train, train_labels, test, test_labels in parts:
        for seed in rng.randint(np.iinfo(np.int32).max, size=repeats):
            weight, prior = given, model.prior
            if weight is None or estimates:
                whole = fitted(train, train_labels, everything, seed, prior)
                # Estimated once, with all features; otherwise scores would not be comparable.
                prior = whole.prior_ if estimates else prior
            if weight is None:
                weight = importances(whole, normalized=order_by == "normalized").mean
            order = np.argsort(-weight, kind="stable")
            weights.append(weight)
            column = []
            for k in sizes:
                best = np.sort(order[:k])
                part = fitted(train, train_labels, best, seed, prior)
                column.append(score(part, take_columns(test, best), test_labels))
            scores.append(column)
    return FeatureSelectionCurve(
        n_features=sizes,
        scores=np.transpose(scores),
        order=np.argsort(-np.mean(weights, axis=0), kind="stable"),
        feature_names=schema.feature_names(),
        scoring=_name_of(scoring, truth=X_test is not None),
    )


def _require_forest(estimator: Any) -> PUClassifier:
    if not isinstance(estimator, PUClassifier):
        raise TypeError(
            "estimator must be a puforest forest or tree, which is fitted to some of the columns "
            f"of X, got {type(estimator).__name__}: instead of a pipeline, pass its last step, and "
            "X as it is or transformed"
        )
    return estimator


def _parameters_for(
    columns: NDArray[np.intp], model: PUClassifier, schema: FeatureSchema
) -> dict[str, Any]:
    """Adapt the parameters that refer to features to some of the columns."""
    found: dict[str, Any] = {}
    parameters = model.get_params(deep=False)
    if check.is_integer(parameters.get("max_features")):
        found["max_features"] = _at_most(len(columns), parameters["max_features"])
    if not isinstance(parameters.get("candidates", "auto"), str):
        recipes = checked_candidates(parameters["candidates"])
        adapted = (replace(r, max_features=_at_most(len(columns), r.max_features)) for r in recipes)
        found["candidates"] = list(dict.fromkeys(adapted))  # two of them may be the same now
    if not isinstance(model.categorical_features, str | None):
        found["categorical_features"] = np.isin(columns, schema.categorical)
    if model.monotonic_cst is not None:
        increasing, decreasing = monotone_features(model.monotonic_cst, schema)
        signs = np.isin(columns, increasing).astype(int) - np.isin(columns, decreasing)
        found["monotonic_cst"] = signs
    return found


def _at_most(n_features: int, max_features: Any) -> Any:
    return min(int(max_features), n_features) if check.is_integer(max_features) else max_features


def _require_alike(schema: FeatureSchema, y: NDArray[Any], X_test: Any, y_test: Any) -> None:
    """Refuse test rows whose features or classes differ from those of the training rows."""
    n_rows, n_features = X_test.shape
    if n_rows != len(y_test):
        raise ValueError(f"X_test has {n_rows} rows, but y_test has {len(y_test)}")
    if n_features != schema.n_features:
        raise ValueError(f"X_test has {n_features} features, but X has {schema.n_features}")
    if unknown := np.setdiff1d(y_test, y).tolist():
        raise ValueError(
            f"y_test has the class {unknown[0]!r}, which y does not have: code the true classes as "
            f"in y, {np.unique(y).tolist()}"
        )


def _sizes(steps: int | Sequence[int], n_features: int) -> NDArray[np.int64]:
    if check.is_integer(steps):
        count = check.integer("steps", steps, 1)
        return np.unique(np.geomspace(n_features, 1, count).round().astype(np.int64))
    sizes = np.unique([check.integer("steps", k, 1) for k in np.ravel(np.asarray(steps)).tolist()])
    if not len(sizes) or sizes[-1] > n_features:
        raise ValueError(f"steps must be integers from 1 to {n_features}, got {steps!r}")
    return sizes


def _splits(
    cv: Any, scenario: str, X: Any, y: NDArray[Any], rng: np.random.RandomState
) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    # Imported here because a curve on test rows needs no splitter.
    from puforest.model_selection import PUStratifiedKFold

    if cv is None or check.is_integer(cv):
        folds = 5 if cv is None else int(cv)
        together = scenario == "case-control"
        cv = PUStratifiedKFold(folds, random_state=rng, group_duplicates=together)
    elif isinstance(cv, str) or not hasattr(cv, "split"):
        raise TypeError(f"cv must be an integer or a splitter with a method 'split', got {cv!r}")
    return list(cv.split(X, y))


def _name_of(scoring: str | Callable[..., float] | None, *, truth: bool) -> str:
    if scoring is None:
        return "accuracy" if truth else "pu_f1"
    return scoring_name(scoring)


def _scorer(scoring: str | Callable[..., float] | None, *, truth: bool) -> Callable[..., float]:
    from puforest.metrics import get_scorer

    if scoring is not None and callable(scoring):
        return scoring
    name = _name_of(scoring, truth=truth)
    scorer: Callable[..., float] = (sklearn.metrics.get_scorer if truth else get_scorer)(name)
    return scorer
