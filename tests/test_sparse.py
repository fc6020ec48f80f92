"""Sparse matrices: the same forest as for the dense matrix, without a dense copy."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

from puforest import (
    PUDecisionTreeClassifier,
    PUExtraTreeClassifier,
    PUExtraTreesClassifier,
    PURandomForestClassifier,
    _memory,
)
from puforest._duplicate_rows import duplicate_groups
from puforest._encoded import EncodedTable
from puforest._schema import FeatureSchema
from puforest._sparse import canonical
from puforest.diagnostics import scar_test
from puforest.prior import estimate_prior

rng = np.random.default_rng(0)
DENSE = np.where(rng.random((200, 30)) < 0.15, rng.integers(-2, 4, (200, 30)), 0).astype(float)
DENSE[rng.random(DENSE.shape) < 0.02] = np.nan
DENSE[:, 7] = 0
DENSE[:, 8] = 3
Y = ((np.nan_to_num(DENSE[:, :5]).sum(axis=1) + rng.normal(size=200)) > 0.8).astype(int)


def unsorted(X):
    """Return a CSR array whose indices are in descending order within rows."""
    X = sp.csr_array(X)
    order = np.concatenate(
        [np.arange(a, b)[::-1] for a, b in zip(X.indptr[:-1], X.indptr[1:], strict=True)]
    )
    return sp.csr_array((X.data[order], X.indices[order], X.indptr), shape=X.shape)


def with_duplicates(X):
    """Return a CSR array in which each entry is the sum of two."""
    X = sp.csr_array(X)
    halves = (np.repeat(X.data / 2, 2), np.repeat(X.indices, 2), X.indptr * 2)
    return sp.csr_array(halves, shape=X.shape)


def with_zeros(X):
    """Return a CSR array that stores some zeros."""
    rows, columns = np.nonzero((X != 0) | (np.arange(X.size).reshape(X.shape) % 7 == 0))
    return sp.coo_array((X[rows, columns], (rows, columns)), shape=X.shape).tocsr()


def with_long_indices(X):
    X = sp.csr_array(X)
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


FORMS = {
    "csr_array": sp.csr_array,
    "csr_matrix": sp.csr_matrix,
    "csc_array": sp.csc_array,
    "csc_matrix": sp.csc_matrix,
    "coo_array": sp.coo_array,
    "lil_array": sp.lil_array,
    "dok_matrix": sp.dok_matrix,
    "bsr_array": sp.bsr_array,
    "unsorted": unsorted,
    "duplicates": with_duplicates,
    "explicit zeros": with_zeros,
    "int64 indices": with_long_indices,
    "float32": lambda X: sp.csr_array(X.astype(np.float32)),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "cls",
    [
        PUDecisionTreeClassifier,
        PUExtraTreeClassifier,
        PURandomForestClassifier,
        PUExtraTreesClassifier,
    ],
)
def test_the_same_forest_as_for_the_dense_matrix(cls, form):
    X = FORMS[form](DENSE)
    before = X.copy()
    params = {"prior": 0.6, "random_state": 0}
    params |= {"n_estimators": 5} if hasattr(cls, "estimators_") else {}
    dense, sparse = cls(**params).fit(DENSE, Y), cls(**params).fit(X, Y)
    for field in ("feature", "threshold", "missing_left", "w_p", "w_u"):
        assert_array_equal(getattr(sparse._forest, field), getattr(dense._forest, field))
    for model, asked in ((sparse, X), (sparse, DENSE), (dense, X)):
        assert_array_equal(model.predict_proba(asked), dense.predict_proba(DENSE))
        assert_array_equal(model.apply(asked), dense.apply(DENSE))
    assert_array_equal(X.toarray(), before.toarray())
    assert X.nnz == before.nnz


def test_out_of_bag_weights_and_constraints():
    params = {"prior": 0.6, "n_estimators": 30, "oob_score": True, "random_state": 0}
    params |= {"monotonic_cst": [1, -1] + [0] * 28}
    weight = rng.random(200) + 0.5
    dense, sparse = (
        PURandomForestClassifier(**params).fit(X, Y, weight) for X in (DENSE, sp.csr_array(DENSE))
    )
    assert_array_equal(sparse.oob_decision_function_, dense.oob_decision_function_)
    assert_array_equal(sparse.feature_importances_, dense.feature_importances_)


@pytest.mark.parametrize("method", ["bbe", "tice", "km2"])
def test_priors(method):
    options = {"method": method, "random_state": 0} | ({"max_rows": 40} if method == "km2" else {})
    dense, sparse = (estimate_prior(X, Y, **options) for X in (DENSE, sp.csc_array(DENSE)))
    assert sparse.value == dense.value


def test_scar_test():
    options = {"prior": 0.7, "n_simulations": 2, "random_state": 0}
    dense, sparse = (scar_test(X, Y, **options) for X in (DENSE, sp.csr_array(DENSE)))
    assert_array_equal(sparse.simulated, dense.simulated)


def test_duplicate_rows():
    X = np.repeat(DENSE[:20], 2, axis=0)
    X[5, 3] = -0.0
    for form in ("csr_array", "unsorted", "duplicates", "explicit zeros", "csc_matrix"):
        assert_array_equal(duplicate_groups(FORMS[form](X)), duplicate_groups(X))
    X[X == 0] = np.float64("-nan")
    assert_array_equal(duplicate_groups(sp.csr_array(X)), duplicate_groups(X))
    assert len(np.unique(duplicate_groups(X))) <= 20


def test_the_matrix_is_not_copied_or_changed():
    X = sp.csr_array(DENSE)
    assert np.shares_memory(FeatureSchema(30).table(X).values.data, X.data)
    for form in ("unsorted", "duplicates"):
        X = FORMS[form](DENSE)
        data, indices = X.data.copy(), X.indices.copy()
        assert canonical(X).has_canonical_format
        assert_array_equal(X.data, data)
        assert_array_equal(X.indices, indices)


def test_invalid_matrices():
    model = PUDecisionTreeClassifier(prior=0.6)
    with pytest.raises(ValueError, match="X contains infinity"):
        model.fit(sp.csr_array(np.where(DENSE == 3, np.inf, DENSE)), Y)
    with pytest.raises(ValueError, match="Complex data not supported"):
        model.fit(sp.csr_array(DENSE * 1j), Y)
    with pytest.raises(ValueError, match=r"X has 29 features, but PU.* is expecting 30"):
        model.fit(sp.csr_array(DENSE), Y).predict(sp.csr_array(DENSE[:, 1:]))
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        model.fit(sp.csr_array((0, 30)), [])


def test_native_types():
    for dtype, name in ((np.float32, "SparseMatrix32"), (np.float64, "SparseMatrix64")):
        table = EncodedTable(sp.csr_array(DENSE.astype(dtype)))
        assert type(table.native()).__name__ == name
        assert table.is_sparse
        assert table.dtype == dtype
        assert_array_equal(table[[3, 1]].values.toarray(), DENSE[[3, 1]].astype(dtype))


# Memory


def test_fits_that_cannot_fit_into_memory_are_refused(monkeypatch):
    wide = sp.csr_array(np.random.default_rng(0).random((100, 5000)) < 0.1)
    labels = np.arange(100) % 2
    model = PUDecisionTreeClassifier(prior=0.6, max_depth=1)
    monkeypatch.setattr(_memory, "available_memory", lambda: 900_000)
    message = r"needs at least 977 KiB of memory, 2 bytes.* 879 KiB are available.*TruncatedSVD\("
    with pytest.raises(MemoryError, match=message):
        model.fit(wide, labels)
    model.fit(wide[:, :4000], labels)
    monkeypatch.setattr(_memory, "available_memory", lambda: None)
    model.fit(wide, labels)


def test_constant_columns_need_no_memory(monkeypatch):
    monkeypatch.setattr(_memory, "available_memory", lambda: 2 * 100 * 3)
    X = sp.lil_array((100, 10**6))
    X[::2, [5, 70, 999_999]] = 1
    X = X.tocsr()
    _memory.require_memory_for_codes(X, 100)
    with pytest.raises(MemoryError, match="3 columns that vary"):
        _memory.require_memory_for_codes(X, 101)


def test_available_memory(tmp_path, monkeypatch):
    proc, cgroup = tmp_path / "proc", tmp_path / "cgroup"
    (proc / "self").mkdir(parents=True)
    (cgroup / "memory").mkdir(parents=True)
    monkeypatch.setattr(_memory, "PROC", proc)
    monkeypatch.setattr(_memory, "CGROUP", cgroup)
    physical = _memory.available_memory()  # None on Windows
    assert physical is None or physical > 5000 * 1024
    (proc / "meminfo").write_text("MemTotal: 9000 kB\nMemAvailable:    5000 kB\n")
    assert _memory.available_memory() == 5000 * 1024
    (cgroup / "memory.current").write_text("3000000\n")
    (cgroup / "memory.max").write_text("max\n")
    assert _memory.available_memory() == 5000 * 1024
    (cgroup / "memory.max").write_text("4000000\n")
    assert _memory.available_memory() == 1_000_000
    (cgroup / "memory.stat").write_text("anon 5\ninactive_file 200\n")
    assert _memory.available_memory() == 1_000_200
    (cgroup / "memory" / "memory.limit_in_bytes").write_text("900\n")
    (cgroup / "memory" / "memory.usage_in_bytes").write_text("1000\n")
    assert _memory.available_memory() == 0


def test_the_limit_of_the_process_counts(monkeypatch):
    resource = pytest.importorskip("resource")
    monkeypatch.setattr(resource, "getrlimit", lambda _: (2**60, 2**60))
    free = _memory.available_memory()
    monkeypatch.setattr(resource, "getrlimit", lambda _: (2**20, 2**20))
    assert free is None or free > 0
    assert _memory.available_memory() in (0, free)
