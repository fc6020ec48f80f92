"""The model of a report: a forest or tree, possibly calibrated."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from puforest._base import PUClassifier
from puforest._unwrap import fitted_trees, known_scenario, without_names


@dataclass(frozen=True)
class Subject:
    """A fitted model that takes arrays, even if it was fitted to a table.

    Attributes
    ----------
    model : estimator
        Model that predicts.
    forest : PUClassifier
        Forest or tree: the model itself, or the one that it calibrates.
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
        return str(known_scenario(self.model))

    @property
    def layers(self) -> list[Any]:
        """The model, and the forest if the model calibrates it."""
        return [self.model, self.forest] if self.calibrated else [self.model]

    def unfitted(self, n_jobs: int | None, rng: np.random.RandomState) -> Any:
        """Make an unfitted model of the same kind with the same priors, for a fold."""
        if getattr(self.model, "cv", None) == "prefit":
            raise ValueError(
                "PUCalibratedClassifier(cv='prefit') cannot be refitted to folds: pass rows that "
                "are new to it and held_out=True"
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
        record = self.forest._record
        wanted = record.parameters | wanted
        forest = new.estimator if self.calibrated else new
        known = forest.get_params(deep=False)
        given = {name: value for name, value in wanted.items() if name in known}
        forest.set_params(**given | {"prior": record.prior})
        if self.calibrated:
            fitted = self.model._record
            new.set_params(prior=fitted.prior, scenario=fitted.scenario, method=fitted.method)
        return new


def subject_of(model: Any) -> Subject:
    """Return the model without feature names, and the forest inside it."""
    forest = fitted_trees(model)
    if forest is None or not (model is forest or model.estimator_ is forest):
        if isinstance(model, PUClassifier) or hasattr(model, "estimator"):
            check_is_fitted(model)
        raise TypeError(
            "model must be a forest or tree of puforest, or a PUCalibratedClassifier of one, got "
            f"{model!r}"
        )
    nameless = without_names(forest)
    if forest is model:
        return Subject(nameless, nameless)
    calibrated = copy.copy(model)
    calibrated._record = replace(model._record, estimator=nameless)
    return Subject(calibrated, nameless)
