"""Fits on a Dask cluster are the fits on one machine, bit for bit."""

from itertools import pairwise

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster
from numpy.testing import assert_array_equal
from sklearn.base import clone

from puforest import (
    PUExtraTreesClassifier,
    PUForestClassifier,
    PURandomForestClassifier,
    Recipe,
    _candidates,
    _needed_rows,
)
from puforest.dask import (
    DaskPUExtraTreesClassifier,
    DaskPUForestClassifier,
    DaskPURandomForestClassifier,
    _exact,
    _sampled,
)
from puforest.prior import PriorEstimatedWarning

N, LABELED = 3000, 60
RECIPES = [Recipe(), Recipe("best", "nnpu", unlabeled_per_labeled=2)]
SETTINGS = {"prior": 0.3, "candidates": RECIPES, "n_estimators": 20, "random_state": 3}


@pytest.fixture(scope="module")
def client():
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=2, processes=False, dashboard_address=":0"
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def numbers():
    rng = np.random.default_rng(0)
    y = np.zeros(N, dtype=int)
    y[rng.choice(N, LABELED, replace=False)] = 1
    X = rng.normal(size=(N, 4)) + y[:, None]
    X[100:300] = X[300:500]  # duplicates
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, y


@pytest.fixture(scope="module")
def table(numbers):
    X, y = numbers
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame["city"] = np.where(rng.random(N) < 0.1, None, rng.choice(["Rome", "Oslo", "Lima"], N))
    frame["city"] = frame["city"].astype("str")
    frame.loc[:500, "city"] = "Bern"  # some partitions do not know all categories
    frame["kind"] = pd.Categorical(rng.choice(["x", "y", "z"], N), categories=["z", "y", "x", "w"])
    frame["known"] = rng.random(N) < 0.5
    frame["day"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 99, N), unit="D")
    return frame, y


def assert_same(distributed, local):
    """Compare all arrays of the forests, the records and what follows from them."""
    for name, array in local._forest._arrays().items():
        assert_array_equal(getattr(distributed._forest, name), array, err_msg=name)
    ours, theirs = distributed._record, local._record
    assert ours.schema == theirs.schema
    assert ours.masses == theirs.masses
    assert ours.parameters == theirs.parameters
    assert_array_equal(ours.classes, theirs.classes)
    for name in ("n_labeled", "n_unlabeled", "seed", "calibrator"):
        assert getattr(ours, name) == getattr(theirs, name), name
    for a, b in ((ours.curve, theirs.curve),):
        assert (a is None) == (b is None)
        if a is not None:
            assert_array_equal(a.score, b.score)
            assert_array_equal(a.population, b.population)
    assert distributed.threshold_ == local.threshold_


