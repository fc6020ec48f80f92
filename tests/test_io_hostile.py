"""Damaged and malicious model files are rejected with a message that names the problem."""

import json
import os
import re

import numpy as np
import pytest
from feature_names import with_names
from fuzz.model_files import packed, unpacked
from safetensors.numpy import save

from puforest import PUDecisionTreeClassifier, PURandomForestClassifier
from puforest._model import NODE_FIELDS
from puforest.calibration import PUCalibratedClassifier
from puforest.io import load_model
from puforest.prior import PriorEstimatedWarning


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("models")


def content_of(model, folder):
    model.save(folder / "good.puf")
    return (folder / "good.puf").read_bytes()


@pytest.fixture(scope="module")
def forest(blobs, folder):
    """Return a file with all optional parts of a forest."""
    X, labeled, _ = blobs
    model = PURandomForestClassifier(n_estimators=20, oob_score=True, max_depth=5, random_state=0)
    with pytest.warns(PriorEstimatedWarning):
        model.fit(X, labeled)
    with_names(model, "abcdef")
    return content_of(model, folder)


@pytest.fixture(scope="module")
def tree(blobs, folder):
    X, labeled, _ = blobs
    model = PUDecisionTreeClassifier(0.4, max_depth=4, voting="soft").fit(X, labeled)
    return content_of(model, folder)


@pytest.fixture(scope="module")
def calibrated(blobs, folder):
    X, labeled, _ = blobs
    model = PUCalibratedClassifier(PUDecisionTreeClassifier(0.4, max_depth=4, voting="soft"))
    methods = ("sigmoid", "isotonic")
    return {m: content_of(model.set_params(method=m).fit(X, labeled), folder) for m in methods}


def assert_rejected(content, message, folder):
    path = folder / "bad.puf"
    path.write_bytes(content)
    expected = f"{re.escape(str(path))} is not a puforest model: .*{message}"
    for mmap in (True, False):
        with pytest.raises(ValueError, match=expected):
            load_model(path, mmap=mmap)


def assert_rejected_after(change, content, message, folder):
    header, arrays = unpacked(content)
    change(header, arrays)
    assert_rejected(packed(header, arrays), message, folder)


# The container


def entry(**fields):
    return {"a": {"dtype": "F64", "shape": [2], "data_offsets": [0, 16], **fields}}


def raw(text, body=b"", length=None):
    if not isinstance(text, bytes):
        text = json.dumps(text).encode()
        text += b" " * (-len(text) % 8)
    return (len(text) if length is None else length).to_bytes(8, "little") + text + body


def about(entries):
    return {"__metadata__": {"puforest": "{}"}, **entries}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "shorter than 8 bytes"),
        (b"\x80\x04\x95", "shorter than 8 bytes"),
        (raw({}, length=2**63), "its header has 9223372036854775808 bytes, more than 1048576"),
        (raw({}, length=2**20), "has 1048576 bytes, but the file has only 16"),
        (raw(b"[" * 5), "not a JSON object"),
        (raw(b'{"a"}'), "not JSON"),
        (raw(b'{"a": "\xff"}'), "not UTF-8"),
        (raw(b'{"a": NaN}'), "contains NaN"),
        (raw(b'{"a": 1, "a": 1}'), "has a duplicate field"),
        (raw(b'{"a": ' + b"[" * 200_000 + b"]" * 200_000 + b"}"), "nested too deeply"),
        (raw({}), "no metadata 'puforest'"),
        (raw({"__metadata__": {"format": "pt"}}), "no metadata 'puforest'"),
        (raw({"__metadata__": {"puforest": 1}}), "puforest is not a string"),
        (raw({"__metadata__": {"puforest": "{}", "a": ""}}), "unknown field 'a'"),
        (raw(about({"a": 1})), "array 'a' is not an object"),
        (raw(about(entry(more=1)), bytes(16)), "unknown field 'more'"),
        (raw(about(entry(dtype="F32")), bytes(16)), "dtype is 'F32', not one of"),
        (raw(about(entry(shape=[1, 2])), bytes(16)), "shape is not a list of 1"),
        (raw(about(entry(shape=[-2])), bytes(16)), "shape is not a list of 1"),
        (raw(about(entry(shape=[10**30])), bytes(16)), "items in 16 bytes"),
        (raw(about(entry(data_offsets=[0])), bytes(16)), "data_offsets is not a list of 2"),
        (raw(about(entry(data_offsets=[True, 17])), bytes(16)), "data_offsets is not a list of 2"),
        (raw(about(entry(data_offsets=[16, 0])), bytes(16)), "items in -16 bytes"),
        (
            raw(about(entry(data_offsets=[16, 32])), bytes(32)),
            "does not start where the previous one ends",
        ),
        (raw(about(entry()), bytes(8)), "truncated"),
        (raw(about(entry()), bytes(20)), "the last 4 bytes belong to no array"),
    ],
    ids=lambda value: value if isinstance(value, str) else "file",
)
def test_malformed_containers_are_rejected(content, message, folder):
    assert_rejected(content, message, folder)


