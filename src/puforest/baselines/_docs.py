"""Docstring entries that the baselines share."""

from puforest._docstrings import documented as _documented

PARAMETERS = {
    "X": """array-like of shape (n_samples, n_features)
    Samples. Pandas, polars and Arrow tables are passed on to the estimator as they are.""",
    "y": """array-like of shape (n_samples,)
    Two values: the larger for labeled positives, the smaller for unlabeled samples.""",
    "prior": """float, PriorEstimate or None, default={default}
    Class prior. If given, the threshold is chosen on held-out scores so that the fraction of
    unlabeled samples predicted as positive is the fraction of positives among them. None leaves
    the threshold at one half.""",
    "scenario": """{{"case-control", "single-training-set"}}, default={default}
    Sampling scenario of the data.""",
    "cv": """int or splitter, default={default}
    Cross-validation used to score the training samples. A number is the number of folds of
    `PUStratifiedKFold` with a fixed seed.""",
    "random_state": """int, RandomState instance or None, default={default}
    Seed of the estimator, unless it has its own ``random_state``.""",
}

FIT = f"""Parameters
----------
X : {PARAMETERS["X"]}
y : {PARAMETERS["y"]}

Returns
-------
self"""

ATTRIBUTES = """classes_ : ndarray of shape (2,)
    The two values of ``y``; the second one is the positive class.
scenario_ : str
    Scenario of the fitted data.
n_features_in_ : int
    Number of features seen by ``fit``.
feature_names_in_ : ndarray of shape (n_features_in_,)
    Names of the features, if all column names of ``X`` are strings.
prior_ : float
    Class prior used by the fit."""

THRESHOLD = """threshold_ : float
    Score above which samples are predicted as positive. ``predict_proba`` divides odds by those of
    the threshold, which moves it to one half."""

documented = _documented(PARAMETERS, fit=FIT, attributes=ATTRIBUTES, threshold_=THRESHOLD)
