"""The record of a fit: what it holds, and that nothing changes it."""

from dataclasses import FrozenInstanceError
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from report_data import data_of
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import puforest
from puforest import PUDecisionTreeClassifier, PUExtraTreesClassifier, PURandomForestClassifier
from puforest._masses import GroupMasses
from puforest._unwrap import fitted_trees, known_prior, known_scenario
from puforest.calibration import PUCalibratedClassifier
from puforest.inspection import partial_dependence
from puforest.metrics import get_scorer
from puforest.model_selection import oob_risk, prior_sensitivity
from puforest.prior import PriorEstimatedWarning

OTHER = {
    "prior": 0.9,
    "scenario": "single-training-set",
    "risk": "upu",
    "loss": "savage",
    "bootstrap": False,
    "oob_score": False,
    "n_estimators": 3,
    "max_depth": 1,
}


@pytest.fixture
def forest(blobs):
    X, labeled, _ = blobs
    model = PURandomForestClassifier(0.4, n_estimators=40, oob_score=True, random_state=0)
    return model.fit(X, labeled)


def test_a_record_is_frozen(forest):
    with pytest.raises(FrozenInstanceError):
        forest._record.risk = "upu"
    with pytest.raises(AttributeError):
        forest.prior_ = 0.3
    for array in (forest.classes_, forest.oob_decision_function_):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def readers(model, X, y):
    """Everything that depends on what a model was fitted for."""
    calibrated = PUCalibratedClassifier(model, cv="prefit").fit(X, y)
    return {
        "description": model.describe().split("next steps")[0],
        "oob": oob_risk(model, y).value,
        "score": get_scorer("pu_f1")(model, X, y),
        "sensitivity": prior_sensitivity(model, X, y, priors=[0.3, 0.5]).f1.tolist(),
        "calibrated": calibrated.predict_proba(X)[:, 1].tolist(),
        "importances": model.feature_importances_.tolist(),
        "dependence": partial_dependence(model, X, 0, y=y).average.tolist(),
        "report": reported(model, X, y),
    }


