"""Sampling designs of checks: the probability with which each row is selected."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike, NDArray

from puforest import _validation as check

Array = NDArray[np.float64]


def _of_random(score: Array, rate: float) -> Array:
    return np.full(score.shape, rate)


def _of_score(score: Array, scale: float, floor: float) -> Array:
    result: Array = np.minimum(1, scale * np.maximum(spread(score), floor))
    return result


def _of_top(score: Array, cut: float, tie: float) -> Array:
    return np.where(score > cut, 1.0, np.where(score == cut, tie, 0.0))


def spread(score: Array) -> Array:
    """Standard deviation of the class of a row, given its predicted probability."""
    result: Array = np.sqrt(score * (1 - score))
    return result


# Probability of selection by score, and the names of its parameters in the text of a design.
_FORMULAS: Mapping[str, tuple[Callable[..., Array], tuple[str, ...]]] = MappingProxyType(
    {
        "random": (_of_random, ("rate",)),
        "score": (_of_score, ("scale", "floor")),
        "top": (_of_top, ("cut", "tie")),
    }
)
DESIGNS = tuple(_FORMULAS)
PROBABILITIES = ("rate", "tie", "cut")


@dataclass(frozen=True)
class CheckDesign:
    """Sampling design: the probability of a row to be selected, given its score.

    ``str(design)`` is a text for a cell of a table, such as "random n=50 rate=0.05", and
    ``CheckDesign.parse(text)`` the design again.

    Attributes
    ----------
    name : {"random", "score", "top"}
        Name of the design.
    n : int
        Number of rows that were selected.
    parameters : mapping of str to float
        "random": ``rate``, the probability of every row. "score": the probability is
        ``scale * max(sqrt(p * (1 - p)), floor)``, and at most 1, where p is the score. "top":
        the probability is 1 for scores above ``cut``, ``tie`` for those equal to it, and else 0.

    Examples
    --------
    >>> from puforest.checking import CheckDesign
    >>> design = CheckDesign("score", 50, {"scale": 0.2, "floor": 0.1})
    >>> str(design)
    'score n=50 scale=0.2 floor=0.1'
    >>> CheckDesign.parse(str(design)) == design
    True
    >>> design.probability([0.0, 0.1, 0.5]).round(3).tolist()
    [0.02, 0.06, 0.1]
    """

    name: str
    n: int
    parameters: Mapping[str, float]

    def __post_init__(self) -> None:
        check.one_of("design", self.name, DESIGNS)
        check.integer("n", self.n, 1)
        names = _FORMULAS[self.name][1]
        if set(self.parameters) != set(names):
            raise ValueError(
                f"the parameters of the design {self.name!r} are {', '.join(names)}, got "
                f"{', '.join(self.parameters) or 'none'}"
            )
        for name, value in self.parameters.items():
            most = 1 if name in PROBABILITIES else np.finfo(float).max
            if not (check.is_real(value) and 0 <= value <= most):
                raise ValueError(
                    f"{name} of a design must be {'from 0 to 1' if most == 1 else 'nonnegative'}, "
                    f"got {value!r}"
                )

    def __str__(self) -> str:
        values = (f"{name}={float(self.parameters[name])!r}" for name in _FORMULAS[self.name][1])
        return " ".join([self.name, f"n={self.n}", *values])

    @classmethod
    def parse(cls, text: str) -> CheckDesign:
        """Read a design from its text."""
        try:
            name, *pairs = text.split()
            values = dict(pair.split("=") for pair in pairs)
            n = int(values.pop("n"))
            parameters = {key: float(value) for key, value in values.items()}
        except (AttributeError, KeyError, ValueError) as error:
            raise ValueError(
                "the text of a design must look like 'random n=50 rate=0.05', as written by "
                f"str(design), got {text!r}"
            ) from error
        return cls(name, n, parameters)

    def probability(self, score: ArrayLike, n_answered: int | None = None) -> Array:
        """Compute the probability of rows with the given scores to be selected.

        Parameters
        ----------
        score : array-like of shape (n_rows,)
            Predicted probabilities.
        n_answered : int, optional
            Number of selected rows with a verdict, if there are some without. The result is then
            the probability of a row to be selected and to have a verdict, assuming that which rows
            have none is unrelated to their classes. This holds if the checker stopped early, since
            selected rows are in random order (except those of the design "top").

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        scores = np.asarray(score, dtype=np.float64)
        formula = _FORMULAS[self.name][0]
        found = formula(scores, **self.parameters)
        if n_answered is None:
            return found
        if not check.integer("n_answered", n_answered, 0) <= self.n:
            raise ValueError(f"n_answered={n_answered} is more than the {self.n} selected rows")
        return found * (n_answered / self.n)
