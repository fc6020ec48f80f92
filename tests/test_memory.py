"""Running out of memory raises a MemoryError and leaves the estimator unchanged."""

import ctypes
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from child_process import in_child

import puforest
from puforest import PUExtraTreesClassifier, PURandomForestClassifier

linux = pytest.mark.skipif(sys.platform != "linux", reason="needs limits on the address space")
FAILING_ALLOCATIONS = Path(__file__).parents[1] / "core" / "tests" / "failing_allocations.cpp"


def problem(n, d):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n, d)), rng.random(n) < 0.4
    return X, y.astype(int)


def limit_memory(megabytes):
    """Limit the available memory; None removes the limit."""
    import resource

    limit = -1
    if megabytes is not None:
        with open("/proc/self/statm") as statm:
            used = int(statm.read().split()[0]) * resource.getpagesize()
        limit = used + int(megabytes * 2**20)
    resource.setrlimit(resource.RLIMIT_AS, (limit, -1))


def outcome_short_of_memory(call, megabytes):
    limit_memory(megabytes)
    try:
        call()
        return "done"
    except MemoryError:
        return "MemoryError"
    finally:
        limit_memory(None)


def outcomes_short_of_memory(least):
    X, y = problem(20_000, 10)
    model = PURandomForestClassifier(prior=0.4, n_estimators=10, n_jobs=2, random_state=0)
    spare = [*np.arange(least, least + 2, 0.5), 2000]
    fits = [outcome_short_of_memory(lambda: model.fit(X, y), megabytes) for megabytes in spare]
    many = np.tile(X, (200, 1))
    return fits, outcome_short_of_memory(lambda: model.apply(many), 1)


# From 8 on there is room for the stack of a thread, but hardly any for its work.
@linux
@pytest.mark.parametrize("least", [0, 8])
def test_memory_error(least):
    fits, prediction = in_child(outcomes_short_of_memory, least)
    assert set(fits) <= {"MemoryError", "done"}
    assert (fits[-1], prediction) == ("done", "MemoryError")


def fits_short_of_memory(spare):
    X, y = problem(100_000, 40)
    small = slice(500)
    model = PUExtraTreesClassifier(prior=0.4, n_estimators=4, max_depth=3, n_jobs=2, random_state=0)
    before = dict(vars(model.fit(X[small], y[small])))
    expected = model.predict_proba(X[small])
    outcomes = []
    for megabytes in spare:
        outcome = outcome_short_of_memory(lambda: model.fit(X, y), megabytes)
        if outcome == "MemoryError":
            unchanged = all(vars(model)[name] is value for name, value in before.items())
            outcome = "unchanged" if unchanged else "changed"
        model.fit(X[small], y[small])
        if not np.array_equal(model.predict_proba(X[small]), expected):
            outcome = "other trees afterwards"
        before = dict(vars(model))
        outcomes.append(outcome)
    return outcomes


# Threads take turns at a common store of memory: what one fails to get, the others must not use.
@linux
def test_memory_error_in_threads_keeps_the_previous_fit():
    outcomes = in_child(fits_short_of_memory, [*range(1, 100, 3), 2000])
    assert set(outcomes) == {"unchanged", "done"}
    assert outcomes[-1] == "done"


def state(model):
    return {name: id(value) for name, value in vars(model).items()}


def fail_each_allocation(failing, model, call, compared):
    """Let each allocation of a call fail, alone and with all later ones."""
    expected, n_errors = compared(call()), 0
    for all_from in (False, True):
        k, failed = 0, True
        while failed:
            before = state(model)
            failing.puforest_start_failing(k, all_from)
            try:
                result = compared(call())
            except MemoryError:
                failed, n_errors = failing.puforest_stop_failing(), n_errors + 1
                assert failed, f"allocation {k}: a MemoryError without a cause"
                assert state(model) == before, f"allocation {k}: the model has changed"
            else:
                failed = failing.puforest_stop_failing()
                assert np.array_equal(result, expected), f"allocation {k}: another result"
            k += 1
    return n_errors


def errors_of_failing_allocations(cls, n_jobs, file):
    failing = ctypes.CDLL(os.environ["LD_PRELOAD"])  # is there already; this finds it again
    failing.puforest_start_failing.argtypes = [ctypes.c_size_t, ctypes.c_bool]
    failing.puforest_stop_failing.restype = ctypes.c_bool
    X, y = problem(1500, 5)
    many = np.tile(X, (100, 1))
    model = cls(prior=0.4, n_estimators=3, max_depth=4, n_jobs=n_jobs, random_state=0).fit(X, y)
    model.save(file)
    calls = {
        "fit": (lambda: model.fit(X, y), lambda fitted: fitted._forest.threshold),
        "predict": (lambda: model.predict_proba(many), np.asarray),
        "apply": (lambda: model.apply(many), np.asarray),
        "load": (lambda: puforest.load(file).predict_proba(X), np.asarray),
    }
    return {name: fail_each_allocation(failing, model, *call) for name, call in calls.items()}


@linux
@pytest.mark.skipif(shutil.which("c++") is None, reason="needs a C++ compiler")
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("cls", [PUExtraTreesClassifier, PURandomForestClassifier])
def test_failing_allocations_of_the_core(cls, n_jobs, tmp_path, monkeypatch):
    library = tmp_path / "failing_allocations.so"
    build = ["c++", "-std=c++20", "-O1", "-shared", "-fPIC", FAILING_ALLOCATIONS, "-o", library]
    subprocess.run(build, check=True, timeout=120)
    monkeypatch.setenv("LD_PRELOAD", str(library))
    errors = in_child(errors_of_failing_allocations, cls, n_jobs, tmp_path / "model.puf")
    assert min(errors.values()) > 0, errors
