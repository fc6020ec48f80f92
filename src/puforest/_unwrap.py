"""Fitted models inside pipelines, searches and calibrated classifiers."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from puforest import _validation as check
from puforest._encoded import EncodedTable
from puforest._fit_record import FitRecord, RecordedFitMixin
from puforest._prior_estimate import PriorEstimate
from puforest._schema import FeatureSchema


def layers(estimator: Any) -> Iterator[Any]:
    """Yield an estimator, the fitted estimator inside it, the one inside that, and so on."""
    while estimator is not None:
        yield estimator
        if isinstance(estimator, Pipeline):
            estimator = estimator.steps[-1][1]
        else:
            fitted = (getattr(estimator, name, None) for name in ("best_estimator_", "estimator_"))
            estimator = next((inner for inner in fitted if inner is not None), None)


def parameter_layers(estimator: Any) -> Iterator[Any]:
    """Yield an estimator, the one it was made with, and so on, whether they are fitted or not."""
    while estimator is not None:
        yield estimator
        last = estimator.steps[-1][1] if isinstance(estimator, Pipeline) else None
        estimator = getattr(estimator, "estimator", None) if last is None else last


def fitted_trees(estimator: Any) -> Any:
    """Return the tree or forest of this package inside an estimator; None if there is none."""
    return next((layer for layer in layers(estimator) if fit_record(layer) is not None), None)


def fit_record(estimator: Any) -> FitRecord | None:
    """Return the record of the fit of a tree or forest of this package, else None."""
    record = getattr(estimator, "_record", None)
    return record if isinstance(record, FitRecord) else None


@dataclass(frozen=True)
class Unwrapped:
    """A tree or forest, calibrated or not, and the transformers of the pipelines around it.

    Attributes
    ----------
    transformers : tuple of Pipeline
        Fitted transformers, applied to X one after the other; empty without a pipeline.
    model : estimator
        Model that predicts from the transformed rows: the trees, or a calibrated classifier of
        them.
    trees : PUClassifier
        Tree or forest of this package.
    """

    transformers: tuple[Pipeline, ...]
    model: Any
    trees: Any

    @property
    def is_calibrated(self) -> bool:
        """True if the model calibrates the trees."""
        return self.model is not self.trees

    @property
    def has_probabilities(self) -> bool:
        """True if scores are calibrated probabilities of the class."""
        return self.is_calibrated or self.trees._record.calibrator is not None

    def transform(self, X: check.MatrixLike) -> check.MatrixLike:
        """Apply the transformers."""
        for transformer in self.transformers:
            X = transformer.transform(X)
        return X

    def probability(self, votes: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probability that the model predicts, given the mean votes of its trees."""
        if not self.is_calibrated:
            return cast(NDArray[np.float64], self.trees._calibrated(votes))
        scores = 2 * (votes - self.trees.threshold_)
        # scikit-learn's isotonic regression takes one dimension.
        found = self.model.calibrator_.predict(scores.ravel()).reshape(scores.shape)
        return cast(NDArray[np.float64], found)

    def rows(self, X: check.MatrixLike, unknown: dict[int, int] | None = None) -> EncodedTable:
        """Apply the transformers, and check and encode the result as the trees do.

        The numbers of unknown categories are added to `unknown`, by feature.
        """
        schema: FeatureSchema = self.trees._record.schema
        name = type(self.trees).__name__
        return schema.table(self.transform(X), estimator=name, unknown=unknown)

    def feature_names(self, X: check.MatrixLike = None) -> list[str]:
        """Return the names of the features of the trees, from the fit, X or the transformers."""
        if not self.transformers or hasattr(self.trees, "feature_names_in_"):
            return check.feature_names(self.trees, X)
        names: Any = None
        try:
            for transformer in self.transformers:
                names = transformer.get_feature_names_out(names)
        except (AttributeError, ValueError):  # not all transformers name their features
            names = None
        n = self.trees.n_features_in_
        known = names is not None and len(names) == n
        return [str(name) for name in names] if known else check.column_names(None, n)


