# mypy: disable-error-code="no-untyped-call"
# Some functions of PyTorch have no types.
"""Batches of samples in random order, and scores of networks."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray

if TYPE_CHECKING:
    from torch import Tensor, nn

Rows = NDArray[np.intp]

# Samples scored at a time.
CHUNK = 8192


def random_numbers(seed: int, epoch: int) -> np.random.Generator:
    """Random numbers of an epoch, independent of the epochs before it.

    Also seeds PyTorch, for networks that draw random numbers themselves.
    """
    rng = np.random.default_rng([seed, epoch])
    torch.manual_seed(int(rng.integers(2**31)))
    return rng


def batches(
    labeled: Rows, unlabeled: Rows, batch_size: int, rng: np.random.Generator
) -> Iterator[tuple[Rows, Rows]]:
    """Split the samples into batches with labeled and unlabeled ones in proportion."""
    n = math.ceil((len(labeled) + len(unlabeled)) / batch_size)
    n = min(n, len(labeled), len(unlabeled))
    first, second = (np.array_split(rng.permutation(rows), n) for rows in (labeled, unlabeled))
    # The larger parts come first in both; reversing one makes the sizes of batches more equal.
    return zip(first, second[::-1], strict=True)


def mean_scores(nets: Sequence[nn.Module], X: Tensor) -> NDArray[np.float64]:
    """Compute the mean score of several networks, in evaluation mode."""
    total = torch.zeros(len(X), dtype=torch.float64, device=X.device)
    for net in nets:
        net.eval()
        with torch.no_grad():
            total += torch.cat([net(part) for part in X.split(CHUNK)])
    mean: NDArray[np.float64] = (total / len(nets)).cpu().numpy()
    return mean
