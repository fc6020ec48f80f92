"""Model files: a loaded model is identical to the saved one."""

import json
import os
import pickle
import stat
import subprocess
import sys
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from safetensors import safe_open
from safetensors.numpy import load_file, save
from saved_models import ESTIMATORS, assert_same, small, through_file
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.utils.validation import check_is_fitted

import puforest
from puforest import (
    PUDecisionTreeClassifier,
    PUExtraTreesClassifier,
    PURandomForestClassifier,
)
from puforest.calibration import PUCalibratedClassifier
from puforest.io import load_model, save_model
from puforest.model_selection import PUStratifiedKFold
from puforest.prior import PriorEstimatedWarning


@pytest.mark.parametrize("voting", ["hard", "soft"])
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_loaded_model_is_the_same(estimator, voting, blobs, tmp_path):
    X, labeled, _ = blobs
    model = small(estimator, voting=voting, min_samples_leaf=3).fit(X, labeled)
    assert_same(model, through_file(model, tmp_path), X)
    assert_same(model, through_file(model, tmp_path, mmap=True), X)


@pytest.mark.parametrize(
    "params",
    [
        {"risk": "upu", "loss": "logistic", "scenario": "single-training-set"},
        {"risk": "pn", "prior": None, "max_features": 0.5, "min_samples_leaf": 0.01},
        {"risk": "pn", "prior": 0.2, "max_leaf_nodes": 9, "max_depth": np.int64(3)},
        {"prior": np.float32(0.4), "bootstrap": np.bool_(False), "min_risk_reduction": -np.inf},
        {
            "oob_score": True,
            "max_labeled": 0.2,
            "max_unlabeled": 100,
            "n_jobs": 1,
            "verbose": False,
        },
        {"n_estimators": 1, "max_depth": 1, "min_samples_split": 10_000},
    ],
    ids=["upu", "pn", "pn-small", "numpy", "sampled", "one-leaf"],
)
def test_parameters_of_all_types_are_restored(params, blobs, tmp_path):
    X, labeled, _ = blobs
    model = small(PURandomForestClassifier, **params).fit(X, labeled)
    assert_same(model, through_file(model, tmp_path), X)


def test_weights_and_propensities(blobs, tmp_path):
    X, labeled, _ = blobs
    weight = np.random.default_rng(0).exponential(size=len(X)) ** 4
    weight[:50] = 0
    propensity = np.linspace(0.5, 1, len(X))
    model = small(PUExtraTreesClassifier, prior=None, scenario="single-training-set")
    model.fit(X, labeled, weight, propensity=propensity)
    assert_same(model, through_file(model, tmp_path), X)


def test_prior_estimate_and_its_evidence_are_restored(blobs, tmp_path):
    X, labeled, _ = blobs
    model = small(PURandomForestClassifier, prior=None)
    with pytest.warns(PriorEstimatedWarning):
        model.fit(X, labeled)
    loaded = through_file(model, tmp_path)
    assert_same(model, loaded, X)
    assert loaded.prior is None
    assert loaded.prior_estimate_ == model.prior_estimate_
    assert loaded.prior_interval_ == model.prior_interval_
    evidence, expected = loaded.prior_estimate_.evidence, model.prior_estimate_.evidence
    assert evidence.keys() == expected.keys()
    for name, value in expected.items():
        assert_array_equal(evidence[name], value)


def test_out_of_bag_predictions_are_restored(blobs, tmp_path):
    X, labeled, _ = blobs
    model = small(PURandomForestClassifier, oob_score=True, n_estimators=20).fit(X, labeled)
    loaded = through_file(model, tmp_path)
    assert loaded.oob_risk_ == model.oob_risk_
    assert_array_equal(loaded.oob_decision_function_, model.oob_decision_function_)
    without = through_file(model.with_prior(0.5), tmp_path)
    with pytest.raises(AttributeError, match="oob_score=True"):
        _ = without.oob_risk_


@pytest.mark.filterwarnings("ignore:oob_risk_ is nan")
def test_nan_out_of_bag_risk_is_restored(blobs, tmp_path):
    X, labeled, _ = blobs
    model = small(PUExtraTreesClassifier, oob_score=True, max_unlabeled=50).fit(X, labeled)
    loaded = through_file(model, tmp_path)
    assert np.isnan(loaded.oob_risk_)
    assert_array_equal(loaded.oob_decision_function_, model.oob_decision_function_)


