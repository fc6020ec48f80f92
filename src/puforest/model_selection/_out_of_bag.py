"""Risk of a forest estimated from its out-of-bag votes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from puforest import _validation as check
from puforest._duplicate_rows import labeled_duplicates
from puforest._masses import group_masses
from puforest._out_of_bag import out_of_bag_risk, out_of_bag_sample
from puforest._sample import pu_sample
from puforest._training_rows import training_rows
from puforest._unwrap import known_prior, uncalibrated
from puforest._warnings import warn
from puforest.metrics._metric import EvaluationSet
from puforest.metrics.probability import RISK
from puforest.risk import LOSSES

__all__ = ["OutOfBagRisk", "oob_risk"]


@dataclass(frozen=True)
class OutOfBagRisk:
    """Out-of-bag risk with its standard error.

    Attributes
    ----------
    value : float
        Estimated risk. With the zero-one loss it is the error rate.
    standard_error : float
        Standard error for a known prior.
    n_labeled, n_unlabeled : int
        Number of out-of-bag rows.
    """

    value: float
    standard_error: float
    n_labeled: int
    n_unlabeled: int


def oob_risk(
    forest: Any,
    y: ArrayLike,
    *,
    X: check.MatrixLike | None = None,
    loss: str = "zero-one",
    risk: str | None = None,
    prior: float | None = None,
    scenario: str | None = None,
    sample_weight: ArrayLike | None = None,
    propensity: ArrayLike | None = None,
    checked: ArrayLike | None = None,
    check_probability: ArrayLike | None = None,
) -> OutOfBagRisk:
    """Estimate the risk of a forest from out-of-bag votes, without cross-validation.

    Labeled rows that also appear in the unlabeled set bias the estimate, except that of a
    `PUForestClassifier`: trees that were grown on one of the duplicates vote on the other. In that
    case, cross-validate with ``group_duplicates=True``.

    Parameters
    ----------
    forest : PUForestClassifier, PUExtraTreesClassifier, PURandomForestClassifier or Pipeline
        Forest fitted with ``oob_score=True`` (not required for `PUForestClassifier`), or a pipeline
        that ends in one.
    y : array-like of shape (n_samples,)
        Labels of the training rows, in the order of the fit.
    X : array-like of shape (n_samples, n_features), optional
        Training rows. They are only used to warn of labeled rows that also appear in the unlabeled
        set.
    loss : str, default="zero-one"
        Loss of the mean vote, from -1 to 1; a key of `puforest.risk.LOSSES`. For a
        `PUForestClassifier`, the zero-one loss is that of its predictions, and other losses are
        those of twice the probability minus 1.
    risk : {"nnpu", "upu"} or None, default=None
        Risk estimator; that of the fit by default.
    prior : float or None, default=None
        Class prior to evaluate with; that of the fit by default. The votes do not depend on it.
    scenario : {"case-control", "single-training-set"} or None, default=None
        Sampling scenario; that of the fit by default.
    sample_weight, propensity : array-like of shape (n_samples,), optional
        Sample weights and propensities, as passed to ``fit``.
    checked, check_probability : array-like of shape (n_samples,), optional
        Verdicts on unlabeled rows and the probabilities of checking them, as passed to ``fit``.

    Returns
    -------
    OutOfBagRisk
        Risk with its standard error.

    Examples
    --------
    >>> import numpy as np
    >>> from puforest import PURandomForestClassifier
    >>> from puforest.model_selection import oob_risk
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 2))
    >>> X[:200] += 2  # positives: 100 labeled, 100 unlabeled
    >>> y = np.repeat([1, 0], [100, 300])
    >>> forest = PURandomForestClassifier(prior=1 / 3, oob_score=True, random_state=0).fit(X, y)
    >>> found = oob_risk(forest, y)
    >>> found.value == forest.oob_risk_, found.standard_error < 0.1
    (True, True)
    """
    found = uncalibrated("forest", forest, "oob_risk evaluates the votes of a forest")
    trees = found.trees
    decision = trees.oob_decision_function_
    risk = trees._record.risk if risk is None else risk
    check.one_of("loss", loss, LOSSES)
    if risk == "pn":
        raise ValueError(
            "risk='pn' treats the data as fully labeled: read forest.oob_risk_, or compare "
            "forest.oob_decision_function_ with y using scikit-learn's metrics"
        )
    check.one_of("risk", risk, ("nnpu", "upu"))
    given = {
        "sample_weight": sample_weight,
        "propensity": propensity,
        "checked": checked,
        "check_probability": check_probability,
    }
    scenario = trees._record.scenario if scenario is None else scenario
    sample = pu_sample(y, scenario=scenario, **given)
    if len(sample) != len(decision):
        raise ValueError(
            f"y has {len(sample)} rows, but the forest was fitted to {len(decision)}: pass the "
            "labels of the fit"
        )
    if X is not None and trees._record.comparison is None:  # duplicates share a fold otherwise
        _warn_of_duplicates(found.rows(X), sample.labeled)
    prior = sample.class_prior(known_prior(trees) if prior is None else prior)
    out_of_bag = np.isfinite(decision)
    held_out = out_of_bag_sample(sample, out_of_bag)
    # A tie is a vote for the negative class, as in `predict`.
    scores = np.where(decision > 0, 1.0, -1.0)
    if loss != "zero-one":
        shift = 0.0 if trees._record.calibrator is None else 2 * trees.threshold_ - 1
        scores = decision + shift
    data = EvaluationSet(held_out, scores[out_of_bag], prior)
    if loss == "zero-one":
        rows = training_rows(sample.labeled, **given, risk=risk)
        masses = group_masses(
            risk=risk,
            scenario=sample.scenario,
            prior=prior,
            labeled=rows.labeled_weight,
            unlabeled=rows.unlabeled_weight,
        )
        value = out_of_bag_risk(decision, rows, masses, risk)
    else:
        value = data.estimate(RISK, risk=risk, loss=loss).value
    return OutOfBagRisk(
        value=value,
        standard_error=data.center_and_error(RISK, risk="upu", loss=loss)[1],
        n_labeled=int(np.count_nonzero(held_out.labeled)),
        n_unlabeled=int(np.count_nonzero(~held_out.labeled)),
    )


def _warn_of_duplicates(X: Any, labeled: NDArray[np.bool_]) -> None:
    duplicates = labeled_duplicates(X, labeled)
    if duplicates:
        warn(
            f"{duplicates} of {labeled.sum()} labeled rows also appear in the unlabeled set: trees "
            "grown on one of the duplicates vote on the other, which biases the out-of-bag risk. "
            "Remove the duplicates, or cross-validate with "
            "PUStratifiedKFold(group_duplicates=True)."
        )
