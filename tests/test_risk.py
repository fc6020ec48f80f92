"""The formulas of the risks, and the theorem and propositions of the paper."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from oracle import minimum_risk as oracle_minimum
from sklearn.tree import DecisionTreeClassifier

from puforest import PUDecisionTreeClassifier, PUExtraTreesClassifier
from puforest.risk import (
    LOSSES,
    RISKS,
    classification_risk,
    loss_value,
    minimum_risk,
    node_risk,
    posterior,
)

MASSES = [(p, u) for p in (0.0, 0.05, 0.2, 0.31, 0.5) for u in (0.0, 0.04, 0.2, 0.3, 0.62, 1.0)]
GRID = np.concatenate([np.linspace(-30, 30, 240001), [-700.0, 700.0]])


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("risk", RISKS)
def test_closed_form_is_the_minimum_over_v(loss, risk):
    """Propositions 1, 2 and 5: R* is the minimum over scores, or -inf if there is none."""
    for w_p, w_u in MASSES:
        if w_p == w_u == 0 or (risk == "pn" and w_p > w_u):
            continue
        values = node_risk(GRID, w_p, w_u, risk=risk, loss=loss)
        least = float(minimum_risk(w_p, w_u, risk=risk, loss=loss))
        if least == -np.inf:
            assert values.min() < -5
        else:
            assert_allclose(least, values.min(), atol=2e-6)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("risk", RISKS)
def test_formulas_match_the_oracle(loss, risk):
    for w_p, w_u in MASSES:
        expected = oracle_minimum(w_p, w_u, risk, loss)
        assert_allclose(minimum_risk(w_p, w_u, risk=risk, loss=loss), expected, rtol=1e-14)


def test_theorem_1_reductions_are_scaled_impurity_reductions():
    rng = np.random.default_rng(0)
    n = 200
    y = rng.random(n) < 0.3
    left = rng.random(n) < 0.5

    def gini(part):
        q = part.mean()
        return 2 * q * (1 - q)

    def entropy(part):
        q = part.mean()
        return -q * np.log(q) - (1 - q) * np.log(1 - q)

    def impurity_reduction(impurity):
        return impurity(y) - sum(s.mean() * impurity(y[s]) for s in (left, ~left))

    def risk_reduction(loss):
        node, *sides = (
            minimum_risk(y[s].sum() / n, s.sum() / n, risk="pn", loss=loss)
            for s in (np.ones(n, bool), left, ~left)
        )
        return node - sum(sides)

    assert_allclose(risk_reduction("quadratic"), 2 * impurity_reduction(gini))
    assert_allclose(risk_reduction("logistic"), impurity_reduction(entropy))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("risk", ["upu", "nnpu"])
def test_proposition_4_sign_rule(loss, risk):
    """The better score of -1 and +1 is +1 exactly if the posterior is above one half."""
    for w_p, w_u in MASSES:
        plus, minus = node_risk([1, -1], w_p, w_u, risk=risk, loss=loss)
        if not np.isclose(2 * w_p, w_u):
            assert (plus < minus) == (2 * w_p > w_u)


def test_upu_is_additive_and_nnpu_subadditive_over_a_partition():
    rng = np.random.default_rng(1)
    strict = 0
    for _ in range(200):
        p, u, v = rng.random(2), rng.random(2), rng.normal()
        for loss in LOSSES:
            parts = node_risk(v, p, u, risk="upu", loss=loss).sum()
            assert_allclose(parts, node_risk(v, p.sum(), u.sum(), risk="upu", loss=loss))
            parts = node_risk(v, p, u, risk="nnpu", loss=loss).sum()
            whole = node_risk(v, p.sum(), u.sum(), risk="nnpu", loss=loss)
            assert whole <= parts + 1e-12
            strict += whole < parts - 1e-6
    assert strict > 100


@pytest.mark.parametrize("risk", ["nnpu", "pn"])
def test_proposition_3_quadratic_and_savage_grow_the_same_trees(risk, blobs):
    X, labeled, _ = blobs
    same = [
        PUExtraTreesClassifier(0.5, risk=risk, loss=loss, n_estimators=5, random_state=0)
        .fit(X, labeled)
        ._forest
        for loss in ("quadratic", "savage")
    ]
    assert_array_equal(same[0].feature, same[1].feature)
    assert_array_equal(same[0].threshold, same[1].threshold)


def test_losses_that_coincide_under_nnpu(blobs):
    X, labeled, _ = blobs
    forests = [
        PUExtraTreesClassifier(0.5, loss=loss, n_estimators=5, random_state=0).fit(X, labeled)
        for loss in ("sigmoid", "zero-one", "ramp", "double-hinge", "hinge")
    ]
    for forest in forests[1:]:
        assert_array_equal(forest._forest.threshold, forests[0]._forest.threshold)


@pytest.mark.parametrize(("loss", "criterion"), [("quadratic", "gini"), ("logistic", "entropy")])
def test_pn_tree_has_the_impurity_path_of_scikit_learn(loss, criterion, blobs):
    X, _, y = blobs
    X = X.astype(np.float32)
    ours = PUDecisionTreeClassifier(risk="pn", loss=loss).fit(X, y)
    theirs = DecisionTreeClassifier(criterion=criterion, random_state=0).fit(X, y).tree_
    unit = {"gini": 0.5, "entropy": 1 / np.log(2)}[criterion]
    forest = ours._forest
    risk = unit * minimum_risk(forest.w_p, forest.w_u, risk="pn", loss=loss)
    impurity = theirs.impurity * theirs.n_node_samples / len(X)
    todo, compared = [(0, 0)], 0
    while todo:
        i, j = todo.pop()
        assert_allclose(risk[i], impurity[j], atol=1e-12)
        assert (forest.feature[i] < 0) == (theirs.feature[j] < 0)
        if forest.feature[i] < 0:
            continue
        left, their_left, their_right = (
            forest.left[i], theirs.children_left[j], theirs.children_right[j]
        )  # fmt: skip
        assert_allclose(
            risk[left] + risk[left + 1], impurity[their_left] + impurity[their_right], atol=1e-12
        )
        compared += 1
        # Ties between splits may be broken differently; then the paths diverge.
        if forest.feature[i] == theirs.feature[j]:
            assert_allclose(forest.threshold[i], theirs.threshold[j], rtol=1e-6)
            todo += [(left, their_left), (left + 1, their_right)]
    assert compared > 30


def test_margins_of_the_losses():
    """The definitions at a few margins, computed by hand."""
    expected = {
        "quadratic": [9, 1, 0],
        "logistic": [np.log(1 + np.e**2), np.log(2), np.log(1 + 1 / np.e)],
        "savage": [4 / (1 + np.e**-2) ** 2, 1, 4 / (1 + np.e) ** 2],
        "sigmoid": [1 / (1 + np.e**-2), 0.5, 1 / (1 + np.e)],
        "zero-one": [1, 0.5, 0],
        "ramp": [1, 0.5, 0],
        "hinge": [3, 1, 0],
        "double-hinge": [2, 0.5, 0],
        "exponential": [np.e**2, 1, 1 / np.e],
    }
    assert expected.keys() == LOSSES.keys()
    for loss, values in expected.items():
        assert_allclose(loss_value([-2, 0, 1], loss=loss), values, atol=1e-12)


def test_posterior_stays_within_bounds():
    assert_allclose(posterior([0, 0.1, 0.3, 0.5, 0.2], [0.4, 0.4, 0.3, 0.2, 0]), [0, 0.25, 1, 1, 1])


def test_classification_risk_is_the_error_rate_on_known_labels():
    rng = np.random.default_rng(2)
    y, predicted = rng.random(500) < 0.3, rng.random(500) < 0.5
    masses = (y & predicted).mean(), predicted.mean()
    for risk in RISKS:
        estimate = classification_risk(*masses, prior=y.mean(), risk=risk)
        assert_allclose(estimate, (y != predicted).mean())
    assert classification_risk(0.3, 0.1, prior=0.3, risk="nnpu") == 0
    assert classification_risk(0.3, 0.1, prior=0.3, risk="upu") == pytest.approx(-0.2)


@pytest.mark.parametrize("function", [minimum_risk, lambda p, u, **k: node_risk(1, p, u, **k)])
def test_unknown_risks_and_losses_are_rejected(function):
    with pytest.raises(ValueError, match=r"risk must be one of .* got 'pu'"):
        function(0.1, 0.2, risk="pu")
    with pytest.raises(ValueError, match=r"loss must be one of .* got 'squared'"):
        function(0.1, 0.2, loss="squared")
