"""Fits to checked rows: weights, masses, trees and samples."""

import itertools
from functools import partial

import numpy as np
import oracle
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from test_oracle import assert_same_tree, seed_of, setting

from puforest import (
    PUDecisionTreeClassifier,
    PUExtraTreeClassifier,
    PUExtraTreesClassifier,
    PUForestClassifier,
    PURandomForestClassifier,
    Recipe,
)
from puforest._masses import group_masses
from puforest._row_weights import growth, training_sample
from puforest._training_rows import training_rows
from puforest.prior import PriorEstimatedWarning
from puforest.scenario import SCENARIOS

TREES = {"random": PUExtraTreeClassifier, "optimal": PUDecisionTreeClassifier}
FORESTS = {"random": PUExtraTreesClassifier, "optimal": PURandomForestClassifier}
ESTIMATORS = [
    *TREES.values(),
    *(partial(kind, n_estimators=5) for kind in FORESTS.values()),
    partial(PUForestClassifier, n_estimators=10, candidates=[Recipe(), Recipe(growth="nnpu")]),
]


def exact_problem(rng, scenario):
    """Small data whose weights and their sums are exact in floating point."""
    n_p = int(rng.choice([4, 8]))
    n_u = int(rng.choice([16, 32])) - (n_p if scenario == "single-training-set" else 0)
    n = n_p + n_u
    X = rng.integers(0, rng.integers(2, 12), size=(n, 4)).astype(float)
    X[rng.random(X.shape) < rng.choice([0, 0.2])] = np.nan
    labeled = rng.permutation(np.repeat([True, False], [n_p, n_u]))
    verdict = np.where(labeled, np.nan, rng.choice([1, 0, np.nan], n, p=[0.3, 0.3, 0.4]))
    first, second = np.flatnonzero(~labeled)[:2]
    verdict[[first, second]] = [1, 0]
    e = rng.choice([0.25, 0.5, 0.75, 1], n)
    e[labeled & (rng.random(n) < 0.2)] = 0
    return X, labeled, verdict, e


def totals(w_p, w_u, labeled, confirmed):
    others = ~labeled & ~confirmed
    return (
        w_p[labeled].sum(), w_u[labeled].sum(), w_u[others].sum(), w_p[confirmed].sum(),
        w_u[confirmed].sum(),
    )  # fmt: skip


@pytest.mark.parametrize("thresholds", ["random", "optimal"])
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=150)
def test_trees_are_those_of_the_oracle(thresholds, seed):
    rng = np.random.default_rng(seed)
    params = setting(rng) | {"risk": str(rng.choice(["nnpu", "upu"])), "prior": 0.5}
    X, labeled, verdict, e = exact_problem(rng, params["scenario"])
    model = TREES[thresholds](**params, random_state=seed)
    model.fit(X, labeled, checked=verdict, check_probability=e)
    w_p, w_u = oracle.row_weights(
        labeled, np.ones(len(X)), risk=params["risk"], scenario=params["scenario"], prior=0.5,
        verdict=verdict, e=e,
    )  # fmt: skip
    confirmed = verdict == 1
    given = {name: params[name] for name in ("risk", "loss", "min_samples_split",
                                             "min_samples_leaf", "max_leaf_nodes")}  # fmt: skip
    tree = oracle.Tree(
        X, labeled, w_p, w_u, totals(w_p, w_u, labeled, confirmed),
        key=oracle.tree_key(seed_of(seed), 0), thresholds=thresholds, confirmed=confirmed,
        max_features=4 if params["max_features"] is None else 2,
        max_depth=np.inf if params["max_depth"] is None else params["max_depth"],
        min_risk_reduction=-np.inf
        if params["min_risk_reduction"] is None
        else params["min_risk_reduction"],
        **given,
    )  # fmt: skip
    assert_same_tree(model._forest, tree)


