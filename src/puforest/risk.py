"""Losses, risk estimators and the minimum risk of a node, as NumPy formulas.

A node has two masses: ``w_p``, the estimated probability that a sample reaches the node and is
positive, and ``w_u``, the estimated probability that a sample reaches the node. Their difference
``w_n = w_u - w_p`` estimates the probability that a sample reaches the node and is negative. A
node that predicts ``v`` contributes ``w_p * l(v) + w_n * l(-v)`` to the risk, where ``l`` is the
loss as a function of the margin. The three estimators differ in ``w_n``:

* ``"upu"`` uses it unchanged, even if it is negative;
* ``"nnpu"`` replaces it by ``max(0, w_n)``;
* ``"pn"`` has labels of both classes, so it cannot be negative.

Examples
--------
>>> from puforest.risk import minimum_risk
>>> float(minimum_risk(0.25, 0.5, risk="nnpu", loss="quadratic"))
0.5
>>> float(minimum_risk(0.5, 0.4, risk="upu", loss="logistic"))
-inf
"""

from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import entr, expit

__all__ = [
    "LOSSES",
    "RISKS",
    "Loss",
    "classification_risk",
    "loss_value",
    "minimum_risk",
    "node_risk",
    "posterior",
]

Array = NDArray[np.float64]

RISKS = ("nnpu", "upu", "pn")


@dataclass(frozen=True)
class Loss:
    """A loss function and its minima over the score.

    Attributes
    ----------
    margin : callable
        ``l(m)``, the loss at margin ``m``, the product of score and label.
    mixed : callable
        Minimum over ``v`` of ``p * l(v) + n * l(-v)`` for ``p > 0`` and ``n > 0``.
    excess : callable
        The same for ``n < 0``, which occurs only with uPU.
    """

    margin: Callable[[Array], Array]
    mixed: Callable[[Array, Array], Array]
    excess: Callable[[Array, Array], Array]


def _minus_infinity(p: Array, n: Array) -> Array:
    return np.full_like(n, -np.inf)


def _gini(p: Array, n: Array) -> Array:
    return 4 * p * n / (p + n)


def _gini_excess(p: Array, n: Array) -> Array:
    """Return the minimum of a parabola in v, which opens upward while ``p + n`` is positive."""
    return np.divide(4 * p * n, p + n, out=_minus_infinity(p, n), where=p + n > 0)


def _entropy(p: Array, n: Array) -> Array:
    u = p + n
    entropy: Array = entr(p / u) + entr(n / u)
    return u * entropy


def _negative_mass(p: Array, n: Array) -> Array:
    return n


LOSSES = MappingProxyType(
    {
        "quadratic": Loss(
            margin=lambda m: (1 - m) ** 2,
            mixed=_gini,
            excess=_gini_excess,
        ),
        "logistic": Loss(
            margin=lambda m: np.logaddexp(0, -m), mixed=_entropy, excess=_minus_infinity
        ),
        "savage": Loss(margin=lambda m: 4 * expit(-m) ** 2, mixed=_gini, excess=lambda p, n: 4 * n),
        "sigmoid": Loss(margin=lambda m: expit(-m), mixed=np.minimum, excess=_negative_mass),
        "zero-one": Loss(
            margin=lambda m: (1 - np.sign(m)) / 2, mixed=np.minimum, excess=_negative_mass
        ),
        "ramp": Loss(
            margin=lambda m: np.clip((1 - m) / 2, 0, 1), mixed=np.minimum, excess=_negative_mass
        ),
        "hinge": Loss(
            margin=lambda m: np.maximum(0, 1 - m),
            mixed=lambda p, n: 2 * np.minimum(p, n),
            excess=_minus_infinity,
        ),
        "double-hinge": Loss(
            margin=lambda m: np.maximum(0, np.maximum((1 - m) / 2, -m)),
            mixed=np.minimum,
            excess=_minus_infinity,
        ),
        "exponential": Loss(
            margin=lambda m: np.exp(-m),
            mixed=lambda p, n: 2 * np.sqrt(p * n),
            excess=_minus_infinity,
        ),
    }
)