def test_misaligned_arrays_are_rejected(folder):
    text = json.dumps(about(entry())).encode()
    text += b" " * (-len(text) % 8 + 4)
    assert_rejected(raw(text, bytes(16)), "not aligned to its item size", folder)


def test_every_truncated_file_is_rejected(tree, folder):
    for n in range(0, len(tree), 7):
        assert_rejected(tree[:n], "", folder)
    assert_rejected(tree + b"\0", "the last 1 bytes belong to no array", folder)


def test_directories_and_pipes_are_rejected(folder):
    with pytest.raises(ValueError, match="not a regular file"):
        load_model(folder)
    os.mkfifo(folder / "pipe")
    with pytest.raises(ValueError, match="not a regular file"):
        load_model(folder / "pipe")


def test_other_safetensors_files_are_rejected(folder):
    assert_rejected(save({"weight": np.zeros((2, 2))}), "no metadata 'puforest'", folder)


def test_a_newer_format_asks_to_update(tree, folder):
    def newer(header, arrays):
        header["format_version"] = 4

    message = (
        "format version 4, and this version of puforest reads versions up to 3: upgrade puforest"
    )
    assert_rejected_after(newer, tree, message, folder)


# The header


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("format_version", "1", "format_version is '1', not an integer"),
        ("format_version", True, "format_version is True, not an integer"),
        ("format_version", 0, "format_version is 0, not an integer"),
        ("puforest_version", None, "puforest_version is not a string"),
        ("more", 1, "unknown field 'more'"),
        ("model", [], "model is not an object"),
        ("model.more", 1, "unknown field 'more'"),
        ("model.class", "os.system", "class is 'os.system', not one of"),
        ("model.class", "PUDecisionTreeClassifier", "parameters has the unknown field"),
        ("model.n_features", 0, "n_features is 0, not an integer from 1"),
        ("model.n_features", 10**9, "n_features is 1000000000, not an integer"),
        ("model.n_features", 10**400, "n_features is a huge number"),
        ("model.n_features", 6.0, "n_features is 6.0, not an integer"),
        ("model.n_features", 7, "does not have one number per feature"),
        ("model.n_features", 2, "beyond the 2 of X"),
        ("model.prior", 0.9, "w_p of a root is not 0.9"),
        ("model.prior", 1.0, "prior is 1.0, not a number"),
        ("model.prior", "0.4", "prior is '0.4', not a number"),
        ("model.prior", 10**400, "prior is a huge number"),
        ("model.fitted_parameters.risk", "pnu", "risk must be one of"),
        ("model.fitted_parameters.loss", "none", "loss must be one of"),
        ("model.fitted_parameters.scenario", None, "scenario must be one of"),
        ("model.masses.labeled_u", -0.1, "labeled_u is -0.1, not a number from 0 to 1"),
        ("model.masses.unlabeled_u", 2, "unlabeled_u is 2, not a number from 0 to 1"),
        ("model.rows.labeled", -1, "labeled is -1, not an integer"),
        ("model.rows.more", 1, "unknown field 'more'"),
        ("model.seed", -1, "seed is -1"),
        ("model.fitted_parameters.bootstrap", 1, "bootstrap must be True or False"),
        ("model.fitted_parameters.more", 1, "unknown field 'more'"),
        ("model.out_of_bag.risk", "0", "risk is '0', not a number"),
        ("model.missing_values.added", "NA", "added is not a list of strings"),
        ("model.missing_values.removed", [1], "removed is not a list of strings"),
        ("model.missing_values", None, "missing_values is not an object"),
        ("model.out_of_bag", None, "a curve without out-of-bag predictions"),
        ("model.classes.dtype", "O", "unknown dtype 'O'"),
        ("model.classes.dtype", "U9999", "not strings"),
        ("model.classes.dtype", "bool", "classes are not of dtype bool"),
        ("model.classes.values", [0, 1, 2], "not a list of two"),
        ("model.classes.values", [1, 1], "not two values in ascending order"),
        ("model.classes.values", [1, 0], "not two values in ascending order"),
        ("model.classes.values", [0, 1.5], "classes are not of dtype int64"),
        ("model.classes.values", [0, 2**63], "classes are not of dtype int64"),
        ("model.classes.values", [0, True], "classes are not of dtype int64"),
        ("model.classes", {"dtype": "U2", "values": ["a", "bcd"]}, "longer than 2 characters"),
        ("model.classes", {"dtype": "U2000", "values": ["a", "b"]}, "longer than 1024 characters"),
        (
            "model.classes",
            {"dtype": "U2", "values": ["a", "a\0"]},
            "not two values in ascending order",
        ),
        ("model.classes", {"dtype": "float16", "values": [0.1, 1.0]}, "not of dtype float16"),
        ("model.classes", {"dtype": "object", "values": [0, 1]}, "not strings"),
        ("model.prior_estimate", 1, "prior_estimate is not an object"),
        ("model.prior_estimate", None, "unknown array 'evidence"),
        ("model.prior_estimate.method", "guess", "evidence is not that of 'bbe'"),
        ("model.prior_estimate.method", 3, "method is not a string"),
        ("model.prior_estimate.kind", "guess", "kind is 'guess', not one of"),
        ("model.prior_estimate.upper", 2, "upper is 2, not a number from"),
        ("model.prior_estimate.reason", None, "reason is not a string"),
        ("model.parameters.prior", {"estimate": {}}, "has no 'low'"),
        ("model.parameters.prior", {"estimate": {}, "more": 1}, "has no 'low'|unknown field"),
        ("model.prior_estimate.low", 0.99, "value is .*, not a number from 0.99"),
        ("model.prior_estimate.more", 1, "unknown field 'more'"),
        ("model.prior_estimate.evidence", {"quotient": 1.0}, "evidence is not the number"),
        ("model.prior_estimate.evidence", {"chosen": "x"}, "chosen is 'x', not a number"),
        ("model.prior_estimate.evidence", {"chosen": -1.0}, "'chosen' is not a threshold"),
        ("model.parameters.n_estimators", 0, "n_estimators must be at least 1, got 0"),
        ("model.parameters.n_estimators", "9", "n_estimators must be an integer"),
        ("model.parameters.voting", "none", "voting must be one of"),
        ("model.parameters.prior", 7, "prior must be a number between 0 and 1"),
        ("model.parameters.n_jobs", 0, "n_jobs must be the number of threads"),
        ("model.parameters.max_features", [1], "max_features is a list"),
        ("model.parameters.max_depth", {"float": "1e3"}, "float is '1e3', not one of"),
        ("model.parameters.max_depth", {"float": "inf", "a": 1}, "unknown field 'a'"),
        ("model.parameters.random_state", 2**32, "random_state must be None or from 0"),
        ("model.parameters.bootstrap", None, "bootstrap must be True or False"),
        ("model.parameters.n_thresholds", 1, "unknown field 'n_thresholds'"),
        ("calibration", {}, "calibration has no 'estimator'"),
    ],
)
def test_invalid_headers_are_rejected(field, value, message, forest, folder):
    *path, last = field.split(".")

    def change(header, arrays):
        if value == 2 and last == "n_features":
            del arrays["feature_names"], arrays["feature_names_end"]
        for key in path:
            header = header[key]
        header[last] = value

    assert_rejected_after(change, forest, message, folder)


