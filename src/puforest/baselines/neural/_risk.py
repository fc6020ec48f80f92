"""PU risks of a batch, and what to descend on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import torch
from torch.nn import functional

if TYPE_CHECKING:
    from torch import Tensor

Margin: TypeAlias = "Callable[[Tensor], Tensor]"

# As in puforest.risk.LOSSES, without the one that has no slope.
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
    """A risk of a batch of labeled and unlabeled rows.

    Attributes
    ----------
    prior : float
        Share of positives in the population.
    labeled_share : float
        Share of the population that the labeled rows make up: 0 in case-control data.
    """

    prior: float
    labeled_share: float
    risk: str
    loss: str
    beta: float
    gamma: float

    def parts(self, labeled: Tensor, unlabeled: Tensor) -> tuple[Tensor, Tensor]:
        """Risk of the positives, and of the negatives as population less positives."""
        margin = MARGINS[self.loss]
        as_negative = margin(-labeled).mean()
        population = (1 - self.labeled_share) * margin(-unlabeled).mean()
        positive = self.prior * margin(labeled).mean()
        return positive, population - (self.prior - self.labeled_share) * as_negative

    def objective(self, labeled: Tensor, unlabeled: Tensor) -> tuple[Tensor, float]:
        """What to descend on, and the value of the risk.

        Where the negative part of nnPU is below -beta, the batch is overfitted: the step goes
        back up on that part, gamma times as far.
        """
        positive, negative = self.parts(labeled, unlabeled)
        if self.risk == "nnpu" and negative.item() < -self.beta:
            return -self.gamma * negative, positive.item() - self.beta
        total = positive + negative
        return total, total.item()
