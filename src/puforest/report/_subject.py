"""The model of a report: a forest or tree, possibly calibrated or at the end of a pipeline."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from puforest._base import PUClassifier
from puforest._fit_record import RecordedFitMixin
from puforest._threshold import threshold_of
from puforest._unwrap import Unwrapped, known_scenario, parameter_layers, require_unwrapped


@dataclass(frozen=True)
class Subject:
    """A fitted model and its parts.

    Attributes
    ----------
    whole : estimator
        Model that takes rows as they are, with its pipeline.
    parts : Unwrapped
        Transformers of the pipeline, and the model that takes the rows they return.
    """

    whole: Any
    parts: Unwrapped

    @property
    def model(self) -> Any:
        """Model that predicts from encoded rows: the forest, or the one that calibrates it."""
        return self.parts.model

    @property
    def forest(self) -> PUClassifier:
        """Forest or tree."""
        trees: PUClassifier = self.parts.trees
        return trees

    @property
    def calibrated(self) -> bool:
        return self.parts.is_calibrated

    @property
    def threshold(self) -> float:
        """Threshold of `predict` on the score."""
        return threshold_of(self.model)

    @property
    def prior(self) -> float:
        return float(self.model.prior_)

    @property
    def scenario(self) -> str:
        return str(known_scenario(self.model))

    @property
    def layers(self) -> list[Any]:
        """Transformers of the pipeline, the calibrated model if any, and the forest."""
        return list(_layers(self.whole))

    def unfitted(self, n_jobs: int | None, rng: np.random.RandomState) -> Any:
        """Make an unfitted model of the same kind with the same priors, for a fold."""
        if getattr(self.model, "cv", None) == "prefit":
            raise ValueError(
                "PUCalibratedClassifier(cv='prefit') cannot be refitted to folds: pass rows that "
                "are new to it and held_out=True"
            )
        new = clone(self.whole)
        calibrated: list[Any]
        *calibrated, forest = filter(_is_own, parameter_layers(new))
        wanted: dict[str, Any] = {
            "random_state": rng.randint(np.iinfo(np.int32).max),
            "warm_start": False,
            "verbose": 0,
            "threshold": threshold_of(self.forest),
        }
        if n_jobs is not None:
            wanted["n_jobs"] = n_jobs
        if not self.calibrated:
            wanted["oob_score"] = False
        record = self.forest._record
        wanted = record.parameters | wanted
        known = forest.get_params(deep=False)
        given = {name: value for name, value in wanted.items() if name in known}
        forest.set_params(**given | {"prior": record.prior})
        for layer in calibrated:
            fitted = self.model._record
            layer.set_params(prior=fitted.prior, scenario=fitted.scenario, method=fitted.method)
        return new


def _is_own(layer: Any) -> bool:
    return isinstance(layer, RecordedFitMixin)


def _layers(model: Any) -> Iterator[Any]:
    if isinstance(model, Pipeline):
        *transformers, last = (step for _, step in model.steps)
        yield from (step for step in transformers if step not in (None, "passthrough"))
        yield from _layers(last)
    elif hasattr(model, "best_estimator_"):
        yield from _layers(model.best_estimator_)
    else:
        yield model
        if hasattr(model, "calibrator_"):
            yield from _layers(model.estimator_)


def subject_of(model: Any) -> Subject:
    """Take a model apart."""
    parts = require_unwrapped("model", model)
    while hasattr(model, "best_estimator_"):  # folds do not repeat a search
        model = model.best_estimator_
    return Subject(model, parts)
