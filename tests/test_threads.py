"""Number of threads of a fit."""

import multiprocessing
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pytest
from numpy.testing import assert_array_equal

from puforest import PUExtraTreesClassifier
from puforest import _validation as check

N_CORES = joblib.cpu_count()


@pytest.mark.parametrize(("asked", "given"), [(None, 1), (3, 3), (-1, N_CORES), (10**6, 1024)])
def test_number_of_threads(asked, given):
    assert check.threads(asked) == given


def test_configuration_of_joblib():
    with joblib.parallel_config(n_jobs=3):
        assert [check.threads(n) for n in (None, 2)] == [3, 2]
    with joblib.parallel_config(backend="sequential"):
        assert check.threads(4) == 1


def in_worker(asked):
    """Threads for each requested number, in a process that cannot have children."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plain = [check.threads(n) for n in asked]
        with joblib.parallel_config(n_jobs=5):
            configured = check.threads(None)
    X = np.arange(40.0)[:, None]
    model = PUExtraTreesClassifier(0.5, n_estimators=4, n_jobs=2, random_state=0)
    return plain, configured, model.fit(X, X[:, 0] > 20).predict_proba(X)


@pytest.mark.skipif(sys.platform == "win32", reason="tests cannot be imported by a new process")
def test_worker_processes():
    with multiprocessing.get_context("fork").Pool(1) as pool:
        plain, configured, answers = pool.apply(in_worker, [(None, 1, 3, -1)])
    assert plain == [1, 1, 3, N_CORES]
    assert configured == 5
    assert_array_equal(answers, in_worker([1])[2])


def test_worker_threads():
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(check.threads, [None, 3])) == [1, 3]
