"""Docstrings of the parameters and attributes that are common to several estimators."""

from puforest._docstrings import documented

PARAMETERS = {
    "prior": """float or None, default={default}
    Class prior: the fraction of positives in the population, between 0 and 1. If None, it is
    estimated from the data (`puforest.prior.BBE`) with a warning; if propensities are passed to
    ``fit`` with ``scenario="single-training-set"``, it follows from them. With ``risk="pn"``, None
    means the fraction of the larger class in ``y``.""",
    "n_estimators": """int, default={default}
    Number of trees.""",
    "scenario": """{{"case-control", "single-training-set"}}, default={default}
    Sampling scenario of the data. "case-control": the labeled rows were collected separately, and
    the unlabeled rows are a sample of the population. "single-training-set": all rows are one
    sample of the population, in which some of the positives are labeled. The scenario determines
    the weights of the rows, and how the bootstrap draws them: each group separately, or all rows
    together.""",
    "risk": """{{"nnpu", "upu", "pn"}}, default={default}
    Risk estimator that splits minimize: the non-negative PU estimator, the unbiased PU
    estimator, or the ordinary empirical risk, which treats the smaller class as negatives.""",
    "loss": """str, default={default}
    "quadratic", "logistic", "savage", "sigmoid", "zero-one", "ramp", "hinge", "double-hinge"
    or "exponential". The quadratic loss corresponds to the Gini criterion, the logistic loss to
    entropy.""",
    "voting": """{{"hard", "soft"}}, default={default}
    Leaf values: with "hard", 1 if a leaf contains more positives than negatives, else 0; with
    "soft", the estimated fraction of positives in the leaf. ``predict_proba`` averages them over
    the trees. The two differ only for leaves that contain both classes, so limit the growth of the
    trees with "soft". The parameter can be changed after the fit.""",
    "threshold": """float, "prior", "f1" or ("cost", ratio), default={default}
    Threshold on the predicted probability above which rows are classified as positive: a number, or
    a rule applied to out-of-bag predictions. "prior": the fraction of the population that is
    predicted positive is the class prior, or if ties prevent that, the next smaller or larger
    fraction with fewer estimated errors. "f1": the largest estimated F1 score. ("cost", ratio):
    the smallest estimated cost, if a missed positive costs ``ratio`` times as much as a false
    positive. The parameter can be changed after the fit.""",
    "max_features": """{{"sqrt", "log2"}}, int, float or None, default={default}
    Number of features to try at each node, drawn from those that are not constant there: the
    square root or the base-2 logarithm of the number of features, rounded up; an integer; a
    fraction of the features; or all features (None).""",
    "n_thresholds": """int, default={default}
    Number of random thresholds to try for each feature.""",
    "max_depth": """int or None, default={default}
    Maximum depth of a tree.""",
    "min_samples_split": """int or float, default={default}
    Minimum number of rows (or fraction of all rows) in a node for it to be split.""",
    "min_samples_leaf": """int or float, default={default}
    Minimum number of rows (or fraction of all rows) on each side of a split.""",
    "min_risk_reduction": """float or None, default={default}
    Minimum risk reduction of a split. If None, nodes are split even if no split reduces the risk,
    as in the paper: risk reductions can be negative under nnPU.""",
    "max_leaf_nodes": """int or None, default={default}
    If set, grow trees best-first, always splitting the node with the largest risk reduction, until
    they have this many leaves.""",
    "categorical_features": """"from_dtype", array-like or None, default={default}
    Categorical features. "from_dtype": text, and columns of a categorical type of pandas, polars or
    Arrow. Otherwise names, indices or a boolean mask of the columns; None means that all features
    are numbers. Splits send a set of categories to one side. Categories are stored in the model and
    matched by label, up to 65,535 in a column; those that are not in the training data count as
    missing values. Booleans, dates and durations (as days) are always split like numbers.""",
    "monotonic_cst": """array-like of shape (n_features,), dict or None, default={default}
    Monotonicity constraint of each feature: 1 if the predicted probability of the positive class
    may only increase with it, -1 if it may only decrease, 0 for no constraint; or a dict of them by
    column name. Categorical features cannot be constrained.""",
    "bootstrap": """bool, default={default}
    Whether to grow each tree on a sample drawn with replacement instead of all rows.""",
    "max_labeled": """int, float or None, default={default}
    Number (or fraction) of the labeled rows that each tree is grown on; None means all. They are
    drawn with replacement if ``bootstrap`` is True, else without. If this or ``max_unlabeled`` is
    set, the two groups are drawn separately in both scenarios.""",
    "max_unlabeled": """int, float or None, default={default}
    Number (or fraction) of the unlabeled rows that each tree is grown on; None means all. A
    smaller number makes fits faster.""",
    "oob_score": """bool, default={default}
    Whether to evaluate each training row with the trees that were not grown on it, which sets
    ``oob_decision_function_``, ``oob_risk_`` and ``oob_score_``. The risk requires ``bootstrap``,
    or both ``max_labeled`` and ``max_unlabeled``; for the decision function one of them is enough.
    Labeled rows that also appear in the unlabeled set bias the risk: a tree may be grown on one
    copy and evaluated on the other.""",
    "warm_start": """bool, default={default}
    Whether to keep the trees of the previous ``fit`` and add trees until there are
    ``n_estimators``.""",
    "n_jobs": """int or None, default={default}
    Number of threads for ``fit`` and ``predict``; -1 means all cores. Results do not depend on
    it.""",
    "random_state": """int, RandomState instance or None, default={default}
    Seed of the random number generator. The same seed yields the same forest for any number of
    threads.""",
    "verbose": """int, default={default}
    If positive, report the progress of a fit on standard error.""",
}

