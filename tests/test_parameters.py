"""Every parameter changes the result, in the way it says."""

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

from puforest import (
    PUDecisionTreeClassifier,
    PUExtraTreeClassifier,
    PUExtraTreesClassifier,
    PURandomForestClassifier,
)
from puforest._progress import Progress

FORESTS = (PUExtraTreesClassifier, PURandomForestClassifier)
TREES = (PUDecisionTreeClassifier, PUExtraTreeClassifier)
ALL = FORESTS + TREES


def fitted(cls, data, **params):
    X, labeled, _ = data
    given = {"prior": 0.4, "random_state": 0} | ({"n_estimators": 8} if cls in FORESTS else {})
    return cls(**given | params).fit(X, labeled)


def same_trees(a, b):
    a, b = a._forest, b._forest
    return a.offset.tolist() == b.offset.tolist() and all(
        np.array_equal(getattr(a, name), getattr(b, name)) for name in ("feature", "threshold")
    )


CHANGES = {
    "prior": 0.6,
    "scenario": "single-training-set",
    "risk": "upu",
    "loss": "logistic",
    "max_features": 1,
    "max_depth": 2,
    "min_samples_split": 60,
    "min_samples_leaf": 30,
    "min_risk_reduction": 0.01,
    "max_leaf_nodes": 4,
}


@pytest.mark.parametrize(("name", "value"), CHANGES.items())
@pytest.mark.parametrize("cls", ALL)
def test_parameters_of_all_change_the_trees(cls, name, value, blobs):
    assert not same_trees(fitted(cls, blobs), fitted(cls, blobs, **{name: value}))


@pytest.mark.parametrize("cls", FORESTS)
@pytest.mark.parametrize("change", [{"max_labeled": 20}, {"max_unlabeled": 50}], ids=str)
def test_parameters_of_forests_change_the_trees(cls, change, blobs):
    assert not same_trees(fitted(cls, blobs), fitted(cls, blobs, **change))
    opposite = not cls().bootstrap
    assert not same_trees(fitted(cls, blobs), fitted(cls, blobs, bootstrap=opposite))


@pytest.mark.parametrize("cls", [PUExtraTreeClassifier, *FORESTS])
def test_random_state_changes_the_trees(cls, blobs):
    assert same_trees(fitted(cls, blobs), fitted(cls, blobs))
    assert not same_trees(fitted(cls, blobs), fitted(cls, blobs, random_state=1))
    again = [fitted(cls, blobs, random_state=np.random.RandomState(0)) for _ in range(2)]
    assert same_trees(*again)
    assert not same_trees(fitted(cls, blobs, random_state=None), fitted(cls, blobs))


def test_random_state_chooses_the_features_of_a_decision_tree(blobs):
    trees = [
        fitted(PUDecisionTreeClassifier, blobs, max_features=1, random_state=s) for s in (0, 1)
    ]
    assert not same_trees(*trees)


@pytest.mark.parametrize("cls", [PUExtraTreeClassifier, PUExtraTreesClassifier])
def test_more_thresholds_find_better_splits(cls, blobs):
    one, many = (fitted(cls, blobs, n_thresholds=t, max_depth=1) for t in (1, 200))
    assert many.feature_importances_.sum() > one.feature_importances_.sum()


@pytest.mark.parametrize(
    ("value", "d", "expected"),
    [
        ("sqrt", 6, 3), ("sqrt", 9, 3), ("log2", 9, 4), ("log2", 1, 1),
        (2, 6, 2), (0.5, 5, 3), (1.0, 5, 5), (None, 5, 5),
    ],
)  # fmt: skip
def test_max_features(value, d, expected):
    """As many features are tried at the root as asked for: count by what the best one is."""
    rng = np.random.default_rng(0)
    labeled = np.arange(40) < 20
    # Feature j separates the classes the better the smaller j is, so the best of a random
    # choice of k out of d features is feature 0 with probability k / d.
    rank = rng.permuted(np.tile(np.arange(40), (d, 1)), axis=1).T
    noise = rank < 3 * np.arange(d)
    X = np.where(noise, 1 - labeled[:, None], labeled[:, None]).astype(float)
    forest = PUExtraTreesClassifier(
        risk="pn", max_features=value, max_depth=1, n_estimators=2000, random_state=0
    ).fit(X, labeled)
    roots = forest._forest.feature[forest._forest.offset[:-1]]
    assert (roots == 0).mean() == pytest.approx(expected / d, abs=0.04)


