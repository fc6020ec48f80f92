"""Arrays with column names as input of the estimators."""

import numpy as np
import pytest

from puforest import PUExtraTreesClassifier
from puforest._named_table import NamedTable
from puforest._schema import FeatureSchema

NAMES = [f"feature {i}" for i in range(6)]


def test_names_are_kept_and_compared(blobs):
    X, labeled, _ = blobs
    forest = PUExtraTreesClassifier(prior=0.4, n_estimators=3, random_state=0)
    plain = forest.fit(X, labeled).predict_proba(X)
    forest.fit(NamedTable(X, NAMES), labeled)
    assert forest.feature_names_in_.tolist() == NAMES
    np.testing.assert_array_equal(forest.predict_proba(NamedTable(X, NAMES)), plain)
    assert forest.feature_names_in_.tolist() == NAMES
    with pytest.raises(ValueError, match="in the same order, got 6 columns that differ"):
        forest.predict(NamedTable(X, NAMES[::-1]))


def test_models_without_names_take_columns_by_position(blobs):
    X, labeled, _ = blobs
    forest = PUExtraTreesClassifier(prior=0.4, n_estimators=3, random_state=0).fit(X, labeled)
    table = NamedTable(X, NAMES)
    np.testing.assert_array_equal(forest.predict_proba(table), forest.predict_proba(X))
    with pytest.raises(ValueError, match="5 features"):
        forest.predict(NamedTable(X[:, :5], NAMES[:5]))


@pytest.mark.parametrize("order", ["C", "F"])
def test_values_are_not_copied(blobs, order):
    X, labeled = np.asarray(blobs[0], order=order), blobs[1]
    table = NamedTable(X, NAMES)
    schema, encoded, _ = FeatureSchema.of_training_data(table, labeled, estimator="Forest")
    assert np.shares_memory(encoded.values, X)
    assert np.shares_memory(schema.table(table, estimator="Forest").values, X)
    assert np.shares_memory(np.asarray(table), X)
