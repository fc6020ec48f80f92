"""Invalid input raises an error that names it; unusual but valid input works."""

import inspect
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from sklearn.exceptions import NotFittedError

from puforest import (
    PUDecisionTreeClassifier,
    PUExtraTreeClassifier,
    PUExtraTreesClassifier,
    PUForestClassifier,
    PURandomForestClassifier,
    Recipe,
)

FORESTS = [PURandomForestClassifier, PUExtraTreesClassifier]
ESTIMATORS = [PUDecisionTreeClassifier, PUExtraTreeClassifier, *FORESTS]
WITH_RECOMMENDED = [*ESTIMATORS, PUForestClassifier]
METHODS = ["predict", "predict_proba", "decision_function", "apply", "decision_path"]
BAD = (ValueError, TypeError)
NAN, INF = float("nan"), float("inf")
HUGE = 10**400  # beyond any float

rng = np.random.default_rng(0)
X = rng.integers(0, 9, size=(40, 3)).astype(float)
Y = (rng.random(40) < 0.4).astype(int)


def make(cls, **params):
    small = {"n_estimators": 3} if cls in FORESTS else {}
    return cls(**{"prior": 0.4, "random_state": 0, **small, **params})


def with_cell(value, x=X, where=(5, 1)):
    x = x.copy()
    x[where] = value
    return x


@pytest.fixture(params=ESTIMATORS, ids=lambda cls: cls.__name__)
def cls(request):
    return request.param


# Parameters

NUMBER = ["3", [3], 3j, True, np.array([3]), object()]
COUNT = [0, -1, 1.5, NAN, INF, *NUMBER]
SHARE = [0, -1, 0.0, -0.5, 1.5, NAN, INF, *NUMBER]
FLAG = [None, 0, 1, "yes", [True]]
CHOICE = [None, "", "other", 1, ["hard"], b"nnpu", object()]
BAD_PARAMETERS = {
    "prior": [0, 1, 0.0, 1.0, -0.1, 1.5, 2, HUGE, Fraction(1, HUGE), NAN, INF, -INF, *NUMBER],
    "scenario": CHOICE,
    "risk": CHOICE,
    "loss": CHOICE,
    "voting": CHOICE,
    "threshold": [
        None,
        -0.1,
        1.5,
        NAN,
        INF,
        HUGE,
        "other",
        ("cost",),
        ("cost", 0),
        ["f1", 1],
        *NUMBER,
    ],
    "candidates": [None, "other", [], ["fast"], [Recipe(), Recipe()], {}, 1, object()],
    "max_features": [*SHARE, "other", 4, HUGE],
    "n_thresholds": [None, *COUNT],
    "max_depth": [*COUNT, 1.0],
    "min_samples_split": [None, 1, *SHARE],
    "min_samples_leaf": [None, *SHARE],
    "min_risk_reduction": [NAN, HUGE, *NUMBER],
    "max_leaf_nodes": [1, 2.0, *COUNT],
    "categorical_features": ["other", 1, 0.5, object(), [0.5], [3], ["a"], [True], [[0]], {0}, {}],
    "monotonic_cst": ["up", 1, object(), [1], [2, 0, 0], [NAN, 0, 0], [[1, 0, 0]], {"a": 1}],
    "n_estimators": [None, 1.0, *COUNT],
    "bootstrap": FLAG,
    "max_labeled": [*SHARE, 41, HUGE],
    "max_unlabeled": [*SHARE, 41, HUGE],
    "oob_score": FLAG,
    "warm_start": FLAG,
    "n_jobs": [0, 1.5, NAN, INF, "2", [2], 2j, object()],
    "verbose": [None, -1, 1.5, NAN, "1", [1]],
    "random_state": [-1, 2**32, 1.5, NAN, "1", [1], object()],
}


@pytest.mark.parametrize("cls", WITH_RECOMMENDED, ids=lambda cls: cls.__name__)
def test_invalid_parameters_are_named(cls):
    wrong = []
    for name in inspect.signature(cls).parameters:
        for value in BAD_PARAMETERS[name]:
            try:
                make(cls, **{name: value}).fit(X, Y)
                wrong.append((name, value, "no error"))
            except Exception as error:
                if not isinstance(error, BAD) or name not in str(error):
                    wrong.append((name, value, error))
    assert not wrong