@pytest.mark.parametrize("cls", ALL)
def test_sizes_are_respected(cls, blobs):
    n = len(blobs[0])
    plain = cls in TREES or not cls().bootstrap
    forest = fitted(cls, blobs, min_samples_leaf=25)._forest
    rows = forest.n_labeled + forest.n_unlabeled
    assert rows.min() >= 25
    share = fitted(cls, blobs, min_samples_leaf=25 / n)
    assert same_trees(share, fitted(cls, blobs, min_samples_leaf=25))
    forest = fitted(cls, blobs, min_samples_split=0.2)._forest
    inner = (forest.n_labeled + forest.n_unlabeled)[forest.feature >= 0]
    assert inner.min() >= 0.2 * n if plain else inner.min() >= 0.19 * n
    assert fitted(cls, blobs, max_depth=3).get_depth() == 3
    assert fitted(cls, blobs).get_depth() > 3


@pytest.mark.parametrize("cls", ALL)
def test_min_risk_reduction_is_respected(cls, blobs):
    model = fitted(cls, blobs, min_risk_reduction=0.004)
    _, reductions = model._forest.reductions("nnpu", "quadratic")
    assert reductions.min() >= 0.004 - 1e-12
    _, reductions = fitted(cls, blobs)._forest.reductions("nnpu", "quadratic")
    assert reductions.min() < 0.004


@pytest.mark.parametrize("cls", ALL)
def test_best_first_growth_makes_the_most_valuable_splits(cls, blobs):
    """A tree of k leaves is part of the full tree, and reduces the risk more than a smaller one.

    That no open leaf beats a split made is compared with the naive forest in test_oracle.py.
    """
    full = fitted(cls, blobs, max_leaf_nodes=10**6)
    depth_first = fitted(cls, blobs)
    assert full.get_n_leaves() == depth_first.get_n_leaves()
    assert np.sort(full._forest.threshold).tolist() == np.sort(
        depth_first._forest.threshold
    ).tolist()  # fmt: skip
    previous = 0.0
    for k in (2, 5, 12):
        part = fitted(cls, blobs, max_leaf_nodes=k)
        assert part.get_n_leaves() == k * part._forest.n_trees
        assert set(part._forest.threshold) <= set(full._forest.threshold)
        reduced = part.feature_importances_.sum()
        assert reduced > previous
        previous = reduced


def test_best_first_beats_depth_first_of_the_same_size(blobs):
    X, labeled, _ = blobs
    best = PUDecisionTreeClassifier(0.4, max_leaf_nodes=8).fit(X, labeled)
    level = PUDecisionTreeClassifier(0.4, max_depth=3).fit(X, labeled)
    assert level.get_n_leaves() <= 8
    assert best.feature_importances_.sum() >= level.feature_importances_.sum()


@pytest.mark.parametrize("cls", ALL)
def test_voting(cls, blobs):
    X, *_ = blobs
    hard, soft = (fitted(cls, blobs, voting=v, min_samples_leaf=20) for v in ("hard", "soft"))
    assert same_trees(hard, soft)
    assert not np.array_equal(hard.predict_proba(X), soft.predict_proba(X))
    votes, shares = [], []
    for tree in hard.estimators_ if cls in FORESTS else [hard]:
        leaf = tree.apply(X)
        w_p, w_u = tree._forest.w_p[leaf], tree._forest.w_u[leaf]
        votes.append(np.where(2 * w_p > w_u, 1, -1))
        shares.append(np.clip(np.divide(w_p, w_u, where=w_u > 0, out=np.ones(len(X))), 0, 1))
    np.testing.assert_allclose(hard.decision_function(X), np.mean(votes, axis=0), atol=1e-15)
    np.testing.assert_allclose(soft.predict_proba(X)[:, 1], np.mean(shares, axis=0), atol=1e-15)


@pytest.mark.parametrize("cls", FORESTS)
def test_n_estimators_and_max_samples(cls, blobs):
    model = fitted(cls, blobs, n_estimators=3, max_labeled=7, max_unlabeled=0.1)
    forest = model._forest
    assert forest.n_trees == len(model.estimators_) == 3
    roots = forest.offset[:-1]
    assert_array_equal(forest.n_labeled[roots], 7)
    assert_array_equal(forest.n_unlabeled[roots], np.ceil(0.1 * (blobs[1] == 0).sum()))


@pytest.mark.parametrize("cls", FORESTS)
def test_a_bootstrap_of_one_training_set_draws_rows_together(cls, blobs):
    X, *_ = blobs
    for scenario, fixed in (("case-control", True), ("single-training-set", False)):
        forest = fitted(cls, blobs, bootstrap=True, scenario=scenario)._forest
        roots = forest.offset[:-1]
        assert (len(set(forest.n_labeled[roots])) == 1) == fixed
        assert_array_equal(forest.n_labeled[roots] + forest.n_unlabeled[roots], len(X))
        np.testing.assert_allclose(forest.w_p[roots], 0.4)
        np.testing.assert_allclose(forest.w_u[roots], 1)


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="counts threads in /proc")
def test_n_jobs_is_the_number_of_threads(blobs, monkeypatch):
    seen = []

    class Probe(Progress):
        def __call__(self, done, total):
            seen.append(len(list(Path("/proc/self/task").iterdir())))

    monkeypatch.setattr("puforest._base.Progress", Probe)
    threads = {}
    for n_jobs in (1, 4):
        seen.clear()
        model = fitted(PURandomForestClassifier, blobs, n_jobs=n_jobs, n_estimators=1500, verbose=1)
        threads[n_jobs] = max(seen)
        assert model._forest.n_trees == 1500
    assert threads[4] == threads[1] + 3


