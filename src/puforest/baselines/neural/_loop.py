"""Epochs, one after another: early stopping, progress, and going on after an interruption."""

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
    """What is trained: it knows how to do an epoch, and what to remember between two."""

    def epoch(self, number: int) -> float:
        """Go through the rows once; returns the mean risk of the batches."""

    def scores(self, X: Tensor) -> NDArray[np.float64]:
        """Scores of rows, without learning from them."""

    def state(self) -> dict[str, Any]:
        """All that the next epoch depends on."""

    def load(self, state: dict[str, Any]) -> None:
        """Take over such a state."""


@dataclass(frozen=True)
class HeldOut:
    """Rows to judge by after each epoch."""

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
    """How far a training is, and how it went."""

    history: list[dict[str, float]] = field(default_factory=list)
    best: int = 0  # the epoch that judged best, counted from 1
    best_state: dict[str, Any] | None = None

    @property
    def epochs(self) -> int:
        return len(self.history)


class Checkpoint:
    """A file with all that a training needs to go on where it was."""

    def __init__(self, path: str | os.PathLike[str], belongs_to: dict[str, Any]) -> None:
        self.path = Path(path)
        self.belongs_to = belongs_to

    def load(self) -> dict[str, Any] | None:
        """What is in the file, if there is one, and if it is of this very training."""
        import torch

        if not self.path.exists():
            return None
        saved: dict[str, Any] = torch.load(self.path, weights_only=True)
        for name, value in self.belongs_to.items():
            if saved["belongs_to"].get(name) != value:
                raise ValueError(
                    f"checkpoint={str(self.path)!r} is of a training with another {name}, "
                    f"{saved['belongs_to'].get(name)!r} instead of {value!r}: delete the file, or "
                    "give another path"
                )
        return saved

    def save(self, training: Training, course: Course, seed: int) -> None:
        """Write the file anew, in one step: a run killed meanwhile leaves the old one."""
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
    """A bar on standard error: one line that moves on a terminal, else a line now and then."""

    WIDTH = 24
    INTERVAL = 1.0

    def __init__(self) -> None:
        self._start = self._spoke = time.perf_counter()

    def __call__(self, row: dict[str, float], total: int) -> None:
        done = int(row["epoch"])
        now = time.perf_counter()
        if done < total and now - self._spoke < self.INTERVAL:
            return
        self._spoke = now
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
    """Train up to a number of epochs; with held-out rows, end with the weights that did best."""
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
