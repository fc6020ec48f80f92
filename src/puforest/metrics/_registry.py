"""Registry of the metrics, by name."""

from types import MappingProxyType

from puforest.metrics._metric import Metric
from puforest.metrics.calibration import CALIBRATION_ERROR
from puforest.metrics.classification import (
    ACCURACY,
    BALANCED_ACCURACY,
    F1,
    FALSE_POSITIVE_RATE,
    LEE_LIU,
    PRECISION,
    RECALL,
)
from puforest.metrics.probability import BRIER, LOG_LOSS, RISK
from puforest.metrics.ranking import AVERAGE_PRECISION, ROC_AUC

METRICS = MappingProxyType(
    {
        metric.name: metric
        for metric in (
            PRECISION,
            RECALL,
            F1,
            FALSE_POSITIVE_RATE,
            ACCURACY,
            BALANCED_ACCURACY,
            LEE_LIU,
            ROC_AUC,
            AVERAGE_PRECISION,
            BRIER,
            LOG_LOSS,
            CALIBRATION_ERROR,
            RISK,
        )
    }
)


def find_metric(name: str, parameter: str = "metric") -> Metric:
    """Get a metric by its name, with or without the prefix "pu_"."""
    for known in (name, f"pu_{name}"):
        if known in METRICS:
            return METRICS[known]
    raise ValueError(f"{parameter} must be one of {sorted(METRICS)}, got {name!r}")
