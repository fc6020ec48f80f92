"""Thresholds: numbers, and rules applied to out-of-bag predictions."""

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from puforest import (
    PUDecisionTreeClassifier,
    PUExtraTreesClassifier,
    PUForestClassifier,
    PURandomForestClassifier,
    Recipe,
)
from puforest._masses import GroupMasses
from puforest._score_curve import MAX_POINTS, score_curve
from puforest._threshold import score_threshold
from puforest._training_rows import training_rows

RULES = ("prior", "f1", ("cost", 10.0), ("cost", 0.1))


def forest(cls=PURandomForestClassifier, **params):
    given_ = {"prior": 0.4, "n_estimators": 40, "voting": "soft", "random_state": 0}
    return cls(**given_ | params)


def curve_of(scores, labeled, labeled_u=0.0):
    rows = training_rows(labeled, None, None, risk="nnpu")
    masses = GroupMasses(0.4, labeled_u, 1 - labeled_u)
    return score_curve(np.asarray(scores, dtype=float)[rows.order], rows, masses)


@given(
    st.lists(st.tuples(st.integers(0, 12), st.booleans()), min_size=2, max_size=40).filter(
        lambda rows: 0 < sum(labeled for _, labeled in rows) < len(rows)
    ),
    st.floats(0.05, 0.95),
    st.sampled_from((0.0, 0.3)),
    st.sampled_from(RULES),
)
def test_rules_are_as_good_as_every_other_threshold(rows, prior, labeled_u, rule):
    scores, labeled = (np.array(part) for part in zip(*rows, strict=True))
    at = score_threshold(rule, curve_of(scores / 12, labeled, labeled_u), prior)
    loss, best = oracle.threshold_losses(scores / 12, labeled, labeled_u, prior, rule, at)
    assert loss <= best + 1e-9


@pytest.mark.parametrize(("n_tied", "expected"), [(1, 0.2), (8, 0.5)])
def test_ties_at_the_prior_are_positive_if_that_causes_fewer_errors(n_tied, expected):
    # Of the population, 0.2 have the score 2 and 0.3 the score 1: no threshold predicts 0.4.
    scores = np.repeat([2.0, 1.0, 0.0, 2.0, 1.0], [2, 3, 5, 10 - n_tied, n_tied])
    labeled = np.repeat([0, 1], 10)
    at = score_threshold("prior", curve_of(scores, labeled), 0.4)
    assert (scores[:10] > at).mean() == expected


def test_large_curves_are_binned_without_losing_precision():
    rng = np.random.default_rng(0)
    labeled = np.repeat([1, 0], [5000, 50_000])
    scores = rng.normal(size=55_000) + 2 * labeled
    curve = curve_of(scores, labeled)
    assert len(curve) <= MAX_POINTS
    for prior in (0.003, 0.05, 0.7):
        at = score_threshold("prior", curve, prior)
        assert (scores[5000:] > at).mean() == pytest.approx(prior, abs=0.001)


@pytest.mark.parametrize("cls", [PUExtraTreesClassifier, PURandomForestClassifier])
def test_a_number_shifts_predictions(cls, blobs):
    X, labeled, _ = blobs
    model = forest(cls).fit(X, labeled)
    p = model.predict_proba(X)[:, 1]
    assert model.threshold_ == 0.5
    for threshold in (0.2, 0.5, 0.8):
        model.set_params(threshold=threshold)
        assert_array_equal(model.predict(X), p > threshold)
        assert_allclose(model.decision_function(X), 2 * (p - threshold))


def test_the_prior_rule_predicts_as_many_positives_as_there_are(blobs):
    X, labeled, _ = blobs
    model = forest(oob_score=True, threshold="prior").fit(X, labeled)
    votes = (model._record.out_of_bag.decision_function + 1) / 2
    assert (votes[labeled == 0] > model.threshold_).mean() == pytest.approx(0.4, abs=0.01)