SAMPLINGS = [
    {"bootstrap": True},
    {"bootstrap": True, "max_unlabeled": 0.5},
    {"bootstrap": False, "max_labeled": 0.5, "max_unlabeled": 0.5},
    {"bootstrap": False, "max_unlabeled": 5},
]


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("sampling", SAMPLINGS, ids=str)
@pytest.mark.parametrize("thresholds", ["random", "optimal"])
def test_forests_sample_found_positives_as_a_group(thresholds, sampling, scenario):
    X, labeled, verdict, e = exact_problem(np.random.default_rng(8), scenario)
    X = np.nan_to_num(X)
    confirmed = verdict == 1
    model = FORESTS[thresholds](
        0.5, scenario=scenario, n_estimators=4, max_features=1, random_state=5, **sampling
    ).fit(X, labeled, checked=verdict, check_probability=e)
    groups = [labeled, confirmed, verdict == 0, ~labeled & np.isnan(verdict)]
    order = np.concatenate(list(map(np.flatnonzero, groups)))
    n_l, n_c, n_u = (int(group.sum()) for group in (labeled, confirmed, ~labeled))
    rate = sampling.get("max_labeled", 1.0)
    limit = sampling.get("max_unlabeled", 1.0)
    some = limit if isinstance(limit, int) else int(np.ceil(limit * n_u))
    w_p, w_u = oracle.row_weights(
        labeled, np.ones(len(X)), risk="nnpu", scenario=scenario, prior=0.5, verdict=verdict, e=e
    )
    masses = totals(w_p, w_u, labeled, confirmed)
    for t in range(4):
        key = oracle.tree_key(seed_of(5), t)
        rows = order[
            oracle.draw_sample(
                key, order, n_l, replace=sampling["bootstrap"],
                together=scenario == "single-training-set" and sampling == {"bootstrap": True},
                labeled=int(rate * n_l), n_confirmed=n_c, confirmed=int(np.ceil(rate * n_c)),
                unlabeled=int(np.ceil((n_u - n_c) * some / n_u)),
            )
        ]  # fmt: skip
        tree = oracle.Tree(
            X[rows], labeled[rows], w_p[rows], w_u[rows], masses, key=key, risk="nnpu",
            loss="quadratic", thresholds=thresholds, max_features=1, confirmed=confirmed[rows],
        )  # fmt: skip
        grown = model._forest.tree(t)
        naive = dict(tree.nodes())
        assert len(grown.feature) == len(naive)
        assert_allclose([grown.w_p[0], grown.w_u[0]], [w_p.sum(), w_u.sum()])
        assert_allclose(sorted(grown.w_p), sorted(node.w_p for node in naive.values()), atol=1e-15)


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("sar", [False, True])
@pytest.mark.parametrize("thresholds", ["random", "optimal"])
def test_masses_are_sums_of_the_row_weights(scenario, sar, thresholds):
    rng = np.random.default_rng(4)
    X, labeled, verdict, e = exact_problem(rng, scenario)
    n = len(X)
    e[labeled] = rng.uniform(size=labeled.sum())
    weight = rng.uniform(0.2, 3, n)
    propensity = rng.uniform(0.3, 1, n) if sar else None
    prior = max(0.4, 1.1 * weight[labeled].sum() / weight.sum())
    model = TREES[thresholds](prior, scenario=scenario, random_state=0, max_leaf_nodes=6)
    model.fit(X, labeled, weight, propensity=propensity, checked=verdict, check_probability=e)
    w_p, w_u = oracle.row_weights(
        labeled, weight, risk="nnpu", scenario=scenario, prior=prior, propensity=propensity,
        verdict=verdict, e=e,
    )  # fmt: skip
    reached = model.decision_path(X).toarray()
    assert_allclose(model._forest.w_p, w_p @ reached, atol=1e-15)
    assert_allclose(model._forest.w_u, w_u @ reached, atol=1e-15)


# Unlabeled rows of three kinds: how many, how many of them positive, and how many are checked.
KINDS = {0.0: (4, 3, 2), 1.0: (4, 1, 1), 2.0: (2, 0, 2)}


