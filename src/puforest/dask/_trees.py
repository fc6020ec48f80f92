"""Forests with the parameters of the paper's algorithm that are fitted on a Dask cluster."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from puforest import _validation as check
from puforest._fit_record import FitRecord
from puforest._masses import GroupMasses
from puforest._model import Forest
from puforest._monotone import monotone_features
from puforest._needed_rows import needed_by_trees
from puforest._prior_estimate import given_estimate
from puforest._progress import Progress
from puforest._training import set_masses, train_params
from puforest._training_rows import TrainingRows, warn_if_swapped
from puforest.dask import _all_rows, _sampled
from puforest.dask._cluster import TaskError, Tasks
from puforest.dask._estimators import DaskMixin, with_client
from puforest.dask._exact import grow_exact, refuse_max_leaf_nodes
from puforest.dask._overview import Overview
from puforest.dask._partitions import TrainingPartitions
from puforest.forest import PUExtraTreesClassifier, PURandomForestClassifier
from puforest.risk import RISKS
from puforest.scenario import SCENARIOS


class DaskTreesMixin(DaskMixin):
    """Fitting of forests with the parameters of the paper's algorithm."""

    n_estimators: int
    bootstrap: bool
    max_labeled: Any
    max_unlabeled: Any
    max_leaf_nodes: int | None
    monotonic_cst: Any

    def _check_before_fit(self, has_propensity: bool) -> None:
        check.one_of("risk", self.risk, RISKS)
        check.one_of("scenario", self.scenario, SCENARIOS)
        check.one_of("voting", self.voting, check.VOTINGS)
        self._check_threshold()
        for parameter in ("oob_score", "warm_start"):
            if check.boolean(parameter, getattr(self, parameter)):
                raise ValueError(
                    f"{parameter}=True is not available on a Dask cluster: use "
                    "DaskPUForestClassifier, which evaluates its trees out of bag"
                )
        if self.max_unlabeled is None:
            self._check_before_exact_fit(has_propensity)
        prior = check.class_prior(self.prior)
        if prior is None and not has_propensity and self.risk != "pn":
            raise ValueError(
                "prior=None: pass the class prior, or estimate it, for example with "
                "DaskPUForestClassifier().fit(X, y).prior_"
            )

    def _check_before_exact_fit(self, has_propensity: bool) -> None:
        """Refuse what trees on all rows cannot do."""
        if check.boolean("bootstrap", self.bootstrap):
            raise ValueError(
                "max_unlabeled=None with bootstrap=True: each tree would be grown on a sample as "
                "large as the data. Set the number of unlabeled rows per tree, for example "
                "max_unlabeled=50_000, or bootstrap=False to grow each tree on all rows."
            )
        if self.max_labeled is not None:
            raise ValueError(
                f"max_labeled={self.max_labeled} with max_unlabeled=None: set max_unlabeled too, "
                "for example max_unlabeled=50_000, or max_labeled=None to grow each tree on all "
                "rows."
            )
        if has_propensity:
            raise ValueError(
                "propensity: trees on all rows of a cluster need equal weights. Set the number of "
                "unlabeled rows per tree, for example max_unlabeled=50_000."
            )
        if self.max_leaf_nodes is not None:
            refuse_max_leaf_nodes(self.max_leaf_nodes)

    def _fit_partitions(
        self,
        tasks: Tasks,
        partitions: Any,
        found: Overview,
        seed: int,
        progress: Callable[[float], object] | None,
    ) -> None:
        verbose = check.verbosity(getattr(self, "verbose", 0))
        shown = Progress(progress) if verbose or progress is not None else None
        grow = self._grow_on_all_rows if self.max_unlabeled is None else self._grow_on_samples
        self._forest, masses = grow(tasks, partitions, found, seed, shown)
        self._record = FitRecord(
            classes=found.classes,
            schema=found.schema,
            parameters=self._parameters(),
            masses=masses,
            prior_estimate=given_estimate(self.prior),
            n_labeled=found.n_labeled,
            n_unlabeled=found.totals.n_unlabeled,
            seed=seed,
        )

    def _grow_on_samples(
        self,
        tasks: Tasks,
        partitions: TrainingPartitions,
        found: Overview,
        seed: int,
        progress: Progress | None,
    ) -> tuple[Forest, GroupMasses]:
        n_unlabeled = found.totals.n_unlabeled
        draws = check.number_of("max_unlabeled", self.max_unlabeled, n_unlabeled, "unlabeled rows")
        n_trees = check.integer("n_estimators", self.n_estimators, 1)
        needed = needed_by_trees(n_trees, draws, n_unlabeled=n_unlabeled, seed=seed)
        monotone = monotone_features(self.monotonic_cst, found.schema)
        gathered = _sampled.gather(tasks, partitions, found, needed, estimator=type(self).__name__)
        masses = self._checked_masses(_sampled.labeled_rows(tasks, gathered, found))
        forest = _sampled.grown_forest(
            tasks,
            gathered,
            _sampled.sample_futures(tasks, gathered, found, needed, None),
            (self._parameters(), self._thresholds.name, monotone, masses, seed),
            n_trees,
            progress,
        )
        return forest, masses

    def _grow_on_all_rows(
        self,
        tasks: Tasks,
        partitions: TrainingPartitions,
        found: Overview,
        seed: int,
        progress: Progress | None,
    ) -> tuple[Forest, GroupMasses]:
        if found.totals.is_weighted:
            raise ValueError(
                "sample_weight: trees on all rows of a cluster need equal weights of all labeled "
                "rows, and of all unlabeled rows; weights of 0 are fine. Set the number of "
                "unlabeled rows per tree, for example max_unlabeled=50_000."
            )
        rows, table = _all_rows.outline(found)
        params = train_params(
            self._parameters(), thresholds=self._thresholds, rows=rows, table=table
        )
        monotone = monotone_features(self.monotonic_cst, found.schema)
        params.increasing_features, params.decreasing_features = monotone
        masses = self._checked_masses(rows)
        set_masses(params, masses)
        params.seed = seed
        parts = _all_rows.read_parts(tasks, partitions, found, estimator=type(self).__name__)
        try:
            return grow_exact(tasks, parts, params, progress=progress), masses
        except TaskError as failure:
            raise failure.error from None

    def _checked_masses(self, rows: TrainingRows) -> GroupMasses:
        if self.risk != "pn":
            warn_if_swapped(rows)
        return self._masses(rows, check.class_prior(self.prior))


@with_client
class DaskPUExtraTreesClassifier(DaskTreesMixin, PUExtraTreesClassifier):
    """`puforest.PUExtraTreesClassifier` on a Dask cluster.

    The forest is the same, bit for bit, as that of a fit on one machine with the same
    ``random_state``, data and order of rows, for any number of workers and partitions.

    There are two modes. With ``max_unlabeled=None``, each tree is grown on all rows, which stay in
    the memory of the workers (exact mode). Otherwise each tree is grown by one task on a sample of
    the unlabeled rows (sampled mode). Exact mode needs equal sample weights within each group of
    rows, labeled and unlabeled, except for weights of 0, and has no `propensity`, `bootstrap`,
    `max_labeled` or `max_leaf_nodes`.

    Parameters
    ----------
    prior, n_estimators, scenario, risk, loss, voting, threshold, max_features, n_thresholds
        As in `puforest.PUExtraTreesClassifier`. The prior must be given.
    max_depth, min_samples_split, min_samples_leaf, min_risk_reduction, max_leaf_nodes
        As in `puforest.PUExtraTreesClassifier`.
    categorical_features, monotonic_cst, bootstrap, max_labeled
        As in `puforest.PUExtraTreesClassifier`.
    max_unlabeled : int or float, optional
        Number (or fraction) of the unlabeled rows that each tree is grown on; by default, all rows.
    oob_score, warm_start : bool, default=False
        Not available.
    n_jobs, verbose, random_state
        As in `puforest.PUExtraTreesClassifier`. `n_jobs` is for local predictions: on the cluster,
        each task uses one thread.
    client : dask.distributed.Client, optional
        Client of the cluster; by default the current one.

    See Also
    --------
    puforest.PUExtraTreesClassifier : The same estimator on one machine, with its attributes.
    """

    _local_class = PUExtraTreesClassifier


@with_client
class DaskPURandomForestClassifier(DaskTreesMixin, PURandomForestClassifier):
    """`puforest.PURandomForestClassifier` on a Dask cluster.

    The forest is the same, bit for bit, as that of a fit on one machine with the same
    ``random_state``, data and order of rows, for any number of workers and partitions.

    There is one exception in exact mode: of a numeric column with more than 65,536 values, only
    1,024 quantiles are tried as thresholds.

    There are two modes. With ``max_unlabeled=None`` and ``bootstrap=False``, each tree is grown on
    all rows, which stay in the memory of the workers (exact mode). With `max_unlabeled`, each tree
    is grown by one task on a sample of the unlabeled rows (sampled mode). Exact mode needs equal
    sample weights within each group of rows, labeled and unlabeled, except for weights of 0, and
    has no `propensity`, `max_labeled` or `max_leaf_nodes`.

    Parameters
    ----------
    prior, n_estimators, scenario, risk, loss, voting, threshold, max_features
        As in `puforest.PURandomForestClassifier`. The prior must be given.
    max_depth, min_samples_split, min_samples_leaf, min_risk_reduction, max_leaf_nodes
        As in `puforest.PURandomForestClassifier`.
    categorical_features, monotonic_cst, bootstrap, max_labeled
        As in `puforest.PURandomForestClassifier`.
    max_unlabeled : int or float, optional
        Number (or fraction) of the unlabeled rows that each tree is grown on; by default, all rows.
        It must be set if ``bootstrap=True``.
    oob_score, warm_start : bool, default=False
        Not available.
    n_jobs, verbose, random_state
        As in `puforest.PURandomForestClassifier`. `n_jobs` is for local predictions: on the
        cluster, each task uses one thread.
    client : dask.distributed.Client, optional
        Client of the cluster; by default the current one.

    See Also
    --------
    puforest.PURandomForestClassifier : The same estimator on one machine, with its attributes.
    """

    _local_class = PURandomForestClassifier
