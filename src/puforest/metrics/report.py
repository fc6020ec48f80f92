"""Classification report: all metrics with intervals in one table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from puforest._confidence import CONFIDENCE
from puforest._sample import PUSample, pu_sample
from puforest._warnings import warn
from puforest.metrics._docs import documented
from puforest.metrics._metric import Array, EvaluationSet, PriorMismatchWarning, read_values
from puforest.metrics._prior import MetricPrior, at_most
from puforest.metrics._registry import METRICS
from puforest.metrics.intervals import Interval, IntervalSettings, estimate_interval
from puforest.metrics.trivial import Triviality, triviality
from puforest.prior import PriorEstimate

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
        Class prior that the values are computed for.
    prior_bound : float or None
        Upper limit of the prior if the data only bounds it. Metrics that depend on the prior are
        then ranges.
    prior_reason : str
        Reason why there is only a bound.
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
    prior_bound: float | None = None
    prior_reason: str = ""

    @property
    def prior_text(self) -> str:
        """The prior in words: "at most" if the data only bounds it."""
        if self.prior_bound is None:
            return f"{self.prior:g}"
        return at_most(self.prior_bound)

    @property
    def range_note(self) -> str:
        """Explanation of metrics that are ranges; empty if there are none."""
        if self.prior_bound is None:
            return ""
        note = (
            f"The prior is only bounded: it is {self.prior_text}. Metrics that depend on it are "
            "ranges over all possible priors."
        )
        return f"{note} {self.prior_reason}".rstrip()

    def as_dict(self) -> dict[str, Any]:
        """Return the report as dictionaries, numbers and strings."""
        return asdict(self)

    def __str__(self) -> str:
        width = max(len(name) for name in self.metrics)
        first = next(iter(self.metrics.values()))
        bounds = f"{100 * first.confidence:g}% interval"
        lines = [
            f"{self.n_labeled} labeled and {self.n_unlabeled} unlabeled rows, "
            f"scenario {self.scenario}, prior {self.prior_text}",
            "",
            f"{'':{width}}  {'value':>7}  {bounds:>16}",
        ]
        lines += [
            f"{name:{width}}  {i.value_text:>7}  {i.range_text:>16}"
            for name, i in self.metrics.items()
        ]
        remarks = [*([self.trivial.message] if self.trivial else []), *self.notes]
        if self.range_note:
            remarks.insert(0, self.range_note)
        if remarks:
            lines += ["", *(f"! {remark}" for remark in remarks)]
        return "\n".join(lines)


@documented
def pu_classification_report(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    y_score: ArrayLike | None = None,
    *,
    prior: float | PriorEstimate,
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

    The intervals treat a prior given as a number as known. If it was estimated, pass the
    `PriorEstimate`: the intervals are then unions over its interval, and if it is only an upper
    bound, metrics that depend on the prior are ranges. Clipped values are listed in the notes, with
    a single `PriorMismatchWarning`.

    Parameters
    ----------
    %y_true, y_pred%
    y_score : array-like of shape (n_samples,), optional
        Scores for the ranking metrics. If all are within [0, 1], they also serve as probabilities
        for the Brier score, the log loss and the calibration error.
    prior : float or PriorEstimate
        Class prior: the fraction of positives in the population.
    %scenario, sample_weight, propensity, checked, check_probability%
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
    pu_precision               0.80      0.65 to 0.93
    pu_recall                  0.80      0.72 to 0.87
    pu_f1                      0.80      0.69 to 0.89
    pu_false_positive_rate     0.09      0.02 to 0.16
    pu_accuracy                0.88      0.81 to 0.94
    pu_balanced_accuracy       0.86      0.79 to 0.92
    lee_liu                    2.13      1.58 to 2.61
    """
    sample = pu_sample(
        y_true,
        scenario=scenario,
        sample_weight=sample_weight,
        propensity=propensity,
        checked=checked,
        check_probability=check_probability,
    )
    assumed = MetricPrior.read(sample, prior, prior_interval)
    settings = IntervalSettings.for_prior(assumed, confidence, method, n_resamples, random_state)
    values = {"prediction": read_values("prediction", y_true, y_pred)}
    if y_score is not None:
        values["score"] = read_values("score", y_true, y_score)
        if ((values["score"] >= 0) & (values["score"] <= 1)).all():
            values["probability"] = values["score"]
    report, mismatch = report_of_sample(sample, values, assumed, settings)
    if mismatch:
        warn(PriorMismatchWarning("\n".join(report.notes)))
    return report


def report_of_sample(
    sample: PUSample,
    values: Mapping[str, Array],
    prior: MetricPrior,
    settings: IntervalSettings,
) -> tuple[ClassificationReport, bool]:
    """Compute the metrics for which there are values; also return whether any was out of range.

    `values` are those of the rows by what metrics read: "prediction", "score", "probability".
    """
    metrics, notes = {}, []
    mismatch = False
    for metric in METRICS.values():
        if metric.reads in values:
            data = EvaluationSet(sample, values[metric.reads], prior.value)
            found, metrics[metric.name] = estimate_interval(metric, data, settings)
            if found.warning is not None:
                notes.append(str(found.warning))
                mismatch |= isinstance(found.warning, PriorMismatchWarning)
    report = ClassificationReport(
        metrics,
        triviality(EvaluationSet(sample, values["prediction"], prior.value)),
        tuple(notes),
        prior.value,
        sample.scenario,
        int(sample.labeled.sum()),
        int((~sample.labeled).sum()),
        prior.bound,
        prior.reason,
    )
    return report, mismatch
