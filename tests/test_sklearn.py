"""scikit-learn's contract, and its tools around our estimators."""

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_array_equal
from sklearn.calibration import CalibratedClassifierCV
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from puforest import (
    PUDecisionTreeClassifier,
    PUExtraTreeClassifier,
    PUExtraTreesClassifier,
    PUForestClassifier,
    PURandomForestClassifier,
)

CHECKED = [
    PUDecisionTreeClassifier(prior=0.5),
    PUDecisionTreeClassifier(risk="pn", max_leaf_nodes=20),
    PUExtraTreeClassifier(prior=0.5),
    PUExtraTreesClassifier(n_estimators=10),  # estimates its prior
    PUExtraTreesClassifier(prior=0.5, n_estimators=10),
    PUExtraTreesClassifier(prior=0.5, n_estimators=10, risk="upu", loss="logistic", voting="soft"),
    PUForestClassifier(prior=0.5, n_estimators=10, threshold=0.5),  # as predict_proba suggests
    PUForestClassifier(n_estimators=10, candidates="fast"),  # estimates its prior
    PURandomForestClassifier(prior=0.5, n_estimators=10),
    PURandomForestClassifier(prior=0.5, n_estimators=10, bootstrap=False),
]


def expected_failures(estimator):
    if isinstance(estimator, PUForestClassifier):
        why = "a row of weight 2 is in one fold, and drawn as one row"
    elif getattr(estimator, "bootstrap", False):
        why = "a bootstrap sample of weighted rows is another sample than that of repeated rows"
    elif estimator.prior is None and estimator.risk != "pn":
        why = "a prior is estimated on random folds, which are others for repeated rows"
    else:
        return {}
    failures = {
        f"check_sample_weight_equivalence_on_{kind}_data": why for kind in ("dense", "sparse")
    }
    if isinstance(estimator, PUForestClassifier) and estimator.prior is None:
        failures["check_classifiers_train"] = (
            "by default, as many unlabeled rows are predicted positive as the prior says, but here "
            "all of them are negative"
        )
    return failures


@pytest.mark.filterwarnings("ignore::puforest.prior.PriorEstimatedWarning")
@parametrize_with_checks(CHECKED, expected_failed_checks=expected_failures)
def test_estimator_checks(estimator, check):
    check(estimator)


@pytest.fixture
def model():
    return PUExtraTreesClassifier(
        prior=0.4, scenario="single-training-set", n_estimators=20, random_state=0
    )


def test_pipeline_grid_search_and_cross_validation(blobs, model):
    X, labeled, _ = blobs
    pipe = make_pipeline(StandardScaler(), model)
    search = GridSearchCV(pipe, {"puextratreesclassifier__max_depth": [1, 8]}, cv=3)
    search.fit(X, labeled)
    assert search.best_score_ > 0.7
    assert cross_val_score(pipe, X, labeled, cv=3).shape == (3,)
    assert_array_equal(pipe.fit(X, labeled).classes_, [0, 1])


def test_calibration(blobs, model):
    X, labeled, _ = blobs
    proba = CalibratedClassifierCV(model, cv=3).fit(X, labeled).predict_proba(X)
    assert proba.shape == (len(X), 2)
    assert proba[labeled == 1, 1].mean() > proba[labeled == 0, 1].mean() + 0.1


def test_inspection(blobs, model):
    X, labeled, y = blobs
    model.fit(X, labeled)
    importances = permutation_importance(model, X, y, n_repeats=3, random_state=0).importances_mean
    assert importances[:3].min() > importances[3:].max()
    curve = partial_dependence(model, X, [0])["average"][0]
    assert curve[-1] > curve[0]


def test_metadata_routing_carries_weights_and_propensities(blobs, model):
    X, labeled, _ = blobs
    weight = np.where(X[:, 0] > 0, 2.0, 1.0)
    propensity = np.where(X[:, 1] > 0, 0.8, 0.4)
    direct = model.fit(X, labeled, weight, propensity=propensity).decision_function(X)
    with sklearn.config_context(enable_metadata_routing=True):
        routed = make_pipeline(
            StandardScaler(with_mean=False, with_std=False).set_fit_request(sample_weight=False),
            model.set_fit_request(sample_weight=True, propensity=True).set_score_request(
                sample_weight=True
            ),
        )
        routed.fit(X, labeled, sample_weight=weight, propensity=propensity)
        assert_array_equal(routed.decision_function(X), direct)
        search = GridSearchCV(model, {"max_depth": [2, 4]}, cv=3)
        search.fit(X, labeled, sample_weight=weight, propensity=propensity)
        assert hasattr(search, "best_estimator_")