def test_every_parameter_has_invalid_values():
    names = {name for cls in WITH_RECOMMENDED for name in inspect.signature(cls).parameters}
    assert names == BAD_PARAMETERS.keys()


@pytest.mark.parametrize("risk", ["nnpu", "upu"])
def test_prior_below_the_labeled_fraction(cls, risk):
    share = Y.mean()
    single = {"scenario": "single-training-set", "risk": risk}
    with pytest.raises(ValueError, match="prior"):
        make(cls, prior=share - 0.01, **single).fit(X, Y)
    fitted = make(cls, prior=share, **single).fit(X, Y)
    for wrong in (share - 0.01, 0, 1, NAN, None, "0.5", True):
        with pytest.raises(BAD, match="prior"):
            fitted.with_prior(wrong)


def test_out_of_bag_predictions_require_out_of_bag_rows():
    with pytest.raises(ValueError, match="oob_score"):
        make(PUExtraTreesClassifier, oob_score=True).fit(X, Y)


@pytest.mark.parametrize(("name", "value"), [("voting", "loud"), ("n_jobs", "many")])
def test_parameters_invalid_after_the_fit_are_named(name, value):
    forest = make(PUExtraTreesClassifier).fit(X, Y).set_params(**{name: value})
    with pytest.raises(BAD, match=name):
        forest.predict(X)


# Data

BAD_X = {
    "inf": (with_cell(INF), r"X contains infinity .* in X\[:, 1\]"),
    "-inf": (with_cell(-INF), "X contains infinity"),
    "float32 inf": (with_cell(INF).astype(np.float32), "X contains infinity"),
    "beyond any float": ([[HUGE, 0, 0], *X[1:].tolist()], None),
    "no dimension": (np.array(3.0), "2D array"),
    "one dimension": (X[:, 0], "2D array"),
    "three dimensions": (X[:, :, None], "dim 3"),
    "no features": (X[:, :0], "0 feature"),
    "no rows": (X[:0], "0 sample"),
    "bytes": (np.full(X.shape, b"red"), "has bytes"),
    "mixed": (with_cell("red", X.astype(object)), r"X\[:, 1\] mixes types: .* but 'red' is text"),
    "nested": (with_cell({}, X.astype(object)), r"X\[:, 1\] has cells of type dict, such as \{\}"),
    "objects": (np.full(X.shape, object()), r"X\[:, 0\] has cells of type object"),
    "ragged": ([[1, 2, 3], [4, 5]] * 20, r"X\[0\] has 3 cells, but X\[1\] has 2"),
    "list of text": (["red"] * 40, "2D array, got 1D array"),
    "series": (pd.Series(X[:, 0]), r"2D array, got 1D array instead \(Series\)"),
    "lazy": (pl.LazyFrame({"a": X[:, 0]}), r"LazyFrame: pass X.collect\(\)"),
    "complex": (X * 1j, "Complex"),
    "sparse inf": (sp.csr_array(with_cell(INF)), r"X contains infinity .* in X\[:, 1\]"),
    "sparse complex": (sp.csr_array(X * 1j), "Complex"),
    "dict": ({"a": [1, 2]}, "got dict"),
    "list of dicts": ([{"a": 1}] * 40, r"list of dicts: pass pandas.DataFrame\(X\)"),
    "nothing": (None, "got NoneType"),
}


@pytest.mark.parametrize("name", BAD_X)
def test_invalid_rows(cls, name):
    x, message = BAD_X[name]
    with pytest.raises(BAD, match=message):
        make(cls).fit(x, Y)
    fitted = make(cls).fit(X, Y)
    for method in METHODS:
        with pytest.raises(BAD, match=message):
            getattr(fitted, method)(x)


BAD_Y = {
    "only labeled": (np.ones(40), "y has only one class"),
    "only unlabeled": (np.zeros(40), "y has only one class"),
    "three classes": (np.arange(40) % 3, "y has 3 classes"),
    "two columns": (np.c_[Y, Y], "y should be a 1d array"),
    "too short": (Y[:-1], "inconsistent numbers of samples"),
    "empty": (Y[:0], "inconsistent numbers of samples"),
    "scalar": (np.array(1), "y should be a 1d array"),
    "nan": (np.where(Y, NAN, 0), "y (contains NaN|has only 0.0 and missing)"),
    "inf": (np.where(Y, INF, 0), "y contains infinity"),
    "shares": (Y + 0.5, "[Uu]nknown label type"),
    "objects": (np.array([object(), None] * 20), "[Uu]nknown label type"),
    "complex": (Y * 1j, "[Cc]omplex"),
    "nothing": (None, "y"),
}


