"""The core against the naive forest, node by node."""

import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from puforest import (
    PUDecisionTreeClassifier,
    PUExtraTreeClassifier,
    PUExtraTreesClassifier,
    PURandomForestClassifier,
    _core,
)
from puforest._encoded import EncodedTable
from puforest._masses import group_masses
from puforest._training import grow, set_masses, train_params
from puforest._training_rows import training_rows
from puforest.risk import LOSSES, RISKS
from puforest.scenario import SCENARIOS

CLASS = {"random": PUExtraTreeClassifier, "optimal": PUDecisionTreeClassifier}


def seed_of(random_state):
    return int(np.random.RandomState(random_state).randint(np.iinfo(np.int32).max))


def paths_of(forest):
    """Nodes of a forest with one tree, by their paths."""
    todo, nodes = [("", 0)], {}
    while todo:
        path, i = todo.pop()
        nodes[path] = i
        if forest.feature[i] >= 0:
            todo += [(path + "L", forest.left[i]), (path + "R", forest.left[i] + 1)]
    return nodes


def random_problem(rng, *, exact):
    """Small data with ties, optionally with weights whose sums are exact."""
    n, d = int(rng.integers(4, 40)), int(rng.integers(1, 6))
    X = rng.integers(0, rng.integers(2, 12), size=(n, d)) * rng.choice([1.0, 0.37, -2.5], size=d)
    labeled = rng.random(n) < 0.4
    labeled[:2] = [True, False]
    weight = rng.integers(1, 9, n) / 8 if exact else rng.uniform(0.1, 3, n)
    propensity = 0.5 ** rng.integers(0, 3, n) if exact else rng.uniform(0.2, 1, n)
    return X, labeled, weight, propensity


def setting(rng):
    return {
        "risk": str(rng.choice(RISKS)),
        "loss": str(rng.choice(sorted(LOSSES))),
        "scenario": str(rng.choice(SCENARIOS)),
        "max_features": None if rng.random() < 0.3 else 0.5,
        "max_depth": None if rng.random() < 0.7 else int(rng.integers(1, 5)),
        "min_samples_split": int(rng.integers(2, 5)),
        "min_samples_leaf": int(rng.integers(1, 4)),
        "min_risk_reduction": None if rng.random() < 0.7 else float(rng.choice([-0.0123, 0.00321])),
        "max_leaf_nodes": None if rng.random() < 0.6 else int(rng.integers(2, 9)),
    }


def draw_case(seed, *, exact):
    rng = np.random.default_rng(seed)
    X, labeled, weight, propensity = random_problem(rng, exact=exact)
    params = setting(rng)
    if rng.random() < 0.5:
        weight = np.ones(len(X))
    if params["risk"] == "pn" or rng.random() < 0.5:
        propensity = None
    # Any prior that the labeled rows allow in both scenarios.
    share = weight[labeled].sum() / weight.sum()
    params["prior"] = float(share + (1 - share) * rng.uniform(0.1, 0.9))
    return X, labeled, weight, propensity, params


def reference_tree(X, labeled, weight, propensity, params, key, *, rows=slice(None), **kind):
    """The naive tree on some of the rows, with the masses of all."""
    params = dict(params)
    masses = group_masses(
        risk=params["risk"],
        scenario=params.pop("scenario"),
        prior=params.pop("prior"),
        labeled=weight[labeled],
        unlabeled=weight[~labeled],
        propensity=None if propensity is None else propensity[labeled],
    )
    if params["max_features"] is None:
        params["max_features"] = X.shape[1]
    elif isinstance(params["max_features"], float):
        params["max_features"] = int(np.ceil(params["max_features"] * X.shape[1]))
    for name, none in (("max_depth", np.inf), ("min_risk_reduction", -np.inf)):
        if params[name] is None:
            params[name] = none
    positive = weight if propensity is None else weight / propensity
    totals = (masses.labeled_p, masses.labeled_u, masses.unlabeled_u)
    data = (a[rows] for a in (X, labeled, positive, weight))
    return oracle.Tree(*data, totals, key=key, **params, **kind)


def assert_same_tree(forest, tree):
    """Assert that splits and masses at the same paths are equal, bit for bit."""
    core = paths_of(forest)
    naive = dict(tree.nodes())
    assert core.keys() == naive.keys()
    for path, i in core.items():
        node = naive[path]
        split = node.split or oracle.Split(feature=-1, missing_left=False)
        assert forest.feature[i] == split.feature, path
        assert forest.threshold[i] == split.threshold, path
        assert forest.missing_left[i] == split.missing_left, path
        assert tuple(forest.node_categories(i)) == node.listed, path
        assert forest.n_labeled[i] == tree.labeled[node.rows].sum()
        assert forest.n_labeled[i] + forest.n_unlabeled[i] == len(node.rows)
        assert (forest.w_p[i], forest.w_u[i]) == (node.w_p, node.w_u), path


