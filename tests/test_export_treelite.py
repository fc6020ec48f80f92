"""treelite models predict exactly the same as puforest."""

import numpy as np
import pytest
import treelite
from export_cases import KINDS, chain, constants, edge_rows, fitted
from feature_names import with_names
from numpy.testing import assert_array_equal

from puforest.export import to_treelite


def predictions(model, X):
    return treelite.gtil.predict(model, X, nthread=1).ravel()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("voting", ["hard", "soft"])
@pytest.mark.parametrize("kind", KINDS)
def test_equal_at_and_near_thresholds(kind, voting, dtype):
    model = fitted(kind, voting)
    X = edge_rows(model, np.dtype(dtype))
    assert_array_equal(predictions(to_treelite(model), X), model.predict_proba(X)[:, 1])


def test_feature_names_that_are_not_valid_unicode():
    model = fitted("extra-tree")
    with_names(model, ["a\ud800", *"bcdef"])
    assert to_treelite(model).num_feature == 6


@pytest.mark.parametrize("make", [constants, lambda voting: chain(1500, voting)])
def test_extreme_shapes(make):
    model = make("soft")
    X = np.arange(-1.5, 1600, 0.5)[:, None]
    assert_array_equal(predictions(to_treelite(model), X), model.predict_proba(X)[:, 1])


def test_serialized_model_predicts_the_same(tmp_path):
    model = fitted("extra-trees", "soft")
    X = edge_rows(model, np.dtype(float))
    to_treelite(model).serialize(tmp_path / "forest.tl")
    read = treelite.Model.deserialize(tmp_path / "forest.tl")
    assert read.num_tree == 30
    assert_array_equal(predictions(read, X), model.predict_proba(X)[:, 1])


def test_data_counts():
    model = fitted("decision-tree")
    made = to_treelite(model)
    counts = made.get_tree_accessor(0).get_field("data_count")
    assert_array_equal(counts, model._forest.n_labeled + model._forest.n_unlabeled)
