"""Comparison of new rows with the population that a model was trained on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2_contingency, ks_2samp, kstwo, norm

from puforest import _validation as check
from puforest._confidence import CONFIDENCE
from puforest._encoded import EncodedTable
from puforest._score_curve import ScoreCurve
from puforest._table_columns import column_of
from puforest._threshold import threshold_of
from puforest._unwrap import require_unwrapped
from puforest.diagnostics._new_rows import (
    out_of_bag_curve,
    population_size,
    votes_like_out_of_bag,
)

Array = NDArray[np.float64]

SIGNIFICANCE_LEVEL = 1 - CONFIDENCE
SHOWN_COLUMNS = 5


@dataclass(frozen=True)
class ColumnChange:
    """Difference between a column of the new rows and the same column of the training rows.

    Attributes
    ----------
    name : str
        Name of the column.
    change : str
        The difference in words.
    p_value : float
        Probability of a difference at least as large by chance, adjusted for the number of
        comparisons; 0 for categories that the training rows do not have.
    """

    name: str
    change: str
    p_value: float

    def __str__(self) -> str:
        return f"{self.name}: {self.change}"


@dataclass(frozen=True)
class DriftReport:
    """Result of `drift_report`; prints as an explanation.

    Attributes
    ----------
    p_value : float
        Probability of differences at least as large if the new rows come from the training
        population. Twice the smaller of `fraction_p_value` and `ks_p_value`, since two quantities
        are compared.
    positive_fraction, training_fraction : float
        Fraction of the new rows and of the training population predicted positive.
    difference_interval : tuple of float
        Confidence interval of ``positive_fraction - training_fraction``, at the level 95%.
    fraction_p_value : float
        P-value of the difference of the two fractions.
    ks_statistic, ks_p_value : float
        Largest difference between the distribution functions of the scores, and its p-value in a
        Kolmogorov-Smirnov test.
    n_rows : int
        Number of new rows.
    n_training : float
        Effective number of training rows that represent the population.
    threshold : float
        Threshold on the probability.
    columns : list of ColumnChange
        Columns that differ, the most significant first.
    probability, training_above, new_above : ndarray
        Probabilities, and the fractions of the training population and of the new rows with a
        larger one; drawn by `puforest.plots.plot_drift`.
    """

    p_value: float
    positive_fraction: float
    training_fraction: float
    difference_interval: tuple[float, float]
    fraction_p_value: float
    ks_statistic: float
    ks_p_value: float
    n_rows: int
    n_training: float
    threshold: float
    columns: list[ColumnChange]
    probability: Array = field(repr=False)
    training_above: Array = field(repr=False)
    new_above: Array = field(repr=False)

    @property
    def significant(self) -> bool:
        """True if the p-value is at most 0.05."""
        return self.p_value <= SIGNIFICANCE_LEVEL

    @property
    def explanation(self) -> str:
        """Result in words."""
        low, high = (100 * limit for limit in self.difference_interval)
        found = (
            f"{self.positive_fraction:.1%} of the {self.n_rows} new rows are predicted positive, "
            f"compared with {self.training_fraction:.1%} of the training population (difference "
            f"{100 * (self.positive_fraction - self.training_fraction):+.1f} percentage points, "
            f"{CONFIDENCE:.0%} interval {low:+.1f} to {high:+.1f}). The distributions of the "
            f"scores differ by up to {self.ks_statistic:.3f} (p = {self.ks_p_value:.2g})."
        )
        columns = "".join(f"\n- {change}" for change in self.columns[:SHOWN_COLUMNS])
        if len(self.columns) > SHOWN_COLUMNS:
            columns += f"\n- and {len(self.columns) - SHOWN_COLUMNS} more columns"
        columns = f" Columns that differ:{columns}" if columns else ""
        if not self.significant:
            return (
                "The scores of the new rows do not differ from those of the training population by "
                f"more than chance (p = {self.p_value:.2g}). {found}{columns}"
            )
        return (
            "The scores of the new rows differ from those of the training population by more than "
            f"chance (p = {self.p_value:.2g}). {found} If only the class prior has changed, "
            "estimate it with puforest.diagnostics.adapt_prior and use with_shifted_prior. "
            f"Otherwise, fit the model to newer data.{columns}"
        )

    def __str__(self) -> str:
        return self.explanation


def drift_report(
    model: object,
    X: check.MatrixLike,
    *,
    reference: check.MatrixLike | None = None,
    random_state: int | np.random.RandomState | None = 0,
) -> DriftReport:
    """Compare new rows with the population that a model was trained on.

    The fraction of rows predicted positive and the distribution of the scores are compared with the
    out-of-bag predictions for the training rows, which are part of the model. Each new row is
    scored by as many trees as a training row was: with all trees, scores would vary less, and the
    comparison would find differences where there are none. Fractions therefore differ slightly from
    those of ``predict``.

    Parameters
    ----------
    model : estimator
        Fitted `PUForestClassifier`, or another forest of this package with ``oob_score=True``,
        calibrated or not, or a pipeline that ends in one.
    X : array-like of shape (n_samples, n_features)
        New rows, a sample of the population at another time or place. They must not be training
        rows.
    reference : array-like of shape (n_reference, n_features), optional
        Training rows that represent the population: the unlabeled rows of case-control data, or all
        rows of a single training set. With them, the columns are compared, too. Without them, only
        unknown categories are reported.
    random_state : int, RandomState instance or None, default=0
        Seed that decides which trees score each new row.

    Returns
    -------
    DriftReport
        The comparison, with a ``p_value`` and an ``explanation``.

    Notes
    -----
    The model does not store sample weights. If the fit had any, differences may be due to chance
    more often than the p-value says.

    Examples
    --------
    >>> import numpy as np
    >>> from puforest import PUForestClassifier
    >>> from puforest.diagnostics import drift_report
    >>> def draw(n, prior, seed):
    ...     rng = np.random.default_rng(seed)
    ...     y = rng.random(n) < prior
    ...     return rng.normal(size=(n, 3)) + 2 * y[:, None], y
    >>> X, y = draw(2000, 0.3, 0)
    >>> labeled = y & (np.arange(2000) < 600)
    >>> model = PUForestClassifier(0.3, scenario="single-training-set", random_state=0)
    >>> model = model.fit(X, labeled)
    >>> drift_report(model, draw(1000, 0.3, 1)[0]).significant
    False
    >>> drift_report(model, draw(1000, 0.5, 2)[0]).significant
    True
    """
    found = require_unwrapped("model", model)
    record = found.trees._record
    curve = out_of_bag_curve(found, "drift_report")
    unknown: dict[int, int] = {}
    table = found.rows(X, unknown)
    votes = votes_like_out_of_bag(found, table, check.random_state(random_state))
    probability, threshold = found.probability(curve.score), threshold_of(found.model)
    _, training_above = curve.above()
    n, n_training = len(votes), population_size(record)
    statistic, score_p_value = ks_p_value(curve, votes, n_training)
    new = float(np.mean(found.probability(votes) > threshold))
    training = float(curve.population @ (probability > threshold))
    fraction_p_value = proportion_p_value(new, n, training, n_training)
    names = found.feature_names(X)
    changes = [
        ColumnChange(names[j], f"{count} rows have categories that are unknown to the model", 0.0)
        for j, count in sorted(unknown.items())
    ]
    if reference is not None:
        changes += changed_columns(table, found.rows(reference), names)
    return DriftReport(
        p_value=min(1.0, 2 * min(score_p_value, fraction_p_value)),
        positive_fraction=new,
        training_fraction=training,
        difference_interval=difference_interval(new, n, training, n_training),
        fraction_p_value=fraction_p_value,
        ks_statistic=statistic,
        ks_p_value=score_p_value,
        n_rows=n,
        n_training=n_training,
        threshold=threshold,
        columns=changes,
        probability=probability,
        training_above=training_above,
        new_above=fraction_above(curve, votes),
    )


def fraction_above(curve: ScoreCurve, votes: Array) -> Array:
    """Return the fraction of the votes above each score of a curve."""
    below = np.searchsorted(np.sort(votes), curve.score, side="right")
    return np.asarray(1 - below / len(votes))


def ks_p_value(curve: ScoreCurve, votes: Array, n_training: float) -> tuple[float, float]:
    """Compare votes with a curve; returns the Kolmogorov-Smirnov statistic and its p-value.

    The curve knows the distribution of the training rows only at its own scores, so the statistic
    may be too small by the fraction between two of them, one in a thousand.
    """
    _, training_above = curve.above()
    statistic = float(np.abs(fraction_above(curve, votes) - training_above).max())
    n = len(votes) * n_training / (len(votes) + n_training)
    return statistic, float(kstwo.sf(statistic, max(1, round(n))))


def proportion_p_value(p: float, n: float, q: float, m: float) -> float:
    """P-value of the difference of two proportions, by the pooled normal approximation."""
    pooled = (n * p + m * q) / (n + m)
    error = np.sqrt(pooled * (1 - pooled) * (1 / n + 1 / m))
    return float(2 * norm.sf(abs(p - q) / error)) if error > 0 else 1.0


def difference_interval(p: float, n: float, q: float, m: float) -> tuple[float, float]:
    """Newcombe's interval for the difference of two proportions, from their Wilson intervals."""
    (p_low, p_high), (q_low, q_high) = _wilson(p, n), _wilson(q, m)
    below = np.hypot(p - p_low, q_high - q)
    above = np.hypot(p_high - p, q - q_low)
    return float(p - q - below), float(p - q + above)


