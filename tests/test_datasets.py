"""The mushrooms, and make_pu."""

import numpy as np
import pandas as pd
import polars as pl
import polars.testing as polars_testing
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from puforest.datasets import load_mushrooms, make_pu


def test_mushrooms():
    bunch = load_mushrooms()
    assert bunch.data.shape == (8124, 112)
    assert bunch.target.sum() == 4208
    assert len(set(bunch.feature_names)) == 112
    assert "stalk-root=?" not in bunch.feature_names
    # One-hot encoding: each of the 21 columns has one category per row.
    assert_array_equal(bunch.data.sum(axis=1), 21)
    no_odor = bunch.data[:, bunch.feature_names.index("odor=n")] == 1
    assert bunch.target[no_odor].mean() > 0.9
    X, y = load_mushrooms(return_X_y=True)
    assert_array_equal(X, bunch.data)
    assert_array_equal(y, bunch.target)


def test_make_pu_case_control():
    X, y = np.arange(40)[:, None], np.repeat(["n", "p"], 20)
    X_pu, labeled = make_pu(X, y, n_labeled=7, random_state=0)
    assert_array_equal(labeled, [1] * 7 + [0] * 40)
    assert_array_equal(X_pu[7:], X)
    assert len(np.unique(X_pu[:7])) == 7
    assert X_pu[:7].min() >= 20


def test_make_pu_single_training_set():
    X, y = np.arange(40)[:, None], np.repeat([-1, 1], 20)
    X_pu, labeled = make_pu(X, y, n_labeled=0.25, scenario="single-training-set", random_state=0)
    assert_array_equal(X_pu, X)
    assert labeled[:20].sum() == 0
    assert labeled[20:].sum() == 5
    other = make_pu(X, y, n_labeled=0.25, scenario="single-training-set", random_state=1)[1]
    assert not np.array_equal(labeled, other)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_labeled": 21}, "n_labeled=21 is more than the 20 positives"),
        ({"n_labeled": "many"}, "n_labeled must be an integer or a fraction"),
        ({"scenario": "one-sample"}, "scenario must be one of"),
        ({"y": [0, 1]}, r"y must have the shape \(40,\)"),
        ({"y": np.zeros(40)}, "only one class"),
    ],
)
def test_make_pu_invalid_input(change, message):
    given = {"X": np.arange(40)[:, None], "y": np.repeat([-1, 1], 20)} | change
    with pytest.raises((ValueError, TypeError), match=message):
        make_pu(**given)


def priors(y, labeled, index):
    return y[index].mean(), y[index][labeled == 0].mean()


@pytest.fixture
def table():
    y = np.repeat([0, 1], [60, 40])
    return np.arange(100)[:, None], y


def test_make_pu_returns_the_index(table):
    X, y = table
    for options in (
        {},
        {"scenario": "single-training-set"},
        {"prior": 0.2},
        {"prior": 0.2, "scenario": "single-training-set"},
        {"n_unlabeled": 30},
    ):
        X_pu, labeled, index = make_pu(X, y, **options, return_index=True, random_state=0)
        assert_array_equal(X_pu, X[index])
        assert y[index][labeled == 1].all()
        again = make_pu(X, y, **options, random_state=0)
        assert len(again) == 2
        assert_array_equal(again[0], X_pu)


@pytest.mark.parametrize("options", [{}, {"scenario": "single-training-set"}, {"prior": 0.2}])
def test_make_pu_keeps_pandas_data_frames(options):
    frame = pd.DataFrame(
        {"size": np.arange(100.0), "kind": pd.Categorical(["a", "b"] * 50), "name": ["x"] * 100},
        index=[f"row {i}" for i in range(100)],
    )
    taken, labeled, index = make_pu(
        frame, np.repeat([0, 1], [60, 40]), **options, return_index=True, random_state=0
    )
    pd.testing.assert_frame_equal(taken, frame.iloc[index])
    assert len(taken) == len(labeled)


@pytest.mark.parametrize("options", [{}, {"scenario": "single-training-set"}, {"prior": 0.2}])
def test_make_pu_keeps_polars_data_frames(options):
    frame = pl.DataFrame({"size": np.arange(100, dtype=np.int8), "kind": ["a", None] * 50})
    frame = frame.with_columns(pl.col("kind").cast(pl.Categorical))
    taken, labeled, index = make_pu(
        frame, np.repeat([0, 1], [60, 40]), **options, return_index=True, random_state=0
    )
    polars_testing.assert_frame_equal(taken, frame[index.tolist()])
    assert len(taken) == len(labeled)


