"""Documentation that several classes share, written once."""

import inspect
from typing import TypeVar

PARAMETERS = {
    "prior": """float or None, default={}
    Share of positives in the population, between 0 and 1. None estimates it from the data
    (`puforest.prior.BBE`) and says so; where ``fit`` gets propensities of a single training
    set, they imply it. With ``risk="pn"``, None is the share of the larger class in ``y``.""",
    "n_estimators": """int, default={}
    Number of trees.""",
    "scenario": """{{"case-control", "single-training-set"}}, default={}
    How the rows came about. "case-control": the labeled rows were collected separately, and
    the unlabeled ones are a sample of the whole population. "single-training-set": all rows
    are one sample of the population, in which some of the positives are labeled. It decides
    the weights of the rows, and what a bootstrap sample is: rows of each group drawn
    separately, or all rows drawn together.""",
    "risk": """{{"nnpu", "upu", "pn"}}, default={}
    Estimate of the risk that splits minimize: the non-negative PU estimate, the unbiased PU
    estimate, or the ordinary empirical risk, which takes the smaller class as negatives.""",
    "loss": """str, default={}
    "quadratic", "logistic", "savage", "sigmoid", "zero-one", "ramp", "hinge", "double-hinge"
    or "exponential". Quadratic is the Gini criterion, logistic the entropy.""",
    "voting": """{{"hard", "soft"}}, default={}
    What a leaf says: "hard" is 1 if it holds more positives than negatives, else 0; "soft" is
    its estimated share of positives. ``predict_proba`` averages over the trees. The two differ
    where leaves hold both classes, so set a limit to the growth of the trees with "soft". It may
    be changed after the fit.""",
    "max_features": """{{"sqrt", "log2"}}, int, float or None, default={}
    Number of features to try at a node, drawn from those that vary there: the square root or
    the logarithm of all features, rounded up; a number; a share of all; or all (None).""",
    "n_thresholds": """int, default={}
    Number of random thresholds to try for each feature.""",
    "max_depth": """int or None, default={}
    Greatest number of splits between the root and a leaf.""",
    "min_samples_split": """int or float, default={}
    A node with fewer rows (or a smaller share of all rows) is not split.""",
    "min_samples_leaf": """int or float, default={}
    A split that would leave fewer rows (or a smaller share of all) on one side is not made.""",
    "min_risk_reduction": """float or None, default={}
    A split that reduces the risk by less is not made. None makes the best split found even
    where it does not reduce the risk, as in the paper: nnPU reductions can be negative.""",
    "max_leaf_nodes": """int or None, default={}
    With a number, a tree grows best first: the split with the largest risk reduction anywhere
    in the tree is made next, until there are that many leaves.""",
    "bootstrap": """bool, default={}
    Whether each tree sees a sample drawn with replacement instead of all rows.""",
    "max_labeled": """int, float or None, default={}
    Labeled rows that a tree sees: a number, a share, or all. Drawn with replacement if
    ``bootstrap`` is set, else without. With this or ``max_unlabeled``, the two groups are drawn
    separately in either scenario.""",
    "max_unlabeled": """int, float or None, default={}
    Unlabeled rows that a tree sees, likewise. Fewer make fits faster.""",
    "oob_score": """bool, default={}
    Whether to let each training row be judged by the trees that did not see it: sets
    ``oob_decision_function_`` and ``oob_risk_``. Needs ``bootstrap``, or ``max_labeled`` and
    ``max_unlabeled``, for the risk; for decisions one of the two is enough. Labeled
    rows that stand among the unlabeled ones a second time bias it: one copy is seen while the
    other is held out.""",
    "warm_start": """bool, default={}
    Whether another ``fit`` keeps the trees and adds the missing ones.""",
    "n_jobs": """int or None, default={}
    Threads to fit and predict with; -1 is all cores. The result does not depend on it.""",
    "random_state": """int, RandomState instance or None, default={}
    Seed of all that is random. The same seed gives the same forest on any number of threads.""",
    "verbose": """int, default={}
    With 1 or more, a fit reports its progress on standard error.""",
}

ATTRIBUTES = """classes_ : ndarray of shape (2,)
    The two values of ``y``; the second one is the positive class.
prior_ : float
    The class prior in use.
prior_interval_ : tuple of float
    95% confidence interval of the prior. Only where it was estimated.
prior_estimate_ : PriorEstimate
    All about the estimate: method, label frequency, evidence. Likewise.
n_features_in_ : int
    Number of features seen by ``fit``.
feature_names_in_ : ndarray of shape (n_features_in_,)
    Their names, where ``X`` has names that are all strings.
feature_importances_ : ndarray of shape (n_features_in_,)
    Risk reductions of all splits on a feature, averaged over the trees. They are shares of the
    risk, not of 1, and can be negative under nnPU.
normalized_feature_importances_ : ndarray of shape (n_features_in_,)
    The same, each reduction divided by the mass of its node.
infinite_reductions_ : ndarray of shape (n_features_in_,)
    Number of splits left out of the importances because they made the risk minus infinity,
    which only uPU can do."""

FOREST_ATTRIBUTES = """oob_decision_function_ : ndarray of shape (n_samples,)
    Mean vote for each training row of the trees that did not see it; nan where all did.
    Only with ``oob_score=True``.
oob_risk_ : float
    Estimated error rate on those rows: the zero-one risk of the chosen estimator; nan where
    the rows of one group were never held out. Only with ``oob_score=True``.
estimators_ : list
    The trees, as fitted estimators."""

ClassT = TypeVar("ClassT", bound=type)


def documented(cls: ClassT) -> ClassT:
    """Put the sections of the parameters and the shared attributes into a class docstring."""
    entries = [
        f"{name} : {PARAMETERS[name].format(repr(parameter.default))}"
        for name, parameter in inspect.signature(cls).parameters.items()
    ]
    doc = inspect.cleandoc(cls.__doc__ or "")
    for place, text in (
        ("%parameters%", "\n".join(entries)),
        ("%attributes%", ATTRIBUTES),
        ("%forest_attributes%", FOREST_ATTRIBUTES),
    ):
        doc = doc.replace(place, text)
    cls.__doc__ = doc
    return cls
