"""Exact growth on partitions gives the forest of one machine, bit for bit."""

import os
import signal
import threading

import distributed
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from exact_growth import assert_same, exact_forest, parts_and_params

from puforest import PUExtraTreesClassifier, PURandomForestClassifier
from puforest.dask import _bins as bins
from puforest.dask._cluster import Tasks
from puforest.dask._exact import Traffic, grow_exact
from puforest.risk import LOSSES


def random_table(seed, n=300):
    """Return columns of all kinds, with gaps and ties, and labels."""
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < 0.4
    gaps = rng.random((n, 3)) < [0.1, 0.3, np.where(seed % 2, 0.05, 0.6)]
    gaps[:, 1] |= positive & (rng.random(n) < 0.3)  # informative
    table = pd.DataFrame(
        {
            "size": rng.normal(size=n) + positive,
            "steps": rng.integers(-2, 3, n).astype(float),
            "flag": rng.random(n) < 0.3,
            "same": np.ones(n),
            "none": np.full(n, np.nan),
            "one value": np.where(gaps[:, 0], np.nan, 2.5),
            "gaps": np.where(gaps[:, 1], np.nan, rng.normal(size=n)),
            "zeros": rng.choice([-0.0, 0.0, 1.0, 1e300, -1e300], n),
            "color": pd.Categorical(rng.choice(["red", "green", "blue"], n)),
            "code": pd.Categorical(
                np.where(gaps[:, 2], None, rng.integers(0, 12, n).astype(str).astype(object))
            ),
        }
    )
    labeled = positive & (rng.random(n) < (0.2 if seed % 3 else 0.9))
    return table, labeled.astype(int)


def random_parts(seed, y, n_parts=5):
    """Assign rows to parts, of which one is empty and one has no labeled rows."""
    rng = np.random.default_rng(seed)
    part = rng.choice([0, 0, 0, 2, 3, n_parts - 1], len(y))
    return np.where((part == 3) & (y == 1), 0, part)


PARAMETERS = [
    {},
    {"risk": "upu"},
    {"risk": "pn", "prior": None},
    {"scenario": "single-training-set"},
    {"scenario": "single-training-set", "risk": "upu", "loss": "savage"},
    {"n_thresholds": 3, "max_features": None},
    {"max_features": 1},
    {"max_depth": 4},
    {"min_samples_leaf": 7},
    {"min_samples_split": 40},
    {"min_risk_reduction": 0.001},
    {"monotonic_cst": {"size": 1, "gaps": -1, "steps": 1}, "max_features": 5},
    {"monotonic_cst": {"size": -1}, "risk": "upu", "max_features": None},
]


@pytest.mark.parametrize("hand_over", [0, 30, 10**9])
@pytest.mark.parametrize("parameters", PARAMETERS, ids=str)
def test_same_as_on_one_machine(parameters, hand_over):
    for seed in range(3):
        X, y = random_table(seed)
        parameters = {"prior": 0.4, "n_estimators": 4, "random_state": seed} | parameters
        model = PUExtraTreesClassifier(**parameters)
        forest = exact_forest(model, X, y, random_parts(seed, y), hand_over=hand_over)
        assert_same(forest, model.fit(X, y)._forest)


@pytest.mark.parametrize("risk", ["nnpu", "upu", "pn"])
@pytest.mark.parametrize("loss", LOSSES)
def test_losses(loss, risk):
    X, y = random_table(1)
    model = PUExtraTreesClassifier(0.4, loss=loss, risk=risk, n_estimators=3, random_state=0)
    forest = exact_forest(model, X, y, random_parts(1, y), hand_over=20)
    assert_same(forest, model.fit(X, y)._forest)


@pytest.mark.parametrize("hand_over", [0, 30])
@pytest.mark.parametrize("parameters", PARAMETERS[:5] + PARAMETERS[-2:], ids=str)
def test_optimal_thresholds(parameters, hand_over):
    parameters = {k: v for k, v in parameters.items() if k != "n_thresholds"}
    for seed in range(3):
        X, y = random_table(seed)
        model = PURandomForestClassifier(
            **{"prior": 0.4, "n_estimators": 3, "random_state": 0, "bootstrap": False} | parameters
        )
        forest = exact_forest(model, X, y, random_parts(seed, y), hand_over=hand_over)
        assert_same(forest, model.fit(X, y)._forest)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_optimal_thresholds_of_many_values(dtype, monkeypatch):
    monkeypatch.setattr(bins, "MAX_VALUES", 100)
    monkeypatch.setattr(bins, "SUMMARY_SIZE", 80)
    monkeypatch.setattr(bins, "N_BINS", 20)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 4)).astype(dtype)
    X[:, 1] = np.round(X[:, 1], 1)  # less than 100 values
    X[rng.random(1000) < 0.2, 2] = np.nan
    y = (X[:, 0] + X[:, 1] > 1).astype(int)
    part = rng.integers(0, 7, 1000)
    model = PURandomForestClassifier(0.4, n_estimators=3, bootstrap=False, random_state=0)
    parts, _ = parts_and_params(model, X, y, part)
    edges = bins.edges_of(bins.merge_summaries([bins.summaries(p) for p in parts]))
    assert set(edges) == {0, 2, 3}
    forest = exact_forest(model, X, y, part, hand_over=50)

    def rank(j, values):
        below = np.searchsorted(edges[j], values)
        return np.where(np.isnan(values), np.nan, below)

    for j, largest in edges.items():
        assert len(largest) <= 20
        assert largest[-1] == np.nanmax(X[:, j])
        # The bins have about the same number of rows.
        _, sizes = np.unique(rank(j, X[~np.isnan(X[:, j]), j]), return_counts=True)
        assert sizes.max() < 3 * sizes.mean()
        of_column = forest.threshold[(forest.feature == j) & np.isfinite(forest.threshold)]
        assert np.isin(of_column, largest).all()
    # The same trees as with ranks of bins in place of values.
    ranks = X.copy()
    for j in edges:
        ranks[:, j] = rank(j, X[:, j])
    expected = model.fit(ranks, y)._forest
    for name in ("feature", "left", "missing_left", "n_labeled", "n_unlabeled", "w_p", "w_u"):
        np.testing.assert_array_equal(getattr(forest, name), getattr(expected, name))
    leaves = forest.predictor("hard", X.dtype).leaves(X, 1)
    np.testing.assert_array_equal(leaves, expected.predictor("hard", X.dtype).leaves(ranks, 1))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("as_sparse", [False, True])
