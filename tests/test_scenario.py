"""Row weights of the scenarios."""

import numpy as np
import oracle
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from puforest import PUDecisionTreeClassifier, PUExtraTreesClassifier
from puforest._masses import GroupMasses, group_masses

LABELED = np.array([True] * 30 + [False] * 70)


def masses(**changes):
    given = {
        "risk": "nnpu",
        "scenario": "case-control",
        "prior": 0.4,
        "labeled": np.ones(30),
        "unlabeled": np.ones(70),
    }
    return group_masses(**given | changes)


@pytest.mark.parametrize(
    ("risk", "scenario", "prior", "sar"),
    [
        ("nnpu", "case-control", 0.4, False),
        ("nnpu", "case-control", 0.4, True),
        ("upu", "case-control", 0.4, False),
        ("nnpu", "single-training-set", 0.4, False),
        ("upu", "single-training-set", 0.4, True),
        ("nnpu", "single-training-set", None, True),
        ("pn", "case-control", 0.4, False),
        ("pn", "case-control", None, False),
        ("pn", "single-training-set", None, False),
    ],
)
def test_masses_are_the_sums_of_the_row_weights(risk, scenario, prior, sar):
    rng = np.random.default_rng(0)
    weight = rng.uniform(0.5, 2, 100)
    propensity = rng.uniform(0.5, 0.9, 100) if sar else None
    w_p, w_u = oracle.row_weights(
        LABELED, weight, risk=risk, scenario=scenario, prior=prior, propensity=propensity
    )
    result = masses(
        risk=risk, scenario=scenario, prior=prior,
        labeled=weight[LABELED], unlabeled=weight[~LABELED],
        propensity=propensity[LABELED] if sar else None,
    )  # fmt: skip
    assert_allclose(result.labeled_p, w_p.sum())
    assert_allclose(result.labeled_u, w_u[LABELED].sum(), atol=1e-15)
    assert_allclose(result.unlabeled_u, w_u[~LABELED].sum())


def test_wrong_scenario_is_badly_wrong():
    """The worked example of a label frequency of .6: W_n .110 in truth, .023 if confused."""
    rng = np.random.default_rng(1)
    n, prior, frequency = 400_000, 0.3, 0.6
    y = rng.random(n) < prior
    here = rng.random(n) < np.where(y, 0.6, 0.1571)
    labeled = y & (rng.random(n) < frequency)
    truth = (here & ~y).mean()
    found = {}
    for scenario in ("case-control", "single-training-set"):
        w_p, w_u = oracle.row_weights(
            labeled, np.ones(n), risk="nnpu", scenario=scenario, prior=prior
        )
        found[scenario] = w_u[here].sum() - w_p[here].sum()
    assert_allclose(truth, 0.11, atol=0.002)
    assert_allclose(found["single-training-set"], truth, atol=0.003)
    assert found["case-control"] < 0.4 * truth


def test_prior_below_the_labeled_share_is_refused():
    message = r"prior=0.2 is impossible .*0.3 of the rows are labeled"
    with pytest.raises(ValueError, match=message):
        masses(scenario="single-training-set", prior=0.2)
    assert masses(prior=0.2) == GroupMasses(0.2, 0.0, 1.0)


def test_missing_prior_says_what_to_do():
    with pytest.raises(ValueError, match=r"prior=None.*for example prior=0.3"):
        masses(prior=None)
    with pytest.raises(ValueError, match=r"prior=None.*single-training-set"):
        masses(prior=None, propensity=np.full(30, 0.5))
    with pytest.raises(ValueError, match=r"propensity.*too small"):
        masses(scenario="single-training-set", prior=None, propensity=np.full(30, 0.2))


def test_prior_of_pn_is_the_class_frequency(blobs):
    X, labeled, _ = blobs
    assert PUDecisionTreeClassifier(risk="pn").fit(X, labeled).prior_ == labeled.mean()


