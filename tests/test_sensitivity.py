"""Sensitivity of one forest to the class prior."""

from itertools import pairwise

import matplotlib
import numpy as np
import pytest
from matplotlib.text import Text
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression
from two_clouds import SCENARIOS, draw, forest

from puforest import PUExtraTreesClassifier
from puforest.calibration import PUCalibratedClassifier
from puforest.model_selection import prior_sensitivity
from puforest.plots.sensitivity import plot_prior_sensitivity


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("voting", ["hard", "soft"])
def test_sensitivity_equals_forests_with_other_priors(scenario, voting):
    X, labeled, _ = draw(1500, scenario)
    X_test, y_test, _ = draw(500, scenario, seed=1)
    model = forest(scenario, min_samples_leaf=30, voting=voting).fit(X, 2 * labeled - 1)
    by_prior = prior_sensitivity(model, X_test, y_test, priors=[0.6, 0.2, 0.4])
    assert_array_equal(by_prior.priors, [0.2, 0.4, 0.6])
    population = y_test == 0 if scenario == "case-control" else np.full(len(y_test), True)
    at_fit = model.predict(X_test)
    for k, prior in enumerate(by_prior.priors):
        other = model.with_prior(prior)
        predicted = other.predict(X_test)
        assert_array_equal(by_prior.predictions[k], predicted)
        assert_array_equal(by_prior.decisions[k], other.decision_function(X_test))
        r, q = (predicted == 1)[y_test == 1].mean(), (predicted == 1)[population].mean()
        assert_allclose(by_prior.recall[k], r)
        assert_allclose(by_prior.positive_fraction[k], q)
        assert_allclose(by_prior.precision[k], min(1, prior * r / q))
        assert_allclose(by_prior.f1[k], min(1, 2 * prior * r / (prior + q)))
        assert_allclose(by_prior.error[k], max(0, prior + q - 2 * prior * r))
        assert_allclose(by_prior.flipped_fraction[k], (predicted != at_fit)[population].mean())
    assert by_prior.flipped_fraction[1] == 0 < by_prior.flipped_fraction[0]


def test_rows_flip_at_their_flip_prior():
    X, labeled, _ = draw(2000, "case-control")
    model = forest(min_samples_leaf=50, voting="soft").fit(X, labeled)
    by_prior = prior_sensitivity(model, X)
    assert by_prior.precision is None
    assert_allclose(by_prior.priors, np.arange(0.05, 0.951, 0.05))
    flips = np.isfinite(by_prior.flip_prior)
    assert flips.mean() > 0.3
    assert (np.ptp(by_prior.predictions[:, ~flips], axis=0) == 0).all()
    for row in np.flatnonzero(flips)[:20]:
        flip = by_prior.flip_prior[row]
        for prior, positive in ((flip - 0.01, 0), (flip + 0.01, 1)):
            assert model.with_prior(prior).predict(X[[row]]) == positive


def test_weights_equal_repeated_rows():
    X, labeled, _ = draw(400, "single-training-set")
    model = forest("single-training-set", min_samples_leaf=20).fit(X, labeled)
    weight = np.random.default_rng(0).integers(0, 3, len(X))
    weighted = prior_sensitivity(model, X, labeled, sample_weight=weight, priors=[0.3, 0.6])
    repeated = prior_sensitivity(
        model, X.repeat(weight, axis=0), labeled.repeat(weight), priors=[0.3, 0.6]
    )
    for name in ("positive_fraction", "flipped_fraction", "precision", "recall", "f1", "error"):
        assert_allclose(getattr(weighted, name), getattr(repeated, name))
    least = labeled.mean()
    assert prior_sensitivity(model, X).priors[0] == pytest.approx(np.ceil(least * 20) / 20)


def test_default_priors_are_possible_for_the_rows_too():
    X, labeled, _ = draw(400, "single-training-set")
    model = forest("single-training-set", min_samples_leaf=20).fit(X, labeled)
    rows = np.concatenate([np.flatnonzero(labeled), np.flatnonzero(labeled == 0)[:100]])
    fraction = labeled[rows].mean()
    assert fraction > 0.3 > labeled.mean() + 0.1
    assert prior_sensitivity(model, X[rows], labeled[rows]).priors[0] >= fraction


def test_warns_of_pure_leaves():
    X, labeled, _ = draw(300, "case-control")
    with pytest.warns(UserWarning, match=r"only 0\.0% of the population is in leaves"):
        prior_sensitivity(PUExtraTreesClassifier(0.4, random_state=0).fit(X, labeled), X)


def test_sensitivity_refuses():
    X, labeled, _ = draw(300, "single-training-set")
    model = forest("single-training-set", min_samples_leaf=20).fit(X, labeled)
    with pytest.raises(TypeError, match="estimator must be a puforest forest or tree"):
        prior_sensitivity(LogisticRegression().fit(X, labeled), X)
    calibrated = PUCalibratedClassifier(model, cv="prefit").fit(X, labeled)
    with pytest.raises(TypeError, match="calibration is for one prior only: pass estimator_"):
        prior_sensitivity(calibrated, X)
    with pytest.raises(ValueError, match="pass y too"):
        prior_sensitivity(model, X, sample_weight=np.ones(len(X)))
    with pytest.raises(ValueError, match=r"prior=0\.01 is impossible"):
        prior_sensitivity(model, X, priors=[0.01, 0.4])
    with pytest.raises(ValueError, match="y has 299 rows, but X has 300"):
        prior_sensitivity(model, X, labeled[1:])
    with pytest.raises(ValueError, match="priors"):
        prior_sensitivity(model, X, priors=[])
    supervised = forest(risk="pn", min_samples_leaf=20).fit(X, labeled)
    with pytest.raises(ValueError, match="risk='pn' treats the data as fully labeled"):
        prior_sensitivity(supervised, X, labeled)


def test_plot():
    """Every curve is labeled at its end, and labels do not overlap."""
    matplotlib.use("agg")
    X, labeled, _ = draw(1000, "case-control")
    model = forest(min_samples_leaf=50).fit(X, labeled)
    names = {"predicted positive", "prediction changed", "fraction = prior"}
    ax = plot_prior_sensitivity(prior_sensitivity(model, X))
    assert {text.get_text() for text in ax.texts} == names
    assert "prior of the fit, 0.4" in ax.get_xlabel()
    matplotlib.pyplot.close(ax.figure)
    ax = plot_prior_sensitivity(prior_sensitivity(model, X, labeled))
    assert {text.get_text() for text in ax.texts} == names | {"precision", "recall", "F1", "error"}
    assert len(ax.texts) == len(ax.lines) - 1  # all but the prior of the fit
    ax.figure.draw_without_rendering()
    boxes = sorted((Text.get_window_extent(text) for text in ax.texts), key=lambda box: box.y0)
    assert all(low.y1 <= high.y0 + 1 for low, high in pairwise(boxes))
    assert plot_prior_sensitivity(prior_sensitivity(model, X), ax=ax) is ax
    matplotlib.pyplot.close(ax.figure)
