"""Scorers with scikit-learn's searches, cross-validation and pipelines."""

import pickle

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from puforest import PUExtraTreesClassifier
from puforest import metrics as pu
from puforest.calibration import PUCalibratedClassifier

ONE_SET = "single-training-set"


@pytest.fixture(scope="module")
def fitted(blobs):
    X, y, _ = blobs
    forest = PUExtraTreesClassifier(
        0.4, scenario=ONE_SET, n_estimators=10, max_depth=4, random_state=0
    )
    return forest.fit(X[:400], y[:400]), X[400:], y[400:]


def test_scorers_negate_losses(fitted):
    forest, X, y = fitted
    known = {"prior": 0.4, "scenario": ONE_SET}
    pred, prob = forest.predict(X), forest.predict_proba(X)[:, 1]
    expected = {
        "pu_precision": pu.pu_precision_score(y, pred, **known),
        "pu_recall": pu.pu_recall_score(y, pred, scenario=ONE_SET),
        "pu_f1": pu.pu_f1_score(y, pred, **known),
        "pu_false_positive_rate": -pu.pu_false_positive_rate(y, pred, **known),
        "pu_accuracy": pu.pu_accuracy_score(y, pred, **known),
        "pu_balanced_accuracy": pu.pu_balanced_accuracy_score(y, pred, **known),
        "lee_liu": pu.lee_liu_score(y, pred, scenario=ONE_SET),
        "pu_roc_auc": pu.pu_roc_auc_score(y, prob, **known),
        "pu_average_precision": pu.pu_average_precision_score(y, prob, **known),
        "pu_brier": -pu.pu_brier_score(y, prob, **known),
        "pu_log_loss": -pu.pu_log_loss(y, prob, **known),
        "pu_calibration_error": -pu.pu_calibration_error(y, prob, **known),
        "pu_risk": -pu.pu_risk_score(y, 2 * prob - 1, **known),
    }
    assert sorted(expected) == pu.get_scorer_names()
    for name, value in expected.items():
        assert_allclose(pu.get_scorer(name)(forest, X, y), value, rtol=1e-9, err_msg=name)


def test_short_names_options_and_callables(fitted):
    forest, X, y = fitted
    assert pu.pu_scorer("f1")(forest, X, y) == pu.get_scorer("pu_f1")(forest, X, y)
    losses = {loss: pu.pu_scorer("risk", loss=loss)(forest, X, y) for loss in ("hinge", "zero-one")}
    assert losses["hinge"] < losses["zero-one"]
    assert pu.get_scorer(len) is len
    with pytest.raises(ValueError, match="name must be one of"):
        pu.pu_scorer("kappa")
    with pytest.raises(ValueError, match=r"scoring must be one of.*got 'kappa'"):
        pu.get_scorer("kappa")
    with pytest.raises(TypeError, match="'loss' is not an option of pu_f1"):
        pu.pu_scorer("f1", loss="hinge")


@pytest.mark.parametrize(
    ("scoring", "use"),
    [
        ("f1", "use 'pu_f1', or"),
        ("roc_auc", "use 'pu_roc_auc', or"),
        ("neg_log_loss", "use 'pu_log_loss', or"),
        ("neg_brier_score", "use 'pu_brier', or"),
        ("matthews_corrcoef", r"use one of \['lee_liu', 'pu_accuracy'"),
    ],
)
def test_refuses_scorers_that_take_unlabeled_rows_for_negatives(scoring, use):
    with pytest.raises(ValueError, match=rf"scoring='{scoring}' scores against PU labels.*{use}"):
        pu.get_scorer(scoring)


def test_weights_and_propensities(fitted):
    forest, X, y = fitted
    scorer = pu.pu_scorer("recall")
    pred = forest.predict(X)
    weight = np.random.default_rng(0).random(len(y)) + 0.1
    assert scorer(forest, X, y, sample_weight=weight) == pu.pu_recall_score(
        y, pred, sample_weight=weight
    )
    assert scorer(forest, X, y, propensity=weight / 2) == pu.pu_recall_score(
        y, pred, propensity=weight / 2
    )


def test_prior_and_scenario_of_the_estimator_or_given(fitted):
    forest, X, y = fitted
    own, given = pu.pu_scorer("precision"), pu.pu_scorer("precision", prior=0.3)
    assert_allclose(given(forest, X, y), own(forest, X, y) * 0.3 / 0.4)
    other = pu.pu_scorer("roc_auc", scenario="case-control")
    assert other(forest, X, y) != pu.pu_scorer("roc_auc")(forest, X, y)


