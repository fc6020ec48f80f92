"""Estimates of the class prior."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from puforest import PUDecisionTreeClassifier, PUExtraTreesClassifier
from puforest.plots import plot_prior_evidence
from puforest.prior import (
    BBE,
    DEDPUL,
    METHODS,
    ElkanNoto,
    KernelMean,
    PriorEstimatedWarning,
    TIcE,
    estimate_prior,
)
from puforest.prior._base import MOST_ROWS, Rows
from puforest.prior._intervals import bootstrap_interval
from puforest.prior._scores import folds
from puforest.prior.bbe import best_bin
from puforest.prior.dedpul import density_ratio, explaining_share
from puforest.prior.kernel_mean import on_simplex, standard_error
from puforest.prior.tice import best_bound, quarters

SCENARIOS = ("case-control", "single-training-set")


def clouds(prior, *, scenario, n_p=400, n_u=2000, distance=4.0, seed=0):
    """Two clouds in the plane as PU data of either scenario, with their true prior."""
    rng = np.random.default_rng(seed)

    def rows(positive):
        X = rng.normal(size=(len(positive), 4))
        X[:, 0] += distance * positive
        return X

    if scenario == "case-control":
        truth = np.repeat([True, False], [n_p + round(prior * n_u), n_u - round(prior * n_u)])
    else:
        n = n_p + n_u
        truth = np.repeat([True, False], [round(prior * n), n - round(prior * n)])
    labeled = (np.arange(len(truth)) < n_p).astype(int)
    return rows(truth), labeled


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("prior", [0.3, 0.6])
@pytest.mark.parametrize(
    ("method", "options", "error"),
    [
        ("bbe", {}, 0.05),
        ("dedpul", {"n_resamples": 20}, 0.05),
        ("tice", {}, 0.15),
        ("elkan-noto", {"variant": "e2", "n_resamples": 20}, 0.12),
        ("km2", {"max_rows": 150, "n_repeats": 2}, 0.2),
    ],
)
def test_methods_find_the_prior(method, options, error, prior, scenario):
    X, y = clouds(prior, scenario=scenario)
    found = estimate_prior(X, y, method=method, scenario=scenario, random_state=0, **options)
    assert abs(found.value - prior) < error
    low, high = found.interval
    assert 0 < low <= found.value <= high < 1
    assert found.method == method
    assert found.scenario == scenario
    n_p = y.sum()
    positives = n_p + found.unlabeled_prior * (len(y) - n_p)
    assert_allclose(found.label_frequency, n_p / positives)
    if scenario == "single-training-set":
        assert_allclose(found.value, positives / len(y))
    else:
        assert_allclose(found.value, found.unlabeled_prior)


def test_the_scenario_matters():
    """The same rows are another population in each scenario."""
    X, y = clouds(0.4, scenario="case-control")
    one, other = (estimate_prior(X, y, scenario=s, random_state=0) for s in SCENARIOS)
    assert_allclose(one.unlabeled_prior, other.unlabeled_prior)
    assert other.value > one.value + 0.05


def test_best_bin_by_hand():
    """Above 0.5 are all of P and 3 of 10 of U; above 0.8 are 1 of 2 of P and 2 of 10 of U."""
    p = np.repeat([0.9, 0.6], 500)
    u = np.repeat([0.9, 0.6, 0.1], [200, 100, 700])
    share = best_bin(p, u, np.ones(1000), np.ones(1000), confidence=0.9)
    assert_allclose(share.value, 0.3)
    assert_allclose(share.evidence["quotient"], [1, 0.3, 0.4])
    assert share.evidence["chosen"] == 0.6
    assert share.low < 0.3 < share.high
    narrow = best_bin(p, u, np.ones(1000), np.ones(1000), confidence=0.5)
    assert share.low < narrow.low < narrow.high < share.high


def test_interval_of_bbe_covers():
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(100):
        p = rng.normal(2, size=200)
        u = np.concatenate([rng.normal(2, size=200), rng.normal(-3, size=300)])
        share = best_bin(p, u, np.ones(200), np.ones(500), confidence=0.9)
        covered += share.low <= 0.4 <= share.high
    assert covered >= 90


@pytest.mark.parametrize("function", [best_bin, lambda *a, confidence: density_ratio(*a)])
def test_weights_are_repeated_rows(function):
    rng = np.random.default_rng(1)
    p, u = rng.normal(1, size=40), rng.normal(size=80)
    w_p, w_u = rng.integers(1, 4, size=40), rng.integers(1, 4, size=80)
    weighted = function(p, u, w_p.astype(float), w_u.astype(float), confidence=0.9)
    repeated = function(
        p.repeat(w_p), u.repeat(w_u), np.ones(w_p.sum()), np.ones(w_u.sum()), confidence=0.9
    )
    if function is best_bin:
        assert_allclose(weighted.evidence["quotient"], repeated.evidence["quotient"])
    else:
        assert_allclose(weighted[2], repeated[2])


@pytest.mark.parametrize("prior", [0.1, 0.5, 0.9])
def test_dedpul_from_known_densities(prior):
    """Uniform densities on [0, 1] and [0, 2]: the ratio is 1/prior above, 0 below."""
    ratio, mass = np.array([0, 1 / prior]), np.array([1 - prior, prior])
    assert_allclose(explaining_share(ratio, mass), prior, atol=0.011)


def test_dedpul_survives_noise_in_the_tail():
    """A thousandth of the rows with a far too large ratio would drag it to zero."""
    ratio = np.array([0, 2.0 - 0.05 * 0.001 / 0.499, 50])
    mass = np.array([0.5, 0.499, 0.001])
    assert_allclose(explaining_share(ratio, mass), 0.5, atol=0.02)


def test_tice_bound_by_hand():
    counts = np.array([[1000.0, 200], [100, 60], [10, 10]])
    delta = 1 / 5
    bound = 0.6 - np.sqrt(0.25 * (1 - delta) / (delta * 100))
    assert_allclose(best_bound(counts, 0.5), bound)  # the box of 10 rows is too small


def test_tice_quarters():
    X = np.array([[0.0, 7], [1, 7], [2, 7], [3, 7], [4, 7]])
    assert_array_equal(quarters(X).T, [[0, 1, 2, 3, 3], [0, 0, 0, 0, 0]])


def test_tice_scores_help_where_boxes_do_not():
    """Positives lie along a diagonal of many features: no box holds many of them."""
    rng = np.random.default_rng(0)
    truth = np.repeat([True, False], [900, 1100])
    X = rng.normal(size=(2000, 12)) + 0.9 * truth[:, None]
    y = (np.arange(2000) < 300).astype(int)
    errors = [
        abs(TIcE(scores=scores, random_state=0).fit(X, y).prior_ - 600 / 1700)
        for scores in (False, True)
    ]
    assert errors[1] < errors[0]


def test_tice_features_are_drawn():
    """Of 50 features one tells positives; a draw of a few will miss it."""
    X, y = clouds(0.4, scenario="case-control", n_p=300, n_u=600)
    X = np.column_stack([X[:, :1], np.random.default_rng(0).normal(size=(900, 49))])
    few, all_of_them = (
        TIcE(scores=False, max_features=n, random_state=0).fit(X, y).prior_ for n in (2, 50)
    )
    assert abs(all_of_them - 0.4) < 0.2 < few - 0.4


def test_interval_of_km2_covers_where_draws_take_all_rows():
    covered = []
    for seed in range(5):
        X, labeled = clouds(4 / 9, scenario="case-control", n_p=60, n_u=90, seed=seed)
        low, high = KernelMean(random_state=0).fit(X, labeled).interval_
        assert 0.1 < high - low < 0.7  # of 90 rows, 40 are positive up to 8 with 90% confidence
        covered.append(low <= 4 / 9 <= high)
    assert sum(covered) >= 4


def test_interval_of_km2_narrows_with_rows():
    sizes = ((30, 40), (60, 90), (200, 200), (2000, 4000))
    data = [clouds(0.5, scenario="case-control", n_p=p, n_u=u) for p, u in sizes]
    ends = np.array([KernelMean(random_state=0).fit(*rows).interval_ for rows in data])
    width = ends[:, 1] - ends[:, 0]
    assert (np.diff(width) < 0).all()


def test_interval_of_km2_is_wide_where_few_rows_agree():
    # Every draw and every half of it finds that all may be positive.
    X = np.zeros((8, 1))
    low, high = KernelMean(random_state=0).fit(X, np.repeat([1, 0], 4)).interval_
    assert high - low > 0.3


def test_error_of_km2_by_hand():
    halves = np.array([[0.4, 0.6], [0.5, 0.5]])  # V = 0.01, of a draw 0.005
    whole = standard_error(np.array([0.5, 0.5]), halves, 1.0, 10**6)
    assert_allclose(whole, np.sqrt(0.005))
    assert_allclose(standard_error(np.array([0.5, 0.5]), halves, 0.0, 10**6), np.sqrt(0.0025))
    assert_allclose(standard_error(np.array([0.4, 0.4]), halves, 1.0, 10**6), np.sqrt(0.015))
    assert_allclose(standard_error(np.array([0.5, 0.5]), halves, 1.0, 10), np.sqrt(0.025))


@pytest.mark.parametrize("method", METHODS)
def test_huge_and_tiny_values(method):
    X, labeled = clouds(0.5, scenario="case-control", n_p=60, n_u=90)
    as_it_is = estimate_prior(X, labeled, method=method, random_state=0)
    for exponent in (1020, -1000):
        scaled = estimate_prior(np.ldexp(X, exponent), labeled, method=method, random_state=0)
        assert scaled == as_it_is
    ends = np.where(X[:, :1] > 2, 1.7e308, -1.7e308)  # whose difference is not finite
    assert 0.2 < estimate_prior(ends, labeled, method=method, random_state=0).value < 0.8


def test_nearest_point_of_the_simplex():
    assert_allclose(on_simplex(np.array([0.5, 0.5])), [0.5, 0.5])
    assert_allclose(on_simplex(np.array([2.0, 0.0])), [1, 0])
    assert_allclose(on_simplex(np.array([0.6, 0.6, -5.0])), [0.5, 0.5, 0])


@pytest.mark.parametrize("n_folds", [2, 5])
def test_copies_of_labeled_rows_share_a_fold(n_folds):
    """Rows 0 to 19 are labeled, two of each ten alike, and 40 to 59 are their copies."""
    X = np.arange(60.0)[:, None]
    X[10:20] = X[:10]
    X[40:] = X[:20]
    labeled = np.arange(60) < 20
    fold = folds(Rows(X, labeled, np.ones(60), 20, 40), n_folds, np.random.RandomState(1))
    assert_array_equal(fold[40:], fold[:20])
    assert_array_equal(fold[10:20], fold[:10])
    assert len(np.unique(fold[labeled])) == n_folds


def test_copies_part_where_there_are_few_distinct_rows():
    labeled = np.arange(60) < 20
    fold = folds(Rows(np.zeros((60, 1)), labeled, np.ones(60), 20, 40), 5, np.random.RandomState(0))
    assert_array_equal(np.bincount(fold[labeled]), [4] * 5)
    assert_array_equal(np.bincount(fold[~labeled]), [8] * 5)


def test_features_of_few_values():
    """Many rows are alike by nature, labeled or not, and copies must not tell on each other."""
    rng = np.random.default_rng(0)
    truth = np.arange(2500) < 500 + 800
    X = np.floor(np.clip(rng.normal(size=(2500, 3)) + 1.3 * truth[:, None] + 3, 0, 6))
    found = estimate_prior(X, np.arange(2500) < 500, random_state=0)
    assert abs(found.value - 0.4) < 0.12


def test_copies_part_where_there_are_too_few_distinct_rows():
    X = np.repeat(np.arange(4.0), 5)[:, None]
    labeled = np.arange(20) % 2 == 0
    fold = folds(Rows(X, labeled, np.ones(20), 10, 10), 5, np.random.RandomState(0))
    for part in (labeled, ~labeled):
        assert_array_equal(np.bincount(fold[part]), [2] * 5)


def test_elkan_noto_variants_differ_and_know_the_odds():
    X, y = clouds(0.4, scenario="case-control", distance=8.0)
    found = {
        v: ElkanNoto(variant=v, n_resamples=10, random_state=0).fit(X, y).prior_
        for v in ("e1", "e2", "e3")
    }
    assert len(set(found.values())) == 3
    assert abs(found["e2"] - 0.4) < 0.1


def test_elkan_noto_interval_of_the_maximum():
    """A resample may be without the row of the largest score."""
    X, y = clouds(0.4, scenario="case-control", n_p=100, n_u=300)
    low, high = ElkanNoto(variant="e3", random_state=0).fit(X, y).interval_
    assert high - low > 0.01


@pytest.mark.parametrize("variant", ["e1", "e2", "e3"])
def test_elkan_noto_of_scores_that_are_all_zero(variant):
    X, y = clouds(0.4, scenario="case-control", n_p=20, n_u=60)
    never = DummyClassifier(strategy="most_frequent")
    assert ElkanNoto(variant=variant, estimator=never).fit(X, y).prior_ > 0.9


def test_resamples_are_of_rows():
    """Their number stays what it is, so that nothing that depends on it changes."""
    sizes = []

    def statistic(positive, unlabeled, w_p, w_u):
        sizes.append((len(positive), len(unlabeled), len(w_p), len(w_u)))
        assert_array_equal(w_p, 2 * positive)
        assert_array_equal(w_u, 3 * unlabeled)
        return positive.mean()

    p, u = np.arange(50.0), np.arange(70.0)
    value, low, high = bootstrap_interval(
        statistic, p, u, 2 * p, 3 * u, confidence=0.9, n_resamples=400, random_state=0
    )
    assert set(sizes) == {(50, 70, 50, 70)}
    assert value == 24.5
    error = 1.645 * p.std() / np.sqrt(50)
    assert_allclose([low, high], [24.5 - error, 24.5 + error], atol=0.8)


def test_estimator_of_the_user():
    X, y = clouds(0.4, scenario="case-control")
    found = BBE(estimator=LogisticRegression(), random_state=0).fit(X, y)
    assert abs(found.prior_ - 0.4) < 0.05
    assert_array_equal(found.interval_, found.estimate_.interval)


def test_refuses_an_estimator_without_probabilities():
    X, y = clouds(0.4, scenario="case-control", n_p=20, n_u=60)
    with pytest.raises(TypeError, match=r"with a method 'predict_proba', got LinearSVC\(\)"):
        BBE(estimator=LinearSVC()).fit(X, y)


def test_in_a_pipeline():
    X, y = clouds(0.4, scenario="case-control")
    pipe = make_pipeline(StandardScaler(), DEDPUL(n_resamples=10, random_state=0)).fit(X, y)
    assert abs(pipe[-1].prior_ - 0.4) < 0.06


@pytest.mark.parametrize("method", METHODS)
def test_reproducible(method):
    X, y = clouds(0.4, scenario="case-control", n_p=60, n_u=150)
    one, two = (estimate_prior(X, y, method=method, random_state=3) for _ in range(2))
    assert one.value == two.value
    assert one.interval == two.interval


@pytest.mark.parametrize("method", METHODS)
def test_few_rows(method):
    """Two rows of each kind are few, but no reason to fail."""
    X = np.array([[0.0], [0.1], [0.9], [1.0]])
    found = estimate_prior(X, [0, 0, 1, 1], method=method, random_state=0)
    assert 0 < found.value < 1


@pytest.mark.parametrize("method", METHODS)
def test_constant_features(method):
    """Rows that look all alike could all be positive."""
    X = np.zeros((100, 3))
    found = estimate_prior(X, np.arange(100) < 30, method=method, random_state=0)
    assert found.value > 0.9


def test_weightless_rows_are_not_there():
    X, y = clouds(0.4, scenario="case-control", n_p=100, n_u=300)
    more = np.concatenate([X, np.full((50, 4), 99.0)])
    weight = np.repeat([1.0, 0], [len(X), 50])
    found = estimate_prior(more, np.append(y, [1] * 50), sample_weight=weight, random_state=0)
    assert found.value == estimate_prior(X, y, random_state=0).value


@pytest.mark.parametrize("method", METHODS)
def test_equal_weights_change_nothing(method):
    """Neither does their unit, although TIcE counts rows."""
    X, y = clouds(0.4, scenario="case-control", n_p=100, n_u=300)
    X, y = X[::2], y[::2]
    plain = estimate_prior(X, y, method=method, random_state=0)
    for weight in (np.ones(200), np.full(200, 0.3)):
        found = estimate_prior(X, y, method=method, sample_weight=weight, random_state=0)
        assert_allclose((found.value, *found.interval), (plain.value, *plain.interval))


def test_thinned_labeled_rows(monkeypatch):
    """What is left out counts for the label frequency, and for the prior of one sample."""
    monkeypatch.setattr("puforest.prior._base.MOST_ROWS", 200)
    X, y = clouds(0.4, scenario="single-training-set", n_p=400, n_u=1000, distance=8.0)
    for method in ("bbe", "tice", "elkan-noto"):
        found = estimate_prior(X, y, method=method, scenario="single-training-set", random_state=0)
        assert abs(found.value - 0.4) < 0.15
        assert_allclose(found.label_frequency, 400 / (1400 * found.value))
    assert [len(scores) for scores in found.evidence["scores"]] == [200, 200]


def test_many_unlabeled_rows_are_thinned():
    class Watched(BBE):
        def _share(self, rows):
            self.looked_at = (rows.n_labeled, rows.n_unlabeled)
            return super()._share(rows)

    rng = np.random.default_rng(0)
    n = MOST_ROWS + 20_000
    X = rng.normal(size=(n + 200, 1)) + 6.0 * (np.arange(n + 200) < 200 + n // 4)[:, None]
    y = (np.arange(n + 200) < 200).astype(int)
    method = Watched(random_state=0).fit(X, y)
    found = method.estimate_
    assert abs(found.value - 0.25) < 0.03
    assert method.looked_at == (200, MOST_ROWS)
    assert len(found.evidence["quotient"]) <= 1002  # a curve, not all that it was made of
    assert found.evidence["chosen"] in found.evidence["thresholds"]
    assert_allclose(found.label_frequency, 200 / (200 + found.value * n))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"method": "best"}, "method must be one of"),
        ({"scenario": "one-sample"}, "scenario must be one of"),
        ({"confidence": 1.5}, "confidence must be between 0 and 1"),
        ({"cv": 1}, "cv must be at least 2"),
        ({"y": [1] + [0] * 9}, "cannot be estimated from 1 labeled row"),
        ({"y": [0] * 10}, "only one class"),
        ({"method": "elkan-noto", "variant": "e4"}, "variant must be one of"),
        ({"method": "km2", "max_rows": 1}, "max_rows must be at least 2"),
        ({"method": "tice", "max_splits": 0}, "max_splits must be at least 1"),
        ({"method": "tice", "max_features": 0}, "max_features must be at least 1"),
        ({"method": "dedpul", "n_resamples": 1}, "n_resamples must be at least 10"),
        ({"X": [[np.nan]] * 10}, "NaN"),
    ],
)
def test_refuses(change, message):
    given = {"X": np.arange(10.0)[:, None], "y": [1, 1, 1, 0, 0, 0, 0, 0, 0, 0]} | change
    with pytest.raises(ValueError, match=message):
        estimate_prior(given.pop("X"), given.pop("y"), **given)


def test_prints():
    X, y = clouds(0.4, scenario="case-control", n_p=100, n_u=300)
    found = estimate_prior(X, y, random_state=0)
    assert found == estimate_prior(X, y, random_state=0)
    text = str(found)
    assert "90% interval" in text
    assert "bbe, case-control" in text


# In the estimators


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("cls", [PUDecisionTreeClassifier, PUExtraTreesClassifier])
def test_fit_without_prior_estimates_it_and_says_so(cls, scenario):
    X, y = clouds(0.5, scenario=scenario)
    with pytest.warns(PriorEstimatedWarning, match=r"is estimated as 0\.") as caught:
        model = cls(scenario=scenario, random_state=0).fit(X, y)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert model.prior_ == estimate_prior(X, y, scenario=scenario, random_state=0).value
    assert model.prior_interval_ == model.prior_estimate_.interval
    other = model.with_prior(0.6)
    assert not hasattr(other, "prior_interval_")
    given = cls(prior=model.prior_, scenario=scenario, random_state=0).fit(X, y)
    assert not hasattr(given, "prior_interval_")
    assert_array_equal(given.predict(X), model.predict(X))


def test_a_given_prior_forgets_the_estimate():
    X, y = clouds(0.5, scenario="case-control", n_p=100, n_u=200)
    model = PUDecisionTreeClassifier(random_state=0)
    with pytest.warns(PriorEstimatedWarning):
        model.fit(X, y)
    model.set_params(prior=0.5).fit(X, y)
    assert not hasattr(model, "prior_interval_")


def test_warm_start_keeps_the_estimate():
    X, y = clouds(0.5, scenario="case-control", n_p=100, n_u=200)
    model = PUExtraTreesClassifier(n_estimators=3, warm_start=True, random_state=0)
    with pytest.warns(PriorEstimatedWarning):
        model.fit(X, y)
    before = model.prior_estimate_
    model.set_params(n_estimators=5).fit(X, y)  # no second warning
    assert model.prior_estimate_ is before
    assert len(model.estimators_) == 5


def test_parameters_are_checked_before_the_estimate():
    X, y = clouds(0.5, scenario="case-control", n_p=20, n_u=20)
    with pytest.raises(ValueError, match="max_depth"):
        PUExtraTreesClassifier(max_depth=0).fit(X, y)  # a warning would come first


# Pictures


@pytest.mark.parametrize("method", ["tice", "elkan-noto"])
def test_the_frequency_drawn_is_that_of_the_rows_looked_at(method, monkeypatch):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    monkeypatch.setattr("puforest.prior._base.MOST_ROWS", 100)
    X, y = clouds(0.4, scenario="case-control", n_p=100, n_u=1000)
    estimate = estimate_prior(X, y, method=method, random_state=0)
    ax = plot_prior_evidence(estimate)
    drawn = [np.ravel(line.get_data()) for line in ax.lines][-1]
    found = np.mean(estimate.evidence["frequencies"])
    assert found > 2 * estimate.label_frequency
    assert found in drawn
    pyplot.close(ax.figure)


def test_only_estimates_are_drawn():
    with pytest.raises(TypeError, match="estimate must be a PriorEstimate"):
        plot_prior_evidence(0.3)


@pytest.mark.parametrize("method", METHODS)
def test_evidence_is_drawn(method):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    X, y = clouds(0.4, scenario="case-control", n_p=60, n_u=150)
    estimate = estimate_prior(X, y, method=method, random_state=0)
    figure, own = pyplot.subplots()
    ax = plot_prior_evidence(estimate, ax=own)
    assert ax is own
    assert f"{estimate.value:.3f}" in ax.get_title()
    assert ax.get_legend() is not None
    pyplot.close(figure)
    pyplot.close(plot_prior_evidence(estimate).figure)