@pytest.mark.parametrize("cls", FORESTS)
def test_verbose_reports_progress(cls, blobs, capsys):
    fitted(cls, blobs)
    assert capsys.readouterr() == ("", "")
    fitted(cls, blobs, verbose=1)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.endswith(" s\n")
    assert "puforest: 8/8 trees" in err


def test_progress_speaks_at_most_once_an_interval(capsys):
    progress = Progress(interval=3600)
    for done in range(5):
        progress(done, 5)
    assert capsys.readouterr().err == ""
    progress = Progress(interval=0)
    progress(2, 5)
    assert capsys.readouterr().err.startswith("puforest: 2/5 trees, ")


@pytest.mark.filterwarnings("ignore:oob_score=True")
@pytest.mark.parametrize("cls", FORESTS)
def test_warm_start_adds_trees(cls, blobs):
    X, labeled, _ = blobs
    whole = fitted(cls, blobs, oob_score=True, bootstrap=True)
    grown = fitted(cls, blobs, n_estimators=3, warm_start=True, oob_score=True, bootstrap=True)
    first = grown.estimators_[0]
    grown.set_params(n_estimators=8).fit(X, labeled)
    assert same_trees(whole, grown)
    assert same_trees(first, grown.estimators_[0])
    assert_array_equal(whole.oob_decision_function_, grown.oob_decision_function_)
    with pytest.warns(UserWarning, match="none is added") as caught:
        grown.fit(X, labeled)
    assert {w.filename for w in caught} == {__file__}
    assert same_trees(whole, grown)
    assert_array_equal(whole.oob_decision_function_, grown.oob_decision_function_)
    with pytest.raises(ValueError, match="n_estimators=2 is less than the 8 trees"):
        grown.set_params(n_estimators=2).fit(X, labeled)
    grown.set_params(warm_start=False).fit(X, labeled)
    assert grown._forest.n_trees == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"prior": 0.7}, r"grown with prior=0.4, but now prior=0.7"),
        ({"risk": "upu"}, "grown with risk='nnpu'"),
        ({"loss": "logistic"}, "grown with loss='quadratic'"),
        ({"scenario": "single-training-set"}, "grown with scenario='case-control'"),
        ({"bootstrap": True, "oob_score": True}, "must be the same as in the first fit"),
    ],
    ids=str,
)
def test_warm_start_does_not_mix(change, message, blobs):
    X, labeled, _ = blobs
    model = fitted(PUExtraTreesClassifier, blobs, warm_start=True)
    before = model.predict_proba(X)
    with pytest.raises(ValueError, match=message):
        model.set_params(n_estimators=9, **change).fit(X, labeled)
    assert model.prior_ == 0.4
    assert_array_equal(model.predict_proba(X), before)
    model.set_params(prior=0.4, risk="nnpu", loss="quadratic", scenario="case-control")
    with pytest.raises(ValueError, match=r"classes \[0, 1\] of y, but now they are \[1, 2\]"):
        model.set_params(oob_score=False).fit(X, labeled + 1)


def test_parameters_set_after_the_fit_do_not_change_what_was_learned(blobs):
    X, *_ = blobs
    model = fitted(PUExtraTreesClassifier, blobs, min_samples_leaf=20)
    importances, other = model.feature_importances_, model.with_prior(0.6).predict_proba(X)
    model.set_params(loss="logistic", risk="pn", prior=0.1)
    assert_array_equal(model.feature_importances_, importances)
    assert_array_equal(model.with_prior(0.6).predict_proba(X), other)


class SmallForest(PUExtraTreesClassifier):
    """A subclass that fixes all parameters but one."""

    def __init__(self, prior=None):
        super().__init__(prior, n_estimators=7, max_depth=2, random_state=0)


def test_subclasses_can_fix_parameters(blobs):
    X, labeled, _ = blobs
    model = SmallForest(0.4).fit(X, labeled)
    same = PUExtraTreesClassifier(0.4, n_estimators=7, max_depth=2, random_state=0)
    assert_array_equal(model.predict_proba(X), same.fit(X, labeled).predict_proba(X))
    assert clone(model).get_params() == {"prior": 0.4}
