"""What models say about themselves."""

import html
import re

import numpy as np
import pandas as pd
import pytest
from messy_tables import messy_table
from sklearn import config_context
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_html_repr

import puforest
from puforest import (
    PUDecisionTreeClassifier,
    PUExtraTreesClassifier,
    PURandomForestClassifier,
)
from puforest.calibration import PUCalibratedClassifier
from puforest.prior import PriorEstimatedWarning


@pytest.fixture
def table(blobs):
    X, labeled, _ = blobs
    return pd.DataFrame(X, columns=["first", "second", "third", "x", "y", "z"]), labeled


def line(model, title):
    return re.search(rf"^{title} +(.*)$", model.describe(), re.MULTILINE)[1]


def test_a_forest_says_what_it_is(table):
    X, labeled = table
    model = PURandomForestClassifier(0.4, n_estimators=20, oob_score=True, random_state=0)
    model.fit(X, labeled)
    assert model.describe().startswith("PURandomForestClassifier: 20 trees, fitted\n")
    n = labeled.sum()
    assert line(model, "training data") == f"{n} labeled and {600 - n} unlabeled rows, 6 features"
    assert line(model, "scenario").startswith("case-control")
    assert line(model, "risk") == "nnPU (non-negative PU risk), quadratic loss"
    assert line(model, "prior") == "0.4, given"
    nodes, leaves = f"{len(model._forest.feature):,}", f"{model.get_n_leaves():,}"
    trees = line(model, "trees")
    assert trees.startswith(f"20 with {nodes} nodes, of which {leaves} leaves; ")
    assert f"maximum depth {model.get_depth()}" in trees
    size = (45 * len(model._forest.feature) + 8 * 21) / 1000
    assert trees.endswith(f" {size:.3g} kB")
    assert line(model, "out-of-bag risk").startswith(
        f"{model.oob_risk_:.4g} (estimated error rate)"
    )


def test_important_features_are_named_with_their_shares(table):
    X, labeled = table
    model = PUExtraTreesClassifier(0.4, n_estimators=20, max_depth=4, random_state=0)
    said = line(model.fit(X, labeled), "top features")
    share = model.feature_importances_ / model.feature_importances_.sum()
    named = re.findall(r"(\w+) (\d+)%", said)
    assert [name for name, _ in named] == [X.columns[i] for i in np.argsort(-share)[:5]]
    assert [int(percent) for _, percent in named] == [
        round(100 * s) for s in np.sort(-share)[:5] * -1
    ]
    unnamed = line(model.fit(X.to_numpy(), labeled), "top features")
    assert unnamed.startswith("x")
    assert "first" not in unnamed


def test_a_model_without_splits(table):
    X, labeled = table
    model = PUDecisionTreeClassifier(0.4, min_samples_split=10_000).fit(X, labeled)
    assert line(model, "top features") == "none: no split reduces the risk"
    assert model.describe().startswith("PUDecisionTreeClassifier: 1 tree, fitted")


def test_where_the_prior_comes_from(table):
    X, labeled = table
    model = PURandomForestClassifier(n_estimators=5, random_state=0)
    with pytest.warns(PriorEstimatedWarning):
        model.fit(X, labeled)
    upper = model.prior_estimate_.upper
    expected = f"{model.prior_:.4g}, point estimate by bbe; at most {upper:.3g} (95%)"
    assert line(model, "prior") == expected
    assert line(model.with_prior(0.7), "prior") == "0.7, given"
    single = clone(model).set_params(scenario="single-training-set")
    single.fit(X, labeled, propensity=np.full(600, 0.5))
    assert line(single, "prior") == f"{single.prior_:.4g}, from the propensities"
    supervised = clone(model).set_params(risk="pn").fit(X, labeled)
    assert line(supervised, "prior") == f"{supervised.prior_:.4g}, from the classes"
    assert " positive and " in line(supervised, "training data")
    assert "scenario" not in supervised.describe()


def test_kinds_of_columns_and_constraints():
    X, labeled = messy_table()
    model = PUExtraTreesClassifier(0.4, n_estimators=3, monotonic_cst={"age": 1, "member": -1})
    model.fit(X, labeled)
    kinds = "1 number, 2 categorical, 1 boolean, 1 date, 1 duration"
    assert line(model, "column kinds") == kinds
    assert line(model, "categories") == "color (3), city (30)"
    assert line(model, "monotone in") == "age increasing, member decreasing"
    many = pd.DataFrame({f"c{i}": X["city"] for i in range(14)})
    wide = line(PUDecisionTreeClassifier(0.4).fit(many, labeled), "categories")
    assert wide.endswith("c9 (30), and 4 more")
    plain = PUDecisionTreeClassifier(0.4).fit(X[["age"]], labeled).describe()
    assert "column kinds" not in plain
    assert "monotone" not in plain


