"""The fitted forest: predictions, node fields, views, importances, other priors."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError

from puforest import (
    PUDecisionTreeClassifier,
    PUExtraTreesClassifier,
    PURandomForestClassifier,
    _core,
)
from puforest._model import NODE_FIELDS, Forest
from puforest.datasets import make_pu
from puforest.risk import minimum_risk


@pytest.fixture
def forest(blobs):
    X, labeled, _ = blobs
    return PUExtraTreesClassifier(0.4, n_estimators=12, random_state=0).fit(X, labeled)


def test_prediction_methods_are_consistent(forest, blobs):
    X, *_ = blobs
    proba, decision = forest.predict_proba(X), forest.decision_function(X)
    assert_allclose(proba.sum(axis=1), 1)
    assert proba.min() >= 0
    assert_allclose(decision, 2 * proba[:, 1] - 1)
    assert_array_equal(forest.predict(X), proba.argmax(axis=1))
    assert (decision == 0).any(), "no ties to test"
    assert_array_equal(forest.predict(X)[decision == 0], 0)


@pytest.mark.parametrize("coding", [(-1, 1), (False, True), ("a", "b")])
def test_labels_keep_their_coding(coding, blobs):
    X, labeled, _ = blobs
    y = np.array(coding)[labeled]
    model = PUDecisionTreeClassifier(0.4, random_state=0).fit(X, y)
    plain = PUDecisionTreeClassifier(0.4, random_state=0).fit(X, labeled)
    assert_array_equal(model.classes_, coding)
    assert_array_equal(model.predict(X), np.array(coding)[plain.predict(X)])


@pytest.mark.parametrize("words", [("positive", "unlabeled"), ("P", "U"), ("bad", "unknown")])
def test_labels_that_would_swap_the_classes_are_rejected(words, blobs):
    X, labeled, _ = blobs
    with pytest.raises(ValueError, match=f"{words[1]}.*would mean labeled: pass y as numbers"):
        PUDecisionTreeClassifier(0.4).fit(X, np.array(words)[1 - labeled])


def test_estimators_are_views(forest, blobs):
    X, *_ = blobs
    trees = forest.estimators_
    votes = np.mean([tree.decision_function(X) for tree in trees], axis=0)
    assert_allclose(forest.decision_function(X), votes, atol=1e-15)
    assert_array_equal(forest.apply(X), np.column_stack([tree.apply(X) for tree in trees]))
    assert_allclose(
        forest.feature_importances_, np.mean([t.feature_importances_ for t in trees], axis=0)
    )
    for tree in trees:
        assert np.shares_memory(tree._forest.threshold, forest._forest.threshold)
        assert_array_equal(tree.classes_, forest.classes_)
    assert forest.get_depth() == max(tree.get_depth() for tree in trees)
    assert forest.get_n_leaves() == sum(tree.get_n_leaves() for tree in trees)


def test_decision_path_leads_from_root_to_leaf(forest, blobs):
    X = blobs[0][:40]
    indicator, starts = forest.decision_path(X)
    assert indicator.shape == (40, len(forest._forest.feature))
    leaves = forest.apply(X)
    for t, tree in enumerate(forest.estimators_):
        own = indicator[:, starts[t] : starts[t + 1]].toarray()
        assert_array_equal(own, tree.decision_path(X).toarray())
        f = tree._forest
        for i, x in enumerate(X):
            node, path = 0, [0]
            while f.feature[node] >= 0:
                node = f.left[node] + (not x[f.feature[node]] <= f.threshold[node])
                path.append(node)
            assert_array_equal(np.flatnonzero(own[i]), sorted(path))
            assert leaves[i, t] == node


def test_importances_are_risk_reductions(blobs):
    X, labeled, _ = blobs
    tree = PUDecisionTreeClassifier(0.4, max_depth=4).fit(X, labeled)
    f = tree._forest
    plain, normalized = np.zeros(6), np.zeros(6)
    for i in np.flatnonzero(f.feature >= 0):
        nodes = [i, f.left[i], f.left[i] + 1]
        node, left, right = minimum_risk(f.w_p[nodes], f.w_u[nodes])
        plain[f.feature[i]] += node - left - right
        normalized[f.feature[i]] += (node - left - right) / f.w_u[i]
    assert_allclose(tree.feature_importances_, plain)
    assert_allclose(tree.normalized_feature_importances_, normalized)
    # uPU is additive: the reductions add up to the risk of the root minus that of the leaves.
    upu = PUDecisionTreeClassifier(0.4, risk="upu", loss="savage").fit(X, labeled)
    f = upu._forest
    risks = minimum_risk(f.w_p, f.w_u, risk="upu", loss="savage")
    assert_allclose(upu.feature_importances_.sum(), risks[0] - risks[f.is_leaf].sum())
    assert plain[:3].min() > plain[3:].max()


def test_infinite_reductions_are_counted_separately(blobs):
    X, labeled, _ = blobs
    model = PUDecisionTreeClassifier(0.4, risk="upu", loss="logistic").fit(X, labeled)
    assert model.infinite_reductions_.sum() > 0
    assert np.isfinite(model.feature_importances_).all()
    leaves = model._forest.is_leaf
    r = minimum_risk(model._forest.w_p, model._forest.w_u, risk="upu", loss="logistic")
    assert (r[leaves] == -np.inf).any()
    nnpu = PUDecisionTreeClassifier(0.4).fit(X, labeled)
    assert_array_equal(nnpu.infinite_reductions_, 0)


@pytest.mark.parametrize("risk", ["nnpu", "upu", "pn"])
@pytest.mark.parametrize("voting", ["hard", "soft"])
@pytest.mark.parametrize("scenario", ["case-control", "single-training-set"])
def test_another_prior(risk, voting, scenario, blobs):
    """The same trees with the leaf values of the other prior, computed here from counts."""
    X, labeled, _ = blobs
    model = PUExtraTreesClassifier(
        0.4, risk=risk, voting=voting, scenario=scenario, n_estimators=5, random_state=0,
        min_samples_leaf=10,
    ).fit(X, labeled)  # fmt: skip
    before = model.predict_proba(X)
    other = model.with_prior(0.7)
    n_l, n_u = labeled.sum(), (labeled == 0).sum()
    expected = []
    for tree in model.estimators_:
        f, leaf = tree._forest, tree.apply(X)
        p, u = f.n_labeled[leaf], f.n_unlabeled[leaf]
        w_p = 0.7 * p / n_l
        w_u = {
            "pn": w_p + 0.3 * u / n_u,
            "case-control": u / n_u,
            "single-training-set": (p + u) / len(X),
        }["pn" if risk == "pn" else scenario]
        ratio = np.where(w_u > 0, w_p / np.where(w_u > 0, w_u, 1), np.inf)
        expected.append(ratio > 0.5 if voting == "hard" else np.clip(ratio, 0, 1))
    assert_allclose(other.predict_proba(X)[:, 1], np.mean(expected, axis=0), atol=1e-12)
    assert other.prior_ == other.prior == 0.7
    assert model.prior_ == 0.4
    assert_array_equal(model.predict_proba(X), before)
    assert_allclose(other.with_prior(0.4).predict_proba(X), before, atol=1e-12)
    assert np.isfinite(other.feature_importances_).all()


def test_impossible_priors_are_rejected(blobs):
    X, labeled, _ = blobs
    model = PUDecisionTreeClassifier(0.4, scenario="single-training-set").fit(X, labeled)
    with pytest.raises(ValueError, match=r"prior=0.01 is impossible"):
        model.with_prior(0.01)
    with pytest.raises(ValueError, match="prior must be a number between 0 and 1"):
        model.with_prior(1.5)
    with pytest.raises(TypeError, match="prior must be a number between 0 and 1, got None"):
        model.with_prior(None)
    with pytest.raises(NotFittedError):
        PUDecisionTreeClassifier(0.4).with_prior(0.5)


def test_out_of_bag(blobs):
    import oracle
    from test_oracle import seed_of

    X, labeled, _ = blobs
    model = PURandomForestClassifier(
        0.4, scenario="single-training-set", n_estimators=30, oob_score=True, random_state=3
    ).fit(X, labeled)
    order = np.concatenate([np.flatnonzero(labeled), np.flatnonzero(labeled == 0)])
    total, count = np.zeros(len(X)), np.zeros(len(X))
    for t, tree in enumerate(model.estimators_):
        n_l = int(labeled.sum())
        sample = oracle.draw_sample(
            oracle.tree_key(seed_of(3), t), order, n_l,
            replace=True, together=True, labeled=n_l, unlabeled=len(X) - n_l,
        )  # fmt: skip
        held_out = np.setdiff1d(np.arange(len(X)), order[sample])
        total[held_out] += tree.decision_function(X[held_out])
        count[held_out] += 1
    assert_allclose(model.oob_decision_function_, total / count, atol=1e-12)


@pytest.mark.parametrize("scenario", ["case-control", "single-training-set"])
@pytest.mark.parametrize("risk", ["nnpu", "upu"])
def test_out_of_bag_risk_estimates_the_error_rate(scenario, risk):
    rng = np.random.default_rng(5)

    def cloud(y):
        return rng.normal(size=(len(y), 4)) + 1.2 * y[:, None]

    y = rng.random(8000) < 0.4
    X, labeled = make_pu(cloud(y), y, scenario="single-training-set", random_state=0)
    if scenario == "case-control":
        X = np.concatenate([cloud(np.ones(1500)), X])
        labeled = np.repeat([1, 0], [1500, 8000])
    model = PURandomForestClassifier(
        0.4, scenario=scenario, risk=risk, loss="logistic", oob_score=True, min_samples_leaf=10,
        n_estimators=50, random_state=0,
    ).fit(X, labeled)  # fmt: skip
    assert model.oob_risk_ == pytest.approx(1 - model.score(cloud(y), y), abs=0.02)


def test_rows_that_are_never_out_of_bag(blobs):
    X, labeled, _ = blobs
    model = PUExtraTreesClassifier(0.4, n_estimators=50, max_unlabeled=0.5, oob_score=True)
    with pytest.warns(UserWarning, match="oob_risk_ is nan: no tree leaves out rows of both"):
        model.fit(X, labeled)
    assert_array_equal(np.isnan(model.oob_decision_function_), labeled == 1)
    assert np.isnan(model.oob_risk_)
    with pytest.warns(UserWarning, match="[0-9]+ rows are in the sample of every tree") as caught:
        few = PURandomForestClassifier(0.4, n_estimators=2, oob_score=True).fit(X, labeled)
    assert {w.filename for w in caught} == {__file__}
    assert np.isfinite(few.oob_risk_)
    with pytest.raises(ValueError, match="oob_score=True needs trees that do not see every row"):
        PUExtraTreesClassifier(0.4, oob_score=True).fit(X, labeled)
    with pytest.raises(AttributeError, match="oob_score=True"):
        PUExtraTreesClassifier(0.4).fit(X, labeled).oob_risk_  # noqa: B018
    assert not hasattr(model.with_prior(0.5), "oob_risk_")


def test_weighted_out_of_bag_risk(blobs):
    """Rows with negligible weights do not contribute to the risk."""
    X, labeled, _ = blobs
    weight = np.where(X[:, 5] > 0, 1.0, 1e-9)
    model = PURandomForestClassifier(0.4, n_estimators=60, oob_score=True, random_state=0)
    model.fit(X, labeled, weight)
    positive = model.oob_decision_function_ > 0
    heavy = weight == 1
    r, q = (positive[heavy & (labeled == k)].mean() for k in (1, 0))
    assert model.oob_risk_ == pytest.approx(0.4 * (1 - r) + max(0, q - 0.4 * r), abs=1e-6)


def test_model_is_immutable_and_versioned(forest):
    with pytest.raises(ValueError, match="read-only"):
        forest._forest.threshold[0] = 1
    state = forest._forest.__getstate__()
    again = Forest.__new__(Forest)
    with pytest.raises(ValueError, match="format version 99"):
        again.__setstate__(state | {"version": 99})
    loaded = pickle.loads(pickle.dumps(forest._forest))
    assert not loaded.threshold.flags.writeable


def test_bytes_per_node(forest):
    f = forest._forest
    assert sum(array.nbytes for array in f._nodes().values()) == 45 * len(f.feature)


def test_node_fields_describe_the_arrays(forest):
    f = forest._forest
    inner = np.flatnonzero(~f.is_leaf)
    left = f.left_children()[inner]
    assert len({field.name for field in NODE_FIELDS}) == len(NODE_FIELDS)
    for field in NODE_FIELDS:
        array = getattr(f, field.name)
        assert array.dtype == field.dtype
        assert len(array) == f.offset[-1]
        assert field.meaning
        if field.in_leaves is None:
            assert_allclose(array[inner], array[left] + array[left + 1])
        else:
            assert_array_equal(array[f.is_leaf], field.in_leaves)


@pytest.mark.parametrize("name", [field.name for field in NODE_FIELDS])
def test_invalid_node_fields_are_rejected(name, forest):
    f = forest._forest
    for wrong in (np.zeros(3, dtype=np.int8), np.zeros((3, 2)), None):
        with pytest.raises(TypeError, match=f"{name} is not a contiguous array of"):
            Forest(n_features=6, **f._arrays() | {name: wrong})
    others = {other: array for other, array in f._nodes().items() if other != name}
    with pytest.raises(TypeError, match=f"{name} is not a contiguous array of"):
        Forest(n_features=6, offset=f.offset, categories=f.categories, **others)


def test_core_rejects_invalid_shapes(forest, blobs):
    X, *_ = blobs
    predictor = forest._forest.predictor("hard", X.dtype)
    with pytest.raises(ValueError, match="X has 3 features, but 6 were expected"):
        predictor.mean(X[:, :3].copy(), 1)
    rows = _core.TrainingRows(np.arange(5, dtype=np.uint32), 2, np.ones(1), np.ones(5))
    with pytest.raises(ValueError, match="weights must have one value per row"):
        _core.train(X, rows, _core.TrainParams())
    rows = _core.TrainingRows(np.array([0, 10**6], dtype=np.uint32), 1)
    params = _core.TrainParams()
    params.sampling = _core.Sampling(True, False, 1, 1)
    with pytest.raises(ValueError, match="outside X"):
        _core.train(X, rows, params)
