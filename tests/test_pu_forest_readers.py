"""PUForestClassifier in all functions that take a model, alone and at the end of a pipeline."""

import html
import re

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from saved_models import small_pu_forest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from two_clouds import SCENARIOS, draw

import puforest
from puforest import PUExtraTreesClassifier, PUForestClassifier, PURandomForestClassifier, Recipe
from puforest._unwrap import known_prior, known_scenario, unwrapped
from puforest.calibration import PUCalibratedClassifier
from puforest.inspection import (
    feature_selection_curve,
    importances,
    partial_dependence,
    permutation_importance,
)
from puforest.metrics import get_scorer, get_scorer_names
from puforest.model_selection import cross_validate, oob_risk, prior_sensitivity

RESULTS = ["AUC", "behind", "seconds", "trees"]
RECIPES = [Recipe(), Recipe("best", "nnpu", min_samples_leaf=10), Recipe(max_features=0.5)]


def models(scenario="case-control", **params):
    """Return a fitted forest and a pipeline that ends in one, and their data."""
    X, labeled, y = draw(600, scenario)
    forest = small_pu_forest(scenario=scenario, candidates=RECIPES, **params).fit(X, labeled)
    pipeline = make_pipeline(StandardScaler(), clone(forest)).fit(X, labeled)
    return forest, pipeline, X, labeled, y


@pytest.fixture(scope="module")
def case_control():
    return models()


# Description


def line(text, title):
    return re.search(rf"^{title} +(.*)$", text, re.MULTILINE)[1]


def test_description(case_control):
    forest, pipeline, *_ = case_control
    for text in (forest.describe(), puforest.describe(pipeline)):
        assert line(text, "prior") == "0.4, given"
        share = re.fullmatch(
            r'(0\.\d+) \("prior": predicts (\d+\.\d)% of the population positive\)',
            line(text, "threshold"),
        )
        assert float(share[1]) == pytest.approx(forest.threshold_, abs=1e-4)
        assert abs(float(share[2]) - 40) < 2  # scores of few trees are tied
        assert line(text, "out-of-bag risk") == f"{forest.oob_risk_:.4g} (estimated error rate)"
        assert "\nrisk " not in text
        assert "calibrated probability of being positive" in text
        section = text.split("\nrecipes, ")[1].split("\n\n")[0].splitlines()[1:]
        assert len(section) == 1 + len(RECIPES)
        for row, shown in zip(forest.comparison_, section[1:], strict=True):
            assert shown.endswith(f" {row.n_trees}" if row.kept else " not kept")
            assert f"{row.auc:.4f} ± {row.standard_error:.4f}" in shown
    assert "set_params" not in puforest.describe(pipeline)


@pytest.mark.parametrize(
    ("threshold", "shown"),
    [(0.3, r"0\.3 \(predicts"), ("f1", r'0\.\d+ \("f1": pred'), (("cost", 3), r"0\.\d+ \(cost r")],
)
def test_the_threshold_is_described(threshold, shown, case_control):
    forest, *_ = case_control
    forest = forest.with_prior(0.4).set_params(threshold=threshold)
    assert re.match(shown, line(forest.describe(), "threshold"))
    share = float(re.search(r"([\d.]+)% of the pop", forest.describe())[1])
    curve = forest._record.curve
    above = forest._record.calibrator.predict(curve.score) > forest.threshold_
    assert share == pytest.approx(100 * curve.population[above].sum(), abs=0.05)


def test_thresholds_of_other_estimators_are_described(blobs):
    X, labeled, _ = blobs
    forest = PURandomForestClassifier(0.4, oob_score=True, random_state=0).fit(X, labeled)
    text = forest.describe()
    assert re.match(r"0\.5 \(predicts [\d.]+% of the population", line(text, "threshold"))
    assert line(text, "out-of-bag risk").endswith("(estimated error rate)")
    text = forest.set_params(threshold="prior").describe()
    assert line(text, "out-of-bag risk").endswith("(estimated error rate at a threshold of 0.5)")
    assert line(PUExtraTreesClassifier(0.4).fit(X, labeled).describe(), "threshold") == "0.5"
    calibrated = PUCalibratedClassifier(PUExtraTreesClassifier(0.4, n_estimators=5), cv=3)
    assert "threshold " not in calibrated.fit(X, labeled).describe()


def test_next_steps_can_be_called(case_control, tmp_path, monkeypatch):
    forest, _, X, labeled, _ = case_control
    model = forest.with_prior(0.4)
    monkeypatch.chdir(tmp_path)
    calls = re.findall(r"^  (model\S.*?)  +(.*)$", model.describe(), re.MULTILINE)
    assert len(calls) == 5
    for call, _ in calls:
        if "report" not in call:
            eval(call, {"model": model, "X": X, "y": labeled})
    assert model.threshold == "f1"
    assert repr(puforest.load("model.puf")) == repr(model)


