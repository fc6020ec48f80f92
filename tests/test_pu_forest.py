"""PUForestClassifier: candidates, out-of-bag scores, calibration, thresholds."""

import numpy as np
import oracle
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from pu_clouds import clouds
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from puforest import PUForestClassifier, Recipe
from puforest._candidates import Candidate
from puforest.model_selection import oob_risk
from puforest.prior import PriorEstimatedWarning
from puforest.recipes import RECIPES

SCENARIOS = ("case-control", "single-training-set")
SMALL = Recipe(unlabeled_per_labeled=2)
NNPU = Recipe(growth="nnpu", splits="best")


def fitted(X, labeled, **params):
    given = {"prior": 0.4, "n_estimators": 10, "candidates": [SMALL, NNPU], "random_state": 0}
    fit = {name: params.pop(name) for name in ("sample_weight", "propensity") if name in params}
    return PUForestClassifier(**given | params).fit(X, labeled, **fit)


@pytest.fixture(params=SCENARIOS)
def scenario(request):
    return request.param


def raw_scores(model, X):
    """Mean over the trees of a / (a + b) in the leaf of each row, one row and tree at a time."""
    forest = model._forest
    leaf = model.apply(X) + forest.offset[:-1]
    root = forest.offset[:-1]
    return oracle.separation_scores(forest.w_p[leaf], forest.w_u[leaf], forest.w_p[root])


def test_masses_are_fractions_of_the_rows_of_a_tree(blobs, scenario):
    X, labeled, _ = blobs
    model = fitted(X, labeled, scenario=scenario)
    forest = model._forest
    root = np.repeat(forest.offset[:-1], np.diff(forest.offset))
    of_labeled = forest.n_labeled / forest.n_labeled[root]
    of_unlabeled = forest.n_unlabeled / forest.n_unlabeled[root]
    known = labeled.mean() if scenario == "single-training-set" else 0.0
    assert_allclose(forest.w_p, 0.4 * of_labeled, atol=1e-12)
    assert_allclose(forest.w_u, known * of_labeled + (1 - known) * of_unlabeled, atol=1e-12)


def test_masses_with_propensities_and_weights(blobs):
    X, labeled, _ = blobs
    rng = np.random.default_rng(0)
    model = fitted(
        X,
        labeled,
        candidates=[SMALL],
        scenario="single-training-set",
        propensity=rng.uniform(0.3, 0.9, len(X)),
        sample_weight=rng.integers(1, 4, len(X)),
    )
    forest = model._forest
    assert_allclose(forest.w_p[forest.offset[:-1]], 0.4)
    assert_allclose(forest.w_u[forest.offset[:-1]], 1)
    inner, left = forest._children()
    for mass in (forest.w_p, forest.w_u):
        assert_allclose(mass[inner], mass[left] + mass[left + 1], atol=1e-12)


def test_propensities_of_one_half_change_nothing_but_the_prior(blobs):
    X, labeled, _ = blobs
    settings = {"candidates": [SMALL], "scenario": "single-training-set"}
    plain = fitted(X, labeled, **settings)
    same = fitted(X, labeled, propensity=np.full(len(X), 0.5), **settings)
    # Some splits are tied up to rounding.
    assert np.abs(plain.predict_proba(X) - same.predict_proba(X)).mean() < 0.01


def test_separation_goes_on_where_nnpu_stops(blobs):
    X, labeled, _ = blobs
    deep = fitted(X, labeled, candidates=[Recipe()], prior=0.9).get_n_leaves()
    assert (
        deep > 2 * fitted(X, labeled, candidates=[Recipe(growth="nnpu")], prior=0.9).get_n_leaves()
    )


def test_separation_does_not_depend_on_the_prior(blobs):
    X, labeled, _ = blobs
    model = fitted(X, labeled, candidates=[SMALL], prior=0.4)
    other = fitted(X, labeled, candidates=[SMALL], prior=0.5)
    assert_array_equal(model._forest.threshold, other._forest.threshold)
    moved = model.with_prior(0.5)
    assert moved.prior_ == 0.5
    assert moved.threshold_ != model.threshold_
    assert_allclose(moved.predict_proba(X), other.predict_proba(X), atol=1e-9)
    assert_allclose(moved.oob_decision_function_, other.oob_decision_function_, atol=1e-9)
    assert_array_equal(moved.predict(X), other.predict(X))


