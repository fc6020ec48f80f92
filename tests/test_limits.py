"""Extreme data, deep trees, interruptions, threads and forks."""

import os
import pickle
import signal
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest
from child_process import in_child
from numpy.testing import assert_array_equal

from puforest import (
    PUDecisionTreeClassifier,
    PUExtraTreeClassifier,
    PUExtraTreesClassifier,
    PURandomForestClassifier,
    _core,
)

FORESTS = [PURandomForestClassifier, PUExtraTreesClassifier]
ESTIMATORS = [PUDecisionTreeClassifier, PUExtraTreeClassifier, *FORESTS]
posix = pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals and fork")


def make(cls, **params):
    small = {"n_estimators": 3} if cls in FORESTS else {}
    return cls(**{"prior": 0.4, "random_state": 0, **small, **params})


def problem(n, d, seed=0):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, d)), rng.random(n) < 0.4
    y[:2] = [True, False]
    return X, y.astype(int)


@pytest.fixture(params=ESTIMATORS, ids=lambda cls: cls.__name__)
def cls(request):
    return request.param


# Numbers


@pytest.mark.parametrize("exponent", [-1070, -600, 600, 1020])
@pytest.mark.parametrize("scenario", ["case-control", "single-training-set"])
def test_scale_of_weights(cls, scenario, exponent):
    X, y = problem(40, 3)
    model = make(cls, scenario=scenario, prior=0.8, voting="soft")
    w = 1.0 + np.arange(40) % 3
    expected = model.fit(X, y, w).predict_proba(X)
    assert_array_equal(model.fit(X, y, np.ldexp(w, exponent)).predict_proba(X), expected)


CONSTANT = {
    "ones": np.ones((40, 3)),
    "both zeros": np.where(np.arange(40) % 2, 0.0, -0.0)[:, None],
    "broadcast": np.broadcast_to(np.float32(3), (40, 5)),
    "bool": np.zeros((40, 2), bool),
}


@pytest.mark.parametrize("X", CONSTANT.values(), ids=CONSTANT)
def test_constant_features_give_one_leaf(cls, X):
    fitted = make(cls).fit(X, np.arange(40) % 2)
    assert fitted.get_depth() == 0
    assert fitted.get_n_leaves() == getattr(fitted, "n_estimators", 1)
    assert len(np.unique(fitted.predict(X))) == 1


def assert_told_apart(cls, x, y):
    whole = {"bootstrap": False} if cls in FORESTS else {}
    fitted = make(cls, risk="pn", prior=None, **whole).fit(x, y)
    assert np.isfinite(fitted._forest.threshold).all()
    assert_array_equal(fitted.predict(x), y)


MAX, TINY = np.finfo(float).max, np.finfo(float).smallest_subnormal
PAIRS = [(0, 1), (-1.7e308, 1.7e308), (-MAX, MAX), (0, MAX), (0, TINY), (-TINY, TINY)]
PAIRS += [(1, np.nextafter(1, 2)), (2**53, 2**53 + 2), (-(2**62), 2**62)]


