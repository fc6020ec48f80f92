"""Warnings are attributed to the code of the user."""

import inspect

import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from puforest import PUDecisionTreeClassifier
from puforest._warnings import warn
from puforest.prior import PriorEstimatedWarning


def called_from(module, function):
    """A function of the given module that calls another one."""
    names = {"__name__": module, "function": function}
    exec("def call(*args):\n    function(*args)", names)
    return names["call"]


def next_line():
    return inspect.currentframe().f_back.f_lineno + 1


@pytest.mark.parametrize(
    "modules", [[], ["puforest.a"], ["puforest", "sklearn.b", "joblib.c.d", "puforest.e"]]
)
def test_warning_names_the_first_line_outside_the_package(modules):
    call = warn
    for module in modules:
        call = called_from(module, call)
    line = next_line() + 1
    with pytest.warns(UserWarning, match="mind the gap") as caught:
        call("mind the gap")
    assert (caught[0].filename, caught[0].lineno) == (__file__, line)


def test_similar_names_belong_to_the_user():
    with pytest.warns(UserWarning, match="mind") as caught:
        called_from("puforest_extension.a", warn)("mind")
    assert caught[0].filename == "<string>"


def test_category():
    with pytest.warns(RuntimeWarning, match="mind"):
        warn("mind", RuntimeWarning)
    with pytest.warns(RuntimeWarning, match="mind"):
        warn(RuntimeWarning("mind"))


@pytest.mark.parametrize(
    "fit",
    [
        PUDecisionTreeClassifier.fit,
        lambda tree, X, y: clone(tree).fit(X, y),
        lambda tree, X, y: make_pipeline(StandardScaler(), tree).fit(X, y),
        lambda tree, X, y: cross_val_predict(tree, X, y, cv=2),
    ],
)
def test_estimated_prior_at_any_depth(fit, blobs):
    X, labeled, _ = blobs
    with pytest.warns(PriorEstimatedWarning) as caught:
        fit(PUDecisionTreeClassifier(random_state=0), X, labeled)
    assert {warning.filename for warning in caught} == {__file__}