def designs():
    """All ways to check the given number of rows of each kind."""
    first, parts = 0, []
    for n, _, k in KINDS.values():
        parts.append(list(itertools.combinations(range(first, first + n), k)))
        first += n
    return [sum(rows, ()) for rows in itertools.product(*parts)]


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("sar", [False, True])
def test_masses_are_unbiased(scenario, sar):
    """Over all equally likely designs, the mean of W_p is that of the positives, for each kind."""
    x = np.repeat(list(KINDS), [n for n, _, _ in KINDS.values()])
    truth = np.concatenate([np.arange(n) < p for n, p, _ in KINDS.values()])
    e = np.concatenate([np.full(n, k / n) for n, _, k in KINDS.values()])
    # As many labeled rows of each kind as unlabeled positives: random labels. With propensities,
    # twice as many of the first kind.
    n_labeled = [6, 1, 0] if sar else [3, 1, 0]
    x = np.append(np.repeat(list(KINDS), n_labeled), x)
    y = np.repeat([1, 0], [sum(n_labeled), len(truth)])
    truth = np.append(np.ones(sum(n_labeled), dtype=bool), truth)
    e = np.append([0.5] * n_labeled[0] + [0.25] * n_labeled[1], e)
    propensity = None
    if sar:
        of_kind = [2 / 3, 1 / 2] if scenario == "single-training-set" else [1.0, 0.5]
        propensity = np.where(x == 0, *of_kind)
    population = y == 0 if scenario == "case-control" else np.ones(len(y), dtype=bool)
    prior = truth[population].mean()
    found = []
    for design in designs():
        rows_checked = np.flatnonzero(y == 0)[list(design)]
        checked = np.full(len(y), np.nan)
        checked[rows_checked] = truth[rows_checked]
        rows = training_rows(y, None, propensity, risk="nnpu", checked=checked, check_probability=e)
        masses = group_masses(
            risk="nnpu", scenario=scenario, prior=prior, labeled=rows.labeled_weight,
            unlabeled=rows.unlabeled_weight, propensity=rows.propensity,
        )  # fmt: skip
        sample = training_sample(rows, masses)
        weighted, at_root = growth(rows, masses)
        assert_allclose(at_root.labeled_p + at_root.confirmed_p, prior * sample.positive.sum())
        assert_allclose(sample.population.sum(), 1)
        kind = x[weighted.order].astype(int)
        found.append(np.bincount(kind, prior * sample.positive, minlength=len(KINDS)))
    expected = np.bincount(x[population & truth].astype(int), minlength=len(KINDS))
    assert_allclose(np.mean(found, axis=0), expected / population.sum(), atol=1e-12)
    assert np.std(found, axis=0)[0] > 0


def blob_checks(blobs, n=60, seed=0):
    X, labeled, truth = blobs
    checked = np.full(len(X), np.nan)
    rows = np.random.default_rng(seed).choice(np.flatnonzero(labeled == 0), n, replace=False)
    checked[rows] = truth[rows]
    return X, labeled, truth, checked


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_without_verdicts_nothing_changes(kind, blobs):
    X, labeled, _ = blobs
    model = kind(prior=0.4, random_state=0)
    plain = model.fit(X, labeled)._forest
    none = np.full(len(X), np.nan)
    again = kind(prior=0.4, random_state=0).fit(X, labeled, checked=none, check_probability=0.3)
    assert again._record.n_confirmed == again._record.n_refuted == 0
    for name, array in plain._arrays().items():
        assert_array_equal(getattr(again._forest, name), array)


@pytest.mark.parametrize("kind", [PUExtraTreeClassifier, PUForestClassifier])
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_prior_is_estimated_from_verdicts_if_all_rows_could_be_checked(kind, scenario, blobs):
    X, labeled, y = blobs
    u = np.flatnonzero(labeled == 0)
    checked = np.full(len(X), np.nan)
    checked[u[:60]] = y[u[:60]]  # rows are in random order
    e = 60 / len(u)
    for probability in (None, e, np.full(len(X), e)):
        with pytest.warns(PriorEstimatedWarning, match=r"checks"):
            model = kind(scenario=scenario, random_state=0).fit(
                X, labeled, checked=checked, check_probability=probability
            )
        known = labeled.sum() if scenario == "single-training-set" else 0
        truth = (known + y[u].sum()) / (known + len(u))
        low, high = model.prior_interval_
        assert low < truth < high
        assert model.prior_estimate_.method == "checks"
    top = np.where(np.isnan(checked), 0, 1)
    with pytest.warns(PriorEstimatedWarning, match="bbe"):
        kind(scenario=scenario, random_state=0).fit(
            X, labeled, checked=checked, check_probability=top
        )
    weight = np.where(np.arange(len(X)) % 2, 1.0, 2.0)
    with (
        pytest.warns(UserWarning, match="differ in sample_weight"),
        pytest.warns(PriorEstimatedWarning, match="bbe"),
    ):
        kind(scenario=scenario, random_state=0).fit(X, labeled, weight, checked=checked)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_probability_zero_leaves_labeled_rows_as_they_are(scenario, blobs):
    _, labeled, _, checked = blob_checks(blobs)
    checked[checked == 1] = np.nan
    e = np.where(labeled, 0.0, 0.1)
    samples = []
    for given_checks in ({}, {"checked": checked, "check_probability": e}):
        rows = training_rows(labeled, None, None, risk="nnpu", **given_checks)
        masses = group_masses(
            risk="nnpu", scenario=scenario, prior=0.4, labeled=rows.labeled_weight,
            unlabeled=rows.unlabeled_weight,
        )  # fmt: skip
        sample = training_sample(rows, masses)
        samples.append((sample.positive, sample.population))
    assert_array_equal(*samples)


