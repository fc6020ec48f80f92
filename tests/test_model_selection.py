"""Splitters, cross-validation and out-of-bag risk."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV
from sklearn.model_selection import cross_validate as sklearn_cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from two_clouds import SCENARIOS, draw, forest

from puforest.datasets import make_pu
from puforest.metrics import pu_f1_score
from puforest.model_selection import (
    PUShuffleSplit,
    PUStratifiedKFold,
    cross_val_score,
    cross_validate,
    oob_risk,
    pu_train_test_split,
)
from puforest.risk import LOSSES, loss_value

# Splits


@pytest.mark.parametrize("coding", [(0, 1), (-1, 1), (False, True), ("a", "b")])
def test_folds_keep_proportions_and_cover_every_row_once(coding):
    y = np.array(coding)[np.repeat([1, 0], [23, 77])]
    X = np.arange(100)[:, None]
    tests = [test for _, test in PUStratifiedKFold(5, random_state=0).split(X, y)]
    assert_array_equal(np.sort(np.concatenate(tests)), np.arange(100))
    assert {np.count_nonzero(y[test] == coding[1]) for test in tests} == {4, 5}


def test_shuffling_is_seeded_and_can_be_turned_off():
    X, y = np.arange(40)[:, None], np.repeat([1, 0], 20)

    def tests(**params):
        return [test.tolist() for _, test in PUStratifiedKFold(4, **params).split(X, y)]

    assert tests(random_state=0) == tests(random_state=0) != tests(random_state=1)
    assert tests(shuffle=False)[0] == [0, 1, 2, 3, 4, 20, 21, 22, 23, 24]


@pytest.mark.parametrize(
    "splitter",
    [
        PUStratifiedKFold(5, group_duplicates=True, random_state=0),
        PUShuffleSplit(5, test_size=0.2, group_duplicates=True, random_state=0),
    ],
)
def test_duplicates_stay_together(splitter):
    rng = np.random.default_rng(0)
    X, labeled = make_pu(rng.normal(size=(500, 2)), np.repeat([0, 1], 250), n_labeled=100)
    duplicates_apart = []
    for group_duplicates in (True, False):
        splitter.group_duplicates = group_duplicates
        for train, test in splitter.split(X, labeled):
            assert len(np.intersect1d(train, test)) == 0
            assert_allclose(labeled[test].mean(), 1 / 6, atol=0.02)
            apart = np.isin(X[train, 0], X[test, 0]).sum()
            duplicates_apart.append((group_duplicates, bool(apart)))
    assert set(duplicates_apart) == {(True, False), (False, True)}


def test_duplicates_may_hold_missing_values_and_signed_zeros():
    X = np.array([[0.0, np.nan], [-0.0, np.nan]] * 2 + [[i, 1.0] for i in range(8)])
    y = np.array([1, 0] * 6)
    for train, test in PUStratifiedKFold(2, group_duplicates=True, random_state=0).split(X, y):
        assert np.isin([0, 1, 2, 3], train).sum() in (0, 4)
        assert len(train) + len(test) == 12


def test_duplicates_of_sparse_rows_stay_together():
    X = np.repeat(np.random.default_rng(0).integers(0, 2, (30, 8)), 2, axis=0)
    y = np.arange(60) % 3 == 0
    for train, test in PUStratifiedKFold(2, group_duplicates=True).split(sp.csr_array(X), y):
        assert not {row.tobytes() for row in X[train]} & {row.tobytes() for row in X[test]}


def test_splitters_refuse():
    X, y = np.arange(20.0)[:, None], np.repeat([1, 0], [3, 17])
    with pytest.raises(ValueError, match="y has 3 labeled rows, too few for n_splits=5"):
        next(PUStratifiedKFold().split(X, y))
    with pytest.raises(ValueError, match="y has 1 distinct labeled rows"):
        next(PUStratifiedKFold(2, group_duplicates=True).split(np.zeros((20, 1)), y))
    with pytest.raises(ValueError, match="y has 1 labeled rows, too few for two parts"):
        next(PUShuffleSplit(2, test_size=0.5).split(X, np.arange(20) == 3))
    few = np.repeat([1, 0], [3, 97])
    with pytest.raises(ValueError, match="test part of 10 rows has no labeled rows"):
        next(PUShuffleSplit(random_state=0).split(np.zeros((100, 1)), few))
    with pytest.raises(ValueError, match="has no unlabeled rows"):
        next(PUShuffleSplit(test_size=10, random_state=0).split(np.zeros((100, 1)), 1 - few))
    with pytest.raises(ValueError, match="only one class"):
        next(PUStratifiedKFold().split(X, np.zeros(20)))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        next(PUStratifiedKFold(2).split(X[:5], y))
    with pytest.raises(TypeError, match="group_duplicates must be True or False"):
        next(PUStratifiedKFold(2, group_duplicates="yes").split(X, y))
    with pytest.raises(ValueError, match="X contains infinity"):
        next(PUStratifiedKFold(2, group_duplicates=True).split(np.full((20, 1), np.inf), y))


def test_train_test_split_takes_what_scikit_learn_takes():
    X = pd.DataFrame({"a": np.arange(40.0), "b": 1.0})
    y = pd.Series(np.repeat([1, 0], [8, 32]))
    weight, sparse = list(range(40)), sp.coo_array(X)
    parts = pu_train_test_split(X, y, weight, sparse, random_state=0)
    X_train, X_test, y_train, y_test, w_train, w_test, s_train, s_test = parts
    assert (y_test.sum(), len(y_test), y_train.sum(), len(y_train)) == (2, 10, 6, 30)
    for table, weights, dense in ((X_train, w_train, s_train), (X_test, w_test, s_test)):
        assert isinstance(table, pd.DataFrame)
        assert_array_equal(table["a"], weights)
        assert_array_equal(dense.toarray(), table)
    assert len(pu_train_test_split(X, y, train_size=0.5, random_state=0)[0]) == 20
    doubled = pd.concat([X, X])
    parts = pu_train_test_split(doubled, np.tile(y, 2), group_duplicates=True, random_state=0)
    assert not np.isin(parts[0]["a"], parts[1]["a"]).any()


# Cross-validation


def labeled_fraction(estimator, X, y):
    return y.mean()


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_scores_estimate_the_truth(scenario):
    X, labeled, _ = draw(4000, scenario, label_frequency=0.8)
    model = forest(scenario, min_samples_leaf=10)
    result = cross_validate(
        model, X, labeled, scoring=["pu_accuracy", "pu_f1"], return_estimator=True
    )
    X_new, _, y_new = draw(5000, "single-training-set", seed=1)
    truth = np.mean([m.score(X_new, y_new) for m in result["estimator"]])
    assert_allclose(result["test_pu_accuracy"].mean(), truth, atol=0.03)
    assert_array_equal(
        cross_val_score(model, X, labeled), result["test_pu_accuracy"]
    )  # the default score and folds


def test_scoring():
    X, labeled, _ = draw(200, "case-control")
    model = forest(n_estimators=5)
    one = cross_validate(model, X, labeled, scoring="pu_recall", cv=3)
    several = cross_validate(
        model,
        X,
        labeled,
        scoring={"a": "pu_recall", "b": labeled_fraction, "c": get_scorer("accuracy")},
        cv=3,
        return_train_score=True,
        return_indices=True,
    )
    assert_array_equal(several["test_a"], one["test_score"])
    assert_allclose(several["test_b"], labeled.mean(), atol=0.01)
    assert several["train_c"].shape == (3,)
    assert_array_equal(np.sort(np.concatenate(several["indices"]["test"])), np.arange(len(labeled)))
    with pytest.raises(ValueError, match="no_such_score"):
        cross_validate(model, X, labeled, scoring="no_such_score")
    for scoring in ("f1", ["pu_f1", "f1"], {"a": "f1"}):
        with pytest.raises(ValueError, match=r"scoring='f1' scores against PU labels.*'pu_f1'"):
            cross_validate(model, X, labeled, scoring=scoring)
    with pytest.raises(TypeError, match="for several scorers, use cross_validate"):
        cross_val_score(model, X, labeled, scoring=["pu_recall", "pu_f1"])


def test_splitters_within_scikit_learn():
    X, labeled, _ = draw(300, "case-control")
    pipe = make_pipeline(StandardScaler(), forest(n_estimators=5))
    folds = PUStratifiedKFold(3, group_duplicates=True, random_state=0)
    search = GridSearchCV(
        pipe, {"purandomforestclassifier__max_depth": [1, 4]}, cv=folds, scoring=labeled_fraction
    )
    assert search.fit(X, labeled).n_splits_ == 3
    splits = PUShuffleSplit(4, test_size=0.3, random_state=0)
    result = sklearn_cross_validate(pipe, X, labeled, cv=splits, scoring=labeled_fraction)
    assert_allclose(result["test_score"], labeled.mean(), atol=0.01)
    assert " ".join(repr(splits).split()) == (
        "PUShuffleSplit(group_duplicates=False, n_splits=4, random_state=0, test_size=0.3, "
        "train_size=None)"
    )


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_each_fold_uses_the_metadata_of_its_rows(scenario):
    X, labeled, _ = draw(300, scenario)
    rng = np.random.default_rng(0)
    weight = rng.integers(1, 4, len(X)).astype(float)
    propensity = rng.uniform(0.2, 0.9, len(X))
    params = {"sample_weight": weight, "propensity": propensity}
    got = []

    def scorer(estimator, X, y, sample_weight=None, propensity=None):
        got.append((X, y, sample_weight, propensity))
        return 0.0

    model = forest(scenario, n_estimators=3)
    result = cross_validate(
        model,
        X,
        labeled,
        scoring={"own": scorer, "plain": labeled_fraction, "f1": "pu_f1"},
        cv=3,
        params=params,
        return_estimator=True,
        return_indices=True,
    )
    folds = zip(
        result["indices"]["train"], result["indices"]["test"], result["estimator"], got, strict=True
    )
    for k, (train, test, fitted, (X_test, y_test, w_test, e_test)) in enumerate(folds):
        assert_array_equal(X_test, X[test])
        assert_array_equal(y_test, labeled[test])
        assert_array_equal(w_test, weight[test])
        assert_array_equal(e_test, propensity[test])
        own = clone(model).fit(
            X[train], labeled[train], weight[train], propensity=propensity[train]
        )
        assert_array_equal(fitted.decision_function(X), own.decision_function(X))
        masses = fitted._record.masses
        fraction = np.average(labeled[train], weights=weight[train])
        assert_allclose(masses.labeled_u, fraction if scenario == SCENARIOS[1] else 0)
        f1 = pu_f1_score(
            labeled[test],
            own.predict(X[test]),
            prior=0.4,
            scenario=scenario,
            sample_weight=weight[test],
            propensity=propensity[test],
        )
        assert_allclose(result["test_f1"][k], f1)


def test_refuses_a_prior_that_is_impossible_in_a_fold():
    X, labeled, _ = draw(200, "single-training-set", label_frequency=0.9)
    model = forest("single-training-set", prior=labeled.mean() + 1e-9, n_estimators=3)
    model.fit(X, labeled)
    uneven = np.repeat([0, 1], 100)[np.argsort(labeled, kind="stable").argsort()]
    with pytest.raises(ValueError, match="is impossible with scenario='single-training-set'"):
        cross_validate(
            model,
            X,
            labeled,
            scoring=labeled_fraction,
            cv=[(np.flatnonzero(uneven), np.flatnonzero(~uneven))],
        )


def test_metadata_requests_of_the_user_are_kept():
    X, labeled, _ = draw(200, "case-control")
    weight = np.where(X[:, 0] > 0, 3.0, 1.0)
    model = forest(n_estimators=3)
    with sklearn.config_context(enable_metadata_routing=True):
        deaf = forest(n_estimators=3).set_fit_request(sample_weight=False)
    decisions = []
    weights = {"sample_weight": weight}
    for estimator, params in ((model, {}), (model, weights), (deaf, weights)):
        result = cross_validate(
            estimator,
            X,
            labeled,
            scoring="pu_recall",
            cv=2,
            params=params,
            return_estimator=True,
        )
        decisions.append(result["estimator"][0].decision_function(X))
    assert (decisions[0] != decisions[1]).any()
    assert_array_equal(decisions[0], decisions[2])
    with sklearn.config_context(enable_metadata_routing=True):
        asked = forest(n_estimators=3).set_fit_request(sample_weight=True)
        result = cross_validate(
            asked,
            X,
            labeled,
            scoring=labeled_fraction,
            cv=2,
            params=weights,
            return_estimator=True,
        )
    assert_array_equal(result["estimator"][0].decision_function(X), decisions[1])


# Out of bag


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_oob_risk_is_that_of_the_forest(scenario):
    X, labeled, _ = draw(600, scenario)
    rng = np.random.default_rng(0)
    rows = {"sample_weight": rng.integers(0, 4, len(X)), "propensity": rng.uniform(0.2, 1, len(X))}
    with pytest.warns(UserWarning, match="in the sample of every tree"):
        model = forest(scenario, n_estimators=4, oob_score=True).fit(X, labeled, **rows)
    found = oob_risk(model, labeled, **rows)
    assert found.value == model.oob_risk_
    seen = np.isfinite(model.oob_decision_function_)
    assert (found.n_labeled, found.n_unlabeled) == (
        np.count_nonzero(seen & (labeled == 1)),
        np.count_nonzero(seen & (labeled == 0)),
    )


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("loss", ["zero-one", "logistic", "savage"])
def test_oob_risk_estimates_the_truth_within_its_standard_error(scenario, loss):
    X, labeled, y = draw(3000, scenario, label_frequency=0.5)
    model = forest(scenario, oob_score=True, voting="soft", min_samples_leaf=10).fit(X, labeled)
    found = oob_risk(model, labeled, loss=loss, risk="upu")
    population = labeled == 0 if scenario == "case-control" else slice(None)
    margin = model.oob_decision_function_ * (2 * y - 1)
    truth = loss_value(margin[population], loss=loss).mean()
    assert abs(found.value - truth) < 3 * found.standard_error
    assert found.standard_error < 0.05


def test_oob_risk_by_prior_risk_and_loss():
    X, labeled, _ = draw(500, "case-control")
    model = forest(oob_score=True).fit(X, labeled)
    d = np.where(model.oob_decision_function_ > 0, 1, 0)
    r, q = d[labeled == 1].mean(), d[labeled == 0].mean()
    for prior in (0.2, 0.4, 0.9):
        error = prior + q - 2 * prior * r
        assert_allclose(oob_risk(model, labeled, prior=prior, risk="upu").value, error)
        clipped = prior * (1 - r) + max(0, q - prior * r)
        assert_allclose(oob_risk(model, labeled, prior=prior).value, clipped)
        n_p, n_u = labeled.sum(), (labeled == 0).sum()
        se = np.sqrt(4 * prior**2 * r * (1 - r) / n_p + q * (1 - q) / n_u)
        assert_allclose(oob_risk(model, labeled, prior=prior).standard_error, se)
    assert len({oob_risk(model, labeled, loss=loss).value for loss in LOSSES}) > 5


def test_oob_risk_warns_of_duplicates():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 100)
    X, labeled = make_pu(rng.normal(size=(200, 2)) + y[:, None], y, n_labeled=50, random_state=0)
    model = forest(oob_score=True).fit(X, labeled)
    with pytest.warns(UserWarning, match="50 of 50 labeled rows also appear in the unlabeled set"):
        oob_risk(model, labeled, X=X)
    X[:50] += 1e-9
    oob_risk(forest(oob_score=True).fit(X, labeled), labeled, X=X)


def test_oob_risk_refuses():
    X, labeled, y = draw(300, "case-control")
    model = forest(oob_score=True).fit(X, labeled)
    with pytest.raises(ValueError, match="the forest was fitted to"):
        oob_risk(model, labeled[:-1])
    with pytest.raises(ValueError, match="loss must be one of"):
        oob_risk(model, labeled, loss="huber")
    with pytest.raises(ValueError, match="risk must be one of"):
        oob_risk(model, labeled, risk="pu")
    with pytest.raises(ValueError, match=r"read forest\.oob_risk_"):
        oob_risk(forest(risk="pn", oob_score=True).fit(X, y), y)
    with pytest.raises(AttributeError, match="oob_score=True"):
        oob_risk(forest().fit(X, labeled), labeled)
    never = forest(bootstrap=False, max_unlabeled=0.5, oob_score=True)
    with pytest.warns(UserWarning, match="oob_risk_ is nan"):
        never.fit(X, labeled)
    with pytest.raises(ValueError, match="no labeled row is out of bag"):
        oob_risk(never, labeled)
