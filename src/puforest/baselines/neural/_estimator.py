"""Base class of the neural classifiers: training, checkpoints and predictions."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit
from sklearn.utils.validation import check_is_fitted, validate_data

from puforest import _validation as check
from puforest._atomic_fit import atomic_fit
from puforest._columns import is_data_frame
from puforest._sample import PUSample, pu_sample
from puforest._schema import number_matrix
from puforest.baselines._base import MAX_SEED, Array, PUBaseline
from puforest.baselines.neural._docs import documented
from puforest.baselines.neural._loop import (
    Callback,
    Checkpoint,
    Course,
    EpochProgress,
    HeldOut,
    train,
)
from puforest.baselines.neural._torch import on_threads, require_torch
from puforest.baselines.neural.architectures import Architecture
from puforest.model_selection import PUShuffleSplit
from puforest.prior import PriorEstimate
from puforest.prior._estimate import missing_prior

if TYPE_CHECKING:
    from torch import Tensor, nn

# Parameters that may change when a training is resumed.
FREE = frozenset({"epochs", "patience", "checkpoint", "callback", "verbose", "n_jobs", "device"})


class PUNeuralClassifier(PUBaseline):
    """Base class of the neural classifiers."""

    architecture: str | Architecture
    epochs: int
    patience: int | None
    validation_fraction: float
    checkpoint: str | os.PathLike[str] | None
    callback: Callback | None
    device: str
    n_jobs: int | None
    verbose: int
    random_state: int | np.random.RandomState | None
    prior_: float
    prior_estimate_: PriorEstimate
    history_: list[dict[str, float]]

    # Parameters in FREE that must not change in this class when a training is resumed.
    _schedule: tuple[str, ...] = ()

    def _new_training(self, X: Tensor, sample: PUSample, prior: float, seed: int) -> Any:
        """Create a new `Training`."""
        raise NotImplementedError

    def _keep(self, training: Any) -> None:
        """Store the trained networks."""
        raise NotImplementedError

    def _networks(self) -> list[nn.Module]:
        """Networks whose scores are averaged."""
        raise NotImplementedError

    def _table(self, X: check.MatrixLike, *, reset: bool) -> Any:
        matrix = number_matrix(X, type(self).__name__)
        validate_data(self, X if is_data_frame(X) else matrix, reset=reset, skip_check_array=True)
        return matrix

    @atomic_fit
    @documented
    def fit(self, X: check.MatrixLike, y: ArrayLike) -> Self:
        """Train on labeled positives and unlabeled samples.

        Parameters
        ----------
        %X%
            Finite numbers, with features on similar scales.
        %y%

        Returns
        -------
        self
        """
        require_torch()
        epochs = check.integer("epochs", self.epochs, 1)
        patience = check.optional_integer("patience", self.patience, 1, 0)
        n_threads = check.threads(self.n_jobs)
        X, sample, prior = self._rows_and_prior(X, y)
        checkpoint = self._checkpoint(X, sample, prior)
        saved = None if checkpoint is None else checkpoint.load()
        seed = self._draw_seed() if saved is None else saved["seed"]
        course = Course() if saved is None else Course(**saved["course"])
        progress = EpochProgress() if check.verbosity(self.verbose) else None
        with on_threads(n_threads):
            kept, held_out = np.arange(len(X)), None
            if patience:
                kept, held_out = self._hold_out(X, sample, prior, seed)
            training = self._new_training(
                self._tensor(X[kept], self.device), _part(sample, kept), prior, seed
            )
            if saved is not None:
                training.load(saved["training"])

            def after_epoch(course: Course) -> None:
                entry = course.history[-1]
                if checkpoint is not None:
                    checkpoint.save(training, course, seed)
                if progress is not None:
                    progress(entry, epochs)
                if self.callback is not None:
                    self.callback(dict(entry))

            train(
                training,
                course,
                epochs=epochs,
                held_out=held_out,
                patience=patience,
                after_epoch=after_epoch,
            )
        self._keep(training)
        self.prior_ = prior
        self.history_ = course.history
        self.n_iter_ = course.epochs
        return self

    def _rows_and_prior(
        self, X: check.MatrixLike, y: ArrayLike
    ) -> tuple[NDArray[Any], PUSample, float]:
        table, sample, prior = self._read(X, y)
        if prior is None:
            self.prior_estimate_ = missing_prior(
                table,
                sample.labeled,
                scenario=self.scenario,
                n_jobs=self.n_jobs,
                random_state=self.random_state,
            )
            prior = self.prior_estimate_.value
        return table.astype(np.float32, copy=False), sample, prior

    def _hold_out(
        self, X: NDArray[Any], sample: PUSample, prior: float, seed: int
    ) -> tuple[NDArray[np.intp], HeldOut]:
        """Split into samples to train on and held-out samples."""
        fraction = check.fraction("validation_fraction", self.validation_fraction)
        split = PUShuffleSplit(1, test_size=fraction, random_state=seed)
        kept, held_out = next(split.split(X, sample.labeled))
        rows = self._tensor(X[held_out], self.device)
        return kept, HeldOut(rows, _part(sample, held_out), prior)

    def _draw_seed(self) -> int:
        return int(check.random_state(self.random_state).randint(MAX_SEED))

    def _tensor(self, X: NDArray[Any], device: Any) -> Tensor:
        import torch

        return torch.as_tensor(np.ascontiguousarray(X, dtype=np.float32), device=device)

    def _checkpoint(self, X: NDArray[Any], sample: PUSample, prior: float) -> Checkpoint | None:
        if self.checkpoint is None:
            return None
        free = FREE.difference(self._schedule)
        belongs_to: dict[str, Any] = {
            name: repr(value) for name, value in self.get_params().items() if name not in free
        }
        # The representation of functions and random states differs between processes.
        if callable(self.architecture):
            belongs_to.pop("architecture")
        if isinstance(self.random_state, np.random.RandomState):
            belongs_to.pop("random_state")
        belongs_to["stopping"] = self.patience is not None
        belongs_to["prior"] = prior
        data = hashlib.sha256(np.ascontiguousarray(X).data)
        data.update(sample.labeled.data)
        belongs_to["data"] = f"{X.shape}, {data.hexdigest()[:16]}"
        return Checkpoint(self.checkpoint, belongs_to)

    def decision_function(self, X: check.MatrixLike) -> Array:
        """Compute the output of the network.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            Scores; positive where ``predict`` returns the positive class.
        """
        check_is_fitted(self)
        return self._scores(self._validated(X))

    def _scores(self, X: NDArray[Any]) -> Array:
        from puforest.baselines.neural._batches import mean_scores

        nets = self._networks()
        with on_threads(check.threads(self.n_jobs)):
            return mean_scores(nets, self._tensor(X, next(nets[0].parameters()).device))

    def _positive_probability(self, X: check.MatrixLike) -> Array:
        probability: Array = expit(self._scores(X))
        return probability


def _part(sample: PUSample, rows: NDArray[np.intp]) -> PUSample:
    return pu_sample(sample.labeled[rows], scenario=sample.scenario)


def non_negative(name: str, value: Any) -> float:
    if not check.is_real(value):
        raise TypeError(f"{name} must be a number of at least 0, got {value!r}")
    if not 0 <= value < np.inf:
        raise ValueError(f"{name} must be a finite number of at least 0, got {value!r}")
    return float(value)
