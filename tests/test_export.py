"""Behavior that all exports share: rejected models, parameters and optional imports."""

import re
import subprocess
import sys
from dataclasses import replace
from functools import wraps
from pathlib import Path

import pytest
from export_cases import data, fitted
from numpy.testing import assert_array_equal
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from puforest import PUExtraTreeClassifier, PUExtraTreesClassifier, export
from puforest.calibration import PUCalibratedClassifier
from puforest.export import dot_lines, text_lines, to_dot, to_onnx, to_text

OF_A_TABLE = ("shap_explanation", "to_matrix")


def of_the_model(name):
    """Return a function of the model only, with the same name."""
    function = getattr(export, name)
    if name not in OF_A_TABLE:
        return function
    return wraps(function)(lambda model: function(model, data()[0]))


FUNCTIONS = [of_the_model(name) for name in export.__all__]
OF_ONE_TREE = (to_text, to_dot, text_lines, dot_lines)
EACH = pytest.mark.parametrize("function", FUNCTIONS, ids=export.__all__)


@EACH
def test_unfitted_models_are_rejected(function):
    for model in (PUExtraTreesClassifier(), PUExtraTreeClassifier(prior=0.5)):
        with pytest.raises(NotFittedError, match="not fitted"):
            function(model)


@EACH
def test_other_objects_are_rejected(function):
    forest = fitted("extra-tree")
    others = [
        make_pipeline(StandardScaler(), forest),
        RandomForestClassifier(n_estimators=2),
        PUExtraTreesClassifier,
        "forest.onnx",
        None,
    ]
    for other in others:
        with pytest.raises(TypeError, match=f"{function.__name__} requires a fitted puforest"):
            function(other)


def test_only_onnx_exports_calibration():
    X, labeled = data()
    model = PUCalibratedClassifier(fitted("extra-tree"), cv="prefit")
    with pytest.raises(NotFittedError):
        to_onnx(model)
    model.fit(X, labeled)
    for function in FUNCTIONS:
        if function.__name__ not in ("to_onnx", "to_matrix"):
            with pytest.raises(TypeError, match=r"got PUCalibratedClassifier: pass its estimator_"):
                function(model)
    other = RandomForestClassifier(n_estimators=2, random_state=0).fit(abs(X) > 1, labeled)
    model._record = replace(model._record, estimator=other)
    with pytest.raises(TypeError, match="got RandomForestClassifier"):
        to_onnx(model)


@EACH
def test_invalid_voting_is_rejected(function):
    model = fitted("extra-tree")
    model.voting = "loud"
    if function in OF_ONE_TREE:
        assert "posterior" in "".join(function(model))
    elif function.__name__ == "to_matrix":
        assert_array_equal(function(model), data()[0])
    else:
        with pytest.raises(ValueError, match="voting must be one of"):
            function(model)


@pytest.mark.parametrize("function", OF_ONE_TREE)
@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"tree": 30}, ValueError, "tree must be the index of a tree, 0 to 29, got 30"),
        ({"tree": -1}, ValueError, "tree must be at least 0"),
        ({"tree": 1.0}, TypeError, "tree must be an integer"),
        ({"max_depth": -1}, ValueError, "max_depth must be at least 0"),
        ({"digits": 0}, ValueError, "digits must be at least 1"),
        ({"feature_names": ["a", "b"]}, ValueError, "must name the 6 features of the model, got 2"),
        ({"feature_names": "abcdef"}, TypeError, "must be a list of 6 strings, got 'abcdef'"),
        ({"feature_names": range(6)}, TypeError, r"must be strings, got 0: use str\(\) on it"),
    ],
)
def test_invalid_parameters_are_rejected(function, params, error, message):
    with pytest.raises(error, match=message):
        function(fitted("extra-trees"), **params)


def test_optional_packages_are_imported_lazily():
    code = (
        "import sys, puforest, puforest.export\n"
        "assert not {'onnx', 'onnxruntime', 'treelite', 'shap'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    ("name", "function"),
    [("onnx", "to_onnx"), ("treelite", "to_treelite"), ("shap", "shap_explanation")],
)
def test_missing_packages_are_reported(name, function, monkeypatch):
    for module in [name, *(m for m in sys.modules if m.startswith(f"{name}."))]:
        monkeypatch.setitem(sys.modules, module, None)
    message = rf"{function} requires {name}: install it with pip install 'puforest\[export\]'"
    with pytest.raises(ImportError, match=message):
        of_the_model(function)(fitted("extra-tree"))


def test_examples_in_the_docs_run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = (Path(__file__).parents[1] / "docs" / "exports.md").read_text()
    names = {}
    for code in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        exec(code, names)
    printed = capsys.readouterr().out
    assert printed[printed.index("PURandomForestClassifier") :] in page
    X, forest = names["X"], names["forest"]
    assert_array_equal(names["label"], forest.predict(X))
    assert (tmp_path / "tree.dot").read_text().startswith("digraph")