def test_propensities_recover_what_biased_labels_lose():
    """Positives on one side are labeled four times as often as on the other."""
    rng = np.random.default_rng(3)
    n = 6000
    y = rng.random(n) < 0.5
    X = rng.normal(size=(n, 4)) + 1.5 * y[:, None] * [1, 1, 0, 0]
    e = np.where(X[:, 0] > 1.5, 0.8, 0.1)
    labeled = y & (rng.random(n) < e)
    model = PUExtraTreesClassifier(
        prior=y.mean(), scenario="single-training-set", min_samples_leaf=20, random_state=0
    )
    X_test = rng.normal(size=(n, 4)) + 1.5 * y[:, None] * [1, 1, 0, 0]
    without = model.fit(X, labeled).score(X_test, y)
    with_e = model.fit(X, labeled, propensity=e).score(X_test, y)
    assert with_e > without + 0.02
    model.set_params(prior=None).fit(X, labeled, propensity=e)
    assert model.prior_ == pytest.approx((1 / e[labeled]).sum() / n)
    assert model.score(X_test, y) > without + 0.02


@pytest.mark.parametrize("tiny", [5e-324, 1e-320, 1e-308])
@pytest.mark.parametrize("group", ["labeled", "unlabeled", "one row"])
def test_weights_beyond_the_range_of_floats_are_refused(group, tiny, blobs):
    X, labeled, _ = blobs
    chosen = {"labeled": labeled == 1, "unlabeled": labeled == 0, "one row": np.arange(600) < 1}
    weight = np.where(chosen[group], tiny, 1.0)
    with pytest.raises(ValueError, match=r"sample_weight ranges from .* to 1, .* to 0"):
        PUExtraTreesClassifier(prior=0.5).fit(X, labeled, sample_weight=weight)
    with pytest.raises(ValueError, match="sample_weight"):
        oracle.row_weights(labeled == 1, weight, risk="nnpu", scenario="case-control", prior=0.5)


@pytest.mark.parametrize("weighted", [0, 1])
def test_weights_of_one_group_may_be_tiny(weighted, blobs, tmp_path):
    # Within a group only ratios matter, and between the groups none in case-control data.
    X, labeled, _ = blobs
    weight = np.random.default_rng(0).uniform(0.5, 2, len(X))
    model = PUExtraTreesClassifier(prior=0.5, bootstrap=True, n_estimators=5, random_state=0)
    expected = model.fit(X, labeled, sample_weight=weight).predict_proba(X)
    scaled = np.ldexp(weight, np.where(labeled == weighted, -1000, 20))
    model.fit(X, labeled, sample_weight=scaled).save(tmp_path / "model.puf")
    assert_array_equal(model.predict_proba(X), expected)


@pytest.mark.parametrize("tiny", [1e-300, 1e-30])
def test_trees_that_see_only_the_lightest_rows(tiny, blobs, tmp_path):
    X, labeled, _ = blobs
    weight = np.where(np.arange(len(X)) % 40, tiny, 1.0)
    model = PUExtraTreesClassifier(
        prior=0.5, max_labeled=2, max_unlabeled=2, n_estimators=50, random_state=0
    )
    model.fit(X, labeled, sample_weight=weight).save(tmp_path / "model.puf")
    root = model._forest.offset[:-1]
    assert_allclose(model._forest.w_p[root], 0.5)
    assert_allclose(model._forest.w_u[root], 1.0)


@pytest.mark.parametrize("positive", [0, 1])
def test_weights_that_leave_no_prior_are_refused(positive, blobs):
    X, labeled, _ = blobs
    weight = np.where(labeled == positive, 1e-200, 1.0)
    with pytest.raises(ValueError, match=r"sample_weight: positive rows have .* Pass prior"):
        PUDecisionTreeClassifier(risk="pn").fit(X, labeled, sample_weight=weight)


def test_propensities_and_weights_that_leave_no_prior_are_refused(blobs):
    X, labeled, _ = blobs
    weight = np.where(labeled == 1, 1e-200, 1.0)
    model = PUDecisionTreeClassifier(scenario="single-training-set")
    with pytest.raises(
        ValueError, match="sample_weight and propensity: the labeled rows represent"
    ):
        model.fit(X, labeled, sample_weight=weight, propensity=np.full(600, 0.5))


@pytest.mark.parametrize("tiny", [5e-324, 1e-320, 1e-101])
def test_tiny_priors_and_propensities_say_how_small_they_may_be(tiny, blobs):
    X, labeled, _ = blobs
    with pytest.raises(ValueError, match="prior must be a number between 1e-100 and 1"):
        PUDecisionTreeClassifier(prior=tiny).fit(X, labeled)
    with pytest.raises(ValueError, match="propensity must be above 1e-100 and at most 1"):
        PUDecisionTreeClassifier(prior=0.5).fit(X, labeled, propensity=np.full(600, tiny))
