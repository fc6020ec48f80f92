# mypy: disable-error-code="no-untyped-call"
# PyTorch has types for most of its functions, not for all.
"""Rows in random order, a part at a time, and networks that look at them."""

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

# Rows to score at a time.
CHUNK = 8192


def random_numbers(seed: int, epoch: int) -> np.random.Generator:
    """Random numbers of an epoch, the same whatever was done before it.

    Those of PyTorch, for what a network may draw, start anew with it.
    """
    rng = np.random.default_rng([seed, epoch])
    torch.manual_seed(int(rng.integers(2**31)))
    return rng


def batches(
    labeled: Rows, unlabeled: Rows, batch_size: int, rng: np.random.Generator
) -> Iterator[tuple[Rows, Rows]]:
    """All rows once, each batch with both kinds in proportion, and at least one of each."""
    n = math.ceil((len(labeled) + len(unlabeled)) / batch_size)
    n = min(n, len(labeled), len(unlabeled))
    first, second = (np.array_split(rng.permutation(rows), n) for rows in (labeled, unlabeled))
    # Larger parts come first in both; turned round, they do not meet, and batches are more equal.
    return zip(first, second[::-1], strict=True)


def mean_scores(nets: Sequence[nn.Module], X: Tensor) -> NDArray[np.float64]:
    """Mean of the scores that networks give to rows, without learning from them."""
    total = torch.zeros(len(X), dtype=torch.float64, device=X.device)
    for net in nets:
        net.eval()
        with torch.no_grad():
            total += torch.cat([net(part) for part in X.split(CHUNK)])
    mean: NDArray[np.float64] = (total / len(nets)).cpu().numpy()
    return mean