def unwrapped(estimator: Any) -> Unwrapped | None:
    """Take a pipeline, search or calibrated classifier apart; None without trees inside."""
    if fit_record(estimator) is not None:
        return Unwrapped((), estimator, estimator)
    if isinstance(estimator, Pipeline):
        inner = unwrapped(estimator.steps[-1][1])
        if inner is None or len(estimator.steps) == 1:
            return inner
        return replace(inner, transformers=(estimator[:-1], *inner.transformers))
    if hasattr(estimator, "best_estimator_"):
        return unwrapped(estimator.best_estimator_)
    if hasattr(estimator, "calibrator_"):
        inner = unwrapped(estimator.estimator_)
        if inner is None or inner.is_calibrated:
            return None
        calibrated = copy.copy(estimator)
        calibrated._record = replace(estimator._record, estimator=inner.model)
        return replace(inner, model=calibrated)
    return None


def require_unwrapped(name: str, estimator: Any) -> Unwrapped:
    """Take an estimator apart; raise an error if it is not fitted or has no trees inside."""
    found = unwrapped(estimator)
    if found is None:
        if any(isinstance(layer, RecordedFitMixin) for layer in parameter_layers(estimator)):
            check_is_fitted(estimator)
        kind = estimator.__name__ if isinstance(estimator, type) else type(estimator).__name__
        raise TypeError(
            f"{name} must be a puforest forest or tree, calibrated or not, or a pipeline that ends "
            f"in one, got {kind}"
        )
    return found


def uncalibrated(name: str, estimator: Any, reason: str) -> Unwrapped:
    """Take an estimator apart; raise an error that gives the reason if it is calibrated."""
    found = require_unwrapped(name, estimator)
    if found.is_calibrated:
        raise TypeError(
            f"{name} is calibrated, but {reason}: pass estimator_ of the calibrated classifier"
        )
    return found


def known_prior(estimator: Any) -> float | None:
    """Return the class prior of the fit; None if unlabeled rows were treated as negatives."""
    for layer in layers(estimator):
        record = fit_record(layer)
        if record is not None and record.is_supervised:
            return None
        if getattr(layer, "prior_", None) is not None:
            return float(layer.prior_)
    return None


def known_prior_estimate(estimator: Any) -> PriorEstimate | None:
    """Return the estimate that the class prior of the fit comes from; None if it is a number."""
    for layer in layers(estimator):
        if getattr(layer, "prior_", None) is None:
            continue
        record = getattr(layer, "_record", None)
        if record is not None:
            return cast(PriorEstimate | None, record.prior_estimate)
        return getattr(layer, "prior_estimate_", None)
    return None


def known_scenario(estimator: Any) -> str | None:
    """Return the scenario of the fit; None if no layer knows it."""
    for layer in layers(estimator):
        record = fit_record(layer)
        if record is not None:
            return record.scenario
        for name in ("scenario_", "scenario"):
            if getattr(layer, name, None) is not None:
                return cast(str, getattr(layer, name))
    return None


def fit_params(estimator: Any, params: Mapping[str, Any]) -> dict[str, Any]:
    """Name metadata such as sample weights for ``fit``: in a pipeline, they are for its last step.

    With scikit-learn's metadata routing enabled, the steps request them instead.
    """
    prefix = ""
    if not sklearn.get_config()["enable_metadata_routing"]:
        while isinstance(estimator, Pipeline):
            name, estimator = estimator.steps[-1]
            prefix += f"{name}__"
    return {f"{prefix}{name}": value for name, value in params.items()}


def with_prior_given(estimator: Any, prior: float) -> Any:
    """Set the prior of every unfitted layer that would estimate it."""
    unknown = {
        name: prior
        for name, value in estimator.get_params(deep=True).items()
        if name.rpartition("__")[2] == "prior" and value is None
    }
    return estimator.set_params(**unknown)