@pytest.mark.parametrize("risk", ["nnpu", "pn"])
@pytest.mark.parametrize("name", BAD_Y)
def test_invalid_y(cls, name, risk):
    y, message = BAD_Y[name]
    with pytest.raises(BAD, match=message):
        make(cls, risk=risk).fit(X, y)


def ones(value):
    return np.where(np.arange(40) == np.flatnonzero(Y)[2], value, 1.0)


WRONG_ROWS = {
    "negative": ones(-1e-9),
    "nan": ones(NAN),
    "inf": ones(INF),
    "-inf": ones(-INF),
    "too short": np.ones(39),
    "too long": np.ones(41),
    "one": np.ones(1),
    "empty": np.ones(0),
    "column": np.ones((40, 1)),
    "two columns": np.ones((40, 2)),
    "strings": ["heavy"] * 40,
    "complex": np.full(40, 1j),
    "ragged": [[1], [1, 2]] * 20,
    "beyond any float": [HUGE] * 40,
    "dict": {"a": 1},
    "sparse": sp.csr_array(np.ones((40, 1))),
}
BAD_ROWS = [
    *(("sample_weight", name, value) for name, value in WRONG_ROWS.items()),
    *(("propensity", name, value) for name, value in WRONG_ROWS.items()),
    ("sample_weight", "no labeled", 1.0 * (Y == 0)),
    ("sample_weight", "no unlabeled", 1.0 * (Y == 1)),
    ("sample_weight", "none", np.zeros(40)),
    ("sample_weight", "negative scalar", -1),
    ("propensity", "scalar", 0.5),
    ("propensity", "zero", ones(0)),
    ("propensity", "above one", ones(1.01)),
]


@pytest.mark.parametrize(
    ("argument", "value"), [pytest.param(a, v, id=f"{a} {name}") for a, name, v in BAD_ROWS]
)
def test_invalid_weights_and_propensities_are_named(cls, argument, value):
    with pytest.raises(BAD, match=argument):
        make(cls).fit(X, Y, **{argument: value})


def test_propensities_require_risk_and_scenario(cls):
    for params in ({"risk": "pn"}, {"prior": None}):
        with pytest.raises(ValueError, match=r"propensit"):
            make(cls, **params).fit(X, Y, propensity=np.full(40, 0.9))
    single = make(cls, prior=None, scenario="single-training-set")
    with pytest.raises(ValueError, match="propensity"):
        single.fit(X, Y, propensity=np.full(40, 0.01))


@pytest.mark.parametrize("method", METHODS)
def test_features_differ_from_the_fit(cls, method):
    names = list("abc")
    frame = pd.DataFrame(X, columns=names)
    fitted = make(cls).fit(frame, Y)
    for wrong in (frame[["a", "b"]], frame.assign(d=0), frame[names[::-1]], frame.add_suffix("_")):
        with pytest.raises(ValueError, match="feature names"):
            getattr(fitted, method)(wrong)
    for wrong in (X[:, :2], np.c_[X, X]):
        with pytest.raises(ValueError, match=r"has \d features"):
            getattr(make(cls).fit(X, Y), method)(wrong)
    with pytest.raises(NotFittedError):
        getattr(make(cls), method)(X)


def test_failed_fits_keep_the_previous_one(cls):
    fitted = make(cls).fit(X, Y)
    before = dict(vars(fitted))
    for x, y, rows in [
        (np.c_[X, X], np.zeros(40), {}),
        (pd.DataFrame(X, columns=list("abc")), Y, {"sample_weight": -np.ones(40)}),
        (np.c_[X, X], Y, {"propensity": np.zeros(40)}),
    ]:
        with pytest.raises(ValueError, match=r"y|sample_weight|propensity"):
            fitted.fit(x, y, **rows)
        assert vars(fitted).keys() == before.keys()
        assert all(vars(fitted)[name] is value for name, value in before.items())


# What must work


