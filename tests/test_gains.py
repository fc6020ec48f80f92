"""Gains curves: their formulas, intervals and invariances."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from prior_bounds import bounded
from two_clouds import SCENARIOS, draw

from puforest import PUExtraTreesClassifier, PUForestClassifier
from puforest.metrics import expected_gains, gains_curve


def scored(n, scenario, seed=0, prior=0.4):
    """Labels, scores and true classes."""
    X, labeled, y = draw(n, scenario, seed=seed, prior=prior)
    return labeled, X.sum(axis=1), y


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_expected_numbers_follow_from_recall(scenario):
    labeled, score, _ = scored(500, scenario)
    gains = gains_curve(labeled, score, prior=0.4, scenario=scenario)
    unlabeled = np.sort(score[labeled == 0])[::-1]
    positives = 0.4 * (500 if scenario == "single-training-set" else len(unlabeled))
    if scenario == "single-training-set":
        positives -= labeled.sum()
    for k in (50, 200, len(unlabeled)):
        recall = np.mean(score[labeled == 1] >= unlabeled[k - 1]) if k < len(unlabeled) else 1
        assert_allclose(gains.expected[k - 1], min(k, positives * recall), rtol=1e-9)
    assert_allclose(gains.n, np.arange(1, len(unlabeled) + 1))
    assert_allclose(gains.random, gains.n * positives / len(unlabeled))


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_intervals_contain_the_numbers_found(scenario):
    inside = []
    for seed in range(150):
        labeled, score, y = scored(400, scenario, seed)
        gains = gains_curve(labeled, score, prior=0.4, scenario=scenario)
        ranked = np.flatnonzero(labeled == 0)
        found = np.cumsum(y[ranked[np.argsort(-score[ranked])]])
        at = np.array([10, 50, 100, 200, len(found)]) - 1
        inside.append((gains.low[at] <= found[at]) & (found[at] <= gains.high[at]))
    assert np.min(np.mean(inside, axis=0)) > 0.9


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_curves_never_fall(scenario):
    labeled, score, _ = scored(300, scenario)
    for given in (score, np.round(score), np.zeros(len(score))):
        gains = gains_curve(labeled, given, prior=0.4, scenario=scenario)
        for part in (gains.low, gains.expected, gains.high):
            assert np.diff(part).min() >= -1e-9
        assert (gains.low <= gains.expected).all()
        assert (gains.expected <= gains.high).all()
        assert (gains.high <= gains.n).all()
    assert_allclose(gains.expected, gains.random)  # equal scores are in random order


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_weights_count_rows(scenario):
    labeled, score, _ = scored(300, scenario)
    weight = np.random.default_rng(0).integers(0, 4, len(labeled))
    shared = {"prior": 0.4, "scenario": scenario}
    weighted = gains_curve(labeled, score, sample_weight=weight, **shared)
    repeated = gains_curve(np.repeat(labeled, weight), np.repeat(score, weight), **shared)
    for n in (10, 60, 150):
        assert_allclose(weighted.at(n)[0], repeated.at(n)[0], atol=1e-9)
    assert weighted.at(150)[2] - weighted.at(150)[1] > repeated.at(150)[2] - repeated.at(150)[1]
    order = np.random.default_rng(1).permutation(len(labeled))
    shuffled = gains_curve(labeled[order], np.exp(score[order]), **shared)
    assert_allclose(shuffled.high, gains_curve(labeled, score, **shared).high)


def test_intervals_are_unions_over_the_prior():
    labeled, score, _ = scored(400, "case-control")
    parts = [gains_curve(labeled, score, prior=p) for p in (0.3, 0.4, 0.5)]
    united = gains_curve(labeled, score, prior=0.4, prior_interval=(0.3, 0.5))
    assert_allclose(united.low, np.min([part.low for part in parts], axis=0))
    assert_allclose(united.high, np.max([part.high for part in parts], axis=0))
    assert_allclose(united.expected, parts[1].expected)
    bound = gains_curve(labeled, score, prior=bounded())
    assert (bound.low == 0).all()
    assert_allclose(bound.high, united.high)
    assert "depends on the prior, which is only bounded: at most 0.50" in bound.describe(100)
    assert "about" not in bound.describe(100)
    with pytest.raises(TypeError, match="prior_interval is that of the estimate"):
        gains_curve(labeled, score, prior=bounded(), prior_interval=(0.3, 0.5))


def test_labeling_by_propensity_is_corrected():
    rng = np.random.default_rng(0)
    y = rng.random(20_000) < 0.4
    score = rng.normal(size=len(y)) + 1.5 * y
    propensity = np.where(score > 1.5, 0.6, 0.2)
    labeled = (y & (rng.random(len(y)) < propensity)).astype(int)
    shared = {"prior": 0.4, "scenario": "single-training-set"}
    right = gains_curve(labeled, score, propensity=propensity, **shared)
    ranked = np.flatnonzero(labeled == 0)
    found = np.cumsum(y[ranked[np.argsort(-score[ranked])]])[2999]
    assert abs(right.at(3000)[0] - found) < 250
    assert abs(gains_curve(labeled, score, **shared).at(3000)[0] - found) > 800


def test_gains_of_new_rows():
    X, labeled, _ = draw(1500, "case-control")
    model = PUForestClassifier(0.4, n_estimators=20, random_state=0).fit(X, labeled)
    inside = []
    for seed in range(1, 21):
        X_new, _, y = draw(500, "single-training-set", seed=seed)
        found = np.cumsum(y[np.argsort(-model.decision_function(X_new))])
        gains = expected_gains(model, len(X_new))
        at = np.array([20, 100, 200, 499])
        inside.append((gains.low[at] <= found[at]) & (found[at] <= gains.high[at]))
    assert np.mean(inside) > 0.9
    assert_allclose(gains.expected[-1], 0.4 * 500)
    assert_allclose(expected_gains(model, 500, prior=0.1).expected[-1], 50)
    assert expected_gains(model, 500, prior=bounded()).low[-1] == 0
    plain = PUExtraTreesClassifier(0.4, n_estimators=5, random_state=0).fit(X, labeled)
    assert expected_gains(plain, 500) is None
