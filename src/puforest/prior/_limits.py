"""Confidence limits of the class prior from held-out scores, and evidence of a positive region.

Above any threshold lies at least the class prior times as large a fraction of the unlabeled rows as
of the labeled rows. So their ratio bounds the prior from above at every threshold, whatever the
scores are. It equals the prior only where all rows are positive.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import betainc, betaincinv
from sklearn.isotonic import isotonic_regression

from puforest import _validation as check
from puforest._prior_estimate import ESTIMATE, UPPER_BOUND
from puforest.prior._base import Array, UnlabeledPrior

# The upper limit is the least one over the thresholds that these fractions of the labeled rows are
# above. They are fixed in advance, so that a union bound accounts for the choice.
LEVELS = np.array([0.2, 0.4, 0.6, 0.8, 0.95])
# Thresholds for the sampling error of an estimate: in data with a purely positive region, most of
# the positives are in it.
ESTIMATE_LEVEL = np.array([0.8])

# Counts of cross-fitted scores vary more than independent ones: which part of a purely positive
# region scores highest is a matter of chance, and the folds share most of their training rows. On
# ten such development sets, the variance of the counts was up to 1.6 times as large.
DISPERSION = 1.5

# An estimate is supported by a plateau if the posterior of labeled rows is at least this much of
# the way from that of random rows (the prior) to 1. Chosen on the development sets, see
# benchmarks/results/prior.md.
MIN_SEPARATION = 0.75

# Of the bound that selects the best bin: gamma in the paper of BBE, and the confidence level. The
# level is fixed so that the estimate does not depend on the level of the interval.
SLACK = 0.01
THRESHOLD_CONFIDENCE = 0.9

NODES = (np.arange(64) + 0.5) / 64  # quantiles over which a beta distribution is averaged
BISECTIONS = 25  # to 3e-8


@dataclass(frozen=True)
class Counts:
    """Effective numbers of rows above some thresholds, and in total."""

    labeled: Array
    unlabeled: Array
    n_labeled: float
    n_unlabeled: float

    @property
    def ratio(self) -> Array:
        """Fractions of the unlabeled rows divided by those of the labeled rows."""
        result: Array = (self.unlabeled / self.n_unlabeled) / (self.labeled / self.n_labeled)
        return result

    def upper(self, level: float) -> Array:
        """Largest priors that make the counts no less probable than `level`.

        Above the k-th largest of n labeled scores lies a fraction of the positives that is
        distributed as Beta(k, n - k + 1), and at least the prior times as large a fraction of the
        unlabeled rows. Scores with ties lie above their threshold with a larger fraction.
        """
        fraction = betaincinv(
            self.labeled[:, None], self.n_labeled - self.labeled[:, None] + 1, NODES
        )

        def is_possible(prior: Array) -> Any:
            return self._at_most(self.unlabeled, prior[:, None] * fraction) >= level

        return bisected(is_possible, len(self.labeled))

    def lower(self, level: float) -> Array:
        """Smallest priors that make the counts no less probable if all rows are positive."""
        rest = np.maximum(self.n_labeled - self.labeled, 1e-3)  # a distribution at 1 for none
        fraction = betaincinv(self.labeled[:, None] + 1, rest[:, None], NODES)

        def is_too_small(prior: Array) -> Any:
            fewer = self._at_most(self.unlabeled - 1, prior[:, None] * fraction)
            return (1 - fewer < level) & (self.unlabeled > 0)

        return bisected(is_too_small, len(self.labeled))

    def _at_most(self, count: Array, probability: Array) -> Array:
        """Probabilities of at most this many unlabeled rows, averaged over the nodes."""
        rest = self.n_unlabeled - count[:, None]
        with np.errstate(invalid="ignore"):
            found = betainc(
                np.maximum(rest, 1e-12), np.maximum(count[:, None], 0) + 1, 1 - probability
            )
        found = np.where(rest > 0, found, 1.0)
        result: Array = np.where(count[:, None] < 0, 0.0, found).mean(axis=1)
        return result


def bisected(is_below: Any, n: int) -> Array:
    """Largest values from 0 to 1 that satisfy a condition which only smaller values satisfy."""
    low, high = np.zeros(n), np.ones(n)
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        below = is_below(middle)
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return high


def counted(positive: Array, unlabeled: Array, w_p: Array, w_u: Array, levels: Array) -> Counts:
    """Count the rows above the thresholds that these fractions of the labeled rows are above."""
    order = np.argsort(-positive)
    above = np.cumsum(w_p[order])
    place = np.searchsorted(above, levels * above[-1] * (1 - 1e-12))
    threshold = positive[order][np.minimum(place, len(order) - 1)][::-1]
    n_p, n_u = effective_size(w_p) / DISPERSION, effective_size(w_u) / DISPERSION
    return Counts(
        n_p * fraction_above(positive, w_p, threshold),
        n_u * fraction_above(unlabeled, w_u, threshold),
        n_p,
        n_u,
    )


def upper_limit(
    positive: Array, unlabeled: Array, w_p: Array, w_u: Array, *, confidence: float
) -> float:
    """Upper confidence limit of the fraction of positives among the unlabeled rows."""
    counts = counted(positive, unlabeled, w_p, w_u, LEVELS)
    return float(counts.upper((1 - confidence) / len(LEVELS)).min())


def mean_posterior_of_labeled(
    positive: Array, unlabeled: Array, w_p: Array, w_u: Array, *, prior: float
) -> float:
    """Mean over the labeled rows of the posterior that their scores imply.

    The posterior is the prior times the density ratio of labeled and unlabeled rows, at most 1. It
    is 1 where the ratio of the fractions has stopped falling, at the prior. The density ratio is
    estimated by isotonic regression.
    """
    score, place = np.unique(np.concatenate([positive, unlabeled]), return_inverse=True)
    n = len(score)
    p = np.bincount(place[: len(positive)], w_p / w_p.sum(), minlength=n)
    u = np.bincount(place[len(positive) :], w_u / w_u.sum(), minlength=n)
    labeled = isotonic_regression(p / (p + u), sample_weight=p + u)
    # prior * p / u <= 1, without a division by 0
    posterior = np.where(
        prior * labeled < 1 - labeled, prior * labeled / np.maximum(1 - labeled, 1e-300), 1.0
    )
    return min(1.0, float(p @ posterior))  # sums may exceed 1 by rounding


def uniform_errors(w_p: Array, w_u: Array, confidence: float) -> tuple[float, float]:
    """Bound the errors of both distribution functions (Dvoretzky, Kiefer and Wolfowitz)."""
    squared = np.log(4 / (1 - confidence)) / 2
    return float(np.sqrt(squared / effective_size(w_p))), float(
        np.sqrt(squared / effective_size(w_u))
    )


def best_threshold(
    positive: Array, unlabeled: Array, w_p: Array, w_u: Array
) -> tuple[Array, Array, Array, int]:
    """Find the threshold that minimizes an upper bound of the ratio of the fractions above it.

    Returns the thresholds, the fractions of both groups above them, and the place of the best.
    """
    threshold = np.unique(np.concatenate([positive, unlabeled]))
    q_p, q_u = fraction_above(positive, w_p, threshold), fraction_above(unlabeled, w_u, threshold)
    error = (1 + SLACK) * sum(uniform_errors(w_p, w_u, THRESHOLD_CONFIDENCE))
    bound = np.divide(q_u + error, q_p, out=np.full(len(q_p), np.inf), where=q_p > 0)
    return threshold, q_p, q_u, int(np.argmin(bound))


def identified(
    value: float,
    low: float,
    positive: Array,
    unlabeled: Array,
    w_p: Array,
    w_u: Array,
    *,
    confidence: float,
    evidence: dict[str, Any],
) -> UnlabeledPrior:
    """Decide whether a value is an estimate or only within an upper bound, and find its limits.

    `value` and `low` are the value and the lower limit that the method yields. Let s be the mean
    posterior of the labeled rows, at the value or at the ratio in the best bin if that is smaller:
    a prior that is too large would make them look more certain. If s is less than 1, the ratio has
    not stopped falling for all labeled rows, and the value is likely to be too large: by a factor
    of about 1/s, and by more if s was computed with a prior that is too large. So the lower limit
    is multiplied by s²; with s, it was too large for more than a tenth of the estimates in single
    training sets. The value is multiplied by 1 - (1 - s)^1.5, which reduces the mean error of BBE
    over the development sets by a tenth and changes little where s is near 1.
    """
    groups = (positive, unlabeled, w_p, w_u)
    bound = upper_limit(*groups, confidence=confidence)
    found = min(max(value, 0.0), 1.0)
    _, q_p, q_u, best = best_threshold(*groups)
    least = min(found, float(q_u[best] / q_p[best]))
    posterior = mean_posterior_of_labeled(*groups, prior=least)
    separation = (posterior - least) / (1 - least) if least < 1 else 0.0
    share = f"{posterior:.0%}".replace("100%", "nearly 100%")
    if found > bound or bound == 1:
        kind, low = UPPER_BOUND, 0.0
        reason = "The scores do not rule out any larger prior."
        if found > bound:
            reason = "The method yields a larger prior than the scores support."
    elif separation < MIN_SEPARATION:
        kind, low = UPPER_BOUND, 0.0
        reason = (
            "No region is known to be purely positive: the ratio of unlabeled to labeled rows is "
            f"at its minimum for only {share} of the labeled rows, and the prior may be lower."
        )
    else:
        kind = ESTIMATE
        counts = counted(*groups, ESTIMATE_LEVEL)
        sampling, ratio = float(counts.lower((1 - confidence) / 2)[0]), float(counts.ratio[0])
        low = posterior**2 * min(low, sampling * least / ratio) if ratio > 0 else 0.0
        reason = (
            "A region appears to be purely positive: the ratio of unlabeled to labeled rows is at "
            f"its minimum for {share} of the labeled rows."
        )
    likely = found * (1 - (1 - posterior) ** 1.5)
    return UnlabeledPrior(likely, min(low, likely), max(bound, likely), kind, reason, evidence)


def fraction_above(scores: Array, weight: Array, threshold: Array) -> Array:
    """Weighted fraction of the scores at or above each of the ascending thresholds."""
    order = np.argsort(scores)
    below = np.concatenate([[0.0], np.cumsum(weight[order])])
    fraction: Array = 1 - below[np.searchsorted(scores[order], threshold)] / below[-1]
    return fraction


def effective_size(weight: Array) -> float:
    """Effective sample size: the number of equally weighted rows that are as informative."""
    weight = check.at_most_one(weight)
    return float(weight.sum() ** 2 / (weight @ weight))