def what_next(model):
    """The calls that a description ends with, and what it says that they do."""
    return re.findall(r"^  (\S.*?)  +(.*)$", model.describe(), re.MULTILINE)


@pytest.mark.parametrize("scenario", ["case-control", "single-training-set"])
@pytest.mark.parametrize("risk", ["nnpu", "pn"])
def test_the_calls_it_names_can_be_called(risk, scenario, table, tmp_path, monkeypatch):
    X, y = table
    forest = PURandomForestClassifier(
        0.4, risk=risk, scenario=scenario, n_estimators=10, max_depth=3, random_state=0
    )
    models = [forest.fit(X, y)]
    if risk == "nnpu":
        models.append(PUCalibratedClassifier(forest, cv=3).fit(X, y))
    for i, model in enumerate(models):
        (tmp_path / str(i)).mkdir()
        monkeypatch.chdir(tmp_path / str(i))
        calls = what_next(model)
        assert len(calls) == 4
        for call, _ in calls:
            eval(call, {"model": model, "X": X, "y": y})
        *_, (_, loading) = calls
        loaded = eval(loading.removesuffix(" loads it"), {"puforest": puforest})
        assert repr(loaded) == repr(model)


@pytest.mark.filterwarnings("ignore::puforest.prior.PriorEstimatedWarning")
def test_the_calls_it_names_before_the_fit_can_be_called(table):
    X, y = table
    model = PURandomForestClassifier(n_estimators=5, random_state=0)
    for call, _ in what_next(model):
        eval(call, {"model": model, "puforest": puforest, "X": X, "y": y})
    assert "not fitted" not in model.describe()


def test_before_the_fit_it_says_how_to_fit():
    model = PURandomForestClassifier(0.4)
    assert model.describe().startswith("PURandomForestClassifier: not fitted yet\n")
    assert "model.fit(X, y)" in model.describe()
    assert str(model).startswith(f"{model!r}\nNot fitted yet: fit(X, y)")


def test_a_calibrated_model_tells_of_its_forest(table):
    X, labeled = table
    forest = PUExtraTreesClassifier(0.4, n_estimators=10, max_depth=3, random_state=0)
    model = PUCalibratedClassifier(forest, cv=3, prior=0.5)
    assert "not fitted yet" in model.describe()
    model.fit(X, labeled)
    head = "PUCalibratedClassifier: PUExtraTreesClassifier of 10 trees, fitted\n"
    assert model.describe().startswith(head)
    assert line(model, "calibration") == "sigmoid, for a prior of 0.5 and case-control data"
    assert line(model, "prior") == "0.4, given"
    other = LogisticRegression().fit(X, labeled)
    model = PUCalibratedClassifier(other, cv="prefit", prior=0.4, scenario="case-control")
    model.fit(X, labeled)
    assert model.describe().startswith("PUCalibratedClassifier: LogisticRegression, fitted\n")
    assert "probability of being positive" in model.describe()


def test_printing_tells_what_to_call_next(table):
    X, labeled = table
    model = PUExtraTreesClassifier(0.4, n_estimators=1234, max_depth=1, random_state=0)
    plain = repr(model)
    model.fit(X, labeled)
    assert repr(model) == plain, "scikit-learn's own, whether fitted or not"
    first, second = str(model).rsplit("\n", 1)
    assert first == plain
    assert second.startswith("Fitted: 1,234 trees, prior 0.4. Next: describe() ")


def test_notebooks_show_the_diagram_and_what_to_call_next(table):
    X, labeled = table
    model = PUExtraTreesClassifier(0.4, n_estimators=5, random_state=0)
    for fitted in (False, True):
        if fitted:
            model.fit(X, labeled)
        hint = f"<pre>{html.escape(str(model).splitlines()[-1])}</pre>"
        bundle = model._repr_mimebundle_()
        assert bundle["text/plain"] == str(model)
        for shown in (bundle["text/html"], model._repr_html_()):
            assert shown.endswith(hint)
            diagram = shown.removesuffix(hint)
            number = re.compile(r"sk-container-id-\d+|sk-estimator-id-\d+")
            assert number.sub("", diagram) == number.sub("", estimator_html_repr(model))
    with config_context(display="text"):
        assert model._repr_mimebundle_() == {"text/plain": str(model)}
        assert not hasattr(model, "_repr_html_")


def test_a_pipeline_shows_its_diagram(table):
    X, labeled = table
    pipeline = make_pipeline(StandardScaler(), PUDecisionTreeClassifier(0.4)).fit(X, labeled)
    assert "PUDecisionTreeClassifier" in pipeline._repr_html_()
    assert "Next:" not in repr(pipeline)
