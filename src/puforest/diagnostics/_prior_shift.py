"""Class prior of new data, if nothing but the class prior has changed."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.stats import norm

from puforest import _validation as check
from puforest._calibrators import SLOPES, fit_isotonic, fit_sigmoid
from puforest._confidence import CONFIDENCE
from puforest._fit_record import FitRecord
from puforest._prior_estimate import ESTIMATE, PRIOR_SHIFT, UPPER_BOUND, PriorEstimate
from puforest._score_curve import ScoreCurve
from puforest._unwrap import (
    Unwrapped,
    known_prior,
    known_prior_estimate,
    known_scenario,
    layers,
    require_unwrapped,
    unwrapped,
)
from puforest.diagnostics._new_rows import votes_like_out_of_bag

Array = NDArray[np.float64]

# Returns the probabilities of the new rows under a class prior of the training population, from
# the scores of the fit, or from a bootstrap sample of them.
Probabilities = Callable[[float, np.random.RandomState | None], Array]

ASSUMPTION = (
    "Positives and negatives are assumed to look the same as in the training data; only their "
    "proportions may differ."
)
# The bootstrap treats the trees as fixed, and its intervals are a little too short: they covered
# 91% of the priors in benchmarks/drift.py. With this factor, chosen on the same draws, it is 95%.
WIDENING = 1.15

ROWS_ONLY = " The interval does not account for the uncertainty of the calibration."


def adapt_prior(
    model: object,
    X: check.MatrixLike,
    *,
    confidence: float = CONFIDENCE,
    n_resamples: int = 200,
    random_state: int | np.random.RandomState | None = 0,
) -> PriorEstimate:
    """Estimate the class prior of new data from calibrated probabilities.

    The estimate assumes prior shift: positives look like the positives of the training population,
    and negatives like its negatives, but their proportions may have changed. It is the fixed point
    of the EM algorithm of Saerens et al., which maximizes the likelihood of the new rows. Use
    `drift_report` to see whether there is a difference at all, and ``with_shifted_prior`` of the
    model to predict with the new prior.

    Parameters
    ----------
    model : estimator
        Fitted model with calibrated probabilities: a `PUForestClassifier` or a
        `PUCalibratedClassifier`, alone or at the end of a pipeline.
    X : array-like of shape (n_samples, n_features)
        Random sample of the new population. No labels are needed.
    confidence : float, default=0.95
        Confidence level of the interval.
    n_resamples : int, default=200
        Number of bootstrap samples for the interval, of the new rows and of the out-of-bag scores
        that the model was calibrated with.
    random_state : int, RandomState instance or None, default=0
        Seed of the random number generator.

    Returns
    -------
    PriorEstimate
        Class prior of the new data. If the prior of the training population was estimated, the
        interval covers its interval; if only an upper bound of it is known, the result is an upper
        bound, too.

    References
    ----------
    Saerens, Latinne and Decaestecker: Adjusting the outputs of a classifier to new a priori
    probabilities: a simple procedure. Neural Computation 14, 2002.

    Examples
    --------
    >>> import numpy as np
    >>> from puforest import PUForestClassifier
    >>> from puforest.diagnostics import adapt_prior
    >>> def draw(n, prior, seed):
    ...     rng = np.random.default_rng(seed)
    ...     y = rng.random(n) < prior
    ...     return rng.normal(size=(n, 3)) + 2 * y[:, None], y
    >>> X, y = draw(2000, 0.3, 0)
    >>> labeled = y & (np.arange(2000) < 600)
    >>> model = PUForestClassifier(0.3, scenario="single-training-set", random_state=0)
    >>> model = model.fit(X, labeled)
    >>> X_new, _ = draw(1000, 0.1, 1)
    >>> new = adapt_prior(model, X_new)
    >>> low, high = new.interval
    >>> low < 0.1 < high
    True
    >>> adapted = model.with_shifted_prior(new)
    >>> bool(abs(adapted.predict(X_new).mean() - new.value) < 0.02)
    True
    """
    check.fraction("confidence", confidence)
    resamples = check.integer("n_resamples", n_resamples, 10)
    rng = check.random_state(random_state)
    prior, training = known_prior(model), known_prior_estimate(model)
    probabilities, reason = _probabilities(model, X, rng)
    assert prior is not None  # calibration requires one
    p = probabilities(prior, None)
    n = len(p)
    value = shifted_prior(p, prior)
    resampled = []
    for _ in range(resamples):
        drawn = probabilities(prior, rng)
        resampled.append(shifted_prior(drawn[rng.randint(n, size=n)], prior))
    levels = np.array([(1 - confidence) / 2, (1 + confidence) / 2, confidence])
    distance = WIDENING * (np.quantile(resampled, levels) - value)
    # At the ends of the range, all bootstrap samples may agree.
    least = norm.ppf(levels) * standard_error(p, prior, value)
    low = value + min(distance[0], least[0])
    high, upper = value + np.maximum(distance, least)[1:]
    if training is not None:
        of_low, of_high, of_upper = (
            shifted_prior(probabilities(limit, None), limit) if check.TINY < limit < 1 else limit
            for limit in (*training.interval, training.upper)
        )
        low, high, upper = low + of_low - value, high + of_high - value, upper + of_upper - value
    low, high, upper = (float(np.clip(limit, 0, 1)) for limit in (low, high, upper))
    is_bound = training is not None and training.is_bound
    if is_bound:
        reason = f"Only an upper bound of the prior of the training population is known. {reason}"
    return PriorEstimate(
        value=value,
        interval=(0.0, upper) if is_bound else (low, high),
        upper=upper,
        kind=UPPER_BOUND if is_bound else ESTIMATE,
        reason=reason,
        confidence=confidence,
        method=PRIOR_SHIFT,
        scenario=known_scenario(model) or "case-control",
        unlabeled_prior=value,
        label_frequency=0.0,
        evidence={"training_prior": prior},
    )


def shifted_prior(probability: Array, prior: float) -> float:
    """Return the prior at which the likelihood of rows is largest, given their probabilities.

    `probability` holds under the class prior `prior`. The derivative of the log-likelihood falls
    as the new prior grows. Where it is zero, the mean of the probabilities under the new prior is
    the new prior, so that EM would stay there.
    """
    positive, negative = probability / prior, (1 - probability) / (1 - prior)

    def slope(new: float) -> float:
        return float(np.mean((positive - negative) / (new * positive + (1 - new) * negative)))

    least = 0.5 / len(probability)  # no model can use a prior of exactly 0 or 1
    if slope(least) <= 0:
        return least
    if slope(1 - least) >= 0:
        return 1 - least
    return float(brentq(slope, least, 1 - least))


def standard_error(probability: Array, prior: float, new: float) -> float:
    """Return the standard error of `shifted_prior` due to the sampling of the rows.

    It is infinite if all rows are equally likely under both classes.
    """
    positive, negative = probability / prior, (1 - probability) / (1 - prior)
    slope = (positive - negative) / (new * positive + (1 - new) * negative)
    information = float(np.sum(slope**2))
    return 1 / math.sqrt(information) if information > 0 else math.inf


def _probabilities(
    model: object, X: check.MatrixLike, rng: np.random.RandomState
) -> tuple[Probabilities, str]:
    """Return the probabilities of new rows as a function, and what the estimate is based on."""
    found = unwrapped(model)
    if found is None and any(hasattr(layer, "calibrator_") for layer in layers(model)):
        return _fixed(model.predict_proba(X)[:, 1]), ASSUMPTION + ROWS_ONLY  # type: ignore[attr-defined]
    found = require_unwrapped("model", model)
    record: FitRecord = found.trees._record
    if not (found.is_calibrated or record.calibrator is not None):
        raise ValueError(
            f"model: {type(found.trees).__name__} does not predict calibrated probabilities, which "
            "adapt_prior needs: use PUForestClassifier, or wrap the model in PUCalibratedClassifier"
        )
    table = found.rows(X)
    if record.curve is None:
        return _fixed(found.model.predict_proba(table)[:, 1]), ASSUMPTION + ROWS_ONLY
    votes, curve = votes_like_out_of_bag(found, table, rng), record.curve

    def probabilities(prior: float, rng: np.random.RandomState | None) -> Array:
        drawn = curve if rng is None else _resampled(curve, record, rng)
        return _calibrated(found, drawn, prior, votes)

    return probabilities, ASSUMPTION


def _fixed(probability: Array) -> Probabilities:
    return lambda prior, rng: probability


def _calibrated(found: Unwrapped, curve: ScoreCurve, prior: float, votes: Array) -> Array:
    """Calibrate as the model was, with a curve and a prior of the training population."""
    if found.is_calibrated and found.model._record.method == "isotonic":
        return fit_isotonic(curve.score, curve.sample(), prior).predict(votes)
    slopes = (0.0, np.inf) if found.is_calibrated else SLOPES
    return fit_sigmoid(curve.score, curve.sample(), prior, slopes).predict(votes)


def _resampled(curve: ScoreCurve, record: FitRecord, rng: np.random.RandomState) -> ScoreCurve:
    """Draw the scores of as many labeled and unlabeled rows as the model was fitted to."""
    masses = record.masses
    unlabeled = np.maximum(0, curve.population - masses.labeled_u * curve.positive)
    positive = rng.multinomial(record.n_labeled, curve.positive / curve.positive.sum())
    others = rng.multinomial(record.n_unlabeled, unlabeled / unlabeled.sum())
    of_labeled, of_others = positive / record.n_labeled, others / record.n_unlabeled
    population = masses.labeled_u * of_labeled + masses.unlabeled_u * of_others
    return ScoreCurve(curve.score, of_labeled, population / population.sum())
