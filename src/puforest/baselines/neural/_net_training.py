# mypy: disable-error-code="no-untyped-call"
# Some functions of PyTorch have no types.
"""Training of one network on a PU risk."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from puforest._sample import PUSample
from puforest.baselines.neural._batches import batches, mean_scores, random_numbers
from puforest.baselines.neural._risk import PURisk


class NetTraining:
    """A network, its optimizer, and its training samples."""

    def __init__(
        self,
        net: torch.nn.Module,
        optimizer: torch.optim.Optimizer,
        X: torch.Tensor,
        sample: PUSample,
        risk: PURisk,
        batch_size: int,
        seed: int,
    ) -> None:
        self.net = net
        self.optimizer = optimizer
        self.seed = seed
        self._X = X
        self._labeled = np.flatnonzero(sample.labeled)
        self._unlabeled = np.flatnonzero(~sample.labeled)
        self._risk = risk
        self._batch_size = batch_size

    def epoch(self, number: int) -> float:
        """Train for one epoch."""
        rng = random_numbers(self.seed, number)
        self.net.train()
        values = []
        for p, u in batches(self._labeled, self._unlabeled, self._batch_size, rng):
            score = self.net(self._X[np.concatenate([p, u])])
            objective, value = self._risk.objective(score[: len(p)], score[len(p) :])
            self.optimizer.zero_grad()
            objective.backward()
            self.optimizer.step()
            values.append(value)
        return float(np.mean(values))

    def scores(self, X: torch.Tensor) -> NDArray[np.float64]:
        """Compute scores in evaluation mode."""
        return mean_scores([self.net], X)

    def state(self) -> dict[str, Any]:
        """Return the weights and moments."""
        return {"net": self.net.state_dict(), "optimizer": self.optimizer.state_dict()}

    def load(self, state: dict[str, Any]) -> None:
        """Restore weights and moments."""
        self.net.load_state_dict(state["net"])
        self.optimizer.load_state_dict(state["optimizer"])