@pytest.mark.parametrize(
    "classes",
    [
        np.array([False, True]),
        np.array([-1, 1], dtype=np.int8),
        np.array([0, 2**63 + 1], dtype=np.uint64),
        np.array([1.0, 2.0], dtype=np.float32),
        np.array(["no", "sí"]),
        np.array(["no", "yes"], dtype="U20"),
        np.array(["no", "yes"], dtype=object),
    ],
    ids=lambda classes: str(classes.dtype),
)
def test_classes_keep_their_dtype(classes, blobs, tmp_path):
    X, labeled, _ = blobs
    model = small(PUDecisionTreeClassifier).fit(X, classes[labeled])
    loaded = through_file(model, tmp_path)
    assert_array_equal(loaded.classes_, classes)
    assert loaded.predict(X).dtype == classes.dtype
    assert_array_equal(loaded.predict(X), model.predict(X))


def test_feature_names_are_restored(blobs, tmp_path):
    X, labeled, _ = blobs
    table = pd.DataFrame(X, columns=["länge", "b", "", "a name, with \0 and \n", "e", "f"])
    model = small(PUExtraTreesClassifier).fit(table, labeled)
    loaded = through_file(model, tmp_path)
    assert_array_equal(loaded.feature_names_in_, table.columns)
    assert loaded.feature_names_in_.dtype == object
    assert_array_equal(loaded.predict_proba(table), model.predict_proba(table))
    with pytest.raises(ValueError, match="feature names should match"):
        loaded.predict(table[["b", "länge", "", "a name, with \0 and \n", "e", "f"]])


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
@pytest.mark.parametrize("cv", ["oob", "prefit", 3])
def test_calibrated_models(method, cv, blobs, tmp_path):
    X, labeled, _ = blobs
    forest = small(PURandomForestClassifier, oob_score=cv == "oob", n_estimators=20, voting="soft")
    if cv == "prefit":
        forest.fit(X[::2], labeled[::2])
    model = PUCalibratedClassifier(forest, method=method, cv=cv).fit(X, labeled)
    loaded = through_file(model, tmp_path)
    assert_same(model, loaded, X)
    assert loaded.scenario_ == model.scenario_
    assert (loaded.estimator is loaded.estimator_) == (cv == "prefit")
    assert repr(loaded) == repr(model)
    if cv != "prefit":
        again, expected = (clone(m).fit(X, labeled) for m in (loaded, model))
        assert_array_equal(again.predict_proba(X), expected.predict_proba(X))


@pytest.mark.parametrize("risk", ["nnpu", "upu", "pn"])
def test_models_for_another_prior_and_single_trees_of_a_forest(risk, blobs, tmp_path):
    X, labeled, _ = blobs
    weight = np.random.default_rng(0).exponential(size=len(X)) ** 4
    forest = small(PURandomForestClassifier, risk=risk, min_samples_leaf=3, voting="soft")
    forest.fit(X, labeled, weight)
    for model in (forest.with_prior(0.01), forest.with_prior(0.9), forest.estimators_[3]):
        assert_same(model, through_file(model, tmp_path), X)


# Using a loaded model


def test_more_trees_can_be_added(blobs, tmp_path):
    X, labeled, _ = blobs
    params = {"oob_score": True, "warm_start": True}
    model = small(PURandomForestClassifier, n_estimators=20, **params).fit(X, labeled)
    loaded = through_file(model, tmp_path).set_params(n_estimators=30).fit(X, labeled)
    whole = small(PURandomForestClassifier, n_estimators=30, **params).fit(X, labeled)
    assert_array_equal(loaded.predict_proba(X), whole.predict_proba(X))
    assert loaded.oob_risk_ == whole.oob_risk_
    assert len(loaded.estimators_) == 30
    with pytest.raises(ValueError, match=r"but now .*: fit a new forest"):
        loaded.set_params(loss="savage", n_estimators=40).fit(X, labeled)
    with pytest.raises(ValueError, match="sampling must be the same as in the first fit"):
        loaded.set_params(loss="quadratic").fit(X[:-1], labeled[:-1])


def test_loaded_models_can_be_changed_cloned_and_refitted(blobs, tmp_path):
    X, labeled, _ = blobs
    model = small(PURandomForestClassifier, min_samples_leaf=5).fit(X, labeled)
    loaded = through_file(model, tmp_path)
    for m in (model, loaded):
        m.set_params(voting="soft", n_jobs=2)
    assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    unfitted = clone(loaded)
    with pytest.raises(NotFittedError):
        check_is_fitted(unfitted)
    assert_array_equal(unfitted.fit(X, labeled).predict_proba(X), model.predict_proba(X))
    assert_same(model, through_file(loaded, tmp_path), X)


def test_loaded_models_can_be_pickled(blobs, tmp_path):
    X, labeled, _ = blobs
    model = small(PUExtraTreesClassifier).fit(X, labeled)
    assert_same(model, pickle.loads(pickle.dumps(through_file(model, tmp_path))), X)


# Files