def _loss(name: str) -> Loss:
    if name not in LOSSES:
        raise ValueError(f"loss must be one of {sorted(LOSSES)}, got {name!r}")
    return LOSSES[name]


def _negative(w_p: Array, w_u: Array, risk: str) -> Array:
    if risk not in RISKS:
        raise ValueError(f"risk must be one of {sorted(RISKS)}, got {risk!r}")
    w_n = w_u - w_p
    return w_n if risk == "upu" else np.maximum(0, w_n)


def loss_value(margin: ArrayLike, *, loss: str = "quadratic") -> Array:
    """Compute the loss at a margin, the product of score and label.

    Parameters
    ----------
    margin : array-like
        Score times label, where the label is +1 or -1.
    loss : str, default="quadratic"
        A key of `LOSSES`.

    Returns
    -------
    ndarray
        The loss, in the shape of `margin`.
    """
    return _loss(loss).margin(np.asarray(margin, dtype=float))


def node_risk(
    v: ArrayLike, w_p: ArrayLike, w_u: ArrayLike, *, risk: str = "nnpu", loss: str = "quadratic"
) -> Array:
    """Compute the contribution of a node that predicts `v` to the risk of the tree.

    Parameters
    ----------
    v : array-like
        Predicted score.
    w_p, w_u : array-like
        Masses of the node.
    risk : {"nnpu", "upu", "pn"}, default="nnpu"
        The risk estimator.
    loss : str, default="quadratic"
        A key of `LOSSES`.

    Returns
    -------
    ndarray
        The risk, in the broadcast shape of the arguments.
    """
    v, p, u = np.broadcast_arrays(*(np.asarray(a, dtype=float) for a in (v, w_p, w_u)))
    margin = _loss(loss).margin
    return p * margin(v) + _negative(p, u, risk) * margin(-v)


def minimum_risk(
    w_p: ArrayLike, w_u: ArrayLike, *, risk: str = "nnpu", loss: str = "quadratic"
) -> Array:
    """Compute the minimum risk of a node over all scores.

    Parameters
    ----------
    w_p, w_u : array-like
        Masses of the nodes.
    risk : {"nnpu", "upu", "pn"}, default="nnpu"
        The risk estimator.
    loss : str, default="quadratic"
        A key of `LOSSES`.

    Returns
    -------
    ndarray
        The minimum over all scores; minus infinity for some nodes under uPU.
    """
    formula = _loss(loss)
    p, u = np.broadcast_arrays(np.asarray(w_p, dtype=float), np.asarray(w_u, dtype=float))
    n = _negative(p, u, risk)
    result = np.zeros(p.shape)
    for where, formula_there in (((p > 0) & (n > 0), formula.mixed), (n < 0, formula.excess)):
        result[where] = formula_there(p[where], n[where])
    return result


def posterior(w_p: ArrayLike, w_u: ArrayLike) -> Array:
    """Estimate the fraction of positives at a node: ``w_p / w_u``, clipped to [0, 1].

    A node with ``w_u = 0`` has posterior 1.

    Parameters
    ----------
    w_p, w_u : array-like
        Masses of the nodes.

    Returns
    -------
    ndarray
        Estimated probabilities.
    """
    p, u = np.broadcast_arrays(np.asarray(w_p, dtype=float), np.asarray(w_u, dtype=float))
    ratio = np.ones(p.shape)
    np.divide(p, u, out=ratio, where=u > p)
    return ratio


def classification_risk(
    w_p: ArrayLike, w_u: ArrayLike, *, prior: float, risk: str = "nnpu"
) -> Array:
    """Estimate the error rate of a classifier, its zero-one risk.

    Parameters
    ----------
    w_p, w_u : array-like
        Masses of the region that is predicted positive.
    prior : float
        Class prior, the fraction of positives in the population.
    risk : {"nnpu", "upu", "pn"}, default="nnpu"
        The risk estimator.

    Returns
    -------
    ndarray
        Estimated fraction of false negatives and false positives in the population.
    """
    p, u = np.asarray(w_p, dtype=float), np.asarray(w_u, dtype=float)
    return prior - p + _negative(p, u, risk)
