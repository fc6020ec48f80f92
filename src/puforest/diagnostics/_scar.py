"""Test of whether positives are labeled completely at random (SCAR).

If every positive is labeled with the same probability c, no region of the feature space can have
more than a fraction c of its rows labeled, since at most all of them are positive. In a single
training set, ``c = n_p / (n π)``. Case-control data can be seen as a single training set with
``n_p + π n_u`` positives, so ``c = n_p / (n_p + π n_u)``.

Nothing else can be tested with PU data: fewer labels in a region may just as well mean fewer
positives.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import norm
from sklearn.utils.validation import check_consistent_length

from puforest import _core
from puforest import _validation as check
from puforest._duplicate_rows import labeled_duplicates
from puforest._encoded import EncodedTable
from puforest._label_forest import label_forest
from puforest._prior_estimate import PriorEstimate, given_estimate
from puforest._sample import pu_sample
from puforest._schema import FeatureSchema
from puforest._warnings import warn

__all__ = ["ScarTest", "scar_test"]

_Array = NDArray[np.float64]

MIN_ROWS = 20  # in a region, and of each group
MIN_TREES = 40  # with which one row in a hundred million is in all bootstrap samples
MIN_SAMPLES_LEAF = 5

# The forest that decides which rows are positive in the simulations is smoother than the others:
# with a noisy ranking, forests separate the simulated labels worse than the given ones.
RANKING_TREES = 400
RANKING_LEAF = 15

ENOUGH_EXCEEDING = 20  # simulations, after which the p-value is known well enough
SIGNIFICANCE_LEVEL = 0.05


@dataclass(frozen=True)
class ScarTest:
    """Result of `scar_test`; prints as an explanation.

    Attributes
    ----------
    statistic : float
        Number of standard deviations by which the number of labeled rows in the region exceeds
        the largest number expected.
    p_value : float
        Probability of a statistic at least this large if positives are labeled completely at
        random.
    allowed_frequency : float
        Largest expected fraction of labeled rows in any region under the null hypothesis, among the
        rows used by the test.
    region_frequency : float
        Fraction of labeled rows in the region with the largest excess over `allowed_frequency`.
    region : ndarray of int
        Indices of the rows in that region.
    features : list of str
        Features on which the labels depend significantly more than in the simulations (by more than
        two standard deviations). At most five, in decreasing order.
    feature_excess : ndarray of shape (n_features,)
        Number of standard deviations by which the importance of each feature exceeds its mean over
        the simulations; 0 if it does not vary.
    simulated : ndarray of shape (n_simulations,)
        Statistic of each simulation; fewer if the test stopped early.
    """

    statistic: float
    p_value: float
    allowed_frequency: float
    region_frequency: float
    region: NDArray[np.int64] = field(repr=False)
    features: list[str]
    feature_excess: _Array = field(repr=False)
    simulated: _Array = field(repr=False)

    @property
    def significant(self) -> bool:
        """True if the p-value is at most 0.05."""
        return self.p_value <= SIGNIFICANCE_LEVEL

    @property
    def explanation(self) -> str:
        """Result in words."""
        found = (
            f"In the region with the largest excess of labels ({len(self.region)} rows), "
            f"{self.region_frequency:.0%} of the rows are labeled; at most "
            f"{self.allowed_frequency:.0%} are expected (p = {self.p_value:.3g})."
        )
        enough = round(1 / SIGNIFICANCE_LEVEL) - 1
        if len(self.simulated) < enough and (self.simulated < self.statistic).all():
            return (
                f"{len(self.simulated)} simulations are too few to decide. {found} No simulation "
                f"has such a large excess: use n_simulations={enough} or more."
            )
        if not self.significant:
            return (
                f"The data is consistent with positives labeled completely at random. {found} A "
                "dependence of the labels on the features may go undetected if it looks like fewer "
                "positives."
            )
        by = (
            f" Features that the labels depend on, given the class: {', '.join(self.features)}."
            if self.features
            else ""
        )
        return (
            f"The data is not consistent with positives labeled completely at random. {found}{by} "
            "Either the labels depend on the features, and fit requires propensities, or the prior "
            "is too large."
        )

    def __str__(self) -> str:
        return self.explanation


def scar_test(
    X: check.MatrixLike,
    y: ArrayLike,
    *,
    prior: float | PriorEstimate,
    scenario: str = "case-control",
    n_simulations: int = 199,
    n_estimators: int = 50,
    max_samples: int | None = 3000,
    n_jobs: int | None = None,
    random_state: int | np.random.RandomState | None = None,
) -> ScarTest:
    """Test whether positives are labeled completely at random (SCAR).

    A random forest is trained to separate labeled from unlabeled rows, and the rows are ranked by
    its out-of-bag predictions. The test statistic measures by how much the fraction of labeled rows
    among the top-ranked rows exceeds the maximum that the prior allows. The null distribution is
    simulated: the top-ranked rows are taken to be positive, labels are drawn among them at random,
    and the forest is trained again. The number of positives varies as in a sample of the
    population, and by the uncertainty of the prior if it is an estimate.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Labeled and unlabeled rows: an array, a sparse matrix, or a pandas, polars or Arrow table.
    y : array-like of shape (n_samples,)
        PU labels: two values, the larger one for labeled rows.
    prior : float or PriorEstimate
        Class prior, the fraction of positives in the population. The test may also reject because
        the prior is too large. With an estimate, the simulations draw the prior from its interval;
        if only an upper bound is known, the test detects little.
    scenario : {"case-control", "single-training-set"}, default="case-control"
        Sampling scenario of the data. If labeled rows also appear in the unlabeled set, remove
        them from the unlabeled set and use "single-training-set": duplicates reduce the power of
        the test.
    n_simulations : int, default=199
        Maximum number of simulations. The smallest possible p-value is ``1 / (n_simulations + 1)``.
        The test stops early when the p-value is clearly large: after 20 simulations with at least
        the observed excess.
    n_estimators : int, default=50
        Number of trees of each forest.
    max_samples : int or None, default=3000
        Maximum number of rows to use. If there are more, a random subset is drawn, of which up to
        half are labeled rows. None uses all rows.
    n_jobs : int, optional
        Number of threads.
    random_state : int, RandomState instance or None, default=None
        Seed of the random number generator.

    Returns
    -------
    ScarTest
        Result of the test, with a ``p_value`` and an ``explanation``.

    Examples
    --------
    >>> from puforest.datasets import load_mushrooms, group_propensity, make_pu
    >>> from puforest.diagnostics import scar_test
    >>> X, y = load_mushrooms(return_X_y=True)
    >>> X, y = X[::8], y[::8]
    >>> bruised = load_mushrooms().feature_names.index("bruises=t")
    >>> e = group_propensity(X[:, bruised], {0: 0.1, 1: 0.6})
    >>> X, labeled = make_pu(X, y, propensity=e, scenario="single-training-set", random_state=0)
    >>> test = scar_test(X, labeled, prior=y.mean(), scenario="single-training-set",
    ...                  n_simulations=19, random_state=0)
    >>> test.p_value
    0.05
    """
    schema, table = FeatureSchema.of_table(X, estimator="scar_test")
    names = schema.feature_names()
    sample = pu_sample(y, scenario=scenario)
    check_consistent_length(table.values, sample.labeled)
    pi = sample.class_prior(prior)
    simulations = check.integer("n_simulations", n_simulations, 1)
    trees = check.integer("n_estimators", n_estimators, MIN_TREES)
    rng = check.random_state(random_state)

    # The prior of the unlabeled rows does not change when only some of them are used.
    def unlabeled_prior(pi: float) -> float:
        known = sample.labeled_fraction
        return min(max((pi - known) / (1 - known), 0.0), 1.0)

    pi_u = unlabeled_prior(pi)
    most = len(table) if max_samples is None else check.integer("max_samples", max_samples, 1)
    rows = _drawn_rows(sample.labeled, most, rng)
    table, labeled = table[rows], sample.labeled[rows]
    n_labeled = int(np.count_nonzero(labeled))
    if min(n_labeled, len(rows) - n_labeled) < MIN_ROWS:
        raise ValueError(
            f"y: {n_labeled} labeled and {len(rows) - n_labeled} unlabeled rows are too few for a "
            f"test, which needs at least {MIN_ROWS} of each: use more rows, or increase "
            "max_samples"
        )
    if scenario == "case-control":
        _warn_about_duplicates(table, labeled)
    pi = (n_labeled + pi_u * (len(rows) - n_labeled)) / len(rows)
    frequency = n_labeled / (len(rows) * pi)
    if pi_u < 1e-9:
        raise ValueError(
            f"prior={check.class_prior(prior):g} leaves no unlabeled positives, so there is "
            "nothing to test"
        )

    def trained(labels: NDArray[np.bool_], n_trees: int, leaf: int) -> tuple[_Array, _Array]:
        forest = label_forest(
            table,
            labels,
            thresholds=_core.Thresholds.optimal,
            scenario="single-training-set",
            bootstrap=True,
            n_estimators=n_trees,
            min_samples_leaf=leaf,
            n_jobs=n_jobs,
            random_state=rng,
        )
        return forest.oob_probabilities(), forest.importances()

    score, importance = trained(labeled, trees, MIN_SAMPLES_LEAF)
    statistic, region = _excess(score, labeled, pi)
    ranking, _ = trained(labeled, RANKING_TREES, RANKING_LEAF)
    results: list[tuple[float, _Array]] = []
    exceeding = 0
    while len(results) < simulations and exceeding < ENOUGH_EXCEEDING:
        labels = _random_labels(ranking, n_labeled, unlabeled_prior(_drawn_prior(prior, rng)), rng)
        score, of_labels = trained(labels, trees, MIN_SAMPLES_LEAF)
        excess_of_labels, _ = _excess(score, labels, pi)
        results.append((excess_of_labels, of_labels))
        exceeding += excess_of_labels >= statistic
    # Stopped early, the test is sequential (Besag and Clifford 1991).
    stopped = exceeding == ENOUGH_EXCEEDING
    p_value = exceeding / len(results) if stopped else (1 + exceeding) / (1 + len(results))
    simulated, importances = (np.array(part) for part in zip(*results, strict=True))

    spread = importances.std(axis=0)
    excess = np.divide(
        importance - importances.mean(axis=0), spread, out=np.zeros(len(spread)), where=spread > 0
    )
    strongest = [i for i in np.argsort(-excess)[:5] if excess[i] > 2]
    return ScarTest(
        statistic=statistic,
        p_value=float(p_value),
        allowed_frequency=float(frequency),
        region_frequency=float(labeled[region].mean()),
        region=rows[region],
        features=[names[i] for i in strongest],
        feature_excess=excess,
        simulated=simulated,
    )


def _drawn_prior(prior: float | PriorEstimate, rng: np.random.RandomState) -> float:
    """Draw a prior from a normal distribution with the interval of an estimate on either side."""
    estimate = given_estimate(prior)
    if estimate is None:
        return float(prior)  # type: ignore[arg-type]
    errors = rng.standard_normal() / norm.ppf((1 + estimate.confidence) / 2)
    low, high = estimate.interval
    width = estimate.value - low if errors < 0 else high - estimate.value
    return float(estimate.value + errors * width)


def _random_labels(
    ranking: _Array, n_labeled: int, pi_u: float, rng: np.random.RandomState
) -> NDArray[np.bool_]:
    """Draw labels completely at random among the rows that are ranked highest.

    Of all populations that agree with the prior, this one has the purest regions, in which as many
    rows are labeled as the null hypothesis allows. The number of positives among the unlabeled rows
    varies as in a random sample.
    """
    n_positive = n_labeled + rng.binomial(len(ranking) - n_labeled, pi_u)
    order = np.lexsort((rng.random_sample(len(ranking)), -ranking))
    labels = np.zeros(len(ranking), dtype=bool)
    labels[rng.choice(order[:n_positive], n_labeled, replace=False)] = True
    return labels


def _drawn_rows(
    labeled: NDArray[np.bool_], most: int, rng: np.random.RandomState
) -> NDArray[np.intp]:
    """Draw row indices: all labeled rows, or as many as make up half of the total."""
    n, n_labeled = len(labeled), int(np.count_nonzero(labeled))
    if n <= most:
        return np.arange(n)
    kept = min(n_labeled, max(most // 2, most - (n - n_labeled)))
    groups = (np.flatnonzero(labeled), kept), (np.flatnonzero(~labeled), most - kept)
    return np.sort(np.concatenate([rng.choice(g, size, replace=False) for g, size in groups]))


def _warn_about_duplicates(table: EncodedTable, labeled: NDArray[np.bool_]) -> None:
    duplicates, n_labeled = labeled_duplicates(table, labeled), np.count_nonzero(labeled)
    if duplicates > n_labeled / 2:
        warn(
            f"{duplicates} of the {n_labeled} labeled rows of X also appear in the unlabeled set. "
            "This makes the p-value too large, and the test may detect nothing: remove them from "
            "the unlabeled set and use scenario='single-training-set'."
        )


def _excess(score: _Array, labeled: NDArray[np.bool_], pi: float) -> tuple[float, NDArray[np.intp]]:
    """Largest excess of labels among the top rows by `score`, and these rows.

    Of the top T rows, at most a fraction c is expected to be labeled, with the binomial variance
    T c (1 - c) if all of them are positive.
    """
    # Labels drawn at random may slightly outnumber the positives.
    c = min(labeled.mean() / pi, 1 - 1 / len(labeled))
    order = np.argsort(-score, kind="stable")
    ends = np.append(np.diff(score[order]) < 0, True)
    ends[: MIN_ROWS - 1] = False
    size = 1 + np.flatnonzero(ends)
    z = (np.cumsum(labeled[order])[size - 1] - c * size) / np.sqrt(c * (1 - c) * size)
    best = int(z.argmax())
    return float(z[best]), np.sort(order[: size[best]])