@pytest.mark.parametrize("n_partitions", [1, 7, 40])
def test_arrays(client, numbers, n_partitions):
    X, y = numbers
    local = PUForestClassifier(**SETTINGS).fit(X, y)
    rows = -(-N // n_partitions)
    forest = DaskPUForestClassifier(**SETTINGS).fit(
        da.from_array(X, (rows, 2)), da.from_array(y, rows)
    )
    assert_same(forest, local)
    assert_array_equal(forest.oob_decision_function_, local.oob_decision_function_)
    assert_array_equal(forest.predict_proba(X), local.predict_proba(X))
    copy = forest.to_local()
    assert type(copy) is PUForestClassifier
    assert copy.get_params() == local.get_params()
    assert_same(copy, local)


def test_rows_that_are_a_small_part(client, numbers, monkeypatch):
    for module in (_candidates, _needed_rows):
        monkeypatch.setattr(module, "MAX_EVALUATED", 400)
    monkeypatch.setattr(_candidates, "MAX_COMPARED", 200)
    monkeypatch.setattr(_sampled, "GROUP_ROWS", 100)
    X, y = numbers
    settings = {**SETTINGS, "candidates": [Recipe(unlabeled_per_labeled=0.5)]}
    local = PUForestClassifier(**settings).fit(X, y)
    forest = DaskPUForestClassifier(**settings)
    forest.fit(da.from_array(X, 500), da.from_array(y, 500))
    assert_same(forest, local)
    with pytest.raises(AttributeError, match="all rows were evaluated"):
        forest.oob_decision_function_  # noqa: B018


@pytest.mark.parametrize("backend", ["numpy", "pyarrow"])
def test_tables(client, table, backend):
    X, y = table
    if backend == "pyarrow":
        X = X.convert_dtypes(dtype_backend="pyarrow")
    local = PUForestClassifier(**SETTINGS).fit(X, y)
    frame = X.assign(label=y)
    ddf = dd.from_pandas(frame, npartitions=6)
    by_name = DaskPUForestClassifier(**SETTINGS).fit(ddf, "label")
    assert_same(by_name, local)
    by_column = DaskPUForestClassifier(**SETTINGS).fit(ddf.drop(columns="label"), ddf["label"])
    assert_same(by_column, local)
    for method in ("predict", "decision_function", "predict_proba"):
        lazy = getattr(by_name, method)(ddf.drop(columns="label"))
        assert hasattr(lazy, "dask")
        found = lazy.compute()
        assert_array_equal(np.asarray(found), getattr(local, method)(X))
        assert_array_equal(found.index, X.index)


def test_lazy_predictions_of_arrays(client, numbers):
    X, y = numbers
    Xd = da.from_array(X, (700, 2))
    forest = DaskPUForestClassifier(**SETTINGS).fit(Xd, da.from_array(y, 700))
    for method in ("predict", "decision_function", "predict_proba"):
        lazy = getattr(forest, method)(Xd)
        expected = getattr(forest.to_local(), method)(X)
        assert isinstance(lazy, da.Array)
        assert lazy.shape == expected.shape
        assert lazy.dtype == expected.dtype
        assert_array_equal(lazy.compute(), expected)


@pytest.mark.parametrize("scenario", ["case-control", "single-training-set"])
def test_weights_and_propensities(client, numbers, scenario):
    X, y = numbers
    rng = np.random.default_rng(5)
    weight = np.where(rng.random(N) < 0.02, rng.uniform(0, 3, N), 0.7)
    weight[rng.random(N) < 0.1] = 0
    propensity = rng.uniform(0.2, 0.9, N)
    settings = {**SETTINGS, "scenario": scenario}
    local = PUForestClassifier(**settings).fit(X, y, weight, propensity=propensity)
    Xd, yd, wd, pd_ = (da.from_array(a, 450) for a in (X, y, weight, propensity))
    assert_same(DaskPUForestClassifier(**settings).fit(Xd, yd, wd, propensity=pd_), local)
    local = PUForestClassifier(**settings).fit(X, y, weight)
    assert_same(DaskPUForestClassifier(**settings).fit(Xd, yd, wd), local)


def test_estimated_prior(client, numbers):
    X, y = numbers
    settings = {**SETTINGS, "prior": None}
    with pytest.warns(PriorEstimatedWarning):
        local = PUForestClassifier(**settings).fit(X, y)
    with pytest.warns(PriorEstimatedWarning):
        forest = DaskPUForestClassifier(**settings).fit(
            da.from_array(X, 700), da.from_array(y, 700)
        )
    assert forest.prior_estimate_.value == local.prior_estimate_.value
    assert_same(forest, local)


@pytest.mark.parametrize(
    ("distributed", "local"),
    [
        (DaskPUExtraTreesClassifier, PUExtraTreesClassifier),
        (DaskPURandomForestClassifier, PURandomForestClassifier),
    ],
)
@pytest.mark.parametrize("changes", [{}, {"max_labeled": 0.5, "risk": "upu", "max_unlabeled": 0.2}])
def test_trees(client, table, distributed, local, changes):
    X, y = table
    settings = {
        "prior": 0.3,
        "n_estimators": 13,
        "max_unlabeled": 200,
        "random_state": 1,
        **changes,
    }
    expected = local(**settings).fit(X, y)
    ddf = dd.from_pandas(X.assign(label=y), npartitions=5)
    assert_same(distributed(**settings).fit(ddf, "label"), expected)


def test_uneven_empty_and_single_class_partitions(client, table):
    X, y = table
    order = np.argsort(y, kind="stable")  # labeled rows in the last partition only
    X, y = X.iloc[order].reset_index(drop=True), y[order]
    frame = X.assign(label=y)
    ends = [0, 0, 1, 2500, 2500, 2940, N, N]
    parts = [frame.iloc[a:b] for a, b in pairwise(ends)]
    ddf = dd.from_map(lambda k: parts[k], range(len(parts)), meta=frame.iloc[:0])
    local = PUForestClassifier(**SETTINGS).fit(X, y)
    forest = DaskPUForestClassifier(**SETTINGS).fit(ddf, "label")
    assert_same(forest, local)
    assert_array_equal(forest.predict(ddf.drop(columns="label")).compute(), local.predict(X))


EXACT = {
    DaskPUExtraTreesClassifier: {"prior": 0.3, "n_estimators": 5, "random_state": 1},
    DaskPURandomForestClassifier: {
        "prior": 0.3,
        "n_estimators": 3,
        "bootstrap": False,
        "random_state": 1,
    },
}


@pytest.fixture
def small_nodes(monkeypatch):
    """Grow several levels on the partitions, and subtrees in several waves."""
    monkeypatch.setattr(_exact, "HAND_OVER", 100)
    monkeypatch.setattr(_exact, "HAND_OVER_FRACTION", 0.0)


@pytest.mark.parametrize("scenario", ["case-control", "single-training-set"])
@pytest.mark.parametrize("n_partitions", [1, 3, 7])
@pytest.mark.parametrize("distributed", EXACT)
def test_trees_on_all_rows(client, table, small_nodes, distributed, n_partitions, scenario):
    X, y = table
    settings = {**EXACT[distributed], "scenario": scenario}
    local = distributed._local_class(**settings).fit(X, y)
    ddf = dd.from_pandas(X.assign(label=y), npartitions=n_partitions)
    seen = []
    forest = distributed(**settings).fit(ddf, "label", progress=seen.append)
    copy = forest.to_local()
    assert type(copy) is type(local)
    assert_same(copy, local)
    assert_array_equal(copy.predict_proba(X), local.predict_proba(X))
    assert seen == sorted(seen)
    assert seen[-1] == 1.0


@pytest.mark.parametrize("distributed", EXACT)
def test_all_rows_of_uneven_empty_and_single_class_partitions(
    client, table, small_nodes, distributed
):
    X, y = table
    order = np.argsort(y, kind="stable")  # labeled rows in the last partition only
    X, y = X.iloc[order].reset_index(drop=True), y[order]
    frame = X.assign(label=y)
    parts = [frame.iloc[a:b] for a, b in pairwise([0, 0, 1, 2500, 2500, 2940, N, N])]
    ddf = dd.from_map(lambda k: parts[k], range(len(parts)), meta=frame.iloc[:0])
    local = distributed._local_class(**EXACT[distributed]).fit(X, y)
    assert_same(distributed(**EXACT[distributed]).fit(ddf, "label"), local)


def test_all_rows_of_arrays(client, numbers, small_nodes):
    X, y = numbers
    settings = {**EXACT[DaskPUExtraTreesClassifier], "risk": "pn", "prior": None}
    local = PUExtraTreesClassifier(**settings).fit(X, y)
    forest = DaskPUExtraTreesClassifier(**settings)
    assert_same(forest.fit(da.from_array(X, (700, 2)), da.from_array(y, 700)), local)


@pytest.mark.parametrize("scenario", ["case-control", "single-training-set"])
def test_all_rows_of_equal_weights(client, numbers, small_nodes, scenario):
    X, y = numbers
    weight = np.where(y == 1, 0.7, 1.9)
    weight[np.random.default_rng(5).random(N) < 0.3] = 0
    weight[:700] = 0  # a partition without rows
    settings = {**EXACT[DaskPUExtraTreesClassifier], "scenario": scenario}
    local = PUExtraTreesClassifier(**settings).fit(X, y, weight)
    Xd, yd, wd = (da.from_array(a, 700) for a in (X, y, weight))
    assert_same(DaskPUExtraTreesClassifier(**settings).fit(Xd, yd, wd), local)


@pytest.mark.parametrize(
    ("distributed", "changes", "message"),
    [
        (DaskPURandomForestClassifier, {"bootstrap": True}, "bootstrap=True.*max_unlabeled=50_000"),
        (DaskPUExtraTreesClassifier, {"max_labeled": 9}, "max_labeled=9 .*max_unlabeled=50_000"),
        (DaskPUExtraTreesClassifier, {"max_leaf_nodes": 9}, "max_leaf_nodes=9: .*max_unlabeled"),
        (DaskPUExtraTreesClassifier, {"oob_score": True}, "oob_score=True.*DaskPUForestClassifier"),
        (DaskPUExtraTreesClassifier, {"prior": None}, "prior=None: pass the class prior"),
    ],
)
def test_refused_by_trees_on_all_rows(client, numbers, distributed, changes, message):
    X, y = (da.from_array(a, 700) for a in numbers)
    with pytest.raises(ValueError, match=message):
        distributed(**{**EXACT[distributed], **changes}).fit(X, y)


@pytest.mark.parametrize("name", ["sample_weight", "propensity"])
def test_weights_refused_by_trees_on_all_rows(client, numbers, name):
    X, y = (da.from_array(a, 700) for a in numbers)
    given = {name: da.from_array(np.linspace(0.1, 0.9, N), 700)}
    with pytest.raises(ValueError, match=f"^{name}: .*equal weights.*max_unlabeled=50_000"):
        DaskPUExtraTreesClassifier(0.3).fit(X, y, **given)


@pytest.mark.parametrize("labels", ["text", "missing", "float"])
def test_labels(client, numbers, labels):
    X, y = numbers
    given = {
        "text": np.where(y == 1, "yes", "a"),
        "missing": np.where(y == 1, 1.0, np.nan),
        "float": y.astype(float),
    }[labels]
    local = PUForestClassifier(**SETTINGS).fit(X, given)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(label=given)
    ddf = dd.from_pandas(frame, npartitions=4)
    forest = DaskPUForestClassifier(**SETTINGS).fit(ddf, "label")
    assert_array_equal(forest._forest.threshold, local._forest.threshold)
    assert_array_equal(forest.classes_, local.classes_)


def test_groups_of_samples():
    few = _needed_rows.needed_by_trees(100, 1000, n_unlabeled=10**8, seed=0)
    assert list(map(len, _sampled.sample_groups(few, 10**8, 50))) == [50, 50]
    many = _needed_rows.needed_by_trees(240, 50_000, n_unlabeled=10**9, seed=0)
    groups = _sampled.sample_groups(many, 10**9, 50)
    assert len(groups) == 24
    assert [s for group in groups for s in group] == list(range(240))
    assert len(_sampled.sample_groups(many, 10**9, 10_000)) == 2
    # All samples are nearly the same rows.
    half = _needed_rows.needed_by_trees(240, 50_000_000, n_unlabeled=10**8, seed=0)
    assert len(_sampled.sample_groups(half, 10**8, 50)) == 2
    all_rows = _needed_rows.needed_by_trees(240, 1000, n_unlabeled=1000, seed=0)
    assert len(_sampled.sample_groups(all_rows, 1000, 50)) == 1


def test_parameters(client):
    forest = DaskPUForestClassifier(0.3, n_estimators=7, client=client)
    assert forest.get_params()["n_estimators"] == 7
    assert set(forest.get_params()) == {*PUForestClassifier().get_params(), "client"}
    assert clone(forest).client is client


def test_progress(client, numbers):
    X, y = numbers
    seen = []
    DaskPUForestClassifier(**SETTINGS).fit(
        da.from_array(X, 700), da.from_array(y, 700), progress=seen.append
    )
    assert seen == sorted(seen)
    assert len(seen) > 5
    assert seen[-1] == 1.0


@pytest.mark.parametrize(
    ("distributed", "settings"), [(DaskPUForestClassifier, SETTINGS), *EXACT.items()]
)
def test_nothing_is_left_on_the_cluster(client, numbers, distributed, settings):
    X, y = numbers
    distributed(**settings).fit(da.from_array(X, 700), da.from_array(y, 700))
    for _ in range(50):
        left = client.run_on_scheduler(
            lambda dask_scheduler: [str(k) for k in dask_scheduler.tasks if "puforest" in str(k)]
        )
        if not left:
            break
    assert left == []
