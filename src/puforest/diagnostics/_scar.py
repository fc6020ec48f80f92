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
from scipy.optimize import brentq
from sklearn.utils.validation import check_consistent_length

from puforest import _core
from puforest import _validation as check
from puforest._duplicate_rows import labeled_duplicates
from puforest._encoded import EncodedTable
from puforest._label_forest import label_forest
from puforest._sample import pu_sample
from puforest._schema import FeatureSchema
from puforest._warnings import warn

__all__ = ["ScarTest", "scar_test"]

_Array = NDArray[np.float64]

MIN_ROWS = 20  # in a region, and of each group
MIN_TREES = 40  # with which one row in a hundred million is in all bootstrap samples
MIN_SAMPLES_LEAF = 5
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
        Statistic of each simulation.
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
    prior: float,
    scenario: str = "case-control",
    n_simulations: int = 99,
    n_estimators: int = 50,
    max_samples: int | None = 3000,
    n_jobs: int | None = None,
    random_state: int | np.random.RandomState | None = None,
) -> ScarTest:
    """Test whether positives are labeled completely at random (SCAR).

    A random forest is trained to separate labeled from unlabeled rows, and the rows are ranked by
    its out-of-bag predictions. The test statistic measures by how much the fraction of labeled rows
    among the top-ranked rows exceeds the maximum that the prior allows. The null distribution is
    simulated: labels are drawn completely at random, from the posteriors that agree best with such
    labels, and the forest is trained again.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Labeled and unlabeled rows: an array, a sparse matrix, or a pandas, polars or Arrow table.
    y : array-like of shape (n_samples,)
        PU labels: two values, the larger one for labeled rows.
    prior : float
        Class prior, the fraction of positives in the population. The test may also reject because
        the prior is too large.
    scenario : {"case-control", "single-training-set"}, default="case-control"
        Sampling scenario of the data. If labeled rows also appear in the unlabeled set, remove
        them from the unlabeled set and use "single-training-set": duplicates reduce the power of
        the test.
    n_simulations : int, default=99
        Number of simulations. The smallest possible p-value is ``1 / (n_simulations + 1)``.
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
    pi_u = (pi - sample.least_prior) / (1 - sample.least_prior)
    most = len(table) if max_samples is None else check.integer("max_samples", max_samples, 1)
    rows = _drawn_rows(sample.labeled, most, rng)
    table, labeled = table[rows], sample.labeled[rows]
    n_labeled = np.count_nonzero(labeled)
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
            f"prior={prior:g} leaves no unlabeled positives, so there is nothing to test"
        )

    def trained(labels: NDArray[np.bool_]) -> tuple[_Array, _Array]:
        forest = label_forest(
            table,
            labels,
            thresholds=_core.Thresholds.optimal,
            scenario="single-training-set",
            bootstrap=True,
            n_estimators=trees,
            min_samples_leaf=MIN_SAMPLES_LEAF,
            n_jobs=n_jobs,
            random_state=rng,
        )
        return forest.oob_probabilities(), forest.importances()

    score, importance = trained(labeled)
    statistic, region = _excess(score, labeled, pi)
    posterior = _posterior(score, pi)
    simulated, importances = np.empty(simulations), np.empty((simulations, table.shape[1]))
    for i in range(simulations):
        labels = rng.random_sample(len(table)) < frequency * posterior
        score, importances[i] = trained(labels)
        simulated[i], _ = _excess(score, labels, pi)

    spread = importances.std(axis=0)
    excess = np.divide(
        importance - importances.mean(axis=0), spread, out=np.zeros(len(spread)), where=spread > 0
    )
    strongest = [i for i in np.argsort(-excess)[:5] if excess[i] > 2]
    return ScarTest(
        statistic=statistic,
        p_value=float((1 + np.count_nonzero(simulated >= statistic)) / (1 + simulations)),
        allowed_frequency=float(frequency),
        region_frequency=float(labeled[region].mean()),
        region=rows[region],
        features=[names[i] for i in strongest],
        feature_excess=excess,
        simulated=simulated,
    )


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


def _posterior(score: _Array, pi: float) -> _Array:
    """Posteriors ``min(1, k score)`` with mean `pi`.

    If labels are completely at random, the posterior is the score divided by c. Clipping at 1, with
    k in place of 1 / c, gives the closest posterior with the right number of positives.
    """

    def gap(log_k: float) -> float:
        return float(np.minimum(1, np.exp(log_k) * score).mean() - pi)

    scored = float(np.mean(score > 0))
    if scored <= pi:  # then rows of score 0 are positive too, with equal probability
        return np.where(score > 0, 1.0, (pi - scored) / (1 - scored))
    highest = float(-np.log(score[score > 0].min()))
    k = float(np.exp(brentq(gap, -50.0, highest)))
    return np.minimum(1, k * score)
