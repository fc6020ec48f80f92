"""Export to SHAP."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from puforest._model import Forest
from puforest.export._trees import fitted, leaf_values

# Weight of leaves without mass, as a fraction of the total. SHAP divides by weights, so they cannot
# be 0; this weight changes SHAP values by less than their rounding error.
LEAST_WEIGHT = 1e-12

# SHAP allocates 16 bytes times the square of the depth, 1.6 GB for this one, and terminates the
# process if the allocation fails.
DEEPEST = 10_000


def to_shap(model: Any) -> dict[str, Any]:
    """Export a forest or tree as input to ``shap.TreeExplainer``.

    The SHAP values of a row and the expected value add up to ``predict_proba(X)[:, 1]``.

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
    forest = estimator._forest
    if (depth := forest.depth()) > DEEPEST:
        raise ValueError(
            f"model has a tree of depth {depth:,}, and SHAP needs memory proportional to the "
            f"square of the depth: fit with max_depth={DEEPEST:_} or less, or with a larger "
            "min_samples_leaf"
        )
    weight = population_weights(forest)
    value = leaf_values(estimator) / forest.n_trees
    trees = []
    for t in range(forest.n_trees):
        tree = forest.tree(t)
        part = slice(forest.offset[t], forest.offset[t + 1])
        right = np.where(tree.is_leaf, -1, tree.left + 1)
        trees.append(
            {
                "children_left": tree.left,
                "children_right": right,
                "children_default": right,  # for NaN, which puforest refuses
                "features": tree.feature,
                "thresholds": tree.threshold,
                "values": value[part, None],
                "node_sample_weight": weight[part].copy(),
            }
        )
    return {"trees": trees, "tree_output": "probability"}


def population_weights(forest: Forest) -> NDArray[np.float64]:
    """Return positive weights W_u; those of two children add up to that of their parent."""
    left = forest.left_children()
    total = np.repeat(forest.w_u[forest.offset[:-1]], np.diff(forest.offset))
    weight = np.maximum(forest.w_u, LEAST_WEIGHT * total)
    for inner in reversed(list(forest.levels())):
        weight[inner] = weight[left[inner]] + weight[left[inner] + 1]
    return weight
