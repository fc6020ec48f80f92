"""Measures of the leaderboard, and its statistics."""

import numpy as np
import pandas as pd
import pytest

from experiments import measures, ranking


def test_cut_at_prior():
    score = np.array([0.1, 0.2, 0.3, 0.9])
    assert measures.cut_at_prior(score, 0.25).tolist() == [False, False, False, True]
    # Of tied scores, all or none are predicted as positive, whichever is closer to the prior.
    tied = np.array([0.0, 0.5, 0.5, 0.5])
    assert measures.cut_at_prior(tied, 0.3).sum() == 0
    assert measures.cut_at_prior(tied, 0.6).sum() == 3


def test_precision_at_n():
    y = np.array([0, 1, 0, 1])
    assert measures.precision_at_n(y, np.array([1, 2, 3, 4])) == 0.5
    assert measures.precision_at_n(y, np.zeros(4)) == 0.5  # any order is as likely
    assert measures.precision_at_n(y, np.array([0, 1, 0, 1])) == 1


def test_calibration_error():
    rng = np.random.default_rng(0)
    p = rng.random(20_000)
    y = (rng.random(20_000) < p).astype(int)
    assert measures.calibration_error(y, p) < 0.02
    assert measures.calibration_error(y, np.clip(p + 0.2, 0, 1)) == pytest.approx(0.18, abs=0.02)


def test_calibration_floor():
    rng = np.random.default_rng(0)
    p = rng.random(200)
    errors = [measures.calibration_error(rng.random(200) < p, p) for _ in range(300)]
    floor = measures.calibration_floor(p)
    assert floor == pytest.approx(np.mean(errors), rel=0.1)
    assert measures.calibration_floor(np.tile(p, 100)) < floor / 5


def test_ranks_and_critical_difference():
    table = pd.DataFrame([[90.0, 80, 70], [60, 60, 50]], columns=list("abc"))
    assert ranking.mean_ranks(table).to_dict() == {"a": 1.25, "b": 1.75, "c": 3}
    # Demsar (2006), table 5 and section 3.2.2: q = 2.569 for four methods.
    assert ranking.critical_difference(4, 14) == pytest.approx(2.569 * np.sqrt(20 / 84), abs=1e-3)


def test_cliques():
    ranks = pd.Series([1.0, 2.0, 2.5, 5.0], index=list("abcd"))
    assert ranking.cliques(ranks, 1.2) == [(1.0, 2.0), (2.0, 2.5)]
    assert ranking.cliques(ranks, 4.0) == [(1.0, 5.0)]
    assert ranking.cliques(ranks, 0.1) == []


def test_holm():
    assert ranking.holm([0.01, 0.04, 0.03]).tolist() == pytest.approx([0.03, 0.06, 0.06])
    assert ranking.holm([0.9, 0.8]).tolist() == [1, 1]


def test_equal_methods_do_not_differ():
    assert ranking.signed_rank_p(pd.Series([0.0, 0.0])) == 1
    assert ranking.signed_rank_p(pd.Series(np.arange(1.0, 11))) < 0.01
