"""The training loop: early stopping, progress and checkpoints."""

from __future__ import annotations

import copy
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from puforest._sample import PUSample

if TYPE_CHECKING:
    from torch import Tensor

Callback = Callable[[dict[str, float]], None]


class Training(Protocol):
    """Networks in training, with the state that is kept between epochs."""

    def epoch(self, number: int) -> float:
        """Train for one epoch; returns the mean risk of the batches."""

    def scores(self, X: Tensor) -> NDArray[np.float64]:
        """Compute scores in evaluation mode."""

    def state(self) -> dict[str, Any]:
        """Return everything that the next epoch depends on."""

    def load(self, state: dict[str, Any]) -> None:
        """Restore a state."""


@dataclass(frozen=True)
class HeldOut:
    """Held-out samples that are scored after each epoch."""

    X: Tensor
    sample: PUSample
    prior: float

    def risk(self, training: Training) -> float:
        """PU estimate of the error rate: π + q - 2 π r, at least π (1 - r)."""
        positive = training.scores(self.X) > 0
        r, q = self.sample.of_positives(positive), self.sample.of_population(positive)
        return self.prior * (1 - r) + max(0.0, q - self.prior * r)


@dataclass
class Course:
    """Course of a training so far."""

    history: list[dict[str, float]] = field(default_factory=list)
    best: int = 0  # epoch with the lowest validation risk, counted from 1
    best_state: dict[str, Any] | None = None

    @property
    def epochs(self) -> int:
        return len(self.history)


class Checkpoint:
    """A file from which a training can be resumed."""

    def __init__(self, path: str | os.PathLike[str], belongs_to: dict[str, Any]) -> None:
        self.path = Path(path)
        self.belongs_to = belongs_to

    def load(self) -> dict[str, Any] | None:
        """Load the file if it exists; raises an error if it belongs to another training."""
        import torch

        if not self.path.exists():
            return None
        saved: dict[str, Any] = torch.load(self.path, weights_only=True)
        for name, value in self.belongs_to.items():
            if saved["belongs_to"].get(name) != value:
                raise ValueError(
                    f"checkpoint={str(self.path)!r} belongs to a training with another {name}, "
                    f"{saved['belongs_to'].get(name)!r} instead of {value!r}: delete the file, or "
                    "use another path"
                )
        return saved

    def save(self, training: Training, course: Course, seed: int) -> None:
        """Write the file atomically."""
        import torch

        new = self.path.with_name(self.path.name + ".new")
        saved = {
            "belongs_to": self.belongs_to,
            "seed": seed,
            "training": training.state(),
            "course": vars(course),
        }
        torch.save(saved, new)
        os.replace(new, self.path)


class EpochProgress:
    """Progress bar on standard error; outside of a terminal, a line from time to time."""

    WIDTH = 24
    INTERVAL = 1.0

    def __init__(self) -> None:
        self._start = self._reported = time.perf_counter()

    def __call__(self, row: dict[str, float], total: int) -> None:
        done = int(row["epoch"])
        now = time.perf_counter()
        if done < total and now - self._reported < self.INTERVAL:
            return
        self._reported = now
        full = self.WIDTH * done // total
        bar = "#" * full + "." * (self.WIDTH - full)
        values = ", ".join(f"{name} {row[name]:.4f}" for name in row if name != "epoch")
        line = f"puforest: [{bar}] {done}/{total} epochs, {values}, {now - self._start:.1f} s"
        end = "\r" if sys.stderr.isatty() and done < total else "\n"
        print(line, end=end, file=sys.stderr, flush=True)


def train(
    training: Training,
    course: Course,
    *,
    epochs: int,
    held_out: HeldOut | None,
    patience: int,
    after_epoch: Callable[[Course], None],
) -> None:
    """Train for a number of epochs; with held-out samples, restore the best weights at the end."""
    while course.epochs < epochs and not (held_out and course.epochs - course.best >= patience):
        number = course.epochs + 1
        row = {"epoch": float(number), "risk": training.epoch(number)}
        if held_out is not None:
            row["validation_risk"] = held_out.risk(training)
            before = [old["validation_risk"] for old in course.history]
            if not before or row["validation_risk"] < min(before):
                course.best = number
                course.best_state = copy.deepcopy(training.state())
        course.history.append(row)
        after_epoch(course)
    if course.best_state is not None:
        training.load(course.best_state)