def test_out_of_bag_scores_are_those_of_the_trees_that_left_out_the_fold(blobs, scenario):
    X, labeled, _ = blobs
    model = fitted(X, labeled, scenario=scenario, threshold=0.5)
    forest = model._forest
    leaf = model.apply(X) + forest.offset[:-1]
    root = forest.w_p[forest.offset[:-1]]
    values = oracle.separation_values(forest.w_p[leaf], forest.w_u[leaf], root)
    scores = (model._record.out_of_bag.decision_function + 1) / 2
    # Each row was left out by every fifth tree: which ones, its score tells.
    means = np.array([values[:, k::5].mean(axis=1) for k in range(5)])
    closest = np.abs(means - scores).min(axis=0)
    assert_allclose(closest, 0, atol=1e-12)
    assert_allclose(model.oob_decision_function_, 2 * model._calibrated(scores) - 1, atol=1e-12)


def test_a_labeled_row_and_its_copy_have_the_same_out_of_bag_score(blobs):
    X, labeled, _ = blobs
    copies = np.flatnonzero(labeled)
    X, y = np.vstack([X, X[copies]]), np.append(labeled, np.zeros(len(copies)))
    model = fitted(X, y, candidates=[Recipe(min_samples_leaf=1)])
    scores = model.oob_decision_function_
    assert_array_equal(scores[copies], scores[-len(copies) :])


