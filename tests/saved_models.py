"""Small models of all classes, and a check that a loaded model equals the saved one."""

import numpy as np
from numpy.testing import assert_array_equal

import puforest
from puforest import (
    PUDecisionTreeClassifier,
    PUExtraTreeClassifier,
    PUExtraTreesClassifier,
    PUForestClassifier,
    PURandomForestClassifier,
)
from puforest.calibration import PUCalibratedClassifier

ESTIMATORS = [
    PUDecisionTreeClassifier,
    PUExtraTreeClassifier,
    PUExtraTreesClassifier,
    PURandomForestClassifier,
]
FORESTS = ESTIMATORS[2:]


def small(estimator, **params):
    if estimator in FORESTS:
        params = {"n_estimators": 7, **params}
    return estimator(**{"prior": 0.4, "random_state": 0, **params})


def small_pu_forest(**params):
    return PUForestClassifier(**{"prior": 0.4, "n_estimators": 10, "random_state": 0, **params})


def through_file(model, folder, **options):
    path = folder / "model.puf"
    model.save(path)
    return puforest.load(path, **options)


def assert_same(model, loaded, X):
    assert type(loaded) is type(model)
    assert loaded.get_params().keys() == model.get_params().keys()
    for X_of_type in (X, X.astype(np.float32)):
        for method in ("predict", "predict_proba", "decision_function", "apply"):
            if hasattr(model, method):
                result, expected = (getattr(m, method)(X_of_type) for m in (loaded, model))
                assert result.dtype == expected.dtype
                assert_array_equal(result, expected)
    assert loaded.prior_ == model.prior_
    assert getattr(loaded, "threshold_", 0.5) == getattr(model, "threshold_", 0.5)
    assert loaded.n_features_in_ == model.n_features_in_
    assert loaded.classes_.dtype == model.classes_.dtype
    if not isinstance(model, PUCalibratedClassifier):
        assert loaded.get_params() == model.get_params()
        assert_array_equal(loaded.feature_importances_, model.feature_importances_)
        assert_array_equal(loaded.infinite_reductions_, model.infinite_reductions_)
        for field in ("schema", "parameters", "masses", "seed"):
            assert getattr(loaded._record, field) == getattr(model._record, field)
        for field in ("n_labeled", "n_unlabeled"):
            assert getattr(loaded._record, field) == getattr(model._record, field)
        assert loaded._record.calibrator == model._record.calibrator
        assert loaded._record.comparison == model._record.comparison
        other, expected = (m.with_prior(0.7) for m in (loaded, model))
        assert_array_equal(other.predict_proba(X), expected.predict_proba(X))
