"""ONNX models predict the same in onnxruntime as puforest does."""

import json
from dataclasses import replace

import numpy as np
import onnx
import onnxruntime
import pytest
from export_cases import CODINGS, KINDS, chain, constants, data, edge_rows, fitted, with_trees
from feature_names import with_names
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from onnx import helper

import puforest
from puforest import PUExtraTreesClassifier, PURandomForestClassifier
from puforest.calibration import PUCalibratedClassifier
from puforest.export import to_onnx

VOTINGS = ["hard", "soft"]
DTYPES = ["float32", "float64"]

# The bounds in docs/exports.md.
SOFT_DIFFERENCE = {"float64": 1e-14, "float32": 2**-24}


def run(model, X, threads=1):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(
        to_onnx(model, dtype=X.dtype.name).SerializeToString(), options
    )
    label, probabilities = session.run(["label", "probabilities"], {"X": X})
    assert probabilities.dtype == X.dtype
    return label, probabilities


def assert_same_predictions(model, X, threads=1):
    label, probabilities = run(model, X, threads)
    ours = model.predict_proba(X)
    if getattr(model, "estimator_", model).voting == "hard":
        assert_array_equal(label, model.predict(X))
        assert_array_equal(probabilities, ours.astype(X.dtype))
    else:
        clear = abs(ours[:, 1] - 0.5) > 1e-14
        assert clear.mean() > 0.8
        assert_array_equal(label[clear], model.predict(X)[clear])
        assert abs(probabilities - ours).max() <= SOFT_DIFFERENCE[X.dtype.name]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("voting", VOTINGS)
@pytest.mark.parametrize("kind", KINDS)
def test_equal_at_and_near_thresholds(kind, voting, dtype):
    model = fitted(kind, voting)
    X = edge_rows(model, np.dtype(dtype))
    assert len(np.unique(model.predict(X))) == 2
    assert_same_predictions(model, X)


@settings(max_examples=15)
@given(
    kind=st.sampled_from(sorted(KINDS)),
    voting=st.sampled_from(VOTINGS),
    dtype=st.sampled_from(DTYPES),
    seed=st.integers(0, 10**6),
    threads=st.integers(1, 2),
)
def test_equal_for_any_forest(kind, voting, dtype, seed, threads):
    model = fitted(kind, voting, seed=seed)
    assert_same_predictions(model, edge_rows(model, np.dtype(dtype), n=300, seed=seed), threads)


def test_float32_thresholds_are_rounded_down():
    # The nearest float32 of 0.1 lies above it, that of 0.7 below it.
    leaves = [(-1, 0, -1, 0.0, 0.5), (-1, 0, -1, 0.5, 0.5)]
    trees = [[(0, t, 1, 0.5, 1.0), *leaves] for t in (0.1, 0.7, 1e300, -1e300, 1e-50, -1e-50)]
    model = with_trees(PUExtraTreesClassifier(prior=0.5).fit([[0.0], [1.0]], [0, 1]), *trees)
    x = np.float32([0.1, 0.7, 0.0, -0.0, 1e-45, -1e-45, 3.4e38, -3.4e38])
    near = [np.nextafter(x, np.float32(end)) for end in (-np.inf, np.inf)]
    assert_same_predictions(model, np.concatenate([x, *near])[:, None])


@pytest.mark.parametrize("dtype", DTYPES)
def test_ties_are_negative(dtype):
    votes = [[(-1, 0.0, -1, w_p, 1.0)] for w_p in (0.9, 0.9, 0.1, 0.1)]
    model = PUExtraTreesClassifier(prior=0.5).fit([[0.0], [1.0]], [0, 1])
    X = np.zeros((1, 1), dtype=dtype)
    for trees, label in ((votes, 0), (votes[:3], 1)):
        assert run(with_trees(model, *trees), X)[0] == [label] == model.predict(X)


@pytest.mark.parametrize("voting", VOTINGS)
@pytest.mark.parametrize("coding", CODINGS)
def test_labels_keep_the_dtype_of_y(coding, voting):
    model = fitted("random-forest", voting, coding)
    X = edge_rows(model, np.dtype(float), n=100)
    label, _ = run(model, X)
    assert_array_equal(label, model.predict(X))
    expected = CODINGS[coding].dtype
    assert label.dtype == (object if expected.kind in "UO" else expected)


