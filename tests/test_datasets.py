"""Embedded data and PU samplers."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from puforest.datasets import load_mushrooms, make_pu


def test_mushrooms():
    bunch = load_mushrooms()
    assert bunch.data.shape == (8124, 112)
    assert bunch.target.sum() == 4208
    assert len(set(bunch.feature_names)) == 112
    assert "stalk-root=?" not in bunch.feature_names
    # One-hot: the 21 columns each name one category a row.
    assert_array_equal(bunch.data.sum(axis=1), 21)
    no_odor = bunch.data[:, bunch.feature_names.index("odor=n")] == 1
    assert bunch.target[no_odor].mean() > 0.9
    X, y = load_mushrooms(return_X_y=True)
    assert_array_equal(X, bunch.data)
    assert_array_equal(y, bunch.target)


def test_make_pu_case_control():
    X, y = np.arange(40)[:, None], np.repeat(["n", "p"], 20)
    X_pu, labelled = make_pu(X, y, n_labeled=7, random_state=0)
    assert_array_equal(labelled, [1] * 7 + [0] * 40)
    assert_array_equal(X_pu[7:], X)
    assert len(np.unique(X_pu[:7])) == 7
    assert X_pu[:7].min() >= 20


def test_make_pu_single_training_set():
    X, y = np.arange(40)[:, None], np.repeat([-1, 1], 20)
    X_pu, labelled = make_pu(X, y, n_labeled=0.25, scenario="single-training-set", random_state=0)
    assert_array_equal(X_pu, X)
    assert labelled[:20].sum() == 0
    assert labelled[20:].sum() == 5
    other = make_pu(X, y, n_labeled=0.25, scenario="single-training-set", random_state=1)[1]
    assert not np.array_equal(labelled, other)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_labeled": 21}, "n_labeled=21 is more than the 20 positives"),
        ({"n_labeled": "many"}, "n_labeled must be a whole number or a share"),
        ({"scenario": "one-sample"}, "scenario must be one of"),
        ({"y": [0, 1]}, r"y must have the shape \(40,\)"),
        ({"y": np.zeros(40)}, "only one class"),
    ],
)
def test_make_pu_refuses(change, message):
    given = {"X": np.arange(40)[:, None], "y": np.repeat([-1, 1], 20)} | change
    with pytest.raises((ValueError, TypeError), match=message):
        make_pu(**given)
