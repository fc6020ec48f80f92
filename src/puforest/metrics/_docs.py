"""Docstrings of the parameters that are common to many metrics."""

from puforest._docstrings import documented as _documented

PARAMETERS = {
    "y_true": """array-like of shape (n_samples,)
    PU labels with two values: the larger marks labeled positives, the smaller unlabeled rows.""",
    "y_pred": """array-like of shape (n_samples,)
    Predicted classes, encoded like `y_true`.""",
    "y_score": """array-like of shape (n_samples,)
    Scores; larger means more likely positive.""",
    "y_prob": """array-like of shape (n_samples,)
    Predicted probabilities of the positive class.""",
    "prior": """float
    Class prior: the fraction of positives in the population, between 0 and 1.""",
    "scenario": """{{"case-control", "single-training-set"}}, default={default}
    Sampling scenario. "case-control": the unlabeled rows are a sample of the population.
    "single-training-set": all rows together are one.""",
    "sample_weight": """array-like of shape (n_samples,), optional
    Sample weights; a row with weight 2 counts as two rows.""",
    "propensity": """array-like of shape (n_samples,), optional
    Probability that each labeled row is labeled given that it is positive, if it differs between
    rows. Values of unlabeled rows are ignored.""",
    "checked": """array-like of shape (n_samples,), optional
    Verdicts on unlabeled rows that were looked at: 1 or True for rows found positive, 0 or False
    for rows found negative, NaN or None for all others.""",
    "check_probability": """float or array-like of shape (n_samples,), optional
    Probability with which a row with these features, labeled or not, was selected for checking. By
    default, the checked rows are a simple random sample of the unlabeled rows.""",
    "n_bins": """int, default={default}
    Number of bins.""",
    "strategy": """{{"quantile", "uniform"}}, default={default}
    "quantile": bins with equal fractions of the population. "uniform": bins of equal width.""",
    "confidence": """float, default={default}
    Confidence level of the intervals.""",
    "method": """{{"delta", "bootstrap"}}, default={default}
    Delta method or bootstrap. The bootstrap resamples labeled and unlabeled rows separately in
    case-control data, and all rows together in a single training set.""",
    "prior_interval": """tuple of two floats, optional
    Interval of the prior. The intervals of the metrics then cover those for both ends.""",
    "n_resamples": """int, default={default}
    Number of bootstrap resamples.""",
    "random_state": """int, RandomState instance or None, default={default}
    Seed of the bootstrap.""",
    "ax": """matplotlib Axes, optional
    Axes to draw on; new axes by default.""",
}

documented = _documented(PARAMETERS)
