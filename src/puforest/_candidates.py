"""Candidate forests: growing them on shared codes, scoring them out of bag, and comparing them.

Every row belongs to one of a few folds, and duplicates to the same one. Each tree leaves out the
rows of one fold, and these are scored by the trees that leave them out. So each row, labeled or
not, is scored by the same number of trees, none of which was grown on the row or a duplicate of it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from puforest import _core
from puforest._comparison import Compared, Comparison
from puforest._encoded import EncodedTable
from puforest._masses import GroupMasses
from puforest._model import Forest
from puforest._progress import Progress, Steps
from puforest._row_weights import growth, training_sample, with_weights
from puforest._sample import PUSample
from puforest._training import grow, set_masses, train_params
from puforest._training_rows import TrainingRows
from puforest.metrics._metric import Estimate
from puforest.metrics.ranking import ROC_AUC
from puforest.recipes import Recipe

Array = NDArray[np.float64]

# The mean over trees of the leaf value a / (a + b), with a and b the fractions of the labeled rows
# and of the population in the leaf. Unlike a posterior, it does not depend on the prior.
VOTING = "ratio"

N_FOLDS = 5

# A tree is grown on at most this many labeled rows, so that the time of a fit is bounded.
MAX_LABELED = 10_000

# Trees t and t + N_SAMPLES are grown on the same rows, and so are the trees t of all candidates.
# So a fit needs a limited number of unlabeled rows, however many there are. More than the trees of
# a comparison, whose halves must be independent: with 120, accuracy was up to 0.9 points lower on
# six small data sets, with 240 at most 0.2. A multiple of every possible number of folds.
N_SAMPLES = 240

# Calibration, threshold and number of trees are decided on the labeled rows and at most this many
# unlabeled ones: fractions then have a standard error of 0.001.
MAX_EVALUATED = 200_000

# Candidates are compared on at most this many rows of each group.
MAX_COMPARED = 50_000

# Number of the sample of these rows. Trees have smaller ones.
EVALUATION = 2**31

# Candidates are kept if their AUC is within this many standard errors of the best.
MAX_ERRORS = 1.0


class CandidateData(Protocol):
    """Training data as candidates need it; attributes as in `TrainingSet`."""

    @property
    def evaluated(self) -> TrainingRows: ...
    @property
    def compared(self) -> NDArray[np.intp]: ...
    @property
    def n_folds(self) -> int: ...
    @property
    def seed(self) -> int: ...

    def grow(
        self,
        recipe: Recipe,
        masses: GroupMasses,
        seed: int,
        first_tree: int,
        n_trees: int,
        progress: Progress | None = None,
    ) -> Forest:
        """Grow trees by a recipe."""

    def expect(
        self, recipe: Recipe, masses: GroupMasses, seed: int, first_tree: int, n_trees: int
    ) -> None:
        """Announce trees that `grow` will be called for, so that they can be grown in parallel."""

    def out_of_bag(self, forest: Forest, rows: TrainingRows | None = None) -> Array:
        """Score training rows out of bag, by position; the evaluated ones by default."""


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """Training data in memory, encoded once for all candidates.

    Attributes
    ----------
    table : EncodedTable
        The table.
    codes : Codes
        Its training rows, encoded once.
    rows : TrainingRows
        Labels, weights and folds.
    evaluated : TrainingRows
        Those of them on which the model is evaluated: all labeled rows, and unlabeled ones.
    compared : ndarray of int
        Positions among the evaluated rows of those on which candidates are compared.
    n_folds : int
        Number of folds.
    scenario : str
        Sampling scenario.
    monotone : tuple of list of int
        Features in which predictions increase, and those in which they decrease.
    seed : int
        Seed of the samples that trees are grown on.
    n_threads : int
        Number of threads.
    """

    table: EncodedTable
    codes: _core.Codes
    rows: TrainingRows
    evaluated: TrainingRows
    compared: NDArray[np.intp]
    n_folds: int
    scenario: str
    monotone: tuple[list[int], list[int]]
    seed: int
    n_threads: int

    def grow(
        self,
        recipe: Recipe,
        masses: GroupMasses,
        seed: int,
        first_tree: int,
        n_trees: int,
        progress: Progress | None = None,
    ) -> Forest:
        """Grow trees by a recipe."""
        return grow_trees(recipe, self, masses, seed, first_tree, n_trees, progress)

    def expect(
        self, recipe: Recipe, masses: GroupMasses, seed: int, first_tree: int, n_trees: int
    ) -> None:
        """Do nothing: trees are grown when they are needed."""

    def out_of_bag(self, forest: Forest, rows: TrainingRows | None = None) -> Array:
        """Score training rows out of bag, by position; the evaluated ones by default."""
        rows = self.evaluated if rows is None else rows
        assert rows.fold is not None
        return held_out_scores(
            forest, self.table, rows.order, rows.fold, self.n_folds, self.n_threads
        )


def held_out_scores(
    forest: Forest,
    table: EncodedTable,
    order: NDArray[np.uint32],
    fold: NDArray[np.uint8],
    n_folds: int,
    n_threads: int,
) -> Array:
    """Score rows of a table by the trees that leave out their folds, by position in `order`."""
    params = _core.TrainParams()
    params.n_trees = forest.n_trees
    params.n_threads = n_threads
    params.sampling = _core.Sampling(False, False, 0, 0, n_folds)
    rows = _core.TrainingRows(order, 0, None, None, fold)
    predictor = forest.predictor(VOTING, table.dtype)
    return predictor.mean_held_out(table.native(), rows, params)[order]


def first_positions(
    rows: TrainingRows, seed: int, most_labeled: int, most_unlabeled: int
) -> NDArray[np.intp]:
    """Draw positions of rows to evaluate; if more are drawn, these are among them.

    If some rows were checked, all are drawn, since the others are not alike.
    """
    if rows.known is not None:
        return np.arange(len(rows.order))
    drawn = (min(rows.n_labeled, most_labeled), min(rows.n_unlabeled, most_unlabeled))
    params = _core.TrainParams()
    params.sampling = _core.Sampling(False, False, *drawn, seed=seed)
    rows = replace(rows, complete=rows.complete_evaluation)
    return _core.draw_sample(rows.native(), params, EVALUATION).astype(np.intp)


def evaluated_rows(
    rows: TrainingRows, n_candidates: int, seed: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the positions of the evaluated rows, and those of the compared rows among them."""
    evaluated = first_positions(rows, seed, rows.n_labeled, MAX_EVALUATED)
    if n_candidates == 1:
        return evaluated, np.arange(len(evaluated))
    compared = first_positions(rows, seed, MAX_COMPARED, MAX_COMPARED)
    return evaluated, np.searchsorted(evaluated, compared)


