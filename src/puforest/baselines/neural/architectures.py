"""Networks with one score per sample."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from puforest import _validation as check
from puforest.baselines.neural._torch import require_torch

if TYPE_CHECKING:
    from torch import nn

__all__ = ["cnn", "mlp"]

Architecture: TypeAlias = "Callable[[int], nn.Module]"

ACTIVATIONS = {"relu": "ReLU", "softsign": "Softsign"}

# Channels, kernel and stride of each convolution.
CONVOLUTIONS = (
    (96, 3, 1),
    (96, 3, 1),
    (96, 3, 2),
    (192, 3, 1),
    (192, 3, 1),
    (192, 3, 2),
    (192, 3, 1),
    (192, 1, 1),
    (10, 1, 1),
)


def mlp(
    n_features: int,
    *,
    hidden: Sequence[int] = (300, 300, 300, 300),
    activation: str = "relu",
    batch_norm: bool = True,
) -> nn.Module:
    """Multilayer perceptron; by default the "6-layer MLP" of nnPU, d-300-300-300-300-1.

    Parameters
    ----------
    n_features : int
        Number of inputs.
    hidden : sequence of int, default=(300, 300, 300, 300)
        Widths of the hidden layers.
    activation : {"relu", "softsign"}, default="relu"
        Activation after each hidden layer.
    batch_norm : bool, default=True
        Whether to use batch normalization before the activation.

    Returns
    -------
    torch.nn.Module
        Network with one score per sample.
    """
    require_torch()
    from torch import nn

    check.one_of("activation", activation, ACTIVATIONS)
    layers: list[nn.Module] = []
    before = n_features
    for width in hidden:
        layers.append(nn.Linear(before, width, bias=not batch_norm))
        if batch_norm:
            layers.append(nn.BatchNorm1d(width))
        layers.append(getattr(nn, ACTIVATIONS[activation])())
        before = width
    return _one_score(layers, before)


def cnn(n_features: int) -> nn.Module:
    """Convolutional network of nnPU's authors for CIFAR-10.

    ``[C(3x3,96)]x2 - C(3x3,96,2) - [C(3x3,192)]x2 - C(3x3,192,2) - C(3x3,192) - C(1x1,192) -
    C(1x1,10) - 1000 - 1000 - 1``, each convolution with batch normalization and ReLU.

    Parameters
    ----------
    n_features : int
        Number of pixels of a square image, times three for color images. The color planes follow
        each other, as in CIFAR-10.

    Returns
    -------
    torch.nn.Module
        Network with one score per sample.
    """
    require_torch()
    import torch
    from torch import nn

    channels = 3 if math.isqrt(n_features // 3) ** 2 * 3 == n_features else 1
    side = math.isqrt(n_features // channels)
    if side**2 * channels != n_features:
        raise ValueError(
            "architecture='cnn' requires square images, in color (3072 features are 3 x 32 x 32) "
            f"or grayscale, got {n_features} features"
        )
    layers: list[nn.Module] = [nn.Unflatten(1, (channels, side, side))]
    before = channels
    for width, kernel, stride in CONVOLUTIONS:
        layers += [
            nn.Conv2d(before, width, kernel, stride, padding=kernel // 2, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(),
        ]
        before = width
    shrunk = math.ceil(math.ceil(side / 2) / 2)
    layers.append(nn.Flatten())
    before *= shrunk**2
    for width in (1000, 1000):
        layers += [nn.Linear(before, width), nn.ReLU()]
        before = width
    # On CPUs, convolutions are about twice as fast with the channels last.
    return _one_score(layers, before).to(memory_format=torch.channels_last)  # type: ignore[call-overload,no-any-return]


def _one_score(layers: list[nn.Module], width: int) -> nn.Module:
    from torch import nn

    return nn.Sequential(*layers, nn.Linear(width, 1), nn.Flatten(0))


def _softsign(n_features: int) -> nn.Module:
    return mlp(n_features, hidden=(300, 300, 300), activation="softsign")


ARCHITECTURES: dict[str, Architecture] = {"mlp": mlp, "softsign": _softsign, "cnn": cnn}


def architecture(value: Any) -> Architecture:
    """Return the function that creates the network, given by name or as a function."""
    if callable(value):
        return value  # type: ignore[no-any-return]
    return ARCHITECTURES[check.one_of("architecture", value, ARCHITECTURES)]
