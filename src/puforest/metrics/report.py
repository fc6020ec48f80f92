"""Classification report: all metrics with intervals in one table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from puforest._confidence import CONFIDENCE
from puforest._sample import pu_sample
from puforest._warnings import warn
from puforest.metrics._docs import documented
from puforest.metrics._metric import EvaluationSet, PriorMismatchWarning, read_values
from puforest.metrics._registry import METRICS
from puforest.metrics.intervals import Interval, IntervalSettings, estimate_interval
from puforest.metrics.trivial import Triviality, triviality

__all__ = ["ClassificationReport", "pu_classification_report"]


@dataclass(frozen=True)
class ClassificationReport:
    """Metrics with intervals; prints as a table.

    Attributes
    ----------
    metrics : dict of str to Interval
        Metrics by name.
    trivial : Triviality
        Result of `detect_trivial`.
    notes : tuple of str
        Warnings about individual metrics.
    prior : float
        Class prior.
    scenario : str
        Sampling scenario.
    n_labeled, n_unlabeled : int
        Number of labeled and unlabeled rows.
    """

    metrics: Mapping[str, Interval]
    trivial: Triviality
    notes: tuple[str, ...]
    prior: float
    scenario: str
    n_labeled: int
    n_unlabeled: int

    def as_dict(self) -> dict[str, Any]:
        """Return the report as dictionaries, numbers and strings."""
        return asdict(self)

    def __str__(self) -> str:
        width = max(len(name) for name in self.metrics)
        first = next(iter(self.metrics.values()))
        bounds = f"{100 * first.confidence:g}% interval"
        lines = [
            f"{self.n_labeled} labeled and {self.n_unlabeled} unlabeled rows, "
            f"scenario {self.scenario}, prior {self.prior:g}",
            "",
            f"{'':{width}}  {'value':>7}  {bounds:>16}",
        ]
        lines += [
            f"{name:{width}}  {i.value:7.4f}  {f'{i.low:.4f} to {i.high:.4f}':>16}"
            for name, i in self.metrics.items()
        ]
        remarks = [*([self.trivial.message] if self.trivial else []), *self.notes]
        if remarks:
            lines += ["", *(f"! {remark}" for remark in remarks)]
        return "\n".join(lines)


@documented
def pu_classification_report(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    y_score: ArrayLike | None = None,
    *,
    prior: float,
    scenario: str = "case-control",
    sample_weight: ArrayLike | None = None,
    propensity: ArrayLike | None = None,
    checked: ArrayLike | None = None,
    check_probability: ArrayLike | None = None,
    confidence: float = CONFIDENCE,
    method: str = "delta",
    prior_interval: tuple[float, float] | None = None,
    n_resamples: int = 999,
    random_state: int | np.random.RandomState | None = None,
) -> ClassificationReport:
    """Compute all metrics with intervals, and check for a trivial classifier.

    The intervals treat the prior as known unless `prior_interval` is given. Clipped values are
    listed in the notes, with a single `PriorMismatchWarning`.

    Parameters
    ----------
    %y_true, y_pred%
    y_score : array-like of shape (n_samples,), optional
        Scores for the ranking metrics. If all are within [0, 1], they also serve as probabilities
        for the Brier score, the log loss and the calibration error.
    %prior, scenario, sample_weight, propensity, checked, check_probability%
    %confidence, method, prior_interval, n_resamples%
    %random_state%

    Returns
    -------
    ClassificationReport

    Examples
    --------
    >>> import numpy as np
    >>> from puforest.metrics import pu_classification_report
    >>> y_true = np.repeat([1, 0], [100, 400])
    >>> y_pred = np.concatenate([np.repeat([1, 0], [80, 20]), np.repeat([1, 0], [120, 280])])
    >>> print(pu_classification_report(y_true, y_pred, prior=0.3))
    100 labeled and 400 unlabeled rows, scenario case-control, prior 0.3
    <BLANKLINE>
                              value      95% interval
    pu_precision             0.8000  0.6500 to 0.9330
    pu_recall                0.8000  0.7156 to 0.8726
    pu_f1                    0.8000  0.6946 to 0.8910
    pu_false_positive_rate   0.0857  0.0173 to 0.1620
    pu_accuracy              0.8800  0.8105 to 0.9405
    pu_balanced_accuracy     0.8571  0.7877 to 0.9168
    lee_liu                  2.1333  1.5766 to 2.6136
    """
    sample = pu_sample(
        y_true,
        scenario=scenario,
        sample_weight=sample_weight,
        propensity=propensity,
        checked=checked,
        check_probability=check_probability,
    )
    settings = IntervalSettings(confidence, method, prior_interval, n_resamples, random_state)
    known = sample.class_prior(prior)
    values = {"prediction": read_values("prediction", y_true, y_pred)}
    if y_score is not None:
        values["score"] = read_values("score", y_true, y_score)
        if ((values["score"] >= 0) & (values["score"] <= 1)).all():
            values["probability"] = values["score"]
    metrics, notes = {}, []
    mismatch = False
    for metric in METRICS.values():
        if metric.reads in values:
            data = EvaluationSet(sample, values[metric.reads], known)
            found, metrics[metric.name] = estimate_interval(metric, data, settings)
            if found.warning is not None:
                notes.append(str(found.warning))
                mismatch |= isinstance(found.warning, PriorMismatchWarning)
    if mismatch:
        warn(PriorMismatchWarning("\n".join(notes)))
    return ClassificationReport(
        metrics,
        triviality(EvaluationSet(sample, values["prediction"], known)),
        tuple(notes),
        known,
        scenario,
        int(sample.labeled.sum()),
        int((~sample.labeled).sum()),
    )