def mapped(folder, order, dtype):
    array = np.memmap(folder / "x", dtype=dtype, mode="w+", shape=X.shape, order=order)
    array[:] = X
    array.flush()
    return np.memmap(folder / "x", dtype=dtype, mode="r", shape=X.shape, order=order)


def read_only(x):
    x = x.copy()
    x.flags.writeable = False
    return x


def unaligned(x):
    return np.frombuffer(b"." + x.tobytes(), dtype=x.dtype, offset=1).reshape(x.shape)


def field(x, *others):
    """A field of a structured array, whose stride is not a multiple of its item size."""
    packed = np.zeros(len(x), dtype=[*others, ("x", x.dtype, x.shape[1]), ("last", "i2")])
    packed["x"] = x
    return packed["x"]


SAME_X = {
    "field": lambda _: field(X),
    "field float32": lambda _: field(X.astype("f4")),
    "unaligned field": lambda _: field(X, ("first", "u1")),
    "nothing masked": lambda _: np.ma.masked_array(X),
    "nothing masked, with a mask": lambda _: np.ma.masked_array(X, mask=X > 1e9),
    "read-only": lambda _: read_only(X),
    "Fortran": lambda _: np.asfortranarray(X),
    "read-only Fortran": lambda _: read_only(X.T).T,
    "memmap": lambda folder: mapped(folder, "C", "f8"),
    "memmap Fortran": lambda folder: mapped(folder, "F", "f8"),
    "memmap float32": lambda folder: mapped(folder, "C", "f4"),
    "memmap Fortran float32": lambda folder: mapped(folder, "F", "f4"),
    "memmap big-endian": lambda folder: mapped(folder, "C", ">f8"),
    "reversed": lambda _: X[::-1, ::-1].copy()[::-1, ::-1],
    "every other": lambda _: np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3],
    "unaligned": lambda _: unaligned(X),
    "list": lambda _: X.tolist(),
    "objects": lambda _: X.astype(object),
    "frame": lambda _: pd.DataFrame(X, index=np.arange(40)[::-1]),
    "nullable frame": lambda _: pd.DataFrame(X).astype({0: "Int64", 1: "Float32", 2: "UInt8"}),
    "polars": lambda _: pl.DataFrame(X),
    "csr": lambda _: sp.csr_array(X),
    "csc": lambda _: sp.csc_matrix(X),
    **{
        dtype: lambda _, dtype=dtype: X.astype(dtype)
        for dtype in ("f2", "f4", ">f4", "g", "u1", "i1", ">i2", "i4", "i8", "u8")
    },
}


@pytest.mark.parametrize("form", SAME_X)
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.filterwarnings("ignore:X has feature names")
def test_input_types_and_layouts(cls, form, tmp_path):
    x = SAME_X[form](tmp_path)
    expected = make(cls).fit(X, Y)
    fitted = make(cls).fit(x, Y)
    assert_array_equal(fitted._forest.threshold, expected._forest.threshold)
    for trained, asked in ((fitted, x), (fitted, X), (expected, x)):
        assert_array_equal(trained.predict_proba(asked), expected.predict_proba(X))


SAME_Y = {
    "nothing masked": np.ma.masked_array(Y, mask=np.zeros(40, dtype=bool)),
    "bool": Y == 1,
    "-1 and 1": 2 * Y - 1,
    "float": Y * 3.0,
    "uint8": Y.astype("u1"),
    "strings": np.where(Y, "positive", "neither"),
    "object strings": np.where(Y, "positive", "neither").astype(object),
    "list": Y.tolist(),
    "series": pd.Series(Y, index=rng.permutation(40) * 7 - 50),
    "nullable series": pd.Series(Y, index=list("ab" * 20), dtype="Int64"),
    "nullable bool": pd.Series(Y == 1, dtype="boolean"),
    "category": pd.Series(np.where(Y, "b", "a"), dtype="category"),
    "polars": pl.Series(Y),
    "read-only": read_only(Y),
    "reversed": Y[::-1].copy()[::-1],
}


@pytest.mark.parametrize("coding", SAME_Y)
def test_encodings_of_y(cls, coding):
    y = SAME_Y[coding]
    expected = make(cls).fit(X, Y).predict(X)
    fitted = make(cls).fit(X, y)
    assert_array_equal(fitted.classes_, np.unique(np.asarray(y)))
    assert_array_equal(fitted.predict(X) == fitted.classes_[1], expected == 1)
