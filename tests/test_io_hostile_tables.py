"""Damaged and malicious categories, sides of missing values and kinds of columns are rejected."""

import json

import numpy as np
import pytest
from fuzz.model_files import content_of, packed, unpacked
from mixed_forests import mixed_model

import puforest
from puforest.io._parameters import checked


@pytest.fixture(scope="module")
def content():
    return content_of(mixed_model())


def assert_rejected(content, change, message, folder):
    header, arrays = unpacked(content)
    change(arrays)
    path = folder / "bad.puf"
    path.write_bytes(packed(header, arrays))
    for mmap in (False, True):
        with pytest.raises(ValueError, match=f"is not a puforest model: .*({message})"):
            puforest.load(path, mmap=mmap)


def categorical(arrays):
    """Return a node that lists two or more categories, and the start of its list."""
    node = int(np.flatnonzero(arrays["n_categories"] > 1)[0])
    return node, int(arrays["n_categories"][:node].sum())


def numeric(arrays):
    return int(np.flatnonzero((arrays["feature"] >= 0) & (arrays["n_categories"] == 0))[0])


def leaf(arrays):
    return int(np.flatnonzero(arrays["feature"] < 0)[0])


def set_item(name, at, value):
    def change(arrays):
        arrays[name][at(arrays)] = value

    return change


def two_equal(arrays):
    _, start = categorical(arrays)
    arrays["categories"][start + 1] = arrays["categories"][start]


def descending(arrays):
    _, start = categorical(arrays)
    arrays["categories"][[start, start + 1]] = arrays["categories"][[start + 1, start]]


def unknown_category(arrays):
    node, start = categorical(arrays)
    arrays["categories"][start + arrays["n_categories"][node] - 1] = 500


def empty_list(arrays):
    node, start = categorical(arrays)
    n = arrays["n_categories"][node]
    arrays["categories"] = np.delete(arrays["categories"], slice(start, start + n))
    arrays["n_categories"][node] = 0


def list_of_a_number(arrays):
    node = numeric(arrays)
    arrays["categories"] = np.insert(arrays["categories"], arrays["n_categories"][:node].sum(), 0)
    arrays["n_categories"][node] = 1
    arrays["threshold"][node] = 0


def infinity_with_missing_values_left(arrays):
    node = numeric(arrays)
    arrays["threshold"][node], arrays["missing_left"][node] = np.inf, 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (two_equal, "listed for a node are not ascending"),
        (descending, "listed for a node are not ascending"),
        (unknown_category, "a listed category is not one of its column"),
        (empty_list, "n_categories does not match the kind of the feature"),
        (list_of_a_number, "n_categories does not match the kind of the feature"),
        (infinity_with_missing_values_left, "a threshold is not finite"),
        (set_item("threshold", numeric, -np.inf), "a threshold is not finite"),
        (set_item("threshold", numeric, np.nan), "a threshold is not finite"),
        (set_item("threshold", lambda a: categorical(a)[0], 1.0), "categorical feature is not 0"),
        (set_item("missing_left", numeric, 2), "missing_left is not 0 or 1"),
        (set_item("missing_left", leaf, 1), "missing_left of a leaf is not 0"),
        (set_item("n_categories", leaf, 1), "n_categories of a leaf is not 0"),
        (set_item("n_categories", lambda a: categorical(a)[0], -1), "n_categories is negative"),
        (set_item("n_categories", lambda a: categorical(a)[0], 2**31 - 1), "differ in length"),
        (lambda a: a.update(categories=a["categories"][:-1].copy()), "differ in length"),
        (lambda a: a.update(categories=np.append(a["categories"], a["categories"])), "in length"),
        (lambda a: a.update(categories=a["categories"].astype("i4")), "not of dtype uint16"),
        (lambda a: a.update(missing_left=a["missing_left"][1:].copy()), "differ in length"),
        (lambda a: a.pop("categories"), "it has no array 'categories'"),
        (lambda a: a.pop("columns"), "does not match the kind of the feature"),
    ],
)
def test_invalid_arrays_are_rejected(change, message, content, tmp_path):
    assert_rejected(content, change, message, tmp_path)


