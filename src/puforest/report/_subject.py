"""What a report is about: a forest, alone or within a classifier that calibrates it."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from puforest._base import PUClassifier
from puforest._unwrap import without_names
from puforest.calibration import PUCalibratedClassifier


@dataclass(frozen=True)
class Subject:
    """A fitted model that takes arrays, whatever it was fitted to.

    Attributes
    ----------
    model : estimator
        What answers.
    forest : PUClassifier
        What it is made of: the model itself, unless that is a calibrated one.
    """

    model: Any
    forest: PUClassifier

    @property
    def calibrated(self) -> bool:
        return self.model is not self.forest

    @property
    def prior(self) -> float:
        return float(self.model.prior_)

    @property
    def scenario(self) -> str:
        return str(self.model.scenario_ if self.calibrated else self.forest._record.scenario)

    @property
    def layers(self) -> list[Any]:
        """The model and, if it is another one, the forest."""
        return [self.model, self.forest] if self.calibrated else [self.model]

    def unfitted(self, n_jobs: int | None, rng: np.random.RandomState) -> Any:
        """A model of the same kind for the same priors, without what a fold does not need."""
        if getattr(self.model, "cv", None) == "prefit":
            raise ValueError(
                "PUCalibratedClassifier(cv='prefit') cannot be fitted to folds: give rows that it "
                "has not seen, with held_out=True"
            )
        new = clone(self.model)
        wanted: dict[str, Any] = {
            "random_state": rng.randint(np.iinfo(np.int32).max),
            "warm_start": False,
            "verbose": 0,
        }
        if n_jobs is not None:
            wanted["n_jobs"] = n_jobs
        if not self.calibrated:
            wanted["oob_score"] = False
        unfitted = [new, new.estimator] if self.calibrated else [new]
        for fitted, layer in zip(self.layers, unfitted, strict=True):
            known = layer.get_params(deep=False)
            given = {name: value for name, value in wanted.items() if name in known}
            layer.set_params(prior=float(fitted.prior_), **given)
        return new


def subject_of(model: Any) -> Subject:
    """The model without the names of its features, and the forest in it."""
    forest = getattr(model, "estimator_", None)
    if isinstance(model, PUCalibratedClassifier):
        check_is_fitted(model)
    else:
        forest = model
    if not isinstance(forest, PUClassifier):
        raise TypeError(
            "model must be a forest or tree of puforest, or a PUCalibratedClassifier of one, got "
            f"{model!r}"
        )
    check_is_fitted(forest)
    plain = without_names(forest)
    if forest is model:
        return Subject(plain, plain)
    calibrated = copy.copy(model)
    calibrated._record = replace(model._record, estimator=plain)
    return Subject(calibrated, plain)
