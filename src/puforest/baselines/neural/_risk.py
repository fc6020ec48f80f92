"""PU risks of a batch, and the objective to minimize."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import torch
from torch.nn import functional

if TYPE_CHECKING:
    from torch import Tensor

Margin: TypeAlias = "Callable[[Tensor], Tensor]"

# As in puforest.risk.LOSSES, without the zero-one loss, which has no gradient.
MARGINS: dict[str, Margin] = {
    "sigmoid": lambda m: torch.sigmoid(-m),
    "logistic": lambda m: functional.softplus(-m),
    "savage": lambda m: 4 * torch.sigmoid(-m) ** 2,
    "quadratic": lambda m: (1 - m) ** 2,
    "ramp": lambda m: torch.clamp((1 - m) / 2, 0, 1),
    "hinge": lambda m: functional.relu(1 - m),
    "double-hinge": lambda m: functional.relu(torch.maximum((1 - m) / 2, -m)),
    "exponential": lambda m: torch.exp(-m),
}


@dataclass(frozen=True)
class PURisk:
    """PU risk of a batch of labeled and unlabeled samples.

    Attributes
    ----------
    prior : float
        Class prior.
    labeled_fraction : float
        Fraction of the population that is labeled: 0 for case-control data.
    """

    prior: float
    labeled_fraction: float
    risk: str = "nnpu"
    loss: str = "sigmoid"
    beta: float = 0.0
    gamma: float = 1.0

    def parts(self, labeled: Tensor, unlabeled: Tensor) -> tuple[Tensor, Tensor]:
        """Risk of the positives, and of the negatives as population minus positives."""
        margin = MARGINS[self.loss]
        as_negative = margin(-labeled).mean()
        population = (1 - self.labeled_fraction) * margin(-unlabeled).mean()
        positive = self.prior * margin(labeled).mean()
        return positive, population - (self.prior - self.labeled_fraction) * as_negative

    def objective(self, labeled: Tensor, unlabeled: Tensor) -> tuple[Tensor, float]:
        """Objective to minimize, and the value of the risk.

        If the negative part of nnPU is below -beta, the batch is overfitted, and the step goes in
        the opposite direction on that part, scaled by gamma.
        """
        positive, negative = self.parts(labeled, unlabeled)
        if self.risk == "nnpu" and negative.item() < -self.beta:
            return -self.gamma * negative, positive.item() - self.beta
        total = positive + negative
        return total, total.item()
