"""The report on what is not known: bounded priors, caveats, gains, checked rows, the baseline."""

import hashlib
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from prior_bounds import bounded
from two_clouds import SCENARIOS, draw, forest

from puforest import PUForestClassifier
from puforest.checking import estimate_from_checks, select_checks
from puforest.metrics import gains_curve, pu_interval
from puforest.prior import PriorEstimatedWarning
from puforest.report import _collect
from puforest.report._checked import METRICS as CHECKED_METRICS


@pytest.fixture(scope="module")
def fitted():
    """A model whose prior is only bounded, one with the same prior given, and held-out rows."""
    X, y, _ = draw(600, "case-control")
    params = {"voting": "soft", "min_samples_leaf": 20}
    models = [forest(prior=prior, **params).fit(X, y) for prior in (bounded(), 0.4)]
    return *models, *draw(600, "case-control", seed=1)[:2]


def texts(data, level=None):
    return [c["text"] for c in data["caveats"] if level in (None, c["level"])]


def test_metrics_are_ranges_if_the_prior_is_only_bounded(fitted, written):
    model, exact, X, y = fitted
    data = written(model, X, y, held_out=True)
    assert data["prior"]["estimate"]["is_bound"]
    ranges = {m["key"] for m in data["quality"] if m["is_range"]}
    assert ranges == {m["key"] for m in data["quality"]} - {"pu_recall"}
    for shown in data["quality"][:5]:
        values = model.predict(X)
        found = pu_interval(shown["key"], y, values, prior=bounded())
        assert_allclose([shown["low"], shown["high"]], [found.low, found.high], rtol=1e-5)
    precision = data["quality"][0]
    assert precision["low"] < 1e-4
    assert precision["high"] > pu_interval("precision", y, values, prior=0.5).value
    at = data["thresholds"]["threshold"].index(data["rows"]["threshold"])
    assert_allclose(data["thresholds"]["precision_high"][at], precision["high"], rtol=1e-5)
    assert "at most 0.500" in data["range_note"]
    assert data["reliability"]["is_range"]
    assert data["gains"]["is_range"]
    known = written(exact, X, y, held_out=True)
    assert not any(m["is_range"] for m in known["quality"])
    assert known["range_note"] == ""


def test_gains_agree_with_calibrated_probabilities(written):
    X, y, _ = draw(600, "case-control")
    model = PUForestClassifier(0.4, n_estimators=10, random_state=0).fit(X, y)
    X_new, y_new, _ = draw(600, "case-control", seed=1)
    gains = written(model, X_new, y_new, held_out=True)["gains"]
    sums = np.cumsum(np.sort(model.predict_proba(X_new[y_new == 0])[:, 1])[::-1])
    at = np.array(gains["n"]).astype(int) - 1
    assert_allclose(gains["expected"], np.clip(sums[at], gains["low"], gains["high"]), rtol=1e-3)
    assert_allclose(gains["expected"][0], sums[0], rtol=1e-3)


def test_a_prior_that_is_not_identified_is_the_main_caveat(fitted, written):
    model, _, X, y = fitted
    few = np.concatenate([np.flatnonzero(y)[:30], np.flatnonzero(y == 0)])
    data = written(model, X[few], y[few], held_out=True)
    first, *others = texts(data, "serious")
    assert texts(data)[0] == first
    assert first.startswith("The data does not identify the prior: it is at most 0.500")
    assert "No region is purely positive." in first
    assert any("only 30 labeled rows" in text for text in others)
    assert not any("contradicts" in text for text in others)
    # Without rows, too.
    assert texts(written(model))[0] == first


