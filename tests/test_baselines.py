"""Baselines: predictions, priors, scenarios and errors."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, Perceptron
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from puforest.baselines import (
    ElkanNotoClassifier,
    NaivePUClassifier,
    PUBaggingClassifier,
    SpyTwoStepClassifier,
)
from puforest.model_selection import cross_val_score

CHECKED = [
    NaivePUClassifier(GaussianNB()),
    PUBaggingClassifier(n_estimators=3),
    ElkanNotoClassifier(GaussianNB(), cv=2),
    # In case-control data, labeled rows unlike all others imply that no others are positive.
    ElkanNotoClassifier(GaussianNB(), cv=2, variant="weighted", scenario="single-training-set"),
    SpyTwoStepClassifier(GaussianNB(), noise_fraction=0.5, random_state=0),
]

PRIOR = 0.4


def expected_failures(estimator):
    is_spy = isinstance(estimator, SpyTwoStepClassifier)
    if is_spy or getattr(estimator, "variant", None) == "weighted":
        return {
            "check_n_features_in_after_fitting": "no negatives are found among its ten random rows"
        }
    return {}


@parametrize_with_checks(CHECKED, expected_failed_checks=expected_failures)
def test_estimator_checks(estimator, check):
    check(estimator)


def clouds(scenario, *, n=3000, distance=1.6, seed=0):
    """Two overlapping clouds: X, labeled, true classes; case-control data has n / 5 more rows."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < PRIOR
    X = rng.normal(size=(n, 3)) + distance * y[:, None]
    if scenario == "single-training-set":
        return X, (y & (rng.random(n) < 0.35)).astype(int), y.astype(int)
    more = rng.normal(size=(n // 5, 3)) + distance
    labeled = np.repeat([1, 0], [n // 5, n])
    return np.concatenate([more, X]), labeled, np.append(np.ones(n // 5, int), y)


def best_error(distance=1.6):
    """Error rate of the best of all classifiers, the linear one."""
    rng = np.random.default_rng(1)
    y = rng.random(100_000) < PRIOR
    t = rng.normal(size=100_000) + distance * np.sqrt(3) * y
    log_odds = distance * np.sqrt(3) * (t - distance * np.sqrt(3) / 2) + np.log(PRIOR / (1 - PRIOR))
    return np.mean((log_odds > 0) != y)


SMOOTH = DecisionTreeClassifier(min_samples_leaf=20)

# Probabilities of being labeled saturate below 1, which a logistic regression cannot learn.
SATURATING = RandomForestClassifier(20, min_samples_leaf=20, random_state=0)

WITH_PRIOR = {
    "naive": NaivePUClassifier(LogisticRegression(), prior=PRIOR),
    "bagging": PUBaggingClassifier(SMOOTH, n_estimators=30, prior=PRIOR, random_state=0),
    "classic": ElkanNotoClassifier(SATURATING, prior=PRIOR),
    "weighted": ElkanNotoClassifier(SATURATING, variant="weighted", prior=PRIOR),
    "spy": SpyTwoStepClassifier(LogisticRegression(), max_iter=10, prior=PRIOR, random_state=0),
}


@pytest.mark.parametrize("scenario", ["case-control", "single-training-set"])
@pytest.mark.parametrize("name", WITH_PRIOR)
def test_accuracy_with_the_prior_is_close_to_the_optimum(name, scenario):
    X, labeled, _ = clouds(scenario)
    X_new, _, y_new = clouds("single-training-set", n=5000, seed=5)
    model = WITH_PRIOR[name].set_params(scenario=scenario).fit(X, labeled)
    assert 1 - model.score(X_new, y_new) < best_error() + 0.04
    assert model.prior_ == PRIOR
    if name != "spy":  # which draws the line through what it is sure of
        assert_allclose(model.predict(X_new).mean(), PRIOR, atol=0.05)


@pytest.mark.parametrize("name", ["naive", "bagging"])
def test_thresholds_depend_on_the_scenario(name):
    X, labeled, _ = clouds("single-training-set")
    one, other = (
        WITH_PRIOR[name].set_params(scenario=scenario).fit(X, labeled).threshold_
        for scenario in ("single-training-set", "case-control")
    )
    assert one > other


@pytest.mark.parametrize("name", WITH_PRIOR)
def test_encodings_sparse_input_and_impossible_priors(name):
    X, labeled, _ = clouds("single-training-set", n=400)
    model = WITH_PRIOR[name].set_params(scenario="single-training-set")
    expected = model.fit(X, labeled).predict(X)
    assert_array_equal(model.fit(X, 2 * labeled - 1).predict(X), 2 * expected - 1)
    assert_array_equal(model.fit(sp.csr_array(X), labeled).predict(sp.csr_array(X)), expected)
    with pytest.raises(ValueError, match=r"prior=0\.05 is impossible"):
        type(model)(**{**model.get_params(deep=False), "prior": 0.05}).fit(X, labeled)
    with pytest.raises(ValueError, match="scenario must be one of"):
        type(model)(**{**model.get_params(deep=False), "scenario": "both"}).fit(X, labeled)


def test_missing_values_depend_on_the_estimator():
    X, labeled, _ = clouds("case-control", n=400)
    X[::7, 0] = np.nan
    assert PUBaggingClassifier(n_estimators=3).fit(X, labeled).predict(X).any()
    with pytest.raises(ValueError, match="NaN"):
        NaivePUClassifier(LogisticRegression()).fit(X, labeled)


# Naive


@pytest.mark.parametrize("as_given", [pd.DataFrame, pl.DataFrame, pd.DataFrame.to_numpy])
def test_text_that_the_estimator_cannot_read_is_named(as_given):
    frame = pd.DataFrame({"a": np.arange(20.0), "b": ["x", "y"] * 10})
    y = np.arange(20) % 2
    message = r"X\[('b'|:, 1)\] has text or categories, which {} cannot read: encode"
    tree, logistic = DecisionTreeClassifier(), LogisticRegression()
    for model, name in (
        (PUBaggingClassifier(), "DecisionTreeClassifier"),
        (NaivePUClassifier(logistic, prior=0.5), "LogisticRegression"),
        (ElkanNotoClassifier(logistic), "LogisticRegression"),
        (SpyTwoStepClassifier(tree), "DecisionTreeClassifier"),
    ):
        with pytest.raises(TypeError, match=message.format(name)):
            model.fit(X=as_given(frame), y=y)
    model = NaivePUClassifier(tree).fit(as_given(frame.assign(b=1.0)), y)
    with pytest.raises(TypeError, match=message.format("DecisionTreeClassifier")):
        model.predict(as_given(frame))


def test_naive_predicts_few_positives_but_ranks_as_with_a_prior():
    X, labeled, y = clouds("case-control")
    naive = NaivePUClassifier(LogisticRegression()).fit(X, labeled)
    informed = NaivePUClassifier(LogisticRegression(), prior=PRIOR).fit(X, labeled)
    unlabeled = labeled == 0
    assert naive.predict(X[unlabeled]).mean() < 0.3 * PRIOR
    assert naive.score(X[unlabeled], y[unlabeled]) < 0.75
    assert naive.threshold_ == 0.5
    order = [np.argsort(m.predict_proba(X)[:, 1], kind="stable") for m in (naive, informed)]
    assert_array_equal(*order)


def test_naive_requires_probabilities_only_with_a_prior():
    X, labeled, _ = clouds("case-control", n=400)
    model = NaivePUClassifier(Perceptron(), random_state=0).fit(X, labeled)
    assert set(np.unique(model.predict_proba(X))) == {0.0, 1.0}
    with pytest.raises(TypeError, match=r"estimator must be a classifier with a method 'predict_p"):
        NaivePUClassifier(Perceptron(), prior=PRIOR).fit(X, labeled)


# Bagging


def test_members_use_all_labeled_rows_and_as_many_others():
    X, labeled, _ = clouds("case-control", n=1000)
    for size, expected in ((None, 200), (70, 70), (0.5, 500)):
        bag = PUBaggingClassifier(n_estimators=3, sample_size=size, random_state=0).fit(X, labeled)
        seen = [tree.tree_.weighted_n_node_samples[0] for tree in bag.estimators_]
        assert seen == [200 + expected] * 3
    assert len({tree.tree_.threshold[0] for tree in bag.estimators_}) > 1


class TakesNoWeights(ExtraTreeClassifier):
    def fit(self, X, y):
        return super().fit(X, y)


@pytest.mark.parametrize("share", [0.3, 1.0])
@pytest.mark.parametrize("scenario", ["case-control", "single-training-set"])
def test_weights_represent_repeated_rows(scenario, share):
    X, labeled, _ = clouds(scenario, n=500)
    weighted, repeated = (
        PUBaggingClassifier(
            tree,
            n_estimators=5,
            sample_size=share,
            oob_score=True,
            scenario=scenario,
            random_state=0,
        ).fit(X, labeled)
        for tree in (ExtraTreeClassifier(), TakesNoWeights())
    )
    trees = [bag.estimators_[0].tree_ for bag in (weighted, repeated)]
    n_rows = labeled.sum() + np.ceil(share * (labeled == 0).sum())
    assert trees[0].n_node_samples[0] < trees[1].n_node_samples[0] == n_rows
    assert trees[0].weighted_n_node_samples[0] == n_rows
    assert_array_equal(weighted.predict_proba(X), repeated.predict_proba(X))
    assert_array_equal(weighted.oob_score_of_unlabeled_, repeated.oob_score_of_unlabeled_)


def test_out_of_bag_scores():
    """A nearest neighbor knows the rows it has seen: it would call each unlabeled one 0."""
    X, labeled, y = clouds("case-control", n=1000)
    neighbor = KNeighborsClassifier(1)
    bag = PUBaggingClassifier(neighbor, n_estimators=20, oob_score=True, random_state=0)
    bag.fit(X, labeled)
    score = bag.oob_score_of_unlabeled_
    assert_array_equal(np.isnan(score), labeled == 1)
    seen = bag.predict_proba(X)[:, 1]
    unlabeled = labeled == 0
    assert score[unlabeled].mean() > 1.1 * seen[unlabeled].mean()
    positive = unlabeled & (y == 1)
    assert score[positive].mean() > score[unlabeled & (y == 0)].mean() + 0.4
    # In-bag answers are 0: what is left is the out-of-bag answer times its frequency.
    frequency = (1 - 1 / 1000) ** 200
    assert_allclose(seen[unlabeled].mean(), frequency * score[unlabeled].mean(), rtol=0.02)


def test_out_of_bag_scores_are_optional_without_a_prior():
    X, labeled, _ = clouds("case-control", n=300)
    bag = PUBaggingClassifier(n_estimators=3, random_state=0)
    kept = bag.set_params(oob_score=True).fit(X, labeled).oob_score_of_unlabeled_
    assert not hasattr(bag.set_params(oob_score=False).fit(X, labeled), "oob_score_of_unlabeled_")
    bag.set_params(prior=PRIOR).fit(X, labeled)
    assert_array_equal(bag.oob_score_of_unlabeled_, kept)


def test_bagging_does_not_depend_on_the_number_of_threads():
    X, labeled, _ = clouds("case-control", n=500)
    one, two = (
        PUBaggingClassifier(n_estimators=8, prior=PRIOR, n_jobs=n, random_state=3).fit(X, labeled)
        for n in (1, 2)
    )
    assert_array_equal(one.predict_proba(X), two.predict_proba(X))
    assert one.threshold_ == two.threshold_
    other = PUBaggingClassifier(n_estimators=8, prior=PRIOR, random_state=4).fit(X, labeled)
    assert (one.predict_proba(X) != other.predict_proba(X)).any()


def test_bagging_of_votes():
    X, labeled, y = clouds("case-control", n=600)
    bag = PUBaggingClassifier(
        make_pipeline(StandardScaler(), LinearSVC()), n_estimators=5, random_state=0
    ).fit(X, labeled)
    assert_allclose(5 * bag.predict_proba(X), np.round(5 * bag.predict_proba(X)))
    assert bag.score(X, y) > 0.85


def test_balanced_bagging_is_better_than_the_papers_setting(mushrooms):
    X, labeled, X_test, y_test, prior = mushrooms
    trees = ExtraTreesClassifier(5)
    of_paper = PUBaggingClassifier(trees, n_estimators=10, sample_size=1.0, random_state=0)
    assert of_paper.fit(X, labeled).score(X_test, y_test) < 0.8
    balanced = PUBaggingClassifier(n_estimators=20, prior=prior, random_state=0)
    assert balanced.fit(X, labeled).score(X_test, y_test) > 0.95


def test_bagging_errors():
    X, labeled, _ = clouds("case-control", n=400)
    for params, error, words in (
        ({"n_estimators": 0}, ValueError, "n_estimators must be at least 1, got 0"),
        ({"sample_size": 1.5}, ValueError, "sample_size, as a fraction"),
        ({"n_jobs": 0}, ValueError, "n_jobs must be the number of threads"),
        ({"oob_score": "yes"}, TypeError, "oob_score must be"),
        ({"sample_size": "all"}, TypeError, "sample_size must be"),
        ({"estimator": StandardScaler()}, TypeError, "estimator must be a classifier"),
    ):
        with pytest.raises(error, match=words):
            PUBaggingClassifier(**params).fit(X, labeled)
    bag = PUBaggingClassifier(n_estimators=1, sample_size=30, prior=0.5)
    with pytest.raises(ValueError, match="every member drew every"):
        bag.fit([[0], [1], [2]], [1, 0, 0])


# Elkan and Noto


@pytest.mark.parametrize("scenario", ["case-control", "single-training-set"])
@pytest.mark.parametrize("variant", ["classic", "weighted"])
def test_label_frequency_and_prior_are_estimated(variant, scenario):
    X, labeled, y = clouds(scenario, distance=3)
    model = ElkanNotoClassifier(SATURATING, variant=variant, scenario=scenario)
    model.fit(X, labeled)
    assert_allclose(model.label_frequency_, labeled.sum() / y.sum(), atol=0.03)
    assert_allclose(model.prior_, PRIOR, atol=0.03)
    assert model.score(X, y) > 0.97


@pytest.mark.parametrize("scenario", ["case-control", "single-training-set"])
@pytest.mark.parametrize("variant", ["classic", "weighted"])
def test_probabilities_refer_to_the_population(variant, scenario):
    X, labeled, _ = clouds(scenario, n=10_000)
    model = ElkanNotoClassifier(
        clone(SATURATING).set_params(min_samples_leaf=60),
        variant=variant,
        scenario=scenario,
        prior=PRIOR,
    ).fit(X, labeled)
    new, _, y = clouds("single-training-set", n=5000, seed=5)
    truth = 1 / (1 + (1 - PRIOR) / PRIOR * np.exp(-1.6 * (new - 0.8).sum(axis=1)))
    answer = model.predict_proba(new)[:, 1]
    assert abs(answer - truth).mean() < 0.09
    assert_allclose(answer.mean(), y.mean(), atol=0.06)


def test_elkan_noto_errors():
    X, labeled, _ = clouds("case-control", n=400)
    for params, error, words in (
        ({"estimator": LinearSVC()}, TypeError, "'predict_proba'"),
        ({"estimator": GaussianNB(), "variant": "e1"}, ValueError, "variant must be one of"),
        (
            {"estimator": KNeighborsClassifier(), "variant": "weighted"},
            TypeError,
            "does not support sample_weight, which variant='weighted' requires",
        ),
    ):
        with pytest.raises(error, match=words):
            ElkanNotoClassifier(**params).fit(X, labeled)
    constant = DecisionTreeClassifier(min_impurity_decrease=1, class_weight={0: 1, 1: 100})
    with pytest.raises(ValueError, match="makes every unlabeled sample positive"):
        ElkanNotoClassifier(constant, variant="weighted", prior=0.9).fit(X, labeled)
    apart = labeled[:, None] + np.zeros((1, 2))
    with pytest.raises(ValueError, match="no positives among the unlabeled samples"):
        ElkanNotoClassifier(DecisionTreeClassifier(), variant="weighted").fit(apart, labeled)
    classic = ElkanNotoClassifier(DecisionTreeClassifier()).fit(apart, labeled)
    assert_array_equal(classic.predict(apart), labeled)
    assert classic.prior_ == 0
    sure_of_none = DecisionTreeClassifier(max_leaf_nodes=2, random_state=0)
    with pytest.raises(ValueError, match="label_frequency_ is estimated as 0"):
        ElkanNotoClassifier(sure_of_none, cv=2).fit([[1], [2], [1], [2]], [1, 1, 0, 0])


# Spies


@pytest.mark.parametrize("estimator", [LogisticRegression(), LinearSVC()])
def test_spies_find_negatives(estimator):
    X, labeled, y = clouds("single-training-set", distance=2.5)
    model = SpyTwoStepClassifier(estimator, random_state=0).fit(X, labeled)
    reliable = model.reliable_negatives_
    assert not (reliable & (labeled == 1)).any()
    assert reliable.sum() > 0.5 * (y == 0).sum()
    assert (y[reliable] == 0).mean() > 0.97
    assert model.n_iter_ == 1


def test_iterations_find_more_negatives_until_there_are_none():
    X, labeled, _ = clouds("case-control")
    rounds = [
        SpyTwoStepClassifier(LogisticRegression(), max_iter=n, random_state=0).fit(X, labeled)
        for n in (1, 2, 100)
    ]
    found = [model.reliable_negatives_.sum() for model in rounds]
    assert found[0] < found[1] <= found[2]
    assert rounds[1].n_iter_ == 2
    assert 2 <= rounds[2].n_iter_ < 100


def test_more_noise_finds_more_negatives():
    X, labeled, _ = clouds("case-control")
    few, many = (
        SpyTwoStepClassifier(LogisticRegression(), noise_fraction=s, random_state=0).fit(X, labeled)
        for s in (0.02, 0.3)
    )
    assert few.reliable_negatives_.sum() < many.reliable_negatives_.sum()


def test_spy_errors():
    X, labeled, _ = clouds("case-control", n=400)
    for params, error, words in (
        ({"estimator": DecisionTreeClassifier()}, ValueError, "fit the training samples exactly"),
        (
            {"estimator": GaussianNB(), "spy_fraction": 0.999},
            ValueError,
            "leaves none to learn from",
        ),
        (
            {"estimator": GaussianNB(), "spy_fraction": 1.5},
            ValueError,
            "spy_fraction must be between",
        ),
        (
            {"estimator": GaussianNB(), "noise_fraction": 0},
            ValueError,
            "noise_fraction must be between",
        ),
        ({"estimator": GaussianNB(), "max_iter": 0}, ValueError, "max_iter must be at least 1"),
        (
            {"estimator": KNeighborsClassifier(), "prior": 0.4},
            TypeError,
            "does not support sample_weight, which prior=0.4 requires",
        ),
    ):
        with pytest.raises(error, match=words):
            SpyTwoStepClassifier(**params).fit(X, labeled)


@pytest.mark.parametrize("wrapper", [NaivePUClassifier, PUBaggingClassifier])
def test_regressors_are_rejected(wrapper):
    X, labeled, _ = clouds("case-control", n=100)
    with pytest.raises(TypeError, match=r"estimator must be a classifier .* got LinearRegression"):
        wrapper(LinearRegression()).fit(X, labeled)


@pytest.mark.parametrize("name", WITH_PRIOR)
def test_parameters_changed_after_the_fit_have_no_effect(name):
    X, labeled, _ = clouds("case-control", n=400)
    model = clone(WITH_PRIOR[name]).set_params(scenario="case-control").fit(X, labeled)
    assert model.scenario_ == "case-control"
    before = model.predict_proba(X)
    changed = {"scenario": "single-training-set", "estimator": KNeighborsClassifier()}
    if "variant" in model.get_params():
        changed["variant"] = {"classic": "weighted", "weighted": "classic"}[model.variant]
    assert_array_equal(model.set_params(**changed).predict_proba(X), before)


def test_pu_scorers():
    X, labeled, _ = clouds("case-control")
    model = NaivePUClassifier(LogisticRegression(), prior=PRIOR)
    auc, accuracy = (
        cross_val_score(model, X, labeled, scoring=name, cv=3).mean()
        for name in ("pu_roc_auc", "pu_accuracy")
    )
    assert auc > 0.9
    assert_allclose(accuracy, 1 - best_error(), atol=0.05)
