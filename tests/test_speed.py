"""Optimizations that must not change the results."""

import contextlib
import json
import os
import subprocess
import sys

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from puforest import PUExtraTreesClassifier, PURandomForestClassifier, _core
from puforest._matrix import opened

GROW = """
import hashlib, json, sys
import numpy as np
from puforest import PUExtraTreesClassifier, PURandomForestClassifier, _core

rng = np.random.default_rng(0)
n = 6000
X = rng.standard_normal((n, 40))
X[:, :20] = np.round(4 * X[:, :20])
X[:, 20:30] = np.round(3000 * X[:, 20:30])
y = (X[:, 0] + X[:, 25] / 800 + X[:, 35] > rng.standard_normal(n)).astype(int)
digests = {}
for dtype in (np.float32, np.float64):
    for make in (PUExtraTreesClassifier, PURandomForestClassifier):
        for risk in ("nnpu", "pn"):
            forest = make(0.5, risk=risk, n_estimators=3, random_state=1).fit(X.astype(dtype), y)
            state = hashlib.sha256()
            for array in forest._forest._arrays().values():
                state.update(array.tobytes())
            state.update(forest.predict_proba(X.astype(dtype)).tobytes())
            digests[f"{np.dtype(dtype)} {make.__name__} {risk}"] = state.hexdigest()
json.dump([_core.instruction_set(), digests], sys.stdout)
"""


def grow(instruction_set):
    environment = os.environ | {"PUFOREST_SIMD": instruction_set}
    done = subprocess.run(
        [sys.executable, "-c", GROW], env=environment, check=True, capture_output=True, text=True
    )
    return json.loads(done.stdout)


def test_all_instruction_sets_build_the_same_forests():
    used, baseline = grow("baseline")
    assert used == "baseline"
    best, fastest = grow("")
    assert best in ("baseline", "avx2")
    assert fastest == baseline
    assert len(set(baseline.values())) == len(baseline) == 8


def test_unknown_instruction_set(monkeypatch):
    monkeypatch.setenv("PUFOREST_SIMD", "abacus")
    forest = PUExtraTreesClassifier(0.5, n_estimators=1)
    with pytest.raises(ValueError, match=r"PUFOREST_SIMD=abacus is not available .*: baseline"):
        forest.fit([[0.0], [1.0]], [0, 1])


@pytest.fixture(scope="module")
def fitted(blobs):
    X, labeled, *_ = blobs
    return PUExtraTreesClassifier(0.5, n_estimators=10, random_state=0).fit(X, labeled), X


@pytest.fixture
def checked(monkeypatch):
    """Tables that are passed to scikit-learn's checks."""
    tables = []

    def check(X, estimator):
        tables.append(X)
        return opened(X, estimator)

    monkeypatch.setattr("puforest._schema.opened", check)
    return tables


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_predictions_of_few_rows(fitted, checked, dtype):
    """Predictions of few rows skip scikit-learn's checks, with any memory layout."""
    forest, X = fitted
    X = np.tile(X, (60, 1)).astype(dtype)
    X[::5, 2] = np.nan
    expected = forest.predict_proba(X)
    assert len(checked) == 1
    for few in (X[:1], X[:7], np.asfortranarray(X[:7]), X[6::-1][::-1], X[::2][:5]):
        forest.predict_proba(few)
    np.testing.assert_array_equal(forest.predict_proba(X[:7]), expected[:7])
    np.testing.assert_array_equal(forest.predict_proba(np.asfortranarray(X[:7])), expected[:7])
    np.testing.assert_array_equal(forest.predict_proba(X[::2][:5]), expected[:10:2])
    assert len(checked) == 1


def test_other_input_is_checked(fitted, checked):
    """Input that scikit-learn rejects, converts or warns about is checked."""
    forest, X = fitted
    row = X[:1]
    too_wide = np.hstack([row, row])
    others = [row * np.inf, too_wide, row[:0], row[0], row.tolist()]
    others += [row.astype(">f8"), row.astype(int), row.astype(np.float16), np.ma.array(row)]
    for n, other in enumerate(others, start=1):
        with contextlib.suppress(ValueError):
            forest.predict(other)
        assert len(checked) == n
    for broken in (row * np.inf, too_wide, row[:0], row[0]):
        with pytest.raises(ValueError, match=r"infinity|features|minimum of 1|2D"):
            forest.predict(broken)
    np.testing.assert_array_equal(forest.predict(row.astype(">f8")), forest.predict(row))
    with pytest.raises(NotFittedError):
        PUExtraTreesClassifier().predict(row)


def test_feature_names_are_checked_for_one_row(blobs):
    pd = pytest.importorskip("pandas")
    X, labeled, *_ = blobs
    table = pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])])
    forest = PUExtraTreesClassifier(0.5, n_estimators=2, random_state=0).fit(table, labeled)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        forest.predict(X[:1])


def test_memory_mapped_input_is_not_copied(tmp_path, monkeypatch, blobs):
    """The core reads the file directly when fitting and predicting."""
    X, labeled, *_ = blobs
    np.save(tmp_path / "x.npy", X.astype(np.float32))
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    seen = []
    train = _core.train

    def watch(x, *rest):
        seen.append(x)
        return train(x, *rest)

    monkeypatch.setattr(_core, "train", watch)
    forest = PURandomForestClassifier(0.5, n_estimators=2, random_state=0).fit(mapped, labeled)
    assert np.shares_memory(seen[0], mapped)
    assert np.shares_memory(forest._validated(mapped).values, mapped)
    in_memory = PURandomForestClassifier(0.5, n_estimators=2, random_state=0)
    in_memory.fit(np.array(mapped), labeled)
    np.testing.assert_array_equal(forest.predict_proba(mapped), in_memory.predict_proba(mapped))