def fields_of(header, prefix=()):
    for key, value in header.items():
        yield (*prefix, key)
        if isinstance(value, dict):
            yield from fields_of(value, (*prefix, key))


def test_every_field_is_required(forest, calibrated, folder):
    for content in (forest, calibrated["sigmoid"]):
        for *path, last in fields_of(unpacked(content)[0]):
            if last == "digest":  # optional, see test_row_digest.py
                continue

            def remove(header, arrays, path=path, last=last):
                for key in path:
                    header = header[key]
                del header[last]

            assert_rejected_after(remove, content, "", folder)


def test_every_array_is_required_and_others_are_rejected(forest, calibrated, folder):
    for content in (forest, calibrated["isotonic"]):
        for name in unpacked(content)[1]:
            assert_rejected_after(lambda header, arrays, n=name: arrays.pop(n), content, "", folder)

        def add(header, arrays):
            arrays["more"] = np.zeros(1)

        assert_rejected_after(add, content, "unknown array 'more'", folder)


# The arrays


def set_items(name, at, value):
    def change(header, arrays):
        array = arrays[name]
        chosen = at(arrays) if callable(at) else at
        array[chosen] = value(arrays, chosen) if callable(value) else value

    return change


def inner(arrays):
    return int(np.flatnonzero(arrays["feature"] >= 0)[1])