def test_prior_shift_of_case_control_data(table):
    X, y = table
    _, labeled, index = make_pu(X, y, n_labeled=10, prior=0.2, return_index=True, random_state=0)
    # All 60 negatives, and 15 positives, a fifth of the rows.
    assert_array_equal(np.bincount(labeled), [75, 10])
    assert priors(y, labeled, index)[1] == 0.2
    assert len(np.unique(index)) == 85
    # Too few positives: then negatives are dropped.
    _, labeled, index = make_pu(X, y, n_labeled=10, prior=0.75, return_index=True, random_state=0)
    assert_array_equal(np.bincount(y[index][labeled == 0]), [10, 30])
    few = make_pu(X, y, n_labeled=10, prior=0.2, n_unlabeled=50, return_index=True, random_state=0)
    assert_array_equal(np.bincount(y[few[2]][few[1] == 0]), [40, 10])


def test_prior_shift_of_a_single_training_set(table):
    X, y = table
    _, labeled, index = make_pu(
        X, y, n_labeled=0.4, prior=0.25, scenario="single-training-set", return_index=True,
        random_state=0,
    )  # fmt: skip
    assert_array_equal(np.bincount(y[index]), [60, 20])
    assert labeled.sum() == 8
    assert (np.diff(index) > 0).all()


def test_number_of_unlabeled_rows(table):
    X, y = table
    _, labeled, index = make_pu(X, y, n_unlabeled=30, return_index=True, random_state=0)
    assert_array_equal(np.bincount(labeled), [30, 20])
    assert len(np.unique(index[labeled == 0])) == 30


def test_propensities(table):
    X, y = table
    e = np.where(np.arange(100) % 2, 0.9, 0.1)
    counts = np.zeros(100)
    for seed in range(400):
        *_, labeled = make_pu(X, y, propensity=e, scenario="single-training-set", random_state=seed)
        counts += labeled
    assert counts[y == 0].sum() == 0
    assert_allclose(counts[y == 1] / 400, e[y == 1], atol=4 * np.sqrt(0.09 / 400))


@pytest.mark.parametrize("scenario", ["case-control", "single-training-set"])
def test_propensities_with_a_number_of_labels(table, scenario):
    """As many rows as requested are labeled, with probabilities 20 e / sum(e)."""
    X, y = table
    e = np.linspace(0.1, 0.3, 100)
    expected = 20 * e[y == 1] / e[y == 1].sum()
    counts = np.zeros(100)
    for seed in range(400):
        _, labeled, index = make_pu(
            X, y, n_labeled=20, propensity=e, scenario=scenario, return_index=True,
            random_state=seed,
        )  # fmt: skip
        assert labeled.sum() == 20
        counts[index[labeled == 1]] += 1
    assert_allclose(counts[y == 1] / 400, expected, atol=4 * np.sqrt(0.25 / 400))
    assert np.corrcoef(counts[y == 1], expected)[0, 1] > 0.7


def test_equal_propensities_can_label_all_positives(table):
    X, y = table
    *_, labeled = make_pu(
        X, y, n_labeled=40, propensity=np.full(100, 0.3), scenario="single-training-set"
    )
    assert_array_equal(labeled, y)


E = np.full(40, 0.5)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"prior": 1.2}, "prior must be a number between 0 and 1"),
        ({"prior": 0.5, "n_labeled": 20}, r"prior=0\.5 among 0 rows needs 0 positives, but 0"),
        ({"prior": 0.5, "n_unlabeled": 80}, "needs 40 positives, but 10 are left"),
        ({"prior": 0.1, "n_unlabeled": 30}, "needs 27 negatives, but 20 are left"),
        ({"n_unlabeled": 50}, "n_unlabeled=50 is more than the 40 rows"),
        ({"n_unlabeled": 0.5}, "n_unlabeled must be an integer of at least 1, got 0.5"),
        ({"n_unlabeled": 9, "scenario": "single-training-set"}, "n_unlabeled=9 requires"),
        ({"prior": 0.3, "propensity": E}, "prior and propensity together require"),
        ({"propensity": 3 * E}, "propensity must be above 0 and at most 1"),
        ({"propensity": E[1:]}, r"propensity must have the shape \(40,\)"),
        ({"propensity": 1e-9 * E}, "none of the 20 positives was drawn"),
        (
            {"propensity": np.where(np.arange(40) == 39, 1, 0.1), "n_labeled": 9},
            "n_labeled=9 is too large .* would be 3.1. At most 2 can",
        ),
    ],
)
def test_make_pu_impossible_draws(change, message):
    given = {"X": np.arange(40)[:, None], "y": np.repeat([-1, 1], 20), "random_state": 0}
    with pytest.raises((TypeError, ValueError), match=message):
        make_pu(**given | change)
