"""Gains curves: the number of positives among the rows with the highest scores."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import norm
from sklearn.isotonic import isotonic_regression

from puforest import _validation as check
from puforest._confidence import CONFIDENCE
from puforest._rounding import count_text
from puforest._sample import PUSample, pu_sample
from puforest._score_curve import ScoreCurve
from puforest._unwrap import fitted_trees, known_prior
from puforest.metrics._docs import documented
from puforest.metrics._metric import read_values
from puforest.metrics._prior import MetricPrior, depends_text
from puforest.prior import PriorEstimate

__all__ = ["GainsCurve", "expected_gains", "gains_curve"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class GainsCurve:
    """Number of positives among the top n rows, for increasing n.

    Attributes
    ----------
    n : ndarray
        Number of rows looked at, from the highest score down; their weights, if they have any.
    expected : ndarray
        Expected number of positives among them.
    low, high : ndarray
        Prediction interval of the number of positives that will be found.
    random : ndarray
        Expected number in random order.
    confidence : float
        Confidence level of the interval.
    prior_bound : float or None
        Upper limit of the prior if the data only bounds it. Then `low` and `high` are the range
        over all possible priors, and `expected` is for one of them.
    """

    n: Array
    expected: Array
    low: Array
    high: Array
    random: Array
    confidence: float
    prior_bound: float | None = None

    def __len__(self) -> int:
        return len(self.n)

    def at(self, n: float) -> tuple[float, float, float]:
        """Return the expected number of positives among the top n rows, and its interval.

        Parameters
        ----------
        n : float
            Number of rows.

        Returns
        -------
        expected, low, high : float
        """
        top = min(n, self.n[-1])
        at = (np.append(0.0, part) for part in (self.expected, self.low, self.high))
        expected, low, high = (float(np.interp(top, np.append(0.0, self.n), y)) for y in at)
        return expected, low, high

    def agreeing_with(self, probability: ArrayLike) -> GainsCurve:
        """Return the curve whose expected numbers are sums of probabilities, where they can be.

        Parameters
        ----------
        probability : array-like of shape (n_rows,)
            Calibrated probabilities of the ranked rows, from the highest down. Sums outside the
            interval are replaced by the nearer end of it.

        Returns
        -------
        GainsCurve
        """
        sums = np.cumsum(np.asarray(probability, dtype=np.float64))
        if sums.shape != self.n.shape:
            raise ValueError(
                f"probability must have {len(self)} values, one for each row of the curve, got "
                f"the shape {sums.shape}"
            )
        return replace(self, expected=np.clip(sums, self.low, self.high))

    def describe(self, n: float) -> str:
        """Return a sentence on the top n rows.

        Parameters
        ----------
        n : float
            Number of rows.

        Returns
        -------
        str
        """
        expected, low, high = self.at(n)
        top = f"Among the top {min(n, self.n[-1]):,.0f} rows"
        ends = f"{count_text(low, low, high)} to {count_text(high, low, high)}"
        if self.prior_bound is not None:
            return f"{top}, {ends} are positive: this {depends_text(self.prior_bound)}."
        return (
            f"{top}, about {count_text(expected, low, high)} are positive "
            f"({100 * self.confidence:g}% interval {ends})."
        )


def _concave(x: Array, y: Array) -> Array:
    """Least concave curve through 0 that is nowhere below y, at increasing x.

    Precision falls with the rank if scores are any good. Where the labeled rows at the top are few,
    their recall says otherwise by chance, and would put the first positives at a lower rank.
    """
    step = np.diff(x, prepend=0.0)
    slope = np.divide(np.diff(y, prepend=0.0), step, out=np.zeros_like(step), where=step > 0)
    weight = np.maximum(step, np.finfo(float).tiny)
    falling = isotonic_regression(slope, sample_weight=weight, increasing=False)
    result: Array = np.maximum(np.cumsum(falling * step), y)
    return result


@dataclass(frozen=True)
class _Ranking:
    """Ranked rows, and the fraction of all positives at the top of the ranking.

    Attributes
    ----------
    n : ndarray
        Number (weight) of the ranked rows from the top down to each of them.
    recall : ndarray
        Fraction of the positives that rank as high.
    share : float
        Weight of a labeled row among the positives: 1 divided by their number.
    threshold_variance : ndarray or float
        Further variance of the recall, due to thresholds from other rows.
    population : float
        Number (weight) of rows of which the prior is a fraction.
    known : ndarray
        Number (weight) of the labeled rows of the population, which are not ranked, that score as
        high.
    n_known : float
        Number (weight) of all of them.
    row : float
        Weight of a row.
    """

    n: Array
    recall: Array
    share: float
    threshold_variance: Array | float
    population: float
    known: Array
    n_known: float
    row: float

    def positives(self, prior: float) -> Array:
        """Estimate the number of positives among the ranked rows."""
        found = self.population * prior * self.recall - self.known
        return np.maximum.accumulate(np.clip(found, 0.0, self.n))

    def limits(self, prior: float, reach: float) -> tuple[Array, Array]:
        """Compute a prediction interval of `reach` standard errors for a known prior.

        Of n rows of the population, A are positive and rank high; nπr estimates A. The variance of
        the difference is (nπ)²r(1 - r)/n_p from the recall r, plus A(1 - A/n), minus 2nπr(1 - r) if
        the n_p labeled rows are among the n, where they count on both sides. Two pseudo-rows keep
        it above 0, as in `PUSample.with_pseudo_rows`.
        """
        r = (self.recall + self.share) / (1 + 2 * self.share)
        total = self.population * prior
        unlabeled = max(0.0, total - self.n_known)
        found = total * r + self.row
        variance = total**2 * (
            r * (1 - r) * self.share / (1 + 2 * self.share) + self.threshold_variance
        )
        variance += self.row * found * np.maximum(1 - found / self.population, 0)
        if self.n_known > 0:
            variance -= self.row * 2 * total * r * (1 - r)
        error = reach * np.sqrt(np.maximum(variance, self.row**2))
        center = self.positives(prior) + unlabeled * (r - self.recall)
        return center - error, center + error


def _gains(ranking: _Ranking, prior: MetricPrior, confidence: float) -> GainsCurve:
    """Compute the curve; the interval is the union over the interval of the prior."""
    check.fraction("confidence", confidence)
    reach = float(norm.ppf((1 + confidence) / 2))
    priors = [prior.value, *(prior.interval or ())]
    lows, highs = zip(*(ranking.limits(value, reach) for value in priors), strict=True)
    expected = ranking.positives(prior.value)
    low = np.clip(np.min(lows, axis=0), 0.0, ranking.n)
    high = np.clip(np.max(highs, axis=0), 0.0, ranking.n)
    return GainsCurve(
        n=ranking.n,
        expected=expected,
        # More rows never contain fewer positives; both ends are moved outward.
        low=np.minimum.accumulate(np.minimum(low, expected)[::-1])[::-1],
        high=np.maximum.accumulate(np.maximum(high, expected)),
        random=ranking.n * (expected[-1] / ranking.n[-1]),
        confidence=float(confidence),
        prior_bound=prior.bound,
    )


@documented
def gains_curve(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    prior: float | PriorEstimate,
    scenario: str = "case-control",
    sample_weight: ArrayLike | None = None,
    propensity: ArrayLike | None = None,
    confidence: float = CONFIDENCE,
    prior_interval: tuple[float, float] | None = None,
) -> GainsCurve:
    """Estimate how many positives are among the unlabeled rows with the highest scores.

    With recall r above a score, nπr of n rows of the population are positive and score higher;
    those that are labeled are subtracted. The interval is a prediction interval of the number that
    will be found by looking at the rows. Use held-out scores.

    Parameters
    ----------
    %y_true, y_score%
    prior : float or PriorEstimate
        Class prior: the fraction of positives in the population.
    %scenario, sample_weight, propensity, confidence, prior_interval%

    Returns
    -------
    GainsCurve
        One point for each unlabeled row of nonzero weight.

    See Also
    --------
    expected_gains : The curve for new rows, from the out-of-bag scores of a model.

    Examples
    --------
    >>> import numpy as np
    >>> from puforest.metrics import gains_curve
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(2000) < 0.3
    >>> score = rng.normal(size=2000) + 2 * y
    >>> labeled = (y & (rng.random(2000) < 0.5)).astype(int)
    >>> gains = gains_curve(labeled, score, prior=0.3, scenario="single-training-set")
    >>> print(gains.describe(100))
    Among the top 100 rows, about 86 are positive (95% interval 62 to 100).
    """
    sample = pu_sample(
        y_true, scenario=scenario, sample_weight=sample_weight, propensity=propensity
    )
    assumed = MetricPrior.read(sample, prior, prior_interval)
    scores = read_values("score", y_true, y_score)
    # As given: the sample has normalized them.
    weight = np.ones(len(scores)) * np.asarray(1 if sample_weight is None else sample_weight, float)
    return gains_of_sample(sample, scores, weight, assumed, confidence)


def gains_of_sample(
    sample: PUSample,
    scores: Array,
    weight: Array,
    prior: MetricPrior,
    confidence: float = CONFIDENCE,
) -> GainsCurve:
    """Compute the curve of the unlabeled rows of a sample with the given weights."""
    ranked = np.flatnonzero(~sample.labeled & (weight > 0))
    ranked = ranked[np.argsort(-scores[ranked], kind="stable")]
    n = np.cumsum(weight[ranked])
    population = weight[~sample.labeled].sum() / (1 - sample.labeled_fraction)

    def of_labeled(value: Array) -> Array:
        """Sum over the labeled rows that score as high; within ties, in proportion to n."""
        rows = np.flatnonzero(sample.labeled)
        rows = rows[np.argsort(-scores[rows], kind="stable")]
        total = np.append(0.0, np.cumsum(value[rows]))
        last = np.append(scores[ranked][1:] < scores[ranked][:-1], True)
        above = total[np.searchsorted(-scores[rows], -scores[ranked][last], side="right")]
        above[-1] = total[-1]  # those below all ranked rows
        ends: Array = np.append(0.0, n[last])
        return _concave(n, np.interp(n, ends, np.append(0.0, above)))

    recall = np.minimum(of_labeled(sample.positive), 1.0)
    known = population * of_labeled(sample.population)
    ranking = _Ranking(
        n=n,
        recall=recall,
        share=float(sample.positive @ sample.positive),
        threshold_variance=0.0,
        population=float(population),
        known=known,
        n_known=float(known[-1]),
        row=float(weight[ranked] @ weight[ranked] / n[-1]),
    )
    return _gains(ranking, prior, confidence)


def expected_gains(
    model: Any,
    n_samples: int,
    *,
    n_labeled: int = 0,
    n_top: int | None = None,
    prior: float | PriorEstimate | None = None,
    confidence: float = CONFIDENCE,
) -> GainsCurve | None:
    """Predict how many positives are among the new rows that a model scores highest.

    The recall at the top of the ranking is that of the out-of-bag scores of the training rows. The
    new rows must be a sample of the same population.

    Parameters
    ----------
    model : estimator
        Fitted forest of puforest, or a pipeline or calibrated classifier with one inside.
    n_samples : int
        Number of new rows to rank.
    n_labeled : int, default=0
        Number of labeled rows that are left out of the ranking. In a single training set, they are
        part of the population, and fewer positives are left.
    n_top : int, optional
        Number of rows up to which to compute the curve, which saves memory if there are billions.
        By default, all.
    prior : float or PriorEstimate, optional
        Class prior of the new rows; that of the model, with its interval, by default.
    confidence : float, default=0.95
        Confidence level of the interval.

    Returns
    -------
    GainsCurve or None
        The curve for 1 to `n_top` rows; None if the model has no out-of-bag scores.

    See Also
    --------
    gains_curve : The curve for the unlabeled rows of PU data.

    Examples
    --------
    >>> from puforest import PUForestClassifier
    >>> from puforest.datasets import load_mushrooms, make_pu
    >>> from puforest.metrics import expected_gains
    >>> X, y = load_mushrooms(return_X_y=True)
    >>> X_pu, labeled = make_pu(X[::2], y[::2], n_labeled=500, random_state=0)
    >>> forest = PUForestClassifier(y.mean(), n_estimators=20, random_state=0).fit(X_pu, labeled)
    >>> expected, low, high = expected_gains(forest, 1000).at(200)
    >>> expected > 190
    True
    """
    trees = fitted_trees(model)
    record = None if trees is None else trees._record
    n_samples = check.integer("n_samples", n_samples, 1)
    n_labeled = check.integer("n_labeled", n_labeled, 0)
    n_top = n_samples if n_top is None else min(n_samples, check.integer("n_top", n_top, 1))
    if record is None or record.curve is None or record.is_supervised:
        return None
    new = pu_sample([1, 0])  # of no scenario's constraints
    if prior is not None:
        assumed = MetricPrior.read(new, prior, None)
    elif record.prior_estimate is not None:
        assumed = MetricPrior.of_estimate(new, record.prior_estimate, known_prior(model))
    else:
        assumed = MetricPrior.read(new, known_prior(model), None)
    # In case-control data, labeled rows are not part of the population.
    n_labeled = n_labeled if record.scenario == "single-training-set" else 0
    population = float(n_samples + n_labeled)
    q, r = _ranked_curve(record.curve, n_labeled / population)
    n = np.arange(1.0, n_top + 1)
    part = n / n_samples

    def recall_at(part: Array) -> Array:
        return np.asarray(np.interp(part, q, r))

    # The threshold of a part of the new rows is a quantile of the training rows, with an error.
    slope = (recall_at(1.5 * part) - recall_at(0.5 * part)) / part
    ranking = _Ranking(
        n=n,
        recall=recall_at(part),
        share=1 / record.n_labeled,
        threshold_variance=slope**2 * part * (1 - part) / record.n_unlabeled,
        population=population,
        known=n_labeled * recall_at(part),
        n_known=float(n_labeled),
        row=1.0,
    )
    at_random = max(0.0, population * assumed.value - n_labeled) / n_samples
    return replace(_gains(ranking, assumed, confidence), random=n * at_random)


def _ranked_curve(curve: ScoreCurve, labeled_fraction: float) -> tuple[Array, Array]:
    """Return fractions of the ranked rows from the top, and the recall at each of them.

    Of the population, this fraction is labeled and not ranked; labeled rows score like positives.
    """
    r, q = (np.append(part[::-1], 1.0) for part in curve.above())
    q = np.maximum.accumulate((q - labeled_fraction * r) / (1 - labeled_fraction))
    last = np.append(q[1:] > q[:-1], True)
    q, r = q[last], r[last]
    return q, np.append(r[0], r[0] + _concave(q[1:] - q[0], r[1:] - r[0]))
