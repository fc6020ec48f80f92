"""Fits that fail, and fits of one estimator by several threads."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from puforest import PUExtraTreesClassifier, PURandomForestClassifier
from puforest.baselines import (
    ElkanNotoClassifier,
    NaivePUClassifier,
    PUBaggingClassifier,
    SpyTwoStepClassifier,
)
from puforest.calibration import PUCalibratedClassifier
from puforest.prior import BBE, KernelMean

rng = np.random.default_rng(0)
Y = np.repeat([1, 0], [30, 60])
X = rng.normal(size=(90, 3)) + 2 * (np.arange(90) < 50)[:, None]


class Breaks(LogisticRegression):
    """A classifier that fails on some tables."""

    def fit(self, X, y):
        if np.asarray(X)[0, 0] == 1e6:
            raise RuntimeError("broken")
        return super().fit(X, y)


ESTIMATORS = {
    "forest": PURandomForestClassifier(0.5, n_estimators=3, random_state=0),
    "calibrated": PUCalibratedClassifier(
        Breaks(), prior=0.5, scenario="case-control", method="sigmoid"
    ),
    "naive": NaivePUClassifier(Breaks()),
    "bagging": PUBaggingClassifier(Breaks(), n_estimators=2),
    "spy": SpyTwoStepClassifier(Breaks(), random_state=0),
    "elkan-noto": ElkanNotoClassifier(Breaks()),
    "bbe": BBE(estimator=Breaks(), random_state=0),
}


def wrong_labels(model):
    model.fit(np.c_[X, X], np.zeros(90))


def breaks_within(model):
    broken = np.c_[X, X]
    broken[:, 0] = 1e6
    if isinstance(model, PURandomForestClassifier):
        model = model.set_params(max_depth="deep")
    model.fit(pd.DataFrame(broken, columns=list("abcdef")), Y)


@pytest.mark.parametrize("fails", [wrong_labels, breaks_within])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_failed_fit_leaves_the_earlier_one(name, fails):
    model = clone(ESTIMATORS[name])
    unfitted = dict(vars(model))
    with pytest.raises((ValueError, TypeError, RuntimeError)):
        fails(model)
    assert vars(model).keys() == unfitted.keys()
    model = clone(ESTIMATORS[name]).fit(X, Y)
    before = dict(vars(model))
    with pytest.raises((ValueError, TypeError, RuntimeError)):
        fails(model)
    vars(model).pop("max_depth", None), before.pop("max_depth", None)  # which was set above
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[key] is value for key, value in before.items())


@pytest.mark.parametrize("name", ESTIMATORS)
def test_names_of_an_earlier_fit_are_forgotten(name):
    model = clone(ESTIMATORS[name]).fit(pd.DataFrame(X, columns=list("abc")), Y)
    if name not in ("bbe", "calibrated"):
        assert model.feature_names_in_.tolist() == list("abc")
    model.fit(X, Y)
    assert not hasattr(model, "feature_names_in_")


def test_threads_that_fit_one_estimator_leave_one_of_the_fits():
    # Of different widths and classes: parts of two fits would not go together.
    model = PUExtraTreesClassifier(0.5, n_estimators=5, random_state=0)
    codes = [np.array([0, 1]), np.array(["no", "yes"]), np.array([-1.0, 1.0])]
    tables = [np.tile(X, k) for k in (1, 2, 3)]

    def fit(i):
        model.fit(tables[i % 3], codes[i % 3][Y])

    with ThreadPoolExecutor(4) as pool:
        for _ in range(20):
            list(pool.map(fit, range(6)))
            i = model.n_features_in_ // 3 - 1
            assert_array_equal(model.classes_, codes[i])
            alone = clone(model).fit(tables[i], codes[i][Y])
            assert_array_equal(model.predict_proba(tables[i]), alone.predict_proba(tables[i]))


def test_others_predict_with_the_old_fit_while_a_new_one_is_made():
    model = PUExtraTreesClassifier(0.5, n_estimators=20, random_state=0).fit(X, Y)
    expected = model.predict_proba(X)
    wide = np.tile(X, 20)
    with ThreadPoolExecutor(1) as pool:
        fit = pool.submit(lambda: model.fit(wide, Y))
        while not fit.done():
            try:
                found = model.predict_proba(X)
            except ValueError as error:  # the new fit is there
                assert "expecting 60 features" in str(error)  # noqa: PT017
                break
            assert_array_equal(found, expected)
    assert model.n_features_in_ == 60


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize(
    "again", [copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))]
)
def test_copies_in_every_state(again, name):
    model = clone(ESTIMATORS[name])
    other = again(model).fit(X, Y)
    assert not hasattr(model, "n_features_in_")
    second = again(other)
    if hasattr(model, "predict_proba"):
        assert_array_equal(second.predict_proba(X), other.predict_proba(X))
        second.fit(X[::-1][:80], Y[::-1][:80])
        assert_array_equal(again(other).predict_proba(X), other.predict_proba(X))
    else:
        assert second.prior_ == other.prior_


def test_prior_estimators_are_as_before_too():
    model = KernelMean(random_state=0).fit(X, Y)
    before = dict(vars(model))
    few = np.r_[:5, 30]
    with pytest.raises(ValueError, match="at least two labeled and two unlabeled"):
        model.fit(X[few, :2], Y[few])
    assert vars(model) == before