class Candidate:
    """A recipe, the trees grown by it so far, and their out-of-bag scores.

    Attributes
    ----------
    recipe : Recipe
        The recipe.
    needs_prior : bool
        True if the trees depend on the class prior.
    forest : Forest
        The trees.
    scores : Array
        Out-of-bag scores of the compared rows.
    batches : tuple of Array
        The same by the first and by the second half of the trees.
    seconds : float
        Time spent on growing and scoring.
    """

    def __init__(self, recipe: Recipe, seed: int, weighs_checks: bool = False) -> None:
        self.recipe = recipe
        self.seed = seed
        # The weights of rows that were found positive, relative to labeled rows, need the prior.
        self.needs_prior = weighs_checks or recipe.growth == "nnpu"
        self.forest: Forest
        self.batches: tuple[Array, Array]
        self.seconds = 0.0

    @property
    def scores(self) -> Array:
        return np.asarray(np.mean(self.batches, axis=0))

    def announce(self, data: CandidateData, n_trees: int, masses: GroupMasses) -> None:
        """Announce the trees that `start` will grow."""
        half = half_of(n_trees, data.n_folds)
        for first in (0, half):
            data.expect(self.recipe, masses, self.seed, first, half)

    def start(
        self,
        data: CandidateData,
        n_trees: int,
        masses: GroupMasses,
        steps: Steps,
    ) -> None:
        """Grow the first trees, in two halves, and score the compared rows with each."""
        started = time.perf_counter()
        half = half_of(n_trees, data.n_folds)
        forests = [
            data.grow(self.recipe, masses, self.seed, first, half, steps.next())
            for first in (0, half)
        ]
        compared = data.evaluated.at(data.compared)
        first, second = (data.out_of_bag(forest, compared) for forest in forests)
        self.batches = first, second
        self.forest = Forest.joined(forests)
        self.seconds += time.perf_counter() - started

    def grow(self, data: CandidateData, n_trees: int, masses: GroupMasses) -> None:
        """Add trees until there are at least `n_trees`."""
        grown = self.forest.n_trees
        if grown < n_trees:
            started = time.perf_counter()
            missing = n_trees - grown
            more = data.grow(self.recipe, masses, self.seed, grown, missing)
            self.forest = Forest.joined([self.forest, more])
            self.seconds += time.perf_counter() - started

    def part(self, first: int, last: int, prior: float) -> Forest:
        """Return some of the trees, with the masses of the prior."""
        trees = self.forest.part(first, last)
        return trees if self.needs_prior else trees.with_prior("nnpu", 1.0, prior)


