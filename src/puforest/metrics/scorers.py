"""Metrics as scikit-learn's scorers: ``scorer(estimator, X, y)``, of which greater is better."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, TypeVar

import numpy as np
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
    """A metric as a scorer; `pu_scorer` makes one.

    It has parameters like an estimator, so that `sklearn.base.clone` copies it, and
    ``set_score_request`` asks for weights where metadata routing is on.

    Parameters
    ----------
    name : str
        Name of the metric.
    prior : float, optional
        Share of positives in the population; that of the fitted estimator by default.
    scenario : str, optional
        How the rows came about; that of the estimator by default.
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

    def __call__(
        self,
        estimator: Any,
        X: check.MatrixLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        propensity: ArrayLike | None = None,
    ) -> float:
        """Judge a fitted estimator by rows that it has not seen.

        Parameters
        ----------
        estimator : estimator
            A fitted classifier.
        X : array-like of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their PU labels.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.
        propensity : array-like of shape (n_samples,), optional
            Probabilities of labeled rows to be labeled.

        Returns
        -------
        float
            The metric, negated if it is a loss.
        """
        return self.score(estimator, X, y, sample_weight, propensity)

    def score(
        self,
        estimator: Any,
        X: check.MatrixLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        propensity: ArrayLike | None = None,
    ) -> float:
        """The same as a call, by the name under which metadata routing knows it.

        Parameters
        ----------
        estimator : estimator
            A fitted classifier.
        X : array-like of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their PU labels.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.
        propensity : array-like of shape (n_samples,), optional
            Probabilities of labeled rows to be labeled.

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
            **options,
        )
        return value if metric.greater_is_better else -value


def _required(parameter: str, found: T | None, estimator: Any) -> T:
    if found is None:
        raise ValueError(
            f"{parameter}=None, and {type(estimator).__name__} knows none: give {parameter} to "
            "pu_scorer"
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
    """Make a scorer for scikit-learn's searches and cross-validation out of a metric.

    A scorer without a `prior` judges each estimator by the prior that it was fitted with. It must
    not be used to compare priors: each would be judged by itself, and for most metrics the larger
    one would win. Give `prior` for that, or a metric without one, such as "lee_liu".

    Parameters
    ----------
    name : str
        A name of `get_scorer_names`, such as "pu_f1"; "f1" will do.
    prior : float, optional
        Share of positives in the population; ``prior_`` of the fitted estimator by default, also
        of the one inside a pipeline, a search or a `PUCalibratedClassifier`.
    scenario : {"case-control", "single-training-set"}, optional
        How the rows came about; ``scenario`` of the estimator by default.
    **options
        Further arguments of the metric, such as ``n_bins`` or ``loss``.

    Returns
    -------
    PUScorer
        A callable of estimator, rows and PU labels. Losses are negated.

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
    """Get a scorer by name, with prior and scenario of the estimator.

    Parameters
    ----------
    scoring : str or callable
        A name of `get_scorer_names`; a callable is returned as it is.

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
    return pu_scorer(check.one_of("scoring", scoring, METRICS))


def get_scorer_names() -> list[str]:
    """Names that `get_scorer` knows.

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
