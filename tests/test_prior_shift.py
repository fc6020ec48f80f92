"""Class priors of new data, and models adapted to them."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logit
from sklearn.linear_model import LogisticRegression

import puforest
from puforest import PUExtraTreesClassifier, PUForestClassifier, PURandomForestClassifier
from puforest.calibration import PUCalibratedClassifier
from puforest.diagnostics import adapt_prior, drift_report
from puforest.diagnostics._prior_shift import shifted_prior, standard_error
from puforest.prior import PriorEstimate

ONE = "single-training-set"


def draw(n, prior, seed, shift=1.5):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < prior
    return rng.normal(size=(n, 3)) + shift * y[:, None], y


def data(prior=0.4, seed=0, scenario=ONE):
    X, y = draw(2000, prior, seed)
    if scenario == ONE:
        return X, y & (np.random.default_rng(seed + 50).random(2000) < 0.4)
    P, _ = draw(300, 1.0, seed + 100)
    return np.concatenate([P, X]), np.arange(2300) < 300


def quick(prior=0.4, **params):
    return PUForestClassifier(
        prior, candidates="fast", n_estimators=60, **{"random_state": 0} | params
    )


def soft(prior=0.4, **params):
    return PURandomForestClassifier(
        prior, n_estimators=60, voting="soft", min_samples_leaf=10, random_state=0, **params
    )


def em(probability, prior, n_iterations=20_000):
    """Return the prior by the iterations of Saerens et al."""
    new = prior
    for _ in range(n_iterations):
        positive = probability * new / prior
        negative = (1 - probability) * (1 - new) / (1 - prior)
        new = np.mean(positive / (positive + negative))
    return new


@pytest.mark.parametrize("prior", [0.1, 0.6])
def test_estimate_is_the_fixed_point_of_em(prior):
    p = np.random.default_rng(0).beta(0.5, 1.0, size=400)
    assert shifted_prior(p, prior) == pytest.approx(em(p, prior), abs=1e-6)


def test_true_posteriors_give_the_new_prior():
    X, _ = draw(20_000, 0.15, 0)
    odds = (0.5 / 0.5) * np.exp(1.5 * X.sum(axis=1) - 3 * 1.5**2 / 2)
    p = odds / (1 + odds)
    found = shifted_prior(p, 0.5)
    assert abs(found - 0.15) < 3 * standard_error(p, 0.5, found) < 0.02


def test_priors_at_the_ends():
    assert shifted_prior(np.full(50, 0.01), 0.5) == 0.01
    assert shifted_prior(np.full(50, 0.99), 0.5) == 0.99
    assert shifted_prior(np.repeat([0.0, 1.0], [30, 10]), 0.5) == pytest.approx(0.25)


def test_rows_that_tell_nothing_have_an_infinite_standard_error():
    assert standard_error(np.full(10, 0.3), 0.3, 0.2) == np.inf


def test_training_prior_of_which_nothing_is_known():
    X, y = draw(600, 0.4, 0)[:2]
    labeled = y & (np.arange(len(y)) % 2 == 0)
    known = PriorEstimate(
        value=0.4, interval=(0.0, 1.0), upper=1.0, kind="upper bound", reason="No evidence.",
        confidence=0.95, method="bbe", scenario="single-training-set", unlabeled_prior=0.3,
        label_frequency=0.5,
    )  # fmt: skip
    model = PUForestClassifier(known, scenario="single-training-set", random_state=0)
    found = adapt_prior(model.fit(X, labeled), X)
    assert found.interval == (0.0, 1.0)
    assert found.upper == 1


@pytest.mark.parametrize("scenario", ["case-control", ONE])
@pytest.mark.parametrize("new_prior", [0.1, 0.7])
def test_adapted_prior(scenario, new_prior):
    model = quick(scenario=scenario).fit(*data(scenario=scenario))
    X, _ = draw(1500, new_prior, 7)
    found = adapt_prior(model, X)
    low, high = found.interval
    assert low < new_prior < high
    assert low < found.value < found.upper < high < low + 0.25
    assert found.kind == "estimate"
    assert "only their proportions may differ" in found.reason
    assert (found.method, found.scenario) == ("prior shift", scenario)
    narrow = adapt_prior(model, X, confidence=0.5)
    assert low < narrow.interval[0] < narrow.interval[1] < high
    assert adapt_prior(model, X).interval == found.interval
    assert adapt_prior(model, X, random_state=1).interval != found.interval
    assert adapt_prior(model, X, n_resamples=50).interval != found.interval


def test_interval_covers_rows_that_are_all_negative():
    found = adapt_prior(quick(scenario=ONE).fit(*data()), draw(500, 0.0, 3)[0])
    assert found.value < 0.03
    assert found.interval[0] == 0
    assert found.upper > 0.005


def test_uncertainty_of_the_training_prior():
    X, labeled = data()
    new, _ = draw(1000, 0.2, 5)
    known = adapt_prior(quick(scenario=ONE).fit(X, labeled), new)
    given = PriorEstimate(0.4, (0.3, 0.5), 0.48, "estimate", "", 0.95, "bbe", ONE, 0.3, 0.4)
    unsure = adapt_prior(quick(given, scenario=ONE).fit(X, labeled), new)
    assert unsure.value == known.value
    assert unsure.interval[0] < known.interval[0] - 0.02
    assert unsure.interval[1] > known.interval[1] + 0.02
    bound = replace(given, kind="upper bound", interval=(labeled.mean(), 0.48))
    at_most = adapt_prior(quick(bound, scenario=ONE).fit(X, labeled), new)
    assert at_most.is_bound
    assert at_most.interval == (0, at_most.upper)
    assert at_most.upper > known.upper + 0.02
    assert "Only an upper bound" in at_most.reason


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
@pytest.mark.parametrize("cv", ["oob", 3])
def test_calibrated_classifier(method, cv):
    forest = soft(scenario=ONE, oob_score=cv == "oob")
    model = PUCalibratedClassifier(forest, cv=cv, method=method).fit(*data())
    new, _ = draw(1500, 0.1, 3)
    found = adapt_prior(model, new)
    assert found.value == pytest.approx(0.1, abs=0.05)
    assert ("uncertainty of the calibration" in found.reason) == (cv == 3)
    adapted = model.with_shifted_prior(found)
    assert adapted.prior_ == found.value
    assert adapted.predict_proba(new)[:, 1].mean() == pytest.approx(found.value, abs=0.02)
    assert model.prior_ == 0.4
    with pytest.raises(TypeError, match="got None"):
        model.with_shifted_prior(None)


def test_calibrated_classifier_of_another_package():
    logistic = PUCalibratedClassifier(LogisticRegression(), cv=3, prior=0.4, scenario=ONE)
    new, _ = draw(1500, 0.1, 3)
    assert adapt_prior(logistic.fit(*data()), new).value == pytest.approx(0.1, abs=0.04)


def test_uncalibrated_models_are_refused():
    new, _ = draw(100, 0.1, 3)
    for model in (soft(scenario=ONE), PUExtraTreesClassifier(0.4, scenario=ONE, n_estimators=5)):
        with pytest.raises(ValueError, match="does not predict calibrated probabilities"):
            adapt_prior(model.fit(*data()), new)
    with pytest.raises(TypeError, match="model must be a puforest forest"):
        adapt_prior(LogisticRegression(), new)


# Models with a shifted prior


def test_shifted_prior_multiplies_the_odds():
    X, labeled = data()
    model = quick(scenario=ONE).fit(X, labeled)
    rare = model.with_shifted_prior(0.05)
    odds = [logit(m.predict_proba(X)[:, 1]) for m in (model, rare)]
    assert_allclose(odds[0] - odds[1], logit(0.4) - logit(0.05))
    assert rare.prior_ == rare.prior == 0.05
    assert model.prior_ == 0.4
    assert_allclose(rare.with_shifted_prior(0.4).predict_proba(X), model.predict_proba(X))
    # Unlike with_prior, which says that most of the rows that look positive are not.
    assert rare.predict_proba(X).max() > model.with_prior(0.25).predict_proba(X)[:, 1].max()


def test_shifted_prior_below_the_labeled_fraction():
    X, labeled = data()
    model = quick(scenario=ONE).fit(X, labeled)
    assert model.with_shifted_prior(0.01).prior_ == 0.01
    with pytest.raises(ValueError, match="is impossible"):
        model.with_prior(0.01)


def test_threshold_and_curve_follow_the_shifted_prior():
    model = quick().fit(*data(scenario="case-control"))
    new, _ = draw(3000, 0.1, 3)
    assert drift_report(model, new).significant
    adapted = model.with_shifted_prior(0.1)
    assert adapted.predict(new).mean() == pytest.approx(0.1, abs=0.025)
    report = drift_report(adapted, new)
    assert not report.significant
    assert report.training_fraction == pytest.approx(0.1, abs=0.01)


@pytest.mark.parametrize("risk", ["nnpu", "pn"])
def test_shifted_leaves(risk):
    """Soft votes are Bayes' rule in each leaf; hard votes follow."""
    X, labeled = data(scenario="case-control")
    prior = None if risk == "pn" else 0.4
    tree = puforest.PUDecisionTreeClassifier(
        prior, risk=risk, voting="soft", min_samples_leaf=40, random_state=0
    ).fit(X, labeled)
    p = tree.predict_proba(X)[:, 1]
    shifted = tree.with_shifted_prior(0.05)
    ratio = (0.05 / tree.prior_) / (0.95 / (1 - tree.prior_))
    assert_allclose(shifted.predict_proba(X)[:, 1], p * ratio / (p * ratio + 1 - p), atol=1e-12)
    assert_array_equal(shifted.predict(X), shifted.predict_proba(X)[:, 1] > 0.5)


def test_estimates_for_new_data_are_not_those_of_the_training_population():
    model = quick(scenario=ONE).fit(*data())
    found = adapt_prior(model, draw(500, 0.3, 1)[0])
    with pytest.raises(ValueError, match="use with_shifted_prior"):
        model.with_prior(found)
    adapted = model.with_shifted_prior(found)
    assert adapted.prior_estimate_ == found
    with pytest.raises(TypeError, match="got None"):
        model.with_shifted_prior(None)


def test_shifted_models_are_saved(tmp_path):
    X, labeled = data()
    forest = quick(scenario=ONE).fit(X, labeled)
    calibrated = PUCalibratedClassifier(soft(scenario=ONE, oob_score=True), cv="oob")
    for model in (forest, calibrated.fit(X, labeled)):
        for prior in (0.05, adapt_prior(model, draw(500, 0.05, 1)[0])):
            adapted = model.with_shifted_prior(prior)
            adapted.save(tmp_path / "model.puf")
            loaded = puforest.load(tmp_path / "model.puf")
            assert_array_equal(loaded.predict_proba(X), adapted.predict_proba(X))
            assert loaded.prior_ == adapted.prior_