def test_saving_is_deterministic(blobs, tmp_path):
    X, labeled, _ = blobs
    model = small(PURandomForestClassifier, oob_score=True, n_estimators=20).fit(X, labeled)
    first, second = tmp_path / "first.puf", tmp_path / "second.puf"
    model.save(str(first))
    load_model(first).save(second)
    assert first.read_bytes() == second.read_bytes()


def test_files_are_valid_safetensors(blobs, tmp_path):
    X, labeled, _ = blobs
    model = small(PUExtraTreesClassifier).fit(X, labeled)
    path = tmp_path / "model.puf"
    model.save(path)
    arrays = load_file(path)
    content = path.read_bytes()
    with safe_open(path, "numpy") as file:
        assert save(arrays, metadata=file.metadata()) == content
    for name, array in model._forest._arrays().items():
        assert_array_equal(arrays[name], array)
    length = int.from_bytes(content[:8], "little")
    header = json.loads(json.loads(content[8 : 8 + length])["__metadata__"]["puforest"])
    assert header["format_version"] == 3
    assert header["puforest_version"] == puforest.__version__
    assert header["model"]["class"] == "PUExtraTreesClassifier"
    expected = {"labeled": labeled.sum(), "unlabeled": sum(1 - labeled)}
    expected |= {"confirmed": 0, "refuted": 0, "digest": model._record.digest}
    assert header["model"]["rows"] == expected


def test_mmap_makes_the_trees_views_of_the_file(blobs, tmp_path):
    X, labeled, _ = blobs
    model = small(PUExtraTreesClassifier).fit(X, labeled)
    mapped = through_file(model, tmp_path, mmap=True)
    read, by_default = through_file(model, tmp_path, mmap=False), through_file(model, tmp_path)
    for loaded, owner in ((mapped, "mmap"), (read, "ndarray"), (by_default, "ndarray")):
        base = loaded._forest.w_p
        while isinstance(base, np.ndarray | memoryview):
            last = base
            base = base.base if isinstance(base, np.ndarray) else base.obj
        assert type(last if base is None else base).__name__ == owner
        assert not loaded._forest.threshold.flags.writeable
        assert loaded._forest.threshold.flags.aligned


@pytest.mark.parametrize("mmap", [False, True])
def test_replacing_the_file_does_not_change_a_loaded_model(mmap, blobs, tmp_path):
    X, labeled, _ = blobs
    path = tmp_path / "model.puf"
    old = small(PUExtraTreesClassifier).fit(X, labeled)
    new = small(PUExtraTreesClassifier, n_estimators=2, random_state=1).fit(X, labeled)
    old.save(path)
    loaded = load_model(path, mmap=mmap)
    new.save(path)
    assert_same(old, loaded, X)
    assert_same(new, load_model(path), X)
    assert [p.name for p in tmp_path.iterdir()] == ["model.puf"]


CHANGED_IN_PLACE = """
import os, sys
import numpy as np
import puforest

path, X = sys.argv[1], np.load(sys.argv[2])
model = puforest.load(path)
expected = puforest.load(path).predict_proba(X)
with open(path, "r+b") as file:
    file.truncate(100)
assert (model.predict_proba(X) == expected).all()
with open(path, "r+b") as file:
    file.write(b"x" * 10_000)
assert (model.predict_proba(X.astype(np.float32).astype(float)) >= 0).all()
model.save(path + ".again")
"""


