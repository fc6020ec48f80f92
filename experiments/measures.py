"""Measures of a fitted model on test rows with known classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, f1_score, roc_auc_score

BINS = 10
FLOOR_DRAWS = 100


def scores(model: Any, X: Any) -> np.ndarray | None:
    """Return scores that increase with the probability of being positive, if the model has any."""
    if hasattr(model, "decision_function"):
        return np.asarray(model.decision_function(X))
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(X)[:, 1])
    return None


def cut_at_prior(score: np.ndarray, prior: float) -> np.ndarray:
    """Predict the rows with the highest scores as positive, about a fraction `prior` of them.

    Rows with the same score get the same prediction.
    """
    threshold = np.quantile(score, 1 - prior)
    return min((score > threshold, score >= threshold), key=lambda p: abs(p.mean() - prior))


def precision_at_n(y: np.ndarray, score: np.ndarray) -> float:
    """Fraction of positives among the n highest scores, where n is the number of positives.

    Of the rows that tie with the last one, the expected number of positives is counted.
    """
    n = int(y.sum())
    last = np.sort(score)[-n]
    above, tied = score > last, score == last
    return float((y[above].sum() + (n - above.sum()) * y[tied].mean()) / n)


def calibration_error(y: np.ndarray, probability: np.ndarray) -> float:
    """Mean difference between predicted and observed fractions of positives.

    Rows are sorted by their probability and divided into ten bins of the same size.
    """
    order = np.argsort(probability, kind="stable")
    bins = np.array_split(order, BINS)
    return float(np.mean([abs(probability[b].mean() - y[b].mean()) for b in bins if len(b)]))


def calibration_floor(probability: np.ndarray) -> float:
    """Mean calibration error if the probabilities are exact, which is due to the number of rows.

    Classes are drawn from the probabilities.
    """
    rng = np.random.default_rng(0)
    drawn = (rng.random(len(probability)) < probability for _ in range(FLOOR_DRAWS))
    return float(np.mean([calibration_error(y, probability) for y in drawn]))


def of_ranking(y: np.ndarray, score: np.ndarray) -> dict[str, float]:
    return {"auc": roc_auc_score(y, score), "precision_at_n": precision_at_n(y, score)}


def of_predictions(y: np.ndarray, predicted: np.ndarray) -> dict[str, float]:
    accuracy = accuracy_score(y, predicted)
    return {
        "accuracy": accuracy,
        "f1": f1_score(y, predicted, zero_division=0.0),
        "test_risk": 1 - accuracy,
    }