def test_out_of_bag_estimates_are_honest_with_copies():
    """With labels at random, no recipe may look better than chance."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 5))
    X = np.vstack([X[:200], X])
    labeled = np.repeat([1, 0], [200, 2000])
    model = fitted(X, labeled, prior=0.1, candidates=[Recipe(min_samples_leaf=1)], n_estimators=50)
    (row,) = model.comparison_
    assert abs(row.auc - 0.5) < 3 * row.standard_error


def test_out_of_bag_risk_is_that_of_the_function(blobs, scenario):
    X, labeled, _ = blobs
    model = fitted(X, labeled, scenario=scenario)
    for threshold in ("prior", "f1", ("cost", 100), 0.01):
        model.threshold = threshold
        assert model.oob_risk_ == pytest.approx(oob_risk(model, labeled).value)
        assert 0 <= model.oob_risk_ <= 1


def test_rows_of_weight_zero_have_no_score(blobs):
    X, labeled, _ = blobs
    weight = np.ones(len(X))
    weight[:7] = 0
    model = fitted(X, labeled, sample_weight=weight)
    assert_array_equal(np.flatnonzero(np.isnan(model.oob_decision_function_)), np.arange(7))
    assert model._record.n_labeled + model._record.n_unlabeled == len(X) - 7


def test_many_rows_are_compared_on_a_sample(blobs, monkeypatch):
    X, labeled, _ = blobs
    monkeypatch.setattr("puforest._candidates.MAX_COMPARED", 50)
    model = fitted(X, labeled)
    assert not np.isnan(model.oob_decision_function_).any()
    whole = fitted(X, labeled, candidates=[SMALL])
    monkeypatch.setattr("puforest._candidates.MAX_COMPARED", 10_000)
    assert_allclose(
        fitted(X, labeled, candidates=[SMALL]).oob_decision_function_,
        whole.oob_decision_function_,
        atol=1e-12,
    )


# Probabilities


def test_probabilities_rank_like_the_scores(blobs, scenario):
    X, labeled, _ = blobs
    model = fitted(X, labeled, scenario=scenario)
    score, p = raw_scores(model, X), model.predict_proba(X)[:, 1]
    assert_allclose(p, model._record.calibrator.predict(score), atol=1e-12)
    order = np.argsort(score)
    apart = np.diff(score[order]) > 1e-9
    assert (np.diff(p[order])[apart] > 0).all()
    assert len(np.unique(p)) > 0.9 * len(X)


def test_separable_classes_leave_no_ties():
    X, labeled = clouds(0.3, scenario="case-control", distance=20.0)
    model = fitted(X, labeled, prior=0.3, candidates=[SMALL], n_estimators=50)
    p = model.predict_proba(X)[:, 1]
    distinct = len(np.unique(raw_scores(model, X).round(12)))
    assert len(np.unique(p)) >= 0.95 * distinct


def test_probabilities_are_calibrated(scenario):
    X, labeled = clouds(0.4, scenario=scenario, distance=1.5, n_p=1000, n_u=4000)
    model = fitted(X, labeled, scenario=scenario, candidates=[SMALL], n_estimators=100)
    rng = np.random.default_rng(5)
    y = rng.random(5000) < 0.4
    X_test = rng.normal(size=(5000, 4))
    X_test[:, 0] += 1.5 * y
    p = model.predict_proba(X_test)[:, 1]
    bins = np.array_split(np.argsort(p), 10)
    error = np.mean([abs(p[rows].mean() - y[rows].mean()) for rows in bins])
    assert error < 0.04


# Candidates


def test_comparison(blobs):
    X, labeled, _ = blobs
    useless = Recipe(min_samples_leaf=400)  # cannot split
    model = fitted(X, labeled, candidates=[useless, SMALL], n_estimators=30)
    bad, good = model.comparison_
    assert good.behind == 0
    assert good.kept
    assert good.n_trees == model._forest.n_trees == 30
    assert not bad.kept
    assert bad.auc == pytest.approx(0.5)
    assert bad.behind == pytest.approx(good.auc - bad.auc)
    assert bad.seconds > 0
    text = str(model.comparison_)
    assert "not kept" in text
    assert len(text.splitlines()) == 3


def test_candidates_within_one_standard_error_are_joined(blobs):
    X, labeled, _ = blobs
    model = fitted(X, labeled, candidates=list(RECIPES), n_estimators=20)
    n_each = max(row.n_trees for row in model.comparison_)
    assert n_each % 10 == 0
    for row in model.comparison_:
        assert row.kept == (row.behind <= row.behind_error)
        assert row.n_trees in (0, n_each)
    assert model._forest.n_trees == sum(row.n_trees for row in model.comparison_)
    assert len(model.estimators_) == model._forest.n_trees


def test_later_candidates_do_not_change_the_first(blobs):
    X, labeled, _ = blobs
    both = fitted(X, labeled, candidates=[SMALL, NNPU]).comparison_
    first = fitted(X, labeled, candidates=[SMALL]).comparison_[0]
    assert both[0].auc == first.auc


def test_auc_of_separable_classes_is_one():
    X, labeled = clouds(0.5, scenario="case-control", distance=12.0, n_p=60, n_u=300)
    for seed in range(5):
        model = fitted(X, labeled, prior=0.5, n_estimators=100, random_state=seed)
        for row in model.comparison_:
            assert row.auc == pytest.approx(1, abs=0.02 + 2 * row.standard_error)


@pytest.mark.parametrize(
    ("candidates", "message"),
    [
        ("best", "'auto', 'fast', or a list of puforest.Recipe"),
        ([], "list of puforest.Recipe"),
        ([3], "list of puforest.Recipe"),
        ([SMALL, SMALL], "same recipe twice"),
    ],
)
def test_invalid_candidates(blobs, candidates, message):
    X, labeled, _ = blobs
    with pytest.raises(ValueError, match=message):
        fitted(X, labeled, candidates=candidates)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"splits": "exact"}, "splits must be one of"),
        ({"growth": "upu"}, "growth must be one of"),
        ({"loss": "l1"}, "loss must be one of"),
        ({"unlabeled_per_labeled": 0}, "unlabeled_per_labeled must be a positive number"),
        ({"min_samples_leaf": 0}, "min_samples_leaf must be at least 1"),
    ],
)
def test_invalid_recipes(change, message):
    with pytest.raises(ValueError, match=message):
        Recipe(**change)


@pytest.mark.parametrize(
    "change",
    [
        {"splits": "best"},
        {"growth": "nnpu"},
        {"loss": "logistic"},
        {"unlabeled_per_labeled": 1},
        {"min_samples_leaf": 30},
        {"max_features": 1},
    ],
    ids=str,
)
def test_every_field_of_a_recipe_changes_the_trees(blobs, change):
    X, labeled, _ = blobs
    plain, other = (
        fitted(X, labeled, candidates=[recipe])._forest for recipe in (Recipe(), Recipe(**change))
    )
    assert not np.array_equal(plain.threshold, other.threshold)


def test_fast_is_one_recipe(blobs):
    X, labeled, _ = blobs
    assert len(fitted(X, labeled, candidates="fast").comparison_) == 1
    assert len(fitted(X, labeled, candidates="auto").comparison_) == len(RECIPES)


def test_one_feature_and_all_features_are_different_recipes(blobs):
    assert Recipe(max_features=1) != Recipe(max_features=1.0)
    assert Recipe(max_features=1.0) == Recipe(max_features=None)


def test_comparisons_of_the_same_fit_are_equal(blobs):
    X, labeled, _ = blobs
    first, second = (fitted(X, labeled).comparison_ for _ in range(2))
    assert first == second
    assert all(row.seconds > 0 for row in first)


def test_all_recipes_are_kept_if_any_difference_is_within_the_noise(blobs, monkeypatch):
    X, labeled, _ = blobs
    monkeypatch.setattr("puforest._candidates.MAX_ERRORS", float("inf"))
    assert all(row.kept for row in fitted(X, labeled).comparison_)


# Number of trees


def test_trees_are_added_until_predictions_have_settled(monkeypatch):
    monkeypatch.setattr("puforest.pu_forest.FIRST_TREES", 20)
    monkeypatch.setattr("puforest.pu_forest.MAX_TREES", 80)
    easy = clouds(0.4, scenario="case-control", distance=12.0)
    hard = clouds(0.4, scenario="case-control", distance=0.5)
    settled, unsettled = (
        fitted(*data, candidates=[SMALL], n_estimators="auto") for data in (easy, hard)
    )
    assert settled._forest.n_trees == settled.comparison_[0].n_trees == 20
    assert unsettled._forest.n_trees == unsettled.comparison_[0].n_trees == 80


@pytest.mark.parametrize(("candidates", "expected"), [([SMALL, NNPU], 10), ([SMALL], 40)])
def test_candidates_have_fewer_trees_if_these_are_large(candidates, expected, blobs, monkeypatch):
    X, labeled, _ = blobs
    for name, value in {"FIRST_TREES": 40, "LEAST_TREES": 10, "COMPARED_ROWS": 1}.items():
        monkeypatch.setattr(f"puforest.pu_forest.{name}", value)
    started = []

    def start(candidate, data, n_trees, masses, steps):
        started.append(n_trees)
        return original(candidate, data, n_trees, masses, steps)

    original = Candidate.start
    monkeypatch.setattr(Candidate, "start", start)
    model = fitted(X, labeled, candidates=candidates, n_estimators="auto")
    assert set(started) == {expected}
    assert model._forest.n_trees >= 40  # the model itself does not have fewer


def test_fast_fits_do_not_add_trees(monkeypatch):
    monkeypatch.setattr("puforest.pu_forest.FIRST_TREES", 20)
    hard = clouds(0.4, scenario="case-control", distance=0.5)
    assert fitted(*hard, candidates="fast", n_estimators="auto")._forest.n_trees == 20


def test_number_of_trees_is_a_multiple_of_ten(blobs):
    X, labeled, _ = blobs
    assert fitted(X, labeled, candidates=[SMALL], n_estimators=13)._forest.n_trees == 20


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        ("many", ValueError, "n_estimators must be an integer or 'auto'"),
        (0, ValueError, "n_estimators must be at least 1"),
        (2.5, TypeError, "n_estimators must be an integer"),
    ],
)
def test_invalid_number_of_trees(blobs, value, error, message):
    X, labeled, _ = blobs
    with pytest.raises(error, match=message):
        fitted(X, labeled, n_estimators=value)


# Prior


def test_the_prior_is_estimated_from_the_same_scores(scenario, monkeypatch):
    def second_forest(*args, **kwargs):
        raise AssertionError("a second forest")

    monkeypatch.setattr("puforest._base.missing_prior", second_forest)
    X, labeled = clouds(0.5, scenario=scenario, n_p=500, n_u=3000)
    with pytest.warns(PriorEstimatedWarning, match="prior=None"):
        model = fitted(X, labeled, prior=None, scenario=scenario, candidates=[SMALL, NNPU])
    assert model.prior_ == pytest.approx(0.5, abs=0.06)
    low, high = model.prior_interval_
    assert low <= model.prior_ <= high


def test_recipes_that_need_a_prior_get_one():
    X, labeled = clouds(0.5, scenario="case-control")
    with pytest.warns(PriorEstimatedWarning):
        model = fitted(X, labeled, prior=None, candidates=[NNPU])
    assert model.prior_ == pytest.approx(0.5, abs=0.08)


def test_prior_from_propensities(blobs):
    X, labeled, _ = blobs
    model = fitted(
        X,
        labeled,
        prior=None,
        scenario="single-training-set",
        propensity=np.full(len(X), 0.5),
        candidates=[SMALL],
    )
    assert model.prior_ == pytest.approx(2 * labeled.mean())


def test_impossible_prior(blobs):
    X, labeled, _ = blobs
    with pytest.raises(ValueError, match="impossible"):
        fitted(X, labeled, prior=0.01, scenario="single-training-set")


# The rest of the contract


def test_results_do_not_depend_on_the_number_of_threads(blobs):
    X, labeled, _ = blobs
    one, two = (fitted(X, labeled, n_jobs=n).predict_proba(X) for n in (1, 2))
    assert_array_equal(one, two)


def test_too_few_rows():
    X = np.arange(6.0)[:, None]
    with pytest.raises(ValueError, match="at least two labeled rows"):
        fitted(X, [0, 0, 0, 0, 0, 1])
    with pytest.raises(ValueError, match="at least two unlabeled rows"):
        fitted(np.tile(X, (4, 1)), np.arange(24) > 0)
    assert fitted(X, [0, 0, 0, 0, 1, 1]).predict(X).shape == (6,)


def test_progress_ascends_to_one(blobs):
    X, labeled, _ = blobs
    seen = []
    PUForestClassifier(0.4, n_estimators=10, candidates=[SMALL, NNPU]).fit(
        X, labeled, progress=seen.append
    )
    assert seen == sorted(seen)
    assert seen[-1] == 1


def test_verbose(blobs, capsys):
    X, labeled, _ = blobs
    fitted(X, labeled, verbose=1)
    assert "trees" in capsys.readouterr().err


def test_monotone_constraint(blobs):
    X, labeled, _ = blobs
    model = fitted(X, labeled, candidates=list(RECIPES), monotonic_cst=[1, -1, 0, 0, 0, 0])
    for feature, sign in ((0, 1), (1, -1)):
        line = np.repeat(X[:20], 9, axis=0)
        line[:, feature] = np.tile(np.linspace(-3, 4, 9), 20)
        p = model.predict_proba(line)[:, 1].reshape(20, 9)
        assert (sign * np.diff(p, axis=1) >= 0).all()


def test_categories_and_missing_values():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    y = rng.random(600) < 0.5
    kind = np.where(rng.random(600) < 0.9, np.where(y, "a", "b"), "c").astype(object)
    kind[::17] = None
    X = pd.DataFrame({"kind": kind, "x": np.where(rng.random(600) < 0.1, np.nan, y + 0.0)})
    labeled = (y & (rng.random(600) < 0.5)).astype(int)
    model = fitted(X, labeled, prior=0.5, scenario="single-training-set", candidates=list(RECIPES))
    assert (model.predict(X) == y).mean() > 0.9


def test_searches_and_clones(blobs):
    X, labeled, _ = blobs
    model = clone(PUForestClassifier(0.4, n_estimators=10, candidates=[SMALL], random_state=0))
    search = GridSearchCV(
        model, {"candidates": [[SMALL], [NNPU]], "threshold": ["prior", "f1"]}, cv=3
    )
    assert search.fit(X, labeled).best_score_ > 0.6


def test_better_than_a_coin(blobs):
    X, labeled, y = blobs
    model = PUForestClassifier(0.4, scenario="single-training-set", random_state=0)
    assert model.fit(X, labeled).score(X, y) > 0.85