@pytest.mark.parametrize("voting", VOTINGS)
@pytest.mark.parametrize("make", [constants, lambda voting: chain(1500, voting)])
def test_extreme_shapes(make, voting):
    model = make(voting)
    X = np.arange(-1.5, 1600, 0.5)[:, None]
    assert_same_predictions(model, X)


def test_labels_in_another_byte_order():
    X, labeled = data()
    model = PUExtraTreesClassifier(0.4, n_estimators=3).fit(X, labeled.astype(">i4"))
    label, _ = run(model, X)
    assert_array_equal(label, model.predict(X))


def test_trees_too_deep_for_onnxruntime_give_a_warning():
    with pytest.warns(UserWarning, match="a tree of depth 5,001: onnxruntime may crash"):
        to_onnx(chain(5001))


def test_no_root_is_mistaken_for_a_leaf():
    # The leaf and the internal child of this root would both be number 1 when counted from 0.
    leaf = (-1, 0.0, -1, 0.2, 1.0)
    deep = [(0, 0.0, 1, 0.5, 1.0), leaf, (0, 1.0, 3, 0.5, 1.0), leaf, (-1, 0.0, -1, 0.9, 1.0)]
    model = PUExtraTreesClassifier(prior=0.5).fit([[0.0], [1.0]], [0, 1])
    for trees in ([[leaf], deep], [deep, deep], [deep, [leaf], deep, [leaf], deep]):
        model = with_trees(model, *trees)
        node = to_onnx(model).graph.node[0]
        attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        for root in attributes["tree_roots"]:
            children = [attributes[f"nodes_{way}nodeids"][root] for way in ("true", "false")]
            assert children[0] != children[1]
        assert_same_predictions(model, np.array([[-1.0], [0.5], [2.0]]))


@pytest.mark.parametrize("n", [0, 1, 1000])
def test_any_number_of_rows(n):
    model = fitted("extra-trees", n_estimators=100)
    label, probabilities = run(model, edge_rows(model, np.dtype(float), n=n))
    assert label.shape == (n,)
    assert probabilities.shape == (n, 2)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
@pytest.mark.parametrize("voting", VOTINGS)
def test_calibrated_models(voting, method, dtype):
    X, labeled = data()
    forest = PURandomForestClassifier(
        prior=0.4, voting=voting, oob_score=True, min_samples_leaf=5, random_state=0
    )
    model = PUCalibratedClassifier(forest, method=method, cv="oob").fit(X, labeled)
    rows = edge_rows(model.estimator_, np.dtype(dtype))
    assert not np.array_equal(model.predict_proba(rows), model.estimator_.predict_proba(rows))
    assert_same_predictions(model, rows)


def test_calibrated_by_a_constant():
    X, labeled = data()
    forest = fitted("decision-tree", "soft", max_leaf_nodes=2)
    with pytest.warns(UserWarning, match="labeled rows do not score higher"):
        model = PUCalibratedClassifier(forest, method="isotonic", cv="prefit").fit(
            np.zeros_like(X), labeled
        )
    assert len(model.calibrator_.X_thresholds_) == 1
    assert_same_predictions(model, edge_rows(forest, np.dtype(float), n=50))


def test_models_with_another_prior():
    model = fitted("random-forest", "soft").with_prior(0.2)
    assert_same_predictions(model, edge_rows(model, np.dtype(float)))


def test_metadata_and_file(tmp_path):
    model = fitted("random-forest", coding="strings")
    with_names(model, "abcdef")
    path = tmp_path / "forest.onnx"
    made = to_onnx(model, path)
    assert onnx.load(path) == made
    props = {prop.key: prop.value for prop in made.metadata_props}
    assert props["puforest_version"] == puforest.__version__ == made.producer_version
    assert props["estimator"] == "PURandomForestClassifier"
    assert json.loads(props["feature_names"]) == list("abcdef")
    assert json.loads(props["classes"]) == ["unknown", "yes"]
    assert float(props["prior"]) == 0.4
    assert props["voting"] == "hard"


def test_invalid_parameters_are_rejected():
    with pytest.raises(ValueError, match=r"dtype must be one of .*got 'float16'"):
        to_onnx(fitted("extra-tree"), dtype="float16")
    model = fitted("extra-tree")
    model._record = replace(model._record, classes=np.array([0j, 1j]))
    with pytest.raises(TypeError, match="classes that are numbers, strings or booleans"):
        to_onnx(model)