def test_printing_shows_the_comparison(case_control):
    forest, *_ = case_control
    assert str(forest) == "\n".join(
        [repr(forest), str(forest.comparison_), str(forest).splitlines()[-1]]
    )
    assert "Next: describe() " in str(forest).splitlines()[-1]
    assert forest._repr_html_().endswith(
        f"<pre>{html.escape(str(forest).removeprefix(repr(forest)).strip())}</pre>"
    )
    unfitted = PUForestClassifier(0.4)
    assert str(unfitted).startswith(f"{unfitted!r}\nNot fitted yet")
    assert "not fitted yet" in unfitted.describe()


def test_descriptions_fit_into_100_columns(blobs):
    X, labeled, _ = blobs
    forest = small_pu_forest(candidates="auto").fit(X, labeled)
    assert max(map(len, str(forest.comparison_).splitlines())) <= 98
    head, *rows = str(forest.comparison_).splitlines()
    titles = re.split("  +", head)
    assert titles == ["splits", "growth", "U per P", "leaf", "features", *RESULTS]
    assert len(rows) == len(forest.comparison_)
    plain = small_pu_forest(candidates=[Recipe()]).fit(X, labeled)
    assert "features" not in str(plain.comparison_)
    assert "loss" not in str(plain.comparison_)
    other = small_pu_forest(candidates=[Recipe(loss="savage", max_features=None)]).fit(X, labeled)
    assert "savage" in str(other.comparison_)
    assert " None " in str(other.comparison_)


def test_the_comparison_as_a_data_frame(case_control):
    forest, *_ = case_control
    table = pd.DataFrame(list(forest.comparison_))
    assert table["auc"].tolist() == [row.auc for row in forest.comparison_]
    assert forest.comparison_[1].recipe == RECIPES[1]


# Calibration


def test_scores_that_are_calibrated_or_shifted_are_not_calibrated(case_control):
    forest, pipeline, X, labeled, _ = case_control
    for estimator in (forest, pipeline, PUForestClassifier(0.4)):
        for cv in (3, "oob", "prefit"):
            with pytest.raises(ValueError, match="PUForestClassifier are calibrated already"):
                PUCalibratedClassifier(estimator, cv=cv).fit(X, labeled)
    other = PURandomForestClassifier(0.4, n_estimators=20, oob_score=True, random_state=0)
    for threshold in (0.4, "prior", ("cost", 2)):
        shifted = clone(other).set_params(threshold=threshold)
        for estimator in (shifted, make_pipeline(StandardScaler(), shifted)):
            with pytest.raises(ValueError, match=r"has threshold=.*Leave it at 0\.5"):
                PUCalibratedClassifier(estimator, cv="oob").fit(X, labeled)
    model = PUCalibratedClassifier(other.set_params(threshold=1 / 2), cv="oob").fit(X, labeled)
    model.estimator_.set_params(threshold=0.3)
    with pytest.raises(ValueError, match=r"has threshold=0\.3"):
        model.predict_proba(X)


# Model selection


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_out_of_bag_risk(scenario):
    forest, pipeline, X, labeled, _ = models(scenario)
    for model in (forest, pipeline):
        found = oob_risk(model, labeled, X=X)
        assert found.value == pytest.approx(forest.oob_risk_, abs=0.01)
        assert (found.n_labeled, found.n_unlabeled) == (labeled.sum(), (1 - labeled).sum())
        assert found.standard_error > 0
    before = oob_risk(forest, labeled, loss="quadratic").value
    other = forest.with_prior(0.4).set_params(threshold=0.9)
    assert oob_risk(other, labeled, loss="quadratic").value == pytest.approx(before)
    assert oob_risk(other, labeled).value > oob_risk(forest, labeled).value
    duplicated = np.concatenate([X, X[labeled == 1]]), np.append(labeled, np.zeros(labeled.sum()))
    copies = clone(forest).fit(*duplicated)
    oob_risk(copies, duplicated[1], X=duplicated[0])  # without a warning of duplicates


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_sensitivity_to_the_prior(scenario):
    forest, pipeline, X, labeled, _ = models(scenario)
    for model in (forest, pipeline):
        found = prior_sensitivity(model, X, labeled, priors=[0.3, 0.4, 0.6])
        assert_array_equal(found.priors, [0.3, 0.4, 0.6])
        assert (np.diff(found.positive_fraction) > 0).all()
        assert found.flipped_fraction[1] == 0
        assert_allclose(found.decisions[0], forest.with_prior(0.3).decision_function(X))
    fixed = prior_sensitivity(forest.with_prior(0.4).set_params(threshold=0.5), X)
    assert (np.diff(fixed.positive_fraction) >= 0).all()


