"""Cross-validation with PU splits and PU scorers, with sample weights and propensities in both."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import numpy as np
import sklearn
import sklearn.model_selection
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils.metadata_routing import MetadataRequest

from puforest import _validation as check
from puforest._columns import as_table
from puforest._unwrap import parameter_layers
from puforest.metrics import get_scorer
from puforest.model_selection._split import pu_cv

__all__ = ["cross_val_score", "cross_validate"]

Scorer: TypeAlias = Callable[..., Any]
Scoring: TypeAlias = str | Scorer | Iterable[str] | Mapping[str, str | Scorer] | None

DEFAULT_SCORING = "pu_accuracy"


def cross_validate(
    estimator: Any,
    X: check.MatrixLike,
    y: ArrayLike,
    *,
    scoring: Scoring = None,
    cv: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    params: Mapping[str, Any] | None = None,
    return_train_score: bool = False,
    return_estimator: bool = False,
    return_indices: bool = False,
    error_score: Any = "raise",
) -> dict[str, Any]:
    """Evaluate an estimator by cross-validation with PU metrics.

    Scorers use the prior of each fitted estimator unless they were made with one. To compare
    estimators with different priors, pass ``pu_scorer(name, prior=...)``.

    Parameters
    ----------
    estimator : estimator
        Estimator to fit.
    X : array-like of shape (n_samples, n_features)
        Training data.
    y : array-like of shape (n_samples,)
        PU labels: two values, the larger for labeled rows.
    scoring : str, callable, list of str, dict or None, default=None
        Name of a PU scorer such as "pu_f1" (see `puforest.metrics.get_scorer_names`) or a callable
        ``scorer(estimator, X, y)``; for several, a list of names or a dict. None means
        "pu_accuracy". Names of scikit-learn's scorers, such as "f1", are rejected: with PU labels
        they count unlabeled positives as negatives.
    cv : int, splitter, iterable or None, default=None
        Splitter or number of folds (None means 5). Integers use `PUStratifiedKFold` with a fixed
        seed.
    n_jobs : int or None, default=None
        Number of fits to run in parallel.
    verbose : int, default=0
        Verbosity level.
    params : dict, optional
        Metadata of the rows, such as ``{"sample_weight": ..., "propensity": ...}``; with
        "checked", folds are also stratified by verdict. The arrays are split along with the rows
        and passed to ``fit`` and to the scorers that have a parameter of
        that name; in a pipeline, to ``fit`` of its last step, unless other steps request them with
        ``set_fit_request``. If scikit-learn's metadata routing is enabled, set all requests
        yourself.
    return_train_score, return_estimator, return_indices : bool, default=False
        Whether to also return training scores, fitted estimators and row indices.
    error_score : "raise" or float, default="raise"
        Score of a fold whose fit fails; "raise" raises the error.

    Returns
    -------
    dict
        ``test_score`` or ``test_<name>``, ``fit_time``, ``score_time`` and the optional results:
        arrays with one value per fold, as in `sklearn.model_selection.cross_validate`.

    Examples
    --------
    >>> from puforest import PUExtraTreesClassifier
    >>> from puforest.datasets import load_mushrooms, make_pu
    >>> from puforest.model_selection import cross_validate
    >>> X, y = load_mushrooms(return_X_y=True)
    >>> X, labeled = make_pu(X, y, n_labeled=0.5, scenario="single-training-set", random_state=0)
    >>> forest = PUExtraTreesClassifier(
    ...     prior=0.52, scenario="single-training-set", n_estimators=10, random_state=0
    ... )
    >>> result = cross_validate(forest, X, labeled, scoring="pu_recall")
    >>> bool(result["test_score"].min() > 0.95)
    True
    """
    X, scorers = as_table(X), _scorers(scoring)
    shared = {
        "cv": pu_cv(cv, X, y, (params or {}).get("checked")),
        "n_jobs": n_jobs,
        "verbose": verbose,
        "params": params,
        "return_train_score": return_train_score,
        "return_estimator": return_estimator,
        "return_indices": return_indices,
        "error_score": error_score,
    }
    run = sklearn.model_selection.cross_validate
    if not params or sklearn.get_config()["enable_metadata_routing"]:
        return cast(dict[str, Any], run(estimator, X, y, scoring=scorers, **shared))
    with sklearn.config_context(enable_metadata_routing=True):
        requesting_scorers = (
            {name: _RequestingScorer.of(scorer, params) for name, scorer in scorers.items()}
            if isinstance(scorers, dict)
            else _RequestingScorer.of(scorers, params)
        )
        estimator = requesting(estimator, params)
        return cast(dict[str, Any], run(estimator, X, y, scoring=requesting_scorers, **shared))


def cross_val_score(
    estimator: Any,
    X: check.MatrixLike,
    y: ArrayLike,
    *,
    scoring: str | Scorer | None = None,
    cv: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    params: Mapping[str, Any] | None = None,
    error_score: Any = "raise",
) -> NDArray[np.float64]:
    """Evaluate an estimator by cross-validation and return the score of each fold.

    Parameters
    ----------
    estimator, X, y, cv, n_jobs, verbose, params, error_score
        See `cross_validate`.
    scoring : str, callable or None, default=None
        Name of a PU scorer or a callable; None means "pu_accuracy".

    Returns
    -------
    ndarray of shape (n_splits,)
        Score of each fold.

    Examples
    --------
    >>> import numpy as np
    >>> from puforest import PUExtraTreesClassifier
    >>> from puforest.model_selection import cross_val_score
    >>> X, y = np.arange(20.0).reshape(-1, 1), np.repeat([0, 1], [14, 6])
    >>> forest = PUExtraTreesClassifier(prior=0.5, n_estimators=10, random_state=0)
    >>> cross_val_score(forest, X, y, scoring="pu_recall", cv=2).shape
    (2,)
    """
    if scoring is not None and not (isinstance(scoring, str) or callable(scoring)):
        raise TypeError(
            f"scoring must be a name or a callable, got {scoring!r}: for several scorers, use "
            "cross_validate"
        )
    result = cross_validate(
        estimator,
        X,
        y,
        scoring=scoring,
        cv=cv,
        n_jobs=n_jobs,
        verbose=verbose,
        params=params,
        error_score=error_score,
    )
    return cast(NDArray[np.float64], result["test_score"])


def _scorers(scoring: Scoring) -> Scorer | dict[str, Scorer]:
    if scoring is None or isinstance(scoring, str) or callable(scoring):
        return cast(Scorer, get_scorer(DEFAULT_SCORING if scoring is None else scoring))
    if isinstance(scoring, Mapping):
        return {name: get_scorer(value) for name, value in scoring.items()}
    return {name: get_scorer(name) for name in scoring}


def requesting(estimator: Any, params: Mapping[str, Any]) -> Any:
    """Clone an estimator so that its ``fit`` requests those of `params` it has no request for.

    In a pipeline, the last step requests them and the other steps do not. Without metadata routing,
    ``fit`` gets all of them, and the estimator is returned unchanged.
    """
    if not sklearn.get_config()["enable_metadata_routing"]:
        return estimator
    copied = clone(estimator)
    receivers = list(parameter_layers(copied))
    for part in [copied, *copied.get_params(deep=True).values()]:
        routing = part.get_metadata_routing() if hasattr(part, "get_metadata_routing") else None
        if isinstance(routing, MetadataRequest) and hasattr(part, "set_fit_request"):
            requests = routing.fit.requests
            unset = [name for name in params if name in requests and requests[name] is None]
            receives = any(part is layer for layer in receivers)
            part.set_fit_request(**dict.fromkeys(unset, receives))
    return copied


@dataclass(frozen=True)
class _RequestingScorer:
    """Scorer that requests the metadata it takes as arguments."""

    scorer: Scorer
    names: tuple[str, ...]

    @classmethod
    def of(cls, scorer: Scorer, params: Mapping[str, Any]) -> _RequestingScorer:
        known = inspect.signature(scorer).parameters
        return cls(scorer, tuple(name for name in params if name in known))

    def __call__(self, estimator: Any, X: Any, y: Any, **values: Any) -> Any:
        return self.scorer(estimator, X, y, **values)

    def get_metadata_routing(self) -> MetadataRequest:
        """Metadata requests, for scikit-learn."""
        request = MetadataRequest(owner=self)
        for name in self.names:
            request.score.add_request(param=name, alias=True)
        return request
