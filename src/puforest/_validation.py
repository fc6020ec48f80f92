"""Validation of parameters, labels and weights."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from multiprocessing import current_process
from numbers import Integral, Real
from typing import Any, TypeAlias, cast

import numpy as np
from joblib import effective_n_jobs, parallel_config
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state, column_or_1d
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_array, check_consistent_length

from puforest._prior_estimate import given_estimate

# Arrays, pandas and polars tables, lists of lists: anything that `check_array` accepts.
MatrixLike: TypeAlias = Any

VOTINGS = ("hard", "soft")

MAX_UINT32 = 2**32 - 1
MAX_THREADS = 1024

# Labels that cannot mean "labeled positive".
NEGATIVE = re.compile("u$|unl|unk|neg", re.IGNORECASE)

# Smaller priors and propensities would overflow when divided by.
TINY = 1e-100


@contextmanager
def data_errors(name: str) -> Iterator[None]:
    """Add the name of the argument to errors of a conversion.

    Sums of huge numbers may overflow within scikit-learn's checks, which is not an error.
    """
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            yield
    except OverflowError as error:
        raise ValueError(f"{name} has a number outside the range of floats") from error
    except (TypeError, ValueError) as error:
        if re.search(rf"\b({re.escape(name)}|y)\b", str(error)):
            raise
        raise type(error)(f"{name}: {error}") from error


# Parameters


def one_of(name: str, value: Any, allowed: Collection[str]) -> str:
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(f"{name} must be one of {sorted(allowed)}, got {value!r}")
    return value


def boolean(name: str, value: Any) -> bool:
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False, got {value!r}")
    return bool(value)


def is_integer(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_real(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)


def integer(name: str, value: Any, low: int) -> int:
    if not is_integer(value):
        raise TypeError(f"{name} must be an integer of at least {low}, got {value!r}")
    if value < low:
        raise ValueError(f"{name} must be at least {low}, got {value!r}")
    return min(int(value), MAX_UINT32)


def optional_integer(name: str, value: Any, low: int, none: int) -> int:
    return none if value is None else integer(name, value, low)


def class_prior(value: Any) -> float | None:
    if value is None:
        return None
    estimate = given_estimate(value)
    if estimate is not None:
        value = estimate.value
    if not is_real(value):
        raise TypeError(
            f"prior must be a number between 0 and 1, a PriorEstimate, or None, got {value!r}"
        )
    with data_errors("prior"):
        prior = float(value)
    if not TINY < prior < 1:
        least = TINY if 0 < prior < 1 else 0
        raise ValueError(
            f"prior must be a number between {least:g} and 1, the fraction of positives in the "
            f"population, got {value!r}"
        )
    return prior


def fraction(name: str, value: Any) -> float:
    if not is_real(value):
        raise TypeError(f"{name} must be a number between 0 and 1, got {value!r}")
    if not 0 < value < 1:
        raise ValueError(f"{name} must be between 0 and 1, got {value!r}")
    return float(value)


def least_reduction(value: Any) -> float:
    if value is None:
        return -math.inf
    if not is_real(value) or value != value:
        raise TypeError(f"min_risk_reduction must be a number or None, got {value!r}")
    with data_errors("min_risk_reduction"):
        return float(value)


def verbosity(value: Any) -> int:
    return int(value) if isinstance(value, bool) else integer("verbose", value, 0)


def random_state(value: Any) -> np.random.RandomState:
    with data_errors("random_state"):
        return cast(np.random.RandomState, check_random_state(value))


def threads(n_jobs: Any) -> int:
    if n_jobs is not None and (not is_integer(n_jobs) or n_jobs == 0):
        raise ValueError(
            f"n_jobs must be the number of threads, -1 for all cores, or None, got {n_jobs!r}"
        )
    if current_process().daemon:
        # joblib reports 1 with a warning for daemonic processes, which may still start threads.
        with parallel_config(backend="threading"):
            asked = effective_n_jobs(n_jobs)
    else:
        asked = effective_n_jobs(n_jobs)
    return min(int(asked), MAX_THREADS)


def count_or_fraction(name: str, value: Any, n: int, low: int) -> int:
    """Convert a number or a fraction of `n` to a number."""
    if is_integer(value):
        return integer(name, value, low)
    if not is_real(value):
        raise TypeError(f"{name} must be an integer or a fraction between 0 and 1, got {value!r}")
    if not 0 < value <= 1:
        raise ValueError(f"{name}, as a fraction, must be above 0 and at most 1, got {value!r}")
    return max(low, math.ceil(float(value) * n))


def number_of(name: str, value: Any, n: int, what: str) -> int:
    """Convert a number or a fraction of `n` to a number of at most `n`; None means all."""
    if value is None:
        return n
    draws = count_or_fraction(name, value, n, 1)
    if draws > n:
        raise ValueError(f"{name}={value!r} is more than the {n} {what}")
    return draws


def features_to_draw(value: Any, n_features: int) -> int:
    if isinstance(value, str):
        one_of("max_features", value, ("sqrt", "log2"))
        root_or_log = math.sqrt(n_features) if value == "sqrt" else math.log2(n_features)
        return max(1, math.ceil(root_or_log))
    if value is not None and not is_real(value):
        raise TypeError(
            f"max_features must be 'sqrt', 'log2', an integer, a fraction or None, got {value!r}"
        )
    return number_of("max_features", value, n_features, "features of X")


# Data


def refuse_masked(values: Any, name: str) -> None:
    """Refuse masked entries, whose mask NumPy would ignore."""
    if isinstance(values, list | tuple):
        for i, row in enumerate(values):
            refuse_masked(row if isinstance(row, np.ma.MaskedArray) else None, f"{name}[{i}]")
    if not isinstance(values, np.ma.MaskedArray):
        return
    masked = np.argwhere(np.ma.getmaskarray(values))
    if len(masked):
        first = f"{name}[{', '.join(map(str, masked[0]))}]"
        raise ValueError(
            f"{name} has masked entries ({len(masked)}, the first is {first}), and missing values "
            f"are not supported: fill them with {name}.filled, or drop their rows"
        )


def column_names(X: Any, n_features: int) -> list[str]:
    """Return the column names of a table, "x0", "x1" and so on if it has none."""
    names = getattr(X, "column_names", getattr(X, "columns", None))  # of Arrow, of others
    return [f"x{i}" for i in range(n_features)] if names is None else [str(name) for name in names]


def feature_names(
    estimator: Any, X: MatrixLike = None, *, given: Iterable[str] | None = None
) -> list[str]:
    """Return the names of the features: as given, as seen by ``fit``, or from the columns of X."""
    if given is not None:
        return _given_names(given, estimator.n_features_in_)
    if hasattr(estimator, "feature_names_in_"):
        return [str(name) for name in estimator.feature_names_in_]
    return column_names(X, estimator.n_features_in_)


def _given_names(given: Iterable[str], n_features: int) -> list[str]:
    if isinstance(given, str):
        raise TypeError(f"feature_names must be a list of {n_features} strings, got {given!r}")
    names = list(given)
    if len(names) != n_features:
        raise ValueError(
            f"feature_names must name the {n_features} features of the model, got {len(names)}"
        )
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"feature_names must be strings, got {name!r}: use str() on it")
    return names


def label_vector(y: Any) -> NDArray[Any]:
    """Read labels as a vector; missing ones (NaN, None, ``pd.NA``) mean unlabeled."""
    return filled_labels(raw_labels(y))


def training_labels(y: Any, n: int, estimator: str) -> NDArray[Any]:
    """Read the labels of `n` training rows."""
    if y is None:
        raise ValueError(f"{estimator} requires y to be passed, but the target y is None.")
    labels = label_vector(y)
    check_consistent_length(np.empty(n, dtype=bool), labels)
    with data_errors("y"):
        checked: NDArray[Any] = check_array(labels, ensure_2d=False, dtype=None, input_name="y")
        return checked


def raw_labels(y: Any) -> NDArray[Any]:
    """Read labels as a vector of whatever they are."""
    refuse_masked(y, "y")
    with data_errors("y"):
        # NumPy would turn NaN into the string "nan".
        if isinstance(y, list | tuple) and any(isinstance(value, str) for value in y):
            y = np.asarray(y, dtype=object)
            y = y if any(map(is_missing, y.ravel())) else y.astype(str)
        vector: NDArray[Any] = column_or_1d(y, warn=True)
        return vector


def filled_labels(y: NDArray[Any]) -> NDArray[Any]:
    """Replace missing labels (NaN, None, ``pd.NA``), which mean unlabeled.

    If there are any, the result is 1 for labeled and 0 for unlabeled rows.
    """
    if y.dtype.kind == "f":
        missing = np.isnan(y)
    elif y.dtype.kind == "O":
        missing = np.array([is_missing(value) for value in y], dtype=bool)
    else:
        return y
    present = y[~missing]
    if not missing.any() or not all(isinstance(value, str | Real) for value in present):
        return y
    values = np.unique(present).tolist()
    if len(values) > 2:
        raise ValueError(
            f"y has missing labels and {len(values)} other values: pass 1 for labeled rows, and 0 "
            "or NaN for unlabeled rows"
        )
    if not values or (len(values) == 1 and _looks_unlabeled(values[0])):
        found = f"{values[0]!r} and missing labels" if values else "missing labels"
        raise ValueError(f"y has only {found}: pass 1 for labeled rows")
    labels = np.zeros(len(y), dtype=np.int64)
    labels[~missing] = present == values[-1]
    return labels


def refuse_missing_labels(y: Any) -> None:
    """Refuse missing labels, for supervised learning."""
    labels = raw_labels(y)
    if filled_labels(labels) is not labels:
        raise ValueError("y contains NaN or None: risk='pn' needs the class of every row")


def is_missing(value: Any) -> bool:
    is_nan = isinstance(value, Real) and value != value
    return value is None or is_nan or type(value).__name__ == "NAType"


def _looks_unlabeled(value: Any) -> bool:
    if isinstance(value, str):
        return NEGATIVE.match(value) is not None
    return bool(value <= 0)


def labels(y: NDArray[Any], larger: str, smaller: str) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return the two classes in order, and a mask of the rows of the larger one.

    `larger` and `smaller` describe the rows of the two classes in error messages.
    """
    if len(y) == 0:
        raise ValueError(
            f"y is empty, but must have two classes: the larger for {larger} rows (such as 1) and "
            f"the smaller for {smaller} rows (such as 0)."
        )
    try:
        check_classification_targets(y)
    except ValueError as error:
        raise ValueError(
            f"y: {error} Pass numbers, 1 for {larger} rows and 0 for {smaller} rows."
        ) from error
    classes = np.unique(y)
    if len(classes) > 2:
        raise ValueError(
            "Only binary classification is supported. The type of the target is "
            f"{type_of_target(y)}: y has {len(classes)} classes, but must have two, the larger for "
            f"{larger} rows and the smaller for {smaller} rows."
        )
    if len(classes) < 2:
        raise ValueError(
            f"y has only one class, {classes.tolist()[0]!r}, but must have two: the larger for "
            f"{larger} rows (such as 1) and the smaller for {smaller} rows (such as 0)."
        )
    first, second = classes.tolist()
    if isinstance(second, str) and NEGATIVE.match(second):
        raise ValueError(
            f"y has the classes {first!r} and {second!r}, and the larger one, {second!r}, would "
            f"mean {larger}: pass y as numbers, 1 for {larger} rows and 0 for {smaller} rows."
        )
    return classes, y == classes[1]


