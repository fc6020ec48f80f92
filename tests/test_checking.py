"""Rows to check by hand: how they are selected, and what the verdicts say."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.special import expit, logit
from scipy.stats import norm
from sklearn.metrics import f1_score, precision_score, recall_score, roc_auc_score

from benchmarks import checking
from benchmarks.records import read_lines
from puforest import PUExtraTreesClassifier, PUForestClassifier, load
from puforest.checking import CheckDesign, estimate_from_checks, select_checks
from puforest.checking._select import checks_by_score

QUANTITIES = ("precision", "recall", "f1", "auc")


class Known:
    """A model that predicts its only feature."""

    def predict_proba(self, X):
        p = np.asarray(X, dtype=float)[:, 0]
        return np.column_stack([1 - p, p])


def population(rng, n=1000, prior=0.2, n_labeled=100, distance=2.0):
    """Classes, labels and calibrated scores of unlabeled rows, followed by labeled ones."""
    y = np.repeat([1, 0, 1], [round(n * prior), n - round(n * prior), n_labeled])
    x = rng.normal(size=len(y)) + distance * y
    score = expit(logit(prior) + distance * (x - distance / 2))
    return y, np.repeat([0, 1], [n, n_labeled]), score


def check_all(checks, y):
    return checks.verdicts(y[checks.rows])


# Designs


@given(
    st.sampled_from(
        [("random", ("rate",)), ("score", ("scale", "floor")), ("top", ("cut", "tie"))]
    ),
    st.integers(1, 10**6),
    st.lists(st.floats(0, 1e6), min_size=2, max_size=2),
)
def test_designs_survive_as_text(design, n, values):
    name, parameters = design
    most = 1e6 if name == "score" else 1.0
    values = [min(value, most) for value in values]
    made = CheckDesign(name, n, dict(zip(parameters, values, strict=False)))
    assert CheckDesign.parse(str(made)) == made
    assert not set(str(made)) & set(',;"\n\t')  # one cell of a table, whatever its delimiter


@pytest.mark.parametrize(
    "text",
    [
        "",
        "random",
        "random n=5",
        "random n=5 rate=x",
        "score n=5 rate=0.1",
        "bottom n=5",
        "top n=0 cut=1 tie=1",
    ],
)
def test_text_that_is_no_design(text):
    with pytest.raises(ValueError, match=r"design|n must be"):
        CheckDesign.parse(text)


@pytest.mark.parametrize("bad", [-0.1, np.nan])
def test_parameters_of_designs(bad):
    with pytest.raises(ValueError, match="rate of a design"):
        CheckDesign("random", 5, {"rate": bad})


@settings(max_examples=50)
@given(
    st.lists(st.floats(0, 1), min_size=1, max_size=40),
    st.data(),
    st.sampled_from(["random", "score", "top"]),
)
def test_exactly_n_rows_with_probabilities_that_sum_to_n(score, data, design):
    n = data.draw(st.integers(1, len(score)))
    X = np.array(score)[:, None]
    checks = select_checks(Known(), X, n, design=design, random_state=0)
    assert len(set(checks.rows.tolist())) == len(checks) == n
    assert checks.check_probability.sum() == pytest.approx(n)
    assert (checks.probability > 0).all()
    assert (checks.check_probability <= 1).all()
    assert np.array_equal(checks.probability, checks.check_probability[checks.rows])
    assert np.array_equal(checks.design.probability(score), checks.check_probability)
    if design == "top":
        assert checks.score.min() >= np.sort(score)[len(score) - n]
        assert (np.diff(checks.score) <= 0).all()
    else:
        assert checks.check_probability.min() > 0


@pytest.mark.parametrize("design", ["random", "score", "top"])
def test_rows_are_selected_as_often_as_their_probability_says(design):
    score = np.array([0.01, 0.02, 0.02, 0.1, 0.3, 0.5, 0.6, 0.6, 0.6, 0.97, 0.5, 0.9])
    labeled = np.arange(len(score)) == 4
    rng = np.random.RandomState(0)
    counts, rounds = np.zeros(len(score)), 3000
    for _ in range(rounds):
        checks = checks_by_score(score, 4, labeled, design, rng)
        counts[checks.rows] += 1
    e = np.where(labeled, 0, checks.check_probability)
    error = np.sqrt(np.maximum(e * (1 - e), 1e-12) / rounds)
    assert (np.abs(counts / rounds - e) <= 4.5 * error + 1e-9).all()


def test_uncertain_rows_are_selected_more_often():
    score = np.linspace(0.001, 0.999, 1001)
    e = checks_by_score(score, 50, score < 0, "score", 0).check_probability
    assert np.argmax(e) == 500
    assert e.max() / e.min() < 4


def test_labeled_rows_are_not_selected_but_have_a_probability():
    _, labeled, score = population(np.random.default_rng(0))
    checks = select_checks(Known(), score[:, None], 300, y=labeled, random_state=0)
    assert not labeled[checks.rows].any()
    assert checks.check_probability[labeled == 0].sum() == pytest.approx(300)
    assert (checks.check_probability[labeled == 1] > 0).all()


def test_rows_are_in_random_order_so_that_one_can_stop_early():
    _, labeled, score = population(np.random.default_rng(0), n=400)
    first = [
        checks_by_score(score, 40, labeled == 1, "score", seed).score[:10] for seed in range(200)
    ]
    assert np.mean(first) == pytest.approx(
        np.average(score[labeled == 0], weights=_probability(score, labeled)), abs=0.03
    )


def _probability(score, labeled):
    return checks_by_score(score, 40, labeled == 1, "score", 0).check_probability[labeled == 0]


def test_unanswered_rows_lower_the_probability():
    y, labeled, score = population(np.random.default_rng(0))
    checks = select_checks(Known(), score[:, None], 40, y=labeled, random_state=0)
    answers = pd.Series(y[checks.rows].astype(object), index=range(100, 140))
    answers.iloc[10:] = [None, np.nan, pd.NA] * 10
    checked, e = checks.verdicts(answers)
    assert np.isfinite(checked).sum() == 10
    assert np.allclose(e, checks.check_probability / 4)
    assert estimate_from_checks(checked, e, y=labeled).n_checked == 10


def test_training_rows_are_scored_out_of_bag():
    _, labeled, score = population(np.random.default_rng(0), n=300)
    X = np.column_stack([score, np.random.default_rng(1).normal(size=len(score))])
    forest = PUForestClassifier(0.2, candidates="fast", n_estimators=50, random_state=0)
    forest.fit(X, labeled)
    checks = select_checks(forest, None, 10, y=labeled, random_state=0)
    assert np.allclose(checks.predicted, forest._oob_probability())
    votes = PUExtraTreesClassifier(0.2, bootstrap=True, oob_score=True, random_state=0)
    checks = select_checks(votes.fit(X, labeled), None, 10, y=labeled, random_state=0)
    assert np.allclose(2 * checks.predicted - 1, votes.oob_decision_function_)
    with pytest.raises(ValueError, match="Known does not have: pass X"):
        select_checks(Known(), None, 10)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n": 4}, "n=4 is more than the 3 unlabeled rows"),
        ({"n": 0}, "n must be at least 1"),
        ({"n": 2, "design": "bottom"}, "design must be one of"),
        ({"n": 2, "y": [0, 1]}, "y has 2 labels, but there are 4 rows"),
    ],
)
def test_errors_of_the_selection(options, message):
    options = {"y": [0, 0, 0, 1], **options}
    with pytest.raises(ValueError, match=message):
        select_checks(Known(), np.full((4, 1), 0.5), **options)


# Estimates


@pytest.mark.parametrize("k", [1, 7, 25, 49])
def test_a_simple_random_sample_has_wilsons_interval(k):
    n, size = 50, 2000
    checked = np.full(size, np.nan)
    checked[:n] = np.repeat([1, 0], [k, n - k])
    prior = estimate_from_checks(checked, np.full(size, n / size)).prior
    z, effective = norm.ppf(0.975), n / (1 - n / size)  # of a finite population
    center = (k / n + z**2 / (2 * effective)) / (1 + z**2 / effective)
    half = z / (1 + z**2 / effective)
    half *= np.sqrt(k / n * (1 - k / n) / effective + z**2 / (4 * effective**2))
    assert prior.value == pytest.approx(k / n, abs=1e-6)
    assert prior.interval == pytest.approx((center - half, center + half), abs=1e-4)
    assert prior.method == "checks"
    assert not prior.is_bound
    assert prior.value < prior.upper < prior.interval[1]


def test_verdicts_on_all_rows_leave_no_uncertainty():
    y, labeled, score = population(np.random.default_rng(0), n=300)
    u = labeled == 0
    found = estimate_from_checks(
        np.where(u, y, np.nan), np.ones(len(y)), y=labeled, score=score, threshold=0.4, scar=False
    )
    predicted = score[u] > 0.4
    truth = {
        "precision": precision_score(y[u], predicted),
        "recall": recall_score(y[u], predicted),
        "f1": f1_score(y[u], predicted),
        "auc": roc_auc_score(y[u], score[u]),
    }
    assert found.prior.value == pytest.approx(y[u].mean())
    assert found.prior_bounds == pytest.approx((0.2, 0.2))
    assert found.prior.interval == pytest.approx((0.2, 0.2))
    for name, value in truth.items():
        one = getattr(found, name)
        assert (one.value, one.low, one.high) == pytest.approx((value,) * 3, abs=1e-3), name


def test_labeled_rows_of_a_single_training_set_are_known_positives():
    y, labeled, score = population(np.random.default_rng(0), n=900, n_labeled=100)
    checked = np.full(1000, np.nan)
    checked[150:230] = y[150:230]
    e = np.full(1000, 80 / 900)
    apart = estimate_from_checks(checked, e, y=labeled)
    together = estimate_from_checks(checked, e, y=labeled, scenario="single-training-set")
    assert together.prior.unlabeled_prior == apart.prior.value
    assert together.prior.value == pytest.approx((100 + 900 * apart.prior.value) / 1000)
    assert together.prior_bounds == (0.13, 0.95)
    assert together.prior.label_frequency == pytest.approx(100 / (1000 * together.prior.value))
    everything = np.where(labeled == 1, np.nan, y)
    found = estimate_from_checks(
        everything,
        np.ones(1000),
        y=labeled,
        score=score,
        threshold=0.3,
        scar=False,
        scenario="single-training-set",
    )
    assert found.precision.value == pytest.approx(precision_score(y, score > 0.3), abs=1e-3)
    assert found.recall.value == pytest.approx(recall_score(y, score > 0.3), abs=1e-3)
    assert found.f1.value == pytest.approx(f1_score(y, score > 0.3), abs=1e-3)
    assert found.auc.value == pytest.approx(roc_auc_score(y, score), abs=1e-3)


@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(
            st.sampled_from([0, 1, np.nan]),
            st.floats(1e-3, 1),
            st.sampled_from([0.0, 1e-9, 0.1, 0.5, 0.9, 1.0]),
            st.booleans(),
        ),
        min_size=3,
        max_size=15,
    ),
    st.sampled_from([0.0, 0.3, 0.9, 1.0]),
    st.booleans(),
    st.sampled_from(["case-control", "single-training-set"]),
)
@example(
    [(0, 1.0, 0.0, False)] * 4 + [(0, 1.0, 0.0, True), (1, 1.0, 0.0, False)],
    0.0,
    False,
    "case-control",
)
def test_intervals_of_any_verdicts_are_possible(rows, threshold, scar, scenario):
    checked, e, score, labeled = (np.array(column) for column in zip(*rows, strict=True))
    checked = np.where(labeled, np.nan, checked)
    if labeled.all() or not labeled.any() or not np.isfinite(checked).any():
        return
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Positives among the checked rows")
        found = estimate_from_checks(
            checked, e, y=labeled, score=score, threshold=threshold, scenario=scenario, scar=scar
        )
    low, high = found.prior.interval
    assert found.prior_bounds[0] <= low <= high <= found.prior_bounds[1]
    assert 0 < found.prior.value < 1
    assert low <= found.prior.upper <= high
    for name in QUANTITIES:
        one = getattr(found, name)
        assert one is None or 0 <= one.low <= one.value <= one.high <= 1, name


@pytest.mark.parametrize(("design", "scar"), [("random", False), ("score", False), ("score", True)])
def test_intervals_cover_and_estimates_are_unbiased(design, scar):
    rng = np.random.default_rng(0)
    names = ("prior", *QUANTITIES)
    covered, errors = {name: [] for name in names}, {name: [] for name in names}
    for seed in range(60):
        y, labeled, score = population(rng)
        u, threshold = labeled == 0, 0.4
        predicted = score[u] > threshold
        truth = {
            "prior": y[u].mean(),
            "precision": precision_score(y[u], predicted),
            "recall": recall_score(y[u], predicted),
            "f1": f1_score(y[u], predicted),
            "auc": roc_auc_score(y[u], score[u]),
        }
        checked, e = check_all(checks_by_score(score, 60, ~u, design, seed), y)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # one in a hundred samples differs from labeled rows
            found = estimate_from_checks(
                checked, e, y=labeled, score=score, threshold=threshold, scar=scar
            )
        for name in names:
            one = getattr(found, name)
            low, high = one.interval if name == "prior" else (one.low, one.high)
            covered[name].append(low <= truth[name] <= high)
            errors[name].append(one.value - truth[name])
    for name in names:
        assert np.mean(covered[name]) >= 0.88, name
        assert abs(np.mean(errors[name])) < 0.04, name
    assert abs(np.mean(errors["prior"])) < 4 * np.std(errors["prior"]) / np.sqrt(60)


@pytest.mark.parametrize("prior", [0.02, 0.98])
def test_few_checks_of_rare_classes_still_cover(prior):
    rng = np.random.default_rng(0)
    covered = []
    for seed in range(100):
        y, labeled, score = population(rng, prior=prior)
        checked, e = check_all(checks_by_score(score, 20, labeled == 1, "score", seed), y)
        low, high = estimate_from_checks(
            checked, e, score=score, y=labeled, scar=False
        ).prior.interval
        covered.append(low <= prior <= high)
    assert np.mean(covered) >= 0.9


def test_scores_shorten_the_interval():
    rng = np.random.default_rng(0)
    widths = {}
    for seed in range(10):
        y, labeled, score = population(rng)
        for design in ("random", "score"):
            checked, e = check_all(checks_by_score(score, 100, labeled == 1, design, seed), y)
            for known in (None, score):
                found = estimate_from_checks(checked, e, y=labeled, score=known, scar=False).prior
                width = found.interval[1] - found.interval[0]
                widths.setdefault((design, known is not None), []).append(width)
    mean = {key: np.mean(values) for key, values in widths.items()}
    assert mean["random", True] < 0.85 * mean["random", False]
    assert mean["score", True] < 0.75 * mean["random", False]


def test_labeled_rows_shorten_the_interval_of_the_recall():
    y, labeled, score = population(np.random.default_rng(0), n_labeled=300)
    checked, e = check_all(checks_by_score(score, 60, labeled == 1, "score", 0), y)
    options = {"y": labeled, "score": score, "threshold": 0.4}
    by_both = estimate_from_checks(checked, e, **options)
    by_checks = estimate_from_checks(checked, e, **options, scar=False)
    for name in ("recall", "f1", "auc"):
        wide, short = getattr(by_checks, name), getattr(by_both, name)
        assert short.high - short.low < 0.9 * (wide.high - wide.low), name
    assert by_both.prior == by_checks.prior
    assert by_both.precision == by_checks.precision


def test_labeled_rows_that_differ_are_not_used():
    y, labeled, score = population(np.random.default_rng(0))
    checked, e = check_all(checks_by_score(score, 200, labeled == 1, "score", 0), y)
    score = np.where(labeled == 1, 0.999, score)
    options = {"y": labeled, "score": score, "threshold": 0.4}
    with pytest.warns(UserWarning, match="have smaller scores than labeled rows"):
        found = estimate_from_checks(checked, e, **options)
    assert found == estimate_from_checks(checked, e, **options, scar=False)


def test_f1_is_that_of_precision_and_recall_and_recall_is_below_1():
    """In some of these rounds, no checked row is a missed positive."""
    n_none_missed = 0
    for seed in range(40):
        rng = np.random.RandomState(seed)
        y, labeled, score = population(rng, n=500)
        checks = checks_by_score(score, 30, labeled == 1, "score", rng)
        checked, probability = checks.verdicts(y[checks.rows])
        n_none_missed += not (y[checks.rows] & (score[checks.rows] <= 0.5)).any()
        given = {"y": labeled, "score": score, "threshold": 0.5, "scar": False}
        found = estimate_from_checks(checked, probability, **given)
        p, r = found.precision.value, found.recall.value
        assert r < 1
        assert found.recall.low <= r <= found.recall.high
        assert_allclose(found.f1.value, 2 * p * r / (p + r))
        assert found.f1.low <= found.f1.value <= found.f1.high
    assert n_none_missed > 0


def test_without_any_positive_the_prior_is_small_but_not_zero():
    checked = np.full(1000, np.nan)
    checked[::50] = 0
    score = np.linspace(0.01, 0.2, 1000)
    found = estimate_from_checks(checked, np.full(1000, 0.02), score=score, threshold=0.1)
    assert 0 < found.prior.value < 0.05
    assert found.prior.interval[0] == 0
    assert 0.1 < found.prior.interval[1] < 0.2
    assert found.recall is found.auc is None
    assert "No checked row is positive" in str(found)
    assert found.precision.low == 0


def test_checking_the_top_does_not_identify_the_prior():
    y, labeled, score = population(np.random.default_rng(0))
    checks = select_checks(Known(), score[:, None], 50, y=labeled, design="top")
    checked, e = check_all(checks, y)
    cut = checks.design.parameters["cut"]
    found = estimate_from_checks(checked, e, y=labeled, score=score, threshold=np.nextafter(cut, 0))
    assert found.prior is found.recall is found.f1 is found.auc is None
    n_positive = int(y[checks.rows].sum())
    assert found.n_positive == n_positive
    assert found.prior_bounds == pytest.approx((n_positive / 1000, 1 - (50 - n_positive) / 1000))
    assert found.precision.value == pytest.approx(n_positive / 50, abs=1e-3)
    assert found.precision.high - found.precision.low < 1e-3
    assert "950 unlabeled rows had no chance to be checked" in str(found)
    assert estimate_from_checks(checked, e, y=labeled, score=score, threshold=0.1).precision is None


def test_forests_take_the_estimate_as_prior(tmp_path):
    y, labeled, score = population(np.random.default_rng(0), n=400)
    checked, e = check_all(checks_by_score(score, 60, labeled == 1, "score", 0), y)
    found = estimate_from_checks(checked, e, y=labeled, score=score)
    forest = PUExtraTreesClassifier(found.prior, n_estimators=5, random_state=0)
    forest.fit(score[:, None], labeled, checked=checked, check_probability=e)
    assert forest.prior_ == found.prior.value
    forest.save(tmp_path / "forest.puf")
    assert load(tmp_path / "forest.puf").prior_estimate_ == found.prior


def test_estimates_as_text():
    y, labeled, score = population(np.random.default_rng(0))
    checked, e = check_all(checks_by_score(score, 60, labeled == 1, "score", 0), y)
    found = estimate_from_checks(checked, e, y=labeled, score=score, threshold=0.4)
    first, *lines = str(found).splitlines()
    assert first.startswith(f"{found.n_positive} of 60 checked rows are positive (1000 unlabeled")
    assert [line.split()[0] for line in lines] == ["prior", *QUANTITIES]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"checked": [0, np.nan, 1, 0]}, "row 3 was found negative, but labeled"),
        ({"checked": [0, np.nan, 1, 1]}, "row 3 was found positive, and labeled in y"),
        ({"checked": [2, np.nan, 1, np.nan]}, "got 2.0 in row 0"),
        ({"checked": ["yes", None, 1, None]}, "got 'yes' in row 0"),
        ({"checked": [np.nan, np.nan, np.nan, np.nan]}, "no verdict on an unlabeled row"),
        (
            {"check_probability": [0, 0.5, 0.5, 0.5]},
            "is 0 for row 0, which was checked",
        ),
        ({"check_probability": [1.5, 0.5, 0.5, 0.5]}, "must be from 0 to 1, got 1.5 in row"),
        ({"check_probability": [0.5, 0.5]}, "probability must have the shape"),
        ({"score": [0.5, 0.5, 0.5, 3]}, "score must be from 0 to 1, got 3 in row 3"),
        ({"y": [0, 1]}, "y has 2 labels, but there are 4 rows"),
        ({"threshold": 0.5, "score": None}, "threshold=0.5 requires score"),
        ({"threshold": "prior"}, "threshold must be a number between 0 and 1"),
        ({"scenario": "both"}, "scenario must be one of"),
        ({"confidence": 95}, "confidence must be between 0 and 1"),
    ],
)
def test_errors_of_the_estimates(changes, message):
    options = {
        "checked": [0, np.nan, 1, np.nan],
        "check_probability": [0.5] * 4,
        "y": [0, 0, 0, 1],
        "score": [0.1, 0.2, 0.8, 0.9],
    }
    with pytest.raises(ValueError, match=message):
        estimate_from_checks(**options | changes)


def test_precision_is_unknown_if_no_row_above_the_threshold_was_checked():
    score = np.linspace(0, 1, 100)
    labeled = np.arange(100) % 10 == 9
    checked = np.full(100, np.nan)
    checked[[0, 20, 40, 60]] = [0, 0, 1, 0]
    found = estimate_from_checks(checked, y=labeled, score=score, threshold=0.9)
    assert found.precision is None
    assert found.f1 is None
    assert found.recall is not None  # from labeled rows
    assert "No checked row has a score above the threshold" in found.notes[0]


def test_answers_to_the_first_of_the_top_rows():
    score = np.array([0.1, 0.9, 0.8, 0.8, 0.8, 0.7, 0.7])
    checks = select_checks(Known(), score[:, None], 5, design="top", random_state=0)
    assert_allclose(checks.check_probability, [0, 1, 1, 1, 1, 0.5, 0.5])
    _, e = checks.verdicts([1, 0, 1, None, None])
    assert_allclose(e, [0, 1, 2 / 3, 2 / 3, 2 / 3, 0, 0])
    _, e = checks.verdicts([1, None, 1, 0, None])
    assert_allclose(e, np.array([0, 1, 1, 1, 1, 0, 0]) * 3 / 4)
    _, e = checks.verdicts([1, 1, 1, 1, 0])
    assert_allclose(e, checks.check_probability)


@pytest.mark.parametrize(
    "text", ["random n=5 rate=1.5", "random n=5 rate=inf", "top n=5 cut=0.5 tie=2"]
)
def test_impossible_designs(text):
    with pytest.raises(ValueError, match="of a design must be from 0 to 1"):
        CheckDesign.parse(text)


# Benchmark


def test_benchmark(tmp_path):
    options = ["--datasets", "breast-cancer", "--checks", "20", "--rounds", "2"]
    checking.main([*options, "--out", str(tmp_path)])
    records = read_lines(tmp_path / "checking.jsonl")
    assert len(records) == 3 + len(checking.PRIORS) * len(checking.DESIGNS)
    checking.main([*options, "--out", str(tmp_path)])
    assert read_lines(tmp_path / "checking.jsonl") == records
    text = (tmp_path / "checking.md").read_text()
    assert "on 1 of 1 data sets" in text or "on 0 of 1 data sets" in text
    assert text.count("| calibrated | 20 |") == 8
