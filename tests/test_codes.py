"""Codes that several forests share: the same trees as from the table."""

import weakref
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from test_oracle import draw_case, draw_kinds, inputs

from puforest import _core, _memory
from puforest._encoded import EncodedTable
from puforest._training import encode, grow
from puforest.risk import LOSSES


def assert_same_forest(forest, expected):
    assert forest.n_features == expected.n_features
    for name, array in expected._arrays().items():
        assert_array_equal(getattr(forest, name), array, strict=True)


FORMS = {
    "dense": lambda X: X,
    "float32": lambda X: X.astype(np.float32),
    "by columns": np.asfortranarray,
    "sparse": sp.csr_array,
    "sparse float32": lambda X: sp.csr_array(X.astype(np.float32)),
}


@pytest.mark.parametrize("form", FORMS)
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=25)
def test_the_same_trees_as_from_the_table(form, seed):
    X, labeled, weight, propensity, params = draw_case(seed, exact=False)
    rng = np.random.default_rng(seed)
    categorical, monotone = draw_kinds(rng, X, labeled)
    kinds = {"categorical": categorical, "monotone": monotone, "seed": seed}
    table, rows, native = inputs(
        X, labeled, weight, propensity, params, **kinds, thresholds="random"
    )
    table = EncodedTable(FORMS[form](X), table.categorical)
    codes = encode(table, rows, int(rng.integers(1, 4)))
    native.n_trees = 2
    for loss in ("quadratic", str(rng.choice(sorted(LOSSES)))):
        for thresholds in (_core.Thresholds.random, _core.Thresholds.optimal):
            native.loss, native.thresholds = _core.Loss[loss.replace("-", "_")], thresholds
            assert_same_forest(grow(codes, rows, native), grow(table, rows, native))


@pytest.fixture
def fit():
    """A table, its training rows and parameters."""
    rng = np.random.default_rng(1)
    X, labeled = rng.random((300, 4)), np.arange(300) % 3 == 0
    params = {"risk": "nnpu", "scenario": "case-control", "prior": 0.4, "n_estimators": 8}
    kinds = {"categorical": [], "monotone": {}, "seed": 5, "thresholds": "random"}
    return inputs(X, labeled, np.ones(300), None, params, **kinds)


def test_rows_that_were_not_encoded_are_rejected(fit):
    table, rows, params = fit
    codes = encode(table, rows, 1)
    for change in (
        {"order": rows.order[:-1], "weight": rows.weight[:-1]},
        {"order": rows.order[::-1].copy()},
        {"n_labeled": rows.n_labeled + 1},
    ):
        with pytest.raises(ValueError, match="the rows are not those that were encoded"):
            grow(codes, replace(rows, **change), params)
    weight = np.arange(1.0, 301)
    assert_same_forest(
        grow(codes, replace(rows, weight=weight), params),
        grow(table, replace(rows, weight=weight), params),
    )


def test_invalid_input_is_rejected(fit):
    table, rows, _ = fit
    X, native = table.values, rows.native()
    for wrong, categorical, message in (
        (X[:200], [], "outside X"),
        (X[:, :0], [], "X has no columns"),
        (X, [2], "not the number of a category"),
    ):
        with pytest.raises(ValueError, match=message):
            _core.encode(wrong, native, categorical, 1)
    with pytest.raises(IndexError):
        _core.encode(X, native, [4], 1)
    nothing = _core.TrainingRows(np.empty(0, dtype=np.uint32), 0)
    with pytest.raises(ValueError, match="no rows"):
        _core.encode(X, nothing, [], 1)


def test_the_table_is_not_kept(fit):
    table, rows, params = fit
    expected = grow(table, rows, params)
    X = table.values.copy()
    released = weakref.ref(X)
    codes = encode(EncodedTable(X), rows, 1)
    del X
    assert released() is None
    assert_same_forest(grow(codes, rows, params), expected)


def test_concurrent_fits_share_codes(fit):
    table, rows, params = fit
    expected, codes = grow(table, rows, params), encode(table, rows, 2)
    with ThreadPoolExecutor(4) as pool:
        for forest in pool.map(lambda _: grow(codes, rows, params), range(16)):
            assert_same_forest(forest, expected)


def test_encoding_can_be_interrupted(fit):
    table, rows, _ = fit
    calls = []

    def stop(*progress):
        calls.append(progress)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        _core.encode(table.native(), rows.native(), [], 2, stop)
    assert calls == [(0, 1)]


def test_codes_that_cannot_fit_into_memory_are_refused(fit, monkeypatch):
    table, rows, _ = fit
    sparse = EncodedTable(sp.csr_array(np.where(table.values < 0.5, 0, table.values)))
    monkeypatch.setattr(_memory, "available_memory", lambda: 1000)
    with pytest.raises(MemoryError, match="a fit to this sparse X"):
        encode(sparse, rows, 1)
