"""A test of whether the labeled positives were chosen completely at random.

If every positive is labeled with the same probability c, then no region of the feature space
can have more than a share c of its rows labeled, since at most all of its rows are positive. In a
single training set ``c = n_p / (n π)``. Case-control data are one training set as well, of which
``n_p + π n_u`` rows are positive, so that ``c = n_p / (n_p + π n_u)``.

This is all that such data can show: fewer labels in a region may as well mean fewer positives.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq
from sklearn.utils.validation import check_consistent_length

from puforest import _validation as check
from puforest._duplicate_rows import labeled_duplicates
from puforest._matrix import matrix
from puforest._sample import pu_sample
from puforest._warnings import warn
from puforest.forest import PURandomForestClassifier

__all__ = ["ScarTest", "scar_test"]

Array = NDArray[np.float64]

# Fewer rows, or fewer labeled ones, say nothing about a share.
LEAST_ROWS = 20
LEAST_TREES = 40  # with which one row in a hundred million is in all bootstrap samples
LEAF_SIZE = 5

SIGNIFICANT = 0.05


@dataclass(frozen=True)
class ScarTest:
    """Result of `scar_test`; printing it explains it.

    Attributes
    ----------
    statistic : float
        How many standard deviations the labeled rows of the region are above what is allowed.
    p_value : float
        Probability of such a statistic if positives are labeled completely at random.
    allowed_frequency : float
        Share of labeled rows, among those looked at, that no region can exceed then.
    region_frequency : float
        Share of labeled rows in the region where it is most above that.
    region : ndarray of int
        The rows of that region.
    features : list of str
        Features that the labels depend on more than in the simulations, the strongest first: by
        more than two standard deviations, and at most five.
    feature_excess : ndarray of shape (n_features,)
        How many standard deviations the importance of each feature is above its mean over the
        simulations; 0 where it does not vary.
    simulated : ndarray of shape (n_simulations,)
        The statistic of each simulation.
    """

    statistic: float
    p_value: float
    allowed_frequency: float
    region_frequency: float
    region: NDArray[np.int64] = field(repr=False)
    features: list[str]
    feature_excess: Array = field(repr=False)
    simulated: Array = field(repr=False)

    @property
    def explanation(self) -> str:
        """What the numbers mean, in words."""
        found = (
            f"Of the {len(self.region)} rows that stand out most, {self.region_frequency:.0%} are "
            f"labeled, and {self.allowed_frequency:.0%} would be allowed (p = {self.p_value:.3g})."
        )
        if len(self.simulated) < 1 / SIGNIFICANT - 1 and (self.simulated < self.statistic).all():
            return (
                f"{len(self.simulated)} simulations are too few to tell. {found} None of them went "
                f"as far: give n_simulations={round(1 / SIGNIFICANT) - 1} or more."
            )
        if self.p_value > SIGNIFICANT:
            return (
                f"Labels completely at random are plausible. {found} A dependence on the features "
                "that looks like fewer positives would not show."
            )
        by = f" More than the class alone explains, they go with: {', '.join(self.features)}."
        return (
            f"Labels completely at random are not plausible. {found}{by if self.features else ''} "
            "Either who gets a label depends on the features, and fit needs propensities, or the "
            "prior is too large."
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
    """Test whether the labeled positives may have been chosen completely at random.

    A forest learns to tell labeled rows from the others, and orders the rows by its out-of-bag
    answers. Among the rows at the top, no more may be labeled than the prior allows. How far
    chance alone goes beyond that is found by drawing labels completely at random, from posteriors
    that fit the data as well as such labels can, and learning again.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The rows.
    y : array-like of shape (n_samples,)
        Two values, the larger for labeled rows.
    prior : float
        Share of positives in the population. If it is too large, the test may reject as well.
    scenario : {"case-control", "single-training-set"}, default="case-control"
        How the rows were drawn. Where labeled rows are among the unlabeled ones again, leave
        those out and give "single-training-set": copies hide what is looked for.
    n_simulations : int, default=99
        Number of times that labels are drawn at random. No p-value is below
        ``1 / (n_simulations + 1)``.
    n_estimators : int, default=50
        Number of trees of each forest.
    max_samples : int or None, default=3000
        If there are more rows, so many are drawn at random for the test, labeled ones up to
        half of them; None takes all.
    n_jobs : int, optional
        Number of threads.
    random_state : int, RandomState instance or None, default=None
        Seed of rows, labels and forests.

    Returns
    -------
    ScarTest
        With ``p_value`` and ``explanation``, among others.

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
    table = matrix(X)
    names, X = check.column_names(X, table.shape[1]), table
    sample = pu_sample(y, scenario=scenario)
    check_consistent_length(X, sample.labeled)
    pi = sample.class_prior(prior)
    simulations = check.integer("n_simulations", n_simulations, 1)
    trees = check.integer("n_estimators", n_estimators, LEAST_TREES)
    rng = check.random_state(random_state)

    # Positives among the unlabeled rows, of which some may be left out.
    pi_u = (pi - sample.least_prior) / (1 - sample.least_prior)
    most = len(X) if max_samples is None else check.integer("max_samples", max_samples, 1)
    rows = _some_rows(sample.labeled, most, rng)
    X, labeled = X[rows], sample.labeled[rows]
    n_labeled = np.count_nonzero(labeled)
    if min(n_labeled, len(rows) - n_labeled) < LEAST_ROWS:
        raise ValueError(
            f"y: {n_labeled} labeled and {len(rows) - n_labeled} unlabeled rows are too few "
            f"for a test, which takes {LEAST_ROWS} of each: give more rows, or a larger max_samples"
        )
    if scenario == "case-control":
        _warn_of_copies(X, labeled)
    pi = (n_labeled + pi_u * (len(rows) - n_labeled)) / len(rows)
    frequency = n_labeled / (len(rows) * pi)
    if pi_u < 1e-9:
        raise ValueError(
            f"prior={prior:g} leaves no positive without a label: there is nothing to test"
        )

    def learn(labels: NDArray[np.bool_]) -> tuple[Array, Array]:
        forest = PURandomForestClassifier(
            risk="pn",
            scenario="single-training-set",
            voting="soft",
            n_estimators=trees,
            min_samples_leaf=LEAF_SIZE,
            oob_score=True,
            n_jobs=n_jobs,
            random_state=rng,
        ).fit(X, labels)
        return (1 + forest.oob_decision_function_) / 2, forest.feature_importances_

    score, importance = learn(labeled)
    statistic, region = _excess(score, labeled, pi)
    posterior = _posterior(score, pi)
    simulated, importances = np.empty(simulations), np.empty((simulations, X.shape[1]))
    for i in range(simulations):
        labels = rng.random_sample(len(X)) < frequency * posterior
        score, importances[i] = learn(labels)
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