def test_matrices(dtype, as_sparse):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 30)).astype(dtype) * (rng.random((400, 30)) < 0.2)
    y = (X[:, 0] + X[:, 1] > 0.3).astype(int)
    X = sp.csr_array(X) if as_sparse else X
    model = PUExtraTreesClassifier(0.3, n_estimators=4, random_state=0)
    for hand_over in (0, 50):
        forest = exact_forest(model, X, y, rng.integers(0, 3, 400), hand_over=hand_over)
        assert_same(forest, model.fit(X, y)._forest)


def test_many_constant_features():
    rng = np.random.default_rng(0)
    X = np.zeros((300, 200))
    X[:, :5] = rng.normal(size=(300, 5))
    X[:, 5:60] = rng.random((300, 55)) < 0.01  # constant at most nodes
    y = (X[:, 0] > 0.5).astype(int)
    model = PUExtraTreesClassifier(0.4, n_estimators=3, max_features=8, random_state=0)
    forest = exact_forest(model, X, y, rng.integers(0, 3, 300), hand_over=10)
    assert_same(forest, model.fit(X, y)._forest)


def test_traffic():
    rng = np.random.default_rng(0)
    X, n_parts, F = rng.normal(size=(4000, 28)), 4, 28
    y = (X[:, 0] + rng.normal(size=4000) > 1).astype(int)
    model = PUExtraTreesClassifier(0.4, n_estimators=2, max_features=F, random_state=0)
    traffic = Traffic()
    forest = exact_forest(model, X, y, np.arange(4000) % n_parts, hand_over=500, traffic=traffic)
    assert_same(forest, model.fit(X, y)._forest)
    # Each part sends at most the range and the count of each feature, and so does the merge.
    per_feature = 2 * 8 + 2 * 4 + 2 * 4
    assert 0 < traffic.answers <= (n_parts + 1) * traffic.nodes * F * per_feature
    assert traffic.gathers == 1
    assert traffic.gathered_rows <= 2 * 4000
    assert traffic.rows == traffic.gathered_rows * (28 * 8 + 1 + 4)


def test_best_first_trees_are_refused():
    X, y = random_table(0)
    model = PUExtraTreesClassifier(0.4, max_leaf_nodes=10)
    with pytest.raises(ValueError, match="max_leaf_nodes=10: best-first trees"):
        exact_forest(model, X, y, np.zeros(len(y), dtype=int))


def test_cluster_in_this_process():
    X, y = random_table(0)
    model = PUExtraTreesClassifier(0.4, n_estimators=3, random_state=0)
    with (
        distributed.Client(
            processes=False, n_workers=2, threads_per_worker=1, dashboard_address=":0"
        ) as client,
        Tasks(client) as cluster,
    ):
        forest = exact_forest(model, X, y, random_parts(0, y, 12), cluster, hand_over=60)
    assert_same(forest, model.fit(X, y)._forest)


def load_part(k):
    """Return the rows of a partition, as if they were read from a file."""
    X, y = random_table(0, 3000)
    parts, _ = parts_and_params(PUExtraTreesClassifier(0.4), X, y, np.arange(3000) % 6)
    return parts[k]


@pytest.mark.parametrize(("n_killed", "counter", "at"), [(1, "passes", 3), (2, "gathers", 1)])
def test_killed_workers(n_killed, counter, at):
    X, y = random_table(0, 3000)
    model = PUExtraTreesClassifier(0.4, n_estimators=4, random_state=0)
    _, params = parts_and_params(model, X, y, np.arange(3000) % 6)
    with (
        distributed.LocalCluster(
            n_workers=3, threads_per_worker=1, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
        Tasks(client) as tasks,
    ):
        pids = list(client.run(os.getpid).values())
        parts = [tasks.submit("part", load_part, k) for k in range(6)]
        reached = threading.Event()
        traffic = WatchedTraffic(counter, at, reached)

        def kill():
            reached.wait()
            for pid in pids[:n_killed]:
                os.kill(pid, signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        forest = grow_exact(tasks, parts, params, hand_over=200, traffic=traffic)
        killer.join()
    assert_same(forest, model.fit(X, y)._forest)


class WatchedTraffic(Traffic):
    """Sets an event when a counter reaches a number."""

    def __init__(self, counter, at, event):
        self.watched = counter, at, event
        super().__init__()

    def __setattr__(self, name, value):
        super().__setattr__(name, value)
        counter, at, event = self.watched
        if (name, value) == (counter, at):
            event.set()