def test_changing_the_file_does_not_change_a_loaded_model(blobs, tmp_path):
    X, labeled, _ = blobs
    path = tmp_path / "model.puf"
    small(PUExtraTreesClassifier).fit(X, labeled).save(path)
    whole = path.read_bytes()
    np.save(tmp_path / "X.npy", X)
    # In a separate process, because SIGBUS would kill it.
    command = [sys.executable, "-c", CHANGED_IN_PLACE, str(path), str(tmp_path / "X.npy")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run(command, check=True, env=environment)
    assert (tmp_path / "model.puf.again").read_bytes() == whole


def test_sizes_are_checked_before_memory_is_allocated(blobs, tmp_path):
    X, labeled, _ = blobs
    path = tmp_path / "model.puf"
    small(PUExtraTreesClassifier).fit(X, labeled).save(path)
    with path.open("r+b") as file:
        file.truncate(2**40)  # sparse: takes no disk space
    tracemalloc.start()
    try:
        for mmap in (False, True):
            with pytest.raises(ValueError, match="bytes belong to no array"):
                load_model(path, mmap=mmap)
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()


def test_file_permissions_follow_the_umask(blobs, tmp_path):
    X, labeled, _ = blobs
    path = tmp_path / "model.puf"
    before = os.umask(0o022)
    try:
        small(PUDecisionTreeClassifier).fit(X, labeled).save(path)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o644


def test_mmap_must_be_boolean(blobs, tmp_path):
    X, labeled, _ = blobs
    small(PUDecisionTreeClassifier).fit(X, labeled).save(tmp_path / "model.puf")
    with pytest.raises(TypeError, match="mmap must be True or False, got 'r'"):
        load_model(tmp_path / "model.puf", mmap="r")


def test_feature_names_that_are_not_valid_unicode(blobs, tmp_path):
    X, labeled, _ = blobs
    table = pd.DataFrame(X, columns=pd.Index(["a\ud800", *"bcdef"], dtype=object))
    model = small(PUDecisionTreeClassifier).fit(table, labeled)
    with pytest.raises(
        ValueError, match=r"feature name 'a\\ud800' cannot be encoded as UTF-8: ren"
    ):
        model.save(tmp_path / "model.puf")


def test_missing_folders(blobs, tmp_path):
    X, labeled, _ = blobs
    model = small(PUDecisionTreeClassifier).fit(X, labeled)
    with pytest.raises(FileNotFoundError, match="nowhere"):
        model.save(tmp_path / "nowhere" / "model.puf")
    with pytest.raises(FileNotFoundError, match="nowhere"):
        load_model(tmp_path / "nowhere.puf")


# Unsupported objects


def test_generators_are_stored_as_none(blobs, tmp_path):
    X, labeled, _ = blobs
    model = small(PURandomForestClassifier, random_state=np.random.RandomState(3))
    model.fit(X, labeled)
    with pytest.warns(UserWarning, match="random_state is a RandomState"):
        model.save(tmp_path / "model.puf")
    loaded = load_model(tmp_path / "model.puf")
    assert loaded.random_state is None
    assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    model.set_params(warm_start=True, n_estimators=9).fit(X, labeled)
    loaded.set_params(warm_start=True, n_estimators=9).fit(X, labeled)
    assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


def test_splitters_are_stored_as_none(blobs, tmp_path):
    X, labeled, _ = blobs
    splitter = PUStratifiedKFold(3, random_state=1)
    model = PUCalibratedClassifier(small(PUDecisionTreeClassifier, max_depth=3), cv=splitter)
    model.fit(X, labeled)
    with pytest.warns(UserWarning, match="cv is a PUStratifiedKFold, which model files"):
        model.save(tmp_path / "model.puf")
    loaded = load_model(tmp_path / "model.puf")
    assert loaded.cv is None
    assert_same(model, loaded, X)


def test_only_fitted_puforest_models_can_be_saved(blobs, tmp_path):
    X, labeled, _ = blobs
    path = tmp_path / "model.puf"
    with pytest.raises(NotFittedError):
        PURandomForestClassifier().save(path)
    with pytest.raises(NotFittedError):
        PUCalibratedClassifier(PURandomForestClassifier()).save(path)
    other = LogisticRegression().fit(X, labeled)
    with pytest.raises(TypeError, match="LogisticRegression: save other objects with"):
        save_model(other, path)
    calibrated = PUCalibratedClassifier(other, cv="prefit", prior=0.4, scenario="case-control")
    with pytest.raises(TypeError, match="estimator is a LogisticRegression"):
        calibrated.fit(X, labeled).save(path)
    assert not path.exists()


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_estimators": 0}, "n_estimators must be at least 1, got 0"),
        ({"voting": "loud"}, "voting must be one of"),
        ({"min_risk_reduction": float("nan")}, "min_risk_reduction must be a number"),
        ({"random_state": -1}, "random_state must be None or from 0"),
    ],
)
def test_invalid_parameters_cannot_be_saved(params, message, blobs, tmp_path):
    X, labeled, _ = blobs
    model = small(PURandomForestClassifier).fit(X, labeled).set_params(**params)
    with pytest.raises(ValueError, match=f"Classifier cannot be saved: {message}"):
        model.save(tmp_path / "model.puf")
    assert not (tmp_path / "model.puf").exists()


def test_parameters_that_are_objects_cannot_be_saved(blobs, tmp_path):
    X, labeled, _ = blobs
    model = small(PURandomForestClassifier).fit(X, labeled).set_params(max_depth=object)
    with pytest.raises(TypeError, match="max_depth=<class 'object'> cannot be saved"):
        model.save(tmp_path / "model.puf")


@pytest.mark.parametrize(
    ("classes", "error", "message"),
    [
        (np.array([1.0, 2.0], dtype=np.longdouble), TypeError, "longdouble|float128"),
        (np.array(["a", "b"], dtype="U2000"), ValueError, "longer than 1024 characters"),
    ],
    ids=["longdouble", "wide"],
)
def test_unsupported_classes(classes, error, message, blobs, tmp_path):
    X, labeled, _ = blobs
    model = small(PUDecisionTreeClassifier).fit(X, classes[labeled])
    with pytest.raises(error, match=message):
        model.save(tmp_path / "model.puf")