@pytest.mark.parametrize("values", PAIRS, ids=str)
@pytest.mark.parametrize("size", [2, 30])
def test_distinct_values_are_separated(cls, values, size):
    x = np.array(values * (size // 2), dtype=float)[:, None]
    assert_told_apart(cls, x, np.arange(size) % 2)


def test_values_of_all_magnitudes(cls):
    powers = np.ldexp(1.0, np.arange(-1074, 1024))
    x = np.concatenate([-powers, [0.0], powers])[:, None]
    assert_told_apart(cls, x, np.arange(len(x)) % 2)


# Sizes


def test_many_columns(cls):
    X, y = problem(20, 100_000)
    X[:, ::2] = 0
    for params in ({}, {"max_leaf_nodes": 9}):
        fitted = make(cls, **params).fit(X.astype(np.float32), y)
        assert fitted.predict_proba(X).shape == (20, 2)
        assert fitted.feature_importances_[::2].sum() == 0


def chain(n):
    """Rows that random thresholds can only separate one by one.

    Each feature is zero but for 255 rows, where it grows so fast that any threshold is above
    all but its largest values.
    """
    row = np.arange(n)
    X = np.zeros((n, -(-n // 255)), order="F")
    X[row, row // 255] = np.ldexp(1.0, 8 * (row % 255) - 1020)
    return X, np.random.default_rng(0).random(n) < 0.3


def test_tree_of_100000_levels():
    X, y = chain(100_800)
    tree = make(PUExtraTreeClassifier, max_features=1).fit(X, y)
    depth = tree.get_depth()
    assert depth >= 100_000
    X = X[:: len(X) // 20]
    leaves, path = tree.apply(X), tree.decision_path(X)
    assert path.sum(axis=1).max() > depth / 2
    assert path[np.arange(len(X)), leaves].all()
    copy = pickle.loads(pickle.dumps(tree))
    assert copy.get_depth() == depth
    assert_array_equal(copy.predict(X), tree.predict(X))


@pytest.mark.parametrize("params", [{}, {"max_leaf_nodes": 10**6}, {"max_depth": 2000}])
def test_deep_trees_separate_all_rows(params):
    X, y = chain(5000)
    tree = make(PUExtraTreeClassifier, max_features=1, risk="pn", **params).fit(X, y)
    assert tree.get_depth() == params.get("max_depth", tree.get_depth()) > 1000
    assert (tree.predict(X) == y).mean() > (0.6 if "max_depth" in params else 0.999)


# Interrupts


def interrupt_later(call, delay):
    """Time until a call returns after Ctrl-C; None if it was finished before."""
    sent = []

    def interrupt():
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(delay, interrupt)
    timer.start()
    try:
        call()
        timer.cancel()
        return None
    except KeyboardInterrupt:
        return time.perf_counter() - sent[0]


LONG_FITS = {
    "extra trees": (PUExtraTreesClassifier, {"n_estimators": 10**4}),
    "random forest": (PURandomForestClassifier, {"n_estimators": 10**4, "n_jobs": 2}),
    "best first": (PURandomForestClassifier, {"n_estimators": 10**4, "max_leaf_nodes": 10**6}),
    "many thresholds": (PUExtraTreeClassifier, {"n_thresholds": 10**7}),
}


def interrupted_fit(name):
    cls, params = LONG_FITS[name]
    X, y = problem(40, 3)
    model = make(cls).fit(X, y)
    before, answers = dict(vars(model)), model.predict_proba(X)
    large, large_y = problem(50_000, 10)
    late = interrupt_later(lambda: model.set_params(**params).fit(large, large_y), 0.3)
    model.set_params(**{param: before[param] for param in params})
    unchanged = {k: id(v) for k, v in vars(model).items()} == {k: id(v) for k, v in before.items()}
    same = unchanged and np.array_equal(model.predict_proba(X), answers)
    fits_again = np.array_equal(model.fit(X, y).predict_proba(X), answers)
    return late, same, fits_again


@posix
@pytest.mark.parametrize("name", LONG_FITS)
def test_interrupted_fits_stop_and_keep_the_previous_one(name):
    late, same, fits_again = in_child(interrupted_fit, name)
    assert late is not None
    assert late < 1.5
    assert same
    assert fits_again


def chain_predictor(depth, n_trees):
    node = np.arange(2 * depth + 1)
    inner = (node % 2 == 0) & (node < 2 * depth)
    nodes = {f.name: np.zeros(n_trees * len(node), dtype=f.dtype) for f in _core.node_fields()}
    nodes["feature"] = np.tile(np.where(inner, 0, -1).astype(np.int32), n_trees)
    nodes["left"] = np.tile(np.where(inner, node + 1, -1).astype(np.int32), n_trees)
    value = np.tile((node == 2 * depth).astype(float), n_trees)
    offset, categories = np.arange(n_trees + 1) * len(node), np.empty(0, dtype=np.uint16)
    return _core.Predictor64(offset, categories, _core.NodeArrays(nodes), value, 1)


def interrupted_prediction(depth, n_trees, n_rows):
    predictor = chain_predictor(depth, n_trees)
    X = np.ones((n_rows, 1))
    late = interrupt_later(lambda: predictor.mean(X, 2), 0.3)
    return late, predictor.mean(X[:3], 1).tolist()


@posix
@pytest.mark.parametrize(
    ("depth", "n_trees", "n_rows"), [(20, 100, 10**7), (10**5, 1, 20_000), (10**5, 40, 2000)]
)
def test_interrupted_predictions_stop(depth, n_trees, n_rows):
    late, answer = in_child(interrupted_prediction, depth, n_trees, n_rows)
    assert late is not None
    assert late < 1.5
    assert answer == [1, 1, 1]


# Bad rows


def bad_held_out_rows():
    predictor, X = chain_predictor(3, 2), np.ones((3, 1))
    params = _core.TrainParams()
    params.sampling = _core.Sampling(True, False, 1, 1)
    refused = 0
    for order, n_labeled in [([10**9, 1, 2], 1), ([0, 1, 2], 10**9), ([], 0), ([0, 1, 2], 3)]:
        rows = _core.TrainingRows(np.array(order, dtype=np.uint32), n_labeled)
        try:
            predictor.mean_held_out(X, rows, params)
        except ValueError:
            refused += 1
    return refused


def test_core_rejects_rows_out_of_range():
    assert in_child(bad_held_out_rows) == 4


# Threads and processes


@pytest.mark.parametrize("n_jobs", [2, 1000, 10**12, -1, -1000])
def test_number_of_threads_does_not_change_the_forest(n_jobs):
    X, y = problem(200, 4)
    for cls in FORESTS:
        forest = make(cls, n_estimators=60, n_jobs=n_jobs).fit(X, y)
        expected = make(cls, n_estimators=60, n_jobs=1).fit(X, y)
        assert_array_equal(forest._forest.threshold, expected._forest.threshold)
        assert_array_equal(forest.predict_proba(X), expected.predict_proba(X))


def fit_and_answer(cls, seed=0):
    X, y = problem(500, 4)
    return make(cls, random_state=seed).fit(X, y).predict_proba(X)


def test_concurrent_fits(cls):
    expected = [fit_and_answer(cls, seed) for seed in range(8)]
    with ThreadPoolExecutor(8) as pool:
        assert_array_equal(
            list(pool.map(lambda seed: fit_and_answer(cls, seed), range(8))), expected
        )


def test_concurrent_predictions(cls):
    X, y = problem(2000, 4)
    fitted = make(cls).fit(X, y)
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: fitted.predict_proba(X), range(16)))
    assert_array_equal(answers, [fitted.predict_proba(X)] * 16)


def fork_after_fit():
    expected = fit_and_answer(PUExtraTreesClassifier)
    with ProcessPoolExecutor(1, mp_context=get_context("fork")) as pool:
        answer = pool.submit(fit_and_answer, PUExtraTreesClassifier).result(timeout=60)
    return np.array_equal(answer, expected)


@posix
def test_fit_in_a_forked_process():
    assert in_child(fork_after_fit)