def test_costs_move_the_threshold(blobs):
    X, labeled, _ = blobs
    model = forest(oob_score=True).fit(X, labeled)
    at = [model.set_params(threshold=("cost", ratio)).threshold_ for ratio in (0.2, 1, 5)]
    assert at[0] > at[1] > at[2]


@pytest.mark.parametrize("rule", RULES)
def test_rules_need_out_of_bag_predictions(rule, blobs):
    X, labeled, _ = blobs
    with pytest.raises(ValueError, match="oob_score=True"):
        forest(threshold=rule).fit(X, labeled)
    with pytest.raises(ValueError, match="out-of-bag"):
        PUDecisionTreeClassifier(0.4, threshold=rule).fit(X, labeled)
    model = forest().fit(X, labeled).set_params(threshold=rule)
    with pytest.raises(ValueError, match="out-of-bag"):
        model.predict(X)


@pytest.mark.parametrize(
    ("threshold", "message"),
    [
        (1.5, "between 0 and 1"),
        (float("nan"), "between 0 and 1"),
        ("best", "threshold must be a number"),
        ("cost", r"\('cost', ratio\)"),
        (("cost",), r"\('cost', ratio\)"),
        (("cost", -1), "a positive number"),
        (("cost", "a"), "a positive number"),
        (None, "threshold must be a number"),
        (True, "threshold must be a number"),
    ],
)
def test_invalid_thresholds(threshold, message, blobs):
    X, labeled, _ = blobs
    for model in (forest(), PUForestClassifier(0.4)):
        with pytest.raises(ValueError, match=message):
            model.set_params(threshold=threshold).fit(X, labeled)


def test_rules_of_the_recommended_estimator(blobs):
    X, labeled, _ = blobs
    model = PUForestClassifier(0.4, candidates=[Recipe()], n_estimators=30, random_state=0)
    model.fit(X, labeled)
    errors = {}
    for rule in (*RULES, 0.5):
        model.threshold = rule
        p = model.predict_proba(X)[:, 1]
        assert_array_equal(model.predict(X), p > model.threshold_)
        assert_array_equal(model.decision_function(X) > 0, p > model.threshold_)
        errors[rule] = model.oob_risk_
        assert model.oob_score_ == 1 - model.oob_risk_
    unlabeled = model.set_params(threshold="prior").oob_decision_function_[labeled == 0]
    assert (unlabeled > 0).mean() == pytest.approx(0.4, abs=0.01)
    missed = {
        rule: (model.set_params(threshold=rule).oob_decision_function_[labeled == 1] <= 0).mean()
        for rule in (("cost", 10.0), ("cost", 0.1))
    }
    assert missed["cost", 10.0] < missed["cost", 0.1]


def test_features_that_say_nothing():
    """Everything or nothing is positive, whichever is closer to the rule."""
    X, labeled = np.zeros((60, 2)), (np.arange(60) < 20).astype(int)
    for prior, expected in ((0.9, 1), (0.1, 0)):
        model = PUForestClassifier(prior, n_estimators=10, candidates="fast").fit(X, labeled)
        assert (model.predict(X) == expected).all()
        assert (model.set_params(threshold=("cost", 1e6)).predict(X) == 1).all()


def test_votes_for_another_prior_have_no_out_of_bag_threshold(blobs):
    X, labeled, _ = blobs
    model = forest(oob_score=True, threshold="prior").fit(X, labeled)
    with pytest.raises(ValueError, match="set threshold to a number first"):
        model.with_prior(0.5)
    assert model.set_params(threshold=0.5).with_prior(0.5).prior_ == 0.5


def test_trees_of_a_forest_with_a_rule_use_one_half(blobs):
    X, labeled, _ = blobs
    model = forest(oob_score=True, threshold="prior").fit(X, labeled)
    assert model.estimators_[0].threshold_ == 0.5
    assert forest(threshold=0.3).fit(X, labeled).estimators_[0].threshold_ == 0.3
