"""Random forests on tables with categories, booleans, dates and missing values."""

from dataclasses import replace

import numpy as np
import pandas as pd
from export_cases import KINDS, data, forest_of

from puforest._kinds import BOOLEAN, DATETIME, DURATION, ColumnKind
from puforest._schema import FeatureSchema

WORDS = tuple(f"word {i:03d}" for i in range(500))
COLUMNS = {
    1: ColumnKind("category", ("almond", "anise", "fishy")),
    2: ColumnKind("category", tuple(range(-5, 35))),
    3: BOOLEAN,
    4: DATETIME,
    5: DURATION,
    6: ColumnKind("category", WORDS),
    7: ColumnKind("category", (0.5, 1, 1.5)),
}
NAMES = ("size", "odor", "code", "flag", "seen", "wait", "word", "grade")
SCHEMA = FeatureSchema(len(NAMES), NAMES, COLUMNS)
PRIOR = 0.4


def mixed_model(kind="extra-trees", voting="soft", seed=0, depth=5, n_trees=8):
    """Return a model with random trees on columns of all kinds."""
    make, params = KINDS[kind]
    model = make(**{"prior": PRIOR, "voting": voting, "random_state": 0} | params)
    model.fit(*data(seed))
    model._record = replace(model._record, schema=SCHEMA)
    rng = np.random.default_rng(seed)
    counts = (model._record.n_labeled, model._record.n_unlabeled)
    trees = [random_tree(rng, depth, counts) for _ in range(n_trees if "trees" in kind else 1)]
    model._forest = forest_of(trees, len(NAMES))
    return model


def random_tree(rng, depth, counts):
    """Return a tree that splits down to a depth, as the nodes that `forest_of` takes."""
    nodes = [dict(zip(("n_labeled", "n_unlabeled"), counts, strict=True), w_p=PRIOR, w_u=1.0)]
    level = [0]
    for d in range(depth):
        below = []
        for k in level:
            if d > 0 and rng.random() < 0.2:
                continue
            below += [len(nodes), len(nodes) + 1]
            nodes += children(nodes[k], rng)
            nodes[k] |= random_split(rng) | {"left": below[-2]}
        level = below
    return nodes


def children(node, rng):
    """Return two children, with masses and counts that add up to those of the node."""
    left = {name: node[name] * rng.random() for name in ("w_p", "w_u")}
    left |= {name: int(rng.integers(node[name] + 1)) for name in ("n_labeled", "n_unlabeled")}
    return [left, {name: node[name] - value for name, value in left.items()}]


def random_split(rng):
    feature = int(rng.integers(len(NAMES)))
    split = {"feature": feature, "missing_left": int(rng.integers(2))}
    labels = SCHEMA.categories(feature)
    if feature in SCHEMA.categorical:
        n = rng.integers(1, len(labels) + 1)
        return split | {"categories": np.sort(rng.choice(len(labels), n, replace=False))}
    if rng.random() < 0.2:
        return split | {"threshold": np.inf, "missing_left": 0}
    return split | {"threshold": 0.5 if labels else rng.normal()}


def raw_table(n=120, seed=0):
    """Return a table with columns of several kinds and missing values, and labels."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "size": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)),
            "odor": rng.choice(["almond", "fishy", "foul", None], n),
            "flag": pd.array(rng.choice([True, False, None], n), dtype="boolean"),
            "seen": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(300, size=n), "D"),
            "code": pd.Categorical(rng.integers(10, 60, size=n)),
        }
    )
    return table, (rng.random(n) < 0.4).astype(int)


def mixed_rows(n=200, seed=1, dtype=np.float64):
    """Return rows as category numbers and other numbers, a fifth of them missing."""
    rng = np.random.default_rng(seed)
    columns = []
    for j in range(len(NAMES)):
        labels = SCHEMA.categories(j)
        columns.append(rng.normal(size=n) if labels is None else rng.integers(len(labels), size=n))
    X = np.column_stack(columns).astype(dtype)
    X[rng.random(X.shape) < 0.2] = np.nan
    return X


def goes_left(forest, node, value):
    """Return True if a value goes left at a node; the naive version of all splits."""
    missing_left = bool(forest.missing_left[node])
    if np.isnan(value):
        return missing_left
    if forest.n_categories[node]:
        is_listed = value in forest.node_categories(node)
        return is_listed != missing_left
    return value <= forest.threshold[node]


def walked(model, X):
    """Return the mean leaf value of each row, following the nodes one by one."""
    forest = model._forest
    value = forest.values(model.voting)
    total = np.zeros(len(X))
    for i, row in enumerate(X):
        for root in forest.offset[:-1]:
            node = root
            while forest.feature[node] >= 0:
                left = root + forest.left[node]
                node = left if goes_left(forest, node, row[forest.feature[node]]) else left + 1
            total[i] += value[node]
    return total / forest.n_trees