ATTRIBUTES = """classes_ : ndarray of shape (2,)
    Values of ``y``; the second one is the positive class.
prior_ : float
    Class prior.
prior_interval_ : tuple of float
    95% confidence interval of the prior. Only available if the prior was estimated.
prior_estimate_ : PriorEstimate
    Details of the estimate: method, label frequency, evidence. Only available if the prior was
    estimated.
n_features_in_ : int
    Number of features seen by ``fit``.
feature_names_in_ : ndarray of shape (n_features_in_,)
    Names of the features. Only available if all column names of ``X`` are strings.
feature_importances_ : ndarray of shape (n_features_in_,)
    Total risk reduction of the splits on each feature, averaged over the trees. Importances do not
    sum to 1, and can be negative under nnPU.
normalized_feature_importances_ : ndarray of shape (n_features_in_,)
    Feature importances with each risk reduction divided by the mass of its node.
infinite_reductions_ : ndarray of shape (n_features_in_,)
    Number of splits that the importances omit because their risk reduction is infinite, which is
    only possible under uPU."""

FOREST_ATTRIBUTES = """oob_decision_function_ : ndarray of shape (n_samples,)
    Mean vote for each training row, over the trees that were not grown on it; nan if there are
    none.
    Only available with ``oob_score=True``.
oob_risk_ : float
    Out-of-bag estimate of the error rate with a threshold of 0.5: the zero-one risk under ``risk``;
    nan if no row of one of the groups is out of bag. Only available with ``oob_score=True``.
oob_score_ : float
    Out-of-bag estimate of the accuracy, 1 - ``oob_risk_``. Only available with
    ``oob_score=True``.
estimators_ : list
    Fitted trees."""

documented_estimator = documented(
    PARAMETERS, attributes=ATTRIBUTES, forest_attributes=FOREST_ATTRIBUTES
)

# Parameters of `PUForestClassifier` that differ from those of the other estimators.
PU_FOREST_PARAMETERS = {
    "prior": """float or None, default={default}
    Class prior: the fraction of positives in the population, between 0 and 1. If None, it is
    estimated from out-of-bag scores (as in `puforest.prior.BBE`) with a warning; if propensities
    are passed to ``fit`` with ``scenario="single-training-set"``, it follows from them.""",
    "n_estimators": """int or "auto", default={default}
    Number of trees of the model, which the recipes that are kept share, and of each candidate in
    the comparison; rounded up to a multiple of 10 per recipe. "auto": 200 for each candidate, fewer
    (at least 100) if there are more than about a thousand labeled rows, and about 200 to 800 for the
    model. The number is doubled as long as the out-of-bag predictions have
    not settled: more trees would change more than 2% of the rows that are predicted positive, as
    estimated from the difference between two halves of the trees.""",
    "candidates": """"auto", "fast" or list of Recipe, default={default}
    Recipes of the candidate forests. "auto": six recipes chosen in a study of the development
    data sets. "fast": only the first of them, and 200 trees with ``n_estimators="auto"``. Otherwise
    a list of `puforest.Recipe`.""",
}

documented_pu_forest = documented(PARAMETERS | PU_FOREST_PARAMETERS, attributes=ATTRIBUTES)
