"""Model files of format version 1, written before missing values and categories existed."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from fuzz.model_files import packed, unpacked
from numpy.testing import assert_array_equal

import puforest
from puforest._model import LEAF

DATA = Path(__file__).parent / "data"
MODELS = ["forest", "tree", "calibrated"]


def path_of(name):
    return DATA / f"{name}-version-1.puf"


def rows_for(model, X):
    names = getattr(model, "feature_names_in_", None)
    return X if names is None else pd.DataFrame(X, columns=names)


@pytest.mark.parametrize("mmap", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_predictions_are_those_of_the_version_that_saved_it(name, mmap):
    model = puforest.load(path_of(name), mmap=mmap)
    recorded = np.load(DATA / "version-1.npz")
    found = model.predict_proba(rows_for(model, recorded["X"]))[:, 1]
    assert_array_equal(found, recorded[name])


@pytest.mark.parametrize("name", MODELS)
def test_missing_values_go_to_the_child_with_the_larger_mass(name):
    model = puforest.load(path_of(name))
    forest = getattr(model, "estimator_", model)._forest
    left = forest.left_children()
    inner = np.flatnonzero(left != LEAF)
    larger = forest.w_u[left[inner]] >= forest.w_u[left[inner] + 1]
    assert_array_equal(forest.missing_left[inner], larger)
    assert not forest.missing_left[forest.is_leaf].any()
    assert not forest.n_categories.any()
    assert len(forest.categories) == 0


@pytest.mark.parametrize("name", MODELS)
def test_new_parameters_have_their_defaults(name):
    model = puforest.load(path_of(name))
    default = type(getattr(model, "estimator_", model))().get_params()
    for estimator in {
        model,
        getattr(model, "estimator", model),
        getattr(model, "estimator_", model),
    }:
        for parameter in ("categorical_features", "monotonic_cst", "threshold"):
            if parameter in estimator.get_params(deep=False):
                assert getattr(estimator, parameter) == default[parameter]


def test_the_threshold_is_one_half():
    model = puforest.load(path_of("forest"))
    assert model.threshold_ == 0.5
    assert model._record.curve is None
    with pytest.raises(ValueError, match="set from out-of-bag predictions, and this model"):
        _ = model.set_params(threshold="prior").threshold_


@pytest.mark.parametrize("name", MODELS)
def test_saving_writes_the_current_version(name, tmp_path):
    model = puforest.load(path_of(name))
    model.save(tmp_path / "model.puf")
    header, arrays = unpacked((tmp_path / "model.puf").read_bytes())
    assert header["format_version"] == 3
    assert "missing_left" in arrays
    again = puforest.load(tmp_path / "model.puf")
    X = rows_for(model, np.load(DATA / "version-1.npz")["X"])
    assert_array_equal(again.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda h, a: a["threshold"].__setitem__(0, np.inf), "a threshold is not finite"),
        (lambda h, a: a["threshold"].__setitem__(0, np.nan), "a threshold is not finite"),
        (lambda h, a: a["left"].__setitem__(0, 2**31 - 1), "children are outside their tree"),
        (lambda h, a: a.update(columns=np.zeros(2, dtype="u1")), "unknown array 'columns'"),
        (lambda h, a: a.update(missing_left=a["w_u"].astype("u1")), "unknown array 'missing_left'"),
        (lambda h, a: h["model"]["parameters"].update(monotonic_cst=None), "unknown field 'monot"),
        (lambda h, a: h["model"]["parameters"].update(threshold=0.5), "unknown field 'thres"),
        (lambda h, a: h["model"].update(calibrator=None), "unknown field 'calibrator'"),
        (lambda h, a: h.update(format_version=2), "has no 'categorical_features'|no array"),
    ],
)
def test_invalid_files_are_rejected(change, message, tmp_path):
    header, arrays = unpacked(path_of("tree").read_bytes())
    change(header, arrays)
    (tmp_path / "bad.puf").write_bytes(packed(header, arrays))
    with pytest.raises(ValueError, match=f"is not a puforest model: .*({message})"):
        puforest.load(tmp_path / "bad.puf")
