"""Estimates of the class prior that are passed as the parameter `prior`."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from pu_clouds import clouds
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

import puforest
from puforest import (
    PUDecisionTreeClassifier,
    PUExtraTreeClassifier,
    PUExtraTreesClassifier,
    PUForestClassifier,
    PURandomForestClassifier,
)
from puforest._unwrap import known_prior_estimate
from puforest.baselines import NaivePUClassifier
from puforest.calibration import PUCalibratedClassifier
from puforest.prior import PriorEstimate, PriorEstimatedWarning, estimate_prior

ESTIMATORS = [
    PUDecisionTreeClassifier(max_depth=3, random_state=0),
    PUExtraTreeClassifier(max_depth=3, random_state=0),
    PUExtraTreesClassifier(n_estimators=5, random_state=0),
    PURandomForestClassifier(n_estimators=5, random_state=0),
    PUForestClassifier(n_estimators=5, candidates="fast", random_state=0),
]


@pytest.fixture(scope="module")
def data():
    return clouds(0.4, scenario="case-control", n_p=100, n_u=300)


@pytest.fixture(scope="module")
def estimate(data):
    return estimate_prior(*data, random_state=0)


def same_evidence(one, other):
    assert one.evidence.keys() == other.evidence.keys()
    for name, value in one.evidence.items():
        assert_array_equal(other.evidence[name], value)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_all_estimators_use_its_value_and_keep_it(estimator, data, estimate, tmp_path):
    X, y = data
    model = clone(estimator).set_params(prior=estimate).fit(X, y)  # without a warning
    number = clone(estimator).set_params(prior=estimate.value).fit(X, y)
    assert_array_equal(model.predict_proba(X), number.predict_proba(X))
    assert model.prior_ == estimate.value
    assert model.prior_estimate_ is model.get_params()["prior"] is estimate
    assert model.prior_interval_ == estimate.interval
    assert not hasattr(number, "prior_estimate_")
    assert clone(model).prior == estimate
    model.save(tmp_path / "model.puf")
    for restored in (
        pickle.loads(pickle.dumps(model)),
        puforest.load(tmp_path / "model.puf"),
    ):
        assert restored.prior == restored.prior_estimate_ == estimate
        same_evidence(restored.prior, estimate)
        same_evidence(restored.prior_estimate_, estimate)
        assert_array_equal(restored.predict_proba(X), model.predict_proba(X))


def test_warm_start(data, estimate):
    model = PUExtraTreesClassifier(estimate, n_estimators=3, warm_start=True, random_state=0)
    model.fit(*data).set_params(n_estimators=6).fit(*data)
    assert model.prior_estimate_ is estimate
    assert len(model.estimators_) == 6


def test_adapting_a_model(data, estimate, tmp_path):
    X, y = data
    model = PUForestClassifier(0.2, n_estimators=5, candidates="fast", random_state=0).fit(X, y)
    other = model.with_prior(estimate)
    assert other.prior_ == estimate.value
    assert other.prior is other.prior_estimate_ is estimate
    assert_array_equal(other.predict_proba(X), model.with_prior(estimate.value).predict_proba(X))
    other.save(tmp_path / "model.puf")
    assert puforest.load(tmp_path / "model.puf").prior_estimate_ == estimate
    assert not hasattr(other.with_prior(0.3), "prior_estimate_")


def test_calibration(data, estimate, tmp_path):
    X, y = data
    trees = PUExtraTreesClassifier(estimate, n_estimators=20, random_state=0)
    for prior in (None, estimate):
        model = PUCalibratedClassifier(trees, prior=prior, cv=2).fit(X, y)
        assert model.prior_ == estimate.value
        assert known_prior_estimate(model) == estimate
        model.save(tmp_path / "model.puf")
        loaded = puforest.load(tmp_path / "model.puf")
        assert loaded.prior == prior
        assert known_prior_estimate(loaded) == estimate
        same_evidence(known_prior_estimate(loaded), estimate)
    other = replace(estimate, value=0.5, upper=0.6, interval=(0.4, 0.6), method="checks")
    model = PUCalibratedClassifier(trees, prior=other, cv=2).fit(X, y)
    model.save(tmp_path / "model.puf")
    loaded = puforest.load(tmp_path / "model.puf")
    assert known_prior_estimate(loaded) == loaded.prior == other
    assert loaded.estimator_.prior_estimate_ == estimate
    assert known_prior_estimate(PUCalibratedClassifier(trees, prior=0.4, cv=2).fit(X, y)) is None


def test_baselines(data, estimate):
    model = NaivePUClassifier(LogisticRegression(), prior=estimate).fit(*data)
    assert model.prior_ == estimate.value
    assert model.prior_estimate_ is known_prior_estimate(model) is estimate
    model.set_params(prior=0.3).fit(*data)
    assert not hasattr(model, "prior_estimate_")


def test_estimates_of_other_methods_are_stored_without_evidence(data, estimate, tmp_path):
    checks = PriorEstimate(
        value=0.38,
        interval=(0.3, 0.46),
        upper=0.45,
        kind="estimate",
        reason="50 rows were checked.",
        confidence=0.95,
        method="checks",
        scenario="case-control",
        unlabeled_prior=0.38,
        label_frequency=0.4,
        evidence={"verdicts": np.ones(50)},
    )
    model = PUExtraTreesClassifier(checks, n_estimators=3, random_state=0).fit(*data)
    model.save(tmp_path / "model.puf")
    loaded = puforest.load(tmp_path / "model.puf")
    assert loaded.prior == loaded.prior_estimate_ == checks
    assert loaded.prior_estimate_.evidence == {}
    # A parameter that was changed after the fit is stored as well.
    model.set_params(prior=replace(checks, value=0.4)).save(tmp_path / "model.puf")
    loaded = puforest.load(tmp_path / "model.puf")
    assert loaded.prior.value == 0.4
    assert loaded.prior_estimate_ == checks
    loaded = pickle.loads(pickle.dumps(model))
    assert loaded.prior_estimate_.evidence.keys() == {"verdicts"}


def test_description(data, estimate):
    model = PUExtraTreesClassifier(estimate, n_estimators=3, random_state=0).fit(*data)
    high = estimate.interval[1]
    bound = replace(estimate, kind="upper bound", interval=(0.001, high))
    assert "estimated by bbe (95% interval " in puforest.describe(
        model.with_prior(replace(estimate, kind="estimate"))
    )
    text = puforest.describe(model.with_prior(bound))
    assert f"point estimate by bbe; at most {high:.3g} (95%)" in text


@pytest.mark.parametrize("cls", [PUExtraTreesClassifier, PUForestClassifier])
def test_warning_of_an_upper_bound_says_what_to_do(cls):
    X, y = clouds(0.3, scenario="case-control", n_p=200, n_u=600, distance=1.0)
    with pytest.warns(PriorEstimatedWarning, match="the class prior is at most 0") as caught:
        model = cls(n_estimators=10, random_state=0).fit(X, y)
    text = str(caught[0].message)
    assert model.prior_estimate_.is_bound
    assert model.prior_estimate_.reason in text
    assert "set it if it is known" in text
    assert "puforest.checking" in text
    X, y = clouds(0.3, scenario="case-control", n_p=400, n_u=900, distance=8.0)
    with pytest.warns(PriorEstimatedWarning, match="the class prior is estimated as 0") as caught:
        model = cls(n_estimators=50, random_state=0).fit(X, y)
    assert model.prior_estimate_.kind == "estimate"
    assert "at most" not in str(caught[0].message)


def test_other_values_are_refused(data):
    with pytest.raises(TypeError, match="a number between 0 and 1, a PriorEstimate, or None, got"):
        PUExtraTreesClassifier("0.3").fit(*data)
