"""Docstring entries that the prior estimators share."""

from puforest._docstrings import documented as _documented

PARAMETERS = {
    "X": """array-like of shape (n_samples, n_features)
    Labeled and unlabeled rows: an array, a sparse matrix, or a pandas, polars or Arrow table. Text
    and categorical columns are categories, and NaN, None and nulls are missing values.""",
    "y": """array-like of shape (n_samples,)
    PU labels: two values, the larger one for labeled rows.""",
    "sample_weight": """array-like of shape (n_samples,), optional
    Sample weights. A row of weight 2 counts as two rows.""",
    "scenario": """{{"case-control", "single-training-set"}}, default={default}
    Sampling scenario of the data.""",
    "estimator": """classifier, default={default}
    Classifier that separates labeled from unlabeled rows, with a ``predict_proba`` method. It is
    given the rows as they are passed to ``fit``. By default, the mean of forests grown by
    several recipes of `PUForestClassifier`.""",
    "cv": """int, default={default}
    Number of cross-validation folds. Each row is scored by a classifier that has not seen it.""",
    "confidence": """float, default={default}
    Confidence level of the interval and of the upper limit.""",
    "n_resamples": """int, default={default}
    Number of bootstrap samples of the scores, for the lower end of the interval.""",
    "n_jobs": """int or None, default={default}
    Number of threads of the forest.""",
    "random_state": """int, RandomState instance or None, default={default}
    Seed of the random number generator.""",
}

ATTRIBUTES = """prior_ : float
    Point estimate of the class prior.
interval_ : tuple of float
    Confidence interval of the class prior, from the smallest possible prior if only an upper bound
    is known."""

documented = _documented(PARAMETERS, attributes=ATTRIBUTES)
