"""scikit-learn's cross-validation with PU splits, PU scores and weights in both."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import numpy as np
import sklearn
import sklearn.metrics
import sklearn.model_selection
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils.metadata_routing import MetadataRequest

from puforest import _validation as check
from puforest.model_selection._split import pu_cv

__all__ = ["cross_val_score", "cross_validate"]

Scorer: TypeAlias = Callable[..., Any]
Scoring: TypeAlias = str | Scorer | Iterable[str] | Mapping[str, str | Scorer] | None

DEFAULT_SCORE = "pu_accuracy"


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
    """Fit and score on folds, each of them PU data of its own.

    Parameters
    ----------
    estimator : estimator
        What to fit.
    X : array-like of shape (n_samples, n_features)
        The rows.
    y : array-like of shape (n_samples,)
        Two values, the larger for labeled rows.
    scoring : str, callable, list of str, dict or None, default=None
        Names of `puforest.metrics.get_scorer` such as "pu_f1", names of scikit-learn, or scorers
        ``scorer(estimator, X, y)``; several as a list, or as a dict by name. None is
        "pu_accuracy". scikit-learn's scores take unlabeled rows for negatives.
    cv : int, splitter, iterable or None, default=None
        None is five folds, a number that many, of `PUStratifiedKFold` with a fixed seed.
    n_jobs : int or None, default=None
        Fits at a time.
    verbose : int, default=0
        With 1 or more, progress is reported.
    params : dict, optional
        Values of all rows, such as ``{"sample_weight": ..., "propensity": ...}``. Each fold gets
        those of its rows, for ``fit`` and for the scorers that take an argument of this name.
        Steps of a pipeline say what they take by ``set_fit_request``. With scikit-learn's metadata
        routing enabled, all requests are up to you.
    return_train_score, return_estimator, return_indices : bool, default=False
        What to return besides.
    error_score : "raise" or float, default="raise"
        Score of a fold whose fit fails.

    Returns
    -------
    dict
        ``test_score`` or ``test_<name>``, ``fit_time``, ``score_time``, and what else is asked for:
        arrays with one value a fold, as in scikit-learn's function of this name.

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
    >>> def recall(estimator, X, y):
    ...     return estimator.predict(X)[y == 1].mean()
    >>> bool(cross_validate(forest, X, labeled, scoring=recall)["test_score"].min() > 0.95)
    True
    """
    scorers = _scorers(scoring)
    shared = {
        "cv": pu_cv(cv),
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
        asking = (
            {name: _Asking.of(scorer, params) for name, scorer in scorers.items()}
            if isinstance(scorers, dict)
            else _Asking.of(scorers, params)
        )
        estimator = asking_for(estimator, params)
        return cast(dict[str, Any], run(estimator, X, y, scoring=asking, **shared))


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
    """Fit on folds and return one score for each.

    Parameters
    ----------
    estimator, X, y, cv, n_jobs, verbose, params, error_score
        As in `cross_validate`.
    scoring : str, callable or None, default=None
        One score, by name or as a scorer.

    Returns
    -------
    ndarray of shape (n_splits,)
        The scores.

    Examples
    --------
    >>> import numpy as np
    >>> from puforest import PUExtraTreesClassifier
    >>> from puforest.model_selection import cross_val_score
    >>> X, y = np.arange(20.0).reshape(-1, 1), np.repeat([0, 1], [14, 6])
    >>> forest = PUExtraTreesClassifier(prior=0.5, n_estimators=10, random_state=0)
    >>> def share_positive(estimator, X, y):
    ...     return estimator.predict(X).mean()
    >>> cross_val_score(forest, X, y, scoring=share_positive, cv=2).shape
    (2,)
    """
    if scoring is not None and not (isinstance(scoring, str) or callable(scoring)):
        raise TypeError(
            f"scoring must be one name or scorer, got {scoring!r}: cross_validate takes several"
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
        return _scorer(DEFAULT_SCORE if scoring is None else scoring)
    if isinstance(scoring, Mapping):
        return {name: _scorer(value) for name, value in scoring.items()}
    return {name: _scorer(name) for name in scoring}


def _scorer(scoring: str | Scorer) -> Scorer:
    if not isinstance(scoring, str):
        return scoring
    # Not at the top: metrics may use the splits of this package.
    from puforest import metrics

    own = scoring in metrics.get_scorer_names()
    return cast(Scorer, (metrics if own else sklearn.metrics).get_scorer(scoring))


def asking_for(estimator: Any, params: Mapping[str, Any]) -> Any:
    """A clone whose ``fit`` asks for those of `params` that it takes and says nothing about.

    Without metadata routing ``fit`` gets all of them unasked, and the estimator stays as it is.
    """
    routing = sklearn.get_config()["enable_metadata_routing"]
    if not routing or not hasattr(estimator, "set_fit_request"):
        return estimator
    asking = clone(estimator)
    said = asking.get_metadata_routing().fit.requests
    return asking.set_fit_request(
        **{name: True for name in params if name in said and said[name] is None}
    )


@dataclass(frozen=True)
class _Asking:
    """A scorer that asks for the values of rows that it takes arguments for."""

    scorer: Scorer
    names: tuple[str, ...]

    @classmethod
    def of(cls, scorer: Scorer, params: Mapping[str, Any]) -> _Asking:
        known = inspect.signature(scorer).parameters
        return cls(scorer, tuple(name for name in params if name in known))

    def __call__(self, estimator: Any, X: Any, y: Any, **values: Any) -> Any:
        return self.scorer(estimator, X, y, **values)

    def get_metadata_routing(self) -> MetadataRequest:
        """What goes to the scorer, for scikit-learn."""
        request = MetadataRequest(owner=self)
        for name in self.names:
            request.score.add_request(param=name, alias=True)
        return request
