"""Estimators that are fitted on a Dask cluster."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self, TypeVar

import dask.array as da
import dask.dataframe as dd
import numpy as np
from dask import delayed
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from puforest import _core
from puforest import _validation as check
from puforest._atomic_fit import atomic_fit
from puforest._base import PUClassifier
from puforest._candidates import N_FOLDS
from puforest._fit_record import OutOfBag
from puforest._monotone import monotone_features
from puforest._needed_rows import (
    LARGEST_FOLD,
    LARGEST_POSSIBLE_FOLD,
    NeededRows,
    needed_by_candidates,
)
from puforest._prior_estimate import PriorEstimate
from puforest._training import draw_seed
from puforest.dask import _sampled
from puforest.dask._cluster import LostDataError, Tasks, found_client
from puforest.dask._overview import Overview, overview
from puforest.dask._partitions import is_collection, training_partitions
from puforest.dask._tasks import GrowthSettings
from puforest.pu_forest import MAX_TREES, PUForestClassifier, require_rows
from puforest.recipes import checked_candidates, is_fast

EstimatorT = TypeVar("EstimatorT", bound=type)

# Attempts to fit, if results are lost with workers in a way that Dask does not mend.
MAX_ATTEMPTS = 5


def with_client(estimator: EstimatorT) -> EstimatorT:
    """Decorate an estimator class to add the parameter ``client`` to those of its base."""
    local = estimator._local_class  # type: ignore[attr-defined]
    signature = inspect.signature(local.__init__)
    client = inspect.Parameter("client", inspect.Parameter.KEYWORD_ONLY, default=None)

    def initialize(self: Any, *args: Any, client: Any = None, **parameters: Any) -> None:
        local.__init__(self, *args, **parameters)
        self.client = client

    parameters = [*signature.parameters.values(), client]
    initialize.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    initialize.__name__ = "__init__"
    initialize.__qualname__ = f"{estimator.__qualname__}.__init__"
    estimator.__init__ = initialize  # type: ignore[misc]
    return estimator


class DaskMixin(PUClassifier):
    """Fitting on Dask collections, and lazy predictions."""

    _local_class: type[PUClassifier]

    client: Any

    def _parameters(self) -> dict[str, Any]:
        """Return the parameters of the estimator without Dask."""
        return {name: v for name, v in super()._parameters().items() if name != "client"}

    def __sklearn_clone__(self) -> Self:
        """Return an unfitted estimator with the same client, which cannot be copied."""
        parameters = self.get_params(deep=False)
        client = parameters.pop("client")
        return type(self)(**clone(parameters, safe=False), client=client)

    @atomic_fit
    def fit(  # type: ignore[override]
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        propensity: Any = None,
        progress: Callable[[float], object] | None = None,
    ) -> Self:
        """Fit to labeled positives and unlabeled rows.

        Parameters
        ----------
        X : Dask DataFrame or Dask Array of shape (n_samples, n_features)
            Training data, as in the estimator without Dask. Partitions can be empty, or have one
            class only.
        y : Dask Series, Dask Array or str
            Labels with two values, such as 1 and 0: the larger marks labeled positives, the smaller
            unlabeled rows. Missing labels mark unlabeled rows. The partitions must match those of
            X. The name of a column of X is best, since X is then read once less.
        sample_weight : Dask Series, Dask Array or str, optional
            Sample weights. Rows of weight 0 are ignored.
        propensity : Dask Series, Dask Array or str, optional
            Probability that each labeled row is labeled given that it is positive, if it differs
            between rows.
        progress : callable, optional
            Called with the fraction of the fit that is done, from 0 to 1. It replaces the messages
            of ``verbose``.

        Returns
        -------
        self
        """
        partitions = training_partitions(X, y=y, sample_weight=sample_weight, propensity=propensity)
        if "y" not in partitions.others:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but y is None.")
        self._check_before_fit("propensity" in partitions.others)
        client, seed = found_client(self.client), draw_seed(self.random_state)
        for attempt in range(MAX_ATTEMPTS):
            try:
                with Tasks(client) as tasks:
                    self._fit_tasks(tasks, partitions, seed, progress)
                break
            except LostDataError:
                if attempt + 1 == MAX_ATTEMPTS:
                    raise
        return self

    def _fit_tasks(
        self,
        tasks: Tasks,
        partitions: Any,
        seed: int,
        progress: Callable[[float], object] | None,
    ) -> None:
        """Fit once; the same seed yields the same forest."""
        found = overview(
            tasks,
            partitions,
            estimator=type(self).__name__,
            categorical_features=self.categorical_features,
            risk=self.risk,
        )
        self._fit_partitions(tasks, partitions, found, seed, progress)

    def _check_before_fit(self, has_propensity: bool) -> None:
        """Check the parameters before anything is read."""
        raise NotImplementedError

    def _fit_partitions(
        self,
        tasks: Tasks,
        partitions: Any,
        found: Overview,
        seed: int,
        progress: Callable[[float], object] | None,
    ) -> None:
        """Grow the forest, and set it and the record of the fit."""
        raise NotImplementedError

    def to_local(self) -> Any:
        """Return the fitted estimator without Dask.

        Returns
        -------
        estimator
            For example a `puforest.PUForestClassifier`, which can be saved, explained and used
            without a cluster.
        """
        check_is_fitted(self)
        parameters = {k: v for k, v in self.get_params(deep=False).items() if k != "client"}
        local = self._local_class(**parameters)
        local._record, local._forest = self._record, self._forest
        return local

    def predict(self, X: Any) -> Any:
        """Predict the class of each row.

        Parameters
        ----------
        X : Dask DataFrame, Dask Array or local table
            Rows to predict, with the same columns as in ``fit``.

        Returns
        -------
        Dask Series, Dask Array or ndarray
            ``classes_[1]`` where ``predict_proba`` is above ``threshold_``, else ``classes_[0]``;
            lazy if X is.
        """
        if not is_collection(X):
            return super().predict(X)
        return self._lazily("predict", X, self.classes_.dtype)

    def predict_proba(self, X: Any) -> Any:
        """Predict class scores: the mean vote of the trees for each class.

        Parameters
        ----------
        X : Dask DataFrame, Dask Array or local table
            Rows to predict, with the same columns as in ``fit``.

        Returns
        -------
        Dask DataFrame, Dask Array or ndarray of shape (n_samples, 2)
            Columns as in ``classes_``; lazy if X is.
        """
        if not is_collection(X):
            return super().predict_proba(X)
        return self._lazily("predict_proba", X, np.dtype(np.float64), self.classes_.tolist())

    def decision_function(self, X: Any) -> Any:
        """Compute the distance of ``predict_proba`` from the threshold.

        Parameters
        ----------
        X : Dask DataFrame, Dask Array or local table
            Rows to predict, with the same columns as in ``fit``.

        Returns
        -------
        Dask Series, Dask Array or ndarray
            Twice the difference, above 0 for rows that ``predict`` classifies as positive; lazy if
            X is.
        """
        if not is_collection(X):
            return super().decision_function(X)
        return self._lazily("decision_function", X, np.dtype(np.float64))

    def _lazily(
        self, method: str, X: Any, dtype: np.dtype[Any], columns: list[Any] | None = None
    ) -> Any:
        """Predict each partition when it is needed."""
        model = delayed(self.to_local(), pure=True, traverse=False)
        if isinstance(X, dd.DataFrame):
            import pandas as pd

            if columns is None:
                meta = pd.Series([], dtype=dtype, index=X._meta.index[:0], name=method)
            else:
                meta = pd.DataFrame(
                    np.empty((0, len(columns)), dtype), index=X._meta.index[:0], columns=columns
                )
            return X.map_partitions(predicted_frame, model, method, meta, meta=meta)
        X = X.rechunk({1: -1})
        chunks = (X.chunks[0],) if columns is None else (X.chunks[0], (len(columns),))
        return da.map_blocks(
            predicted_block,
            X,
            model,
            method,
            dtype=dtype,
            chunks=chunks,
            drop_axis=1 if columns is None else None,
            meta=np.empty((0,) * len(chunks), dtype),
        )


def predicted_frame(X: Any, model: Any, method: str, meta: Any) -> Any:
    """Predict a partition of a DataFrame."""
    if len(X) == 0:
        return meta
    predictions = getattr(model, method)(X)
    if meta.ndim == 1:
        return type(meta)(predictions, index=X.index, name=meta.name, dtype=meta.dtype)
    return type(meta)(predictions, index=X.index, columns=meta.columns)


def predicted_block(X: NDArray[Any], model: Any, method: str) -> NDArray[Any]:
    """Predict a chunk of an array."""
    if len(X) == 0:
        shape = (0, 2) if method == "predict_proba" else (0,)
        return np.empty(shape, model.classes_.dtype if method == "predict" else np.float64)
    predictions: NDArray[Any] = getattr(model, method)(X)
    return predictions


@with_client
class DaskPUForestClassifier(DaskMixin, PUForestClassifier):  # type: ignore[misc]
    """`puforest.PUForestClassifier` on a Dask cluster.

    The forest is the same, bit for bit, as that of a fit on one machine with the same
    ``random_state``, data and order of rows, for any number of workers and partitions.

    Parameters
    ----------
    prior, scenario, n_estimators, threshold, candidates, categorical_features, monotonic_cst
        As in `puforest.PUForestClassifier`.
    n_jobs, verbose, random_state
        As in `puforest.PUForestClassifier`. `n_jobs` is for local predictions: on the cluster, each
        task uses one thread.
    client : dask.distributed.Client, optional
        Client of the cluster; by default the current one.

    Attributes
    ----------
    oob_decision_function_ : ndarray of shape (n_samples,)
        As in `puforest.PUForestClassifier`, if all rows were evaluated: up to 200,000 unlabeled
        ones are.

    See Also
    --------
    puforest.PUForestClassifier : The same estimator on one machine, with its other attributes.

    Examples
    --------
    >>> import dask.array as da
    >>> from dask.distributed import Client
    >>> from puforest.dask import DaskPUForestClassifier
    >>> from puforest.datasets import load_mushrooms, make_pu
    >>> X, y = load_mushrooms(return_X_y=True)
    >>> X_pu, labeled = make_pu(X, y, n_labeled=500, random_state=0)
    >>> with Client(processes=False, dashboard_address=":0") as client:
    ...     forest = DaskPUForestClassifier(prior=y.mean(), candidates="fast", random_state=0)
    ...     forest = forest.fit(da.from_array(X_pu, 2000), da.from_array(labeled, 2000))
    >>> bool(forest.to_local().score(X, y) > 0.98)
    True
    """

    _local_class = PUForestClassifier

    def _check_before_fit(self, has_propensity: bool) -> None:
        self._check_parameters()
        recipes = checked_candidates(self.candidates)
        estimates = check.class_prior(self.prior) is None and not has_propensity
        if estimates and all(recipe.growth == "nnpu" for recipe in recipes):
            raise ValueError(
                "prior=None: all candidates need the class prior. Pass it, or add a recipe with "
                "growth='separation', from whose scores the prior is estimated."
            )

    def _fit_partitions(
        self,
        tasks: Tasks,
        partitions: Any,
        found: Overview,
        seed: int,
        progress: Callable[[float], object] | None,
    ) -> None:
        n_labeled, n_unlabeled = found.n_labeled, found.totals.n_unlabeled
        require_rows(n_labeled, n_unlabeled)
        recipes = checked_candidates(self.candidates)
        settles = self.n_estimators == "auto" and not is_fast(self.candidates)
        settings = GrowthSettings(
            n_folds=min(N_FOLDS, n_labeled, n_unlabeled),
            scenario=self.scenario,
            monotone=monotone_features(self.monotonic_cst, found.schema),
            seed=seed,
        )
        for largest_fold in (LARGEST_FOLD, LARGEST_POSSIBLE_FOLD):
            needed = needed_by_candidates(
                recipes,
                n_labeled=n_labeled,
                n_unlabeled=n_unlabeled,
                n_trees=MAX_TREES if settles else self._first_trees(),
                seed=seed,
                largest_fold=largest_fold,
            )
            try:
                self._fit_needed(tasks, partitions, found, needed, settings, progress)
            except _core.IncompleteSample:
                if largest_fold == LARGEST_POSSIBLE_FOLD:
                    raise
            else:
                break

    def _fit_needed(
        self,
        tasks: Tasks,
        partitions: Any,
        found: Overview,
        needed: NeededRows,
        settings: GrowthSettings,
        progress: Callable[[float], object] | None,
    ) -> None:
        """Fit to the rows that are needed."""
        name = type(self).__name__
        gathered = _sampled.gather(tasks, partitions, found, needed, estimator=name)
        n_candidates = len(checked_candidates(self.candidates))
        data = _sampled.SampledData(
            tasks, gathered, found, needed, settings=settings, n_candidates=n_candidates
        )

        def estimate(grown: Any) -> PriorEstimate:
            return self._estimated_from_scores(grown, data)

        scores = self._fit_to(data, found.schema, progress, estimate)
        rows = data.evaluated
        if rows.n_unlabeled == found.totals.n_unlabeled:
            decision = np.full(found.first_ids[-1], np.nan)
            decision[rows.row_ids.astype(np.intp)] = 2 * scores - 1
            self._record = replace(self._record, out_of_bag=OutOfBag(decision, np.nan))

    def _out_of_bag(self, attribute: str) -> OutOfBag:
        found = self._recorded(attribute).out_of_bag
        if found is None:
            raise AttributeError(
                f"{attribute} is only available if all rows were evaluated: "
                "DaskPUForestClassifier evaluates the labeled and 200,000 unlabeled rows"
            )
        return found