def mean_scores(candidates: Sequence[Candidate]) -> Array:
    """Return the mean out-of-bag scores of the compared rows."""
    return np.asarray(np.mean([c.scores for c in candidates], axis=0))


def grow_trees(
    recipe: Recipe,
    data: TrainingSet,
    masses: GroupMasses,
    seed: int,
    first_tree: int,
    n_trees: int,
    progress: Progress | None = None,
) -> Forest:
    """Grow trees by a recipe; their masses are those of the PU data."""
    separates = recipe.growth == "separation"
    rows = data.rows
    n_labeled = min(rows.n_labeled, MAX_LABELED)
    n_positive = rows.n_labeled + rows.n_confirmed
    n_unlabeled = unlabeled_per_tree(recipe, n_positive, rows.n_unlabeled_in_all, data.n_folds)
    params = train_params(
        {
            "risk": "pn" if separates else "nnpu",
            "loss": recipe.loss,
            "scenario": data.scenario,
            "min_samples_leaf": recipe.min_samples_leaf,
            "max_features": recipe.max_features,
        },
        thresholds=_core.Thresholds.random
        if recipe.splits == "random"
        else _core.Thresholds.optimal,
        rows=rows,
        table=data.table,
    )
    params.n_trees, params.first_tree, params.seed = n_trees, first_tree, seed
    params.n_threads = data.n_threads
    params.increasing_features, params.decreasing_features = data.monotone
    bootstrap = recipe.splits == "best"
    n_confirmed = min(rows.n_confirmed, MAX_LABELED)
    params.sampling = _core.Sampling(
        bootstrap,
        False,
        n_labeled,
        n_unlabeled,
        data.n_folds,
        n_confirmed,
        n_samples=N_SAMPLES,
        seed=data.seed,
    )
    if not separates:
        rows, root_masses = growth(rows, masses)
        set_masses(params, root_masses)
        return grow(data.codes, rows, params, progress)
    rows, root_masses = for_separation(rows, masses)
    set_masses(params, root_masses)
    return with_pu_masses(grow(data.codes, rows, params, progress), masses.labeled_p)