@pytest.mark.parametrize("thresholds", ["random", "optimal"])
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=150)
def test_same_candidates_give_the_same_tree(thresholds, seed):
    X, labeled, weight, propensity, params = draw_case(seed, exact=True)
    kind = {"n_thresholds": 1 + seed % 3} if thresholds == "random" else {}
    model = CLASS[thresholds](**params, **kind, random_state=seed)
    model.fit(X, labeled, weight, propensity=propensity)
    key = oracle.tree_key(seed_of(seed), 0)
    tree = reference_tree(
        X, labeled, weight, propensity, params, key, thresholds=thresholds, **kind
    )
    assert_same_tree(model._forest, tree)


def draw_kinds(rng, X, labeled):
    """Make some columns categorical, constrain others, and remove values, often by label."""
    d = X.shape[1]
    kind = rng.choice(["number", "category", "increasing", "decreasing"], d, p=[0.3, 0.4, 0.2, 0.1])
    categorical = [j for j in range(d) if kind[j] == "category"]
    for j in categorical:
        X[:, j] = rng.choice([0, 1, 2, 3, 4, 70, 300, 65534], len(X))
    sign = {"increasing": 1, "decreasing": -1}
    monotone = {j: sign[kind[j]] for j in range(d) if kind[j] in sign and rng.random() < 0.5}
    for j in range(d):
        of_labeled, of_others = rng.choice([0, 0.2, 0.6, 1.0], 2, p=[0.3, 0.4, 0.25, 0.05])
        rate = np.where(labeled, of_labeled, of_others) if rng.random() < 0.6 else of_others
        X[rng.random(len(X)) < rate, j] = np.nan
    return categorical, monotone


def inputs(X, labeled, weight, propensity, params, *, categorical, monotone, seed, **kind):
    """The inputs of `grow` for a matrix, without the schema of an estimator."""
    thresholds = _core.Thresholds[kind.pop("thresholds")]
    rows = training_rows(labeled.astype(int), weight, propensity, risk=params["risk"])
    table = EncodedTable(X, tuple(categorical))
    native = train_params(params | kind, thresholds=thresholds, rows=rows, table=table)
    masses = group_masses(
        risk=params["risk"],
        scenario=params["scenario"],
        prior=params["prior"],
        labeled=rows.labeled_weight,
        unlabeled=rows.unlabeled_weight,
        propensity=rows.propensity,
    )
    set_masses(native, masses)
    native.seed = seed
    native.increasing_features = [j for j, sign in monotone.items() if sign == 1]
    native.decreasing_features = [j for j, sign in monotone.items() if sign == -1]
    return table, rows, native


@pytest.mark.parametrize("thresholds", ["random", "optimal"])
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=200)
def test_missing_values_categories_and_constraints(thresholds, seed):
    X, labeled, weight, propensity, params = draw_case(seed, exact=True)
    rng = np.random.default_rng(seed)
    if rng.random() < 0.5:  # enough rows that missing values can be informative
        again = rng.integers(0, len(X), 10 * len(X))
        again[:2] = [0, 1]
        X, labeled, weight = X[again], labeled[again], weight[again]
        propensity = None if propensity is None else propensity[again]
        share = weight[labeled].sum() / weight.sum()
        params["prior"] = float(share + (1 - share) * rng.uniform(0.1, 0.9))
    categorical, monotone = draw_kinds(rng, X, labeled)
    kind = {"thresholds": thresholds} | (
        {"n_thresholds": 1 + seed % 3} if thresholds == "random" else {}
    )
    kinds = {"categorical": categorical, "monotone": monotone}
    forest = grow(*inputs(X, labeled, weight, propensity, params, seed=seed, **kinds, **kind))
    key = oracle.tree_key(seed, 0)
    tree = reference_tree(X, labeled, weight, propensity, params, key, **kinds, **kind)
    assert_same_tree(forest, tree)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("risk", ["nnpu", "pn"])