def weights(sample_weight: ArrayLike, n: int) -> NDArray[np.float64]:
    if is_real(sample_weight):
        with data_errors("sample_weight"):
            sample_weight = np.full(n, sample_weight, dtype=np.float64)
    weight = vector("sample_weight", sample_weight, n, finite=True)
    if (weight < 0).any():
        raise ValueError(f"sample_weight must not be negative, got {weight.min():g}")
    scaled = at_most_one(weight)
    positive = weight[weight > 0]
    # Smaller weights would lose digits, and a mass divided by their sum would be infinite.
    if (scaled[weight > 0] < np.finfo(np.float64).tiny).any():
        raise ValueError(
            f"sample_weight ranges from {positive.min():g} to {positive.max():g}, a ratio that "
            "floats cannot represent: set the weight of rows that should not count to 0, or "
            "increase it"
        )
    return scaled


def at_most_one(weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scale weights such that the largest one is between 1/2 and 1.

    They are divided by a power of two, which changes no digit. Sums of weights and of their squares
    then stay within the range of floats.
    """
    scaled: NDArray[np.float64] = np.ldexp(weight, -np.frexp(weight.max(initial=0.0))[1])
    return scaled


def vector(name: str, values: ArrayLike, n: int, *, finite: bool) -> NDArray[np.float64]:
    refuse_masked(values, name)
    with data_errors(name):
        checked: NDArray[np.float64] = check_array(
            values, ensure_2d=False, dtype=np.float64, ensure_all_finite=finite, input_name=name
        )
    if checked.shape != (n,):
        raise ValueError(f"{name} must have the shape ({n},), got {checked.shape}")
    return checked


def propensities(propensity: ArrayLike, n: int, labeled: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the propensities of the labeled rows; those of the others are ignored."""
    e = vector("propensity", propensity, n, finite=False)
    e = e[labeled]
    bad = ~((e > TINY) & (e <= 1))
    if bad.any():
        least = TINY if 0 < e[bad][0] < 1 else 0
        raise ValueError(
            f"propensity must be above {least:g} and at most 1 for every labeled row, got "
            f"{e[bad][0]:g}"
        )
    return e