@pytest.mark.parametrize(
    ("prior", "kind", "levels"),
    [
        (0.2, "upper bound", set()),
        (0.45, "upper bound", set()),
        (0.55, "upper bound", {"serious"}),
        (0.2, "estimate", {"note"}),
        (0.42, "estimate", set()),
        (0.55, "estimate", {"serious"}),
    ],
)
def test_given_priors_are_compared_with_what_the_data_says(
    prior, kind, levels, written, monkeypatch
):
    X, y, _ = draw(300, "case-control")
    says = bounded(value=0.4, upper=0.5, low=0.3)
    says = replace(says, kind=kind)
    monkeypatch.setattr(_collect, "estimate_prior", lambda *args, **options: says)
    monkeypatch.setattr(_collect.of_quality, "clear_mismatch", lambda *args: None)
    data = written(forest(prior=prior, n_estimators=5).fit(X, y), X, y, held_out=True)
    assert data["prior"]["source"] == "check"
    about = ("The prior contradicts the data", "The prior may be too small")
    found = {c["level"] for c in data["caveats"] if c["text"].startswith(about)}
    assert found == levels
    assert not any(m["is_range"] for m in data["quality"])


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_gains_are_those_of_the_library(scenario, written):
    X, y, _ = draw(500, scenario)
    model = forest(scenario, voting="soft", min_samples_leaf=20).fit(X, y)
    X, y, _ = draw(4000, scenario, seed=1)
    shown = written(model, X, y, held_out=True)["gains"]
    expected = gains_curve(y, model.predict_proba(X)[:, 1], prior=0.4, scenario=scenario)
    assert len(shown["n"]) <= 200 < len(expected)
    assert shown["n"][0] == 1
    assert shown["n"][-1] == len(expected)
    for name in ("expected", "low", "high", "random"):
        values = getattr(expected, name)[np.array(shown["n"], dtype=int) - 1]
        assert_allclose(shown[name], values, rtol=1e-5, atol=1e-5)
    weighted = written(model, X, y, held_out=True, sample_weight=np.full(len(y), 7.0))["gains"]
    assert_allclose(weighted["high"], shown["high"], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_baseline_ignores_the_prior(scenario, written):
    X, y, _ = draw(900, scenario)
    model = forest(scenario, voting="soft", min_samples_leaf=10).fit(X, y)
    data = written(model, X, y)
    shown = {row["name"]: row["metrics"] for row in data["baseline"]["rows"]}
    assert data["baseline"]["columns"][:2] == ["Precision", "Recall"]
    quality = {m["key"]: m["value"] for m in data["quality"]}
    assert_allclose(shown["model"][0]["value"], quality["pu_precision"])
    recall = {name: metrics[1]["value"] for name, metrics in shown.items()}
    assert recall["half"] < recall["prior"] - 0.2
    auc = {name: metrics[4]["value"] for name, metrics in shown.items()}
    assert auc["half"] == auc["prior"]
    assert abs(auc["prior"] - quality["pu_roc_auc"]) < 0.15


def test_baseline_of_many_rows_is_small(written, monkeypatch):
    X, y, _ = draw(900, "single-training-set")
    model = forest("single-training-set", n_estimators=5).fit(X, y)
    full = written(model, X, y, held_out=True)["baseline"]
    monkeypatch.setattr("puforest.report._baseline.MAX_ROWS", 80)
    small = written(model, X, y, held_out=True)["baseline"]
    assert (full["n_rows"], small["n_rows"]) == (900, 160)
    for row, other in zip(full["rows"], small["rows"], strict=True):
        assert abs(row["metrics"][4]["value"] - other["metrics"][4]["value"]) < 0.15
    few = np.flatnonzero(y == 1)[:3].tolist() + np.flatnonzero(y == 0)[:5].tolist()
    assert "baseline" not in written(model, X[few], y[few], held_out=True)


# Checked rows


@pytest.fixture(scope="module", params=SCENARIOS)
def verdicts(request):
    """A model fitted to checked rows, and all arguments of its fit."""
    X, y, truth = draw(700, request.param)
    model = PUForestClassifier(0.4, scenario=request.param, n_estimators=20, random_state=0)
    checks = select_checks(model.fit(X, y), X, 80, y=y, random_state=0)
    checked, probability = checks.verdicts(truth[checks.rows])
    given = {"checked": checked, "check_probability": probability}
    return model.fit(X, y, **given), X, y, given


def test_checked_rows_are_shown_next_to_labels(verdicts, written):
    model, X, y, given = verdicts
    data = written(model, X, y, **given)
    assert data["rows"]["scored_by"] == "out-of-bag"
    shown = data["checked"]
    found = np.nansum(given["checked"])
    assert (shown["n_checked"], shown["n_positive"]) == (80, found)
    assert shown["fitted"] == {"positive": found, "negative": 80 - found}
    scores = model.oob_decision_function_ / 2 + model.threshold_
    expected = estimate_from_checks(
        given["checked"],
        given["check_probability"],
        y=y,
        score=scores,
        threshold=model.threshold_,
        scenario=model.scenario,
    )
    prior, *metrics = shown["estimates"]
    assert_allclose(prior["from_checks"]["value"], expected.prior.value, rtol=1e-5)
    quality = {m["name"]: m for m in data["quality"]}
    for row, name in zip(metrics, CHECKED_METRICS, strict=True):
        assert_allclose(row["from_checks"]["value"], getattr(expected, name).value, rtol=1e-5)
        assert_allclose(row["from_labels"]["high"], quality[row["name"]]["high"])
    assert not any("No known negatives" in text for text in texts(data))
    # Only the numbers without verdicts; nothing without a fit to them.
    assert set(written(model, X, y, held_out=True)["checked"]) == {"fitted", "notes"}
    plain = forest(model.scenario, n_estimators=3).fit(X, y)
    assert written(plain, X, y)["checked"] is None


def test_folds_are_fitted_to_their_checked_rows(verdicts, written, monkeypatch):
    _, X, y, given = verdicts
    scenario = verdicts[0].scenario
    model = forest(scenario, n_estimators=3).fit(X, y, **given)
    used = []
    fit = type(model).fit

    def spy(self, X, y, *args, checked=None, check_probability=None, **options):
        used.append(np.isfinite(checked).sum())
        known = {"checked": checked, "check_probability": check_probability}
        return fit(self, X, y, *args, **known, **options)

    monkeypatch.setattr(type(model), "fit", spy)
    assert written(model, X, y, cv=2, **given)["rows"]["scored_by"] == "folds"
    assert sum(used) == 80


def test_checks_contradict_a_wrong_prior(verdicts, written):
    _, X, y, given = verdicts
    scenario = verdicts[0].scenario
    model = forest(scenario, prior=0.2, n_estimators=10).fit(X, y)
    serious = texts(written(model, X, y, **given), "serious")
    assert serious[0].startswith("The prior contradicts the data: the prior 0.2 is below")
    assert "by checks" in serious[0]


def test_metrics_and_gains_use_the_prior_of_the_checks(verdicts, written):
    """The model was fitted without the verdicts, with a prior that is only bounded."""
    _, X, y, given = verdicts
    scenario = verdicts[0].scenario
    model = PUForestClassifier(
        bounded(), scenario=scenario, candidates="fast", n_estimators=20, random_state=0
    ).fit(X, y)
    plain, data = written(model, X, y), written(model, X, y, **given)
    assert plain["gains"]["is_range"]
    assert not data["gains"]["is_range"]
    assert data["rows"]["scored_by"] == "out-of-bag"
    prior, from_checks = data["prior"], data["checked"]["estimates"][0]["from_checks"]
    assert prior["source"] == "checked"
    assert prior["of_model"] == pytest.approx(model.prior_)
    assert prior["value"] == from_checks["value"]
    assert (prior["estimate"]["low"], prior["estimate"]["high"]) == (
        from_checks["low"],
        from_checks["high"],
    )
    n_ranked = (y == 0).sum() + (y.sum() if scenario == "single-training-set" else 0)
    n_known = y.sum() if scenario == "single-training-set" else 0
    assert data["gains"]["expected"][-1] == pytest.approx(
        prior["value"] * n_ranked - n_known, rel=1e-3
    )
    assert data["checked"]["estimates"][0]["from_labels"]["is_range"]
    assert not any("does not identify the prior" in text for text in texts(data))


def test_there_is_one_prior_if_the_fit_used_the_verdicts(verdicts, written):
    _, X, y, given = verdicts
    model = PUForestClassifier(
        scenario=verdicts[0].scenario, candidates="fast", n_estimators=20, random_state=0
    )
    with pytest.warns(PriorEstimatedWarning):
        model.fit(X, y, **given)
    data = written(model, X, y, **given)
    assert data["prior"]["source"] == "fit"
    shown = data["checked"]["estimates"][0]["from_checks"]
    assert_allclose((shown["low"], shown["high"]), model.prior_interval_, rtol=1e-5)


def test_what_checks_of_the_top_cannot_say(verdicts, written):
    model, X, y, _ = verdicts
    checks = select_checks(model, X, 40, y=y, design="top", random_state=0)
    checked, probability = checks.verdicts(np.ones(40))
    top = {"checked": checked, "check_probability": probability}
    data = written(model, X, y, held_out=True, **top)["checked"]
    assert data["estimates"][0]["from_checks"] is None
    assert "had no chance to be checked" in data["notes"][0]
    weighted = written(model, X, y, held_out=True, sample_weight=np.full(len(y), 2.0), **top)
    assert "not available with sample weights" in weighted["checked"]["notes"][0]


def test_wrong_verdicts_are_refused(fitted, written):
    model, _, X, y = fitted
    with pytest.raises(ValueError, match="but labeled as positive in y"):
        written(model, X, y, checked=np.zeros(len(y)))
    with pytest.raises(ValueError, match="checked is only used with y"):
        written(model, X, checked=np.zeros(len(y)))


# Origin of the data


def test_fingerprint_of_a_file(fitted, written, tmp_path):
    model, _, X, y = fitted
    file = tmp_path / "payments.csv"
    file.write_text("a,b\n1,2\n")
    shown = written(model, X, y, held_out=True, data_file=file)["source"]
    digest = hashlib.sha256(b"a,b\n1,2\n").hexdigest()
    assert shown == {"name": "payments.csv", "sha256": digest, "of": "file"}
    with pytest.raises(FileNotFoundError):
        written(model, X, y, data_file=tmp_path / "missing.csv")
    assert written(model)["source"] is None


def test_fingerprint_of_values(written):
    X, y, _ = draw(100, "case-control")

    def digest(X, y=y):
        return written(forest(n_estimators=2).fit(X, y), X, y, held_out=True)["source"]["sha256"]

    first = digest(X)
    assert digest(np.asfortranarray(X)) == digest(pd.DataFrame(X)) == first
    changed = X.copy()
    changed[3, 1] += 1e-9
    assert first != digest(changed)
    assert first != digest(X[::-1], y[::-1])
    sparse = digest(sp.csr_array(np.round(X)))
    assert sparse == digest(sp.csc_array(np.round(X)))
    moved = np.round(X)
    moved[[0, 1]] = moved[[1, 0]]
    assert sparse != digest(sp.csr_array(moved))