def _some_rows(
    labeled: NDArray[np.bool_], most: int, rng: np.random.RandomState
) -> NDArray[np.intp]:
    """Row numbers, as many as allowed: of labeled rows all, up to half of that number."""
    n, n_labeled = len(labeled), int(np.count_nonzero(labeled))
    if n <= most:
        return np.arange(n)
    kept = min(n_labeled, max(most // 2, most - (n - n_labeled)))
    groups = (np.flatnonzero(labeled), kept), (np.flatnonzero(~labeled), most - kept)
    return np.sort(np.concatenate([rng.choice(g, size, replace=False) for g, size in groups]))


def _warn_of_copies(X: NDArray[Any], labeled: NDArray[np.bool_]) -> None:
    copies, n_labeled = labeled_duplicates(X, labeled), np.count_nonzero(labeled)
    if copies > n_labeled / 2:
        warn(
            f"{copies} of the {n_labeled} labeled rows of X are among the unlabeled ones again. "
            "The p-value is then too large, and the test may see nothing: leave those unlabeled "
            "rows out and give scenario='single-training-set'.",
        )


def _excess(score: Array, labeled: NDArray[np.bool_], pi: float) -> tuple[float, NDArray[np.intp]]:
    """Largest excess of labels among the rows at the top of `score`, and these rows.

    Of T rows at the top, at most a share c is expected to be labeled, with the variance
    T c (1 - c) of a binomial distribution where all of them are positive.
    """
    # Labels drawn at random may be a few more than there are positives.
    c = min(labeled.mean() / pi, 1 - 1 / len(labeled))
    order = np.argsort(-score, kind="stable")
    ends = np.append(np.diff(score[order]) < 0, True)
    ends[: LEAST_ROWS - 1] = False
    size = 1 + np.flatnonzero(ends)
    z = (np.cumsum(labeled[order])[size - 1] - c * size) / np.sqrt(c * (1 - c) * size)
    best = int(z.argmax())
    return float(z[best]), np.sort(order[: size[best]])


def _posterior(score: Array, pi: float) -> Array:
    """Posteriors ``min(1, k score)`` with the mean `pi`.

    Under labels completely at random the posterior is the score over c; cut off at 1, and with k
    for 1 / c, it is the nearest to that with as many positives as there are.
    """

    def gap(log_k: float) -> float:
        return float(np.minimum(1, np.exp(log_k) * score).mean() - pi)

    scored = float(np.mean(score > 0))
    if scored <= pi:  # then rows without a score are positive too, all to the same degree
        return np.where(score > 0, 1.0, (pi - scored) / (1 - scored))
    highest = float(-np.log(score[score > 0].min()))
    k = float(np.exp(brentq(gap, -50.0, highest)))
    return np.minimum(1, k * score)
