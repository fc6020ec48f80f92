"""How much features matter: by risk reduction, and by what a metric loses without them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import sklearn.inspection
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from puforest import _validation as check
from puforest._base import PUClassifier
from puforest._unwrap import without_names

Array = NDArray[np.float64]

SHOWN = 20


@dataclass(frozen=True)
class FeatureImportances:
    """Importances of the features, several draws of each; printing them shows a table.

    Attributes
    ----------
    values : ndarray of shape (n_draws, n_features)
        Importances by draw: a tree, or a permutation.
    feature_names : list of str
        Names of the features; "x0", "x1" and so on where they have none.
    kind : str
        What the numbers are.
    """

    values: Array = field(repr=False)
    feature_names: list[str] = field(repr=False)
    kind: str

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
        """Features from the most to the least important."""
        return np.argsort(-self.mean, kind="stable")

    def sorted(self, n: int | None = None) -> list[tuple[str, float, float]]:
        """Name, mean and standard deviation of the most important features.

        Parameters
        ----------
        n : int, optional
            How many; all by default.

        Returns
        -------
        list of tuple
        """
        mean, std = self.mean, self.std
        return [(self.feature_names[i], float(mean[i]), float(std[i])) for i in self.order[:n]]

    def __str__(self) -> str:
        rows = self.sorted(SHOWN)
        width = max(len(name) for name, _, _ in rows)
        lines = [f"{self.kind}: mean and standard deviation of {len(self.values)}"]
        lines += [f"{name:<{width}}  {mean:10.4g}  {std:10.4g}" for name, mean, std in rows]
        if len(self.feature_names) > SHOWN:
            lines.append(f"... and {len(self.feature_names) - SHOWN} more")
        return "\n".join(lines)


def refuse_other_tables(X: check.MatrixLike) -> None:
    """Refuse tables whose columns scikit-learn's inspection would lose the names of."""
    if hasattr(X, "columns") and not hasattr(X, "iloc"):
        raise TypeError(
            f"X must be an array or a pandas table, got {type(X).__module__}.{type(X).__name__}: "
            "give X.to_pandas()"
        )


def read_once(estimator: Any, X: check.MatrixLike) -> tuple[Any, check.MatrixLike]:
    """A forest and its table without the names of the columns, which are compared here.

    They would be compared at every prediction, in a second for 60,000 columns.
    """
    if isinstance(estimator, PUClassifier) and hasattr(X, "columns"):
        return without_names(estimator), estimator._validated(X)
    return estimator, X


def require_forest(name: str, value: Any) -> PUClassifier:
    """Refuse what is not an estimator of this package."""
    if not isinstance(value, PUClassifier):
        raise TypeError(f"{name} must be a forest or tree of puforest, got {type(value).__name__}")
    return value


def importances(
    forest: Any, *, normalized: bool = False, top: int | None = None
) -> FeatureImportances:
    """Importances by risk reduction, with their spread over the trees.

    Parameters
    ----------
    forest : estimator
        A fitted forest or tree of puforest.
    normalized : bool, default=False
        Whether to divide the reduction of each split by the mass of its node, so that splits deep
        in a tree count as much as those near its root.
    top : int, optional
        Only so many features, the most important ones first; without it all of them, in the order
        of the fit. With very many features and trees this saves memory.

    Returns
    -------
    FeatureImportances
        One draw for each tree. The means are those of ``feature_importances_``, or of
        ``normalized_feature_importances_``.

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
    model = require_forest("forest", forest)
    check_is_fitted(model)
    check.boolean("normalized", normalized)
    grown, trees = model._record, model._forest
    chosen = np.arange(trees.n_features)
    if top is not None:
        mean = trees.importances(grown.risk, grown.loss, normalized=normalized)
        chosen = np.argsort(-mean, kind="stable")[: check.integer("top", top, 1)]
    values = trees.importances_by_tree(grown.risk, grown.loss, chosen, normalized=normalized)
    names = check.feature_names(model)
    kind = "normalized risk reduction by tree" if normalized else "risk reduction by tree"
    return FeatureImportances(values, [names[i] for i in chosen], kind)


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
    """How much worse a PU metric gets when a feature is shuffled.

    Labeled and unlabeled rows are shuffled together: a feature that is shuffled says nothing
    about the class any more.

    Parameters
    ----------
    estimator : estimator
        A fitted classifier.
    X : array-like of shape (n_samples, n_features)
        Rows that it has not seen, if what it needs for new rows is asked for: an array or a
        pandas table.
    y : array-like of shape (n_samples,)
        Their PU labels; or the true classes, with a `scoring` for those.
    scoring : str or callable, default="pu_f1"
        A name of `puforest.metrics.get_scorer_names`, or a callable of estimator, X and y of which
        greater is better.
    n_repeats : int, default=5
        How often each feature is shuffled.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the rows, for the metric.
    n_jobs : int, optional
        Number of processes for the features.
    random_state : int, RandomState instance or None, default=None
        Seed of the shuffling.

    Returns
    -------
    FeatureImportances
        One draw for each repeat.

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
    # Imported late: metrics are many, and importances need none of them.
    from puforest.metrics import get_scorer

    check_is_fitted(estimator)
    names = check.feature_names(estimator, X)
    refuse_other_tables(X)
    if isinstance(scoring, str):  # a callable may want the names of the columns
        estimator, X = read_once(estimator, X)
    with np.errstate(over="ignore", invalid="ignore"):  # sums of huge values, in its checks
        result = sklearn.inspection.permutation_importance(
            estimator,
            X,
            y,
            scoring=get_scorer(scoring),
            n_repeats=check.integer("n_repeats", n_repeats, 1),
            n_jobs=n_jobs,
            random_state=random_state,
            sample_weight=sample_weight,
        )
    name = scoring if isinstance(scoring, str) else getattr(scoring, "__name__", "score")
    return FeatureImportances(result.importances.T, names, f"loss of {name} when shuffled")