@pytest.mark.parametrize("thresholds", ["random", "optimal"])
def test_if_all_rows_are_checked_masses_are_supervised(thresholds, blobs):
    X, labeled, truth = blobs
    common = {"random_state": 0, "max_depth": 5}
    supervised = TREES[thresholds](risk="pn", **common).fit(X, truth)
    checked = TREES[thresholds](0.31, scenario="single-training-set", **common).fit(
        X, labeled, checked=np.where(labeled, np.nan, truth)
    )
    assert_array_equal(checked._forest.feature, supervised._forest.feature)
    assert_array_equal(checked._forest.threshold, supervised._forest.threshold)
    assert_allclose(checked._forest.w_p, supervised._forest.w_p, atol=1e-14)
    assert_allclose(checked._forest.w_u, supervised._forest.w_u, atol=1e-14)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_labeled_rows_may_have_no_weight(kind, blobs):
    """In case-control data, labeled rows that would have been checked for sure do not count."""
    X, labeled, truth = blobs
    model = kind(prior=0.31, random_state=0).fit(
        X, labeled, checked=np.where(labeled, np.nan, truth)
    )
    fraction = truth[labeled == 0].mean()
    roots = model._forest.offset[:-1]
    assert_allclose(model._forest.w_p[roots], fraction)
    assert np.mean(model.predict(X) == truth) > 0.8
    assert np.isfinite(model.predict_proba(X)).all()


@pytest.mark.parametrize("kind", ESTIMATORS)
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_roots_have_the_masses_of_all_rows(kind, scenario, blobs):
    X, labeled, _, checked = blob_checks(blobs)
    e = np.where(X[:, 0] > 0.5, 0.4, 0.1)
    model = kind(prior=0.4, scenario=scenario, random_state=0)
    model.fit(X, labeled, checked=checked, check_probability=e)
    w_p, _ = oracle.row_weights(
        labeled == 1, np.ones(len(X)), risk="nnpu", scenario=scenario, prior=0.4, verdict=checked,
        e=e,
    )  # fmt: skip
    roots = model._forest.offset[:-1]
    assert_allclose(model._forest.w_p[roots], w_p.sum())
    assert_allclose(model._forest.w_u[roots], 1)
    assert model.prior_ == 0.4
    assert model._record.n_confirmed == np.nansum(checked)
    assert model._record.n_confirmed + model._record.n_refuted == 60


@pytest.mark.parametrize("kind", ESTIMATORS[:2])
def test_order_of_rows_does_not_matter(kind, blobs):
    X, labeled, _, checked = blob_checks(blobs)
    model = kind(prior=0.4, random_state=0, max_leaf_nodes=20)
    first = model.fit(X, labeled, checked=checked).predict_proba(X)
    shuffled = np.random.default_rng(1).permutation(len(X))
    model.fit(X[shuffled], labeled[shuffled], checked=checked[shuffled])
    assert_allclose(model.predict_proba(X), first)


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("kind", ESTIMATORS[:2])
def test_weight_two_is_the_row_twice(kind, scenario, blobs):
    X, labeled, _, checked = blob_checks(blobs)
    times = np.random.default_rng(0).integers(0, 3, len(X))
    model = kind(prior=0.5, scenario=scenario, random_state=0, max_depth=6, min_samples_leaf=1)
    weighted = model.fit(X, labeled, times, checked=checked).predict_proba(X)
    model.fit(X.repeat(times, axis=0), labeled.repeat(times), checked=checked.repeat(times))
    assert_allclose(model.predict_proba(X), weighted)


def test_verdicts_of_any_type(blobs):
    X, labeled, _, checked = blob_checks(blobs)
    as_objects = [None if np.isnan(v) else bool(v) for v in checked]
    expected = PUExtraTreeClassifier(0.4, random_state=0).fit(X, labeled, checked=checked)
    for other in (
        as_objects,
        pd.Series(as_objects, dtype="boolean"),
        pd.Series(checked).astype("Int64"),
        pd.Series(checked),
        np.array(as_objects, dtype=object),
    ):
        model = PUExtraTreeClassifier(0.4, random_state=0).fit(X, labeled, checked=other)
        assert_array_equal(model._forest.w_p, expected._forest.w_p)


