"""The benchmark of class prior estimates: its draws, and its page."""

import numpy as np
import pytest

from benchmarks import prior as benchmark
from benchmarks.prior_page import page

SETUP = {"cpu": "some CPU", "python": "3.11", "versions": {"puforest": "1.0"}}


@pytest.mark.parametrize("scenario", ["case-control", "single-training-set"])
def test_draws_have_the_prior(scenario):
    y = np.repeat([1, 0], [400, 600])
    X = np.arange(1000.0)[:, None]
    X_pu, labeled, truth = benchmark.draw(X, y, 0.25, scenario, 0)
    assert truth[labeled == 1].all()
    population = truth[labeled == 0] if scenario == "case-control" else truth
    assert abs(population.mean() - 0.25) < 0.002
    assert (truth == (X_pu[:, 0] < 400)).all()
    assert benchmark.draw(X[370:], y[370:], 0.25, scenario, 0) is None  # too few positives


def test_the_page_counts_misses_among_claims():
    def record(value, low, high, kind, before=False):
        return SETUP | {
            "dataset": "digits", "prior": 0.3, "scenario": "case-control", "method": "BBE",
            "before": before, "rows": [100, 200], "value": value, "interval": [low, high],
            "upper": high, "kind": kind,
        }  # fmt: skip

    found = [
        record(0.32, 0.25, 0.36, "estimate") | {"draw": 0},
        record(0.38, 0.31, 0.40, "estimate") | {"draw": 1},
        record(0.40, 0.01, 0.45, "upper bound") | {"draw": 2},
        record(0.22, 0.01, 0.25, "upper bound") | {"draw": 3},
        record(0.34, 0.20, 0.40, "estimate", before=True) | {"draw": 0},
    ]
    text = page(found)
    assert "| BBE | 4 | 0.070 | +0.030 | 50% | 75% | 50% | 50% | 0.100 | 0.050 |" in text
    assert "| now | 1 | 0.020 |" in text
    assert "| before | 1 | 0.040 |" in text