def entry(feature=0, kind="category", **more):
    return {"feature": feature, "kind": kind, **more}


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({}, "'columns' is not a list of columns"),
        ([], "'columns' is not a list of columns"),
        ([1], r"columns\[0\] is not an object"),
        ([entry(8, categories=[])], r"columns\[0\].feature is 8, not an integer from 0 to 7"),
        ([entry(-1, categories=[])], "feature is -1, not an integer"),
        ([entry(2.0, categories=[])], "feature is 2.0, not an integer"),
        ([entry(2, "datetime"), entry(2, "boolean")], r"\[1\].feature is 2, not .* from 3 to 7"),
        ([entry(2, "datetime"), entry(1, "boolean")], r"\[1\].feature is 1, not .* from 3 to 7"),
        ([entry(kind="number")], "kind is 'number', not one of"),
        ([entry(kind=None)], "kind is not a string"),
        ([entry(kind="boolean", categories=[])], "unknown field 'categories'"),
        ([entry()], "has no 'categories'"),
        ([entry(categories=[], more=1)], "unknown field 'more'"),
        ([entry(categories="ab")], "categories of column 0 are not a list"),
        ([entry(categories=["a", None])], "column 0 has the category None"),
        ([entry(categories=[["a"]])], r"column 0 has the category \['a'\]"),
        ([entry(categories=[1, 10**309])], "column 0 has the category a huge number"),
        ([entry(categories=["a", 1])], "column 0 has categories of several types"),
        ([entry(categories=[False, 1])], "column 0 has categories of several types"),
        ([entry(categories=["a", "a"])], "of column 0 are not in ascending order"),
        ([entry(categories=["b", "a"])], "of column 0 are not in ascending order"),
        ([entry(categories=[1, 1.0])], "of column 0 are not in ascending order"),
        ([entry(categories=list(range(65_536)))], "has 65536 categories, more than 65535"),
        (b'[{"feature":0,"kind":"category","categories":[NaN]}]', "'columns' contains NaN"),
        (b'[{"feature":0,"kind":"category","categories":[1e999]}]', "has the category inf"),
        (b'[{"feature":0,"feature":0}]', "'columns' has a duplicate field"),
        (b'["\xff"]', "'columns' is not UTF-8"),
        (b"[1", "'columns' is not JSON"),
        (b"[" * 100_000, "'columns' is nested too deeply"),
        (b"[" + b"9" * 5000 + b"]", "Exceeds the limit"),
    ],
    ids=lambda value: value if isinstance(value, str) else "columns",
)
def test_invalid_columns_are_rejected(columns, message, content, tmp_path):
    raw = columns if isinstance(columns, bytes) else json.dumps(columns).encode()
    changed = np.frombuffer(raw, dtype=np.uint8)
    assert_rejected(content, lambda a: a.update(columns=changed), message, tmp_path)


def test_columns_of_another_dtype_are_rejected(content, tmp_path):
    def change(arrays):
        arrays["columns"] = np.zeros(3)

    assert_rejected(content, change, "'columns' is not of type uint8", tmp_path)


@pytest.mark.parametrize(
    ("name", "stored", "message"),
    [
        ("categorical_features", {"indices": [8]}, "has the index 8, but X has the columns 0 to 7"),
        ("categorical_features", {"names": ["none"]}, "has the name 'none', which is not a column"),
        ("categorical_features", {"mask": [0], "length": 5}, "each of the 8 features of X, got 5"),
        ("monotonic_cst", {"by_name": {"none": 1}}, "has the key 'none', which is not a column"),
        ("monotonic_cst", {"by_name": {"odor": 1}}, "constrains X.'odor'., which is categorical"),
        (
            "monotonic_cst",
            {"increasing": [0], "decreasing": [], "length": 5},
            "each of the 8 features of X, got 5",
        ),
    ],
)
def test_parameters_of_the_fit_must_match_the_columns(name, stored, message, content, tmp_path):
    header, arrays = unpacked(content)
    header["model"]["fitted_parameters"][name] = stored
    (tmp_path / "bad.puf").write_bytes(packed(header, arrays))
    with pytest.raises(ValueError, match=f"is not a puforest model: .*{message}"):
        puforest.load(tmp_path / "bad.puf")


@pytest.mark.parametrize(
    ("name", "stored", "message"),
    [
        ("categorical_features", "from_type", "categorical_features is not an object"),
        ("categorical_features", [1], "categorical_features is not an object"),
        ("categorical_features", {}, "has no 'indices'"),
        ("categorical_features", {"indices": [-1]}, "indices is not a list of integers from 0"),
        ("categorical_features", {"indices": [True]}, "indices is not a list of integers from 0"),
        ("categorical_features", {"indices": [2**24]}, "indices is not a list of integers from 0"),
        ("categorical_features", {"indices": 1}, "indices is not a list of integers from 0"),
        ("categorical_features", {"indices": [1], "more": 1}, "unknown field 'more'"),
        ("categorical_features", {"names": [1]}, "names is not a list of strings"),
        ("categorical_features", {"names": "ab"}, "names is not a list of strings"),
        ("categorical_features", {"mask": [0]}, "has no 'length'"),
        ("categorical_features", {"mask": [2], "length": 2}, "mask is not a list .* from 0 to 1"),
        ("categorical_features", {"mask": [0], "length": 2**40}, "length is 1099511627776"),
        ("monotonic_cst", "up", "monotonic_cst is not an object"),
        ("monotonic_cst", {"by_name": {"a": 2}}, "a is 2, not an integer from -1 to 1"),
        ("monotonic_cst", {"by_name": []}, "by_name is not an object"),
        ("monotonic_cst", {"increasing": [0], "length": 1}, "has no 'decreasing'"),
        (
            "monotonic_cst",
            {"increasing": [0], "decreasing": [0], "length": 1},
            "monotonic_cst has a feature twice",
        ),
        (
            "monotonic_cst",
            {"increasing": [3], "decreasing": [], "length": 3},
            "increasing is not a list of integers from 0 to 2",
        ),
    ],
)
def test_invalid_parameters_are_rejected(name, stored, message):
    with pytest.raises(ValueError, match=message):
        checked(name, stored)