def test_default_is_a_simple_random_sample(blobs):
    X, labeled, _, checked = blob_checks(blobs)
    e = 60 / np.count_nonzero(labeled == 0)
    model = PUExtraTreesClassifier(0.4, n_estimators=5, random_state=0)
    default = model.fit(X, labeled, checked=checked).predict_proba(X)
    for same in (e, np.full(len(X), e), np.where((labeled == 1) | (checked >= 0), e, np.nan)):
        model.fit(X, labeled, checked=checked, check_probability=same)
        assert_array_equal(model.predict_proba(X), default)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_refused(kind, blobs):
    X, labeled, _, checked = blob_checks(blobs)
    row = int(np.flatnonzero(labeled)[3])
    wrong = checked.copy()
    wrong[row] = 0
    model = kind(prior=0.4)

    def refuses(message, **kwargs):
        with pytest.raises(ValueError, match=message):
            model.fit(X, labeled, **kwargs)

    refuses(f"row {row} was found negative, but labeled as positive in y", checked=wrong)
    refuses("check_probability is .*pass the verdicts too", check_probability=0.1)
    refuses("checked must have the shape", checked=checked[1:])
    wrong = checked.copy()
    wrong[7] = 2
    refuses("got 2.0 in row 7", checked=wrong)
    words = np.where(np.isnan(checked), None, "yes").tolist()
    first = next(i for i, word in enumerate(words) if word)
    refuses(f"checked must be 1 or True .* got 'yes' in row {first}", checked=words)
    e = np.full(len(X), 0.1)
    e[first] = 0
    refuses(f"above 0 .* for checked rows, got 0 for row {first}", checked=checked,
            check_probability=e)  # fmt: skip
    e[first], e[row] = 0.1, np.nan
    refuses(f"labeled rows, got nan for row {row}", checked=checked, check_probability=e)
    refuses("above 0 and at most 1", checked=checked, check_probability=1.5)
    everything = np.where(labeled, np.nan, 1.0)
    refuses("all unlabeled rows were found positive", checked=everything)


def test_supervised_fits_take_no_verdicts(blobs):
    X, labeled, _, checked = blob_checks(blobs)
    with pytest.raises(ValueError, match="cannot be used with risk='pn'"):
        PUExtraTreesClassifier(risk="pn").fit(X, labeled, checked=checked)


@pytest.mark.parametrize("kind", [PUExtraTreesClassifier, PURandomForestClassifier])
def test_same_forest_for_any_number_of_threads_and_in_parts(kind, blobs):
    X, labeled, _, checked = blob_checks(blobs)
    model = kind(0.4, n_estimators=8, random_state=0, max_unlabeled=100)
    expected = model.fit(X, labeled, checked=checked)._forest
    threaded = kind(0.4, n_estimators=8, random_state=0, max_unlabeled=100, n_jobs=2)
    grown = kind(0.4, n_estimators=3, random_state=0, max_unlabeled=100, warm_start=True)
    grown.fit(X, labeled, checked=checked)
    grown.set_params(n_estimators=8)
    for other in (threaded, grown):
        other.fit(X, labeled, checked=checked)
        for name, array in expected._arrays().items():
            assert_array_equal(getattr(other._forest, name), array)


@pytest.mark.parametrize("kind", [ESTIMATORS[2], ESTIMATORS[-1]])
def test_the_prior_can_be_estimated(kind, blobs):
    X, labeled, _, checked = blob_checks(blobs)
    with pytest.warns(PriorEstimatedWarning):
        model = kind(random_state=0).fit(X, labeled, checked=checked)
    assert model.prior_ == model.prior_estimate_.value
    assert model._record.n_confirmed > 0


def test_checks_help_where_labeled_rows_are_misleading():
    """Labeled rows come from one of two clusters of positives; checks find the other one."""
    rng = np.random.default_rng(0)
    n = 1500
    center = np.repeat([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]], [n, n // 4, n // 4], axis=0)
    X = rng.normal(size=center.shape) + center
    truth = center.any(axis=1)
    X = np.append(rng.normal(size=(200, 2)) + center[n], X, axis=0)
    y = np.repeat([1, 0], [200, len(truth)])
    truth = np.append(np.ones(200, dtype=bool), truth)
    checked = np.full(len(y), np.nan)
    rows = 200 + rng.choice(len(y) - 200, 600, replace=False)
    checked[rows] = truth[rows]
    model = PUForestClassifier(1 / 3, n_estimators=50, random_state=0)
    of_second = slice(-(n // 4), None)
    assert model.fit(X, y).predict(X[of_second]).mean() < 0.3
    assert model.fit(X, y, checked=checked).predict(X[of_second]).mean() > 0.7
