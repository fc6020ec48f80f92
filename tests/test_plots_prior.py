"""Plots of the evidence for a class prior."""

import numpy as np
import pytest
from pu_clouds import clouds

from puforest.plots import plot_prior_evidence
from puforest.prior import estimate_prior
from puforest.prior._estimate import METHODS


@pytest.mark.parametrize("method", ["tice", "elkan-noto"])
def test_plotted_frequency_is_that_of_the_rows_used(method, monkeypatch):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    monkeypatch.setattr("puforest.prior._base.MAX_ROWS", 100)
    X, y = clouds(0.4, scenario="case-control", n_p=100, n_u=1000)
    estimate = estimate_prior(X, y, method=method, random_state=0)
    ax = plot_prior_evidence(estimate)
    drawn = [np.ravel(line.get_data()) for line in ax.lines][-1]
    found = np.mean(estimate.evidence["frequencies"])
    assert found > 2 * estimate.label_frequency
    assert found in drawn
    pyplot.close(ax.figure)


def test_refuses_other_values():
    with pytest.raises(TypeError, match="estimate must be a PriorEstimate"):
        plot_prior_evidence(0.3)


@pytest.mark.parametrize("method", METHODS)
def test_evidence_is_plotted(method):
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
