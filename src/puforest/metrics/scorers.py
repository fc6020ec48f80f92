"""Scorers for scikit-learn: ``scorer(estimator, X, y)``, where greater is better."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, TypeVar

import numpy as np
import sklearn.metrics
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.metadata_routing import UNUSED

from puforest import _validation as check
from puforest._unwrap import known_prior, known_scenario
from puforest.metrics._metric import score
from puforest.metrics._registry import METRICS, find_metric

__all__ = ["PUScorer", "get_scorer", "get_scorer_names", "pu_scorer"]

T = TypeVar("T")


class PUScorer(BaseEstimator):
    """Scorer for a PU metric, made by `pu_scorer`.

    It has parameters like an estimator, so it can be cloned with `sklearn.base.clone`. If metadata
    routing is enabled, request weights with ``set_score_request``.

    Parameters
    ----------
    name : str
        Name of the metric.
    prior : float, optional
        Class prior; that of the fitted estimator by default.
    scenario : str, optional
        Sampling scenario; that of the fitted estimator by default.
    options : dict, optional
        Further arguments of the metric.
    """

    __metadata_request__score: ClassVar[dict[str, str]] = {"estimator": UNUSED}

    def __init__(
        self,
        name: str,
        *,
        prior: float | None = None,
        scenario: str | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self.name = name
        self.prior = prior
        self.scenario = scenario
        self.options = options

    def score(
        self,
        estimator: Any,
        X: check.MatrixLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        propensity: ArrayLike | None = None,
        checked: ArrayLike | None = None,
        check_probability: ArrayLike | None = None,
    ) -> float:
        """Evaluate a fitted estimator on held-out rows.

        Metadata routing looks for a method of this name; scikit-learn calls the scorer itself.

        Parameters
        ----------
        estimator : estimator
            A fitted classifier.
        X : array-like of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their PU labels.
        sample_weight : array-like of shape (n_samples,), optional
            Sample weights.
        propensity : array-like of shape (n_samples,), optional
            Probability that each labeled row is labeled given that it is positive.
        checked : array-like of shape (n_samples,), optional
            Verdicts on unlabeled rows, as in ``fit``.
        check_probability : float or array-like of shape (n_samples,), optional
            Probability with which a row with these features was selected for checking.

        Returns
        -------
        float
            The metric, negated if it is a loss.
        """
        metric = find_metric(self.name, "name")
        options = dict(self.options or {})
        metric.require_options(options)
        prior = self.prior
        if prior is None and metric.needs_prior:
            prior = _required("prior", known_prior(estimator), estimator)
        scenario = self.scenario
        if scenario is None:
            scenario = _required("scenario", known_scenario(estimator), estimator)
        value = score(
            metric,
            y,
            _response(metric.reads, estimator, X),
            prior=prior,
            scenario=scenario,
            sample_weight=sample_weight,
            propensity=propensity,
            checked=checked,
            check_probability=check_probability,
            **options,
        )
        return value if metric.greater_is_better else -value

    __call__ = score


def _required(parameter: str, found: T | None, estimator: Any) -> T:
    if found is None:
        raise ValueError(
            f"{parameter}=None, but {type(estimator).__name__} has no {parameter}: pass "
            f"{parameter} to pu_scorer"
        )
    return found


def _response(reads: str, estimator: Any, X: check.MatrixLike) -> NDArray[Any]:
    if reads == "prediction":
        return np.asarray(estimator.predict(X))
    if reads != "probability" and hasattr(estimator, "decision_function"):
        return np.asarray(estimator.decision_function(X))
    positive = np.asarray(estimator.predict_proba(X))[:, 1]
    return 2 * positive - 1 if reads == "decision" else positive


def pu_scorer(
    name: str, *, prior: float | None = None, scenario: str | None = None, **options: Any
) -> PUScorer:
    """Make a scorer from a PU metric, for scikit-learn's searches and cross-validation.

    Without `prior`, each estimator is scored with the prior it was fitted with. Don't compare
    priors this way: for most metrics, a larger prior yields a higher score. Pass `prior`, or use a
    metric that needs none, such as "lee_liu".

    Parameters
    ----------
    name : str
        One of `get_scorer_names`, such as "pu_f1", or "f1" for short.
    prior : float, optional
        Class prior; by default that of the fitted estimator, also inside a pipeline, a search or a
        `PUCalibratedClassifier`.
    scenario : {"case-control", "single-training-set"}, optional
        Sampling scenario; by default that of the fitted estimator.
    **options
        Further arguments of the metric, such as ``n_bins`` or ``loss``.

    Returns
    -------
    PUScorer
        Callable ``scorer(estimator, X, y)``. Losses are negated.

    Examples
    --------
    >>> from sklearn.model_selection import GridSearchCV
    >>> from puforest import PUExtraTreesClassifier
    >>> from puforest.datasets import load_mushrooms, make_pu
    >>> from puforest.metrics import pu_scorer
    >>> X, y = load_mushrooms(return_X_y=True)
    >>> X, labeled = make_pu(X[::8], y[::8], random_state=0)
    >>> forest = PUExtraTreesClassifier(prior=y.mean(), n_estimators=10, random_state=0)
    >>> search = GridSearchCV(forest, {"max_depth": [1, 8]}, scoring=pu_scorer("accuracy"), cv=3)
    >>> search.fit(X, labeled).best_params_
    {'max_depth': 8}
    """
    metric = find_metric(name, "name")
    metric.require_options(options)
    return PUScorer(metric.name, prior=prior, scenario=scenario, options=options or None)


def get_scorer(scoring: str | Any) -> Any:
    """Get a scorer by name, which uses the prior and scenario of the fitted estimator.

    Parameters
    ----------
    scoring : str or callable
        One of `get_scorer_names`; a callable is returned unchanged. Names of scikit-learn's scorers
        are rejected: with PU labels they count unlabeled positives as negatives.

    Returns
    -------
    callable
        The scorer.

    Examples
    --------
    >>> from puforest.metrics import get_scorer
    >>> get_scorer("pu_f1")
    PUScorer(name='pu_f1')
    """
    if callable(scoring):
        return scoring
    if scoring not in METRICS and scoring in sklearn.metrics.get_scorer_names():
        counterpart = f"pu_{scoring.removeprefix('neg_').removesuffix('_score')}"
        use = repr(counterpart) if counterpart in METRICS else f"one of {sorted(METRICS)}"
        raise ValueError(
            f"scoring={scoring!r} scores against PU labels, counting unlabeled positives as "
            f"negatives: use {use}, or pass sklearn.metrics.get_scorer({scoring!r}) if y holds "
            "true classes"
        )
    return pu_scorer(check.one_of("scoring", scoring, METRICS))


def get_scorer_names() -> list[str]:
    """Get the names of all PU scorers.

    Returns
    -------
    list of str
        The names in alphabetical order.

    Examples
    --------
    >>> from puforest.metrics import get_scorer_names
    >>> "pu_f1" in get_scorer_names()
    True
    """
    return sorted(METRICS)
