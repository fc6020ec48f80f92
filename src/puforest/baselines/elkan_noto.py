"""Probabilities of the class from probabilities of being labeled."""

from __future__ import annotations

from typing import Any, Self, cast

import numpy as np
from numpy.typing import ArrayLike
from sklearn.model_selection import cross_val_predict
from sklearn.utils.validation import has_fit_parameter

from puforest import _validation as check
from puforest._atomic_fit import atomic_fit
from puforest._prior_estimate import PriorEstimate
from puforest._rows import take_rows
from puforest._sample import PUSample
from puforest.baselines._base import (
    Array,
    PUBaseline,
    label_frequency,
    names_text,
    require_method,
    seeded,
)
from puforest.baselines._docs import documented
from puforest.model_selection._split import pu_cv

__all__ = ["ElkanNotoClassifier"]

VARIANTS = ("classic", "weighted")


@documented
class ElkanNotoClassifier(PUBaseline):
    """Classifier that corrects the probability of being labeled (Elkan and Noto, 2008).

    A classifier of labeled against unlabeled samples learns g(x), the probability of being
    labeled. If every positive is labeled with the same probability c, the probability of the
    class follows from g and c.

    Parameters
    ----------
    estimator : classifier
        Classifier that learns g. It must have ``predict_proba``, preferably well calibrated.
    variant : {"classic", "weighted"}, default="classic"
        "classic" converts g into the probability of the class. "weighted" fits a second classifier
        to the labeled samples and to each unlabeled sample twice: as a positive with weight w, its
        probability of being positive, and as a negative with weight 1 - w.
    prior : float, PriorEstimate or None, default=None
        Class prior, which implies c. None estimates c as the mean of g over the labeled samples,
        which is too low if the classes overlap.
    %scenario%
        It determines the population that probabilities refer to: that of the unlabeled samples, or
        that of all samples.
    %cv, random_state%

    Attributes
    ----------
    %attributes%
        If it is not given, it is implied by c.
    estimator_ : classifier
        The fitted classifier: of g ("classic"), or of the class ("weighted").
    variant_ : str
        Fitted variant.
    label_frequency_ : float
        c, the fraction of the positives in the data that are labeled.

    Notes
    -----
    The probability of the class is ``g / c`` in the data as a whole, and
    ``(1 - c) / c * g / (1 - g)`` among the unlabeled samples. The former is used for a single
    training set, the latter for case-control data. In case-control data, the weights of the
    positives of the weighted variant are multiplied by ``1 - c`` to represent the population.

    References
    ----------
    Elkan and Noto: Learning classifiers from only positive and unlabeled data. KDD 2008.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from puforest.baselines import ElkanNotoClassifier
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(4000) < 0.5
    >>> X = rng.normal(size=(4000, 2)) + 4 * y[:, None]
    >>> labeled = y & (rng.random(4000) < 0.3)
    >>> forest = RandomForestClassifier(20, min_samples_leaf=20, random_state=0)
    >>> model = ElkanNotoClassifier(forest, scenario="single-training-set").fit(X, labeled)
    >>> bool(abs(model.label_frequency_ - 0.3) < 0.03), bool(model.score(X, y) > 0.98)
    (True, True)
    """

    def __init__(
        self,
        estimator: Any,
        *,
        variant: str = "classic",
        prior: float | PriorEstimate | None = None,
        scenario: str = "case-control",
        cv: Any = 5,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.variant = variant
        self.prior = prior
        self.scenario = scenario
        self.cv = cv
        self.random_state = random_state

    @atomic_fit
    @names_text
    @documented
    def fit(self, X: check.MatrixLike, y: ArrayLike) -> Self:
        """Fit the classifier and estimate the label frequency.

        %fit%
        """
        self.variant_ = check.one_of("variant", self.variant, VARIANTS)
        require_method(self.estimator, "predict_proba")
        X, sample, prior = self._read(X, y)
        target = sample.labeled.astype(int)
        estimator = seeded(self.estimator, check.random_state(self.random_state))
        g = np.empty(0)
        if self.variant_ == "weighted" or prior is None:
            g = cross_val_predict(estimator, X, target, cv=pu_cv(self.cv), method="predict_proba")[
                :, 1
            ]
        if prior is None:
            self.label_frequency_ = _mean_of_labeled(g, sample)
            self.prior_ = _implied_prior(sample, self.label_frequency_)
        else:
            self.label_frequency_ = label_frequency(sample, prior)
        if self.variant_ == "classic":
            self.estimator_ = estimator.fit(X, target)
        else:
            self.estimator_ = self._fit_weighted(estimator, X, sample, g)
        return self

    def _fit_weighted(self, estimator: Any, X: Any, sample: PUSample, g: Array) -> Any:
        """Fit the classifier to unlabeled samples as weighted positives and negatives."""
        if not has_fit_parameter(estimator, "sample_weight"):
            raise TypeError(
                f"estimator={self.estimator!r} does not support sample_weight, which "
                "variant='weighted' requires: use another estimator, or variant='classic'"
            )
        labeled, unlabeled = np.flatnonzero(sample.labeled), np.flatnonzero(~sample.labeled)
        w = _among_unlabeled(g[unlabeled], self.label_frequency_)
        population_factor = 1 if sample.labeled_fraction > 0 else 1 - self.label_frequency_
        positive = population_factor * np.concatenate([np.ones(len(labeled)), w])
        rows = np.concatenate([labeled, unlabeled, unlabeled])
        weight = np.concatenate([positive, 1 - w])
        target = np.repeat([1, 0], [len(positive), len(w)])
        seen = weight > 0
        if not (seen & (target == 1)).any():
            raise ValueError(
                "label_frequency_=1 means that there are no positives among the unlabeled samples, "
                "which are the population with scenario='case-control': pass the prior"
            )
        if not (seen & (target == 0)).any():
            raise ValueError(
                f"label_frequency_={self.label_frequency_:.3g} makes every unlabeled sample "
                "positive and leaves no negatives to learn from: pass a smaller prior"
            )
        return estimator.fit(take_rows(X, rows[seen]), target[seen], sample_weight=weight[seen])

    def _positive_probability(self, X: check.MatrixLike) -> Array:
        g = cast(Array, self.estimator_.predict_proba(X)[:, 1])
        if self.variant_ == "weighted":
            return g
        if self.scenario_ == "single-training-set":
            return np.minimum(g / self.label_frequency_, 1)
        return _among_unlabeled(g, self.label_frequency_)


def _mean_of_labeled(g: Array, sample: PUSample) -> float:
    c = min(sample.of_positives(g), 1.0)
    if c == 0:
        raise ValueError(
            "label_frequency_ is estimated as 0: the estimator predicts probability 0 for held-out "
            "labeled samples. Use one with smoother probabilities, or pass the prior."
        )
    return c


def _implied_prior(sample: PUSample, c: float) -> float:
    n_labeled = np.count_nonzero(sample.labeled)
    if sample.scenario == "single-training-set":
        return float(min(n_labeled / (len(sample) * c), 1))
    return float(min(n_labeled / (len(sample) - n_labeled) * (1 - c) / c, 1))


def _among_unlabeled(g: Array, c: float) -> Array:
    """Probability that an unlabeled sample is positive, (1 - c) / c * g / (1 - g), at most 1."""
    positive = (1 - c) * g
    at_most = np.maximum(positive, c * (1 - g))
    return np.divide(positive, at_most, out=np.ones_like(g), where=at_most > 0)
