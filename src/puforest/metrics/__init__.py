"""Metrics for positive and unlabeled data, estimated without any known negatives.

Every metric takes PU labels (the larger value marks labeled positives), predictions or scores, the
class prior and the sampling scenario of the data. Evaluate on held-out rows.
"""

from puforest.metrics._metric import PriorMismatchWarning
from puforest.metrics.calibration import pu_calibration_error, pu_reliability_curve
from puforest.metrics.classification import (
    lee_liu_score,
    pu_accuracy_score,
    pu_balanced_accuracy_score,
    pu_f1_score,
    pu_false_positive_rate,
    pu_precision_score,
    pu_recall_score,
)
from puforest.metrics.gains import GainsCurve, expected_gains, gains_curve
from puforest.metrics.intervals import Interval, pu_interval
from puforest.metrics.probability import pu_brier_score, pu_log_loss, pu_risk_score
from puforest.metrics.ranking import (
    pu_average_precision_score,
    pu_precision_recall_curve,
    pu_roc_auc_score,
    pu_roc_curve,
)
from puforest.metrics.report import ClassificationReport, pu_classification_report
from puforest.metrics.scorers import PUScorer, get_scorer, get_scorer_names, pu_scorer
from puforest.metrics.trivial import Triviality, detect_trivial

__all__ = [
    "ClassificationReport",
    "GainsCurve",
    "Interval",
    "PUScorer",
    "PriorMismatchWarning",
    "Triviality",
    "detect_trivial",
    "expected_gains",
    "gains_curve",
    "get_scorer",
    "get_scorer_names",
    "lee_liu_score",
    "pu_accuracy_score",
    "pu_average_precision_score",
    "pu_balanced_accuracy_score",
    "pu_brier_score",
    "pu_calibration_error",
    "pu_classification_report",
    "pu_f1_score",
    "pu_false_positive_rate",
    "pu_interval",
    "pu_log_loss",
    "pu_precision_recall_curve",
    "pu_precision_score",
    "pu_recall_score",
    "pu_reliability_curve",
    "pu_risk_score",
    "pu_roc_auc_score",
    "pu_roc_curve",
    "pu_scorer",
]