def test_sensitivity_of_forests_whose_threshold_needs_out_of_bag_predictions(blobs):
    X, labeled, _ = blobs
    forest = PURandomForestClassifier(
        0.4, oob_score=True, threshold="prior", min_samples_leaf=10, random_state=0
    )
    with pytest.raises(ValueError, match="set threshold to a number first"):
        prior_sensitivity(forest.fit(X, labeled), X)


@pytest.mark.parametrize("name", get_scorer_names())
def test_scorers(name, case_control):
    forest, pipeline, *_ = case_control
    X, labeled, _ = draw(2000, "case-control", seed=1)
    scores = [get_scorer(name)(model, X, labeled) for model in (forest, pipeline)]
    assert np.isfinite(scores).all()
    assert scores[0] == pytest.approx(scores[1])


@pytest.mark.filterwarnings("ignore::puforest.metrics.PriorMismatchWarning")
def test_cross_validation_and_searches(case_control):
    forest, pipeline, X, labeled, _ = case_control
    for model in (forest, pipeline):
        scores = cross_validate(clone(model), X, labeled, cv=3)
        assert len(scores["test_score"]) == 3
    grid = {"threshold": ["prior", 0.9]}
    scoring = get_scorer("pu_f1")
    search = GridSearchCV(clone(forest), grid, scoring=scoring, cv=3).fit(X, labeled)
    assert search.best_params_ == {"threshold": "prior"}
    assert puforest.describe(search).startswith("GridSearchCV: PUForestClassifier of ")


# Inspection and plots


def test_unwrapping(case_control):
    forest, pipeline, *_ = case_control
    for model in (forest, pipeline):
        found = unwrapped(model)
        assert isinstance(found.trees, PUForestClassifier)
        assert not found.is_calibrated
        assert known_prior(model) == 0.4
        assert known_scenario(model) == "case-control"


def test_inspection(case_control):
    forest, pipeline, X, labeled, _ = case_control
    for model in (forest, pipeline):
        found = importances(model)
        assert found.values.shape == (forest._forest.n_trees, X.shape[1])
        assert_allclose(found.mean, forest.feature_importances_)
        permuted = permutation_importance(model, X, labeled, n_repeats=2, random_state=0)
        assert (permuted.mean > 0).any()
        curve = partial_dependence(model, X, 0, y=labeled, grid_resolution=5)
        assert curve.average[-1] > curve.average[0]
        assert (curve.average > 0).all()


@pytest.mark.filterwarnings("ignore::puforest.metrics.PriorMismatchWarning")
def test_feature_selection(case_control):
    forest, _, X, labeled, _ = case_control
    integers = [Recipe(max_features=3), Recipe(max_features=2)]
    for candidates in (RECIPES, integers, "fast"):
        model = clone(forest).set_params(candidates=candidates)
        found = feature_selection_curve(model, X, labeled, cv=3, random_state=0)
        assert_array_equal(found.n_features, [1, 2, 3])
        assert np.isfinite(found.scores).all()


def test_plots(case_control):
    mpl.use("agg")
    from matplotlib import pyplot as plt

    from puforest import plots

    forest, pipeline, *_ = case_control
    X, labeled, _ = draw(2000, "case-control", seed=1)
    for model in (forest, pipeline):
        plots.plot_importances(model)
        plots.plot_importance_map(model, shape=(1, 3))
        plots.plot_partial_dependence(partial_dependence(model, X, 0))
        plots.plot_prior_sensitivity(prior_sensitivity(model, X, labeled))
        scores = model.predict_proba(X)[:, 1]
        plots.plot_score_distributions(labeled, scores, prior=0.4)
        plots.plot_reliability(labeled, scores, prior=0.4)
    plt.close("all")


def test_single_trees_and_paths(case_control):
    forest, _, X, _, _ = case_control
    trees = forest.estimators_
    assert len(trees) == forest._forest.n_trees
    assert {type(tree).__name__ for tree in trees} <= {
        "PUExtraTreeClassifier",
        "PUDecisionTreeClassifier",
    }
    for tree in trees[::5]:
        assert set(tree._record.parameters) == set(tree.get_params())
        assert "risk" in tree.describe()
    assert forest.apply(X).shape == (len(X), len(trees))