def reported(model, X, y):
    """Return the numbers of a report, without its parameters and dates."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "r.html"
        data = data_of(model.report(path, X, y, n_simulations=0, n_jobs=1, random_state=0))
    return {name: data[name] for name in ("metrics", "prior", "sensitivity") if name in data}


@pytest.mark.filterwarnings("ignore:only .* of the population")
@pytest.mark.filterwarnings("ignore:pu_f1 was estimated as")
def test_parameters_set_after_the_fit_change_no_reader(forest, blobs, tmp_path):
    X, labeled, _ = blobs
    before = readers(forest, X, labeled)
    forest.set_params(**OTHER)
    assert readers(forest, X, labeled) == before
    forest.save(tmp_path / "model.puf")
    loaded = puforest.load(tmp_path / "model.puf")
    assert loaded.scenario == "single-training-set"
    assert readers(loaded, X, labeled) == before


def test_calibration_is_described_as_it_was_fitted(forest, blobs, tmp_path):
    X, labeled, _ = blobs
    model = PUCalibratedClassifier(forest, cv="prefit").fit(X, labeled)
    before = model.describe()
    model.set_params(method="isotonic", prior=0.7, scenario="single-training-set")
    assert model.describe() == before
    model.save(tmp_path / "model.puf")
    assert puforest.load(tmp_path / "model.puf").describe() == before


def test_attributes_are_missing_before_the_fit():
    model = PURandomForestClassifier(0.4)
    for name in ("classes_", "prior_", "n_features_in_", "oob_score_", "estimators_"):
        with pytest.raises((AttributeError, ValueError), match=r"not fitted|before it is fitted"):
            getattr(model, name)


def test_oob_score_is_the_estimated_accuracy(forest):
    assert forest.oob_score_ == 1 - forest.oob_risk_
    other = clone(forest).set_params(oob_score=False).fit([[0], [1], [2]], [1, 0, 0])
    with pytest.raises(AttributeError, match=r"oob_score_ is only available .* oob_score=True"):
        other.oob_score_  # noqa: B018


def wrapped(model, X, y):
    """Yield models that hold the estimator at various depths."""
    pipeline = make_pipeline(StandardScaler(), clone(model)).fit(X, y)
    yield "pipeline", pipeline
    yield "calibrated", PUCalibratedClassifier(clone(model), cv=3).fit(X, y)
    yield "calibrated pipeline", PUCalibratedClassifier(pipeline, cv="prefit").fit(X, y)
    search = GridSearchCV(clone(model), {"max_depth": [2]}, cv=2, scoring=get_scorer("pu_f1"))
    yield "search", search.fit(X, y)


def test_models_are_found_inside_pipelines_searches_and_calibrated_models(blobs):
    X, labeled, _ = blobs
    model = PUDecisionTreeClassifier(0.4, scenario="single-training-set", max_depth=3)
    for name, outer in wrapped(model, X, labeled):
        assert type(fitted_trees(outer)) is PUDecisionTreeClassifier, name
        assert known_prior(outer) == 0.4, name
        assert known_scenario(outer) == "single-training-set", name
    supervised = clone(model).set_params(risk="pn").fit(X, labeled)
    assert known_prior(supervised) is None


def test_calibrated_pipelines_are_reported_but_not_saved(blobs, tmp_path):
    X, labeled, _ = blobs
    pipeline = make_pipeline(StandardScaler(), PUDecisionTreeClassifier(0.4, max_depth=3))
    model = PUCalibratedClassifier(pipeline.fit(X, labeled), cv="prefit").fit(X, labeled)
    for text in (model.describe(), str(model)):
        assert "save(" not in text
    assert "model.report(" in model.describe()
    options = {"held_out": True, "n_simulations": 0, "random_state": 0}
    assert model.report(tmp_path / "r.html", X, labeled, **options).exists()


def test_supervised_masses_follow_another_prior(blobs):
    X, labeled, _ = blobs
    other = PUDecisionTreeClassifier(risk="pn", max_depth=3).fit(X, labeled).with_prior(0.6)
    assert other._record.masses == GroupMasses(0.6, 0.6, 0.4)


@pytest.mark.parametrize("inside", [False, True])
def test_a_calibrated_model_estimates_its_prior_once(inside, blobs):
    X, labeled, _ = blobs
    forest = PUExtraTreesClassifier(n_estimators=10, min_samples_leaf=5, random_state=0)
    estimator = make_pipeline(StandardScaler(), forest) if inside else forest
    with pytest.warns(PriorEstimatedWarning) as caught:
        model = PUCalibratedClassifier(estimator, cv=3).fit(X, labeled)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert model.prior_ == known_prior(model.estimator_)
    assert fitted_trees(model).prior is None, "the estimator keeps its parameters"


def test_the_prior_of_a_fit_is_where_it_came_from(blobs):
    X, labeled, _ = blobs
    model = PUDecisionTreeClassifier(0.4, max_depth=3).fit(X, labeled)
    assert model._record.prior_is_given
    assert not clone(model).set_params(prior=None, risk="pn").fit(X, labeled)._record.prior_is_given


def test_warm_starts_keep_the_schema(blobs):
    pandas = pytest.importorskip("pandas")
    X, labeled, _ = blobs
    table = pandas.DataFrame(X, columns=list("abcdef"))
    model = PUExtraTreesClassifier(0.4, n_estimators=2, warm_start=True, random_state=0)
    model.fit(table, labeled).set_params(n_estimators=4).fit(table, labeled)
    assert model.feature_names_in_.tolist() == list("abcdef")
    with pytest.raises(ValueError, match="feature names should match"):
        model.fit(table[list("bacdef")], labeled)
    whole = clone(model).set_params(warm_start=False).fit(table, labeled)
    assert_array_equal(whole.predict_proba(table), model.predict_proba(table))
    assert np.array_equal(whole.classes_, [0, 1])