def leaf(arrays):
    return int(np.flatnonzero(arrays["feature"] < 0)[0])


def size(arrays, at):
    return len(arrays["feature"])


def two_parents(header, arrays):
    """Give a node the children of another one."""
    left = arrays["left"]
    a, b = np.flatnonzero(arrays["feature"] >= 0)[1:3]
    left[a] = left[b]


def one_more_leaf(header, arrays):
    last = leaf(arrays)
    arrays |= {f.name: np.append(arrays[f.name], arrays[f.name][last]) for f in NODE_FIELDS}
    arrays["offset"][-1] += 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (set_items("offset", 0, 1), "offset does not go from 0"),
        (set_items("offset", -1, 10**15), "offset does not go from 0"),
        (lambda h, a: a.update(offset=a["offset"][[0]]), "it has no tree"),
        (lambda h, a: a.update(offset=a["offset"][[0, 1, 1, -1]]), "offset is not ascending"),
        (one_more_leaf, "nodes and their children do not add up"),
        (set_items("offset", 2, -(2**63)), "offset is not ascending"),
        (set_items("feature", inner, -2), "feature has a value below -1"),
        (set_items("feature", inner, 6), "beyond the 6 of X"),
        (set_items("feature", inner, -1), "threshold of a leaf is not 0"),
        (set_items("feature", leaf, 0), "children do not come after their parents"),
        (set_items("left", leaf, 3), "left of a leaf is not -1"),
        (set_items("left", inner, 0), "children do not come after their parents"),
        (set_items("left", inner, lambda a, i: i), "children do not come after their parents"),
        (set_items("left", inner, -(2**31)), "children do not come after their parents"),
        (set_items("left", inner, size), "children are outside their tree"),
        (set_items("left", inner, 2**31 - 1), "children are outside their tree"),
        (two_parents, "a node has no parent, and another one has two"),
        (set_items("threshold", inner, np.nan), "a threshold is not finite"),
        (set_items("threshold", inner, -np.inf), "a threshold is not finite"),
        (set_items("threshold", leaf, 1.0), "threshold of a leaf is not 0"),
        (set_items("w_p", leaf, np.nan), "w_p is negative or not a number"),
        (set_items("w_p", leaf, -1e-9), "w_p is negative"),
        (set_items("w_u", leaf, np.inf), "w_u is not between 0 and 1"),
        (set_items("w_u", 0, 0.5), "w_u of a root is not 1"),
        (set_items("w_u", leaf, 0.9), "w_u of children does not add up"),
        (set_items("n_labeled", leaf, -1), "n_labeled is negative"),
        (set_items("n_unlabeled", leaf, 2**31 - 1), "n_unlabeled of children does not add up"),
        (lambda h, a: a.update(w_p=a["w_p"][:-1].copy()), "'w_p' and 'feature' differ in length"),
        (lambda h, a: a.update(left=a["left"].astype("i8")), "'left' is not of dtype int32"),
        (lambda h, a: a.update(feature=a["feature"][:0]), "differ in length"),
        (set_items("oob_decision_function", 3, 1.5), "not between -1 and 1"),
        (
            lambda h, a: a.update(oob_decision_function=np.zeros(3, dtype="i4")),
            "'oob_decision_function' is not of type float64",
        ),
        (set_items("feature_names", 2, 255), "feature_names is not UTF-8"),
        (set_items("feature_names_end", 2, 9), "feature_names_end is not ascending"),
        (set_items("feature_names_end", 0, -1), "feature_names_end is outside feature_names"),
        (set_items("feature_names_end", -1, 7), "feature_names_end is outside feature_names"),
        (lambda h, a: a.pop("feature_names"), "feature_names_end do not match"),
        (
            lambda h, a: a.update({"evidence.quotient": np.zeros(3, dtype="i4")}),
            "'evidence.quotient' is not of type float64",
        ),
        (
            lambda h, a: a.update({"evidence.quotient": np.zeros(3)}),
            "evidence differ in length",
        ),
        (
            set_items("evidence.thresholds", 1, -1.0),
            "evidence are not increasing",
        ),
    ],
)
def test_invalid_arrays_are_rejected(change, message, forest, folder):
    assert_rejected_after(change, forest, message, folder)