def _wilson(p: float, n: float) -> tuple[float, float]:
    z = norm.ppf((1 + CONFIDENCE) / 2)
    center, half = p + z**2 / (2 * n), z * np.sqrt(p * (1 - p) / n + (z / (2 * n)) ** 2)
    return float((center - half) / (1 + z**2 / n)), float((center + half) / (1 + z**2 / n))


def changed_columns(
    new: EncodedTable, training: EncodedTable, names: list[str]
) -> list[ColumnChange]:
    """Return the columns that differ significantly, adjusted for the number of comparisons."""
    if len(training) == 0:
        raise ValueError("reference has no rows")
    found = [
        ColumnChange(names[j], change, p)
        for j in range(new.shape[1])
        for change, p in _column_changes(
            np.asarray(column_of(new, j), dtype=np.float64),
            np.asarray(column_of(training, j), dtype=np.float64),
            is_categorical=j in new.categorical,
        )
    ]
    adjusted = (ColumnChange(c.name, c.change, min(1.0, c.p_value * len(found))) for c in found)
    significant = [change for change in adjusted if change.p_value <= SIGNIFICANCE_LEVEL]
    return sorted(significant, key=lambda change: change.p_value)


def _column_changes(
    new: Array, training: Array, *, is_categorical: bool
) -> Iterator[tuple[str, float]]:
    """Compare the missing values and the other values of a column."""
    gone, was_gone = np.isnan(new), np.isnan(training)
    p, q = float(gone.mean()), float(was_gone.mean())
    if max(p, q) > 0:
        change = f"{p:.1%} of the values are missing, compared with {q:.1%} in the reference"
        yield change, proportion_p_value(p, len(new), q, len(training))
    new, training = new[~gone], training[~was_gone]
    if not (len(new) and len(training)):
        return
    if is_categorical:
        counts = [np.bincount(part.astype(np.intp)) for part in (new, training)]
        size = max(map(len, counts))
        both = np.array([np.pad(count, (0, size - len(count))) for count in counts])
        both = both[:, both.sum(axis=0) > 0]
        if both.shape[1] > 1:
            yield "the frequencies of the categories differ", float(chi2_contingency(both).pvalue)
        return
    test = ks_2samp(new, training, method="asymp")
    change = f"the median is {np.median(new):.4g}, compared with {np.median(training):.4g}"
    outside = np.mean((new < training.min()) | (new > training.max()))
    if outside > 0:
        change += f"; {outside:.1%} of the values are outside the range of the reference"
    yield change, float(test.pvalue)