@pytest.mark.parametrize("thresholds", ["random", "optimal"])
def test_columns_of_256_values_and_missing_ones(thresholds, risk, weighted):
    """Their codes are a byte and a bit; the rows of small nodes are copied."""
    rng = np.random.default_rng(0)
    n, d = 1500, 10
    X = rng.permuted(np.arange(n) % 256, axis=0)[:, None] + rng.integers(0, 256, d)
    X = (X % 256).astype(float)
    labeled = rng.random(n) < 0.1 + 0.3 * (X[:, 0] > 100)
    X[rng.random((n, d)) < 0.1] = np.nan
    X[labeled & (rng.random(n) < 0.3), 1] = np.nan  # informative
    assert all(len(np.unique(x[~np.isnan(x)])) == 256 for x in X.T)
    params = setting(rng) | {
        "risk": risk, "loss": "quadratic", "scenario": "single-training-set", "prior": 0.6,
        "max_features": 0.3, "max_depth": 9 if thresholds == "random" else 4,
        "min_risk_reduction": None, "max_leaf_nodes": None,
    }  # fmt: skip
    weight = rng.integers(1, 9, n) / 8 if weighted else np.ones(n)
    data = (X, labeled, weight, None, params)
    kinds = {"categorical": [9], "monotone": {}, "thresholds": thresholds}
    forest = grow(*inputs(*data, seed=3, **kinds))
    assert len(forest.feature) > 20
    assert_same_tree(forest, reference_tree(*data, oracle.tree_key(3, 0), **kinds))


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=150)
def test_every_node_has_the_minimum_risk(seed):
    """With weights whose ties depend on rounding, optimal splits have the oracle's risk."""
    X, labeled, weight, propensity, params = draw_case(seed, exact=False)
    params |= {"max_features": None, "max_leaf_nodes": None}
    model = PUDecisionTreeClassifier(**params).fit(X, labeled, weight, propensity=propensity)
    forest = model._forest
    tree = reference_tree(X, labeled, weight, propensity, params, 0, thresholds="optimal")
    w_p, w_u = oracle.row_weights(
        labeled, weight, risk=params["risk"], scenario=params["scenario"], prior=params["prior"],
        propensity=propensity,
    )  # fmt: skip
    passes = model.decision_path(X).toarray().astype(bool)
    for i in range(len(forest.feature)):
        rows = np.flatnonzero(passes[:, i])
        assert_allclose([forest.w_p[i], forest.w_u[i]], [w_p[rows].sum(), w_u[rows].sum()])
        if forest.feature[i] < 0:
            continue
        node = tree.node(rows, 0, 0, list(range(X.shape[1])))
        best = tree.find_split(node)
        assert best is not None
        reached = tree.reduction(node, oracle.Split(forest.feature[i], forest.threshold[i]))
        assert reached == best.reduction or reached == pytest.approx(best.reduction, abs=1e-12)


SAMPLINGS = [
    {"bootstrap": True},
    {"bootstrap": True, "max_unlabeled": 0.5},
    {"bootstrap": False, "max_labeled": 2, "max_unlabeled": 0.6},
    {"bootstrap": False},
]


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("sampling", SAMPLINGS, ids=str)
@pytest.mark.parametrize("thresholds", ["random", "optimal"])
def test_forests_draw_the_same_samples_as_the_oracle(thresholds, sampling, scenario):
    rng = np.random.default_rng(3)
    X, labeled, *_ = random_problem(rng, exact=True)
    order = np.concatenate([np.flatnonzero(labeled), np.flatnonzero(~labeled)])
    n_l, n_u = int(labeled.sum()), int((~labeled).sum())
    cls = {"random": PUExtraTreesClassifier, "optimal": PURandomForestClassifier}[thresholds]
    model = cls(
        prior=0.8, scenario=scenario, n_estimators=4, max_features=1, random_state=5, **sampling
    ).fit(X, labeled)
    masses = (0.8, 0.0, 1.0) if scenario == "case-control" else (0.8, n_l / len(X), n_u / len(X))
    draws = {
        "replace": sampling["bootstrap"],
        "together": scenario == "single-training-set" and sampling == {"bootstrap": True},
        "labeled": sampling.get("max_labeled", n_l),
        "unlabeled": int(np.ceil(sampling.get("max_unlabeled", 1.0) * n_u)),
    }
    for t in range(4):
        key = oracle.tree_key(seed_of(5), t)
        rows = order[oracle.draw_sample(key, order, n_l, **draws)]
        ones = np.ones(len(rows))
        tree = oracle.Tree(
            X[rows], labeled[rows], ones, ones, masses, key=key, risk="nnpu", loss="quadratic",
            thresholds=thresholds, max_features=1,
        )  # fmt: skip
        assert_same_tree(model._forest.tree(t), tree)