def half_of(n_trees: int, n_folds: int) -> int:
    """Return about half of a number of trees, a multiple of the number of folds."""
    return -(-n_trees // (2 * n_folds)) * n_folds


def labeled_per_tree(n_labeled: int, n_folds: int = N_FOLDS) -> float:
    """Return the mean number of labeled rows, or of known positives, that a tree is grown on."""
    return min(n_labeled * (n_folds - 1) / n_folds, MAX_LABELED)


def unlabeled_per_tree(recipe: Recipe, n_labeled: int, n_unlabeled: int, n_folds: int) -> int:
    """Return the number of unlabeled rows that a tree draws, or all rows of the other folds."""
    wanted = recipe.unlabeled_per_labeled * labeled_per_tree(n_labeled, n_folds)
    return max(1, round(min(n_unlabeled, wanted)))


def for_separation(rows: TrainingRows, masses: GroupMasses) -> tuple[TrainingRows, GroupMasses]:
    """Return rows and masses with which supervised growth separates positives from the population.

    With a and b the fractions of the positives and of the population at a node, these are
    supervised masses ``W_p = a`` and ``W_n = b``, hence ``W_u = a + b``.
    """
    if rows.known is not None:
        sample = training_sample(rows, masses)
        return with_weights(rows, sample.positive, sample.positive + sample.population)
    root_masses = GroupMasses(1.0, 1 + masses.labeled_u, masses.unlabeled_u)
    if rows.propensity is None:
        return rows, root_masses
    # A labeled row has the weight w / e in a and w in b, so its weight in W_u is a mixture.
    positive, weight = rows.positive_weight, rows.labeled_weight
    mixed = positive / positive.sum() + masses.labeled_u * weight / weight.sum()
    both = np.concatenate([mixed, rows.unlabeled_weight])
    return replace(rows, weight=both, propensity=mixed / positive), root_masses


def with_pu_masses(forest: Forest, prior: float) -> Forest:
    """Convert the masses of separation growth to those of the PU data."""
    w_u = np.maximum(0, forest.w_u - forest.w_p)
    return forest.with_masses(prior * forest.w_p, w_u)


def compare(
    candidates: Sequence[Candidate], data: CandidateData, masses: GroupMasses
) -> Comparison:
    """Compare candidates by their AUC, and decide which are kept: those within the noise."""
    sample = training_sample(data.evaluated.at(data.compared), masses)
    estimates = [evaluated(c, sample, masses.labeled_p) for c in candidates]
    best = max(estimates, key=lambda found: found.value)
    result = []
    for candidate, found in zip(candidates, estimates, strict=True):
        behind = best.value - found.value
        error = sample.standard_error(
            best.on_positives - found.on_positives, best.on_population - found.on_population
        )
        kept = behind == 0 or behind <= MAX_ERRORS * error
        result.append(
            Compared(
                candidate.recipe,
                found.value,
                sample.standard_error(found.on_positives, found.on_population),
                behind,
                error,
                candidate.seconds,
                candidate.forest.n_trees if kept else 0,
            )
        )
    return Comparison(tuple(result))


def evaluated(candidate: Candidate, sample: PUSample, prior: float) -> Estimate:
    """Estimate the AUC that the candidate would have with infinitely many trees.

    Out of bag, a row is scored by a fifth of the trees. That costs recipes with small leaves more,
    whose trees differ more. The loss is inversely proportional to the number of trees, so half of
    the trees lose twice as much as all of them.
    """
    whole = auc_with_tied_top(candidate.scores, sample, prior)
    halves = [auc_with_tied_top(scores, sample, prior) for scores in candidate.batches]

    def of_all(part: Callable[[Estimate], Any]) -> Any:
        return 2 * part(whole) - sum(map(part, halves)) / 2

    return Estimate(
        of_all(lambda auc: auc.value),
        of_all(lambda auc: auc.on_positives),
        of_all(lambda auc: auc.on_population),
    )


def auc_with_tied_top(scores: Array, sample: PUSample, prior: float) -> Estimate:
    """Estimate the AUC with the top of the ranking tied, as many rows as there are positives.

    Most of these rows are positive, labeled or not, and their order is a matter of chance. In the
    ordinary estimate it counts as much as the order of positives and negatives.
    """
    top = is_among_top(scores, sample.population, prior)
    return ROC_AUC.estimate(sample, np.where(top, np.inf, scores), prior)


def exchanged(halves: Sequence[Array], population: Array, prior: float) -> float:
    """Estimate the fraction of predicted positives that would change with infinitely many trees.

    The scores of two halves of the trees are compared, each with the threshold that predicts the
    fraction of the prior positive. Their errors are independent, so their difference has twice the
    standard deviation of the error of their mean.
    """
    first, second = (is_among_top(scores, population, prior) for scores in halves)
    return float(population[first != second].sum()) / (2 * prior) / 2


def is_among_top(scores: Array, weight: Array, fraction: float) -> NDArray[np.bool_]:
    """Mark the rows with the largest scores that have at most a given fraction of the weight.

    Rows of the same score are all marked, or none of them.
    """
    order = np.argsort(-scores, kind="stable")
    n_top = np.searchsorted(np.cumsum(weight[order]), fraction, side="right")
    if n_top == len(scores):
        return np.ones(len(scores), dtype=bool)
    top: NDArray[np.bool_] = scores > scores[order[n_top]]
    return top
