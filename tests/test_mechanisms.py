"""Propensities that depend on the features."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_classification

from benchmarks import propensity
from benchmarks.records import read_lines
from puforest import PUExtraTreesClassifier
from puforest.datasets import group_propensity, linear_propensity, make_pu, score_propensity


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    y = rng.random(1000) < 0.3
    X = rng.normal(size=(1000, 4)) * [1, 10, 1, 1] + y[:, None]
    return np.column_stack([X, np.ones(1000)]), y.astype(int)


@pytest.mark.parametrize("frequency", [0.05, 0.3, 0.9])
@pytest.mark.parametrize("strength", [-4.0, 0.0, 1.0, 50.0])
def test_score_propensity(rows, frequency, strength):
    X, y = rows
    score = X[:, 1]
    e = score_propensity(score, y=y, frequency=frequency, strength=strength)
    assert_allclose(e[y == 1].mean(), frequency)
    assert e.min() >= 0.01
    assert e.max() <= 1
    assert (np.sign(strength) * np.diff(e[np.argsort(score)]) >= 0).all()
    if strength == 0:
        assert_allclose(e, frequency)
    everybody = score_propensity(score, frequency=frequency, strength=strength)
    assert_allclose(everybody.mean(), frequency)
    # The scale and offset of the score do not matter.
    assert_allclose(
        score_propensity(3 * score - 7, frequency=frequency, strength=strength), everybody
    )


def test_strength_is_the_slope_of_the_log_odds(rows):
    score = rows[0][:, 0]
    e = score_propensity(score, strength=1.5, minimum=1e-6)
    slope = np.polyfit(score / score.std(), np.log(e / (1 - e)), 1)[0]
    assert slope == pytest.approx(1.5, rel=1e-3)


def test_minimum_propensity(rows):
    e = score_propensity(rows[0][:, 0], strength=20, minimum=0.2)
    assert e.min() == pytest.approx(0.2, abs=1e-6)
    assert e.mean() == pytest.approx(0.5)


def test_equal_scores_are_labeled_completely_at_random():
    assert_allclose(score_propensity(np.ones(5), frequency=0.3), 0.3)


def test_linear_propensity(rows):
    X, y = rows
    e = linear_propensity(X, [0, 1, -2, 0, 0], y=y, frequency=0.2)
    assert_allclose(e, score_propensity(X @ [0, 1, -2, 0, 0], y=y, frequency=0.2))
    drawn = linear_propensity(X, random_state=0, frequency=0.2, strength=3.0, minimum=0.05)
    assert drawn.mean() == pytest.approx(0.2)
    assert drawn.min() >= 0.05
    assert not np.allclose(drawn, linear_propensity(X, random_state=1, frequency=0.2))
    # Random coefficients apply to standardized features.
    assert_allclose(
        linear_propensity(X * [5, 1, 1, 1, 1], random_state=2), linear_propensity(X, random_state=2)
    )


def test_group_propensity():
    assert_array_equal(group_propensity(["a", "b", "a"], {"a": 1.0, "b": 0.25}), [1, 0.25, 1])
    assert_array_equal(group_propensity([7, 7, 3], {3: 0.5, 7: 0.1, 9: 1}), [0.1, 0.1, 0.5])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: group_propensity(["a", "b"], {"a": 0.5}), "no entry for the group 'b'"),
        (lambda: group_propensity(["a"], {"a": 0}), "above 0 and at most 1, got 0 for the group"),
        (lambda: score_propensity([[1.0], [2.0]]), r"one-dimensional, got the shape \(2, 1\)"),
        (lambda: score_propensity([1.0, 2.0], frequency=1.0), "frequency must be .* got 1.0"),
        (lambda: score_propensity([1.0], frequency=0.1, minimum=0.2), "between 0.2 and 1, got 0.1"),
        (lambda: score_propensity([1.0], minimum=0), "minimum must be a number between 0.0 and 1"),
        (lambda: score_propensity([1.0], minimum="a"), "minimum must be a number .* got 'a'"),
        (lambda: score_propensity([1.0], strength=np.inf), "strength must be a finite number"),
        (lambda: score_propensity([1.0, 2.0], y=[0, 1, 1]), r"y must have the shape \(2,\)"),
        (lambda: linear_propensity([[1.0, 2.0]], [1.0]), r"coef must have the shape \(2,\)"),
    ],
)
def test_invalid_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_known_propensities_improve_accuracy():
    """Labels that depend on features mislead a forest that assumes labeling at random."""
    X, y = make_classification(
        6000, 10, n_informative=5, n_redundant=0, class_sep=1.2, random_state=3
    )
    train = np.arange(6000) < 3000
    e = linear_propensity(X, random_state=0, y=y, frequency=0.3, strength=2.5, minimum=0.05)
    accuracy = {}
    for name in ("at random", "ignored", "known"):
        X_pu, labeled = make_pu(
            X[train], y[train], n_labeled=400,
            propensity=None if name == "at random" else e[train],
            scenario="single-training-set", random_state=0,
        )  # fmt: skip
        forest = PUExtraTreesClassifier(
            y.mean(), scenario="single-training-set", min_samples_leaf=5, random_state=0
        )
        forest.fit(X_pu, labeled, propensity=e[train] if name == "known" else None)
        accuracy[name] = forest.score(X[~train], y[~train])
    assert accuracy["at random"] > accuracy["known"] > accuracy["ignored"] + 0.03, accuracy


def test_benchmark(tmp_path):
    small = ["--workloads", "digits", "--trees", "20", "--draws", "2"]
    propensity.main([*small, "--out", str(tmp_path)])
    records = read_lines(tmp_path / "propensity.jsonl")
    assert [r["draw"] for r in records] == [0, 1]
    assert all(r["accuracy"]["known"] > r["accuracy"]["ignored"] for r in records)
    assert "| digits | 1,438 |" in (tmp_path / "propensity.md").read_text()


def test_missing_groups():
    groups = pd.Series(["north", None, "south", np.nan])
    found = group_propensity(groups, {"north": 0.6, "south": 0.1, None: 0.3})
    assert found.tolist() == [0.6, 0.3, 0.1, 0.3]
    with pytest.raises(ValueError, match="no entry for the group None"):
        group_propensity(groups, {"north": 0.6, "south": 0.1})


def test_linear_propensities_of_tables():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"number": rng.normal(size=200), "color": rng.choice(list("abc"), 200)})
    table.loc[:9, "number"] = None
    e = linear_propensity(table, frequency=0.3, random_state=0)
    assert round(float(e.mean()), 3) == 0.3
    by_color = [e[10:][table["color"][10:] == color].mean() for color in "abc"]
    assert np.ptp(by_color) > 0.05
    with pytest.raises(TypeError, match=r"X\['color'\] has text .* linear_propensity cannot"):
        linear_propensity(table, [1, 1])