def test_finds_the_estimator_inside(blobs, fitted):
    X, y, _ = blobs
    forest, *_ = fitted
    pipeline = make_pipeline(StandardScaler(), clone(forest)).fit(X, y)
    search = GridSearchCV(pipeline, {}, scoring=pu.pu_scorer("f1"), cv=2).fit(X, y)
    scorer = pu.pu_scorer("accuracy")
    expected = pu.pu_accuracy_score(y, search.predict(X), prior=0.4, scenario=ONE_SET)
    assert scorer(search, X, y) == scorer(pipeline, X, y) == expected
    calibrated = PUCalibratedClassifier(pipeline, cv="prefit").fit(X, y)
    expected = pu.pu_accuracy_score(y, calibrated.predict(X), prior=0.4, scenario=ONE_SET)
    assert scorer(calibrated, X, y) == expected


def test_the_prior_of_the_calibration_takes_precedence(blobs, fitted):
    X, y, _ = blobs
    forest, *_ = fitted
    model = PUCalibratedClassifier(forest, cv="prefit", prior=0.5, scenario="case-control")
    expected = pu.pu_precision_score(y, model.fit(X, y).predict(X), prior=0.5)
    assert pu.pu_scorer("precision")(model, X, y) == expected


def test_the_fraction_of_labeled_rows_is_not_a_prior(blobs):
    X, y, _ = blobs
    supervised = PUExtraTreesClassifier(risk="pn", n_estimators=3, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="prior=None, but PUExtraTreesClassifier has no prior"):
        pu.pu_scorer("f1")(supervised, X, y)


def test_other_classifiers_need_prior_and_scenario(blobs):
    X, y, _ = blobs
    for model in (LogisticRegression(), RandomForestClassifier(5, random_state=0)):
        model.fit(X, y)
        with pytest.raises(ValueError, match=r"prior=None, but \w+ has no prior"):
            pu.get_scorer("pu_f1")(model, X, y)
        with pytest.raises(ValueError, match="pass scenario to pu_scorer"):
            pu.pu_scorer("f1", prior=0.4)(model, X, y)
        known = {"prior": 0.4, "scenario": ONE_SET}
        found = pu.pu_scorer("risk", **known)(model, X, y)
        decision = (
            model.decision_function(X)
            if hasattr(model, "decision_function")
            else 2 * model.predict_proba(X)[:, 1] - 1
        )
        assert found == -pu.pu_risk_score(y, decision, **known)


def test_grid_search_prefers_what_the_truth_prefers(blobs):
    X, y, truth = blobs
    forest = PUExtraTreesClassifier(0.4, scenario=ONE_SET, random_state=0)
    sizes = [1, 5, 50]
    search = GridSearchCV(forest, {"n_estimators": sizes}, scoring=pu.pu_scorer("roc_auc"), cv=3)
    search.fit(X, y)

    def area(n):
        model = clone(forest).set_params(n_estimators=n).fit(X[::2], y[::2])
        return roc_auc_score(truth[1::2], model.decision_function(X[1::2]))

    assert np.argsort(search.cv_results_["mean_test_score"]).tolist() == [0, 1, 2]
    assert np.argsort([area(n) for n in sizes]).tolist() == [0, 1, 2]


def test_cross_validate_with_many_scorers(blobs, fitted):
    X, y, _ = blobs
    names = ["pu_f1", "pu_brier", "lee_liu"]
    found = cross_validate(
        clone(fitted[0]), X, y, cv=2, scoring={name: pu.get_scorer(name) for name in names}
    )
    for name in names:
        assert np.isfinite(found[f"test_{name}"]).all()
    assert (found["test_pu_brier"] < 0).all()


def test_metadata_routing_passes_weights(blobs, fitted):
    X, y, _ = blobs
    weight = np.random.default_rng(1).random(len(y)) + 0.1
    model = clone(fitted[0])
    plain = cross_validate(model, X, y, cv=2, scoring=pu.pu_scorer("recall"))
    with sklearn.config_context(enable_metadata_routing=True):
        routed = model.set_fit_request(sample_weight=False, propensity=False)
        scorer = pu.pu_scorer("recall").set_score_request(sample_weight=True)
        weighted = cross_validate(
            routed, X, y, cv=2, scoring=scorer, params={"sample_weight": weight}
        )
    assert (weighted["test_score"] != plain["test_score"]).all()


def test_pickles_clones_and_prints(fitted):
    forest, X, y = fitted
    scorer = pu.pu_scorer("calibration_error", prior=0.5, n_bins=3)
    value = scorer(forest, X, y)
    for copy in (pickle.loads(pickle.dumps(scorer)), clone(scorer)):
        assert copy(forest, X, y) == value
    assert "prior=0.5" in repr(scorer)
