# mypy: disable-error-code="no-untyped-call"
# Some functions of PyTorch have no types.
"""Training of Self-PU: two students, their trusted samples, and two averaged teachers."""

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

# Fractions of the epochs. Of their 200 epochs, the authors select samples after 10, 20, 30 and 40,
# on a schedule that would select all after 100; teachers start after 50; and the weight of
# consistency with them increases from epoch 30 over 400 epochs.
SELECTIONS = (0.05, 0.10, 0.15, 0.20)
ALL_SELECTED = 0.5
TEACHERS_FROM = 0.25
CONSISTENCY_FROM = 0.15
CONSISTENCY_OVER = 2.0


class SelfPUTraining:
    """Training of the students and teachers."""

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
        trusted_fraction: tuple[float, float],
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
        self._unlabeled_prior = unlabeled_prior(sample, risk.prior)
        self._epochs = epochs
        self._batch_size = batch_size
        self._learning_rate = learning_rate
        self._trusted_fraction = trusted_fraction
        self._consistency = consistency
        self._mutual = mutual
        self._ema_decay = ema_decay
        self._seed = seed
        # Unlabeled samples that each student trusts as negative and as positive.
        self._trusted: list[tuple[Rows, Rows]] = [(np.empty(0, np.intp),) * 2] * 2

    def epoch(self, number: int) -> float:
        """Train both students on their trusted samples, then on the others."""
        rng = random_numbers(self._seed, number)
        done = number - 1
        if done in [round(fraction * self._epochs) for fraction in SELECTIONS] and done > 0:
            self._trusted = [self._select(k, done) for k in (0, 1)]
        # Not before the first epoch: averaging an untrained student would slow the teacher down.
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

    def _select(self, k: int, done: int) -> tuple[Rows, Rows]:
        """Select unlabeled samples with the most extreme scores, in proportion to the classes."""
        score = mean_scores([self.students[k]], self._X)[self._unlabeled]
        order = self._unlabeled[np.argsort(score, kind="stable")]
        fraction = self._trusted_fraction[k] * min(done / (ALL_SELECTED * self._epochs), 1)
        n_negative = round(fraction * (1 - self._unlabeled_prior) * len(order))
        n_positive = round(fraction * self._unlabeled_prior * len(order))
        return order[:n_negative], order[len(order) - n_positive :]

    def _learn_trusted(self, k: int, done: int, rng: np.random.Generator) -> None:
        """Minimize the cross-entropy of the trusted samples with their pseudo-labels."""
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
        """Minimize nnPU on the other samples, plus the distance of students that nearly agree."""
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
        """Return the teachers, or the students as long as there are none."""
        return [teacher.module for teacher in self.teachers] or self.students

    def scores(self, X: torch.Tensor) -> NDArray[np.float64]:
        """Compute scores in evaluation mode."""
        return mean_scores(self.networks(), X)

    def state(self) -> dict[str, Any]:
        """Return the weights, moments, teachers and trusted samples."""
        return {
            "students": [net.state_dict() for net in self.students],
            "optimizers": [optimizer.state_dict() for optimizer in self._optimizers],
            "teachers": [teacher.state_dict() for teacher in self.teachers],
            "trusted": [[rows.tolist() for rows in pair] for pair in self._trusted],
        }

    def load(self, state: dict[str, Any]) -> None:
        """Restore a state."""
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
