"""Conversion of calibrated classifiers to JSON and arrays, and back."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from puforest import _validation as check
from puforest._calibrators import Sigmoid
from puforest._warnings import warn
from puforest.io._estimator import BELOW_ONE, MODULES, estimator_class, is_known
from puforest.io._fields import Fields, ensure, is_integer, short_repr
from puforest.io._parameters import checked, json_value, restored_parameters, stored_parameters
from puforest.io._prior import restored_numbers, stored_numbers, with_evidence
from puforest.scenario import SCENARIOS

# Imported by name when needed: it has a method `save`, and imports this package.
MODULE, NAME = "puforest.calibration", "PUCalibratedClassifier"

SCORES, PROBABILITIES = "calibrator_scores", "calibrator_probabilities"

Arrays = dict[str, NDArray[Any]]


def stored_calibration(model: Any, arrays: Arrays) -> dict[str, Any]:
    """Convert a fitted calibrated classifier, without the trees, and add arrays to `arrays`."""
    record = model._record
    for name, estimator in (("estimator", model.estimator), ("estimator_", record.estimator)):
        if not is_known(estimator):
            raise TypeError(
                f"model files hold calibrated trees and forests of puforest, but {name} is a "
                f"{type(estimator).__qualname__}: save such a model with joblib.dump"
            )
    stored = {
        "method": model.method,
        "cv": _stored_folds(model.cv),
        "prior": json_value("prior", model.prior),
        "scenario": json_value("scenario", model.scenario),
        "fitted_method": record.method,
        "fitted_prior": float(record.prior),
        "fitted_prior_estimate": stored_numbers(record.prior_estimate),
        "fitted_scenario": record.scenario,
        "estimator": None,
        "calibrator": _stored_calibrator(record.calibrator, arrays),
    }
    if model.estimator is not record.estimator:
        stored["estimator"] = {
            "class": type(model.estimator).__name__,
            "parameters": stored_parameters(model.estimator.get_params(deep=False)),
        }
    return stored


def _stored_folds(cv: Any) -> Any:
    if cv is None or isinstance(cv, str) or check.is_integer(cv):
        return json_value("cv", cv)
    warn(
        f"cv is a {type(cv).__name__}, which model files cannot store: it is saved as None. "
        "Predictions of the loaded model are the same, but refitting it uses 5 folds."
    )
    return None


def _stored_calibrator(calibrator: Any, arrays: Arrays) -> dict[str, float]:
    if isinstance(calibrator, Sigmoid):
        return {"slope": calibrator.slope, "intercept": calibrator.intercept}
    arrays[SCORES] = calibrator.X_thresholds_
    arrays[PROBABILITIES] = calibrator.y_thresholds_
    return {}


def restored_calibration(stored: Fields, arrays: Arrays, fitted: Any, version: int) -> Any:
    """Restore the calibrated classifier around its fitted estimator."""
    calibration = import_module(MODULE)

    template = stored.optional_fields("estimator")
    estimator = fitted
    if template is not None:
        kind = estimator_class(template.choice("class", MODULES))
        params = restored_parameters(kind, template.fields("parameters"), version)
        template.finish()
        estimator = kind(**params)
    for scored in (estimator, fitted):
        calibration.require_scores(scored)
    estimate = fitted._record.prior_estimate
    if version > 2:
        given = restored_numbers(stored.optional_fields("fitted_prior_estimate"))
        estimate = with_evidence(given, estimate)
    scenario = stored.take("scenario")
    model = calibration.PUCalibratedClassifier(
        estimator,
        method=stored.choice("method", calibration.METHODS),
        cv=_restored_folds(stored.take("cv")),
        prior=with_evidence(checked("prior", stored.take("prior")), estimate),
        scenario=None if scenario is None else checked("scenario", scenario),
    )
    model._record = calibration.CalibrationRecord(
        estimator=fitted,
        calibrator=_restored_calibrator(stored.fields("calibrator"), arrays),
        method=stored.choice("fitted_method", calibration.METHODS),
        prior=stored.number("fitted_prior", check.TINY, BELOW_ONE),
        prior_estimate=estimate,
        scenario=stored.choice("fitted_scenario", SCENARIOS),
    )
    stored.finish()
    return model


def _restored_folds(cv: Any) -> Any:
    known = cv is None or cv in ("oob", "prefit") or (is_integer(cv) and 2 <= cv <= 2**31)
    ensure(known, f"calibration.cv is {short_repr(cv)}")
    return cv


def _restored_calibrator(stored: Fields, arrays: Arrays) -> Any:
    from sklearn.isotonic import IsotonicRegression

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
