"""Pickle, joblib and skops."""

import pickle

import joblib
import numpy as np
import pytest
import skops.io
from mixed_forests import SCHEMA, mixed_model, mixed_rows, raw_table
from numpy.testing import assert_array_equal
from saved_models import ESTIMATORS, assert_same, small, small_pu_forest, through_file

from puforest import PUDecisionTreeClassifier, PURandomForestClassifier
from puforest._encoded import EncodedTable
from puforest.calibration import PUCalibratedClassifier
from puforest.io import trusted_types
from puforest.prior import PriorEstimatedWarning


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("mmap_mode", [None, "r"])
def test_joblib(estimator, mmap_mode, blobs, tmp_path):
    X, labeled, _ = blobs
    model = small(estimator).fit(X, labeled)
    joblib.dump(model, tmp_path / "model.joblib")
    loaded = joblib.load(tmp_path / "model.joblib", mmap_mode=mmap_mode)
    assert isinstance(loaded._forest.w_p, np.memmap) == (mmap_mode == "r")
    assert_same(model, loaded, X)
    assert_same(model, through_file(loaded, tmp_path), X)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_pickle(estimator, blobs):
    X, labeled, _ = blobs
    model = small(estimator).fit(X, labeled)
    assert_same(model, pickle.loads(pickle.dumps(model)), X)


def copies(model, folder):
    """Save and load a model in all formats."""
    yield pickle.loads(pickle.dumps(model))
    joblib.dump(model, folder / "model.joblib")
    yield joblib.load(folder / "model.joblib")
    yield joblib.load(folder / "model.joblib", mmap_mode="r")
    yield skops.io.loads(skops.io.dumps(model), trusted=trusted_types())


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_models_of_tables(estimator, tmp_path):
    X, labeled = raw_table()
    model = small(estimator, categorical_features=["odor"], monotonic_cst={"size": 1})
    model.fit(X, labeled)
    assert model._forest.n_categories.any()
    for loaded in copies(model, tmp_path):
        assert loaded._record.schema == model._record.schema
        assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
        assert loaded.get_params() == model.get_params()


def test_columns_of_all_kinds(tmp_path):
    model = mixed_model()
    X = EncodedTable(mixed_rows(20), SCHEMA.categorical)
    for loaded in copies(model, tmp_path):
        assert loaded._record.schema == SCHEMA
        assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


def test_pu_forests(blobs, tmp_path):
    X, labeled, _ = blobs
    model = small_pu_forest().fit(X, labeled)
    for loaded in copies(model, tmp_path):
        assert_same(model, loaded, X)
        assert str(loaded) == str(model)
        assert loaded.oob_risk_ == model.oob_risk_
        assert_same(model, through_file(loaded, tmp_path), X)


def skops_models(X, labeled):
    for estimator in ESTIMATORS:
        yield small(estimator, prior=None, risk="pn").fit(X, labeled)
    model = small(PURandomForestClassifier, prior=None, n_estimators=40, oob_score=True)
    with pytest.warns(PriorEstimatedWarning):
        yield model.fit(X, labeled)
    yield small_pu_forest().fit(X, labeled)
    tree = small(PUDecisionTreeClassifier, max_depth=3)
    for method in ("sigmoid", "isotonic"):
        yield PUCalibratedClassifier(tree, method=method).fit(X, labeled)


def test_trusted_types_are_those_that_skops_asks_for(blobs):
    X, labeled, _ = blobs
    asked = set()
    for model in skops_models(X, labeled):
        content = skops.io.dumps(model)
        asked |= set(skops.io.get_untrusted_types(data=content))
        loaded = skops.io.loads(content, trusted=trusted_types())
        assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    asked |= set(skops.io.get_untrusted_types(data=skops.io.dumps(mixed_model())))
    assert asked == set(trusted_types())
