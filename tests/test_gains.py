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


def largest_chord(recall, k):
    """Largest value at k on a line between two points of the curve, which starts at 0."""
    curve, at = np.append(0.0, recall), np.arange(len(recall) + 1)
    i, j = at[: k + 1, None], at[None, k:]
    lines = curve[i] + (curve[j] - curve[i]) * (k - i) / np.maximum(j - i, 1)
    return lines.max()


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_expected_numbers_follow_from_recall(scenario):
    """Recall is that of the least concave curve above the one of the labeled rows."""
    labeled, score, _ = scored(500, scenario)
    gains = gains_curve(labeled, score, prior=0.4, scenario=scenario)
    unlabeled = np.sort(score[labeled == 0])[::-1]
    positives = 0.4 * (500 if scenario == "single-training-set" else len(unlabeled))
    if scenario == "single-training-set":
        positives -= labeled.sum()
    recall = np.mean(score[labeled == 1] >= unlabeled[:, None], axis=1)
    recall[-1] = 1
    for k in (1, 2, 10, 50, 200, len(unlabeled)):
        expected = min(k, positives * largest_chord(recall, k))
        assert_allclose(gains.expected[k - 1], expected, rtol=1e-9)
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
    assert "depends on the prior, which is only bounded: at most 0.500" in bound.describe(100)
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


def test_the_first_ranks_hold_positives():
    """Some negatives score higher than all labeled rows, but precision does not rise with rank."""
    score = np.concatenate([np.linspace(3, 4, 5), np.linspace(1, 2, 100), np.linspace(0, 2, 200)])
    labeled = np.repeat([0, 1, 0], [5, 100, 200])
    gains = gains_curve(labeled, score, prior=0.5)
    assert gains.expected[0] > 0.8
    assert np.diff(gains.expected, n=2).max() < 1e-9


def test_expected_numbers_agree_with_probabilities():
    X, labeled, _ = draw(1500, "case-control")
    model = PUForestClassifier(0.4, n_estimators=20, random_state=0).fit(X, labeled)
    X_new, _, _ = draw(500, "single-training-set", seed=1)
    probability = np.sort(model.predict_proba(X_new)[:, 1])[::-1]
    gains = expected_gains(model, 500)
    found = gains.agreeing_with(probability)
    assert_allclose(found.expected[:50], np.cumsum(probability)[:50])
    assert ((gains.low <= found.expected) & (found.expected <= gains.high)).all()
    assert_allclose(gains.agreeing_with(np.zeros(500)).expected, gains.low)
    with pytest.raises(ValueError, match="must have 500 values"):
        gains.agreeing_with(probability[:10])


def test_labeled_rows_are_left_out_of_new_rows():
    X, labeled, _ = draw(1500, "single-training-set")
    given = {"scenario": "single-training-set", "n_estimators": 20, "random_state": 0}
    model = PUForestClassifier(0.4, **given).fit(X, labeled)
    inside = []
    for seed in range(1, 21):
        X_new, new_labels, y = draw(500, "single-training-set", seed=seed)
        ranked = np.flatnonzero(new_labels == 0)
        order = np.argsort(-model.decision_function(X_new[ranked]))
        found = np.cumsum(y[ranked][order])
        n_labeled = 500 - len(ranked)
        gains = expected_gains(model, len(ranked), n_labeled=n_labeled)
        assert_allclose(gains.expected[-1], 0.4 * 500 - n_labeled)
        assert_allclose(gains.random[-1], gains.expected[-1])
        top = expected_gains(model, len(ranked), n_labeled=n_labeled, n_top=20)
        for name in ("expected", "low", "high"):
            assert_allclose(getattr(top, name), getattr(gains, name)[:20])
        at = np.array([20, 100, 200, len(ranked) - 1])
        inside.append((gains.low[at] <= found[at]) & (found[at] <= gains.high[at]))
    assert np.mean(inside) > 0.9


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
