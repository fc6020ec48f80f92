"""The risk of a forest, judged by the rows that its trees have not seen."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from puforest import _validation as check
from puforest._duplicate_rows import labeled_duplicates
from puforest._sample import PUSample, pu_sample
from puforest.risk import LOSSES, loss_value

__all__ = ["OutOfBagRisk", "oob_risk"]


@dataclass(frozen=True)
class OutOfBagRisk:
    """A risk and how sure it is.

    Attributes
    ----------
    value : float
        The estimate. With the zero-one loss it is the error rate.
    standard_error : float
        Its standard error, the prior taken as known.
    n_labeled, n_unlabeled : int
        Rows that it rests on.
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
) -> OutOfBagRisk:
    """Judge a forest without folds: each row by the trees that have not seen it.

    Labeled rows that stand among the unlabeled ones again bias it: trees have seen one copy
    while they judge the other. Use folds with ``group_copies=True`` then.

    Parameters
    ----------
    forest : PUExtraTreesClassifier or PURandomForestClassifier
        Fitted with ``oob_score=True``.
    y : array-like of shape (n_samples,)
        Labels of the rows it was fitted to, in their order.
    X : array-like of shape (n_samples, n_features), optional
        Those rows. They are only searched for copies of labeled rows, to warn of them.
    loss : str, default="zero-one"
        A key of `puforest.risk.LOSSES`; the score is the mean vote, from -1 to 1.
    risk : {"nnpu", "upu"} or None, default=None
        The estimate; None is that of the forest.
    prior : float or None, default=None
        Share of positives in the population; None is that of the forest. The votes are those
        under the prior of the fit in any case.
    scenario : {"case-control", "single-training-set"} or None, default=None
        How the rows came about; None is that of the forest.
    sample_weight, propensity : array-like of shape (n_samples,), optional
        As given to ``fit``.

    Returns
    -------
    OutOfBagRisk
        The risk with its standard error.

    Examples
    --------
    >>> import numpy as np
    >>> from puforest import PURandomForestClassifier
    >>> from puforest.model_selection import oob_risk
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 2))
    >>> X[:200] += 2  # the positives: a hundred labeled, a hundred among the unlabeled
    >>> y = np.repeat([1, 0], [100, 300])
    >>> forest = PURandomForestClassifier(prior=1 / 3, oob_score=True, random_state=0).fit(X, y)
    >>> judged = oob_risk(forest, y)
    >>> bool(np.isclose(judged.value, forest.oob_risk_)), judged.standard_error < 0.1
    (True, True)
    """
    decision = forest.oob_decision_function_
    chosen = forest._record.risk if risk is None else risk
    check.one_of("loss", loss, LOSSES)
    if chosen == "pn":
        raise ValueError(
            "risk='pn' takes the rows as fully labeled: read forest.oob_risk_, or compare "
            "forest.oob_decision_function_ with y by scikit-learn's metrics"
        )
    check.one_of("risk", chosen, ("nnpu", "upu"))
    sample = pu_sample(
        y,
        scenario=forest._record.scenario if scenario is None else scenario,
        sample_weight=sample_weight,
        propensity=propensity,
    )
    if len(sample) != len(decision):
        raise ValueError(
            f"y has {len(sample)} rows, but the forest was fitted to {len(decision)}: give the "
            "labels of the fit"
        )
    if X is not None:
        _warn_of_copies(X, sample.labeled)
    pi = sample.class_prior(forest.prior_ if prior is None else prior)
    seen = np.isfinite(decision)
    judged, score = among(sample, seen), decision[seen]
    if loss == "zero-one":
        # A tie is a vote for the negative class, as `predict` has it.
        score = np.where(score > 0, 1.0, -1.0)
    as_positive, as_negative = (loss_value(sign * score, loss=loss) for sign in (1, -1))
    of_positives = pi * judged.of_positives(as_positive)
    of_negatives = judged.of_population(as_negative) - pi * judged.of_positives(as_negative)
    return OutOfBagRisk(
        value=of_positives + (max(0.0, of_negatives) if chosen == "nnpu" else of_negatives),
        standard_error=judged.standard_error(pi * (as_positive - as_negative), as_negative),
        n_labeled=int(np.count_nonzero(judged.labeled)),
        n_unlabeled=int(np.count_nonzero(~judged.labeled)),
    )


def among(sample: PUSample, rows: NDArray[np.bool_]) -> PUSample:
    """The part of a sample that can be judged, each group with the weight of its whole."""
    positive, population = np.where(rows, sample.positive, 0), np.where(rows, sample.population, 0)
    for group, name in ((sample.labeled, "labeled"), (~sample.labeled, "unlabeled")):
        whole = sample.population[group].sum()
        if not (positive if name == "labeled" else population)[group].any():
            raise ValueError(
                f"no {name} row is out of bag in any tree: fit the forest with bootstrap=True, or "
                "with max_labeled and max_unlabeled, and with more trees"
            )
        if whole > 0:
            population[group] *= whole / population[group].sum()
    return PUSample(
        sample.labeled[rows],
        positive[rows] / positive.sum(),
        population[rows],
        sample.scenario,
    )


def _warn_of_copies(X: Any, labeled: NDArray[np.bool_]) -> None:
    copies = labeled_duplicates(X, labeled)
    if copies:
        warnings.warn(
            f"{copies} of {labeled.sum()} labeled rows stand among the unlabeled ones again: "
            "trees have seen one copy while they judge the other, which biases the out-of-bag "
            "risk. Remove the copies, or cross-validate with "
            "PUStratifiedKFold(group_copies=True).",
            stacklevel=3,
        )
