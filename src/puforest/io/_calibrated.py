"""Calibrated classifiers as JSON and arrays, beside the trees that they hold."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from puforest import _validation as check
from puforest._base import PUClassifier
from puforest.io._estimator import BELOW_ONE, CLASSES
from puforest.io._fields import Fields, ensure, is_integer, short_repr
from puforest.io._parameters import checked, json_value, restored_parameters, stored_parameters
from puforest.scenario import SCENARIOS

# By name: the class is imported only for files that have one.
CALIBRATED = "puforest.calibration.PUCalibratedClassifier"

SCORES, PROBABILITIES = "calibrator_scores", "calibrator_probabilities"

Arrays = dict[str, NDArray[Any]]


def stored_calibration(model: Any, arrays: Arrays) -> dict[str, Any]:
    """A fitted calibrated classifier, without the trees, as JSON; arrays go to `arrays`."""
    for name in ("estimator", "estimator_"):
        kind = type(getattr(model, name))
        if kind not in CLASSES.values():
            raise TypeError(
                f"model files hold calibrated trees and forests of puforest, but {name} is a "
                f"{kind.__qualname__}: save such a model with joblib.dump"
            )
    stored = {
        "method": model.method,
        "cv": _stored_folds(model.cv),
        "prior": json_value("prior", model.prior),
        "scenario": json_value("scenario", model.scenario),
        "fitted_prior": float(model.prior_),
        "fitted_scenario": model.scenario_,
        "estimator": None,
        "calibrator": _stored_calibrator(model.calibrator_, arrays),
    }
    if model.estimator is not model.estimator_:
        stored["estimator"] = {
            "class": type(model.estimator).__name__,
            "parameters": stored_parameters(model.estimator),
        }
    return stored


def _stored_folds(cv: Any) -> Any:
    if cv is None or isinstance(cv, str) or check.is_integer(cv):
        return json_value("cv", cv)
    warnings.warn(
        f"cv is a {type(cv).__name__}, which a model file does not keep: it is stored as None. The "
        "loaded model answers the same, but a new fit of it takes 5 folds.",
        stacklevel=4,
    )
    return None


def _stored_calibrator(calibrator: Any, arrays: Arrays) -> dict[str, float]:
    from puforest.calibration import Sigmoid

    if isinstance(calibrator, Sigmoid):
        return {"slope": calibrator.slope, "intercept": calibrator.intercept}
    arrays[SCORES] = calibrator.X_thresholds_
    arrays[PROBABILITIES] = calibrator.y_thresholds_
    return {}


def restored_calibration(stored: Fields, arrays: Arrays, fitted: PUClassifier) -> Any:
    """The calibrated classifier around its fitted estimator."""
    from puforest.calibration import METHODS, PUCalibratedClassifier

    template = stored.optional_fields("estimator")
    estimator = fitted
    if template is not None:
        estimator_class = CLASSES[template.choice("class", CLASSES)]
        params = restored_parameters(estimator_class, template.fields("parameters"))
        template.finish()
        estimator = estimator_class(**params)
    scenario = stored.take("scenario")
    model = PUCalibratedClassifier(
        estimator,
        method=stored.choice("method", METHODS),
        cv=_restored_folds(stored.take("cv")),
        prior=checked("prior", stored.take("prior")),
        scenario=None if scenario is None else checked("scenario", scenario),
    )
    model.calibrator_ = _restored_calibrator(stored.fields("calibrator"), arrays)
    model.estimator_ = fitted
    model.classes_ = fitted.classes_
    model.prior_ = stored.number("fitted_prior", check.TINY, BELOW_ONE)
    model.scenario_ = stored.choice("fitted_scenario", SCENARIOS)
    for name in ("n_features_in_", "feature_names_in_"):
        if hasattr(fitted, name):
            setattr(model, name, getattr(fitted, name))
    stored.finish()
    return model


def _restored_folds(cv: Any) -> Any:
    known = cv is None or cv in ("oob", "prefit") or (is_integer(cv) and 2 <= cv <= 2**31)
    ensure(known, f"calibration.cv is {short_repr(cv)}")
    return cv


def _restored_calibrator(stored: Fields, arrays: Arrays) -> Any:
    from sklearn.isotonic import IsotonicRegression

    from puforest.calibration import Sigmoid

    score, probability = arrays.pop(SCORES, None), arrays.pop(PROBABILITIES, None)
    if score is None and probability is None:
        numbers = stored.numbers()
        ensure(set(numbers) == {"slope", "intercept"}, "a sigmoid is a slope and an intercept")
        return Sigmoid(**numbers)
    stored.finish()
    if score is None or probability is None or len(score) != len(probability) or not len(score):
        raise ValueError(f"{SCORES} and {PROBABILITIES} do not go together")
    ensure(score.dtype == probability.dtype == np.float64, f"{SCORES} are not of type float64")
    ensure(bool(np.isfinite(score).all()), f"{SCORES} are not finite")
    within = probability.min() >= 0 and probability.max() <= 1
    ensure(bool(within), f"{PROBABILITIES} are not between 0 and 1")
    # A monotone step function is its own isotonic regression.
    regression = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip")
    regression.fit(score, probability)
    same = np.array_equal(regression.X_thresholds_, score)
    same &= np.array_equal(regression.y_thresholds_, probability)
    ensure(bool(same), f"{SCORES} and {PROBABILITIES} do not ascend")
    return regression
