"""Metrics with an estimated prior: unions over its interval, and ranges if it is only bounded."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from prior_bounds import bounded
from two_clouds import SCENARIOS, draw

from puforest.metrics import pu_classification_report, pu_interval
from puforest.metrics._registry import METRICS


@pytest.fixture(scope="module", params=SCENARIOS)
def scored(request):
    X, labeled, _ = draw(800, request.param)
    score = 1 / (1 + np.exp(2 - X.sum(axis=1)))
    return labeled, score, request.param


def values_for(metric, score):
    if metric.reads == "prediction":
        return (score > 0.5).astype(int)
    return 2 * score - 1 if metric.reads == "decision" else score


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.filterwarnings("ignore::puforest.metrics.PriorMismatchWarning")
def test_intervals_cover_all_priors(name, scored):
    labeled, score, scenario = scored
    metric, estimate = METRICS[name], replace(bounded(low=0.3, upper=0.6), kind="estimate")
    values = values_for(metric, score)
    united = pu_interval(name, labeled, values, prior=estimate, scenario=scenario)
    parts = [
        pu_interval(name, labeled, values, prior=p, scenario=scenario)
        for p in ([0.4, *np.linspace(0.3, 0.6, 11)] if metric.needs_prior else [0.4])
    ]
    assert_allclose(united.low, min(part.low for part in parts), rtol=0.01, atol=1e-6)
    assert_allclose(united.high, max(part.high for part in parts), rtol=0.01, atol=1e-6)
    assert not united.is_range
    same = {"prior": 0.4, "prior_interval": (0.3, 0.6), "scenario": scenario}
    assert united == pu_interval(name, labeled, values, **same)


@pytest.mark.filterwarnings("ignore::puforest.metrics.PriorMismatchWarning")
def test_a_bounded_prior_turns_metrics_into_ranges(scored):
    labeled, score, scenario = scored
    low = labeled.mean() if scenario == "single-training-set" else 0.0
    report = pu_classification_report(
        labeled,
        (score > 0.5).astype(int),
        score,
        prior=bounded(low=low, scenario=scenario),
        scenario=scenario,
    )
    ranges = {name for name, found in report.metrics.items() if found.is_range}
    assert ranges == {name for name in report.metrics if METRICS[name].needs_prior}
    precision = report.metrics["pu_precision"]
    if scenario == "case-control":
        assert precision.low < 1e-5
    text = str(report)
    assert f"scenario {scenario}, prior at most 0.50" in text
    assert "No region is purely positive." in text
    line = next(line for line in text.splitlines() if line.startswith("pu_precision"))
    assert line.split() == ["pu_precision", "range", *precision.range_text.split()]
    recall = report.metrics["pu_recall"]
    assert f"{recall.value:.2f} (95% interval {recall.range_text})" == str(recall)
    assert "depends on the prior, which is only bounded: at most 0.50" in str(precision)
    assert report.as_dict()["metrics"]["pu_f1"]["prior_bound"] == 0.5
    assert report.as_dict()["prior_bound"] == 0.5


def test_one_source_of_the_interval():
    with pytest.raises(TypeError, match="prior_interval is that of the estimate"):
        pu_interval("f1", [1, 0, 0], [1, 0, 0], prior=bounded(), prior_interval=(0.1, 0.5))
    with pytest.raises(ValueError, match="must contain prior"):
        pu_interval("f1", [1, 0, 0], [1, 0, 0], prior=0.6, prior_interval=(0.1, 0.5))
    # A prior of 0 is impossible if rows of the population are labeled.
    single = {"prior": 0.5, "prior_interval": (0, 0.6), "scenario": "single-training-set"}
    with pytest.raises(ValueError, match="prior"):
        pu_interval("f1", [1, 0, 0], [1, 0, 0], **single)
