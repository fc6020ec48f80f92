"""The recommended estimator: several forests, compared out of bag, calibrated, with a threshold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from puforest import _validation as check
from puforest._atomic_fit import atomic_fit
from puforest._calibrators import SLOPES, Sigmoid, fit_sigmoid, shifted
from puforest._candidates import (
    N_FOLDS,
    VOTING,
    Candidate,
    CandidateData,
    TrainingSet,
    compare,
    evaluated_rows,
    exchanged,
    half_of,
    labeled_per_tree,
    mean_scores,
)
from puforest._comparison import Comparison
from puforest._duplicate_rows import row_contents
from puforest._encoded import EncodedTable
from puforest._estimator_docs import documented_pu_forest
from puforest._file_fit import Evaluated
from puforest._fit_record import FitRecord, OutOfBag
from puforest._fold_table import FoldTable, fold_table
from puforest._masses import GroupMasses
from puforest._model import Forest
from puforest._model_methods import ModelMethodsMixin
from puforest._monotone import monotone_features
from puforest._needed_rows import NeededRows, needed_by_candidates, part_of
from puforest._part_of_table import WholeLabels
from puforest._prior_estimate import PriorEstimate, given_estimate
from puforest._progress import Steps
from puforest._row_digest import digest_of_fit
from puforest._row_weights import training_sample
from puforest._schema import FeatureSchema
from puforest._score_curve import ScoreCurve, score_curve
from puforest._threshold import checked_threshold
from puforest._training import draw_seed, encode
from puforest._training_rows import TrainingRows, training_rows, warn_if_swapped
from puforest.checking._prior import prior_of_fit
from puforest.forest import BaseForest
from puforest.prior._estimate import warn_of_estimate
from puforest.prior.bbe import prior_from_scores
from puforest.recipes import Recipe, checked_candidates, is_fast
from puforest.risk import classification_risk
from puforest.scenario import SCENARIOS
from puforest.tree import PUDecisionTreeClassifier, PUExtraTreeClassifier

__all__ = ["PUForestClassifier"]

Array = NDArray[np.float64]

# With n_estimators="auto", each candidate has this many trees, and the model starts with as many.
# They are doubled until at most this fraction of the predicted positives would change with more
# trees, or the maximum is reached. Trees on many rows take longer, but fewer of them can tell
# candidates apart, so each candidate has about this many rows in all of its trees.
FIRST_TREES = 200
LEAST_TREES = 100
COMPARED_ROWS = 1_000_000
MAX_TREES = 800
MAX_EXCHANGED = 0.02


@documented_pu_forest
class PUForestClassifier(ModelMethodsMixin, BaseForest):
    """Forest for positive and unlabeled data that chooses how to grow its trees.

    A few candidate forests are grown by different recipes and compared on out-of-bag predictions.
    The trees of the best one, and of those that are not worse by more than one standard error,
    become the model. Its scores are calibrated to probabilities, and a threshold on them is set,
    also from out-of-bag predictions.

    Parameters
    ----------
    %parameters%

    Attributes
    ----------
    %attributes%
    threshold_ : float
        Threshold on the predicted probability. It follows ``threshold``, which can be changed after
        the fit.
    comparison_ : Comparison
        The candidates, with their out-of-bag AUC, its standard error, the difference to the best
        one, the time, and the number of trees in the model. It prints as a table.
    oob_decision_function_ : ndarray of shape (n_samples,)
        Like ``decision_function``, for the training rows: each is scored by the trees that were
        grown without it and its duplicates. It ranks the unlabeled rows of the training data. nan
        for rows of weight zero.
    oob_risk_ : float
        Out-of-bag estimate of the error rate at ``threshold_``.
    oob_score_ : float
        Out-of-bag estimate of the accuracy, 1 - ``oob_risk_``.
    estimators_ : list
        Fitted trees, which predict the fraction of positives in their leaves.

    See Also
    --------
    PUExtraTreesClassifier : The forest of the paper, with all of its parameters.

    Notes
    -----
    The rows are divided into five folds, with duplicates in the same one unless there are too few
    distinct rows, and each tree is grown without one of them. So each row is scored by a fifth of
    the trees, and rows that appear both labeled and unlabeled do not distort the comparison.

    Examples
    --------
    >>> from puforest import PUForestClassifier
    >>> from puforest.datasets import load_mushrooms, make_pu
    >>> X, y = load_mushrooms(return_X_y=True)
    >>> X_pu, labeled = make_pu(X, y, n_labeled=500, random_state=0)
    >>> forest = PUForestClassifier(prior=y.mean(), random_state=0).fit(X_pu, labeled)
    >>> bool(forest.score(X, y) > 0.98)
    True
    """

    # Leaf values, and the risk of importances and of out-of-bag estimates.
    voting = VOTING
    risk = "nnpu"
    loss = "quadratic"

    _tree_class = PUExtraTreeClassifier

    def __init__(
        self,
        prior: float | PriorEstimate | None = None,
        *,
        scenario: str = "case-control",
        n_estimators: int | str = "auto",
        threshold: Any = "prior",
        candidates: Any = "auto",
        categorical_features: Any = "from_dtype",
        monotonic_cst: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self._set_parameters(locals())

    @atomic_fit
    def fit(
        self,
        X: check.MatrixLike,
        y: check.MatrixLike,
        sample_weight: ArrayLike | None = None,
        *,
        propensity: ArrayLike | None = None,
        checked: ArrayLike | None = None,
        check_probability: ArrayLike | None = None,
        progress: Callable[[float], object] | None = None,
    ) -> Self:
        """Fit to labeled positives and unlabeled rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training data: an array, a sparse matrix, or a pandas, polars or Arrow table, as in
            `PUExtraTreesClassifier.fit`.
        y : array-like of shape (n_samples,)
            Labels with two values, such as 1 and 0: the larger marks labeled positives, the smaller
            unlabeled rows. Missing labels (NaN or None) mark unlabeled rows.
        sample_weight : array-like of shape (n_samples,), optional
            Sample weights. Rows of weight 0 are ignored.
        propensity : array-like of shape (n_samples,), optional
            Probability that each labeled row is labeled given that it is positive, if it differs
            between rows. Without a ``prior``, the prior follows from the propensities.
        checked : array-like of shape (n_samples,), optional
            Verdicts on unlabeled rows that were looked at: 1 or True for rows found positive, 0 or
            False for rows found negative, NaN or None for all others. Rows that were labeled
            because they were checked must be unlabeled in `y`. Without a ``prior``, the prior is
            estimated from the verdicts, unless some rows could not be checked.
        check_probability : float or array-like of shape (n_samples,), optional
            Probability with which a row with these features, labeled or not, was selected for
            checking; see `PUExtraTreesClassifier.fit`. By default, the checked rows are a simple
            random sample of the unlabeled rows.
        progress : callable, optional
            Called with the fraction of the fit that is done, from 0 to 1. It replaces the messages
            of ``verbose``.

        Returns
        -------
        self
        """
        self._check_parameters()
        schema, table, y = FeatureSchema.of_training_data(
            X, y, estimator=type(self).__name__, categorical_features=self.categorical_features
        )
        rows = training_rows(
            y,
            sample_weight,
            propensity,
            risk=self.risk,
            checked=checked,
            check_probability=check_probability,
        )
        data = self._training_set(schema, table, rows, draw_seed(self.random_state))
        estimates = (y, sample_weight, checked, check_probability)
        scores = self._fit_to(
            data, schema, progress, lambda c: self._estimated(c, data, *estimates)
        )
        if len(scores) < len(rows.order):
            scores = data.out_of_bag(self._forest, data.rows)
        decision = np.full(len(table), np.nan)
        decision[rows.order] = 2 * scores - 1
        self._record = replace(
            self._record,
            digest=digest_of_fit(table, rows),
            out_of_bag=OutOfBag(decision, np.nan),
        )
        return self

    def _check_parameters(self) -> None:
        check.one_of("scenario", self.scenario, SCENARIOS)
        checked_threshold(self.threshold)
        check.class_prior(self.prior)
        checked_candidates(self.candidates)
        self._first_trees()
        check.verbosity(self.verbose)

    def _training_set(
        self,
        schema: FeatureSchema,
        table: EncodedTable,
        rows: TrainingRows,
        seed: int,
        needed: NeededRows | None = None,
    ) -> TrainingSet:
        """Assign the rows to folds, choose those to evaluate, and encode them.

        The unlabeled rows can be the `needed` ones of a larger table.
        """
        require_rows(rows.n_labeled, rows.n_unlabeled_in_all, rows.n_confirmed)
        if check.class_prior(self.prior) is not None or rows.propensity is not None:
            self._masses(rows, check.class_prior(self.prior))  # refuses impossible priors
        n_candidates = len(checked_candidates(self.candidates))
        if needed is not None:
            rows = part_of(rows, needed)
        evaluated, compared = evaluated_rows(rows, n_candidates, seed)
        n_folds = min(N_FOLDS, rows.n_labeled, rows.n_unlabeled_in_all - rows.n_confirmed)
        rows = with_folds(rows, table, evaluated, n_folds, seed)
        n_threads = check.threads(self.n_jobs)
        return TrainingSet(
            table=table,
            codes=encode(table, rows, n_threads),
            rows=rows,
            evaluated=rows.at(evaluated),
            compared=compared,
            n_folds=n_folds,
            scenario=self.scenario,
            monotone=monotone_features(self.monotonic_cst, schema),
            seed=seed,
            n_threads=n_threads,
        )

    def _fit_to(
        self,
        data: CandidateData,
        schema: FeatureSchema,
        progress: Callable[[float], object] | None,
        estimate_prior: Callable[[Sequence[Candidate]], PriorEstimate],
    ) -> Array:
        """Grow candidates, keep the best, and calibrate them.

        Sets the forest and the record, and returns the out-of-bag scores of the evaluated rows.
        `estimate_prior` estimates the prior from the candidates that do not depend on it.
        """
        rows = data.evaluated
        prior = check.class_prior(self.prior)
        estimates = prior is None and rows.propensity is None
        masses = None if estimates else self._masses(rows, prior)
        recipes = checked_candidates(self.candidates)
        seeds = np.random.RandomState(data.seed).randint(np.iinfo(np.int32).max, size=len(recipes))
        weighs_checks = rows.known is not None
        candidates = [
            Candidate(recipe, seed, weighs_checks)
            for recipe, seed in zip(recipes, seeds.tolist(), strict=True)
        ]
        n_trees = self._first_trees()
        automatic = self.n_estimators == "auto"
        n_compared = trees_to_compare(rows) if automatic and len(candidates) > 1 else n_trees
        steps = Steps(2 * len(candidates) + 1, check.verbosity(self.verbose), progress)
        first = [c for c in candidates if not c.needs_prior]
        if first or not estimates:  # otherwise the estimation of the prior warns
            warn_if_swapped(rows)
        unit = self._masses(rows, 1.0)
        start_all(first, data, n_compared, unit, steps)
        estimate = given_estimate(self.prior)
        if masses is None:
            estimate = estimate_prior(first)
            masses = self._masses(rows, estimate.value)
        start_all([c for c in candidates if c.needs_prior], data, n_compared, masses, steps)
        comparison = compare(candidates, data, masses)
        kept = [c for c, row in zip(candidates, comparison, strict=True) if row.kept]
        n_each, scores = add_trees(kept, data, masses, unit, n_trees, self._most_trees())
        curve = score_curve(scores, rows, masses)
        assert curve is not None  # every row has a score
        self._record = FitRecord(
            classes=rows.classes,
            schema=schema,
            parameters=self._parameters(),
            masses=masses,
            prior_estimate=estimate,
            n_labeled=rows.n_labeled,
            n_unlabeled=rows.n_unlabeled_in_all,
            n_confirmed=rows.n_confirmed,
            n_refuted=rows.n_refuted,
            seed=data.seed,
            curve=curve,
            calibrator=calibrated(curve, masses.labeled_p),
            comparison=comparison.completed({c.recipe: (n_each, c.seconds) for c in kept}),
        )
        self._forest = Forest.joined([c.part(0, n_each, masses.labeled_p) for c in kept])
        steps.finish()
        return scores

    def _needed_rows(self, labels: WholeLabels, seed: int, largest_fold: float) -> NeededRows:
        recipes = checked_candidates(self.candidates)
        propensities = labels.propensity is not None
        if self.prior is None and not propensities and all(r.growth == "nnpu" for r in recipes):
            raise ValueError(
                "prior=None: all candidates depend on the prior, which fit_files can only estimate "
                "with one that does not, such as puforest.Recipe(). Add it, or pass prior."
            )
        return needed_by_candidates(
            recipes,
            n_labeled=labels.n_labeled,
            n_unlabeled=labels.totals.n_unlabeled,
            n_trees=self._most_trees(),
            seed=seed,
            largest_fold=largest_fold,
        )

    def _fit_to_part(
        self,
        schema: FeatureSchema,
        table: EncodedTable,
        rows: TrainingRows,
        needed: NeededRows,
        progress: Callable[[float], object] | None,
    ) -> Evaluated | None:
        data = self._training_set(schema, table, rows, needed.seed, needed)

        def estimate_prior(grown: Sequence[Candidate]) -> PriorEstimate:
            return self._estimated_from_scores(grown, data)

        return data.evaluated, self._fit_to(data, schema, progress, estimate_prior)

    def _most_trees(self) -> int:
        """Return the largest possible number of trees."""
        settles = self.n_estimators == "auto" and not is_fast(self.candidates)
        return MAX_TREES if settles else self._first_trees()

    def _first_trees(self) -> int:
        """Return the number of trees of each candidate, and that the model starts with."""
        if self.n_estimators == "auto":
            return FIRST_TREES
        if isinstance(self.n_estimators, str):
            raise ValueError(
                f"n_estimators must be an integer or 'auto', got {self.n_estimators!r}"
            )
        return check.integer("n_estimators", self.n_estimators, 1)

    def _estimated(
        self,
        grown: Sequence[Candidate],
        data: TrainingSet,
        y: NDArray[Any],
        sample_weight: ArrayLike | None,
        checked: ArrayLike | None,
        check_probability: ArrayLike | None,
    ) -> PriorEstimate:
        """Estimate the prior from the out-of-bag scores of forests that do not depend on it."""
        if not grown:  # all recipes need a prior
            return self._estimate_prior(data.table, y, sample_weight, checked, check_probability)
        by_row = None
        if len(data.compared) == len(data.rows.order):
            by_row = np.full(len(y), np.nan)
            by_row[data.rows.order] = mean_scores(grown)
        estimate = prior_of_fit(
            y,
            sample_weight,
            checked,
            check_probability,
            scenario=self.scenario,
            score=by_row,
        )
        if estimate is None:
            return self._estimated_from_scores(grown, data)
        warn_of_estimate(estimate)
        return estimate

    def _estimated_from_scores(
        self, grown: Sequence[Candidate], data: CandidateData
    ) -> PriorEstimate:
        """Estimate the prior from the out-of-bag scores of the compared rows."""
        compared = data.evaluated.at(data.compared)
        estimate = prior_from_scores(mean_scores(grown), compared, self.scenario)
        warn_of_estimate(estimate)
        return estimate

    def _leaf_values(self) -> str:
        return VOTING

    def _evaluation_with_prior(self, prior: float) -> dict[str, Any]:
        # Scores do not depend on the prior, only their calibration does.
        curve = self._record.curve
        return {} if curve is None else {"calibrator": calibrated(curve, prior)}

    def _evaluation_with_shifted_prior(self, prior: float) -> dict[str, Any]:
        record = self._record
        calibrator, curve = record.calibrator, record.curve
        assert calibrator is not None
        assert curve is not None
        probability = calibrator.predict(curve.score)
        return {
            "calibrator": shifted(calibrator, record.prior, prior),
            "curve": curve.with_shifted_prior(probability, record.prior, prior),
        }

    @property
    def comparison_(self) -> Comparison:
        """Candidates of the fit, compared by their out-of-bag AUC."""
        comparison = self._recorded("comparison_").comparison
        assert comparison is not None
        return comparison

    @property
    def oob_decision_function_(self) -> NDArray[np.float64]:
        """Decision function of each training row, by the trees that were grown without it."""
        return 2 * (self._oob_probability() - self.threshold_)

    def _oob_probability(self) -> Array:
        """Return the probability of each training row, by the trees that were grown without it."""
        found = self._recorded("oob_decision_function_").out_of_bag
        if found is None:
            raise AttributeError(
                "oob_decision_function_ is not available after a fit to files or on a cluster, "
                "unless all rows were evaluated: use decision_function, or fit"
            )
        return self._calibrated((found.decision_function + 1) / 2)

    @property
    def oob_risk_(self) -> float:
        """Out-of-bag estimate of the error rate."""
        record = self._recorded("oob_risk_")
        curve = record.curve
        assert curve is not None
        positive = self._calibrated(curve.score) > self.threshold_
        w_p, w_u = record.prior * (curve.positive @ positive), curve.population @ positive
        return float(classification_risk(w_p, w_u, prior=record.prior, risk=self.risk))

    @property
    def oob_score_(self) -> float:
        """Out-of-bag estimate of the accuracy, 1 - ``oob_risk_``."""
        return 1 - self.oob_risk_

    def _tree(self, t: int, params: dict[str, Any]) -> Any:
        """Return a tree as an estimator that predicts the fraction of positives in its leaves."""
        recipe = self.comparison_.recipe_of_tree(t)
        kind = PUExtraTreeClassifier if recipe.splits == "random" else PUDecisionTreeClassifier
        params |= {
            "voting": "soft",
            "loss": recipe.loss,
            "max_features": recipe.max_features,
            "min_samples_leaf": recipe.min_samples_leaf,
        }
        return self._single_tree(t, kind, params)


def require_rows(n_labeled: int, n_unlabeled: int, n_confirmed: int = 0) -> None:
    """Refuse data with fewer than two rows of a group."""
    unlabeled = "unlabeled" if n_confirmed == 0 else "unlabeled (and not found positive)"
    for name, n in (("labeled", n_labeled), (unlabeled, n_unlabeled - n_confirmed)):
        if n < 2:
            raise ValueError(
                f"y: PUForestClassifier needs at least two {name} rows to evaluate its trees on "
                f"rows that they were not grown on, got {n}. PUExtraTreesClassifier needs only one."
            )


def with_folds(
    rows: TrainingRows, table: EncodedTable, evaluated: NDArray[np.intp], n_folds: int, seed: int
) -> TrainingRows:
    """Assign the rows to folds, with duplicates in the same one."""
    contents = row_contents(table)[rows.order]
    known = folds_of_evaluated(rows, contents, evaluated, n_folds, seed)
    return replace(rows, fold=known.of(contents, rows.row_ids))


def folds_of_evaluated(
    rows: TrainingRows,
    contents: NDArray[np.uint64],
    evaluated: NDArray[np.intp],
    n_folds: int,
    seed: int,
) -> FoldTable:
    """Divide the evaluated rows into folds, given the hashed contents of all rows by position."""
    ids = rows.row_ids
    ends = np.searchsorted(evaluated, [rows.n_labeled, rows.n_labeled + rows.n_confirmed])
    strata = [(contents[at], ids[at]) for at in np.split(evaluated, ends) if len(at)]
    return fold_table(strata, n_folds, seed)


def trees_to_compare(rows: TrainingRows) -> int:
    """Return the number of trees of each candidate, by the number of rows that a tree has."""
    rows_per_tree = (1 + Recipe().unlabeled_per_labeled) * labeled_per_tree(rows.n_labeled)
    return int(np.clip(COMPARED_ROWS / rows_per_tree, LEAST_TREES, FIRST_TREES))


def start_all(
    candidates: Sequence[Candidate],
    data: CandidateData,
    n_trees: int,
    masses: GroupMasses,
    steps: Steps,
) -> None:
    """Grow the first trees of several candidates."""
    for candidate in candidates:
        candidate.announce(data, n_trees, masses)
    for candidate in candidates:
        candidate.start(data, n_trees, masses, steps)


def add_trees(
    kept: Sequence[Candidate],
    data: CandidateData,
    masses: GroupMasses,
    unit: GroupMasses,
    n_trees: int,
    most: int,
) -> tuple[int, Array]:
    """Double the number of trees until the out-of-bag predictions have settled.

    Returns the number of trees of each candidate, and the out-of-bag scores of the evaluated rows.
    """
    prior = masses.labeled_p
    population = training_sample(data.evaluated, masses).population
    while True:
        half = half_of(-(-n_trees // len(kept)), data.n_folds)
        compares_all = len(data.compared) == len(data.evaluated.order)
        is_scored = len(kept) == 1 and kept[0].forest.n_trees == 2 * half and compares_all
        for candidate in kept:
            candidate.grow(data, 2 * half, masses if candidate.needs_prior else unit)
        halves = (
            kept[0].batches
            if is_scored
            else [
                data.out_of_bag(Forest.joined([c.part(first, first + half, prior) for c in kept]))
                for first in (0, half)
            ]
        )
        if n_trees >= most or exchanged(halves, population, prior) <= MAX_EXCHANGED:
            return 2 * half, np.mean(halves, axis=0)
        n_trees *= 2


def calibrated(curve: ScoreCurve, prior: float) -> Sigmoid:
    """Fit the map from scores to probabilities."""
    return fit_sigmoid(curve.score, curve.sample(), prior, SLOPES)
