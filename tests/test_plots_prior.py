"""Plots of the evidence for a class prior."""

import numpy as np
import pytest
from pu_clouds import clouds

from puforest.plots import plot_prior_evidence
from puforest.prior import estimate_prior
from puforest.prior._estimate import METHODS


def lines_of(ax):
    return [np.ravel(line.get_data()) for line in ax.lines]


def test_plotted_frequency_is_that_of_the_rows_used(monkeypatch):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    monkeypatch.setattr("puforest.prior._base.MAX_ROWS", 100)
    X, y = clouds(0.4, scenario="case-control", n_p=100, n_u=1000)
    estimate = estimate_prior(X, y, method="elkan-noto", random_state=0)
    ax = plot_prior_evidence(estimate)
    found = np.mean(estimate.evidence["frequencies"])
    assert found > 2 * estimate.label_frequency
    assert found in lines_of(ax)[-1]
    pyplot.close(ax.figure)


@pytest.mark.parametrize("method", ["bbe", "tice", "km2"])
def test_one_scale(method):
    """Curves, lines and the title show the prior of the population, not of the unlabeled rows."""
    pyplot = pytest.importorskip("matplotlib.pyplot")
    scenario = "single-training-set"
    X, y = clouds(0.5, scenario=scenario, n_p=300, n_u=700, distance=2.0)
    estimate = estimate_prior(X, y, method=method, scenario=scenario, random_state=0)
    assert estimate.is_bound
    ax = plot_prior_evidence(estimate)
    assert ax.get_title().startswith(f"Prior at most {estimate.upper:.3f} (point estimate ")
    assert ax.get_ylabel() == "class prior"
    drawn = lines_of(ax)
    assert any(np.allclose(line[-2:], estimate.value) for line in drawn)
    assert any(np.allclose(line[-2:], estimate.upper) for line in drawn)
    curve = ax.lines[0].get_ydata()
    assert curve.min() > y.mean() - 1e-9  # labeled rows are positive
    assert any("at most" in text.get_text() for text in ax.get_legend().get_texts())
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
