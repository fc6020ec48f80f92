"""Export to SHAP.

The trees of SHAP compare with thresholds only, so they cannot express splits on categories. But the
SHAP values of a row depend on a split only through the side that the row takes. For rows with the
same categories, infinite thresholds send all of them to that side: `shap_explanation` exports the
trees once for each combination of categories.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from puforest import _validation as check
from puforest._base import PUClassifier
from puforest._model import Forest
from puforest._optional_imports import optional_import
from puforest.export._matrix import to_matrix
from puforest.export._trees import fitted, leaf_values, mean_output

# Weight of leaves without mass, as a fraction of the total. SHAP divides by weights, so they cannot
# be 0; this weight changes SHAP values by less than their rounding error.
LEAST_WEIGHT = 1e-12

# SHAP allocates 16 bytes times the square of the depth, 1.6 GB for this one, and terminates the
# process if the allocation fails.
DEEPEST = 10_000


def to_shap(model: Any) -> dict[str, Any]:
    """Export a forest or tree as input to ``shap.TreeExplainer``.

    The SHAP values of a row and the expected value add up to ``predict_proba(X)[:, 1]``, or to its
    log-odds for a `PUForestClassifier`, whose probabilities are a sigmoid of the sum over its
    trees. Models with splits on categorical features cannot be exported; use `shap_explanation`
    for them.

    Without background data, SHAP follows both branches of a split on an unknown feature and
    averages them with weights. Here the weights are the masses W_u, the estimated fractions of the
    *population* that take each branch. Row counts would be biased: the labeled rows of case-control
    data are sampled separately from the population. ``expected_value`` is therefore the mean
    prediction over the population.

    Parameters
    ----------
    model : fitted estimator
        A puforest forest or tree.

    Returns
    -------
    dict
        A model for ``shap.TreeExplainer``. Explainers with background data modify it, so call
        `to_shap` again for each of them.

    Examples
    --------
    >>> import numpy as np
    >>> import shap
    >>> from puforest import PUExtraTreesClassifier
    >>> from puforest.export import to_shap
    >>> X = np.array([[0.1, 3], [0.2, 1], [0.3, 2], [0.6, 3], [0.7, 1], [0.9, 2]])
    >>> forest = PUExtraTreesClassifier(prior=0.5, random_state=0).fit(X, [0, 0, 0, 0, 1, 1])
    >>> explainer = shap.TreeExplainer(to_shap(forest))
    >>> total = explainer.shap_values(X).sum(axis=1) + explainer.expected_value
    >>> np.allclose(total, forest.predict_proba(X)[:, 1])
    True
    """
    estimator = fitted(model, "to_shap")
    if estimator._forest.n_categories.any():
        raise ValueError(
            "to_shap cannot export splits on categorical features, because the trees of SHAP only "
            "have thresholds: call shap_explanation(model, X), which computes the exact SHAP "
            "values of such models"
        )
    return _exported(estimator)


def shap_explanation(model: Any, X: check.MatrixLike) -> Any:
    """Compute the SHAP values of a forest or tree for the rows of a table.

    The values are those of ``shap.TreeExplainer`` with `to_shap`, for models with any kind of
    columns. Its trees are built once for each combination of categories in X, which takes about as
    long as the values of a few rows.

    Parameters
    ----------
    model : fitted estimator
        A puforest forest or tree.
    X : array-like of shape (n_samples, n_features)
        Rows to explain, with the columns that the model was fitted to.

    Returns
    -------
    shap.Explanation
        SHAP values of shape (n_samples, n_features), with the expected value as ``base_values``
        and the matrix of `to_matrix` as ``data``. The plots of SHAP accept it.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from puforest import PUExtraTreesClassifier
    >>> from puforest.export import shap_explanation
    >>> X = pd.DataFrame({"odor": ["foul", "none", None, "none", "foul", "foul"]})
    >>> forest = PUExtraTreesClassifier(prior=0.5, random_state=0).fit(X, [0, 0, 0, 0, 1, 1])
    >>> explanation = shap_explanation(forest, X)
    >>> total = explanation.values.sum(axis=1) + explanation.base_values
    >>> np.allclose(total, forest.predict_proba(X)[:, 1])
    True
    """
    shap = optional_import("shap", extra="export", purpose="shap_explanation")
    estimator = fitted(model, "shap_explanation")
    matrix = to_matrix(estimator, X)
    exported = _exported(estimator)
    values = np.empty_like(matrix)
    expected = np.nan
    for rows, threshold in _thresholds_by_categories(estimator._forest, matrix):
        offset = 0
        for tree in exported["trees"]:
            end = offset + len(tree["features"])
            tree["thresholds"] = threshold[offset:end]
            offset = end
        explainer = shap.TreeExplainer(exported)
        values[rows] = explainer.shap_values(matrix[rows])
        expected = np.ravel(explainer.expected_value)[0]
    return shap.Explanation(
        values,
        base_values=np.full(len(matrix), expected),
        data=matrix,
        feature_names=check.feature_names(estimator),
    )


def _thresholds_by_categories(
    forest: Forest, matrix: NDArray[np.float64]
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.float64]]]:
    """Group rows by their categories; return the rows and the thresholds of each group.

    Thresholds of splits on categories are infinite, such that rows take the side of their category.
    """
    node = np.flatnonzero(forest.n_categories)
    if not len(node):
        yield np.arange(len(matrix)), forest.threshold
        return
    feature, position = np.unique(forest.feature[node], return_inverse=True)
    codes = np.nan_to_num(matrix[:, feature], nan=-1)  # no list has -1
    combinations, group, size = np.unique(codes, axis=0, return_inverse=True, return_counts=True)
    rows = np.split(np.argsort(group.ravel(), kind="stable"), np.cumsum(size)[:-1])

    n_listed = forest.n_categories[node]
    start = forest.category_ends[node] - n_listed
    position = np.repeat(position, n_listed)
    missing_left = forest.missing_left[node].astype(bool)
    threshold = forest.threshold.copy()
    for i, code in enumerate(combinations):
        is_listed = np.logical_or.reduceat(forest.categories == code[position], start)
        threshold[node] = np.where(is_listed != missing_left, np.inf, -np.inf)
        yield rows[i], threshold


def _exported(estimator: PUClassifier) -> dict[str, Any]:
    """Return the trees as a dictionary for SHAP, with the thresholds of the forest."""
    forest = estimator._forest
    if (depth := forest.depth()) > DEEPEST:
        raise ValueError(
            f"model has a tree of depth {depth:,}, and SHAP needs memory proportional to the "
            f"square of the depth: fit with max_depth={DEEPEST:_} or less, or with a larger "
            "min_samples_leaf"
        )
    weight, output = population_weights(forest), mean_output(estimator)
    value = output.scale * leaf_values(estimator) / forest.n_trees
    trees = []
    for t in range(forest.n_trees):
        tree = forest.tree(t)
        part = slice(forest.offset[t], forest.offset[t + 1])
        right = np.where(tree.is_leaf, -1, tree.left + 1)
        missing = np.where(tree.missing_left, tree.left, right)
        trees.append(
            {
                "children_left": tree.left,
                "children_right": right,
                "children_default": missing,
                "features": tree.feature,
                "thresholds": tree.threshold,
                "values": value[part, None],
                "node_sample_weight": weight[part].copy(),
            }
        )
    return {
        "trees": trees,
        "tree_output": "probability" if output.link == "identity" else "log_odds",
        "base_offset": output.offset,
    }


def population_weights(forest: Forest) -> NDArray[np.float64]:
    """Return positive weights W_u; those of two children add up to that of their parent."""
    left = forest.left_children()
    total = np.repeat(forest.w_u[forest.offset[:-1]], np.diff(forest.offset))
    weight = np.maximum(forest.w_u, LEAST_WEIGHT * total)
    for inner in reversed(list(forest.levels())):
        weight[inner] = weight[left[inner]] + weight[left[inner] + 1]
    return weight
