"""Model files of models for tables with categories, dates and missing values."""

import numpy as np
import pytest
from export_cases import KINDS
from fuzz.model_files import content_of, unpacked
from mixed_forests import SCHEMA, mixed_model, mixed_rows, raw_table, walked
from numpy.testing import assert_array_equal, assert_equal
from safetensors import safe_open
from safetensors.numpy import load_file, save
from saved_models import ESTIMATORS, small, through_file
from sklearn.base import clone

from puforest import PUDecisionTreeClassifier, PUExtraTreesClassifier
from puforest._kinds import ColumnKind
from puforest._schema import FeatureSchema
from puforest.calibration import PUCalibratedClassifier
from puforest.io._columns import restored_columns, stored_columns
from puforest.io._container import write
from puforest.io._parameters import checked, json_value


@pytest.mark.parametrize("mmap", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_trees_and_columns_are_restored(kind, mmap, tmp_path):
    model = mixed_model(kind)
    assert model._forest.n_categories.any()
    loaded = through_file(model, tmp_path, mmap=mmap)
    for name, array in model._forest._arrays().items():
        restored = getattr(loaded._forest, name)
        assert restored.dtype == array.dtype
        assert_array_equal(restored, array)
    assert loaded._record.schema == SCHEMA
    X = mixed_rows(20)
    assert_array_equal(walked(loaded, X), walked(model, X))


def test_files_are_valid_safetensors(tmp_path):
    mixed_model().save(tmp_path / "model.puf")
    arrays = load_file(tmp_path / "model.puf")
    with safe_open(tmp_path / "model.puf", "numpy") as file:
        whole = save(arrays, metadata=file.metadata())
    assert whole == (tmp_path / "model.puf").read_bytes()
    assert arrays["categories"].dtype == np.uint16


def test_columns_of_plain_numbers_are_not_listed(blobs):
    X, labeled, _ = blobs
    model = small(PUDecisionTreeClassifier).fit(X, labeled)
    assert "columns" not in unpacked(content_of(model))[1]


@pytest.mark.parametrize(
    "labels",
    [
        (),
        ("",),
        ("a", "b", "größer", "\ud800", "\U0001f344"),
        ('"quoted"', "two\nlines\0", "{}"),
        (-5, 0, 3, 2**70, 10**300),
        (-1.5, 0.1, 1, 1e300),
        (False, True),
        tuple(f"{i:05d}" for i in range(65_535)),
    ],
    ids=lambda labels: f"{len(labels)} labels",
)
def test_labels_keep_their_values_and_types(labels):
    columns = {3: ColumnKind("category", labels)}
    restored = restored_columns(stored_columns(FeatureSchema(4, None, columns)), 4)
    assert restored == columns
    assert [type(label) for label in restored[3].categories] == [type(label) for label in labels]


# Fitted models


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"categorical_features": ["odor", "code"]},
        {"categorical_features": [1, 4]},
        {"categorical_features": np.array([False, True, False, False, True])},
        {"monotonic_cst": {"size": 1, "seen": -1}},
        {"monotonic_cst": np.array([1, 0, 0, -1, 0])},
    ],
    ids=str,
)
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_models_and_their_parameters_are_restored(estimator, params, tmp_path):
    X, labeled = raw_table()
    model = small(estimator, **params).fit(X, labeled)
    loaded = through_file(model, tmp_path)
    new, _ = raw_table(seed=1)
    new.loc[:5, "odor"] = "unknown"
    assert_array_equal(loaded.predict_proba(new), model.predict_proba(new))
    assert loaded._record.schema == model._record.schema
    for name in ("categorical_features", "monotonic_cst"):
        assert_equal(getattr(loaded, name), getattr(model, name))
        assert_equal(loaded._record.parameters[name], model._record.parameters[name])
    again = clone(loaded).fit(X, labeled)
    assert_array_equal(again.predict_proba(new), model.predict_proba(new))


def test_more_trees_can_be_added(tmp_path):
    X, labeled = raw_table()
    params = {"warm_start": True, "monotonic_cst": [1, 0, 0, -1, 0]}
    model = small(PUExtraTreesClassifier, n_estimators=4, **params).fit(X, labeled)
    loaded = through_file(model, tmp_path).set_params(n_estimators=9).fit(X, labeled)
    whole = small(PUExtraTreesClassifier, n_estimators=9, **params).fit(X, labeled)
    assert_array_equal(loaded.predict_proba(X), whole.predict_proba(X))


def test_calibrated_models(tmp_path):
    X, labeled = raw_table()
    forest = small(PUExtraTreesClassifier, voting="soft", categorical_features=["odor", "code"])
    model = PUCalibratedClassifier(forest, cv=3).fit(X, labeled)
    loaded = through_file(model, tmp_path)
    assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert loaded.estimator.categorical_features == ["odor", "code"]


# Parameters


def through_json(name, value):
    return checked(name, json_value(name, value))


@pytest.mark.parametrize("value", [None, "from_dtype", [], [0, 3, 1], ["a", "b"]])
def test_categorical_features(value):
    assert through_json("categorical_features", value) == value
    if isinstance(value, list):
        assert (
            through_json(
                "categorical_features", np.array(value, dtype=object if "a" in value else int)
            )
            == value
        )


def test_masks_of_categorical_features():
    mask = [True, False, True, False]
    for value in (mask, np.array(mask)):
        restored = through_json("categorical_features", value)
        assert restored.dtype == bool
        assert restored.tolist() == mask


def test_monotonic_constraints():
    assert through_json("monotonic_cst", None) is None
    assert through_json("monotonic_cst", {"a": 1, "b": -1, "c": 0}) == {"a": 1, "b": -1, "c": 0}
    for value in ([0, 1, -1, 0], np.array([0.0, 1.0, -1.0, 0.0])):
        assert through_json("monotonic_cst", value).tolist() == [0, 1, -1, 0]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("categorical_features", [0.5]),
        ("categorical_features", [["a"]]),
        ("categorical_features", [["a"], ["b", "c"]]),
        ("categorical_features", [0, "a", None]),
        ("categorical_features", 3),
        ("monotonic_cst", [0, 2]),
        ("monotonic_cst", "increasing"),
        ("monotonic_cst", {0: 1}),
        ("monotonic_cst", {"a": "up"}),
    ],
)
def test_invalid_parameters_cannot_be_saved(name, value):
    with pytest.raises(TypeError, match=rf"{name}=.* cannot be saved"):
        json_value(name, value)


def test_parameters_that_do_not_fit_into_the_header_are_rejected(tmp_path):
    with pytest.raises(ValueError, match=r"take 1,0\d\d,\d\d\d bytes, .* by their indices"):
        write(tmp_path / "model.puf", "a" * 2**20, {})
    assert not list(tmp_path.iterdir())
