"""Parameters that many metrics share, described once."""

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

PARAMETERS = {
    "y_true": """array-like of shape (n_samples,)
    PU labels: two values, the larger for labeled positives, the smaller for unlabeled rows.""",
    "y_pred": """array-like of shape (n_samples,)
    Predicted classes, in the coding of `y_true`.""",
    "y_score": """array-like of shape (n_samples,)
    Scores; the larger, the more positive.""",
    "y_prob": """array-like of shape (n_samples,)
    Predicted probabilities of the positive class.""",
    "prior": """float
    Share of positives in the population, between 0 and 1.""",
    "scenario": """{{"case-control", "single-training-set"}}, default={default}
    How the rows came about. "case-control": the unlabeled rows are the sample of the
    population. "single-training-set": all rows together are.""",
    "sample_weight": """array-like of shape (n_samples,), optional
    Weights of the rows; a row of weight 2 counts as two.""",
    "propensity": """array-like of shape (n_samples,), optional
    Probability of each labeled row to be labeled given that it is positive, where this differs
    between rows. Values of unlabeled rows are not used.""",
    "n_bins": """int, default={default}
    Number of bins.""",
    "strategy": """{{"quantile", "uniform"}}, default={default}
    Bins that hold equal shares of the population, or that are equally wide.""",
    "confidence": """float, default={default}
    Probability with which an interval covers the truth.""",
    "method": """{{"delta", "bootstrap"}}, default={default}
    The delta method, or draws with replacement: of labeled and of unlabeled rows separately in
    case-control data, of all rows together in a single training set.""",
    "prior_interval": """tuple of two floats, optional
    Lowest and highest prior that are plausible. Intervals then cover those of both ends.""",
    "n_resamples": """int, default={default}
    Number of draws of the bootstrap.""",
    "random_state": """int, RandomState instance or None, default={default}
    Seed of the bootstrap.""",
    "ax": """matplotlib Axes, optional
    Where to draw; new axes by default.""",
}

FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])


def documented(function: FunctionT) -> FunctionT:
    """Describe the parameters that the docstring leaves to `PARAMETERS`.

    A line ``%y_true, prior%`` becomes the entries of these two.
    """
    defaults = {n: p.default for n, p in inspect.signature(function).parameters.items()}
    lines = []
    for line in inspect.cleandoc(function.__doc__ or "").splitlines():
        if line.startswith("%"):
            for name in line.strip("%").split(", "):
                entry = PARAMETERS[name].format(default=repr(defaults[name]))
                lines += f"{name} : {entry}".splitlines()
        else:
            lines.append(line)
    function.__doc__ = "\n".join(lines)
    return function