def test_a_tree_file_has_one_tree_with_consistent_row_counts(tree, forest, folder):
    def other_rows(header, arrays):
        header["model"]["rows"]["labeled"] += 1

    def many_trees(header, arrays):
        _, others = unpacked(forest)
        others = {n: a for n, a in others.items() if n in arrays}
        arrays.update(others)
        header["model"]["prior"] = unpacked(forest)[0]["model"]["prior"]

    assert_rejected_after(other_rows, tree, "rows are not those of the root", folder)
    assert_rejected_after(many_trees, tree, "PUDecisionTreeClassifier has one tree", folder)


@pytest.mark.parametrize(
    ("method", "change", "message"),
    [
        ("sigmoid", lambda c, a: c.update(cv="none"), "cv is 'none'"),
        ("sigmoid", lambda c, a: c.update(cv=1), "cv is 1"),
        ("sigmoid", lambda c, a: c.update(cv=[2]), r"cv is \[2\]"),
        ("sigmoid", lambda c, a: c.update(method="none"), "method is 'none', not one of"),
        ("sigmoid", lambda c, a: c.update(fitted_prior=0), "fitted_prior is 0, not a number"),
        ("sigmoid", lambda c, a: c.update(scenario="none"), "scenario must be one of"),
        ("sigmoid", lambda c, a: c["estimator"].update({"class": "int"}), "class is 'int'"),
        ("sigmoid", lambda c, a: c["calibrator"].update(more=1), "a slope and an intercept"),
        ("sigmoid", lambda c, a: c["calibrator"].update(slope=None), "slope is None"),
        ("isotonic", lambda c, a: c["calibrator"].update(slope=1), "unknown field 'slope'"),
        ("isotonic", lambda c, a: a.pop("calibrator_scores"), "do not go together"),
        ("isotonic", set_items("calibrator_scores", 0, np.nan), "scores are not finite"),
        ("isotonic", set_items("calibrator_scores", 0, 1.5), "do not ascend"),
        ("isotonic", set_items("calibrator_probabilities", -1, 1.5), "not between 0 and 1"),
        ("isotonic", set_items("calibrator_probabilities", 0, 0.99), "do not ascend"),
    ],
)
def test_invalid_calibrations_are_rejected(method, change, message, calibrated, folder):
    def change_calibration(header, arrays):
        change(header["calibration"], arrays)

    assert_rejected_after(change_calibration, calibrated[method], message, folder)
