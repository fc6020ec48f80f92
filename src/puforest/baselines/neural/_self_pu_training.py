# mypy: disable-error-code="no-untyped-call"
# PyTorch has types for most of its functions, not for all.
"""Two students, the rows each one trusts itself on, and two teachers that average them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from puforest._sample import PUSample
from puforest.baselines._base import unlabeled_prior
from puforest.baselines.neural._batches import Rows, batches, mean_scores, random_numbers
from puforest.baselines.neural._risk import PURisk

# Shares of the epochs, those of the authors' 200: they choose rows after 10, 20, 30 and 40 of them,
# as if all were to be chosen after 100; teachers come in after 50; and consistency with them gains
# weight from 30 on over 400.
SELECTIONS = (0.05, 0.10, 0.15, 0.20)
ALL_CHOSEN = 0.5
TEACHERS_FROM = 0.25
CONSISTENCY_FROM = 0.15
CONSISTENCY_OVER = 2.0


class SelfPUTraining:
    """What Self-PU trains; `Training` of the loop."""

    def __init__(
        self,
        students: list[torch.nn.Module],
        X: torch.Tensor,
        sample: PUSample,
        risk: PURisk,
        *,
        epochs: int,
        batch_size: int,
        learning_rate: float,
        weight_decay: float,
        trusted_share: tuple[float, float],
        consistency: float,
        mutual: float,
        ema_decay: float,
        seed: int,
    ) -> None:
        self.students = students
        self.teachers: list[AveragedModel] = []
        self._optimizers = [
            torch.optim.Adam(net.parameters(), lr=learning_rate, weight_decay=weight_decay)
            for net in students
        ]
        self._X = X
        self._labeled = np.flatnonzero(sample.labeled)
        self._unlabeled = np.flatnonzero(~sample.labeled)
        self._risk = risk
        self._share = unlabeled_prior(sample, risk.prior)
        self._epochs = epochs
        self._batch_size = batch_size
        self._learning_rate = learning_rate
        self._trusted_share = trusted_share
        self._consistency = consistency
        self._mutual = mutual
        self._ema_decay = ema_decay
        self._seed = seed
        # For each student, the unlabeled rows taken as negative and as positive.
        self._trusted: list[tuple[Rows, Rows]] = [(np.empty(0, np.intp),) * 2] * 2

    def epoch(self, number: int) -> float:
        """Go through the trusted rows of both students, then through the others."""
        rng = random_numbers(self._seed, number)
        done = number - 1
        if done in [round(share * self._epochs) for share in SELECTIONS] and done > 0:
            self._trusted = [self._chosen(k, done) for k in (0, 1)]
        # Not before the first epoch: averages with a student that knows nothing would hold it back.
        if done == max(round(TEACHERS_FROM * self._epochs), 1):
            self.teachers = [self._teacher(net) for net in self.students]
        for optimizer in self._optimizers:
            for group in optimizer.param_groups:
                group["lr"] = (
                    self._learning_rate * (1 + math.cos(math.pi * done / self._epochs)) / 2
                )
        for net in self.students:
            net.train()
        for k in (0, 1):
            self._learn_trusted(k, done, rng)
        return float(np.mean([value for k in (0, 1) for value in self._learn_rest(k, done, rng)]))

    def _teacher(self, student: torch.nn.Module) -> AveragedModel:
        average = get_ema_multi_avg_fn(self._ema_decay)
        teacher = AveragedModel(student, multi_avg_fn=average, use_buffers=True)
        teacher.update_parameters(student)
        return teacher

    def _chosen(self, k: int, done: int) -> tuple[Rows, Rows]:
        """The unlabeled rows that a student is surest of, in the proportions of the classes."""
        score = mean_scores([self.students[k]], self._X)[self._unlabeled]
        order = self._unlabeled[np.argsort(score, kind="stable")]
        share = self._trusted_share[k] * min(done / (ALL_CHOSEN * self._epochs), 1)
        n_negative = round(share * (1 - self._share) * len(order))
        n_positive = round(share * self._share * len(order))
        return order[:n_negative], order[len(order) - n_positive :]

    def _learn_trusted(self, k: int, done: int, rng: np.random.Generator) -> None:
        """Cross-entropy of the trusted rows, with the class that the student gave them."""
        negative, positive = self._trusted[k]
        if not (len(negative) and len(positive)):
            return
        for n, p in batches(negative, positive, self._batch_size, rng):
            rows = np.concatenate([n, p])
            score = self.students[k](self._X[rows])
            target = torch.as_tensor(np.arange(len(rows)) >= len(n), dtype=score.dtype)
            loss = functional.binary_cross_entropy_with_logits(score, target.to(score.device))
            self._step(k, loss + self._distance_to_teacher(k, score, rows, done))

    def _learn_rest(self, k: int, done: int, rng: np.random.Generator) -> Iterator[float]:
        """NnPU on the other rows; students also learn from each other where they nearly agree."""
        rest = np.setdiff1d(self._unlabeled, np.concatenate(self._trusted[k]))
        for p, u in batches(self._labeled, rest, self._batch_size, rng):
            rows = np.concatenate([p, u])
            score = self.students[k](self._X[rows])
            loss, value = self._risk.objective(score[: len(p)], score[len(p) :])
            if self.teachers:
                with torch.no_grad():
                    other = torch.sigmoid(self.students[1 - k](self._X[rows]))
                apart = functional.mse_loss(torch.sigmoid(score), other)
                if apart.item() < self._mutual * loss.item():
                    loss = loss + apart
            self._step(k, loss + self._distance_to_teacher(k, score, rows, done))
            yield value

    def _distance_to_teacher(
        self, k: int, score: torch.Tensor, rows: Rows, done: int
    ) -> torch.Tensor | float:
        if not self.teachers:
            return 0.0
        progress = (done / self._epochs - CONSISTENCY_FROM) / CONSISTENCY_OVER
        weight = self._consistency * math.exp(-5 * (1 - min(progress, 1.0)) ** 2)
        self.teachers[k].eval()
        with torch.no_grad():
            taught = torch.sigmoid(self.teachers[k](self._X[rows]))
        return weight * functional.mse_loss(torch.sigmoid(score), taught)

    def _step(self, k: int, loss: torch.Tensor) -> None:
        self._optimizers[k].zero_grad()
        loss.backward()
        self._optimizers[k].step()
        if self.teachers:
            self.teachers[k].update_parameters(self.students[k])

    def networks(self) -> list[torch.nn.Module]:
        """The teachers, or the students before there are any."""
        return [teacher.module for teacher in self.teachers] or self.students

    def scores(self, X: torch.Tensor) -> NDArray[np.float64]:
        """Scores of rows."""
        return mean_scores(self.networks(), X)

    def state(self) -> dict[str, Any]:
        """Weights, moments, teachers and trusted rows."""
        return {
            "students": [net.state_dict() for net in self.students],
            "optimizers": [optimizer.state_dict() for optimizer in self._optimizers],
            "teachers": [teacher.state_dict() for teacher in self.teachers],
            "trusted": [[rows.tolist() for rows in pair] for pair in self._trusted],
        }

    def load(self, state: dict[str, Any]) -> None:
        """Take over such a state."""
        self.teachers = [self._teacher(net) for net in self.students[: len(state["teachers"])]]
        for name, parts in (
            ("students", self.students),
            ("optimizers", self._optimizers),
            ("teachers", self.teachers),
        ):
            for k, saved in enumerate(state[name]):
                parts[k].load_state_dict(saved)
        self._trusted = [
            (np.array(negative, np.intp), np.array(positive, np.intp))
            for negative, positive in state["trusted"]
        ]
