"""A fit on the rows that it needs is the fit on the whole table."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from puforest import PUForestClassifier, Recipe, _candidates, _core, _needed_rows
from puforest._encoded import EncodedTable
from puforest._needed_rows import needed_by_candidates, needed_by_trees, part_of
from puforest._schema import FeatureSchema
from puforest._training import grow, set_masses, train_params
from puforest._training_rows import training_rows

N, LABELED, SEED = 6000, 40, 3
RECIPES = [Recipe(), Recipe("best", "nnpu", unlabeled_per_labeled=2)]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    y = np.zeros(N, dtype=int)
    y[rng.choice(N, LABELED, replace=False)] = 1
    X = rng.normal(size=(N, 4)) + y[:, None]
    X[100:300] = X[300:500]  # duplicates
    return X, y


@pytest.fixture
def small(monkeypatch):
    """Make a fit need a small part of a small table."""
    monkeypatch.setattr(_candidates, "MAX_COMPARED", 200)
    for module in (_candidates, _needed_rows):
        monkeypatch.setattr(module, "MAX_EVALUATED", 400)
        monkeypatch.setattr(module, "N_SAMPLES", 5)


def part(X, y, needed):
    """Labeled and needed rows, as a table of their own."""
    kept = np.flatnonzero(needed.mark(0, N) | (y == 1))
    whole = training_rows(y, None, None, risk="nnpu")
    rows = training_rows(y[kept], None, None, risk="nnpu")
    ids = kept[rows.order].astype(np.uint64)
    return X[kept], part_of(replace(rows, ids=ids, whole=whole.totals), needed)


def fitted(X, rows, **changes):
    given = {"prior": 0.3, "candidates": RECIPES, "n_estimators": 20, **changes}
    model = PUForestClassifier(**given)
    schema, table = FeatureSchema.of_table(X)
    data = model._training_set(schema, table, rows, SEED)
    scores = model._fit_to(data, schema, None, lambda c: model._estimated(c, data, *[None] * 4))
    return model, scores


def needed_rows(n_trees=20, **changes):
    return needed_by_candidates(
        RECIPES, n_labeled=LABELED, n_unlabeled=N - LABELED, n_trees=n_trees, seed=SEED, **changes
    )


@pytest.mark.parametrize("scenario", ["case-control", "single-training-set"])
def test_candidates_on_the_rows_they_need(data, small, scenario):
    X, y = data
    X_part, rows = part(X, y, needed_rows())
    assert len(X_part) < N / 2
    model, scores = fitted(X, training_rows(y, None, None, risk="nnpu"), scenario=scenario)
    same, same_scores = fitted(X_part, rows, scenario=scenario)
    assert_array_equal(scores, same_scores)
    assert_array_equal(model._forest.threshold, same._forest.threshold)
    assert_array_equal(model._forest.w_u, same._forest.w_u)
    assert model.threshold_ == same.threshold_
    assert_array_equal(model.predict_proba(X), same.predict_proba(X))
    assert same._record.n_unlabeled == N - LABELED


def test_rows_that_are_missing_are_noticed(data, small):
    X, y = data
    needed = needed_rows()
    few = replace(needed, fraction=needed.fraction / 2)
    with pytest.raises(_core.IncompleteSample, match="left out"):
        fitted(*part(X, y, few))
    few = replace(needed, evaluated=needed.evaluated / 2)
    with pytest.raises(_core.IncompleteSample):
        fitted(*part(X, y, few))


@pytest.mark.parametrize("replaced", [False, True])
def test_trees_on_the_rows_they_need(data, replaced):
    X, y = data
    needed = needed_by_trees(5, 100, n_unlabeled=N - LABELED, seed=SEED)
    X_part, part_rows = part(X, y, needed)
    forests = []
    for table, rows in ((X, training_rows(y, None, None, risk="nnpu")), (X_part, part_rows)):
        encoded = EncodedTable(table)
        params = train_params(
            {"risk": "nnpu", "scenario": "case-control", "n_estimators": 5, "n_jobs": 1},
            thresholds=_core.Thresholds.random,
            rows=rows,
            table=encoded,
        )
        params.sampling = _core.Sampling(replaced, False, LABELED, 100)
        params.seed = SEED
        set_masses(params, PUForestClassifier(prior=0.3)._masses(rows, 0.3))
        forests.append(grow(encoded, rows, params))
    assert_array_equal(forests[0].threshold, forests[1].threshold)
    assert_array_equal(forests[0].w_p, forests[1].w_p)


def test_few_trees_need_few_samples():
    assert needed_rows(n_trees=7).samples == range(10)
    assert needed_rows(n_trees=800).samples == range(240)
    assert needed_rows().part(range(3)).mark(0, N).sum() < needed_rows().mark(0, N).sum() / 2
    assert needed_rows().only_evaluated().mark(0, N).all()  # there are fewer than 200,000
