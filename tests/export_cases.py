"""Models of all kinds, and rows on which another runtime is most likely to differ."""

import numpy as np

from puforest import (
    PUDecisionTreeClassifier,
    PUExtraTreeClassifier,
    PUExtraTreesClassifier,
    PURandomForestClassifier,
)
from puforest._model import NODE_FIELDS, Forest, with_missing_sides

# Scales of the columns, so that thresholds have all magnitudes.
SCALES = np.array([1.0, 1e-3, 1e300, 1e-310, 1e38, 1e-40])
LARGEST32 = float(np.finfo(np.float32).max)

KINDS = {
    "extra-trees": (PUExtraTreesClassifier, {"n_estimators": 30, "min_samples_leaf": 2}),
    "random-forest": (PURandomForestClassifier, {"n_estimators": 12, "min_samples_leaf": 5}),
    "extra-tree": (PUExtraTreeClassifier, {}),
    "decision-tree": (PUDecisionTreeClassifier, {"min_samples_leaf": 5}),
}
CODINGS = {
    "numbers": np.array([0, 1]),
    "signs": np.array([-1, 1], dtype=np.int8),
    "reals": np.array([0.0, 1.0]),
    "booleans": np.array([False, True]),
    "strings": np.array(["unknown", "yes"]),
    "objects": np.array(["unbekannt", "β-positive"], dtype=object),
}


def data(seed=0, n=240):
    """Return PU data with columns of all magnitudes, and labels 0 and 1."""
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < 0.4
    X = rng.normal(size=(n, len(SCALES))) + positive[:, None]
    X[:, 1] = np.round(4 * X[:, 1])  # ties
    return X * SCALES, (positive & (rng.random(n) < 0.5)).astype(int)


def fitted(kind, voting="hard", coding="numbers", seed=0, **params):
    make, defaults = KINDS[kind]
    X, labeled = data(seed)
    given = {"prior": 0.4, "random_state": seed, "voting": voting} | defaults | params
    return make(**given).fit(X, CODINGS[coding][labeled])


def edge_rows(model, dtype, n=2000, seed=1):
    """Return rows with values at thresholds, next to them, and at the limits of floats."""
    rng = np.random.default_rng(seed)
    forest = model._forest
    columns = []
    for j in range(forest.n_features):
        t = forest.threshold[forest.feature == j]
        with np.errstate(over="ignore", under="ignore"):
            single = t.astype(np.float32)
            near = [np.nextafter(t, t.dtype.type(s * np.inf)) for t in (t, single) for s in (-1, 1)]
        ends = [0.0, -0.0, 5e-324, -5e-324, 1e-45, -1e-45, 1.2e-38, 1.0, -1.0]
        ends += [LARGEST32, -LARGEST32, 1.7e308, -1.7e308]
        columns.append(rng.choice(np.concatenate([t, single, *near, ends]), n))
    X = np.column_stack(columns)
    largest = float(np.finfo(dtype).max)
    with np.errstate(under="ignore"):
        return np.clip(X, -largest, largest).astype(dtype)


def forest_of(trees, n_features):
    """Make a forest of trees, lists of nodes as dicts; fields left out are as in leaves.

    The field ``categories`` is the list of the node.
    """
    nodes = [node for tree in trees for node in tree]
    lists = [node.get("categories", ()) for node in nodes]
    fields = {}
    for field in NODE_FIELDS:
        default = 0 if field.in_leaves is None else field.in_leaves
        values = [node.get(field.name, default) for node in nodes]
        fields[field.name] = np.array(values, dtype=field.dtype)
    fields["n_categories"] = np.array([len(listed) for listed in lists], dtype=np.int32)
    return Forest(
        n_features=n_features,
        offset=np.cumsum([0, *(len(tree) for tree in trees)]),
        categories=np.array([c for listed in lists for c in listed], dtype=np.uint16),
        **fields,
    )


def with_trees(model, *trees):
    """Replace the trees of the model; each is a list of (feature, threshold, left, w_p, w_u)."""
    names = ("feature", "threshold", "left", "w_p", "w_u")
    counted = {"n_labeled": 1, "n_unlabeled": 1}
    nodes = [[dict(zip(names, node, strict=True)) | counted for node in tree] for tree in trees]
    forest = forest_of(nodes, model.n_features_in_)
    arrays = with_missing_sides(forest._arrays())
    model._forest = Forest(n_features=forest.n_features, **arrays)
    return model


def chain(depth, voting="hard"):
    """Return a tree of one long path over one feature: rows with x <= k leave it at step k."""
    model = PUDecisionTreeClassifier(prior=0.5, voting=voting).fit([[0.0], [1.0]], [0, 1])
    nodes = []
    for k in range(depth):
        mass = 1 - k / (depth + 1)
        nodes.append((0, float(k), 2 * k + 1, mass / 2, mass))
        nodes.append((-1, 0.0, -1, (k % 2) / (depth + 1), 1 / (depth + 1)))
    nodes.append((-1, 0.0, -1, 0.0, 1 / (depth + 1)))
    return with_trees(model, nodes)


def constants(voting="hard"):
    """Return a forest of single-leaf trees: two vote positive, and one is tied."""
    model = PUExtraTreesClassifier(prior=0.5, voting=voting).fit([[0.0], [1.0]], [0, 1])
    leaves = [(-1, 0.0, -1, w_p, 1.0) for w_p in (0.2, 0.7, 0.9, 0.5)]
    return with_trees(model, *([leaf] for leaf in leaves))
