"""Contents of a report, section by section."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from puforest import _validation as check
from puforest._confidence import CONFIDENCE
from puforest._encoded import EncodedTable
from puforest._unwrap import known_prior_estimate
from puforest.diagnostics import ScarTest, scar_test
from puforest.diagnostics._scar import MIN_ROWS
from puforest.metrics._prior import MetricPrior
from puforest.prior import PriorEstimate, estimate_prior
from puforest.report import _model_part as of_model
from puforest.report import _quality as of_quality
from puforest.report._baseline import baseline_part, can_have_baseline
from puforest.report._caveats import caveats
from puforest.report._checked import check_estimates, checked_part
from puforest.report._columns import column_part, missing_features
from puforest.report._prior import prior_part, sensitivity_part
from puforest.report._rows import HeldOutScores, LabeledRows
from puforest.report._subject import Subject
from puforest.report._trees import tree_part

MAX_SCAR_ROWS = 2000


@dataclass(frozen=True)
class Prior:
    """The prior of the model, and an estimate to compare it with.

    Attributes
    ----------
    value : float
        Prior that metrics use: that of the model, unless checked rows yield a better one.
    estimate : PriorEstimate or None
        Estimate from data.
    source : {"fit", "given", "check", "checked"}
        Origin of the prior: estimated by the fit; given, with or without an estimate; given, with
        an estimate from the rows of the report; or estimated from the checked rows of the report.
    """

    value: float
    estimate: PriorEstimate | None
    source: str

    def for_metrics(self, rows: LabeledRows) -> MetricPrior:
        """The prior of the metrics, with its interval; one given as a number is exact."""
        if self.estimate is None or self.source == "check":
            return MetricPrior(self.value)
        return MetricPrior.of_estimate(rows.sample, self.estimate, self.value)


def find_prior(
    subject: Subject,
    given: PriorEstimate | None,
    rows: LabeledRows | None,
    n_jobs: int | None,
    rng: np.random.RandomState,
) -> Prior:
    if given is not None:
        return Prior(subject.prior, given, "given")
    estimate = known_prior_estimate(subject.model)
    if estimate is not None:
        parameter = subject.forest._record.parameters["prior"]
        return Prior(subject.prior, estimate, "fit" if parameter is None else "given")
    # Methods need more than a few rows, and propensities are more informative than any of them.
    if rows is None or rows.propensity is not None or _smaller_group(rows) < MIN_ROWS:
        return Prior(subject.prior, None, "given")
    estimate = estimate_prior(
        rows.X,
        rows.y,
        scenario=rows.sample.scenario,
        sample_weight=rows.weight,
        n_jobs=n_jobs,
        random_state=rng,
    )
    return Prior(subject.prior, estimate, "check")


def collect(
    subject: Subject,
    names: list[str],
    X: EncodedTable | None,
    rows: LabeledRows | None,
    held_out: HeldOutScores | None,
    prior: Prior,
    *,
    source: dict[str, Any] | None,
    unknown: dict[int, int],
    n_simulations: int,
    n_jobs: int | None,
    rng: np.random.RandomState,
) -> dict[str, Any]:
    """Collect the data of the page; sections without data are absent."""
    missing: set[int] = set() if X is None else missing_features(X)
    scores = None if held_out is None else held_out.scores
    with _warnings_as_notes() as check_notes:
        from_checks = check_estimates(rows, scores, subject.threshold)
    of_labels = prior
    if from_checks is not None and from_checks.prior is not None:
        from_checks = from_checks.with_prior_of_fit(subject.forest._record)
        checked = from_checks.prior
        if checked is not None and checked is not prior.estimate:
            prior = Prior(checked.value, checked, "checked")
    data: dict[str, Any] = {
        "model": of_model.model_part(subject),
        "prior": prior_part(prior.value, prior.estimate, prior.source)
        | {"of_model": subject.prior},
        "threshold": of_model.threshold_part(subject),
        "importances": of_model.importance_part(subject.forest, names),
        "columns": column_part(subject, names, X, missing, unknown),
        "trees": tree_part(subject.forest, names, missing),
        "parameters": of_model.parameter_part(subject),
        "versions": of_model.version_part(),
        "source": source,
    }
    if subject.forest._record.comparison is not None:
        data["candidates"] = of_model.candidate_part(subject.forest._record.comparison)
    if X is not None:
        weight = None if rows is None else rows.sample.population
        data["dependence"] = of_model.dependence_part(subject, X, names, weight, rng)
    quality = scar = mismatch = None
    if rows is not None and held_out is not None:
        assumed = prior.for_metrics(rows)
        quality = of_quality.classification(rows, held_out.scores, subject.threshold, assumed)
        data["rows"] = _row_part(subject, rows, held_out)
        data["quality"] = of_quality.metric_table(quality)
        data["quality_notes"] = quality.notes
        data["range_note"] = quality.range_note
        scored = (rows, held_out.scores)
        mismatch = of_quality.clear_mismatch(*scored, prior.value)
        data["thresholds"] = of_quality.threshold_table(*scored, subject.threshold, assumed)
        data["histogram"] = of_quality.score_histogram(*scored, prior.value)
        data["reliability"] = of_quality.reliability(*scored, assumed)
        are_probabilities = subject.parts.has_probabilities and prior.value == subject.prior
        data["gains"] = of_quality.gains(*scored, assumed, are_probabilities=are_probabilities)
        if _smaller_group(rows) >= MIN_ROWS and can_have_baseline(rows):
            data["baseline"] = baseline_part(rows, quality, assumed, n_jobs, rng)
        if not subject.calibrated:  # a calibration map is for one prior
            with _warnings_as_notes() as notes:
                data["sensitivity"] = sensitivity_part(
                    held_out, rows, subject.prior, prior.estimate, rng
                )
            data["sensitivity"]["notes"] = notes
        with _warnings_as_notes() as notes:
            scar = _scar(rows, names, prior.value, n_simulations, n_jobs, rng)
        data["scar"] = _scar_part(scar, notes, rows)
    data["checked"] = checked_part(
        subject.forest._record, rows, from_checks, quality, of_labels.estimate, check_notes
    )
    data["caveats"] = caveats(
        prior=subject.prior,
        estimate=prior.estimate,
        source=prior.source,
        quality=quality,
        mismatch=mismatch,
        scored_by=None if held_out is None else held_out.source,
        sensitivity=data.get("sensitivity"),
        scar=scar,
        from_checks=from_checks,
    )
    return data


def _smaller_group(rows: LabeledRows) -> int:
    """Number of rows in the smaller group, labeled or unlabeled."""
    labeled = rows.sample.labeled
    return int(min(np.count_nonzero(labeled), np.count_nonzero(~labeled)))


def _row_part(subject: Subject, rows: LabeledRows, held_out: HeldOutScores) -> dict[str, Any]:
    labeled = rows.sample.labeled
    return {
        "n": len(labeled),
        "labeled": int(np.count_nonzero(labeled)),
        "unlabeled": int(np.count_nonzero(~labeled)),
        "weighted": rows.weight is not None,
        "propensity": rows.propensity is not None,
        "scored_by": held_out.source,
        "folds": len(held_out.parts),
        "threshold": subject.threshold,
        "confidence": CONFIDENCE,
    }


def _scar(
    rows: LabeledRows,
    names: list[str],
    prior: float,
    n_simulations: int,
    n_jobs: int | None,
    rng: np.random.RandomState,
) -> ScarTest | None:
    """Test whether positives are labeled at random, if applicable."""
    all_labeled = prior - rows.sample.labeled_fraction < 1e-6
    weighted = rows.weight is not None or rows.propensity is not None
    if n_simulations == 0 or weighted or all_labeled or _smaller_group(rows) < MIN_ROWS:
        return None
    found = scar_test(
        rows.X,
        rows.y,
        prior=prior,
        scenario=rows.sample.scenario,
        n_simulations=n_simulations,
        max_samples=MAX_SCAR_ROWS,
        n_jobs=n_jobs,
        random_state=rng,
    )
    name_of = dict(zip(check.column_names(None, len(names)), names, strict=True))
    return replace(found, features=[name_of[feature] for feature in found.features])


def _scar_part(scar: ScarTest | None, notes: list[str], rows: LabeledRows) -> dict[str, Any]:
    if scar is None:
        reason = (
            "Not tested: propensities were given, so positives are not labeled at random."
            if rows.propensity is not None
            else "Not tested: disabled, not available with sample weights, or too few rows."
        )
        return {"explanation": reason}
    return {
        "explanation": scar.explanation,
        "p_value": scar.p_value,
        "statistic": scar.statistic,
        "simulated": np.sort(scar.simulated),
        "features": scar.features,
        "notes": notes,
    }


@contextmanager
def _warnings_as_notes() -> Iterator[list[str]]:
    """Collect user warnings as notes for the page; other warnings are passed on."""
    notes: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield notes
    for warning in caught:
        if issubclass(warning.category, UserWarning):
            if str(warning.message) not in notes:
                notes.append(str(warning.message))
        else:
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )
