"""From what users give to plain numbers and arrays: every error that a fit can raise."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import current_process
from numbers import Integral, Real
from typing import Any, TypeAlias, cast

import numpy as np
from joblib import effective_n_jobs, parallel_config
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_array

from puforest import _core

# An array, a table of pandas or polars, lists of lists: all that `check_array` reads.
MatrixLike: TypeAlias = Any

MAX_UINT32 = 2**32 - 1
MAX_THREADS = 1024

# Words that mark rows as anything but labeled positives.
NEGATIVE = re.compile("u$|unl|unk|neg", re.IGNORECASE)

# Priors and propensities below this would overflow where they divide.
TINY = 1e-100


@contextmanager
def data_errors(name: str) -> Iterator[None]:
    """Errors of a conversion, with the name of what is being converted.

    Sums of huge numbers may overflow within the checks of scikit-learn; that is no error.
    """
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            yield
    except OverflowError as error:
        raise ValueError(f"{name} has a number beyond the range of floats") from error
    except (TypeError, ValueError) as error:
        if re.search(rf"\b({name}|y)\b", str(error)):
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
        raise TypeError(f"{name} must be a whole number of at least {low}, got {value!r}")
    if value < low:
        raise ValueError(f"{name} must be at least {low}, got {value!r}")
    return min(int(value), MAX_UINT32)


def optional_integer(name: str, value: Any, low: int, none: int) -> int:
    return none if value is None else integer(name, value, low)


def class_prior(value: Any) -> float | None:
    if value is None:
        return None
    if not is_real(value):
        raise TypeError(f"prior must be a number between 0 and 1, or None, got {value!r}")
    with data_errors("prior"):
        prior = float(value)
    if not TINY < prior < 1:
        least = TINY if 0 < prior < 1 else 0
        raise ValueError(
            f"prior must be a number between {least:g} and 1, the share of positives in the "
            f"population, got {value!r}"
        )
    return prior


def share(name: str, value: Any) -> float:
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
            f"n_jobs must be a number of threads, -1 for all cores, or None, got {n_jobs!r}"
        )
    if current_process().daemon:
        # Of a process that may have no children joblib says 1, with a warning. Threads it may have.
        with parallel_config(backend="threading"):
            asked = effective_n_jobs(n_jobs)
    else:
        asked = effective_n_jobs(n_jobs)
    return min(int(asked), MAX_THREADS)


def count_or_share(name: str, value: Any, n: int, low: int) -> int:
    """A number out of `n`, given as such or as a share."""
    if is_integer(value):
        return integer(name, value, low)
    if not is_real(value):
        raise TypeError(f"{name} must be a whole number or a share between 0 and 1, got {value!r}")
    if not 0 < value <= 1:
        raise ValueError(f"{name}, given as a share, must be above 0 and at most 1, got {value!r}")
    return max(low, math.ceil(float(value) * n))


def number_of(name: str, value: Any, n: int, what: str) -> int:
    """How many of the `n` there are, given as a number or as a share; None is all."""
    if value is None:
        return n
    draws = count_or_share(name, value, n, 1)
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
            f"max_features must be 'sqrt', 'log2', a whole number, a share or None, got {value!r}"
        )
    return number_of("max_features", value, n_features, "features of X")


# Data


def refuse_masked(values: Any, name: str) -> None:
    """Refuse masked entries, which NumPy would read as if they were not masked."""
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
            f"are not supported: fill them in with {name}.filled, or leave out their rows"
        )


def column_names(X: Any, n_features: int) -> list[str]:
    """Names of the columns of a table; "x0", "x1" and so on for what has none."""
    names = getattr(X, "columns", None)
    return [f"x{i}" for i in range(n_features)] if names is None else [str(name) for name in names]


def feature_names(
    estimator: Any, X: MatrixLike = None, *, given: Iterable[str] | None = None
) -> list[str]:
    """Names of the features: those given, those of the fit, or those of the columns of X."""
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


@dataclass(frozen=True)
class Rows:
    """The rows of a fit, labeled ones first, and what they weigh."""

    classes: NDArray[Any]
    order: NDArray[np.uint32]
    n_labeled: int
    weight: NDArray[np.float64]  # by position in order
    propensity: NDArray[np.float64] | None  # of the labeled rows

    @property
    def n_unlabeled(self) -> int:
        return len(self.order) - self.n_labeled

    @property
    def labeled_weight(self) -> NDArray[np.float64]:
        return self.weight[: self.n_labeled]

    @property
    def positive_weight(self) -> NDArray[np.float64]:
        """Weights of the labeled rows as positives, each standing for the unlabeled like it."""
        w = self.labeled_weight
        return w if self.propensity is None else w / self.propensity

    @property
    def unlabeled_weight(self) -> NDArray[np.float64]:
        return self.weight[self.n_labeled :]

    def native(self) -> _core.TrainingRows:
        """For the core, without weights where they are the same throughout each group."""
        groups = (self.labeled_weight, self.unlabeled_weight)
        if self.propensity is None and all((g == g[0]).all() for g in groups):
            return _core.TrainingRows(self.order, self.n_labeled)
        return _core.TrainingRows(self.order, self.n_labeled, self.positive_weight, self.weight)


def training_rows(
    y: NDArray[Any], sample_weight: ArrayLike | None, propensity: ArrayLike | None, *, risk: str
) -> Rows:
    """Labels and weights as the rows of a fit; rows that weigh nothing are left out."""
    larger, smaller = ("positive", "negative") if risk == "pn" else ("labeled", "unlabeled")
    classes, labeled = labels(y, larger, smaller)
    n = len(labeled)
    weight = np.ones(n) if sample_weight is None else weights(sample_weight, n)
    for name, group in ((larger, labeled), (smaller, ~labeled)):
        if not weight[group].any():
            raise ValueError(
                f"sample_weight is zero for all {name} rows: that leaves only one class"
            )
    seen = weight > 0
    order = np.concatenate([np.flatnonzero(labeled & seen), np.flatnonzero(~labeled & seen)])
    n_labeled = int(np.count_nonzero(labeled & seen))
    e = None
    if propensity is not None:
        if risk == "pn":
            raise ValueError(
                "propensity is about how positives come to be labeled among unlabeled rows: "
                "it does not go with risk='pn'"
            )
        e = propensities(propensity, n, order[:n_labeled])
    return Rows(classes, order.astype(np.uint32), n_labeled, weight[order], e)


def labels(y: NDArray[Any], larger: str, smaller: str) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """The two classes in order and whether each row has the larger one.

    `larger` and `smaller` say what rows of the two are, for the messages.
    """
    if len(y) == 0:
        raise ValueError(
            f"y is empty, but needs two classes: the larger for {larger} rows (such as 1) and the "
            f"smaller for {smaller} ones (such as 0)."
        )
    try:
        check_classification_targets(y)
    except ValueError as error:
        raise ValueError(
            f"y: {error} Give numbers, 1 for {larger} rows and 0 for {smaller} ones."
        ) from error
    classes = np.unique(y)
    if len(classes) > 2:
        raise ValueError(
            "Only binary classification is supported. The type of the target is "
            f"{type_of_target(y)}: y has {len(classes)} classes, but needs two, the larger for "
            f"{larger} rows and the smaller for {smaller} ones."
        )
    if len(classes) < 2:
        raise ValueError(
            f"y has only one class, {classes.tolist()[0]!r}, but needs two: the larger for "
            f"{larger} rows (such as 1) and the smaller for {smaller} ones (such as 0)."
        )
    first, second = classes.tolist()
    if isinstance(second, str) and NEGATIVE.match(second):
        raise ValueError(
            f"y has the classes {first!r} and {second!r}. The larger one, {second!r}, would be "
            f"taken as the class of {larger} rows: give y as numbers, 1 for {larger} rows and 0 "
            f"for {smaller} ones."
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
    # Smaller ones would lose digits, and a mass divided by a sum of them would be infinite.
    if (scaled[weight > 0] < np.finfo(np.float64).tiny).any():
        raise ValueError(
            f"sample_weight goes from {positive.min():g} to {positive.max():g}, and floats cannot "
            "hold that ratio: give 0 to rows that should not count, or a larger weight"
        )
    return scaled


def at_most_one(weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weights of which only the ratios matter, the largest one from 1/2 to 1.

    They are divided by a power of two, which changes no digit, and sums of them and of their
    squares stay within the range of floats.
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
    """Propensities of the labeled rows; those of the others are not used."""
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
