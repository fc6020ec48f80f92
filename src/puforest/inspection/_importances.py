"""Feature importances, by risk reduction and by permutation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from puforest import _validation as check
from puforest._unwrap import require_unwrapped
from puforest.inspection._table import InspectedTable

Array = NDArray[np.float64]

SHOWN = 20

METHODS = ("risk", "permutation")
MANY_VALUES = (
    "Risk reductions favor features with many distinct values; compare them with "
    'importances(model, X, y, method="permutation").'
)


@dataclass(frozen=True)
class FeatureImportances:
    """Feature importances with their standard deviations; prints as a table.

    Attributes
    ----------
    values : ndarray of shape (n_draws, n_features)
        Importance of each feature in each draw (a tree or a permutation).
    feature_names : list of str
        Feature names; "x0", "x1" and so on if there are none.
    kind : str
        Description of the importances.
    note : str
        Caveat for readers of the importances; may be empty.
    """

    values: Array = field(repr=False)
    feature_names: list[str] = field(repr=False)
    kind: str
    note: str = field(repr=False, default="")

    @property
    def mean(self) -> Array:
        """Mean importance of each feature."""
        return np.asarray(self.values.mean(axis=0))

    @property
    def std(self) -> Array:
        """Standard deviation over the draws."""
        return np.asarray(self.values.std(axis=0))

    @property
    def order(self) -> NDArray[np.intp]:
        """Indices of the features, the most important first."""
        return np.argsort(-self.mean, kind="stable")

    def top(self, n: int) -> FeatureImportances:
        """Return the most important features.

        Parameters
        ----------
        n : int
            Number of features.

        Returns
        -------
        FeatureImportances
        """
        best = self.order[:n]
        names = [self.feature_names[i] for i in best]
        return replace(self, values=self.values[:, best], feature_names=names)

    def sorted(self, n: int | None = None) -> list[tuple[str, float, float]]:
        """Name, mean and standard deviation of the most important features.

        Parameters
        ----------
        n : int, optional
            Number of features; all by default.

        Returns
        -------
        list of tuple
        """
        mean, std = self.mean, self.std
        return [(self.feature_names[i], float(mean[i]), float(std[i])) for i in self.order[:n]]

    def __str__(self) -> str:
        rows = self.sorted(SHOWN)
        width = max(len(name) for name, _, _ in rows)
        lines = [f"{self.kind}: mean and standard deviation (n={len(self.values)})"]
        lines += [f"{name:<{width}}  {mean:10.4g}  {std:10.4g}" for name, mean, std in rows]
        if len(self.feature_names) > SHOWN:
            lines.append(f"... and {len(self.feature_names) - SHOWN} more")
        if self.note:
            lines.append(self.note)
        return "\n".join(lines)


def importances(
    forest: Any,
    X: check.MatrixLike = None,
    y: ArrayLike | None = None,
    *,
    method: str = "risk",
    normalized: bool = False,
    top: int | None = None,
    **options: Any,
) -> FeatureImportances:
    """Compute feature importances by risk reduction, with their variation over the trees.

    Importances by risk reduction need no data, but they are biased: features with many distinct
    values have more splits to choose from, and some reduce the risk by chance. Use
    ``method="permutation"`` with held-out rows to compare features with many values to features
    with few.

    Parameters
    ----------
    forest : estimator
        Fitted puforest forest or tree, calibrated or not, or a pipeline that ends in one. In a
        pipeline, the features are those that its transformers produce and name; with
        ``method="permutation"``, they are the columns of `X`.
    X, y : array-like, optional
        Rows and their PU labels, for ``method="permutation"``.
    method : {"risk", "permutation"}, default="risk"
        "risk" adds up the risk reductions of the splits; "permutation" calls
        `permutation_importance`.
    normalized : bool, default=False
        Whether to divide the risk reduction of each split by the mass of its node, so that splits
        deep in a tree count as much as those near its root.
    top : int, optional
        Number of features to return, the most important first. By default all features are
        returned, in the order of the fit. Setting it saves memory with many features and trees.
    **options
        Further arguments of `permutation_importance`, such as ``scoring`` or ``random_state``.

    Returns
    -------
    FeatureImportances
        Importances with one draw per tree, whose means are ``feature_importances_`` or
        ``normalized_feature_importances_``; or with one draw per permutation.

    Examples
    --------
    >>> from puforest import PUExtraTreesClassifier
    >>> from puforest.datasets import load_mushrooms, make_pu
    >>> from puforest.inspection import importances
    >>> X, y = load_mushrooms(return_X_y=True)
    >>> X, labeled = make_pu(X, y, n_labeled=1000, random_state=0)
    >>> forest = PUExtraTreesClassifier(prior=y.mean(), random_state=0).fit(X, labeled)
    >>> found = importances(forest)
    >>> found.values.shape
    (100, 112)
    >>> name, mean, std = found.sorted(1)[0]
    >>> load_mushrooms().feature_names[int(name[1:])]
    'odor=n'
    """
    check.boolean("normalized", normalized)
    if check.one_of("method", method, METHODS) == "permutation":
        if X is None or y is None:
            raise ValueError("method='permutation' requires X and y, rows and their PU labels")
        if normalized:
            raise ValueError("normalized=True requires method='risk'")
        result = permutation_importance(forest, X, y, **options)
        return result if top is None else result.top(check.integer("top", top, 1))
    if X is not None or y is not None or options:
        given = [name for name, value in (("X", X), ("y", y)) if value is not None] + [*options]
        raise ValueError(f"{', '.join(given)}: only used with method='permutation'")
    found = require_unwrapped("forest", forest)
    grown, trees = found.trees._record, found.trees._forest
    chosen = np.arange(trees.n_features)
    if top is not None:
        mean = trees.importances(grown.risk, grown.loss, normalized=normalized)
        chosen = np.argsort(-mean, kind="stable")[: check.integer("top", top, 1)]
    values = trees.importances_by_tree(grown.risk, grown.loss, chosen, normalized=normalized)
    names = found.feature_names()
    kind = "normalized risk reduction by tree" if normalized else "risk reduction by tree"
    return FeatureImportances(values, [names[i] for i in chosen], kind, MANY_VALUES)


def permutation_importance(
    estimator: Any,
    X: check.MatrixLike,
    y: ArrayLike,
    *,
    scoring: str | Callable[..., float] = "pu_f1",
    n_repeats: int = 5,
    sample_weight: ArrayLike | None = None,
    n_jobs: int | None = None,
    random_state: int | np.random.RandomState | None = None,
) -> FeatureImportances:
    """Compute the decrease of a PU metric when a feature is permuted.

    Labeled and unlabeled rows are permuted together, so that a permuted feature carries no
    information about the class.

    Parameters
    ----------
    estimator : estimator
        Fitted classifier. The features of a pipeline are the columns of X, before they are
        transformed.
    X : array-like of shape (n_samples, n_features)
        Rows to evaluate on: an array, a sparse matrix, or a table of pandas, polars or Arrow. Use
        held-out rows to measure the importance for new data.
    y : array-like of shape (n_samples,)
        PU labels, or true classes if `scoring` expects true classes.
    scoring : str or callable, default="pu_f1"
        Name from `puforest.metrics.get_scorer_names`, or a callable with the signature
        ``scorer(estimator, X, y)`` for which greater is better.
    n_repeats : int, default=5
        Number of permutations of each feature.
    sample_weight : array-like of shape (n_samples,), optional
        Sample weights for the metric.
    n_jobs : int, optional
        Number of parallel jobs over the features.
    random_state : int, RandomState instance or None, default=None
        Seed of the random number generator.

    Returns
    -------
    FeatureImportances
        Importances with one draw per permutation.

    Examples
    --------
    >>> import numpy as np
    >>> from puforest import PUExtraTreesClassifier
    >>> from puforest.inspection import permutation_importance
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(2000) < 0.5
    >>> X = rng.normal(size=(2000, 3)) + y[:, None] * [0, 3, 0]
    >>> labeled = y & (rng.random(2000) < 0.3)
    >>> forest = PUExtraTreesClassifier(prior=0.5, scenario="single-training-set", random_state=0)
    >>> forest = forest.fit(X[:1000], labeled[:1000])
    >>> found = permutation_importance(forest, X[1000:], labeled[1000:], random_state=0)
    >>> int(found.order[0])
    1
    """
    # Imported here because importances by risk reduction need no metrics.
    from puforest.metrics import get_scorer

    check_is_fitted(estimator)
    repeats = check.integer("n_repeats", n_repeats, 1)
    scorer = get_scorer(scoring)
    # A callable may use the columns of X, so it gets the table as it is.
    by_name = isinstance(scoring, str)
    table = (InspectedTable.of if by_name else InspectedTable.unencoded)(estimator, X)
    given = {} if sample_weight is None else {"sample_weight": sample_weight}
    seed = check.random_state(random_state).randint(np.iinfo(np.int32).max)

    def score(rows: Any) -> float:
        return float(scorer(table.estimator, rows, y, **given))

    def scores(j: int) -> list[float]:
        rng = np.random.RandomState(seed)  # the same permutations for all features
        orders = (rng.permutation(table.n_rows) for _ in range(repeats))
        return [score(table.with_shuffled(j, order)) for order in orders]

    best = score(table.table)
    shuffled = Parallel(n_jobs=n_jobs)(delayed(scores)(j) for j in range(len(table.names)))
    kind = f"decrease of {scoring_name(scoring)} when permuted"
    return FeatureImportances(best - np.transpose(shuffled), table.names, kind)


def scoring_name(scoring: str | Callable[..., float]) -> str:
    """Name of a metric, for tables and plots."""
    return scoring if isinstance(scoring, str) else getattr(scoring, "__name__", "score")
